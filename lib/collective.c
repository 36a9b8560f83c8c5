/* Collectives by name, on groups that are made once for each list of GPUs. */
#include "lib/internal.h"

typedef struct {
    Job job;
    CollGroup *group;
    CollSpec spec;
} Collective;

void collective_close(FoSim *sim)
{
    GHashTableIter iter;
    gpointer group;
    g_hash_table_iter_init(&iter, sim->groups);
    while (g_hash_table_iter_next(&iter, NULL, &group))
        coll_group_free(group);
    g_hash_table_remove_all(sim->groups);
}

static CollGroup *group_of(FoSim *sim, const FoSimCollective *collective, GError **error)
{
    const guint32 n = collective->gpus ? collective->n : fo_sim_gpus(sim);
    g_autofree guint16 *gpu = g_new(guint16, MAX(n, 1));
    GString *key = g_string_new(NULL);
    for (guint32 i = 0; i < n; i++) {
        gpu[i] = (guint16)(collective->gpus ? MIN(collective->gpus[i], G_MAXUINT16) : i);
        g_string_append_printf(key, "%u,", gpu[i]);
    }
    CollGroup *group = g_hash_table_lookup(sim->groups, key->str);
    if (!group && (group = coll_group_new(sim->fabric, gpu, n, error))) {
        g_hash_table_insert(sim->groups, g_string_free(key, FALSE), group);
        return group;
    }
    g_string_free(key, TRUE);
    return group;
}

static void on_coll(Coll *coll, const CollResult *result, void *user)
{
    Job *job = user;
    (void)coll;
    job->told.algo = coll_algo_name(result->algo);
    job->told.proto = coll_proto_name(result->proto);
    job->told.verified = result->check == COLL_VERIFIED;
    if (result->check == COLL_WRONG)
        job_fail(job, FO_SIM_ERROR_FAULT, result->wrong);
    else
        job_end(job);
}

static void collective_run(Job *job)
{
    Collective *collective = (Collective *)(void *)job;
    GError *error = NULL;
    if (!coll_start(collective->group, &collective->spec, on_coll, job, &error)) {
        job_fail(job, FO_SIM_ERROR_FULL, error->message);
        g_error_free(error);
    }
}

/* ---- names */

/* FALSE, with *error: none of these. */
static gboolean name_known(FoSim *sim, const char *what, const char *name, gboolean known, const char *const *names,
                           FoSimError *error)
{
    if (known)
        return TRUE;
    g_autofree char *right = g_strjoinv(", ", (char **)names);
    *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT, "%s: '%s' is not known; one of %s is right", what,
                      name ? name : "NULL", right);
    return FALSE;
}

static gboolean collective_parse(FoSim *sim, const FoSimCollective *from, CollSpec *spec, FoSimError *error)
{
    static const char *const types[] = {"f32", "f16", "bf16", "f64", "e4m3", "e5m2", "u32", "s32", "u64", NULL};
    CollOp op;
    if (!name_known(sim, "op", from->op, from->op && coll_op_parse(from->op, &op), coll_op_names, error))
        return FALSE;
    *spec = coll_spec_default(op);
    if (from->algo &&
        !name_known(sim, "algo", from->algo, coll_algo_parse(from->algo, &spec->algo), coll_algo_names, error))
        return FALSE;
    if (from->proto &&
        !name_known(sim, "proto", from->proto, coll_proto_parse(from->proto, &spec->proto), coll_proto_names, error))
        return FALSE;
    if (from->type && !name_known(sim, "type", from->type, numeric_type_parse(from->type, &spec->type), types, error))
        return FALSE;
    if (coll_is_search(spec->algo))
        *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT,
                          "algo: '%s' is several simulations, one for each candidate; name one that runs", from->algo);
    else if (from->check && !memory_keeps_bytes(sim->fabric->memory))
        *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT,
                          "check: memory has no contents here; open the simulator with keep_bytes");
    else if (from->ctas > 65535 || from->threads > 1024)
        *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT, "%u CTAs of %u threads; up to 65535 of up to 1024 are right",
                          from->ctas, from->threads);
    return *error == FO_SIM_OK;
}

FoSimError fo_sim_coll(FoSim *sim, uint64_t at_ps, const FoSimCollective *collective, FoSimCallback done, void *user)
{
    FoSimError error;
    CollSpec spec;
    GError *why = NULL;
    if (!lib_usable(sim, &error) || !lib_time(sim, at_ps, &error))
        return error;
    if (!collective)
        return lib_fail(sim, FO_SIM_ERROR_ARGUMENT, "collective: NULL is no collective");
    if (!collective_parse(sim, collective, &spec, &error) ||
        (collective->gpus && !lib_gpus(sim, "collective", collective->gpus, collective->n, &error)))
        return error;
    if (collective->bytes > LIB_BYTES_MAX)
        return lib_fail(sim, FO_SIM_ERROR_ARGUMENT,
                        "a collective of %" G_GUINT64_FORMAT " bytes; up to %" G_GUINT64_FORMAT " are right",
                        collective->bytes, (guint64)LIB_BYTES_MAX);
    spec.bytes = collective->bytes;
    spec.root = collective->root;
    spec.ctas = collective->ctas;
    spec.threads = collective->threads;
    spec.check = collective->check != 0;
    CollGroup *group = group_of(sim, collective, &why);
    if (!group || !coll_check(group, &spec, &why))
        return lib_fail_with(sim, FO_SIM_ERROR_ARGUMENT, why);
    Collective *made = (Collective *)(void *)job_new(sim, sizeof *made, at_ps, collective_run);
    made->group = group;
    made->spec = spec;
    made->job.callback = done;
    made->job.user = user;
    made->job.told.bytes = collective->bytes;
    return FO_SIM_OK;
}
