// Which NVLink link each 256 B chunk of a peer's memory travels on, by the links' own byte counters.
//
//     nvcc -O2 -arch=sm_90 -o link_of_chunk link_of_chunk.cu -ldl
//     ./link_of_chunk < probes > h200_link_of_chunk.csv
//
// A probe is a line "write|read GPU PEER OFFSET": GPU stores to (or loads from) one chunk at a byte offset of
// PEER's 8 GiB buffer until that chunk's link stands out. A row tells the link at GPU ("link") and at PEER
// ("peer_link") and which part of all counted bytes the busiest link carried (share: 1.00 in every row).
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

#define CHECK(call)                                                                                    \
    do {                                                                                               \
        cudaError_t error_ = (call);                                                                   \
        if (error_ != cudaSuccess) {                                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
            exit(1);                                                                                   \
        }                                                                                              \
    } while (0)

enum { LINKS = 18, FIELD_TX = 138, FIELD_RX = 139, REPEATS = 64, CTAS = 16, THREADS = 256 };
static const size_t BUFFER_BYTES = 8ull << 30;

// nvmlFieldValue_t, so that no NVML header is needed.
struct FieldValue {
    unsigned fieldId, scopeId;
    long long timestamp, latencyUsec;
    int valueType, nvmlReturn;
    union {
        double d;
        unsigned long long ull;
    } value;
};
static int (*nvml_init)();
static int (*nvml_by_pci)(const char *, void **);
static int (*nvml_fields)(void *, int, FieldValue *);

struct Counters {
    uint64_t tx[LINKS], rx[LINKS];
};

static std::vector<void *> device;
static std::vector<char *> buffer;
static unsigned *sink;

static void nvml_load()
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    nvml_init = (int (*)())dlsym(library, "nvmlInit_v2");
    nvml_by_pci = (int (*)(const char *, void **))dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
    nvml_fields = (int (*)(void *, int, FieldValue *))dlsym(library, "nvmlDeviceGetFieldValues");
    if (nvml_init() != 0) {
        fprintf(stderr, "NVML does not start\n");
        exit(1);
    }
}

static Counters counters_read(int gpu)
{
    FieldValue field[2 * LINKS];
    memset(field, 0, sizeof field);
    for (int l = 0; l < LINKS; l++) {
        field[l].fieldId = FIELD_TX;
        field[LINKS + l].fieldId = FIELD_RX;
        field[l].scopeId = field[LINKS + l].scopeId = l;
    }
    int error = nvml_fields(device[gpu], 2 * LINKS, field);
    if (error || field[0].nvmlReturn) {
        fprintf(stderr, "NVLink counters of GPU %d: NVML errors %d and %d\n", gpu, error, field[0].nvmlReturn);
        exit(1);
    }
    Counters counters;
    for (int l = 0; l < LINKS; l++) {
        counters.tx[l] = field[l].value.ull;
        counters.rx[l] = field[LINKS + l].value.ull;
    }
    return counters;
}

// The busiest link between two readings, -1 if nothing moved; *share of all bytes.
static int busiest(const uint64_t *before, const uint64_t *after, double *share)
{
    uint64_t sum = 0, most = 0;
    int link = -1;
    for (int l = 0; l < LINKS; l++) {
        uint64_t moved = after[l] - before[l];
        sum += moved;
        if (moved > most) {
            most = moved;
            link = l;
        }
    }
    *share = sum ? (double)most / sum : 0;
    return link;
}

__global__ void store_chunk(char *chunk, int repeats)
{
    char *at = chunk + (threadIdx.x & 15) * 16;
    for (int k = 0; k < repeats; k++)
        asm volatile("st.relaxed.sys.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(at), "r"(k) : "memory");
}

__global__ void load_chunk(const char *chunk, int repeats, unsigned *out)
{
    const char *at = chunk + (threadIdx.x & 15) * 16;
    unsigned sum = 0;
    for (int k = 0; k < repeats; k++) {
        unsigned x, y, z, w;
        asm volatile("ld.relaxed.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                     : "l"(at)
                     : "memory");
        sum += x + y + z + w;
    }
    if (sum == 0x1234567)
        *out = sum;
}

// What carries the data: a write's goes from GPU to PEER, a read's from PEER to GPU.
static void probe(bool read, int gpu, int peer, size_t offset)
{
    int from = read ? peer : gpu, to = read ? gpu : peer;
    Counters from_before = counters_read(from), to_before = counters_read(to);
    CHECK(cudaSetDevice(gpu));
    if (read)
        load_chunk<<<CTAS, THREADS>>>(buffer[peer] + offset, REPEATS, sink);
    else
        store_chunk<<<CTAS, THREADS>>>(buffer[peer] + offset, REPEATS);
    CHECK(cudaDeviceSynchronize());
    Counters from_after = counters_read(from), to_after = counters_read(to);
    double share, ignored;
    int tx = busiest(from_before.tx, from_after.tx, &share);
    int rx = busiest(to_before.rx, to_after.rx, &ignored);
    printf("%s,%d,%d,%zu,%d,%d,%.2f\n", read ? "read" : "write", gpu, peer, offset, read ? rx : tx,
           read ? tx : rx, share);
}

int main()
{
    int gpus;
    nvml_load();
    CHECK(cudaGetDeviceCount(&gpus));
    device.resize(gpus);
    buffer.resize(gpus);
    for (int g = 0; g < gpus; g++) {
        char id[32];
        CHECK(cudaDeviceGetPCIBusId(id, sizeof id, g));
        nvml_by_pci(id, &device[g]);
        CHECK(cudaSetDevice(g));
        for (int peer = 0; peer < gpus; peer++)
            if (peer != g)
                CHECK(cudaDeviceEnablePeerAccess(peer, 0));
        CHECK(cudaMalloc(&buffer[g], BUFFER_BYTES));
        CHECK(cudaMemset(buffer[g], 0, BUFFER_BYTES));
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaSetDevice(0));
    CHECK(cudaMalloc(&sink, 64));
    printf("op,gpu,peer,offset,link,peer_link,share\n");
    char op[16];
    int gpu, peer;
    size_t offset;
    while (scanf("%15s %d %d %zu", op, &gpu, &peer, &offset) == 4)
        probe(strcmp(op, "read") == 0, gpu, peer, offset);
    return 0;
}
