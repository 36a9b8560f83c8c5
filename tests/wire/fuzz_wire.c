/* Sends garbage to the owner of a machine while a well-behaved client goes on.
 *
 *     fanout exec -s dgx-h100 -- fuzz_wire RANKS_PROGRAM
 *
 * Attackers know the socket and the messages: some bytes are random, some heads are right, some requests are whole
 * with fields at random or with numbers of things that there are; descriptors are of anything; some attackers
 * connect and say nothing, or ask and never read. `RANKS_PROGRAM good` must end right. FUZZ_SECONDS (5), FUZZ_SEED
 * (1). */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "machine/wire/client.h"
#include "machine/wire/program.h"

#define ACTIONS 150
#define ATTACKERS 2
#define LIMIT_S 60 /* for the client to end, once nobody attacks any more */

static guint64 state;
static guint64 draw(guint64 below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    guint64 mixed = (state ^ (state >> 33)) * 0xff51afd7ed558ccdull;
    return below ? (mixed ^ (mixed >> 29)) % below : 0;
}

static guint64 field(void)
{
    static const guint64 known[] = {0,          0,          1,          1,          1,          2,
                                    2,          3,          4,          7,          8,          16,
                                    31,         64,         128,        4096,       65535,      65536,
                                    1 << 20,    1 << 21,    1 << 21,    0x10000000, 0x10200000, 0x7fffffff,
                                    0xffffffff, 1ull << 40, 1ull << 47, 1ull << 56, 1ull << 63, ~0ull};

    return draw(8) ? known[draw(G_N_ELEMENTS(known))] : draw(0x7fffffffffffffffull) * 2 + draw(2);
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Not in simulated time, as poll() and the like are below `fanout exec`. */
static void host_sleep_ms(guint ms)
{
    const struct timespec length = {ms / 1000, (long)(ms % 1000) * 1000000};

    syscall(SYS_nanosleep, &length, NULL);
}

static gboolean readable(int fd, guint ms)
{
    struct pollfd polled = {fd, POLLIN, 0};
    const struct timespec limit = {0, (long)ms * 1000000};

    return syscall(SYS_ppoll, &polled, 1, &limit, NULL, 0) > 0;
}

/* ---- descriptors of anything */

static int memory_file(gboolean sealed, guint64 bytes)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd >= 0 && ftruncate(fd, (off_t)bytes) != 0)
        return fd;
    if (sealed)
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    return fd;
}

static int module_file(void)
{
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry put(.param .u64 p) { .reg .b64 %a; ld.param.u64 %a, [p];\n"
                               "st.global.u32 [%a], 5; ret; }\n";
    WireUnit unit = {sizeof text - 1, 2, 0};
    int fd = memory_file(FALSE, 0);
    guint64 cut = draw(4) ? 0 : draw(64);

    if (!draw(4))
        unit.bytes = field();
    if (write(fd, &unit, sizeof unit) < 0 || write(fd, "a", 2) < 0 || write(fd, text, sizeof text) < 0)
        return fd;
    if (cut && ftruncate(fd, (off_t)(sizeof unit + 2 + sizeof text - cut)) != 0)
        return fd;
    return fd;
}

static int any_file(guint32 op)
{
    int pair[2] = {-1, -1};

    if (op == WIRE_OP_MODULE_NEW && draw(4))
        return module_file();
    switch (draw(12)) {
    case 0: return open("/dev/zero", O_RDWR | O_CLOEXEC);
    case 1: return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    case 2: return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    case 3:
        if (pipe(pair) == 0)
            close(pair[1]);
        return pair[0];
    case 4:
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0)
            close(pair[1]);
        return pair[0];
    case 5: return epoll_create1(EPOLL_CLOEXEC);
    case 6: return memory_file(FALSE, field() % (1ull << 50));
    case 7: return memory_file(TRUE, field() % (1ull << 50));
    case 8: return open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    default: return memory_file(TRUE, 4 << 20);
    }
}

/* ---- messages */

static int dial(guint32 role)
{
    WireHello hello;
    WireWelcome welcome;

    wire_introduce(&hello, (WireRole)role, draw(2) != 0);
    if (!draw(8))
        memset(hello.program, (int)draw(256), sizeof hello.program);
    if (!draw(8))
        hello.rank = (gint32)field();
    return wire_dial(g_getenv(WIRE_ENV), &hello, &welcome, NULL);
}

static int dial_raw(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *name = g_getenv(WIRE_ENV);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    memcpy(address.sun_path + 1, name, MIN(strlen(name), sizeof address.sun_path - 1));
    if (connect(fd, (struct sockaddr *)&address,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))))
        perror("connect");
    return fd;
}

static void send_garbage(int fd)
{
    static guint8 bytes[160000];
    gsize n = draw(3) ? draw(2000) : draw(sizeof bytes);
    WireHead head = wire_head((WireKind)draw(9));

    for (gsize i = 0; i < n; i++)
        bytes[i] = (guint8)draw(256);
    if (draw(2) && n >= sizeof head)
        memcpy(bytes, &head, sizeof head);
    if (send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return;
}

static void send_call(int fd, guint32 op)
{
    static guint8 payload[4096];
    static char own[1 << 16]; /* a place of the attacker's own */
    WireCall call = {.head = wire_head(WIRE_CALL)};
    EngineRequest *r = &call.request;
    gsize bytes = draw(3) ? 0 : draw(sizeof payload);
    int descriptor = -1;

    r->op = op;
    r->gpu = (guint32)(draw(6) ? draw(3) : field());
    r->fd = (gint32)field();
    r->region = (guint32)(draw(4) ? 1 + draw(3) : field());
    r->object = (guint32)(draw(4) ? draw(3) : field());
    r->stream = (guint32)(draw(8) ? 1 + draw(2) : field());
    r->event = (guint32)(draw(4) ? 1 + draw(2) : field());
    r->access = (guint32)(draw(3) ? draw(8) : field());
    r->width = (guint32)(draw(3) ? 4 : field());
    r->wait = (guint32)draw(5);
    r->address = draw(3) ? 0x10000000 + draw(3) * (2 << 20) : draw(2) ? (guint64)(guintptr)own : field();
    r->source = draw(3) ? 0x10000000 + draw(3) * (2 << 20) : draw(2) ? (guint64)(guintptr)own : field();
    r->offset = draw(2) ? 0 : field();
    r->bytes = draw(3) ? 2 << 20 : draw(2) ? draw(70000) : field();
    r->value = draw(2) ? 1 + draw(2) : field();
    r->pitch = field();
    r->source_pitch = field();
    r->height = field();
    r->function = field();
    r->argument = draw(2) ? draw(4) : field();
    r->time_ps = draw(2) ? draw(1000000) : draw(1000000000);
    r->client = (guint32)draw(4);
    memset(r->call, (int)draw(256), sizeof r->call);
    if (op == ENGINE_LAUNCH_PTX && draw(4)) {
        WireLaunch launch = {.image = (guint32)(draw(4) ? 1 : field()),
                             .function = (guint32)(draw(4) ? 0 : field()),
                             .param_bytes = 8,
                             .cooperative = (guint32)draw(2),
                             .depends = (guint32)draw(2)};
        guint64 param = draw(2) ? 0x10000000 : field();
        for (guint i = 0; i < 3; i++) {
            launch.grid[i] = (guint32)(draw(8) ? 1 : field());
            launch.block[i] = (guint32)(draw(8) ? 1 + draw(3) : field());
            launch.cluster[i] = (guint32)(draw(8) ? draw(2) : field());
        }
        launch.dynamic_shared = (guint32)(draw(8) ? 0 : field());
        memcpy(payload, &launch, sizeof launch);
        memcpy(payload + sizeof launch, &param, sizeof param);
        bytes = sizeof launch + sizeof param;
    }
    if (op == ENGINE_LAUNCH && draw(4)) {
        WireProgram program = {field(), (guint32)(draw(4) ? 1 : field()), (guint32)(draw(4) ? 32 : field()), "fuzz"};
        memcpy(payload, &program, sizeof program);
        bytes = sizeof program;
    }
    if (op == ENGINE_REGION_NEW || op == ENGINE_OBJECT_NEW || op == ENGINE_EVENT_NEW || op == WIRE_OP_MODULE_NEW ||
        !draw(20))
        descriptor = any_file(op);
    call.bytes = (guint32)(draw(50) ? bytes : field());
    message_send(fd, &call, draw(100) ? sizeof call : draw(sizeof call), payload, bytes, descriptor);
    if (descriptor >= 0)
        close(descriptor);
}

static guint32 any_op(void) { return (guint32)(draw(5) ? draw(ENGINE_TIMELINE + 3) : 1000 + draw(9)); }

static void answer_program(int fd)
{
    static guint8 room[1 << 16];
    ProgramRun run;
    guint8 batch[8 * sizeof(ProgramRecord)];
    guint n = (guint)draw(8);

    if (!readable(fd, 1) || recv(fd, room, sizeof room, MSG_DONTWAIT) < (gssize)sizeof run)
        return;
    memcpy(&run, room, sizeof run);
    for (guint i = 0; i < n; i++) {
        ProgramRecord record = {.call = (guint32)(draw(10) ? draw(PROGRAM_CALLS + 1) : field()),
                                .d = (gint32)draw(4) - 1,
                                .s = (gint32)draw(4) - 1,
                                .a = (guint32)(draw(2) ? draw(20) : field()),
                                .b = (guint32)(draw(2) ? draw(20) : field()),
                                .c = (guint32)draw(9),
                                .count = (guint32)field(),
                                .address = draw(2) ? 0x10000000 : field(),
                                .value = field()};
        if (i == 0)
            record = (ProgramRecord){.call = PROGRAM_REG, .a = (guint32)(draw(2) ? 4 : field())};
        if (record.call == PROGRAM_SLEEP)
            record.value %= 1000000000;
        memcpy(batch + i * sizeof record, &record, sizeof record);
    }
    ProgramBatch head = {.head = wire_head(WIRE_BATCH),
                         .bytes = n * (guint32)sizeof(ProgramRecord),
                         .more = (guint32)!draw(10),
                         .handle = draw(10) ? run.handle : field()};
    message_send(fd, &head, sizeof head, batch, head.bytes, -1);
}

static void attack(void)
{
    int callers[4] = {-1, -1, -1, -1}, service = -1, program = -1, reads = draw(8) != 0;
    static guint8 room[1 << 18];

    signal(SIGPIPE, SIG_IGN);
    if (draw(4))
        service = dial(WIRE_ROLE_SERVICE);
    for (guint i = 0; i < ACTIONS; i++) {
        int *fd = &callers[draw(4)];
        if (*fd < 0)
            *fd = draw(10) ? dial(WIRE_ROLE_CALLER) : dial((guint32)field());
        switch (draw(40)) {
        case 0: send_garbage(*fd); break;
        case 1: {
            int raw = dial_raw();
            send_garbage(raw);
            close(raw);
            break;
        }
        case 2: { /* something that it was not asked */
            WireDone done = {wire_head(WIRE_DONE), field()};
            message_send(service, &done, sizeof done, NULL, 0, -1);
            break;
        }
        case 3:
            if (program < 0)
                program = dial(WIRE_ROLE_PROGRAM);
            break;
        case 4:
            close(*fd);
            *fd = -1;
            break;
        case 5: /* connections that say nothing */
            for (guint k = 0; !draw(10) && k < 300; k++)
                dial_raw();
            break;
        default:
            if (i < 12 && draw(4)) /* some things to name */
                send_call(*fd,
                          (const guint32[]){ENGINE_STREAM_NEW, ENGINE_REGION_NEW, ENGINE_MAP, ENGINE_OBJECT_NEW,
                                            ENGINE_OBJECT_MEMBER, ENGINE_EVENT_NEW, ENGINE_ACCESS, WIRE_OP_MODULE_NEW,
                                            WIRE_OP_IMAGE_NEW, ENGINE_OBJECT_BIND, ENGINE_STREAM_NEW, ENGINE_MAP}[i]);
            else
                send_call(*fd, any_op());
            break;
        }
        if (program >= 0)
            answer_program(program);
        for (guint k = 0; reads && k < 4; k++)
            if (callers[k] >= 0 && readable(callers[k], 1) && recv(callers[k], room, sizeof room, MSG_DONTWAIT) <= 0) {
                close(callers[k]);
                callers[k] = -1;
            }
    }
    _exit(0);
}

/* ---- the job */

static gboolean wait_for(pid_t child, int *status, double limit_s)
{
    for (double end = now_s() + limit_s; now_s() < end; host_sleep_ms(2))
        if (waitpid(child, status, WNOHANG) == child)
            return TRUE;
    return FALSE;
}

static pid_t start_attacker(guint64 seed)
{
    pid_t child = fork();

    if (child != 0)
        return child;
    struct rlimit files = {1000, 1000};
    setrlimit(RLIMIT_NOFILE, &files);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    state = seed * 1000003;
    for (guint i = 0; i < 8; i++)
        draw(1);
    attack();
    return 0;
}

int main(int argc, char **argv)
{
    const char *seconds = g_getenv("FUZZ_SECONDS"), *seed_text = g_getenv("FUZZ_SEED");
    guint64 seed = (seed_text ? g_ascii_strtoull(seed_text, NULL, 10) : 1) * 1000000, first = seed;
    pid_t attackers[ATTACKERS] = {0};
    double since[ATTACKERS] = {0};
    int stop[2], status = -1;

    if (argc != 2 || !g_getenv(WIRE_ENV) || pipe2(stop, O_CLOEXEC) != 0)
        return 2;
    pid_t good = fork();
    if (good == 0) {
        dup2(stop[0], STDIN_FILENO);
        execl(argv[1], argv[1], "good", (char *)NULL);
        _exit(127);
    }
    close(stop[0]);
    for (double end = now_s() + (seconds ? g_ascii_strtod(seconds, NULL) : 5); now_s() < end; host_sleep_ms(2))
        for (guint i = 0; i < ATTACKERS; i++) {
            if (attackers[i] > 0 && waitpid(attackers[i], NULL, WNOHANG) == attackers[i])
                attackers[i] = 0;
            if (attackers[i] > 0 && now_s() - since[i] > 2) /* it sleeps on something */
                kill(attackers[i], SIGKILL);
            if (attackers[i] > 0)
                continue;
            since[i] = now_s();
            attackers[i] = start_attacker(++seed);
        }
    for (guint i = 0; i < ATTACKERS; i++)
        if (attackers[i] > 0) {
            kill(attackers[i], SIGKILL);
            waitpid(attackers[i], NULL, 0);
        }
    close(stop[1]);
    if (!wait_for(good, &status, LIMIT_S)) {
        fprintf(stderr, "the client has not ended within %d s\n", LIMIT_S);
        kill(good, SIGKILL);
        return 1;
    }
    printf("%" G_GUINT64_FORMAT " attackers, the client ended with 0x%x\n", seed - first, (unsigned)status);
    return status != 0;
}
