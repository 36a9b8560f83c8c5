/* What a point of a sweep runs: one `fanout` command, as `fanout coll all_reduce -s dgx-h100 ... --format json`. Which
 * verbs can be swept, and which words of a SPEC.ini become which of their options. */
#ifndef EXPLORE_WORKLOAD_H
#define EXPLORE_WORKLOAD_H

#include "explore/values.h"

typedef struct {
    const char *name;   /* in the spec, and the column in the database */
    const char *option; /* "--iters"; NULL: an argument without one, the first */
    ValueKind kind;
    const char *const *names; /* of VALUE_NAME, NULL-terminated */
    const char *text;         /* one line for people */
} WorkloadKey;

typedef struct {
    const char *verb;        /* "coll" */
    const WorkloadKey *keys; /* the first one is its argument; ends with a NULL name */
} Workload;

/* NULL: unknown, and the error has a guess. */
const Workload *workload_find(const char *verb, GError **error);

/* A key's row: one of the verb's, or one of every verb (system, seed, fidelity ...); NULL: none. */
const WorkloadKey *workload_key(const Workload *workload, const char *name);
/* All names, for guesses; to be freed with g_free() alone. */
const char **workload_names(const Workload *workload);
/* What the key's values are. */
ValueType workload_type(const WorkloadKey *key);

/* The command of a point, without what says where its report goes. names and values: n of them, names being keys of
 * the workload or parameters "section.key". folder: where relative paths lie. Free with g_strfreev; element 0 is
 * `program`. */
char **workload_command(const Workload *workload, const char *program, const char *folder, const char *const *names,
                        const char *const *values, guint n);

/* `value` of a VALUE_PATH as it is opened: "sub/x.ini" lies in `folder`; a word without a slash and without a dot is a
 * name, as presets have. Caller frees. */
char *workload_path(const char *folder, const char *value);

#endif
