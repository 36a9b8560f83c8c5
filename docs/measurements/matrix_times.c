/* What matrix instructions take: clk of an instruction, for so many warps of one CTA, each with so many chains of
 * instructions that depend on each other through their accumulators (matrix_times.csv). By the driver API alone:
 *
 *     cc -o matrix_times docs/measurements/matrix_times.c -lcuda
 *     ./matrix_times --ptx > times.ptx && ptxas -arch sm_90a times.ptx -o times.cubin
 *     ./matrix_times times.cubin > matrix_times.csv    # or with a part of the names that are wanted
 *
 * `clk`: from one instruction of a warp to its next; of several chains or warps, the time of all divided by the
 * instructions of one quarter of the SM. */
#include <cuda.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURNS 64u
#define CASES 1000

typedef struct {
    char name[96], setup[1700], line[1700]; /* line: with %u where the chain's number stands */
    unsigned registers;                     /* of a chain */
    unsigned warps, chains, per_line;       /* instructions that count in a line */
} Case;
static Case cases[CASES];
static unsigned n_cases;

static Case *add(unsigned warps, unsigned chains, const char *format, ...)
{
    Case *c = &cases[n_cases++];
    va_list args;
    va_start(args, format);
    vsnprintf(c->name, sizeof c->name, format, args);
    va_end(args);
    c->warps = warps;
    c->chains = chains;
    c->per_line = 1;
    c->registers = 4;
    return c;
}

static void vector(char *to, const char *reg, unsigned n)
{
    strcat(to, "{");
    for (unsigned i = 0; i < n; i++)
        sprintf(to + strlen(to), "%s%%%s%u", i ? "," : "", reg, i);
    strcat(to, "}");
}

/* "@" becomes the chain's number: accumulators @x0, @x1, ... */
static void accumulators(char *to, unsigned n)
{
    strcat(to, "{");
    for (unsigned i = 0; i < n; i++)
        sprintf(to + strlen(to), "%s%%x@_%u", i ? "," : "", i);
    strcat(to, "}");
}

static void mma(const char *form, unsigned d, unsigned a, unsigned b, int wide)
{
    static const unsigned shapes[][2] = {{1, 1}, {4, 2}, {4, 4}, {16, 2}};
    for (unsigned s = 0; s < 4; s++) {
        Case *c = add(shapes[s][0], shapes[s][1], "mma.sync.aligned.%s", form);
        sprintf(c->line, "%s ", c->name);
        accumulators(c->line, d);
        strcat(c->line, ",");
        vector(c->line, wide ? "w" : "a", a);
        strcat(c->line, ",");
        vector(c->line, wide ? "w" : "a", b);
        strcat(c->line, ",");
        accumulators(c->line, d);
        strcat(c->line, ";\n");
        strcpy(c->setup, wide ? "d" : "r");
        c->registers = d;
    }
}

static void wgmma(const char *types, unsigned n, unsigned k, unsigned d, int registers, const char *tail)
{
    static const struct {
        unsigned warps, each, groups;
        const char *what;
    } shapes[] = {
        {4, 1, 1, "one, then wait"}, {4, 4, 1, "4 a group"}, {4, 16, 1, "16 a group"}, {8, 16, 1, "16 a group"}};
    for (unsigned s = 0; s < 4; s++) {
        if (shapes[s].warps == 8 && d > 128)
            continue;
        Case *c = add(shapes[s].warps, 1, "wgmma m64n%uk%u.%s %s: %s", n, k, types,
                      registers ? "A in registers" : "A shared", shapes[s].what);
        c->per_line = shapes[s].each;
        c->registers = d;
        strcpy(c->line, "wgmma.fence.sync.aligned;\n");
        char one[1700] = "";
        sprintf(one, "wgmma.mma_async.sync.aligned.m64n%uk%u.%s ", n, k, types);
        accumulators(one, d);
        strcat(one, ",");
        if (registers)
            vector(one, "a", 4);
        else
            strcat(one, "%da");
        strcat(one, ",%db,1");
        strcat(one, tail);
        strcat(one, ";\n");
        sprintf(c->setup, "%s", one); /* repeated where the line is put */
        strcpy(c->line, "*");
    }
}

static void moves(void)
{
    for (unsigned x = 1; x <= 4; x *= 2)
        for (unsigned t = 0; t < 2; t++)
            for (unsigned way = 0; way < 4; way++) {
                static const unsigned warps[] = {1, 4, 16, 4}, row[] = {16, 16, 16, 128};
                Case *c = add(warps[way], way ? 4 : 1, "ldmatrix.x%u%s, %s", x, t ? ".trans" : "",
                              way == 0   ? "a chain of addresses"
                              : way == 3 ? "8 ways"
                                         : "no conflict");
                sprintf(c->line, "ldmatrix.sync.aligned.m8n8.x%u%s.shared.b16 ", x, t ? ".trans" : "");
                accumulators(c->line, x);
                strcat(c->line, ",[%x@_0];\n"); /* each row has the addresses of four of the next rows */
                sprintf(c->setup, "%u", row[way]);
                if (way) {
                    Case *st = add(warps[way], 4, "stmatrix.x%u%s, %s", x, t ? ".trans" : "",
                                   way == 3 ? "8 ways" : "no conflict");
                    sprintf(st->line, "stmatrix.sync.aligned.m8n8.x%u%s.shared.b16 [%%s],", x, t ? ".trans" : "");
                    accumulators(st->line, x);
                    strcat(st->line, ";\n");
                    strcpy(st->setup, c->setup);
                }
            }
    for (unsigned w = 0; w < 3; w++) {
        static const unsigned warps[] = {1, 4, 16};
        Case *c = add(warps[w], w ? 4 : 1, "movmatrix");
        strcpy(c->line, "movmatrix.sync.aligned.m8n8.trans.b16 %x@_0,%x@_0;\n");
    }
}

static void list(void)
{
    mma("m8n8k4.row.col.f16.f16.f16.f16", 4, 2, 2, 0);
    mma("m8n8k4.row.col.f32.f16.f16.f32", 8, 2, 2, 0);
    mma("m16n8k8.row.col.f16.f16.f16.f16", 2, 2, 1, 0);
    mma("m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, 0);
    mma("m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2, 0);
    mma("m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2, 0);
    mma("m16n8k8.row.col.f32.bf16.bf16.f32", 4, 2, 1, 0);
    mma("m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4, 2, 0);
    mma("m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1, 0);
    mma("m16n8k8.row.col.f32.tf32.tf32.f32", 4, 4, 2, 0);
    mma("m16n8k16.row.col.f32.e4m3.e4m3.f32", 4, 2, 1, 0);
    mma("m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 4, 2, 0);
    mma("m16n8k32.row.col.f32.e5m2.e5m2.f32", 4, 4, 2, 0);
    mma("m16n8k32.row.col.f16.e4m3.e4m3.f16", 2, 4, 2, 0);
    mma("m8n8k4.row.col.f64.f64.f64.f64", 2, 1, 1, 1);
    mma("m16n8k4.row.col.f64.f64.f64.f64", 4, 2, 1, 1);
    mma("m16n8k8.row.col.f64.f64.f64.f64", 4, 4, 2, 1);
    mma("m16n8k16.row.col.f64.f64.f64.f64", 4, 8, 4, 1);
    mma("m8n8k16.row.col.s32.s8.s8.s32", 2, 1, 1, 0);
    mma("m16n8k16.row.col.s32.s8.s8.s32", 4, 2, 1, 0);
    mma("m16n8k32.row.col.s32.s8.s8.s32", 4, 4, 2, 0);
    mma("m16n8k32.row.col.satfinite.s32.u8.s8.s32", 4, 4, 2, 0);
    mma("m8n8k32.row.col.s32.s4.s4.s32", 2, 1, 1, 0);
    mma("m16n8k32.row.col.s32.s4.s4.s32", 4, 2, 1, 0);
    mma("m16n8k64.row.col.s32.s4.s4.s32", 4, 4, 2, 0);
    mma("m16n8k64.row.col.s32.u4.u4.s32", 4, 4, 2, 0);
    mma("m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 2, 1, 1, 0);
    mma("m16n8k128.row.col.s32.b1.b1.s32.xor.popc", 4, 2, 1, 0);
    mma("m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 4, 4, 2, 0);
    mma("m16n8k256.row.col.s32.b1.b1.s32.and.popc", 4, 4, 2, 0);
    for (unsigned n = 8; n <= 256; n *= 2)
        for (unsigned r = 0; r < 2; r++) {
            wgmma("f32.f16.f16", n, 16, n / 2, (int)r, r ? ",1,1,0" : ",1,1,0,0");
            if (n >= 64 || n == 8) {
                wgmma("f32.tf32.tf32", n, 8, n / 2, (int)r, ",1,1");
                wgmma("f32.e4m3.e4m3", n, 32, n / 2, (int)r, ",1,1");
                wgmma("s32.s8.s8", n, 32, n / 2, (int)r, "");
                wgmma("f16.f16.f16", n, 16, n / 4, (int)r, r ? ",1,1,0" : ",1,1,0,0");
            }
        }
    wgmma("f32.bf16.bf16", 128, 16, 64, 0, ",1,1,0,0");
    wgmma("f32.f16.f16", 128, 16, 64, 0, ",1,1,1,1");
    moves();
}

static void put_numbered(const char *line, unsigned chain)
{
    for (const char *at = line; *at; at++)
        if (*at == '@')
            printf("%u", chain);
        else
            putchar(*at);
}

static void put_line(const Case *c, unsigned chain)
{
    if (strcmp(c->line, "*")) {
        put_numbered(c->line, chain);
        return;
    }
    puts("wgmma.fence.sync.aligned;");
    for (unsigned i = 0; i < c->per_line; i++)
        put_numbered(c->setup, chain);
    puts("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;");
}

static void print_text(void)
{
    fputs(".version 8.7\n.target sm_90a\n.address_size 64\n", stdout);
    for (unsigned i = 0; i < n_cases; i++) {
        const Case *c = &cases[i];
        unsigned row = (unsigned)strtoul(c->setup, NULL, 10), unroll = c->per_line > 4 ? 1 : 8 / c->per_line;
        const char *type = c->setup[0] == 'd' ? "b64" : "b32";
        printf(".visible .entry t%u(.param .u64 out, .param .u32 never)\n.maxntid %u\n{\n.reg .b64 "
               "%%o,%%t,%%t0,%%t1,%%da,%%db; .reg .b32 "
               "%%s,%%lane,%%never,%%turn,%%a<8>,%%v; .reg .b64 %%w<8>; .reg .pred %%p;\n",
               i, c->warps * 32);
        printf(".shared .align 1024 .b8 sh[49152];\n");
        for (unsigned chain = 0; chain < c->chains; chain++)
            printf(".reg .%s %%x%u_<128>;\n", type, chain);
        printf("ld.param.u64 %%o,[out]; ld.param.u32 %%never,[never]; mov.u32 %%lane,%%tid.x; mov.u32 %%s,sh;\n");
        for (unsigned r = 0; r < 8; r++)
            printf("ld.global.b32 %%a%u,[%%o+%u]; ld.global.b64 %%w%u,[%%o+%u];\n", r, 8 * r, r, 8 * r);
        printf("mul.lo.u32 %%turn,%%lane,4; add.u32 %%turn,%%turn,%%s; mov.u32 %%v,%u;\n", 49152 / (c->warps * 128));
        printf("FILL%u: st.shared.b32 [%%turn],%%s; add.u32 %%turn,%%turn,%u; sub.u32 %%v,%%v,1; setp.ne.u32 "
               "%%p,%%v,0; @%%p bra "
               "FILL%u;\n",
               i, c->warps * 128, i);
        printf(
            "shr.u32 %%v,%%s,4; cvt.u64.u32 %%da,%%v; or.b64 %%da,%%da,0x4000004000010000; add.u64 %%db,%%da,512;\n");
        for (unsigned chain = 0; chain < c->chains; chain++)
            for (unsigned r = 0; r < c->registers; r++)
                if (type[1] == '6')
                    printf("mov.b64 %%x%u_%u,0;\n", chain, r);
                else
                    printf("mov.b32 %%x%u_%u,%%s;\n", chain, r);
        printf("and.b32 %%v,%%lane,31; mul.lo.u32 %%v,%%v,%u; add.u32 %%s,%%s,%%v;\n", row);
        if (!strncmp(c->line, "ldmatrix", 8)) {
            printf(
                "{ .reg .b32 %%to,%%g,%%i; .reg .b16 %%lo,%%hi; sub.u32 %%to,%%s,%%v; and.b32 %%g,%%lane,31; and.b32 "
                "%%i,%%lane,3; shr.u32 %%g,%%g,2; bar.sync 0;\n");
            if (strstr(c->line, ".trans"))
                printf(
                    "mul.lo.u32 %%i,%%i,%u; shl.b32 %%g,%%g,1; add.u32 %%to,%%to,%%i; add.u32 %%to,%%to,%%g; mov.b32 "
                    "{%%lo,%%hi},%%s; st.shared.b16 [%%to],%%lo; st.shared.b16 [%%to+%u],%%hi; }\n",
                    2 * row, row);
            else
                printf("mul.lo.u32 %%g,%%g,%u; shl.b32 %%i,%%i,2; add.u32 %%to,%%to,%%i; add.u32 %%to,%%to,%%g; "
                       "st.shared.b32 "
                       "[%%to],%%s; }\n",
                       row);
            for (unsigned chain = 0; chain < c->chains; chain++)
                printf("mov.b32 %%x%u_0,%%s;\n", chain);
        }
        printf("fence.proxy.async; bar.sync 0; mov.u32 %%turn,%u; mov.u64 %%t0,%%clock64;\nLOOP%u:\n.pragma "
               "\"nounroll\";\n",
               TURNS, i);
        for (unsigned u = 0; u < unroll; u++)
            for (unsigned chain = 0; chain < c->chains; chain++)
                put_line(c, chain);
        printf("sub.u32 %%turn,%%turn,1; setp.ne.u32 %%p,%%turn,0; @%%p bra LOOP%u;\n", i);
        for (unsigned chain = 0; chain < c->chains; chain++) /* the last result is waited for */
            printf("xor.%s %%x%u_1,%%x%u_0,%%x%u_1;\n", type, chain, chain, chain);
        if (type[1] == '6')
            printf("cvt.u32.u64 %%v,%%x0_1; setp.eq.u32 %%p,%%v,77; @%%p trap;\n");
        else
            printf("setp.eq.u32 %%p,%%x0_1,77; @%%p trap;\n");
        printf("mov.u64 %%t1,%%clock64; mul.wide.u32 %%t,%%lane,16; add.u64 %%o,%%o,%%t; st.global.u64 [%%o],%%t0; "
               "st.global.u64 [%%o+8],%%t1;\n");
        printf("setp.eq.u32 %%p,%%never,0; @%%p ret;\n");
        for (unsigned chain = 0; chain < c->chains; chain++)
            for (unsigned r = 0; r < c->registers; r++)
                printf("st.global.%s [%%o+%u],%%x%u_%u;\n", type, 8 * r, chain, r);
        printf("ret;\n}\n");
    }
}

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        CUresult r_ = (call);                                                                                          \
        if (r_) {                                                                                                      \
            fprintf(stderr, "%s: %d\n", #call, r_);                                                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

int main(int argc, char **argv)
{
    list();
    if (argc > 1 && !strcmp(argv[1], "--ptx")) {
        print_text();
        return 0;
    }
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUdeviceptr out;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoad(&module, argv[1]));
    CHECK(cuMemAlloc(&out, 1 << 20));
    CHECK(cuMemsetD8(out, 0, 1 << 20)); /* the kernels' A and B are of it */
    puts("instruction,warps,chains,clk");
    for (unsigned i = 0; i < n_cases; i++) {
        const Case *c = &cases[i];
        if (argc > 2 && !strstr(c->name, argv[2]))
            continue;
        char entry[16];
        CUfunction function;
        unsigned never = 0;
        void *args[] = {&out, &never};
        unsigned long long times[2048], best = ~0ull;
        unsigned unroll = c->per_line > 4 ? 1 : 8 / c->per_line;
        snprintf(entry, sizeof entry, "t%u", i);
        CHECK(cuModuleGetFunction(&function, module, entry));
        for (unsigned run = 0; run < 5; run++) {
            unsigned long long first = ~0ull, last = 0;
            CHECK(cuLaunchKernel(function, 1, 1, 1, c->warps * 32, 1, 1, 0, NULL, args, NULL));
            CHECK(cuMemcpyDtoH(times, out, c->warps * 512));
            for (unsigned t = 0; t < c->warps * 32; t++) {
                first = times[2 * t] < first ? times[2 * t] : first;
                last = times[2 * t + 1] > last ? times[2 * t + 1] : last;
            }
            best = last - first < best ? last - first : best;
        }
        double count = (double)TURNS * unroll * c->per_line * c->chains * (c->warps > 4 ? c->warps / 4 : 1);
        printf("\"%s\",%u,%u,%.2f\n", c->name, c->warps, c->chains, (double)best / count);
    }
    return 0;
}
