/* Prints what the driver answers to one kind of bad input, for tests/wire/test_bad_jobs.sh.
 *
 *     answers device N       opens device N and makes memory there
 *     answers descriptors    imports descriptors of anything as memory
 *     answers init           initialises, and no more
 *     answers listen NAME    listens at that name, as an owner does, and never answers */
#include <fanout/cuda.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char *name_of(CUresult result)
{
    const char *name = NULL;
    cuGetErrorName(result, &name);
    return name ? name : "an error without a name";
}

static void import(const char *what, int fd)
{
    CUmemGenericAllocationHandle handle = 0;
    CUresult result = cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd,
                                                     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    printf("%s: %s\n", what, name_of(result));
    if (result == CUDA_SUCCESS)
        exit(1);
}

/* Everything that a descriptor may be of, but memory of the driver. */
static void descriptors(void)
{
    char zeros[4096] = {0};
    int pipe_fd[2], pair[2], cut;
    int file = memfd_create("unsealed", MFD_ALLOW_SEALING), sealed = memfd_create("sealed", MFD_ALLOW_SEALING);
    if (pipe(pipe_fd) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || ftruncate(file, 1 << 21) ||
        ftruncate(sealed, 1 << 21) || fcntl(sealed, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        exit(2);
    cut = memfd_create("short", MFD_ALLOW_SEALING);
    if (write(cut, zeros, sizeof zeros) != sizeof zeros || fcntl(cut, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
        exit(2);
    import("no descriptor", -1);
    import("a closed descriptor", 1000);
    import("a pipe", pipe_fd[0]);
    import("a socket", pair[0]);
    import("a folder", open("/", O_RDONLY));
    import("/dev/null", open("/dev/null", O_RDWR));
    import("an event", eventfd(0, 0));
    import("memory that is not sealed", file);
    import("sealed memory of another program", sealed);
    import("a page of zeros", cut);
}

static int listen_at(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t length = strlen(name);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

    if (length >= sizeof address.sun_path || fd < 0)
        return 2;
    memcpy(address.sun_path + 1, name, length);
    if (bind(fd, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) ||
        listen(fd, 8))
        return 2;
    puts("listens");
    fflush(stdout);
    return pause();
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "listen"))
        return listen_at(argv[2]);
    CUresult result = cuInit(0);
    CUdevice device = 0;
    CUcontext context;
    printf("cuInit: %s\n", name_of(result));
    fflush(stdout);
    if (result != CUDA_SUCCESS || argc < 2 || !strcmp(argv[1], "init"))
        return result != CUDA_SUCCESS;
    result = cuDeviceGet(&device, argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0);
    if (!strcmp(argv[1], "device"))
        printf("device %s: %s\n", argv[2], name_of(result));
    if (result != CUDA_SUCCESS)
        return 1;
    if (cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context))
        return 1;
    if (!strcmp(argv[1], "descriptors"))
        descriptors();
    return 0;
}
