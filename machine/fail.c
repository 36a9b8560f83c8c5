/* See fail.h. */
#include "machine/fail.h"

#include <string.h>

#include "sim/param/param.h"

typedef struct {
    char *call;
    CUresult code;
    guint64 which; /* the first is 1; 0: every one */
    guint64 seen;
} Fail;

struct CudaFails {
    GArray *list;
};

static void fail_clear(gpointer data) { g_free(((Fail *)data)->call); }

char *cuda_fail_base(const char *function)
{
    gsize n = strlen(function);

    if (g_str_has_suffix(function, "_ptsz") || g_str_has_suffix(function, "_ptds"))
        n -= 5;
    if (n > 3 && function[n - 3] == '_' && function[n - 2] == 'v' && g_ascii_isdigit(function[n - 1]))
        n -= 3;
    return g_strndup(function, n);
}

static gboolean parse(const char *text, Fail *fail, GError **error)
{
    g_auto(GStrv) part = g_strsplit(text, ":", -1);
    guint n = g_strv_length(part);
    guint64 which = 0;

    if (n < 2 || n > 3 || !g_str_has_prefix(part[0], "cu") ||
        (n == 3 && !g_ascii_string_to_unsigned(part[2], 10, 1, G_MAXUINT32, &which, NULL))) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                    "cuda.fail: '%s' is not CALL:CODE or CALL:CODE:NUMBER, as "
                    "cuMemMap:NOT_PERMITTED:1",
                    text);
        return FALSE;
    }
    CUresult code = cuda_error_code(part[1]);
    if (code == CUDA_SUCCESS) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                    "cuda.fail: '%s' is no error code; write it as in CUDA_ERROR_NOT_PERMITTED or "
                    "NOT_PERMITTED",
                    part[1]);
        return FALSE;
    }
    *fail = (Fail){g_strdup(part[0]), code, which, 0};
    return TRUE;
}

CudaFails *cuda_fails_new(const char *text, GError **error)
{
    g_auto(GStrv) items = g_strsplit(text, ",", -1);
    CudaFails *fails = g_new0(CudaFails, 1);
    Fail fail;

    fails->list = g_array_new(FALSE, FALSE, sizeof(Fail));
    g_array_set_clear_func(fails->list, fail_clear);
    for (guint i = 0; items[i] != NULL; i++) {
        if (*g_strstrip(items[i]) == '\0')
            continue;
        if (!parse(items[i], &fail, error)) {
            cuda_fails_free(fails);
            return NULL;
        }
        g_array_append_val(fails->list, fail);
    }
    return fails;
}

void cuda_fails_free(CudaFails *fails)
{
    if (!fails)
        return;
    g_array_unref(fails->list);
    g_free(fails);
}

const char *cuda_fails_unknown(const CudaFails *fails, gboolean (*known)(const char *call))
{
    for (guint i = 0; i < fails->list->len; i++) {
        const Fail *fail = &g_array_index(fails->list, Fail, i);
        if (!known(fail->call))
            return fail->call;
    }
    return NULL;
}

static gboolean names(const CudaFails *fails, const char *function)
{
    for (guint i = 0; i < fails->list->len; i++)
        if (g_str_equal(g_array_index(fails->list, Fail, i).call, function))
            return TRUE;
    return FALSE;
}

CUresult cuda_fails_take(CudaFails *fails, const char *function)
{
    CUresult code = CUDA_SUCCESS;

    if (fails->list->len == 0)
        return code;
    g_autofree char *base = cuda_fail_base(function);
    gboolean exact = names(fails, function);
    for (guint i = 0; i < fails->list->len; i++) {
        Fail *fail = &g_array_index(fails->list, Fail, i);
        if (!g_str_equal(fail->call, exact ? function : base))
            continue;
        fail->seen++;
        if (code == CUDA_SUCCESS && (fail->which == 0 || fail->which == fail->seen))
            code = fail->code;
    }
    return code;
}
