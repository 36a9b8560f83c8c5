/* See program.h. */
#include "api/cuda/module/program.h"

#include <elf.h>
#include <string.h>

#include "ptx/read/fatbin.h"

#define LINKED_MAGIC "FOLINKED"

typedef struct {
    char magic[8];
    guint64 bytes; /* all */
    guint64 units; /* each: guint64 bytes, guint64 registers_max, text with its NUL */
} LinkedHeader;

/* ---- images */

guint device_sm(const Cuda *cuda, int device)
{
    return (guint)(device_attribute(cuda, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                   device_attribute(cuda, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
}

int device_attribute(const Cuda *cuda, int device, CUdevice_attribute attribute)
{
    int value = 0;

    cuda_device_attribute(cuda, &cuda->device[device], attribute, &value);
    return value;
}

static CUresult from_linked(Call *call, JitOptions *jit, const char *name, const guint8 *image, gsize bytes,
                            GPtrArray *units)
{
    LinkedHeader header;
    gsize at = sizeof header;

    if (bytes >= sizeof header)
        memcpy(&header, image, sizeof header);
    if (bytes < sizeof header || header.bytes > bytes) {
        unit_fail(call, jit, "the linked image is cut off");
        return CUDA_ERROR_INVALID_IMAGE;
    }
    for (guint64 i = 0; i < header.units; i++) {
        guint64 said[2] = {0, 0};
        if (header.bytes - at >= sizeof said)
            memcpy(said, image + at, sizeof said);
        guint64 n = said[0];
        if (n == 0 || n > header.bytes - at - sizeof said || image[at + sizeof said + n - 1] != '\0') {
            unit_fail(call, jit, "the linked image is damaged");
            return CUDA_ERROR_INVALID_IMAGE;
        }
        g_autofree char *one = header.units > 1 ? g_strdup_printf("%s, part %u", name, (guint)i + 1) : g_strdup(name);
        units_add(units, one, (const char *)image + at + sizeof said, n - 1, (guint)MIN(said[1], 255u));
        at += sizeof said + n;
    }
    return CUDA_SUCCESS;
}

void *image_of_units(const GPtrArray *units, gsize *bytes)
{
    LinkedHeader header = {LINKED_MAGIC, sizeof header, units->len};

    for (guint i = 0; i < units->len; i++)
        header.bytes += 2 * sizeof(guint64) + ((const Unit *)units->pdata[i])->bytes + 1;
    guint8 *image = g_malloc(header.bytes), *at = image + sizeof header;
    memcpy(image, &header, sizeof header);
    for (guint i = 0; i < units->len; i++) {
        const Unit *unit = units->pdata[i];
        guint64 said[2] = {unit->bytes + 1, unit->registers_max};
        memcpy(at, said, sizeof said);
        memcpy(at + sizeof said, unit->text, said[0]);
        at += sizeof said + said[0];
    }
    *bytes = header.bytes;
    return image;
}

/* Machine code by itself. Its architecture stands in the flags, whose place changed with the version of the ABI. */
static CUresult refuse_cubin(Call *call, JitOptions *jit, guint sm, const char *name, const Elf64_Ehdr *header)
{
    guint arch = header->e_ident[EI_ABIVERSION] >= 8 ? header->e_flags >> 8 & 0xff : header->e_flags & 0xff;
    g_autofree char *text =
        g_strdup_printf("%s: the image holds machine code only (sm_%u), which is not simulated; build it with PTX: "
                        "nvcc -gencode arch=compute_%u,code=compute_%u",
                        name, arch, sm, sm);

    unit_fail(call, jit, text);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

static CUresult from_elf(Call *call, JitOptions *jit, guint sm, const char *name, const guint8 *image, gsize bytes,
                         GPtrArray *units)
{
    Elf64_Ehdr header;

    if (bytes >= sizeof header) {
        memcpy(&header, image, sizeof header);
        if (header.e_machine == ELF_CUDA)
            return refuse_cubin(call, jit, sm, name, &header);
        if (bytes != IMAGE_BYTES_UNKNOWN)
            return units_from_object(call, jit, sm, name, image, bytes, units);
    }
    unit_fail(call, jit, "the image is an ELF file, but neither device code nor an object with some in it");
    return CUDA_ERROR_INVALID_IMAGE;
}

/* PTX begins with a directive or a comment; anything else that is text gets the parser's message. */
static gboolean is_text(const guint8 *image, gsize bytes)
{
    for (gsize i = 0; i < bytes && i < 16 && image[i] != '\0'; i++)
        if (image[i] >= 0x7f || (image[i] < ' ' && !g_ascii_isspace(image[i])))
            return FALSE;
    return bytes > 0 && image[0] != '\0';
}

CUresult units_from_image(Call *call, JitOptions *jit, guint sm, const char *name, const void *image, gsize bytes,
                          GPtrArray *units)
{
    guint8 first[8] = {0};
    guint32 magic;

    for (guint i = 0; i < sizeof first && i < bytes; i++) { /* no further than a text that is short */
        first[i] = ((const guint8 *)image)[i];
        if (first[i] == '\0' && i >= 4)
            break;
    }
    memcpy(&magic, first, sizeof magic);
    if (magic == WRAPPER_MAGIC && bytes == IMAGE_BYTES_UNKNOWN)
        return units_from_wrapper(call, jit, sm, name, image, units);
    if (magic == PTX_FATBIN_MAGIC)
        return units_from_fatbin(call, jit, sm, name, image, bytes, units);
    if (memcmp(first, LINKED_MAGIC, 8) == 0)
        return from_linked(call, jit, name, image, bytes, units);
    if (memcmp(first, ELFMAG, SELFMAG) == 0)
        return from_elf(call, jit, sm, name, image, bytes, units);
    if (memcmp(first, "!<arch>\n", 8) == 0 && bytes != IMAGE_BYTES_UNKNOWN)
        return units_from_object(call, jit, sm, name, image, bytes, units);
    if (!is_text(first, MIN(bytes, sizeof first))) {
        unit_fail(call, jit, "the image is neither PTX text nor a fatbinary");
        return CUDA_ERROR_INVALID_IMAGE;
    }
    gsize n = bytes == IMAGE_BYTES_UNKNOWN ? strlen(image) : strnlen(image, bytes);
    if (!g_strstr_len(image, (gssize)n, ".version")) {
        unit_fail(call, jit, "the image is text, but not PTX: it has no .version");
        return CUDA_ERROR_INVALID_IMAGE;
    }
    units_add(units, name, image, n, 0);
    return CUDA_SUCCESS;
}

/* ---- programs */

static void entry_free(gpointer data)
{
    g_free(((Entry *)data)->why);
    g_free(data);
}

static CUresult code_of(const GError *error)
{
    switch ((PtxLoadError)error->code) {
    case PTX_LOAD_ERROR_UNSUPPORTED: return CUDA_ERROR_NOT_SUPPORTED;
    case PTX_LOAD_ERROR_VERSION: return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    case PTX_LOAD_ERROR_IMAGE: return CUDA_ERROR_INVALID_IMAGE;
    default: return CUDA_ERROR_INVALID_PTX;
    }
}

static CUresult fail_with(Call *call, JitOptions *jit, const GError *error)
{
    g_autofree char *text = g_strdup_printf("PTX: %s", error->message);

    unit_fail(call, jit, text);
    return code_of(error);
}

/* A text for later devices, or for exactly one other, does not run. */
static CUresult check_targets(Call *call, JitOptions *jit, guint sm, const PtxModule *ptx)
{
    for (guint i = 0; i < ptx->units->len; i++) {
        const PtxUnit *unit = ptx->units->pdata[i];
        gboolean family = unit->exact && unit->sm / 10 != sm / 10;
        if (unit->sm <= sm && !family)
            continue;
        g_autofree char *text = g_strdup_printf("%s: .target sm_%u%s does not run on sm_%u", unit->file, unit->sm,
                                                unit->exact ? "a" : "", sm);
        unit_fail(call, jit, text);
        return family ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_ERROR_INVALID_PTX;
    }
    return CUDA_SUCCESS;
}

static void list_entries(Program *program)
{
    const GPtrArray *functions = program->ptx->functions;

    for (guint i = 0; i < functions->len; i++) {
        PtxFunction *function = functions->pdata[i];
        if (!function->entry || !function->body || g_hash_table_contains(program->by_name, function->symbol->name))
            continue;
        Entry *entry = g_new0(Entry, 1);
        entry->function = function->symbol->resolved->function;
        g_ptr_array_add(program->entries, entry);
        g_hash_table_insert(program->by_name, function->symbol->name, entry);
    }
}

static CUresult entry_look(Entry *entry)
{
    g_autoptr(GError) error = NULL;

    if (entry->looked_at)
        return entry->broken;
    entry->looked_at = TRUE;
    if (!ptx_function_usage(entry->function, &entry->usage, &error)) {
        entry->broken = code_of(error);
        entry->why = g_strdup(error->message);
    }
    return entry->broken;
}

/* Small texts are read whole, so that mistakes in them are answered by the call that loads them, as a compiler would.
 * What is right but not supported refuses its kernel, and the image if nothing is left of it. */
static CUresult read_eagerly(Call *call, JitOptions *jit, Program *program)
{
    CUresult unsupported = CUDA_SUCCESS;
    guint good = 0;

    for (guint i = 0; i < program->entries->len; i++) {
        Entry *entry = program->entries->pdata[i];
        CUresult result = entry_look(entry);
        if (result == CUDA_SUCCESS) {
            good++;
            continue;
        }
        g_autofree char *text = g_strdup_printf("PTX: kernel %s: %s", entry->function->symbol->name, entry->why);
        unit_fail(call, jit, text);
        if (result != CUDA_ERROR_NOT_SUPPORTED)
            return result;
        unsupported = result;
    }
    return good == 0 ? unsupported : CUDA_SUCCESS;
}

CUresult program_new(Call *call, JitOptions *jit, guint sm, const GPtrArray *units, Program **program)
{
    g_autoptr(GError) error = NULL;
    Program *made = g_new0(Program, 1);
    gboolean good = TRUE;
    gsize bytes = 0;

    made->refs = 1;
    made->ptx = ptx_module_new();
    made->entries = g_ptr_array_new_with_free_func(entry_free);
    made->by_name = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < units->len && good; i++) {
        const Unit *unit = units->pdata[i];
        guint limit = unit->registers_max ? unit->registers_max : jit->registers_max;
        good = ptx_module_add(made->ptx, unit->name, unit->text, unit->bytes, &error);
        if (good)
            ptx_module_limit_registers(made->ptx, limit);
        bytes += unit->bytes;
    }
    good = good && ptx_module_link(made->ptx, &error);
    CUresult result = good ? check_targets(call, jit, sm, made->ptx) : fail_with(call, jit, error);
    if (result == CUDA_SUCCESS) {
        list_entries(made);
        if (bytes <= PROGRAM_EAGER_BYTES_MAX)
            result = read_eagerly(call, jit, made);
    }
    if (result != CUDA_SUCCESS) {
        program_unref(made);
        return result;
    }
    *program = made;
    return CUDA_SUCCESS;
}

CUresult program_from_image(Call *call, JitOptions *jit, guint sm, const char *name, const void *image, gsize bytes,
                            Program **program)
{
    g_autoptr(GPtrArray) units = units_new();
    CUresult result = units_from_image(call, jit, sm, name, image, bytes, units);
    if (result != CUDA_SUCCESS)
        return result;
    g_autofree char *left_out = parts_left_out(sm, image, bytes);

    result = program_new(call, jit, sm, units, program);
    if (result == CUDA_SUCCESS)
        (*program)->left_out = g_steal_pointer(&left_out);
    else if (left_out) /* what is missing may stand there */
        unit_fail(call, jit, left_out);
    return result;
}

Program *program_ref(Program *program)
{
    program->refs++;
    return program;
}

void program_unref(Program *program)
{
    if (!program || --program->refs > 0)
        return;
    g_hash_table_unref(program->by_name);
    g_ptr_array_unref(program->entries);
    ptx_module_free(program->ptx);
    g_free(program->left_out);
    g_free(program);
}

Entry *program_entry(Program *program, const char *name) { return g_hash_table_lookup(program->by_name, name); }

CUresult program_no_symbol(Call *call, const Program *program, const char *name)
{
    if (program->left_out)
        cuda_diagnose(call, 0, call->device, 0, "%s: not in the image's PTX; %s", name, program->left_out);
    return CUDA_ERROR_NOT_FOUND;
}

CUresult program_entry_use(Call *call, Entry *entry)
{
    CUresult result = entry_look(entry);

    if (result != CUDA_SUCCESS)
        cuda_diagnose(call, 0, call->device, 0, "PTX: kernel %s: %s", entry->function->symbol->name, entry->why);
    return result;
}
