/* Fuzz target of what describes a system and a measurement: INI text, --set, and reference CSVs. Whatever the
 * bytes, a set of parameters or an error in words; a system that passes its check can be built. */
#include "tests/test.h"

#include <sys/mman.h>

#include "model/fabric/fabric.h"
#include "model/presets/preset.h"
#include "tests/fuzz.h"
#include "validate/validate.h"
#include "device/launch_time.h"

static void check_error(gboolean ok, GError **error)
{
    if (ok != (!*error))
        g_error("%s", *error ? (*error)->message : "neither a value nor an error");
    if (*error && ((*error)->message[0] == 0 || !g_utf8_validate((*error)->message, -1, NULL)))
        g_error("a message that cannot be read");
    g_clear_error(error);
}

static void drive_params(const char *text, gboolean ini, gboolean need_origin)
{
    FabricSpec spec = {0};
    ParamSet *set = param_set_new();
    GError *error = NULL;
    device_params(set, &spec);
    if (!preset_load(set, "teach-4gpu", &error))
        g_error("%s", error->message);
    gboolean ok = TRUE;
    if (ini) {
        ok = param_load_text(set, "f.ini", text, need_origin, &error);
    } else {
        char **lines = g_strsplit(text, "\n", -1);
        for (guint i = 0; lines[i] && ok; i++)
            ok = param_set_text(set, lines[i], &error);
        g_strfreev(lines);
    }
    check_error(ok, &error);
    if (ok) {
        param_dump_free(param_dump(set));
        gboolean sound = fabric_check(&spec, &error);
        check_error(sound, &error);
        if (sound && spec.system.gpus <= 8) {
            SimSpec sim_spec = {.seed = 1};
            Sim *sim = sim_new(&sim_spec, NULL);
            Fabric *fabric = fabric_new(sim, &spec, FALSE, &error);
            check_error(fabric != NULL, &error);
            if (fabric)
                fabric_free(fabric);
            sim_free(sim);
        }
    }
    param_set_free(set);
}

static void drive_csv(const guint8 *data, gsize bytes)
{
    int fd = memfd_create("fuzz.csv", MFD_CLOEXEC);
    char *path = g_strdup_printf("/proc/self/fd/%d", fd);
    if (fd < 0 || write(fd, data, bytes) != (gssize)bytes)
        g_error("no memory for a file");
    GPtrArray *rows = validate_rows_new();
    GError *error = NULL;
    gboolean ok = validate_load(rows, path, &error);
    check_error(ok, &error);
    if (ok)
        g_ptr_array_unref(validate_summarize(rows, VALIDATE_OVERALL));
    g_ptr_array_unref(rows);
    close(fd);
    g_free(path);
}

static const FuzzSeed seeds[] = {
    {"ini",
     "# source: a test\n[link]\nvcs = 2 # assumed: a test\n[system]\ngpus = 4 # assumed\n"
     "[sm]\ncount = 16 # assumed\n[fault]\nlink_down = none # assumed\n",
     0},
    {"set", "link.vcs=2\nsystem.gpus=4\nsm.count=16\nfault.link_down=none\nlink.error_ppb=10\n", 0},
    {"csv",
     "test,variant,gpus,ctas,threads,bytes,value,unit\nstream_bw,read16,0>1,1,256,67108864,27.5,GB/s\n"
     "stream_bw,read16,0>1,4,256,67108864,105,GB/s\n",
     0},
};

static void one(const FuzzSeed *seed, const guint8 *data, gsize bytes, guint64 turn)
{
    if (strcmp(seed->name, "csv") == 0) {
        drive_csv(data, bytes);
    } else {
        char *text = g_strndup((const char *)data, bytes);
        drive_params(text, strcmp(seed->name, "ini") == 0, turn % 2);
        g_free(text);
    }
}

int main(void) { return fuzz_run(seeds, G_N_ELEMENTS(seeds), one); }
