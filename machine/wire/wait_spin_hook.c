/* Part of libfanout_wait.so: threads that ask again and again instead of waiting: sched_yield, and poll, select or
 * epoll_wait with a time-out of 0. (MPI's progress, NCCL's proxy.)
 *
 * Such a thread never sleeps, and simulated time would never pass for what it asks about. So it counts its calls in a
 * page that the owner reads: who goes on asking while all others sleep has seen what there is to see. From then on it
 * does not hand its processor on with each call, which on a busy host costs milliseconds each, but rests for a moment
 * of the host now and then, so that those that it waits for have the processor. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "machine/wire/wait.h"

#define SPIN_FROM 32u /* calls of a thread before they count: programs ask now and then */
#define REST_EACH 32u /* calls between two rests */
#define REST_NS 1000  /* and what the host adds to it, which is far more */

static struct {
    pthread_mutex_t lock;
    WireSpinPage *page; /* NULL: none yet, or there is no owner */
    int refused;
    int begun;
    pthread_key_t key; /* for what is to be done when a thread ends */
} spin = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct {
    WireSpinSlot *slot;
    uint32_t calls, outside;
    int refused;
} own;

static WireSpinPage *page_make(void)
{
    int fd = memfd_create("fanout-spin", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    WireSpinPage *page = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, sizeof *page) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page != MAP_FAILED && !talk_ask(WIRE_OP_SPIN, 0, 0, fd)) {
        munmap(page, sizeof *page);
        page = MAP_FAILED;
    }
    if (fd >= 0)
        close(fd);
    return page == MAP_FAILED ? NULL : page;
}

static void thread_ends(void *unused)
{
    (void)unused;
    if (own.slot)
        __atomic_store_n(&own.slot->tid, 0, __ATOMIC_RELEASE);
    memset(&own, 0, sizeof own);
}

/* The page is the parent's. */
static void after_fork(void)
{
    if (spin.page)
        munmap(spin.page, sizeof *spin.page);
    spin.page = NULL;
    spin.refused = 0;
    pthread_mutex_init(&spin.lock, NULL);
    memset(&own, 0, sizeof own);
}

static WireSpinSlot *slot_take(void)
{
    int32_t tid = (int32_t)syscall(SYS_gettid);

    pthread_mutex_lock(&spin.lock);
    if (!spin.begun) {
        pthread_key_create(&spin.key, thread_ends);
        pthread_atfork(NULL, NULL, after_fork);
    }
    spin.begun = 1;
    if (!spin.page && !spin.refused)
        spin.page = page_make();
    spin.refused = !spin.page;
    WireSpinSlot *found = NULL;
    for (unsigned i = 0; spin.page && !found && i < WIRE_SPIN_SLOTS; i++)
        if (__atomic_load_n(&spin.page->slot[i].tid, __ATOMIC_RELAXED) == 0)
            found = &spin.page->slot[i];
    if (found) {
        found->calls = found->resting = found->changes = found->outside = 0;
        __atomic_store_n(&found->tid, tid, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&spin.lock);
    if (found)
        pthread_setspecific(spin.key, found);
    return found;
}

static void rest(WireSpinSlot *slot)
{
    const struct timespec moment = {0, REST_NS};
    int keep = errno;

    __atomic_store_n(&slot->resting, 1, __ATOMIC_SEQ_CST);
    talk_real()->nanosleep(&moment, NULL);
    __atomic_store_n(&slot->resting, 0, __ATOMIC_SEQ_CST);
    errno = keep;
}

void spin_note(void)
{
    if (own.refused || !talk_owned())
        return;
    if (++own.calls < SPIN_FROM)
        return;
    if (!own.slot) {
        own.slot = slot_take();
        own.refused = !own.slot;
        if (own.refused)
            return;
    }
    __atomic_store_n(&own.slot->calls, own.calls, __ATOMIC_SEQ_CST);
    if (own.calls % REST_EACH == 0)
        rest(own.slot);
}

void spin_outside(int more)
{
    const int keep = errno;

    if (!own.slot && !own.refused && talk_owned()) {
        own.slot = slot_take();
        own.refused = !own.slot;
    }
    own.outside += (uint32_t)more;
    if (own.slot)
        __atomic_store_n(&own.slot->outside, own.outside, __ATOMIC_SEQ_CST);
    errno = keep;
}

void spin_change(void)
{
    if (own.slot)
        __atomic_store_n(&own.slot->changes, own.slot->changes + 1, __ATOMIC_SEQ_CST);
}

WAIT_EXPORT int sched_yield(void)
{
    int result = own.slot && own.calls >= SPIN_FROM ? 0 : talk_real()->sched_yield();

    spin_note();
    return result;
}
