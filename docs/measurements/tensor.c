/* What tensor maps are good for, and what copies by them do: makes every map and every copy that
 * tests/ptx/tensor_cases.c draws, and prints whether the driver takes the map, and a hash of what the copy leaves
 * (tensor.csv). By the driver API alone:
 *
 *     cc -I. -o tensor docs/measurements/tensor.c tests/ptx/tensor_cases.c -lcuda
 *     ./tensor --ptx > tensor.ptx && ptxas -arch sm_90a tensor.ptx -o tensor.cubin
 *     ./tensor tensor.cubin [RESULTS] > tensor.csv     # RESULTS: a file that gets all bytes
 *
 * A copy that the GPU refuses ends its process; the rest is done by another one. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/ptx/tensor_cases.h"

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        CUresult r_ = (call);                                                                                          \
        if (r_) {                                                                                                      \
            fprintf(stderr, "%s: %d\n", #call, r_);                                                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static CUresult encode(CUtensorMap *map, const TensorCase *x, CUdeviceptr base)
{
    return x->im2col
               ? cuTensorMapEncodeIm2col(map, (CUtensorMapDataType)x->type, x->rank, (void *)(base + x->offset), x->dim,
                                         x->stride, x->lower, x->upper, x->channels, x->pixels, x->element,
                                         (CUtensorMapInterleave)x->interleave, (CUtensorMapSwizzle)x->swizzle,
                                         CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)x->fill)
               : cuTensorMapEncodeTiled(map, (CUtensorMapDataType)x->type, x->rank, (void *)(base + x->offset), x->dim,
                                        x->stride, x->box, x->element, (CUtensorMapInterleave)x->interleave,
                                        (CUtensorMapSwizzle)x->swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                        (CUtensorMapFloatOOBfill)x->fill);
}

static void run_case(CUmodule module, const TensorCase *x, unsigned index, CUdeviceptr memory, CUdeviceptr out,
                     CUdeviceptr in, FILE *all)
{
    static uint8_t bytes[TENSOR_MEMORY];
    struct {
        CUtensorMap map;
        TensorParam par;
    } args = {0};
    CUfunction function;
    char name[64];
    size_t n = TENSOR_MEMORY;
    CUresult good = encode(&args.map, x, memory), end;
    if (good) {
        printf("copy,%u,map %d\n", index, good);
        return;
    }
    tensor_kernel_name(x, name, sizeof name);
    CHECK(cuModuleGetFunction(&function, module, name));
    memcpy(args.par.at, x->at, sizeof x->at);
    memcpy(args.par.shift, x->shift, sizeof x->shift);
    args.par.shared = x->shared;
    args.par.bytes = x->bytes;
    args.par.out = out;
    args.par.in = in;
    args.par.mask = 3;
    tensor_memory_fill(x, bytes);
    CHECK(cuMemcpyHtoD(memory, bytes, TENSOR_MEMORY));
    tensor_shared_fill(x, bytes);
    CHECK(cuMemcpyHtoD(in, bytes, TENSOR_SHARED));
    CHECK(cuMemsetD8(out, 0, TENSOR_MEMORY));
    void *params[] = {&args.map, &args.par};
    CHECK(cuLaunchKernel(function, x->work == TENSOR_MULTICAST ? 2 : 1, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    end = cuCtxSynchronize();
    if (end) {
        printf("copy,%u,error %d\n", index, end);
        fflush(stdout);
        _exit(2);
    }
    if (x->work <= TENSOR_MULTICAST)
        n = (TENSOR_SHARED + 16) * (x->work == TENSOR_MULTICAST ? 2 : 1);
    CHECK(cuMemcpyDtoH(bytes, x->work <= TENSOR_MULTICAST ? out : memory, n));
    printf("copy,%u,%016llx\n", index, (unsigned long long)tensor_hash(bytes, n));
    fflush(stdout);
    if (all) {
        fseek(all, (long)(index * (size_t)(2 * (TENSOR_SHARED + 16))), SEEK_SET);
        fwrite(x->work <= TENSOR_MULTICAST ? bytes : bytes + 65536, 1, 2 * (TENSOR_SHARED + 16), all);
        fflush(all);
    }
}

static void run_all(const char *cubin, unsigned from, FILE *all)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUdeviceptr memory, out, in;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoad(&module, cubin));
    CHECK(cuMemAlloc(&memory, 8 << 20));
    CHECK(cuMemAlloc(&out, 1 << 20));
    CHECK(cuMemAlloc(&in, 1 << 20));
    for (unsigned i = 0; i < TENSOR_MAPS && from == 0; i++) {
        TensorCase x;
        CUtensorMap map;
        tensor_map_draw(i, &x);
        printf("map,%u,%d\n", i, encode(&map, &x, 0));
    }
    for (unsigned i = from; i < TENSOR_CASES; i++) {
        TensorCase x;
        tensor_case_draw(i, &x);
        fprintf(stderr, "\r%u ", i);
        FILE *at = fopen("tensor.at", "w");
        fprintf(at, "%u", i);
        fclose(at);
        run_case(module, &x, i, memory, out, in, all);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--ptx")) {
        fputs(tensor_text(), stdout);
        return 0;
    }
    FILE *all = argc > 2 ? fopen(argv[2], "wb") : NULL;
    puts("what,number,result");
    fflush(stdout);
    for (unsigned from = 0, tries = 0; from < TENSOR_CASES && tries < 300; tries++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            run_all(argv[1], from, all);
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            break;
        FILE *at = fopen("tensor.at", "r");
        if (!at || fscanf(at, "%u", &from) != 1)
            return 1;
        fclose(at);
        from++;
    }
    return 0;
}
