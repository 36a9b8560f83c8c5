/* Fatbinaries in the object files and archives that a host linker would take: the sections .nv_fatbin and
 * __nv_relfatbin of ELF files, in archives of the common format. Every member that has one is added. */
#include <ar.h>
#include <elf.h>
#include <string.h>

#include "api/cuda/module/device_runtime.h"
#include "api/cuda/module/program.h"
#include "ptx/read/fatbin.h"

static CUresult bad(Call *call, JitOptions *jit, const char *name, const char *what)
{
    g_autofree char *text = g_strdup_printf("%s: %s", name, what);

    unit_fail(call, jit, text);
    return CUDA_ERROR_INVALID_IMAGE;
}

/* Each fatbinary of a section; they are aligned to 8 and may have zeros between them. */
static CUresult from_section(Call *call, JitOptions *jit, guint sm, const char *name, const guint8 *section,
                             gsize bytes, GPtrArray *units)
{
    CUresult result = CUDA_SUCCESS;

    for (gsize at = 0; at + 16 <= bytes && result == CUDA_SUCCESS;) {
        guint64 n = ptx_fatbin_bytes(section + at);
        if (n == 0) {
            at += 8;
            continue;
        }
        if (n > bytes - at)
            return bad(call, jit, name, "a fatbinary is cut off");
        result = units_from_image(call, jit, sm, name, section + at, n, units);
        at += (n + 7) & ~(gsize)7;
    }
    return result;
}

static CUresult from_elf(Call *call, JitOptions *jit, guint sm, const char *name, const guint8 *image, gsize bytes,
                         GPtrArray *units, guint *found)
{
    Elf64_Ehdr header;
    Elf64_Shdr names, section;
    CUresult result = CUDA_SUCCESS;

    memcpy(&header, image, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof section || header.e_shoff > bytes ||
        header.e_shnum > (bytes - header.e_shoff) / sizeof section || header.e_shstrndx >= header.e_shnum)
        return bad(call, jit, name, "the table of sections is damaged");
    const guint8 *table = image + header.e_shoff;
    memcpy(&names, table + header.e_shstrndx * sizeof names, sizeof names);
    if (names.sh_offset > bytes || names.sh_size > bytes - names.sh_offset || names.sh_size == 0 ||
        image[names.sh_offset + names.sh_size - 1] != '\0')
        return bad(call, jit, name, "the names of sections are damaged");
    for (guint i = 0; i < header.e_shnum && result == CUDA_SUCCESS; i++) {
        memcpy(&section, table + i * sizeof section, sizeof section);
        if (section.sh_name >= names.sh_size || section.sh_type != SHT_PROGBITS)
            continue;
        const char *called = (const char *)image + names.sh_offset + section.sh_name;
        if (strcmp(called, ".nv_fatbin") != 0 && strcmp(called, "__nv_relfatbin") != 0)
            continue;
        if (section.sh_offset > bytes || section.sh_size > bytes - section.sh_offset)
            return bad(call, jit, name, "a section is cut off");
        result = from_section(call, jit, sm, name, image + section.sh_offset, section.sh_size, units);
        (*found)++;
    }
    return result;
}

static CUresult from_archive(Call *call, JitOptions *jit, guint sm, const char *name, const guint8 *image, gsize bytes,
                             GPtrArray *units)
{
    CUresult result = CUDA_SUCCESS;
    guint found = 0;

    for (gsize at = SARMAG; at + sizeof(struct ar_hdr) <= bytes && result == CUDA_SUCCESS;) {
        struct ar_hdr header;
        memcpy(&header, image + at, sizeof header);
        if (memcmp(header.ar_fmag, ARFMAG, 2) != 0)
            return bad(call, jit, name, "the archive is damaged");
        g_autofree char *digits = g_strndup(header.ar_size, sizeof header.ar_size);
        guint64 n = g_ascii_strtoull(digits, NULL, 10);
        at += sizeof header;
        if (n > bytes - at)
            return bad(call, jit, name, "the archive is cut off");
        if (n >= sizeof(Elf64_Ehdr) && memcmp(image + at, ELFMAG, SELFMAG) == 0)
            result = from_elf(call, jit, sm, name, image + at, n, units, &found);
        at += n + (n & 1);
    }
    return result;
}

CUresult units_from_object(Call *call, JitOptions *jit, guint sm, const char *name, const guint8 *image, gsize bytes,
                           GPtrArray *units)
{
    guint found = 0;

    if (bytes >= SARMAG && memcmp(image, ARMAG, SARMAG) == 0 && g_str_has_suffix(name, DEVICE_RUNTIME_NAME))
        return units_from_image(call, jit, sm, "cudadevrt.ptx", device_runtime_text, sizeof device_runtime_text, units);
    if (bytes >= SARMAG && memcmp(image, ARMAG, SARMAG) == 0)
        return from_archive(call, jit, sm, name, image, bytes, units);
    if (bytes < sizeof(Elf64_Ehdr))
        return bad(call, jit, name, "neither an object nor an archive");
    CUresult result = from_elf(call, jit, sm, name, image, bytes, units, &found);
    return result == CUDA_SUCCESS && found == 0 ? bad(call, jit, name, "the object has no device code in it") : result;
}
