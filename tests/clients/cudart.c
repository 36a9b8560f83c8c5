/* Our runtime libraries as programs of either major version meet them, without a toolkit: `cudart 12`, `cudart 13`. The
 * library is the one that the loader finds; the kernel is registered as compilers' code does it; structures are read by
 * the places that their members have in the published headers. Prints ok. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    unsigned x, y, z;
} dim3;
typedef void *Stream;

static void *library;
static void *find(const char *name)
{
    void *symbol = dlsym(library, name);
    if (!symbol) {
        printf("no %s\n", name);
        exit(1);
    }
    return symbol;
}
/* clang-format off */
#define GET(name, ...) int (*name)(__VA_ARGS__); do { void *s_ = find(#name); memcpy(&name, &s_, sizeof s_); } while (0)
#define CK(call) do { int r_ = (call); if (r_) { printf("%s: %d\n", #call, r_); exit(1); } } while (0)
#define IS(what) do { if (!(what)) { printf("line %d: not so: %s\n", __LINE__, #what); exit(1); } } while (0)
/* clang-format on */

static const char text[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n.visible .global .align 4 .u32 total;\n"
    ".visible .entry fill(.param .u64 p, .param .u32 v)\n{\n.reg .b64 %d<4>; .reg .b32 %r<6>;\n"
    "ld.param.u64 %d1, [p]; ld.param.u32 %r1, [v]; mov.u32 %r2, %tid.x; mul.wide.u32 %d2, %r2, 4;\n"
    "add.s64 %d3, %d1, %d2; add.u32 %r3, %r1, %r2; st.global.u32 [%d3], %r3;\n"
    "mov.u64 %d1, total; red.global.add.u32 [%d1], %r1; ret;\n}\n";

/* A fatbinary with one PTX, as ptx/read/fatbin.h has the format. */
static struct {
    uint32_t magic;
    uint16_t version, header;
    uint64_t size;
    struct {
        uint16_t kind, version;
        uint32_t header;
        uint64_t padded;
        uint32_t packed, flags2;
        uint16_t minor, major;
        uint32_t arch;
        uint64_t name;
        uint64_t flags, zero, bytes;
        char more[16];
    } entry;
    char data[(sizeof text + 7) & ~7ul];
} image;
static struct {
    int magic, version;
    void *data, *file;
} wrapper;
static char stand_in, variable; /* of the kernel and the variable in the host's program */

static void make_image(void)
{
    image.magic = 0xba55ed50;
    image.version = 1;
    image.header = 16;
    image.entry.kind = 1;
    image.entry.version = 0x101;
    image.entry.header = sizeof image.entry;
    image.entry.padded = sizeof image.data;
    image.entry.flags2 = 0x40;
    image.entry.major = 7;
    image.entry.minor = 8;
    image.entry.arch = 80;
    image.entry.flags = 0x11;
    image.entry.bytes = sizeof text - 1;
    memcpy(image.data, text, sizeof text);
    image.size = sizeof image.entry + sizeof image.data;
    wrapper.magic = 0x466243b1;
    wrapper.version = 1;
    wrapper.data = &image;
}

static void look_at_device(int version)
{
    int (*properties)(void *, int);
    void *symbol = find(version == 12 ? "cudaGetDeviceProperties_v2" : "cudaGetDeviceProperties");
    GET(cudaRuntimeGetVersion, int *);
    char prop[1200];
    int value;
    memcpy(&properties, &symbol, sizeof symbol);
    CK(cudaRuntimeGetVersion(&value));
    IS(value / 1000 == version);
    memset(prop, 0x55, sizeof prop);
    CK(properties(prop, 0));
    int size = version == 12 ? 1032 : 1008;
    IS(prop[size] == 0x55 && prop[size - 1] == 0);
    IS(memcmp(prop + 360, (int[]){9, 0}, 8) == 0);                        /* major, minor */
    IS(memcmp(prop + (version == 12 ? 388 : 384), (int[]){132}, 4) == 0); /* multiProcessorCount */
    memcpy(&value, prop + (version == 12 ? 616 : 596), 4);
    IS(value >= 50 << 20); /* l2CacheSize */
    if (version == 12) {
        GET(cudaGetDeviceProperties, void *, int);
        memset(prop, 0x55, sizeof prop);
        CK(cudaGetDeviceProperties(prop, 0));
        IS(prop[727] == 0 && prop[728] == 0x55 && memcmp(prop + 360, (int[]){9, 0}, 8) == 0);
    }
}

static void look_at_pointer(int version, void *device)
{
    struct {
        int type, device;
        void *at, *host;
        long more[8];
    } a;
    GET(cudaPointerGetAttributes, void *, const void *);
    memset(&a, 0x55, sizeof a);
    CK(cudaPointerGetAttributes(&a, device));
    IS(a.type == 2 && a.device == 0 && a.at == device && !a.host);
    IS((a.more[0] == 0x5555555555555555) == (version == 12)); /* which has no such member */
}

/* The runtime's names are its own, as 38 of an H200's library were printed; a kernel that was not to be had says why
 * when it is launched all the same, as compiled programs do. */
static void look_at_errors(void *no_kernel)
{
    static const struct {
        int code;
        const char *name, *text;
    } rows[] = {{1, "cudaErrorInvalidValue", "invalid argument"},
                {9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
                {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
                {209, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
                {700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
                {801, "cudaErrorNotSupported", "operation not supported"},
                {4711, "unrecognized error code", "unrecognized error code"}};
    void *names[] = {find("cudaGetErrorName"), find("cudaGetErrorString")};
    const char *(*name)(int), *(*text)(int);
    GET(__cudaGetKernel, void **, const void *);
    GET(__cudaLaunchKernel, void *, dim3, dim3, void **, size_t, Stream);
    const dim3 one = {1, 1, 1};
    void *kernel = no_kernel;
    memcpy(&name, &names[0], 8);
    memcpy(&text, &names[1], 8);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        IS(!strcmp(name(rows[i].code), rows[i].name) && !strcmp(text(rows[i].code), rows[i].text));
    IS(__cudaGetKernel(&kernel, no_kernel) == 98 && !kernel);
    IS(__cudaLaunchKernel(kernel, one, one, NULL, 0, NULL) == 98);
}

/* Of 132 SMs, 16 CTAs of 128 threads on each, 4 in a cluster: 528; and 8 in one at most. */
static void look_at_clusters(void)
{
    struct {
        int id;
        char pad[4];
        unsigned value[16];
    } attribute = {.id = 4, .value = {4, 1, 1}};
    struct {
        dim3 grid, block;
        size_t shared;
        Stream stream;
        void *attributes;
        unsigned n;
    } config = {{8, 1, 1}, {128, 1, 1}, 0, NULL, &attribute, 1};
    GET(cudaOccupancyMaxActiveClusters, int *, const void *, const void *);
    GET(cudaOccupancyMaxPotentialClusterSize, int *, const void *, const void *);
    int n = -1;
    CK(cudaOccupancyMaxActiveClusters(&n, &stand_in, &config));
    IS(n == 528);
    CK(cudaOccupancyMaxPotentialClusterSize(&n, &stand_in, &config));
    IS(n == 8);
}

/* A stream's attributes by the driver API's numbers: a window of the L2 (1) and the policy of synchronisation (3). */
static void look_at_attributes(void)
{
    union {
        struct {
            void *at;
            size_t bytes;
            float ratio;
            int hit, miss;
        } window;
        int policy;
        char pad[64];
    } value = {.window = {&image, 4096, 0.5f, 2, 0}}, got;
    GET(cudaStreamCreate, Stream *);
    GET(cudaStreamSetAttribute, Stream, int, const void *);
    GET(cudaStreamGetAttribute, Stream, int, void *);
    GET(cudaStreamGetAttribute_ptsz, Stream, int, void *);
    GET(cudaStreamSetAttribute_ptsz, Stream, int, const void *);
    GET(cudaStreamCopyAttributes, Stream, Stream);
    GET(cudaStreamCopyAttributes_ptsz, Stream, Stream);
    GET(cudaCtxResetPersistingL2Cache, void);
    GET(cudaGetLastError, void);
    Stream one, two;
    CK(cudaStreamCreate(&one));
    CK(cudaStreamCreate(&two));
    CK(cudaStreamSetAttribute(one, 1, &value));
    CK(cudaStreamCopyAttributes(two, one));
    CK(cudaStreamGetAttribute(two, 1, &got));
    IS(got.window.at == &image && got.window.bytes == 4096 && got.window.ratio == 0.5f && got.window.hit == 2);
    value.window.ratio = 2;
    IS(cudaStreamSetAttribute(one, 1, &value) == 1 && cudaGetLastError() == 1);
    value.policy = 4;
    CK(cudaStreamSetAttribute_ptsz(NULL, 3, &value)); /* of the thread's own stream, not of the default one */
    CK(cudaStreamGetAttribute_ptsz(NULL, 3, &got));
    IS(got.policy == 4);
    CK(cudaStreamGetAttribute(NULL, 3, &got));
    IS(got.policy == -1);
    CK(cudaStreamCopyAttributes_ptsz(two, NULL));
    CK(cudaStreamGetAttribute(two, 3, &got));
    IS(got.policy == 4);
    CK(cudaCtxResetPersistingL2Cache());
}

static void run(int version)
{
    void **(*register_image)(void *);
    void (*register_kernel)(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
    void (*register_variable)(void **, char *, char *, const char *, int, size_t, int, int);
    void (*register_end)(void **), (*unregister)(void **);
    void *names[] = {find("__cudaRegisterFatBinary"), find("__cudaRegisterFunction"), find("__cudaRegisterVar"),
                     find("__cudaRegisterFatBinaryEnd"), find("__cudaUnregisterFatBinary")};
    memcpy(&register_image, &names[0], 8);
    memcpy(&register_kernel, &names[1], 8);
    memcpy(&register_variable, &names[2], 8);
    memcpy(&register_end, &names[3], 8);
    memcpy(&unregister, &names[4], 8);
    GET(cudaMalloc, void **, size_t);
    GET(cudaMemcpy, void *, const void *, size_t, int);
    GET(cudaMemcpy_ptds, void *, const void *, size_t, int);
    GET(cudaMemcpyFromSymbol, void *, const void *, size_t, size_t, int);
    GET(cudaLaunchKernel, const void *, dim3, dim3, void **, size_t, Stream);
    GET(cudaLaunchKernel_ptsz, const void *, dim3, dim3, void **, size_t, Stream);
    GET(cudaDeviceSynchronize, void);
    GET(cudaGetLastError, void);
    GET(cudaMallocArray, void **, const void *, size_t, size_t, unsigned);
    unsigned host[64], value, total;
    void *p, *args[] = {&p, &value}, *array;
    const dim3 one = {1, 1, 1}, block = {64, 1, 1};

    make_image();
    void **handle = register_image(&wrapper);
    register_kernel(handle, &stand_in, "fill", "fill", -1, NULL, NULL, NULL, NULL, NULL);
    register_variable(handle, &variable, "total", "total", 0, 4, 0, 0);
    register_end(handle);
    CK(cudaMalloc(&p, sizeof host));
    value = 100;
    CK(cudaLaunchKernel(&stand_in, one, block, args, 0, NULL));
    CK(cudaMemcpy(host, p, sizeof host, 2));
    IS(host[0] == 100 && host[63] == 163);
    value = 200;
    CK(cudaLaunchKernel_ptsz(&stand_in, one, block, args, 0, NULL));
    CK(cudaMemcpy_ptds(host, p, sizeof host, 2));
    IS(host[0] == 200 && host[63] == 263);
    CK(cudaMemcpyFromSymbol(&total, &variable, 4, 0, 2));
    IS(total == 64 * 300);
    IS(cudaLaunchKernel(&variable, one, block, args, 0, NULL) == 98); /* no kernel */
    look_at_errors(&variable);
    look_at_clusters();
    look_at_attributes();
    IS(cudaMallocArray(&array, NULL, 1, 1, 0) == 801); /* not there, and says so */
    IS(cudaGetLastError() == 801 && cudaGetLastError() == 0);
    look_at_pointer(version, p);
    CK(cudaDeviceSynchronize());
    unregister(handle);
}

int main(int argc, char **argv)
{
    int version = argc > 1 && strcmp(argv[1], "12") == 0 ? 12 : 13;
    char name[32];
    snprintf(name, sizeof name, "libcudart.so.%d", version);
    library = dlopen(name, RTLD_NOW);
    if (!library) {
        puts(dlerror());
        return 1;
    }
    look_at_device(version);
    run(version);
    puts("ok");
    return 0;
}
