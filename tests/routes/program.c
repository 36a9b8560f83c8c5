/* What the recorded routes run: two GPUs bind their memory to one multicast object; one lane of a program in C makes
 * one multimem.st; a module of ten lines of PTX is loaded and launched, whose one lane makes one multimem.red.
 * Checks what it wrote, since a route that went wrong is none. */
#include <fanout/fanout.h>
#include <stdio.h>
#include <stdlib.h>

#define GPUS 2
#define CHECK(call) check((call), #call)

static const char ptx[] = ".version 8.1\n.target sm_90\n.address_size 64\n"
                          ".visible .entry add(.param .u64 to)\n{\n"
                          "    .reg .b64 %rd<2>;\n"
                          "    ld.param.u64 %rd1, [to];\n"
                          "    multimem.red.relaxed.sys.global.add.u32 [%rd1], 5;\n"
                          "    ret;\n}\n";

static void check(CUresult result, const char *call)
{
    const char *text = "unknown error";
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorString(result, &text);
    fprintf(stderr, "%s: %s\n", call, text);
    exit(1);
}

static void store(FoCta *cta, const void *args)
{
    const FoMultimem st = {.type = FO_U32, .vec = 1};
    const unsigned seven = 7;
    FoReg *v = fo_reg(cta, 4);
    fo_set(cta, v, &seven);
    fo_multimem_st(cta, *(const FoAddress *)args, v, &st);
}

static CUdeviceptr map(CUmemGenericAllocationHandle handle, size_t bytes)
{
    CUdeviceptr at = 0;
    CUmemAccessDesc access[GPUS];
    for (int i = 0; i < GPUS; i++)
        access[i] = (CUmemAccessDesc){{CU_MEM_LOCATION_TYPE_DEVICE, i}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CHECK(cuMemAddressReserve(&at, bytes, bytes, 0, 0));
    CHECK(cuMemMap(at, bytes, 0, handle, 0));
    CHECK(cuMemSetAccess(at, bytes, access, GPUS));
    return at;
}

int main(void)
{
    CUcontext context[GPUS];
    CUmemGenericAllocationHandle object, memory[GPUS];
    CUdeviceptr own[GPUS], all;
    CUmodule module;
    CUfunction function;
    unsigned got;
    CUmulticastObjectProp team = {.numDevices = GPUS};
    CHECK(cuInit(0));
    CHECK(cuMulticastGetGranularity(&team.size, &team, CU_MULTICAST_GRANULARITY_MINIMUM));
    for (int i = GPUS - 1; i >= 0; i--) {
        CHECK(cuDevicePrimaryCtxRetain(&context[i], i));
        CHECK(cuCtxSetCurrent(context[i]));
    }
    CHECK(cuMulticastCreate(&object, &team));
    for (int i = 0; i < GPUS; i++)
        CHECK(cuMulticastAddDevice(object, i));
    for (int i = 0; i < GPUS; i++) {
        CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {CU_MEM_LOCATION_TYPE_DEVICE, i}};
        CHECK(cuMemCreate(&memory[i], team.size, &prop, 0));
        own[i] = map(memory[i], team.size);
    }
    for (int i = 0; i < GPUS; i++)
        CHECK(cuMulticastBindMem(object, 0, memory[i], 0, team.size, 0));
    all = map(object, team.size);
    FoAddress to = all;
    FoKernel kernel = {
        .name = "store", .program = store, .args = &to, .args_bytes = sizeof to, .ctas = 1, .threads = 1};
    CHECK(fo_launch(&kernel, NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&function, module, "add"));
    void *args[] = {&all};
    CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    CHECK(cuCtxSynchronize());
    for (int i = 0; i < GPUS; i++) {
        CHECK(cuMemcpyDtoH(&got, own[i], sizeof got));
        if (got != 12) {
            fprintf(stderr, "GPU %d has %u; 12 was stored and added\n", i, got);
            return 1;
        }
    }
    return 0;
}
