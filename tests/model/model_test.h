/* What tests of model/ share: a fabric from a preset with changes, and small things to send through it. */
#ifndef TESTS_MODEL_MODEL_TEST_H
#define TESTS_MODEL_MODEL_TEST_H

#include "tests/test.h"

#include "device/launch_time.h"
#include "model/fabric/fabric.h"
#include "model/presets/preset.h"

typedef struct {
    Sim *sim;
    ParamSet *set;
    FabricSpec spec;
    Fabric *fabric;
    GPtrArray *objects; /* McObject */
} Bed;

/* Loads the system and the changes ("link.rate_MBps=1000", NULL-terminated; or NULL) into bed->spec. */
static inline void bed_spec(Bed *bed, const char *system, const char *const *sets)
{
    GError *error = NULL;
    memset(bed, 0, sizeof *bed);
    bed->set = param_set_new();
    device_params(bed->set, &bed->spec);
    if (!preset_load(bed->set, system, &error))
        fail_msg("%s", error->message);
    for (gsize i = 0; sets && sets[i]; i++)
        if (!param_set_text(bed->set, sets[i], &error))
            fail_msg("%s", error->message);
}

static inline void bed_open_with(Bed *bed, const char *system, const char *const *sets, const SimSpec *sim_spec,
                                 gboolean keep_bytes)
{
    GError *error = NULL;
    SimSpec plain = {.seed = 1};
    bed_spec(bed, system, sets);
    bed->sim = sim_new(sim_spec ? sim_spec : &plain, &error);
    assert_non_null(bed->sim);
    bed->fabric = fabric_new(bed->sim, &bed->spec, keep_bytes, &error);
    if (!bed->fabric)
        fail_msg("%s", error->message);
    bed->objects = g_ptr_array_new();
}

static inline void bed_open(Bed *bed, const char *system, const char *const *sets, const SimSpec *sim_spec)
{
    bed_open_with(bed, system, sets, sim_spec, TRUE);
}

/* That system with these changes cannot be built: the error has `expected` in it. */
static inline void bed_refused(const char *system, const char *const *sets, const char *expected)
{
    Bed bed;
    GError *error = NULL;
    bed_spec(&bed, system, sets);
    bed.sim = sim_new(&(SimSpec){.seed = 1}, NULL);
    assert_null(fabric_new(bed.sim, &bed.spec, TRUE, &error));
    if (!strstr(error->message, expected)) {
        g_autofree char *all = g_strjoinv(" ", (char **)sets);
        fail_msg("%s says: %s", all, error->message);
    }
    g_clear_error(&error);
    sim_free(bed.sim);
    param_set_free(bed.set);
}

static inline void bed_close(Bed *bed)
{
    for (guint i = 0; i < bed->objects->len; i++) {
        McObject *object = g_ptr_array_index(bed->objects, i);
        fabric_mc_detach(bed->fabric, object);
        mcobject_free(object);
    }
    g_ptr_array_free(bed->objects, TRUE);
    fabric_free(bed->fabric);
    sim_free(bed->sim);
    param_set_free(bed->set);
}

static inline MemRegion *bed_region(Bed *bed, guint16 gpu, guint64 bytes)
{
    MemRegion *region = memory_region_new(bed->fabric->memory, gpu, bytes, NULL);
    assert_non_null(region);
    return region;
}

/* A team of GPUs 0..n-1 whose object is bound, whole, to one new region a member (region[0..n-1]). */
static inline McObject *bed_team(Bed *bed, guint32 n, guint64 bytes, MemRegion **region)
{
    McObject *object = fabric_mc_object(bed->fabric, n, bytes);
    g_ptr_array_add(bed->objects, object);
    for (guint32 g = 0; g < n; g++)
        mcobject_add_member(object, (guint16)g);
    assert_true(fabric_mc_attach(bed->fabric, object, NULL));
    for (guint32 g = 0; g < n; g++) {
        region[g] = bed_region(bed, (guint16)g, bytes);
        assert_true(mcobject_bind(object, (guint16)g, 0, region[g], 0, bytes));
    }
    return object;
}

/* A GpuRequest's end: how often it came, when, and the first bytes of the answer. */
typedef struct {
    guint32 times;
    SimTime at_ps;
    gboolean has_bytes;
    guint8 bytes[256];
    guint8 state;
} Answer;

static inline void answer_take(Gpu *gpu, Txn *txn, const guint8 *bytes, SimTime now_ps)
{
    (void)gpu;
    Answer *answer = txn->owner;
    answer->times++;
    answer->at_ps = now_ps;
    answer->state = txn->state;
    answer->has_bytes = bytes != NULL;
    if (bytes)
        memcpy(answer->bytes, bytes, txn->bytes);
}

/* Sends a request at once by the link of its address. */
static inline void bed_send(Bed *bed, guint16 gpu, GpuRequest *request, Answer *answer)
{
    request->done = answer_take;
    request->owner = answer;
    if (request->word_mask == 0)
        request->word_mask = GPU_ALL_WORDS;
    Gpu *g = &bed->fabric->gpu[gpu];
    gpu_request(g, request, gpu_link_of(g, request));
}

#endif
