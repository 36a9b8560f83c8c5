/* Messages: sends and receives that meet by sender, receiver and tag, in order.
 *
 * A send is a copy loop of the sender from memory of its own to memory of the receiver that any message may overwrite:
 * its time is that of the bytes, on the links that the addresses of such memory go over. */
#include "lib/internal.h"

#define MESSAGE_SHOWN 8u /* lines of what waits */

typedef struct {
    guint64 bytes;
    FoSimError error;
} Arrived;

/* One pair and tag: messages that came and wait for their receives, or receives that wait. */
typedef struct {
    char *name;
    GQueue arrived, waiting; /* Arrived; Receive */
    guint under_way;         /* sends */
} Channel;

typedef struct {
    Job job;
    GList wait;       /* in FoSim.receives */
    char *name;       /* of its channel, */
    Channel *channel; /* which is made when it begins */
} Receive;

typedef struct {
    Work work;
    guint32 to;
    char *name;
    Channel *channel;
} Send;

static char *channel_name(const FoSimMessage *message)
{
    return g_strdup_printf("%u to %u, tag %" G_GUINT64_FORMAT, message->from, message->to, message->tag);
}

static Channel *channel_of(FoSim *sim, const char *name)
{
    Channel *channel = g_hash_table_lookup(sim->channels, name);
    if (channel)
        return channel;
    channel = g_new0(Channel, 1);
    channel->name = g_strdup(name);
    g_queue_init(&channel->arrived);
    g_queue_init(&channel->waiting);
    g_hash_table_insert(sim->channels, channel->name, channel);
    return channel;
}

static void channel_free(gpointer data)
{
    Channel *channel = data;

    g_queue_clear_full(&channel->arrived, g_free);
    g_queue_clear(&channel->waiting);
    g_free(channel->name);
    g_free(channel);
}

static void channel_end(FoSim *sim, Channel *channel)
{
    if (channel->arrived.length || channel->waiting.length || channel->under_way)
        return;
    g_hash_table_remove(sim->channels, channel->name); /* which frees it */
}

GHashTable *message_channels_new(void) { return g_hash_table_new_full(g_str_hash, g_str_equal, NULL, channel_free); }

char *message_waiters(FoSim *sim)
{
    if (sim->receives.length == 0)
        return NULL;
    GString *text = g_string_new(NULL);
    guint shown = 0;
    for (GList *link = sim->receives.head; link && shown < MESSAGE_SHOWN; link = link->next, shown++) {
        const Receive *receive = link->data;
        g_string_append_printf(text, "\n  a receive of %" G_GUINT64_FORMAT " bytes, GPU %s, waits for its send",
                               receive->job.told.bytes, receive->channel->name);
    }
    if (sim->receives.length > shown)
        g_string_append_printf(text, "\n  and %u more", sim->receives.length - shown);
    return g_string_free(text, FALSE);
}

static void receive_end(Receive *receive, const Arrived *arrived)
{
    if (arrived->error)
        job_fail(&receive->job, arrived->error, "the message met a fault on its way");
    else if (arrived->bytes > receive->job.told.bytes)
        job_fail(&receive->job, FO_SIM_ERROR_ARGUMENT, "the message is longer than its receive");
    else {
        receive->job.told.bytes = arrived->bytes;
        job_end(&receive->job);
    }
}

static void receive_free(Job *job) { g_free(((Receive *)(void *)job)->name); }

static void receive_run(Job *job)
{
    Receive *receive = (Receive *)(void *)job;
    receive->channel = channel_of(job->owner, receive->name);
    Arrived *arrived = g_queue_pop_head(&receive->channel->arrived);
    if (arrived) {
        channel_end(job->owner, receive->channel);
        receive_end(receive, arrived);
        g_free(arrived);
        return;
    }
    receive->wait.data = receive;
    g_queue_push_tail_link(&job->owner->receives, &receive->wait);
    g_queue_push_tail(&receive->channel->waiting, receive);
}

/* The last store is acknowledged. The sender hears of it first, then the receiver. */
static void send_ended(Job *job)
{
    Send *send = (Send *)(void *)job;
    FoSim *sim = job->owner;
    Channel *channel = send->channel;
    const Arrived arrived = {job->told.bytes, job->told.error};
    Receive *receive = g_queue_pop_head(&channel->waiting);
    channel->under_way--;
    if (receive)
        g_queue_unlink(&sim->receives, &receive->wait);
    else
        g_queue_push_tail(&channel->arrived, g_memdup2(&arrived, sizeof arrived));
    channel_end(sim, channel); /* callbacks may make it anew */
    if (receive && arrived.bytes > receive->job.told.bytes && !job->told.error)
        job_fail(job, FO_SIM_ERROR_ARGUMENT, "the message is longer than its receive");
    else
        job_end(job);
    if (receive)
        receive_end(receive, &arrived);
}

static void send_run(Job *job)
{
    Send *send = (Send *)(void *)job;
    FoSim *sim = job->owner;
    const FoSimMemory from = memory_scratch(sim, send->work.gpu, send->work.bytes);
    const FoSimMemory to = from ? memory_scratch(sim, send->to, send->work.bytes) : 0;
    if (!to) {
        job_fail(job, FO_SIM_ERROR_FULL, "the host has no memory for the message");
        return;
    }
    send->channel = channel_of(sim, send->name);
    send->channel->under_way++;
    send->work.va = g_array_index(sim->memory, LibMemory, from - 1).va;
    send->work.to_va = g_array_index(sim->memory, LibMemory, to - 1).va;
    work_run(job);
}

static void send_free(Job *job) { g_free(((Send *)(void *)job)->name); }

static gboolean message_check(FoSim *sim, guint64 at_ps, const FoSimMessage *message, FoSimError *error)
{
    if (!lib_usable(sim, error) || !lib_time(sim, at_ps, error))
        return FALSE;
    if (!message)
        *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT, "message: NULL is no message");
    else if (!lib_gpu(sim, "from", message->from, error) || !lib_gpu(sim, "to", message->to, error))
        return FALSE;
    else if (message->from == message->to)
        *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT,
                          "a message of GPU %u to itself crosses no link; two GPUs are right", message->from);
    else if (message->bytes == 0 || message->bytes > LIB_BYTES_MAX)
        *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT,
                          "a message of %" G_GUINT64_FORMAT " bytes; 1 to %" G_GUINT64_FORMAT " are right",
                          message->bytes, (guint64)LIB_BYTES_MAX);
    return *error == FO_SIM_OK;
}

FoSimError fo_sim_send(FoSim *sim, uint64_t at_ps, const FoSimMessage *message, FoSimCallback sent, void *user)
{
    FoSimError error;
    if (!message_check(sim, at_ps, message, &error))
        return error;
    Send *send = (Send *)(void *)job_new(sim, sizeof *send, at_ps, send_run);
    Work *work = &send->work;
    work->operation = FO_SIM_COPY;
    work->gpu = message->from;
    work->bytes = (message->bytes + 3) / 4 * 4;
    work->ended = send_ended;
    work->job.callback = sent;
    work->job.user = user;
    work->job.told.bytes = message->bytes;
    work->job.free = send_free;
    work_shape(work);
    send->to = message->to;
    send->name = channel_name(message);
    return FO_SIM_OK;
}

FoSimError fo_sim_recv(FoSim *sim, uint64_t at_ps, const FoSimMessage *message, FoSimCallback received, void *user)
{
    FoSimError error;
    if (!message_check(sim, at_ps, message, &error))
        return error;
    Receive *receive = (Receive *)(void *)job_new(sim, sizeof *receive, at_ps, receive_run);
    receive->name = channel_name(message);
    receive->job.callback = received;
    receive->job.user = user;
    receive->job.told.bytes = message->bytes;
    receive->job.free = receive_free;
    return FO_SIM_OK;
}
