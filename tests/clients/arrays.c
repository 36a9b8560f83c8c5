/* Arrays: made, described, written and read by copies of one, two and three dimensions and by a graph; and what is
 * refused. Prints ok. */
#include "tests/clients/client.h"

#define W 6u /* elements a row, of two 16-bit channels: 24 bytes */
#define H 4u
#define D 3u

static void flat(void)
{
    const CUDA_ARRAY_DESCRIPTOR wanted = {16, 0, CU_AD_FORMAT_FLOAT, 1};
    CUDA_ARRAY_DESCRIPTOR got;
    CUarray a, b;
    CUdeviceptr p;
    float in[16], out[16] = {0};
    for (int i = 0; i < 16; i++)
        in[i] = (float)i;
    CHECK(cuArrayCreate(&a, &wanted));
    CHECK(cuArrayCreate(&b, &wanted));
    CHECK(cuArrayGetDescriptor(&got, a));
    REQUIRE(got.Width == 16 && got.Height == 0 && got.Format == CU_AD_FORMAT_FLOAT && got.NumChannels == 1);
    CHECK(cuMemAlloc(&p, sizeof in));
    CHECK(cuMemcpyHtoA(a, 0, in, sizeof in));
    CHECK(cuMemcpyAtoA(b, 32, a, 0, 32)); /* the first half becomes the second */
    CHECK(cuMemcpyAtoD(p, b, 32, 32));
    CHECK(cuMemcpyDtoA(b, 0, p, 16));
    CHECK(cuMemcpyAtoH(out, b, 0, sizeof out));
    REQUIRE(out[0] == 0 && out[3] == 3 && out[8] == 0 && out[15] == 7);
    REQUIRE(cuMemcpyAtoH(out, b, 32, 36) == CUDA_ERROR_INVALID_VALUE); /* beyond its end */
    CHECK(cuMemFree(p));
    CHECK(cuArrayDestroy(a));
    CHECK(cuArrayDestroy(b));
    REQUIRE(cuArrayDestroy(b) == CUDA_ERROR_INVALID_HANDLE);
}

static void cube(void)
{
    const CUDA_ARRAY3D_DESCRIPTOR wanted = {W, H, D, CU_AD_FORMAT_UNSIGNED_INT16, 2, 0};
    static unsigned in[D][H][W], out[2][2][W], row[2][W];
    CUDA_MEMCPY3D write = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = in,
                           .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                           .WidthInBytes = sizeof in[0][0],
                           .Height = H,
                           .Depth = D},
                  read = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcY = 1,
                          .srcZ = 1,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = out,
                          .WidthInBytes = sizeof in[0][0],
                          .Height = 2,
                          .Depth = 2};
    CUDA_MEMCPY2D flat = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcXInBytes = 4,
                          .srcY = 2,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = row,
                          .dstPitch = sizeof row[0],
                          .WidthInBytes = 8,
                          .Height = 2};
    CUDA_ARRAY3D_DESCRIPTOR got;
    CUcontext context;
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec run;
    CUarray a;
    for (unsigned i = 0; i < D * H * W; i++)
        in[i / (H * W)][i / W % H][i % W] = i;
    CHECK(cuArray3DCreate(&a, &wanted));
    CHECK(cuArray3DGetDescriptor(&got, a));
    REQUIRE(got.Width == W && got.Height == H && got.Depth == D && got.NumChannels == 2);
    write.dstArray = read.srcArray = flat.srcArray = a;
    CHECK(cuMemcpy3D(&write));
    CHECK(cuMemcpy3D(&read));
    REQUIRE(out[0][0][0] == in[1][1][0] && out[1][1][W - 1] == in[2][2][W - 1]);
    CHECK(cuMemcpy2D(&flat)); /* of the first slice */
    REQUIRE(row[0][0] == in[0][2][1] && row[1][1] == in[0][3][2]);
    read.srcZ = 2;
    REQUIRE(cuMemcpy3D(&read) == CUDA_ERROR_INVALID_VALUE); /* two slices from the last on */
    read.srcZ = 0;
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &read, context));
    CHECK(cuGraphInstantiate(&run, graph, 0));
    CHECK(cuGraphLaunch(run, NULL));
    CHECK(cuCtxSynchronize());
    REQUIRE(out[0][0][0] == in[0][1][0] && out[1][1][W - 1] == in[1][2][W - 1]);
    CHECK(cuGraphExecDestroy(run));
    CHECK(cuGraphDestroy(graph));
    CHECK(cuArrayDestroy(a));
    REQUIRE(cuMemcpy3D(&read) == CUDA_ERROR_INVALID_VALUE); /* of an array that is gone */
}

static void wrong(void)
{
    CUDA_ARRAY_DESCRIPTOR d = {0, 0, CU_AD_FORMAT_FLOAT, 1};
    CUarray a;
    REQUIRE(cuArrayCreate(&a, &d) == CUDA_ERROR_INVALID_VALUE);
    d.Width = 8, d.NumChannels = 3;
    REQUIRE(cuArrayCreate(&a, &d) == CUDA_ERROR_INVALID_VALUE);
    d.NumChannels = 1, d.Format = (CUarray_format)0;
    REQUIRE(cuArrayCreate(&a, &d) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cuArrayCreate(&a, NULL) == CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
    CHECK(cuInit(0));
    use_device(0);
    flat();
    cube();
    wrong();
    puts("ok");
    return 0;
}
