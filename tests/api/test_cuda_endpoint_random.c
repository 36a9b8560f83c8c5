/* Drawn programs on logical endpoints against a model of tables: every call answers what the model says, and every word
 * that a copy wrote is where the model has it, and nowhere else. */
#include "tests/api/endpoint_test.h"

#define IDS 3
#define DEVICES 4
#define SLOTS 4 /* of an endpoint, one granule each */
#define PROGRAMS 60
#define STEPS 500

typedef struct {
    gboolean reserved, made, multicast, ready;
    guint team, members;       /* as asked for; a bit a device */
    int bound[DEVICES][SLOTS]; /* granule of the device's memory; -1: none */
    guint run[DEVICES][SLOTS]; /* granules of the bind that begins there; 0: none does */
} Model;

typedef struct {
    GRand *rand;
    Id first;
    Model of[IDS];
    Handle mem[DEVICES];
    CUdeviceptr va[DEVICES];
    CUstream stream[DEVICES];
    guint32 word[DEVICES][SLOTS]; /* first word of each granule of memory */
    guint32 next;
    guint counted[8]; /* of each operation, those that succeeded */
} World;

static guint draw(World *world, guint n) { return (guint)g_rand_int_range(world->rand, 0, (gint32)n); }

static guint bits(guint members)
{
    guint n = 0;
    for (; members != 0; members >>= 1)
        n += members & 1;
    return n;
}

static void clear(Model *m)
{
    *m = (Model){.reserved = m->reserved};
    for (guint d = 0; d < DEVICES; d++)
        for (guint s = 0; s < SLOTS; s++)
            m->bound[d][s] = -1;
}

static gboolean expect(CUresult got, gboolean good)
{
    assert_int_equal(got, good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
    return good;
}

/* A range of identifiers that is released and reserved again is the same one: nothing else is free below. */
static gboolean reserve_or_release(World *world, guint i)
{
    Model *m = &world->of[i];
    Id got = 0;

    if (m->reserved || draw(world, 2)) {
        if (!expect(cuLogicalEndpointIdRelease(world->first + i, 1), m->reserved && !m->made))
            return FALSE;
        m->reserved = FALSE;
        return TRUE;
    }
    guint lowest = 0;
    while (world->of[lowest].reserved)
        lowest++;
    OK(cuLogicalEndpointIdReserve(&got, 1));
    assert_int_equal(got, world->first + lowest);
    clear(&world->of[lowest]);
    world->of[lowest].reserved = TRUE;
    return TRUE;
}

static gboolean create(World *world, guint i)
{
    Model *m = &world->of[i];
    const gboolean many = draw(world, 2) == 0;
    const guint team = many ? 2 + draw(world, 2) : 1, device = draw(world, DEVICES + 1);
    CUlogicalEndpointProp prop = many ? multicast_prop(team, SLOTS * GRAIN)
                                      : unicast_prop((int)(device < DEVICES ? device : 99), SLOTS * GRAIN);

    if (!expect(cuLogicalEndpointCreate(world->first + i, &prop),
                m->reserved && !m->made && (many || device < DEVICES)))
        return FALSE;
    clear(m);
    m->made = TRUE;
    m->multicast = many;
    m->team = team;
    m->members = many ? 0 : 1u << device;
    return TRUE;
}

static gboolean add(World *world, guint i)
{
    Model *m = &world->of[i];
    const guint device = draw(world, DEVICES);

    if (!expect(cuLogicalEndpointAddDevice(world->first + i, (int)device),
                m->made && m->multicast && !(m->members & 1u << device) && bits(m->members) < m->team))
        return FALSE;
    m->members |= 1u << device;
    return TRUE;
}

static gboolean ask(World *world, guint i)
{
    Model *m = &world->of[i];
    int ready = -1;

    if (!expect(cuLogicalEndpointQuery(world->first + i, 1, &ready), m->made))
        return FALSE;
    assert_int_equal(ready, bits(m->members) == m->team);
    m->ready = ready;
    return ready != 0;
}

static gboolean bind_some(World *world, guint i)
{
    Model *m = &world->of[i];
    const guint device = draw(world, DEVICES), slot = draw(world, SLOTS), n = 1 + draw(world, 2),
                granule = draw(world, SLOTS);
    gboolean good = m->made && m->ready && (m->members & 1u << device) && slot + n <= SLOTS && granule + n <= SLOTS;

    for (guint s = slot; good && s < slot + n; s++)
        good = m->bound[device][s] < 0;
    CUresult got = draw(world, 2)
                       ? bind_memory(world->first + i, (int)device, slot * GRAIN, world->mem[device], granule * GRAIN,
                                     n * GRAIN)
                       : cuLogicalEndpointBindAddr(world->first + i, (int)device, slot * GRAIN,
                                                   (void *)(world->va[device] + granule * GRAIN), n * GRAIN, 0);
    if (!expect(got, good))
        return FALSE;
    for (guint s = 0; s < n; s++)
        m->bound[device][slot + s] = (int)(granule + s);
    m->run[device][slot] = n;
    return TRUE;
}

static gboolean unbind(World *world, guint i)
{
    Model *m = &world->of[i];
    const guint device = draw(world, DEVICES), slot = draw(world, SLOTS), n = 1 + draw(world, SLOTS);
    guint at = slot;

    while (m->made && at < SLOTS && at < slot + n && m->run[device][at] != 0)
        at += m->run[device][at]; /* binds side by side */
    if (!expect(cuLogicalEndpointUnbind(world->first + i, (int)device, slot * GRAIN, n * GRAIN),
                m->made && (m->members & 1u << device) && slot + n <= SLOTS && at == slot + n))
        return FALSE;
    for (guint s = slot; s < slot + n; s++) {
        m->bound[device][s] = -1;
        m->run[device][s] = 0;
    }
    return TRUE;
}

static gboolean destroy(World *world, guint i)
{
    Model *m = &world->of[i];

    if (!expect(cuLogicalEndpointDestroy(world->first + i), m->made))
        return FALSE;
    clear(m);
    return TRUE;
}

/* A word into a slot, where every member has memory: what is not bound is a fault that ends a context. */
static gboolean copy(World *world, guint i)
{
    Model *m = &world->of[i];
    const guint from = draw(world, DEVICES), slot = draw(world, SLOTS);
    guint32 word = ++world->next;

    for (guint d = 0; d < DEVICES; d++)
        if (m->made && m->ready && (m->members & 1u << d) && m->bound[d][slot] < 0)
            return FALSE;
    use_device((int)from);
    if (!expect(fabric_copy(endpoint(world->first + i, slot * GRAIN), pointer((CUdeviceptr)(gsize)&word), 4,
                            world->stream[from]),
                m->made && m->ready))
        return FALSE;
    OK(cuStreamSynchronize(world->stream[from]));
    for (guint d = 0; d < DEVICES; d++)
        if (m->members & 1u << d)
            world->word[d][m->bound[d][slot]] = word;
    return TRUE;
}

static void compare_memory(const World *world)
{
    for (guint d = 0; d < DEVICES; d++) {
        use_device((int)d);
        for (guint s = 0; s < SLOTS; s++) {
            assert_int_equal(word_at(world->va[d] + s * GRAIN), world->word[d][s]);
            assert_int_equal(word_at(world->va[d] + s * GRAIN + 4), 0);
        }
    }
}

/* 60 programs of 500 calls; every operation has succeeded many times at the end. */
static void test_drawn(void)
{
    static gboolean (*const operation[8])(World *, guint) = {reserve_or_release, create, add,     ask,
                                                             bind_some,          unbind, destroy, copy};
    static const guint weight[] = {0, 0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4,
                                   4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 7, 7, 7, 7};
    World world = {.rand = g_rand_new_with_seed(20)};

    start();
    for (guint d = 0; d < DEVICES; d++) {
        world.mem[d] = memory((int)d, SLOTS * GRAIN, 0);
        world.va[d] = mapped(world.mem[d], SLOTS * GRAIN, (int)d);
        use_device((int)d);
        OK(cuStreamCreate(&world.stream[d], CU_STREAM_NON_BLOCKING));
    }
    OK(cuLogicalEndpointIdReserve(&world.first, IDS));
    OK(cuLogicalEndpointIdRelease(world.first, IDS));
    for (guint program = 0; program < PROGRAMS; program++) {
        for (guint step = 0; step < STEPS; step++) {
            const guint drawn = draw(&world, 60);
            const guint what = drawn == 0 ? 6 : weight[drawn % G_N_ELEMENTS(weight)];
            world.counted[what] += operation[what](&world, draw(&world, IDS));
        }
        compare_memory(&world);
        for (guint i = 0; i < IDS; i++)
            if (world.of[i].made)
                destroy(&world, i);
    }
    for (guint what = 0; what < G_N_ELEMENTS(operation); what++)
        if (world.counted[what] < 40)
            fail_msg("operation %u succeeded %u times alone", what, world.counted[what]);
    g_rand_free(world.rand);
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {
        CUDA_TEST(test_drawn, ENDPOINTS "cuda.fm_latency_us=0"),
        CUDA_TEST_END,
    };
    return cuda_test_main(tests, argc, argv);
}
