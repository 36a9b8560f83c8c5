/* What store.c and store_write.c share. */
#ifndef EXPLORE_STORE_PARTS_H
#define EXPLORE_STORE_PARTS_H

#include "explore/sql.h"
#include "explore/store.h"

typedef struct {
    gint64 id; /* first: the key of `known` */
    gboolean done, has;
    double metric; /* of the threshold, where it has one */
} StoreKnown;

struct Store {
    char *path, *version;
    const SweepSpec *spec;
    sqlite3 *db;
    int fd; /* holds the lock */
    gboolean is_new, is_empty;
    GHashTable *known;   /* StoreKnown */
    GHashTable *outputs; /* names of columns */
    guint64 bad;
    gboolean any_done, any_metric;
};

/* The column of an output: its name, or "result.NAME" where an input has that name. Caller frees. */
char *store_column(const Store *store, const char *output);
/* All columns of `points`, in order, with these outputs; and what CREATE TABLE takes. Caller frees. */
char *store_columns(const Store *store, const char *const *outputs);
char *store_definition(const Store *store, const char *const *outputs);
gboolean store_create(Store *store, GError **error); /* all tables, in one transaction */
gboolean store_load(Store *store, GError **error);   /* what is known, from `points` */
void store_remember_result(Store *store, guint64 id, const Result *result);

#endif
