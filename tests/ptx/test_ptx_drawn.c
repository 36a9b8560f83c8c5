/* Drawn products of matrices against a scalar reference that shares no code with the executor: shapes, types, layouts
 * in registers and in shared memory, signs, numbers of all kinds. 60 of them in `make check`, FANOUT_PTX_MATRICES of
 * them (2,000) in `make check-ptx`; FANOUT_PTX_SEED=N is that one alone. */
#include "tests/test.h"

#include "tests/ptx/drawn_matrix.h"
#include "tests/ptx/flat_host.h"

#define FLAT_BYTES (1u << 20)

static void run_product(guint64 seed, GHashTable *forms)
{
    GError *error = NULL;
    DrawnMatrix *drawn = drawn_matrix_new(seed);
    Flat *flat = flat_new(FLAT_BYTES);
    const guint n = drawn->threads * drawn->registers, bytes = drawn->register_bytes;
    const guint64 param[2] = {flat_alloc(flat, drawn->in_bytes), flat_alloc(flat, n * bytes)};
    memcpy(flat_at(flat, param[0]), drawn->in, drawn->in_bytes);
    FlatModule *loaded = flat_load(flat, "drawn.ptx", drawn->text, -1, &error);
    if (!loaded || !flat_launch(loaded, "k", 1, drawn->threads, 0, param, &error))
        fail_msg("product %" G_GUINT64_FORMAT ", %s: %s\n%s", seed, drawn->name, error->message, drawn->text);
    const guint8 *out = flat_at(flat, param[1]);
    for (guint i = 0; i < n; i++) {
        guint64 is = 0;
        memcpy(&is, out + i * bytes, bytes);
        if (is != drawn->right[i])
            fail_msg("product %" G_GUINT64_FORMAT ", %s: register %u of thread %u is %" G_GINT64_MODIFIER
                     "x, not %" G_GINT64_MODIFIER "x\n%s",
                     seed, drawn->name, i / drawn->threads, i % drawn->threads, is, drawn->right[i], drawn->text);
    }
    g_hash_table_add(forms, g_strdup(drawn->name));
    flat_unload(loaded);
    flat_free(flat);
    drawn_matrix_free(drawn);
}

/* Proves that mma and wgmma compute what PTX and the measured way of adding say, in forms, layouts and with numbers
 * that are drawn, not picked; and that the draws reach many forms. */
static void test_matrices(void **state)
{
    const char *many = g_getenv("FANOUT_PTX_MATRICES"), *one = g_getenv("FANOUT_PTX_SEED");
    const guint64 first = one ? g_ascii_strtoull(one, NULL, 10) : 0;
    const guint64 n = one ? 1 : many ? g_ascii_strtoull(many, NULL, 10) : 60;
    GHashTable *forms = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    (void)state;
    for (guint64 i = 0; i < n; i++)
        run_product(first + i, forms);
    print_message("%" G_GUINT64_FORMAT " products, %u instructions\n", n, g_hash_table_size(forms));
    assert_true(n < 60 || g_hash_table_size(forms) > 40);
    g_hash_table_unref(forms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_matrices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
