/* What went wrong on devices: one row of the report for each kind of fault of one piece of work.
 *
 * The fabric says which GPU, and an address or an offset in a multicast object; here the call that
 * queued the work, the object's handle and the address are found. A kernel that sweeps an unbound
 * range meets thousands of faults: they are one row with a count and the range of addresses. */
#include "machine/engine/internal.h"

#include <string.h>

#define FAULTS_MAX 1000

typedef struct {
    FaultKind kind;
    guint16 gpu;
    guint32 object;    /* 0: none */
    const char *about; /* the fault's own words; interned, or NULL */
    char *text, *call, *work;
    guint64 first, last; /* addresses */
    guint64 count;
} EngineFault;

static void fault_free(gpointer data)
{
    EngineFault *f = data;
    g_free(f->text);
    g_free(f->call);
    g_free(f->work);
    g_free(f);
}

GPtrArray *engine_faults_new(void) { return g_ptr_array_new_with_free_func(fault_free); }

/* Where an offset of an object is mapped, or the offset itself when it is nowhere any more. */
static guint64 address_of(const Engine *engine, guint32 object, guint64 offset)
{
    for (guint i = 0; i < engine->windows->len; i++) {
        const ObjectWindow *w = &g_array_index(engine->windows, ObjectWindow, i);
        if (w->object == object && offset >= w->offset && offset - w->offset < w->bytes)
            return w->va + (offset - w->offset);
    }
    return offset;
}

static guint32 object_at(const Engine *engine, const Work *work, guint64 va)
{
    Vas *vas = engine_vas(engine, work ? work->request.client : 0);
    const VasMapping *mapping = vas ? vas_find(vas, va) : NULL;
    return mapping && mapping->object ? mapping->object->id : 0;
}

static gboolean is_launch(const Work *work)
{
    return work->request.op == ENGINE_LAUNCH || work->request.op == ENGINE_LAUNCH_PTX;
}

static guint64 span(const EngineRequest *r, guint64 pitch)
{
    return pitch != 0 && r->height != 0 ? (r->height - 1) * pitch + r->bytes : r->bytes;
}

static gboolean touches(const Work *work, guint64 va)
{
    const EngineRequest *r = &work->request;

    if (r->op == ENGINE_WRITE_VALUE || r->op == ENGINE_WAIT_VALUE)
        return va - r->address < r->width;
    return va - r->address < span(r, r->pitch) || (r->op != ENGINE_FILL && va - r->source < span(r, r->source_pitch));
}

/* The work that met a fault: told, or a copy by its addresses, else a kernel by its GPU and name. */
static Work *culprit(const Engine *engine, const FabricFault *fault, guint64 va)
{
    Work *kernel = NULL;

    for (guint i = 0; fault->cause && i < engine->active->len; i++)
        if (g_ptr_array_index(engine->active, i) == fault->cause)
            return g_ptr_array_index(engine->active, i);
    for (guint i = 0; i < engine->active->len; i++) {
        Work *work = g_ptr_array_index(engine->active, i);
        if (work->request.gpu != fault->gpu)
            continue;
        if (!is_launch(work)) {
            if (touches(work, va))
                return work;
        } else if (!kernel && (!fault->who || g_str_equal(fault->who, work->kernel.name))) {
            kernel = work;
        }
    }
    return kernel;
}

static void append_gpu(const Engine *engine, GString *text, guint16 gpu)
{
    if (engine->spec.ordinal && engine->spec.ordinal[gpu] >= 0)
        g_string_append_printf(text, "device %d", engine->spec.ordinal[gpu]);
    else
        g_string_append_printf(text, "GPU %u", gpu);
}

static void append_missing(Engine *engine, GString *text, const FabricFault *fault)
{
    const McObject *object = engine_object(engine, fault->object);
    const char *between = ": ";

    for (guint i = 0; object && i < object->members->len; i++) {
        guint16 gpu = g_array_index(object->members, guint16, i);
        if (mcobject_lookup(object, gpu, fault->va))
            continue;
        g_string_append(text, between);
        append_gpu(engine, text, gpu);
        between = ", ";
    }
}

static EngineFault *known(const Engine *engine, const EngineFault *like)
{
    for (guint i = 0; i < engine->faults->len; i++) {
        EngineFault *f = g_ptr_array_index(engine->faults, i);
        if (f->kind == like->kind && g_strcmp0(f->about, like->about) == 0 && f->gpu == like->gpu &&
            f->object == like->object && g_strcmp0(f->call, like->call) == 0 && g_strcmp0(f->work, like->work) == 0)
            return f;
    }
    return NULL;
}

/* Kernels that ended themselves, or were ended, touched nothing. */
static gboolean has_address(const EngineFault *f)
{
    return f->first != 0 || (f->kind != FAULT_TRAP && f->kind != FAULT_ASSERT && f->kind != FAULT_HUNG);
}

/* A kernel's own words name its CTA. */
static gboolean says_where(const EngineFault *f) { return f->about && strstr(f->about, "; CTA ("); }

static void say(Engine *engine, const EngineFault *f, SimTime time_ps)
{
    g_autoptr(GString) line = g_string_new(NULL);

    g_string_append_printf(line, "%s: %s; ", f->call ? f->call : "device", f->text);
    if (f->work && !says_where(f))
        g_string_append_printf(line, "%s; ", f->work);
    append_gpu(engine, line, f->gpu);
    if (f->object != 0)
        g_string_append_printf(line, "; handle 0x%" G_GINT64_MODIFIER "x", engine_handle(engine, f->object));
    if (has_address(f))
        g_string_append_printf(line, "; address 0x%" G_GINT64_MODIFIER "x", f->first);
    log_line(engine->spec.log, LOG_CUDA, LOG_WARN, time_ps, "%s", line->str);
}

static EngineFault *fault_new(Engine *engine, const EngineFault *like, const FabricFault *fault)
{
    gboolean own_words = fault->text && (fault->kind == FAULT_ILLEGAL_FORM ||
                                         g_str_has_prefix(fault->text, fault_kind_text(fault->kind)));
    g_autoptr(GString) text = g_string_new(own_words ? fault->text : fault_kind_text(fault->kind));
    EngineFault *f = g_new(EngineFault, 1);

    *f = *like;
    f->call = g_strdup(like->call);
    f->work = g_strdup(like->work);
    if (fault->kind == FAULT_UNBOUND)
        append_missing(engine, text, fault);
    if (fault->text && !own_words)
        g_string_append_printf(text, "; %s", fault->text);
    f->text = g_strdup(text->str);
    g_ptr_array_add(engine->faults, f);
    say(engine, f, fault->time_ps);
    return f;
}

/* A fault of a device program is one of its context, which all its kernels that run now tell; those of other processes
 * on the same GPU do not. */
static void mark_kernels(const Engine *engine, const FabricFault *fault, const Work *met)
{
    for (guint i = 0; i < engine->active->len; i++) {
        Work *work = g_ptr_array_index(engine->active, i);
        if (is_launch(work) && work->request.gpu == fault->gpu && work->fault == FAULT_NONE &&
            (!met || met->request.client == work->request.client))
            work->fault = fault->kind;
    }
}

void engine_faults_add(const FabricFault *fault, void *user)
{
    Engine *engine = user;
    guint64 va = fault->object != 0 ? address_of(engine, fault->object, fault->va) : fault->va;
    Work *work = culprit(engine, fault, va);
    g_autofree char *name = work && is_launch(work) ? g_strdup_printf("%s CTA %u", work->kernel.name, fault->cta)
                                                    : g_strdup(fault->who);
    EngineFault like = {
        .kind = fault->kind,
        .about = fault->text,
        .gpu = fault->gpu,
        .object = fault->object != 0 ? fault->object : object_at(engine, work, va),
        .call = work && work->request.call[0] != '\0' ? work->request.call : NULL,
        .work = name,
        .first = va,
        .last = va,
    };

    engine->n_faults++;
    mark_kernels(engine, fault, work);
    EngineFault *f = known(engine, &like);
    if (!f && engine->faults->len < FAULTS_MAX)
        f = fault_new(engine, &like, fault);
    if (!f)
        return;
    f->count++;
    f->first = MIN(f->first, va);
    f->last = MAX(f->last, va);
}

void engine_faults_add_stuck(Engine *engine, const char *waiter)
{
    EngineFault *f = g_new0(EngineFault, 1);

    f->text = g_strdup_printf("stuck: %s", waiter);
    f->count = 1;
    g_ptr_array_add(engine->faults, f);
    engine->n_faults++;
}

static const Column columns[] = {
    COLUMN_TEXT(fault, "fault", "what went wrong on a device"),
    COLUMN_TEXT(call, "call", "that queued the work"),
    COLUMN_TEXT(work, "work", "kind of work, or a kernel's name and CTA"),
    COLUMN_U64(device, "device", "", "whose work it was: its ordinal"),
    COLUMN_TEXT(handle, "handle", "of the multicast object"),
    COLUMN_TEXT(address, "address", "the lowest that was touched"),
    COLUMN_TEXT(last_address, "last", "the highest"),
    COLUMN_U64(count, "count", "", "how many packets or accesses"),
    COLUMN_END,
};

void engine_faults_report(Engine *engine, Report *report)
{
    if (engine->faults->len == 0)
        return;
    Table *table = report_add_table(report, "faults", "Faults on devices", columns, 0);
    for (guint i = 0; i < engine->faults->len; i++) {
        const EngineFault *f = g_ptr_array_index(engine->faults, i);
        table_text(table, f->text);
        table_text(table, f->call);
        table_text(table, f->work);
        if (f->kind == FAULT_NONE || !engine->spec.ordinal || engine->spec.ordinal[f->gpu] < 0)
            table_null(table);
        else
            table_u64(table, (guint64)engine->spec.ordinal[f->gpu]);
        engine_table_hex(table, f->object != 0 ? engine_handle(engine, f->object) : 0);
        engine_table_hex(table, f->first);
        engine_table_hex(table, f->last);
        table_u64(table, f->count);
    }
}
