/* A scene's parts, and the JSON that the page's script reads. See scene.h.
 *
 * Arrays of numbers rather than objects: a page of 8 GPUs has some ten thousand of them. */
#include "config.h"

#include "sim/report/scene.h"

#include "sim/report/json.h"
#include "sim/report/parts.h"

typedef struct {
    char *name;
    guint level;
    const char *const *slots;
} Place;
typedef struct {
    char *name;
    guint from, to;
} Line;
typedef struct {
    char *sign, *name;
    guint role;
} Kind;
typedef struct {
    guint line, kind, size;
    SimTime at_ps, serial_ps, flight_ps;
} Move;
typedef struct {
    guint place, slot, kind;
    SimTime from_ps, to_ps;
} Stay;
typedef struct {
    SimTime at_ps;
    guint depth;
    char *where, *text, *file;
} Step;
typedef struct {
    SimTime at_ps;
    gint64 difference;
} Change;
typedef struct {
    char *where, *name, *unit;
    guint64 most, first;
    GArray *changes; /* Change */
} Gauge;

struct Scene {
    char *title, *note;
    GArray *places, *lines, *kinds, *wires, *moves, *stays, *steps, *gauges;
};

static void place_clear(gpointer place) { g_free(((Place *)place)->name); }
static void line_clear(gpointer line) { g_free(((Line *)line)->name); }
static void kind_clear(gpointer kind)
{
    g_free(((Kind *)kind)->sign);
    g_free(((Kind *)kind)->name);
}
static void step_clear(gpointer data)
{
    Step *step = data;
    g_free(step->where);
    g_free(step->text);
    g_free(step->file);
}
static void gauge_clear(gpointer data)
{
    Gauge *gauge = data;
    g_free(gauge->where);
    g_free(gauge->name);
    g_free(gauge->unit);
    g_array_free(gauge->changes, TRUE);
}

static GArray *scene_array(guint size, GDestroyNotify clear)
{
    GArray *array = g_array_new(FALSE, FALSE, size);
    if (clear)
        g_array_set_clear_func(array, clear);
    return array;
}

Scene *scene_new(const char *title)
{
    Scene *scene = g_new0(Scene, 1);
    scene->title = g_strdup(title);
    scene->note = g_strdup("");
    scene->places = scene_array(sizeof(Place), place_clear);
    scene->lines = scene_array(sizeof(Line), line_clear);
    scene->kinds = scene_array(sizeof(Kind), kind_clear);
    scene->wires = scene_array(sizeof(Line), NULL);
    scene->moves = scene_array(sizeof(Move), NULL);
    scene->stays = scene_array(sizeof(Stay), NULL);
    scene->steps = scene_array(sizeof(Step), step_clear);
    scene->gauges = scene_array(sizeof(Gauge), gauge_clear);
    return scene;
}

void report_add_scene(Report *report, Scene *scene) { g_ptr_array_add(report->scenes, scene); }

void scene_free(Scene *scene)
{
    if (!scene)
        return;
    GArray *const arrays[] = {scene->places, scene->lines, scene->kinds, scene->wires,
                              scene->moves,  scene->stays, scene->steps, scene->gauges};
    for (guint i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_array_free(arrays[i], TRUE);
    g_free(scene->title);
    g_free(scene->note);
    g_free(scene);
}

/* ---- adding */

guint scene_add_place(Scene *scene, const char *name, guint level, const char *const *slots)
{
    Place place = {g_strdup(name), level, slots};
    g_array_append_val(scene->places, place);
    return scene->places->len - 1;
}

guint scene_add_line(Scene *scene, const char *name, guint from, guint to)
{
    Line line = {g_strdup(name), from, to};
    g_array_append_val(scene->lines, line);
    return scene->lines->len - 1;
}

guint scene_add_kind(Scene *scene, const char *sign, const char *name, guint role)
{
    g_assert(role < 4);
    Kind kind = {g_strdup(sign), g_strdup(name), role};
    g_array_append_val(scene->kinds, kind);
    return scene->kinds->len - 1;
}

guint scene_add_gauge(Scene *scene, const char *where, const char *name, const char *unit, guint64 most, guint64 first)
{
    Gauge gauge = {g_strdup(where), g_strdup(name), g_strdup(unit), most, first, scene_array(sizeof(Change), NULL)};
    g_array_append_val(scene->gauges, gauge);
    return scene->gauges->len - 1;
}

void scene_add_wire(Scene *scene, guint from, guint to)
{
    Line wire = {NULL, from, to};
    g_array_append_val(scene->wires, wire);
}

void scene_add_move(Scene *scene, guint line, guint kind, guint size, SimTime at_ps, SimTime serial_ps,
                    SimTime flight_ps)
{
    Move move = {line, kind, size, at_ps, serial_ps, flight_ps};
    g_array_append_val(scene->moves, move);
}

void scene_add_stay(Scene *scene, guint place, guint slot, guint kind, SimTime from_ps, SimTime to_ps)
{
    Stay stay = {place, slot, kind, from_ps, to_ps};
    if (to_ps > from_ps)
        g_array_append_val(scene->stays, stay);
}

void scene_add_step(Scene *scene, SimTime at_ps, guint depth, const char *where, const char *text, const char *file)
{
    Step step = {at_ps, depth, g_strdup(where), g_utf8_make_valid(text, -1), g_strdup(file)};
    g_array_append_val(scene->steps, step);
}

void scene_add_change(Scene *scene, guint gauge, SimTime at_ps, gint64 difference)
{
    Change change = {at_ps, difference};
    g_array_append_val(g_array_index(scene->gauges, Gauge, gauge).changes, change);
}

void scene_set_note(Scene *scene, const char *note)
{
    g_free(scene->note);
    scene->note = g_utf8_make_valid(note, -1);
}

/* ---- JSON */

static void scene_numbers(yajl_gen gen, const guint64 *number, guint n)
{
    yajl_gen_array_open(gen);
    for (guint i = 0; i < n; i++)
        yajl_gen_integer(gen, (long long)number[i]);
    yajl_gen_array_close(gen);
}

static void scene_write_places(yajl_gen gen, const Scene *scene)
{
    report_json_string(gen, "places");
    yajl_gen_array_open(gen);
    for (guint i = 0; i < scene->places->len; i++) {
        const Place *place = &g_array_index(scene->places, Place, i);
        yajl_gen_array_open(gen);
        report_json_string(gen, place->name);
        yajl_gen_integer(gen, place->level);
        yajl_gen_array_open(gen);
        for (guint s = 0; place->slots[s]; s++)
            report_json_string(gen, place->slots[s]);
        yajl_gen_array_close(gen);
        yajl_gen_array_close(gen);
    }
    yajl_gen_array_close(gen);
}

static void scene_write_lines(yajl_gen gen, const Scene *scene)
{
    report_json_string(gen, "lines");
    yajl_gen_array_open(gen);
    for (guint i = 0; i < scene->lines->len; i++) {
        const Line *line = &g_array_index(scene->lines, Line, i);
        yajl_gen_array_open(gen);
        report_json_string(gen, line->name);
        yajl_gen_integer(gen, line->from);
        yajl_gen_integer(gen, line->to);
        yajl_gen_array_close(gen);
    }
    yajl_gen_array_close(gen);
    report_json_string(gen, "wires");
    yajl_gen_array_open(gen);
    for (guint i = 0; i < scene->wires->len; i++) {
        const Line *wire = &g_array_index(scene->wires, Line, i);
        scene_numbers(gen, (const guint64[]){wire->from, wire->to}, 2);
    }
    yajl_gen_array_close(gen);
    report_json_string(gen, "kinds");
    yajl_gen_array_open(gen);
    for (guint i = 0; i < scene->kinds->len; i++) {
        const Kind *kind = &g_array_index(scene->kinds, Kind, i);
        yajl_gen_array_open(gen);
        report_json_string(gen, kind->sign);
        report_json_string(gen, kind->name);
        yajl_gen_integer(gen, kind->role);
        yajl_gen_array_close(gen);
    }
    yajl_gen_array_close(gen);
}

static void scene_write_motion(yajl_gen gen, const Scene *scene)
{
    report_json_string(gen, "moves");
    yajl_gen_array_open(gen);
    for (guint i = 0; i < scene->moves->len; i++) {
        const Move *move = &g_array_index(scene->moves, Move, i);
        const guint64 numbers[] = {move->line, move->kind, move->size, move->at_ps, move->serial_ps, move->flight_ps};
        scene_numbers(gen, numbers, G_N_ELEMENTS(numbers));
    }
    yajl_gen_array_close(gen);
    report_json_string(gen, "stays");
    yajl_gen_array_open(gen);
    for (guint i = 0; i < scene->stays->len; i++) {
        const Stay *stay = &g_array_index(scene->stays, Stay, i);
        const guint64 numbers[] = {stay->place, stay->slot, stay->kind, stay->from_ps, stay->to_ps};
        scene_numbers(gen, numbers, G_N_ELEMENTS(numbers));
    }
    yajl_gen_array_close(gen);
}

static void scene_write_steps(yajl_gen gen, const Scene *scene)
{
    report_json_string(gen, "steps");
    yajl_gen_array_open(gen);
    for (guint i = 0; i < scene->steps->len; i++) {
        const Step *step = &g_array_index(scene->steps, Step, i);
        yajl_gen_array_open(gen);
        yajl_gen_integer(gen, (long long)step->at_ps);
        yajl_gen_integer(gen, step->depth);
        report_json_string(gen, step->where);
        report_json_string(gen, step->text);
        report_json_string(gen, step->file);
        yajl_gen_array_close(gen);
    }
    yajl_gen_array_close(gen);
}

static gint change_compare(gconstpointer a, gconstpointer b)
{
    const Change *x = a, *y = b;
    return (x->at_ps > y->at_ps) - (x->at_ps < y->at_ps);
}

/* Its values, each with the time from which it holds. */
static void scene_write_changes(yajl_gen gen, const Gauge *gauge)
{
    g_autoptr(GArray) changes = g_array_copy(gauge->changes);
    gint64 value = (gint64)gauge->first;
    g_array_sort(changes, change_compare);
    yajl_gen_array_open(gen);
    for (guint i = 0; i < changes->len; i++) {
        const Change *change = &g_array_index(changes, Change, i);
        value += change->difference;
        if (i + 1 < changes->len && change[1].at_ps == change->at_ps)
            continue;
        yajl_gen_integer(gen, (long long)change->at_ps);
        yajl_gen_integer(gen, value);
    }
    yajl_gen_array_close(gen);
}

static void scene_write_gauges(yajl_gen gen, const Scene *scene)
{
    report_json_string(gen, "gauges");
    yajl_gen_array_open(gen);
    for (guint i = 0; i < scene->gauges->len; i++) {
        const Gauge *gauge = &g_array_index(scene->gauges, Gauge, i);
        yajl_gen_array_open(gen);
        report_json_string(gen, gauge->where);
        report_json_string(gen, gauge->name);
        report_json_string(gen, gauge->unit);
        yajl_gen_integer(gen, (long long)gauge->most);
        yajl_gen_integer(gen, (long long)gauge->first);
        scene_write_changes(gen, gauge);
        yajl_gen_array_close(gen);
    }
    yajl_gen_array_close(gen);
}

const char *report_scene_title(const Scene *scene) { return scene->title; }
const char *report_scene_note(const Scene *scene) { return scene->note; }

void report_write_scene(const Scene *scene, GString *out)
{
    yajl_gen gen = yajl_gen_alloc(NULL);
    yajl_gen_config(gen, yajl_gen_escape_solidus, 1); /* no text may end the script element that has it */
    yajl_gen_map_open(gen);
    scene_write_places(gen, scene);
    scene_write_lines(gen, scene);
    scene_write_motion(gen, scene);
    scene_write_steps(gen, scene);
    scene_write_gauges(gen, scene);
    yajl_gen_map_close(gen);
    report_json_end(gen, out);
}
