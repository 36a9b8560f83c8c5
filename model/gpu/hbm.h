/* A GPU's HBM as a bandwidth server, and how late its reads are.
 *
 * What hardware it stands for: the memory controllers, channels and banks together, behind the L2.
 * Modelled: a rate, of which reads and writes alone reach a share each (HbmRate). Where both come, changes between
 * them take some, too: a turn of reads ends when so many writes wait, and a turn of writes when batch_permille / 1000
 * as many reads do. With shares r and w of all bytes these take as long to come as 1 / w and batch / r, so that there
 * are r w / (r + batch w) pairs of turns a byte. r and w are those of what came in the last one to two microseconds.
 * Requests queue in the order in which they come, and what they read is ready in that order, too, even if the latency
 * falls meanwhile. A read is late beyond that (hbm_late_ps()), each line by itself, so that late ones are overtaken:
 * it waits while its bank refreshes, and then for its channel's turn of reads. Where reads and writes come, a channel
 * takes them by turns, and turns are the longer, the more of the lesser kind there is and the less of its time is
 * free.
 * Left out: which channel and bank a line is in: measured, a read is late whatever its address and when, so that when
 * a bank refreshes and when a turn begins is drawn for each line. What reads wait where only reads come (a tenth of
 * that), and where only writes do (a third), until HBM is nearly full. Writes are never late: no instruction waits
 * until the HBM has one. Which half of the L2 a line belongs to (85 ns between them).
 * Source: rate and latency of the preset; docs/measurements/hbm_mix.csv; hbm_alone.csv, hbm_late.csv. */
#ifndef MODEL_GPU_HBM_H
#define MODEL_GPU_HBM_H

#include <glib.h>

#include "sim/engine/simtime.h"

typedef enum { HBM_READ, HBM_WRITE, HBM_WAYS } HbmWay;

/* Of the preset: gpu.hbm_MBps and so on. */
typedef struct {
    guint64 MBps;
    guint64 reached_permille[HBM_WAYS]; /* of that, by reads alone and by writes alone, not 0 */
    guint64 turns_permille;             /* what turns take where few bytes are written, of these bytes' time */
    guint64 batch_permille; /* how many reads end a turn of writes, for 1,000 writes that end one of reads */
} HbmRate;

typedef struct {
    SimTime refresh_ps, refresh_period_ps, turn_ps; /* of the preset: gpu.hbm_*; refresh and turn 0: none is late */
    guint64 salt;                                   /* of what is drawn */
} HbmLateness;

typedef struct {
    SimFine free_at;  /* when all that was asked for has been moved */
    SimFine ready_at; /* when the last of it has left */
    HbmRate rate;
    SimFine byte_time;          /* at all of its rate, */
    SimFine way_time[HBM_WAYS]; /* and at what reads and writes alone reach */
    SimFine latency;            /* from a read's last byte being moved to its leaving */
    HbmLateness late;
    guint64 window;                                  /* number of the present one of HBM_WINDOW_PS */
    guint64 bytes[HBM_WAYS], before_bytes[HBM_WAYS]; /* that were asked for in it and in the one before */
} Hbm;

/* For requests from now on: that percentage of the rate, and that latency. Before the first of them all else is 0. */
void hbm_set(Hbm *hbm, const HbmRate *rate, guint64 percent, SimTime latency_ps);
/* What turns between so many bytes read and written take of the time that all of these would at the whole rate. */
guint64 hbm_turns_permille(const HbmRate *rate, guint64 read_bytes, guint64 written_bytes);
/* When HBM has moved that many bytes for a request that comes at now_ps, which does not go back. */
SimTime hbm_serve(Hbm *hbm, HbmWay way, guint32 bytes, SimTime now_ps);
/* When what that last request read is ready for its answer. */
static inline SimTime hbm_ready_ps(const Hbm *hbm) { return simfine_to_ps(hbm->ready_at); }
/* How much later a read of that line is which came at now_ps, the time of the last request. */
SimTime hbm_late_ps(const Hbm *hbm, guint64 line, SimTime now_ps);
static inline gboolean hbm_is_late(const HbmLateness *late) { return late->refresh_ps || late->turn_ps; }

/* A channel's turn, when reads and writes take so much of each second of HBM's time, in ps. */
SimTime hbm_turn_ps(const HbmLateness *late, guint64 reads_ps, guint64 writes_ps, guint64 second_ps);
/* How late the latest of so many lines is that are asked for together, in the middle of that one of so many equal parts
 * of all cases. */
SimTime hbm_latest_ps(const HbmLateness *late, SimTime turn_ps, guint32 lines, guint32 part, guint32 parts);

#endif
