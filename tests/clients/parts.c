/* Relocatable code that was linked on the host names several fatbinaries. One that holds machine code alone, as
 * NVIDIA's libcudadevrt does, is left out beside others that hold PTX; where it is all there is, the image is
 * refused. What is asked for and not found may stand in such a part: the log names it, and the option that adds PTX. */
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char text[] = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";
static const char other[] = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry l() { ret; }\n";
static const char needs[] = ".version 7.8\n.target sm_80\n.address_size 64\n.extern .func cudaDeviceSynchronize;\n"
                            ".visible .entry k() { call cudaDeviceSynchronize; ret; }\n";

/* A fatbinary with one entry, as ptx/read/fatbin.h has the format. */
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
    Image image = {.magic = 0xba55ed50,
                   .version = 1,
                   .header = 16,
                   .size = sizeof image.entry + sizeof image.data,
                   .entry = {.kind = kind,
                             .version = 0x101,
                             .header = sizeof image.entry,
                             .padded = sizeof image.data,
                             .options = 0x40,
                             .minor = 8,
                             .major = 7,
                             .arch = 80,
                             .flags = 0x11,
                             .bytes = bytes}};
    memcpy(image.data, data, bytes);
    return image;
}

static char log_text[4096];

/* Loads both as the parts of one image and asks for a kernel. */
static CUresult load(const Image *first, const Image *second, const char *kernel)
{
    const void *list[] = {first, second, NULL};
    const struct {
        uint32_t magic, version;
        const void *fatbin, *more;
    } wrapper = {0x466243b1, 2, NULL, list};
    CUjit_option option[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *value[] = {log_text, (void *)(uintptr_t)sizeof log_text};
    CUmodule module;
    CUresult r = cuModuleLoadDataEx(&module, &wrapper, 2, option, value), unloaded;
    CUfunction function;
    if (r != CUDA_SUCCESS)
        return r;
    r = cuModuleGetFunction(&function, module, kernel);
    unloaded = cuModuleUnload(module);
    return r != CUDA_SUCCESS ? r : unloaded;
}

/* The same of a library, and of a variable of the module. */
static CUresult find_in_library(const Image *first, const Image *second, const char *kernel)
{
    const void *list[] = {first, second, NULL};
    const struct {
        uint32_t magic, version;
        const void *fatbin, *more;
    } wrapper = {0x466243b1, 2, NULL, list};
    CUlibrary library;
    CUkernel found;
    CUdeviceptr address;
    size_t bytes;
    CUresult r = cuLibraryLoadData(&library, &wrapper, NULL, NULL, 0, NULL, NULL, 0);
    if (r != CUDA_SUCCESS)
        return r;
    r = cuLibraryGetKernel(&found, library, kernel);
    if (r == CUDA_ERROR_NOT_FOUND)
        r = cuLibraryGetGlobal(&address, &bytes, library, "variable_of_a_part");
    return cuLibraryUnload(library) == CUDA_SUCCESS ? r : CUDA_ERROR_UNKNOWN;
}

#define IS(call, code)                                                                                                 \
    do {                                                                                                               \
        CUresult r_ = (call);                                                                                          \
        if (r_ != (code)) {                                                                                            \
            printf("line %d: %s gives %d instead of %d\n", __LINE__, #call, r_, code);                                 \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

int main(void)
{
    const Image ptx = image_of(PTX, text, sizeof text - 1), calls = image_of(PTX, needs, sizeof needs - 1);
    const Image ptx_too = image_of(PTX, other, sizeof other - 1);
    const Image code = image_of(MACHINE_CODE, "\177ELF", 4);
    CUdevice device;
    CUcontext context;
    IS(cuInit(0), CUDA_SUCCESS);
    IS(cuDeviceGet(&device, 0), CUDA_SUCCESS);
    IS(cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
    IS(cuCtxSetCurrent(context), CUDA_SUCCESS);
    IS(load(&ptx, &code, "k"), CUDA_SUCCESS);
    IS(load(&code, &ptx, "k"), CUDA_SUCCESS);
    IS(load(&code, &code, "k"), CUDA_ERROR_NO_BINARY_FOR_GPU);
    IS(load(&calls, &code, "k"), CUDA_ERROR_NOT_SUPPORTED); /* the log names the function, and the part */
    if (!strstr(log_text, "cudaDeviceSynchronize") || !strstr(log_text, "part 2 (sm_80)"))
        return printf("the log of a link says: %s\n", log_text), 1;
    IS(load(&ptx, &code, "kernel_of_a_part"), CUDA_ERROR_NOT_FOUND);
    IS(load(&ptx, &ptx_too, "kernel_of_no_part"), CUDA_ERROR_NOT_FOUND);
    IS(find_in_library(&code, &ptx, "library_kernel"), CUDA_ERROR_NOT_FOUND);
    puts("ok");
    return 0;
}
