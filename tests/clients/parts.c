/* Relocatable code that was linked on the host names several fatbinaries. One that holds machine code alone, as
 * NVIDIA's libcudadevrt does, is left out beside others that hold PTX; where it is all there is, the image is
 * refused. */
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char text[] = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";
static const char needs[] = ".version 7.8\n.target sm_80\n.address_size 64\n.extern .func cudaDeviceSynchronize;\n"
                            ".visible .entry k() { call cudaDeviceSynchronize; ret; }\n";

/* A fatbinary with one entry, as api/ptx/fatbin.h has the format. */
typedef struct {
    uint32_t magic;
    uint16_t version, header;
    uint64_t size;
    struct {
        uint16_t kind, version;
        uint32_t header;
        uint64_t padded;
        uint32_t packed, options;
        uint16_t minor, major;
        uint32_t arch;
        uint64_t name, flags, zero, bytes;
        char more[16];
    } entry;
    char data[256];
} Image;

enum { PTX = 1, MACHINE_CODE };

static Image image_of(uint16_t kind, const char *data, size_t bytes)
{
    Image image = {.magic = 0xba55ed50, .version = 1, .header = 16,
                   .size = sizeof image.entry + sizeof image.data,
                   .entry = {.kind = kind, .version = 0x101, .header = sizeof image.entry,
                             .padded = sizeof image.data, .options = 0x40, .minor = 8, .major = 7,
                             .arch = 80, .flags = 0x11, .bytes = bytes}};
    memcpy(image.data, data, bytes);
    return image;
}

static CUresult load(const Image *first, const Image *second)
{
    const void *list[] = {first, second, NULL};
    const struct {
        uint32_t magic, version;
        const void *fatbin, *more;
    } wrapper = {0x466243b1, 2, NULL, list};
    CUmodule module;
    CUresult r = cuModuleLoadData(&module, &wrapper);
    CUfunction function;
    if (r == CUDA_SUCCESS)
        r = cuModuleGetFunction(&function, module, "k");
    return r == CUDA_SUCCESS ? cuModuleUnload(module) : r;
}

#define IS(call, code) \
    do { \
        CUresult r_ = (call); \
        if (r_ != (code)) { \
            printf("line %d: %s gives %d instead of %d\n", __LINE__, #call, r_, code); \
            return 1; \
        } \
    } while (0)

int main(void)
{
    const Image ptx = image_of(PTX, text, sizeof text - 1), calls = image_of(PTX, needs, sizeof needs - 1);
    const Image code = image_of(MACHINE_CODE, "\177ELF", 4);
    CUdevice device;
    CUcontext context;
    IS(cuInit(0), CUDA_SUCCESS);
    IS(cuDeviceGet(&device, 0), CUDA_SUCCESS);
    IS(cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
    IS(cuCtxSetCurrent(context), CUDA_SUCCESS);
    IS(load(&ptx, &code), CUDA_SUCCESS);
    IS(load(&code, &ptx), CUDA_SUCCESS);
    IS(load(&code, &code), CUDA_ERROR_NO_BINARY_FOR_GPU);
    IS(load(&calls, &code), CUDA_ERROR_NOT_SUPPORTED); /* the log names the function */
    puts("ok");
    return 0;
}
