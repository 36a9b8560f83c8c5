/* What matrix instructions compute: runs every kernel of tests/ptx/matrix_kernels.c on the numbers that go with it, and
 * prints a hash of the results by kernel and style of numbers (matrix.csv). By the driver API alone:
 *
 *     cc -I. -o matrix docs/measurements/matrix.c tests/ptx/matrix_kernels.c -lcuda
 *     ./matrix --ptx > matrix.ptx && ptxas -arch sm_90a matrix.ptx -o matrix.cubin
 *     ./matrix matrix.cubin [RESULTS] > matrix.csv     # RESULTS: a file that gets all bits
 */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ptx/matrix_kernels.h"

#define VECTORS 8u

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        CUresult r_ = (call);                                                                                          \
        if (r_) {                                                                                                      \
            fprintf(stderr, "%s: %d\n", #call, r_);                                                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static void print_text(const MatrixKernel *list, size_t n)
{
    fputs(matrix_head, stdout);
    for (size_t i = 0; i < n; i++) {
        char entry[16];
        snprintf(entry, sizeof entry, "k%zu", i);
        char *text = matrix_kernel_text(&list[i], entry);
        fputs(text, stdout);
        free(text);
    }
}

static void run(const MatrixKernel *k, CUfunction function, CUdeviceptr in, CUdeviceptr out, FILE *all)
{
    const size_t in_bytes = matrix_in_bytes(k), out_bytes = matrix_out_bytes(k);
    uint8_t *from = malloc(in_bytes * VECTORS), *to = malloc(out_bytes * VECTORS);
    for (unsigned style = 0; style < STYLES; style++) {
        void *args[] = {&in, &out};
        for (unsigned v = 0; v < VECTORS; v++)
            matrix_fill(k, style, v, from + v * in_bytes);
        CHECK(cuMemcpyHtoD(in, from, in_bytes * VECTORS));
        CHECK(cuMemsetD8(out, 0, out_bytes * VECTORS));
        CHECK(cuLaunchKernel(function, VECTORS, 1, 1, k->threads, 1, 1, 0, NULL, args, NULL));
        CHECK(cuMemcpyDtoH(to, out, out_bytes * VECTORS));
        printf("%s,%s,%016llx\n", k->name, matrix_styles[style],
               (unsigned long long)matrix_hash(to, out_bytes * VECTORS, MATRIX_HASH));
        if (all)
            fwrite(to, 1, out_bytes * VECTORS, all);
    }
    free(from);
    free(to);
}

int main(int argc, char **argv)
{
    const MatrixKernel *list;
    size_t n = matrix_kernels(&list);
    if (argc > 1 && !strcmp(argv[1], "--ptx")) {
        print_text(list, n);
        return 0;
    }
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUdeviceptr in, out;
    FILE *all = argc > 2 ? fopen(argv[2], "wb") : NULL;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoad(&module, argv[1]));
    CHECK(cuMemAlloc(&in, 4 << 20));
    CHECK(cuMemAlloc(&out, 4 << 20));
    puts("kernel,numbers,hash");
    for (size_t i = 0; i < n; i++) {
        char entry[16];
        CUfunction function;
        snprintf(entry, sizeof entry, "k%zu", i);
        CHECK(cuModuleGetFunction(&function, module, entry));
        run(&list[i], function, in, out, all);
    }
    if (all)
        fclose(all);
    return 0;
}
