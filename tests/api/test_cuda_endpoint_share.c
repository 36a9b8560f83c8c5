/* Logical endpoints between processes: export, import, who may bind, whose endpoint lives how long. */
#include "tests/api/endpoint_test.h"

#define SHARED CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define FABRIC CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_FABRIC
typedef CUlogicalEndpointFabricHandle Name;

static Id exportable(CUlogicalEndpointProp prop, Name *name)
{
    Id id = reserve_ids(1);
    prop.ipcHandleTypes = FABRIC;
    OK(cuLogicalEndpointCreate(id, &prop));
    OK(cuLogicalEndpointExport(name, id, FABRIC));
    return id;
}

static void send_name(int socket, const Name *name)
{
    assert_int_equal(write(socket, name, sizeof *name), sizeof *name);
}
static void receive_name(int socket, Name *name) { assert_int_equal(read(socket, name, sizeof *name), sizeof *name); }

static Id imported(const Name *name)
{
    reserve_ids(3); /* another number than in the exporting process */
    Id id = reserve_ids(1);
    OK(cuLogicalEndpointImport(id, name, FABRIC));
    return id;
}

/* Export wants a type that the endpoint was created with; import a reserved identifier that is free, and a handle. */
static void test_arguments(void)
{
    Name name, none = {{0}};

    start();
    Id plain = unicast(0, GRAIN), id = exportable(unicast_prop(0, GRAIN), &name);
    memset(&none, 0x5a, sizeof none);
    INVALID(cuLogicalEndpointExport(&none, plain, FABRIC));
    INVALID(cuLogicalEndpointExport(NULL, id, FABRIC));
    INVALID(cuLogicalEndpointExport(&none, id, CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_NONE));
    INVALID(cuLogicalEndpointExport(&none, id, (CUlogicalEndpointIpcHandleType)2));
    INVALID(cuLogicalEndpointExport(&none, id + 1, FABRIC));
    assert_int_equal(none.data[0], 0x5a);
    Id other = reserve_ids(1);
    INVALID(cuLogicalEndpointImport(other + 1, &name, FABRIC));
    INVALID(cuLogicalEndpointImport(id, &name, FABRIC));
    INVALID(cuLogicalEndpointImport(other, NULL, FABRIC));
    INVALID(cuLogicalEndpointImport(other, &name, CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_NONE));
    INVALID(cuLogicalEndpointImport(other, &none, FABRIC));
    OK(cuLogicalEndpointImport(other, &name, FABRIC));                               /* in its own process, too */
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuLogicalEndpointExport(&none, other, FABRIC)); /* what was imported */
    wait_ready(id, 1);
    wait_ready(other, 1);
    Handle mem = memory(0, GRAIN, SHARED);
    INVALID(bind_memory(other, 0, 0, mem, 0, GRAIN)); /* an imported unicast one takes no memory */
    OK(bind_memory(id, 0, 0, mem, 0, GRAIN));
    OK(cuLogicalEndpointDestroy(id));
    OK(cuLogicalEndpointDestroy(other));
}

/* Handles of memory and of multicast objects are none of endpoints, and the other way round. */
static void test_other_handles(void)
{
    CUmemFabricHandle fabric;
    Handle got = 77;
    Name name;

    start();
    exportable(multicast_prop(2, GRAIN), &name);
    Id other = reserve_ids(1);
    Handle mem = memory(0, GRAIN, CU_MEM_HANDLE_TYPE_FABRIC), object = team(2, GRAIN, CU_MEM_HANDLE_TYPE_FABRIC);
    OK(cuMemExportToShareableHandle(&fabric, mem, CU_MEM_HANDLE_TYPE_FABRIC, 0));
    INVALID(cuLogicalEndpointImport(other, &fabric, FABRIC));
    OK(cuMemExportToShareableHandle(&fabric, object, CU_MEM_HANDLE_TYPE_FABRIC, 0));
    INVALID(cuLogicalEndpointImport(other, &fabric, FABRIC));
    INVALID(cuMemImportFromShareableHandle(&got, &name, CU_MEM_HANDLE_TYPE_FABRIC));
    assert_int_equal(got, 77);
}

static void put_word(int socket)
{
    guint32 word = 4711;
    CUstream stream;
    Name name;

    start();
    use_device(1);
    receive_name(socket, &name);
    Id id = imported(&name);
    wait_ready(id, 1);
    INVALID(bind_memory(id, 0, 0, memory(0, GRAIN, SHARED), 0, GRAIN));
    INVALID(cuLogicalEndpointUnbind(id, 0, 0, GRAIN));
    INVALID(cuLogicalEndpointAddDevice(id, 1));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(fabric_copy(endpoint(id, 64), pointer((CUdeviceptr)(gsize)&word), 4, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuLogicalEndpointDestroy(id));
    tell(socket);
}

/* A copy into an imported unicast endpoint lands in the owner's memory; it may not be bound or unbound there. */
static void test_unicast(void)
{
    Name name;
    int socket;
    pid_t pid = fork_child(put_word, &socket);

    start();
    use_device(0);
    Id id = exportable(unicast_prop(0, GRAIN), &name);
    wait_ready(id, 1);
    Handle mem = memory(0, GRAIN, SHARED);
    CUdeviceptr va = mapped(mem, GRAIN, 0);
    OK(bind_memory(id, 0, 0, mem, 0, GRAIN));
    send_name(socket, &name);
    hear(socket);
    join_child(pid);
    assert_int_equal(word_at(va + 64), 4711);
    OK(cuLogicalEndpointUnbind(id, 0, 0, GRAIN)); /* the importer's end took nothing away */
}

static void be_member(int socket)
{
    Name name;

    start();
    use_device(1);
    receive_name(socket, &name);
    Id id = imported(&name);
    OK(cuLogicalEndpointAddDevice(id, 1));
    wait_ready(id, 1);
    INVALID(bind_memory(id, 1, 0, memory(1, GRAIN, 0), 0, GRAIN)); /* imported: memory that can be shared alone */
    Handle mem = memory(1, GRAIN, SHARED);
    CUdeviceptr va = mapped(mem, GRAIN, 1);
    OK(bind_memory(id, 1, 0, mem, 0, GRAIN));
    tell(socket);
    hear(socket);
    assert_int_equal(word_at(va + 128), 99);
    OK(cuLogicalEndpointDestroy(id));
    tell(socket);
    hear(socket);
}

/* Each process adds its device and binds its memory; a copy of one is seen by both; what a process bound goes with its
 * own Destroy, and the other's stays. */
static void test_multicast(void)
{
    guint32 word = 99;
    CUstream stream;
    Name name;
    int socket;
    pid_t pid = fork_child(be_member, &socket);

    start();
    use_device(0);
    Id id = exportable(multicast_prop(2, GRAIN), &name);
    OK(cuLogicalEndpointAddDevice(id, 0));
    assert_int_equal(query(id, 1), 0);
    send_name(socket, &name);
    wait_ready(id, 1);
    Handle mem = memory(0, GRAIN, SHARED);
    CUdeviceptr va = mapped(mem, GRAIN, 0);
    OK(bind_memory(id, 0, 0, mem, 0, GRAIN));
    hear(socket);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(fabric_copy(endpoint(id, 128), pointer((CUdeviceptr)(gsize)&word), 4, stream));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(word_at(va + 128), 99);
    tell(socket);
    hear(socket);
    OK(fabric_copy(endpoint(id, 192), pointer((CUdeviceptr)(gsize)&word), 4, stream));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream)); /* device 1 has nothing bound any more */
    tell(socket);
    join_child(pid);
}

static void hold(int socket)
{
    Name name;

    start();
    receive_name(socket, &name);
    Id id = imported(&name);
    tell(socket);
    hear(socket);
    INVALID(cuLogicalEndpointImport(id - 1, &name, FABRIC));
    wait_ready(id, 1); /* its own goes on */
}

/* An import after the creator destroyed the endpoint is refused, though another process holds it. */
static void test_late(void)
{
    Name name;
    int socket;
    pid_t pid = fork_child(hold, &socket);

    start();
    Id id = exportable(unicast_prop(0, GRAIN), &name);
    send_name(socket, &name);
    hear(socket);
    OK(cuLogicalEndpointDestroy(id));
    INVALID(cuLogicalEndpointImport(id, &name, FABRIC));
    tell(socket);
    join_child(pid);
}

static void refuse(int socket)
{
    Name name;

    g_setenv("FANOUT_SET", "cuda.endpoints=on\ncuda.imex_channel=true\ncuda.multicast=false", TRUE);
    start();
    receive_name(socket, &name);
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuLogicalEndpointImport(reserve_ids(1), &name, FABRIC));
}

static void forbid(int socket)
{
    Name name;

    g_setenv("FANOUT_SET", "cuda.endpoints=on", TRUE);
    start();
    receive_name(socket, &name);
    EXPECT(CUDA_ERROR_NOT_PERMITTED, cuLogicalEndpointImport(reserve_ids(1), &name, FABRIC));
}

/* A process that cannot have what the handle describes; and one without permission. */
static void test_refused(void)
{
    Name name;
    int socket[2];
    pid_t pid[2] = {fork_child(refuse, &socket[0]), fork_child(forbid, &socket[1])};

    start();
    exportable(multicast_prop(2, GRAIN), &name);
    for (int i = 0; i < 2; i++) {
        send_name(socket[i], &name);
        join_child(pid[i]);
    }
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {
        CUDA_TEST(test_arguments, ENDPOINTS),
        CUDA_TEST(test_other_handles, ENDPOINTS),
        CUDA_TEST(test_unicast, ENDPOINTS),
        CUDA_TEST(test_multicast, ENDPOINTS),
        CUDA_TEST(test_late, ENDPOINTS),
        CUDA_TEST(test_refused, ENDPOINTS),
        CUDA_TEST_END,
    };
    return cuda_test_main(tests, argc, argv);
}
