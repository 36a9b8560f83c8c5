/* Logical endpoints, the page of the driver of 13.5 sentence by sentence: identifiers, creation, members, readiness,
 * limits, the end. Binds are in test_cuda_endpoint_binds.c, other processes in test_cuda_endpoint_share.c. */
#include "tests/api/endpoint_test.h"

/* Reserved identifiers are a row that nobody else has; a second row does not touch the first. */
static void test_reserve(void)
{
    Id first = 77, second = 0;

    start();
    INVALID(cuLogicalEndpointIdReserve(NULL, 1));
    INVALID(cuLogicalEndpointIdReserve(&first, 0));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuLogicalEndpointIdReserve(&first, 65536));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuLogicalEndpointIdReserve(&first, 0xffffffffu));
    assert_int_equal(first, 77);
    OK(cuLogicalEndpointIdReserve(&first, 4));
    OK(cuLogicalEndpointIdReserve(&second, 2));
    assert_true(first != 0 && second >= first + 4);
    /* 65535 identifiers but 0, less the six: no more */
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuLogicalEndpointIdReserve(&second, 65530));
    OK(cuLogicalEndpointIdReserve(&second, 65529));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuLogicalEndpointIdReserve(&second, 1));
}

/* All of a released range was reserved and has no endpoint; a part of a reservation, and parts of two, may go. */
static void test_release(void)
{
    start();
    Id id = reserve_ids(4);
    CUlogicalEndpointProp prop = unicast_prop(0, GRAIN);
    OK(cuLogicalEndpointCreate(id + 1, &prop));
    INVALID(cuLogicalEndpointIdRelease(id, 0));
    INVALID(cuLogicalEndpointIdRelease(id, 5));
    INVALID(cuLogicalEndpointIdRelease(id, 0xffffffffu));
    INVALID(cuLogicalEndpointIdRelease(0xffffffffu, 1));
    INVALID(cuLogicalEndpointIdRelease(id, 2)); /* released while an endpoint lives */
    OK(cuLogicalEndpointDestroy(id + 1));
    OK(cuLogicalEndpointIdRelease(id, 2));
    INVALID(cuLogicalEndpointIdRelease(id, 1));
    assert_int_equal(reserve_ids(2), id);
    OK(cuLogicalEndpointIdRelease(id + 1, 3)); /* of both calls */
    INVALID(cuLogicalEndpointCreate(id + 1, &prop));
    OK(cuLogicalEndpointIdRelease(id, 1));
}

/* Creation: on a reserved identifier that is free, of a known type, for devices that are there, of a size that is a
 * multiple of the alignment and no more than the limit, with known flags. */
static void test_create(void)
{
    cuuint64_t alignment = 0, most = 0;
    CUlogicalEndpointProp prop = unicast_prop(0, GRAIN);

    start();
    Id id = reserve_ids(3);
    OK(cuLogicalEndpointGetLimits(&alignment, &most, &prop));
    INVALID(cuLogicalEndpointCreate(id, NULL));
    INVALID(cuLogicalEndpointCreate(id + 3, &prop));
    INVALID(cuLogicalEndpointCreate(0, &prop));
    for (int k = 0; k < 9; k++) {
        CUlogicalEndpointProp bad = prop;
        if (k == 0)
            bad.type = CU_LOGICAL_ENDPOINT_TYPE_INVALID;
        if (k == 1)
            bad.type = (CUlogicalEndpointType)3;
        if (k == 2)
            bad.unicast.device = 8;
        if (k == 3)
            bad.unicast.device = -1;
        if (k == 4)
            bad.size = 0;
        if (k == 5)
            bad.size = alignment / 2;
        if (k == 6)
            bad.size = most + alignment;
        if (k == 7)
            bad.ipcHandleTypes = 2;
        if (k == 8)
            bad.flags = 2;
        INVALID(cuLogicalEndpointCreate(id, &bad));
    }
    CUlogicalEndpointProp team = multicast_prop(0, GRAIN);
    INVALID(cuLogicalEndpointCreate(id, &team));
    team.multicast.numDevices = 1;
    INVALID(cuLogicalEndpointCreate(id, &team)); /* as with multicast objects */
    team.multicast.numDevices = 0xffffffffu;
    INVALID(cuLogicalEndpointCreate(id, &team));
    OK(cuLogicalEndpointCreate(id, &prop));
    INVALID(cuLogicalEndpointCreate(id, &prop)); /* it has one */
    prop.size = most;
    OK(cuLogicalEndpointCreate(id + 1, &prop));
    team.multicast.numDevices = 8;
    team.flags = CU_LOGICAL_ENDPOINT_FLAG_COUNTED_OPS;
    team.ipcHandleTypes = CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_FABRIC;
    OK(cuLogicalEndpointCreate(id + 2, &team));
}

/* A team of one where it is allowed. */
static void test_create_alone(void)
{
    start();
    wait_ready(full_multicast(1, GRAIN), 1);
}

/* Fabric handles want an IMEX channel, as they do for memory. */
static void test_create_permission(void)
{
    CUlogicalEndpointProp prop = unicast_prop(0, GRAIN);
    cuuint64_t alignment, most;

    start();
    Id id = reserve_ids(1);
    prop.ipcHandleTypes = CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_FABRIC;
    EXPECT(CUDA_ERROR_NOT_PERMITTED, cuLogicalEndpointCreate(id, &prop));
    EXPECT(CUDA_ERROR_NOT_PERMITTED, cuLogicalEndpointGetLimits(&alignment, &most, &prop));
    prop.ipcHandleTypes = 0;
    OK(cuLogicalEndpointCreate(id, &prop));
}

/* The limits depend on the properties, whose size may be anything; they are what is configured. */
static void test_limits(void)
{
    CUlogicalEndpointProp prop = unicast_prop(0, 0);
    cuuint64_t alignment = 77, most = 77;

    start();
    INVALID(cuLogicalEndpointGetLimits(NULL, &most, &prop));
    INVALID(cuLogicalEndpointGetLimits(&alignment, NULL, &prop));
    INVALID(cuLogicalEndpointGetLimits(&alignment, &most, NULL));
    prop.type = CU_LOGICAL_ENDPOINT_TYPE_INVALID;
    INVALID(cuLogicalEndpointGetLimits(&alignment, &most, &prop));
    assert_int_equal(alignment, 77);
    assert_int_equal(most, 77);
    prop = unicast_prop(7, 12345);
    OK(cuLogicalEndpointGetLimits(&alignment, &most, &prop));
    assert_int_equal(alignment, 65536);
    assert_int_equal(most, 3 * 65536); /* 200000 bytes, in whole granules */
    prop = multicast_prop(8, 0);
    OK(cuLogicalEndpointGetLimits(&alignment, &most, &prop));
    assert_int_equal(alignment, 65536);
    INVALID(cuLogicalEndpointCreate(
        reserve_ids(1), &(CUlogicalEndpointProp){.type = CU_LOGICAL_ENDPOINT_TYPE_UNICAST, .size = 4 * 65536}));
}

/* Devices are added to multicast endpoints alone, each once, until the team is complete; for good. */
static void test_add_device(void)
{
    start();
    Id one = unicast(0, GRAIN), id = multicast(2, GRAIN);
    INVALID(cuLogicalEndpointAddDevice(one, 0));
    INVALID(cuLogicalEndpointAddDevice(id + 1, 0));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuLogicalEndpointAddDevice(id, 8));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuLogicalEndpointAddDevice(id, -1));
    OK(cuLogicalEndpointAddDevice(id, 3));
    INVALID(cuLogicalEndpointAddDevice(id, 3));
    OK(cuLogicalEndpointAddDevice(id, 5));
    INVALID(cuLogicalEndpointAddDevice(id, 6));
    wait_ready(id, 1);
}

/* A device of another clique is refused, and the team can still be completed. */
static void test_add_clique(void)
{
    start();
    Id id = multicast(2, GRAIN);
    OK(cuLogicalEndpointAddDevice(id, 5));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuLogicalEndpointAddDevice(id, 3));
    OK(cuLogicalEndpointAddDevice(id, 4));
    wait_ready(id, 1);
}

/* Where adding does not look at cliques, the construction fails later: the query says so. */
static void test_query_clique(void)
{
    int ready = 77;

    start();
    Id id = multicast(2, GRAIN);
    OK(cuLogicalEndpointAddDevice(id, 5));
    OK(cuLogicalEndpointAddDevice(id, 3));
    EXPECT(CUDA_ERROR_ILLEGAL_STATE, cuLogicalEndpointQuery(id, 1, &ready));
    assert_int_equal(ready, 77);
}

/* An endpoint is ready when its devices are there and the fabric manager has answered, unicast ones too; a range when
 * all of it is. The query never waits: it is 0 until then. */
static void test_query(void)
{
    int ready = 77;

    start();
    Id id = reserve_ids(3);
    CUlogicalEndpointProp one = unicast_prop(1, GRAIN), team = multicast_prop(2, GRAIN);
    INVALID(cuLogicalEndpointQuery(id, 1, &ready)); /* neither created nor imported */
    OK(cuLogicalEndpointCreate(id, &one));
    OK(cuLogicalEndpointCreate(id + 1, &team));
    INVALID(cuLogicalEndpointQuery(id, 1, NULL));
    INVALID(cuLogicalEndpointQuery(id, 0, &ready));
    INVALID(cuLogicalEndpointQuery(id, 3, &ready));
    INVALID(cuLogicalEndpointQuery(id, 0xffffffffu, &ready));
    INVALID(cuLogicalEndpointQuery(0xffffffffu, 2, &ready));
    assert_int_equal(ready, 77);
    assert_int_equal(query(id, 1), 0);
    wait_ready(id, 1);
    assert_int_equal(query(id, 2), 0); /* queried before devices are there */
    OK(cuLogicalEndpointAddDevice(id + 1, 0));
    for (int i = 0; i < 1000; i++)
        assert_int_equal(query(id + 1, 1), 0);
    OK(cuLogicalEndpointAddDevice(id + 1, 1));
    assert_int_equal(query(id, 2), 0);
    wait_ready(id, 2);
    assert_int_equal(query(id + 1, 1), 1);
}

/* The fabric manager's time passes by queries alone: as many as its latency has quanta. */
static void test_query_time(void)
{
    int n = 0;

    start();
    Id id = unicast(0, GRAIN);
    while (!query(id, 1))
        n++;
    assert_in_range(n, 199, 201); /* 200 us in quanta of 1 us */
}

/* A manager that does not answer: not ready, and an error after the driver's patience, which may be tried again. */
static void test_query_stopped(void)
{
    CUresult result = CUDA_SUCCESS;
    int ready = 0, n = 0;

    start();
    Id id = unicast(0, GRAIN);
    while (result == CUDA_SUCCESS && !ready && n++ < 1000)
        result = cuLogicalEndpointQuery(id, 1, &ready);
    assert_int_equal(result, CUDA_ERROR_SYSTEM_NOT_READY);
    assert_in_range(n, 50, 53); /* 50 us in quanta of 1 us, and the first and last look */
}

/* A manager that is not there, or whose fabric is broken: an illegal state. */
static void test_query_absent(void)
{
    int ready = 77;

    start();
    Id id = unicast(0, GRAIN);
    EXPECT(CUDA_ERROR_ILLEGAL_STATE, cuLogicalEndpointQuery(id, 1, &ready));
    assert_int_equal(ready, 77);
}

/* All multicast entries of the switches are taken: a further multicast endpoint cannot be set up, a unicast one can. */
static void test_query_full(void)
{
    int ready = 77;

    start();
    full_multicast(2, GRAIN);
    Id id = multicast(2, GRAIN);
    OK(cuLogicalEndpointAddDevice(id, 0));
    OK(cuLogicalEndpointAddDevice(id, 1));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuLogicalEndpointQuery(id, 1, &ready));
    ready_unicast(0, GRAIN);
}

/* The entry of a destroyed endpoint can be had again, as can its identifier. */
static void test_destroy(void)
{
    start();
    Id id = full_multicast(2, GRAIN);
    INVALID(cuLogicalEndpointDestroy(id + 1));
    INVALID(cuLogicalEndpointDestroy(0));
    OK(cuLogicalEndpointDestroy(id));
    INVALID(cuLogicalEndpointDestroy(id));
    int ready;
    INVALID(cuLogicalEndpointQuery(id, 1, &ready));
    INVALID(cuLogicalEndpointAddDevice(id, 0));
    CUlogicalEndpointProp prop = multicast_prop(2, GRAIN);
    OK(cuLogicalEndpointCreate(id, &prop));
    OK(cuLogicalEndpointAddDevice(id, 4));
    OK(cuLogicalEndpointAddDevice(id, 6));
    wait_ready(id, 1);
}

/* Without endpoints every call of the family is not supported, outputs stay, and attributes say so. */
static void test_unsupported(void)
{
    CUlogicalEndpointProp prop = unicast_prop(0, GRAIN);
    CUlogicalEndpointFabricHandle handle = {{0}};
    cuuint64_t alignment = 77, most = 77;
    Id id = 77;
    int value = 77;

    start();
    use_device(0);
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuLogicalEndpointIdReserve(&id, 1));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuLogicalEndpointIdRelease(1, 1));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuLogicalEndpointCreate(1, &prop));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuLogicalEndpointAddDevice(1, 0));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuLogicalEndpointDestroy(1));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuLogicalEndpointBindAddr(1, 0, 0, NULL, GRAIN, 0));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuLogicalEndpointBindMem(1, 0, 0, 1, 0, GRAIN, 0));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuLogicalEndpointUnbind(1, 0, 0, GRAIN));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuLogicalEndpointExport(&handle, 1, 1));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuLogicalEndpointImport(1, &handle, 1));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuLogicalEndpointGetLimits(&alignment, &most, &prop));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuLogicalEndpointQuery(1, 1, &value));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, fabric_copy(pointer(1), pointer(2), 1, NULL));
    assert_true(id == 77 && alignment == 77 && most == 77 && value == 77);
    for (int a = 153; a <= 156; a++) {
        OK(cuDeviceGetAttribute(&value, (CUdevice_attribute)a, 0));
        assert_int_equal(value, 0);
    }
}

/* Where no device has multicast, unicast endpoints are there and multicast ones are not supported. */
static void test_no_multicast(void)
{
    CUlogicalEndpointProp prop = multicast_prop(2, GRAIN);
    cuuint64_t alignment, most;
    int value = 77;

    start();
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuLogicalEndpointGetLimits(&alignment, &most, &prop));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuLogicalEndpointCreate(reserve_ids(1), &prop));
    ready_unicast(0, GRAIN);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_MULTICAST_SUPPORTED, 0));
    assert_int_equal(value, 0);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_UNICAST_SUPPORTED, 0));
    assert_int_equal(value, 1);
}

/* What a model of SM 10.7 says of itself; attributes beyond a driver's version are none. */
static void test_attributes(void)
{
    static const int expected[] = {1, 1, 1, 1, 132, 1}; /* 153 to 158 */
    int value = 0, major = 0, minor = 0;

    start();
    OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    OK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0));
    assert_int_equal(major * 10 + minor, 107);
    for (int a = 153; a <= 158; a++) {
        OK(cuDeviceGetAttribute(&value, (CUdevice_attribute)a, 7));
        assert_int_equal(value, expected[a - 153]);
    }
    OK(cuDeviceGetAttribute(&value, (CUdevice_attribute)161, 7));
    INVALID(cuDeviceGetAttribute(&value, (CUdevice_attribute)162, 7));
}

/* A driver of 13.3 knows the attributes up to 156, and none that came later. */
static void test_attributes_before(void)
{
    int value = 0;

    start();
    OK(cuDeviceGetAttribute(&value, (CUdevice_attribute)156, 7));
    INVALID(cuDeviceGetAttribute(&value, (CUdevice_attribute)157, 7));
    INVALID(cuDeviceGetAttribute(&value, (CUdevice_attribute)149, 7));
}

static void look_up(const char *name, int version, CUdriverProcAddressQueryResult expected)
{
    CUdriverProcAddressQueryResult found;
    void *function = (void *)1;

    OK(cuGetProcAddress_v2(name, &function, version, 0, &found));
    assert_int_equal(found, expected);
    assert_int_equal(function != NULL, expected == CU_GET_PROC_ADDRESS_SUCCESS);
}

/* Functions are found from the version on that brought them. */
static void test_versions(void)
{
    int version = 0;
    void *function;

    OK(cuDriverGetVersion(&version));
    assert_int_equal(version, 13050);
    look_up("cuLogicalEndpointCreate", 13030, CU_GET_PROC_ADDRESS_SUCCESS);
    look_up("cuLogicalEndpointCreate", 13020, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    look_up("cuDeviceGetCliqueCount", 13040, CU_GET_PROC_ADDRESS_SUCCESS);
    look_up("cuDeviceGetCliqueCount", 13030, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    look_up("cuFabricCpyBatchAsync", 13050, CU_GET_PROC_ADDRESS_SUCCESS);
    look_up("cuFabricCpyBatchAsync", 13040, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    look_up("cuGraphAddNode", 13050, CU_GET_PROC_ADDRESS_SUCCESS);
    look_up("cuGraphAddNode_v3", 13050, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    INVALID(cuGetProcAddress_v2("cuInit", &function, 13060, 0, NULL));
}

/* A driver of 13.3 has endpoints and nothing that came later. */
static void test_versions_before(void)
{
    look_up("cuLogicalEndpointQuery", 13030, CU_GET_PROC_ADDRESS_SUCCESS);
    look_up("cuDeviceGetCliqueCount", 13030, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    look_up("cuFabricCpyBatchAsync", 13030, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

/* A device is in one clique for each means that it has; their numbers are those of the configured cliques. */
static void test_cliques(void)
{
    CUcliqueInfo clique[5] = {{0, 0}};
    size_t n = 77, room = 5;

    start();
    INVALID(cuDeviceGetCliqueCount(NULL, 0));
    INVALID(cuDeviceGetCliqueCount(&n, 8));
    INVALID(cuDeviceGetCliqueInfo(NULL, &room, 0));
    INVALID(cuDeviceGetCliqueInfo(clique, NULL, 0));
    INVALID(cuDeviceGetCliqueInfo(clique, &room, -1));
    assert_true(n == 77 && room == 5);
    OK(cuDeviceGetCliqueCount(&n, 5));
    assert_int_equal(n, 4);
    OK(cuDeviceGetCliqueInfo(clique, &room, 5));
    assert_int_equal(room, 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(clique[i].type, i);
        assert_int_equal(clique[i].id,
                         i == 0 ? 0 : 2); /* pointers reach all; cliques of two: GPUs 4 and 5 are the third */
    }
    room = 2;
    clique[2].id = 99;
    OK(cuDeviceGetCliqueInfo(clique, &room, 0));
    assert_true(room == 2 && clique[1].id == 0 && clique[2].id == 99);
}

/* Without endpoints a device is in the cliques of pointers alone. */
static void test_cliques_fewer(void)
{
    size_t n = 0;

    start();
    OK(cuDeviceGetCliqueCount(&n, 0));
    assert_int_equal(n, 2);
}

/* Without multicast there is that of unicast pointers alone. */
static void test_cliques_one(void)
{
    size_t n = 0;

    start();
    OK(cuDeviceGetCliqueCount(&n, 0));
    assert_int_equal(n, 1);
}

/* A GPU whose fabric has no handles is in no clique, and in no cluster. */
static void test_cliques_none(void)
{
    CUcliqueInfo clique;
    CUuuid uuid;
    size_t n = 1;

    start();
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuDeviceGetCliqueCount(&n, 0));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuDeviceGetCliqueInfo(&clique, &n, 0));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuDeviceGetFabricClusterUuid(&uuid, 0));
}

/* The cluster of a machine of one host has no name. */
static void test_cluster(void)
{
    CUuuid first, other, zero = {{0}};

    start();
    INVALID(cuDeviceGetFabricClusterUuid(NULL, 0));
    INVALID(cuDeviceGetFabricClusterUuid(&first, 8));
    OK(cuDeviceGetFabricClusterUuid(&first, 0));
    OK(cuDeviceGetFabricClusterUuid(&other, 7));
    assert_memory_equal(&first, &other, sizeof first);
    assert_memory_equal(&first, &zero, sizeof first);
}

/* That of a rack has a name, the same for all its GPUs. */
static void test_cluster_rack(void)
{
    CUuuid first, other, zero = {{0}};

    start();
    OK(cuDeviceGetFabricClusterUuid(&first, 0));
    OK(cuDeviceGetFabricClusterUuid(&other, 7));
    assert_memory_equal(&first, &other, sizeof first);
    assert_memory_not_equal(&first, &zero, sizeof first);
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {
        CUDA_TEST(test_reserve, ENDPOINTS),
        CUDA_TEST(test_release, ENDPOINTS),
        CUDA_TEST(test_create, ENDPOINTS),
        CUDA_TEST(test_create_alone, ENDPOINTS "cuda.multicast_single_member=true"),
        CUDA_TEST(test_create_permission, "cuda.endpoints=on"),
        CUDA_TEST(test_limits, ENDPOINTS "cuda.endpoint_align_bytes=65536 cuda.endpoint_max_bytes=200000"),
        CUDA_TEST(test_add_device, ENDPOINTS),
        CUDA_TEST(test_add_clique, ENDPOINTS "cuda.clique_gpus=4"),
        CUDA_TEST(test_query_clique, ENDPOINTS "cuda.clique_gpus=4 cuda.clique_check=later cuda.fm_latency_us=0"),
        CUDA_TEST(test_query, ENDPOINTS),
        CUDA_TEST(test_query_time, ENDPOINTS),
        CUDA_TEST(test_query_stopped, ENDPOINTS "cuda.fm_state=stopped cuda.fm_timeout_us=50"),
        CUDA_TEST(test_query_absent, ENDPOINTS "cuda.fm_state=absent"),
        CUDA_TEST(test_query_full, ENDPOINTS "cuda.multicast_slots=1 cuda.fm_latency_us=0"),
        CUDA_TEST(test_destroy, ENDPOINTS "cuda.multicast_slots=1"),
        CUDA_TEST(test_unsupported, "cuda.driver_version=13050"),
        CUDA_TEST(test_no_multicast, ENDPOINTS "cuda.multicast=false"),
        CUDA_TEST(test_attributes, "cuda.gpu=vr200 cuda.driver_version=13050"),
        CUDA_TEST(test_attributes_before, "cuda.gpu=vr200 cuda.driver_version=13030"),
        CUDA_TEST(test_versions, "cuda.driver_version=13050"),
        CUDA_TEST(test_versions_before, "cuda.driver_version=13030"),
        CUDA_TEST(test_cliques, ENDPOINTS "cuda.clique_gpus=2"),
        CUDA_TEST(test_cliques_fewer, ""),
        CUDA_TEST(test_cliques_one, "cuda.multicast=false"),
        CUDA_TEST(test_cliques_none, "cuda.gpu=a100"),
        CUDA_TEST(test_cluster, ""),
        CUDA_TEST(test_cluster_rack, "cuda.gpu=gb200"),
        CUDA_TEST_END,
    };
    return cuda_test_main(tests, argc, argv);
}
