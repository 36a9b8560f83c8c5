#include "model/gpu/hbm.h"

#include "sim/rng.h"

#define HBM_WINDOW_SHIFT 20
#define HBM_WINDOW_PS ((SimTime)1 << HBM_WINDOW_SHIFT) /* about a microsecond: how long what was asked for counts */

void hbm_set(Hbm *hbm, const HbmRate *rate, guint64 percent, SimTime latency_ps)
{
    hbm->rate = *rate;
    hbm->byte_time = ((SimFine)1000000u << SIMFINE_SHIFT) / rate->MBps * 100 / percent;
    for (int w = 0; w < HBM_WAYS; w++)
        hbm->way_time[w] = hbm->byte_time * 1000 / rate->reached_permille[w];
    hbm->latency = simfine_from_ps(latency_ps);
}

static void hbm_count(Hbm *hbm, HbmWay way, guint32 bytes, SimTime now_ps)
{
    const guint64 window = now_ps >> HBM_WINDOW_SHIFT;
    if (window != hbm->window)
        for (int w = 0; w < HBM_WAYS; w++) {
            hbm->before_bytes[w] = window == hbm->window + 1 ? hbm->bytes[w] : 0;
            hbm->bytes[w] = 0;
        }
    hbm->window = window;
    hbm->bytes[way] += bytes;
}

guint64 hbm_turns_permille(const HbmRate *rate, guint64 read_bytes, guint64 written_bytes)
{
    if (read_bytes == 0 || written_bytes == 0)
        return 0;
    const guint64 both = read_bytes * written_bytes / (read_bytes + written_bytes);
    return rate->turns_permille * both * 1000 / (read_bytes * 1000 + written_bytes * rate->batch_permille);
}

SimTime hbm_serve(Hbm *hbm, HbmWay way, guint32 bytes, SimTime now_ps)
{
    hbm_count(hbm, way, bytes, now_ps);
    const guint64 turns_permille = hbm_turns_permille(&hbm->rate, hbm->bytes[HBM_READ] + hbm->before_bytes[HBM_READ],
                                                      hbm->bytes[HBM_WRITE] + hbm->before_bytes[HBM_WRITE]);
    const SimFine move = bytes * (hbm->way_time[way] + hbm->byte_time * turns_permille / 1000);
    hbm->free_at = MAX(hbm->free_at, simfine_from_ps(now_ps)) + move;
    hbm->ready_at = MAX(hbm->free_at + hbm->latency, hbm->ready_at + move);
    return simfine_to_ps(hbm->free_at);
}

/* ---- lateness */

/* What was asked for of that kind in the last HBM_WINDOW_PS takes so much of it. */
static SimTime hbm_busy_ps(const Hbm *hbm, HbmWay way, SimTime now_ps)
{
    const SimTime left_ps = HBM_WINDOW_PS - (now_ps & (HBM_WINDOW_PS - 1)); /* of the window before */
    const guint64 bytes = hbm->bytes[way] + (hbm->before_bytes[way] * left_ps >> HBM_WINDOW_SHIFT);
    return simfine_to_ps(bytes * hbm->byte_time);
}

SimTime hbm_turn_ps(const HbmLateness *late, guint64 reads_ps, guint64 writes_ps, guint64 second_ps)
{
    const guint64 all_ps = MIN(reads_ps + writes_ps, second_ps);
    return late->turn_ps * MIN(MIN(reads_ps, writes_ps), second_ps) / (second_ps - all_ps * 3 / 4);
}

/* To the end of its bank's refresh, of which each period has one. */
static SimTime hbm_refresh_left_ps(const HbmLateness *late, guint64 line, SimTime now_ps)
{
    const SimTime refresh_ps = MIN(late->refresh_ps, late->refresh_period_ps);
    if (refresh_ps == 0)
        return 0;
    const guint64 period = now_ps / late->refresh_period_ps;
    const SimTime begin_ps = rng_hash(late->salt ^ rng_hash(line) ^ period) %
                             (late->refresh_period_ps - refresh_ps + 1),
                  at_ps = now_ps % late->refresh_period_ps;
    return at_ps >= begin_ps && at_ps < begin_ps + refresh_ps ? begin_ps + refresh_ps - at_ps : 0;
}

/* To the next turn of reads. */
static SimTime hbm_turn_left_ps(const HbmLateness *late, SimTime turn_ps, guint64 line, SimTime now_ps)
{
    return turn_ps ? turn_ps - 1 - (now_ps + (rng_hash(late->salt + line) >> 32)) % turn_ps : 0;
}

SimTime hbm_late_ps(const Hbm *hbm, guint64 line, SimTime now_ps)
{
    const HbmLateness *late = &hbm->late;
    const SimTime turn_ps = hbm_turn_ps(late, hbm_busy_ps(hbm, HBM_READ, now_ps), hbm_busy_ps(hbm, HBM_WRITE, now_ps),
                                        HBM_WINDOW_PS);
    const SimTime left_ps = hbm_refresh_left_ps(late, line, now_ps);
    return left_ps + hbm_turn_left_ps(late, turn_ps, line, now_ps + left_ps);
}

/* ---- the latest of several */

#define HBM_ONE ((guint64)1 << 30) /* of a probability */
#define HBM_NEAR_PS 128

/* A line that meets no refresh is late by a part of a turn, evenly. How often it is so by at_ps or less, */
static guint64 hbm_turn_share(SimTime turn_ps, SimTime at_ps)
{
    return at_ps >= turn_ps ? HBM_ONE : HBM_ONE * at_ps / turn_ps;
}

/* and the sum of that over all times up to at_ps. */
static SimTime hbm_turn_sum_ps(SimTime turn_ps, SimTime at_ps)
{
    return at_ps >= turn_ps ? at_ps - turn_ps / 2 : at_ps * at_ps / (2 * turn_ps);
}

/* How often any line is late by at_ps or less: those that meet a refresh wait for a part of that before, evenly. */
static guint64 hbm_share(const HbmLateness *late, SimTime turn_ps, SimTime at_ps)
{
    const SimTime refresh_ps = MIN(late->refresh_ps, late->refresh_period_ps);
    const guint64 none = hbm_turn_share(turn_ps, at_ps);
    if (refresh_ps == 0)
        return none;
    const SimTime sum_ps = hbm_turn_sum_ps(turn_ps, at_ps) - hbm_turn_sum_ps(turn_ps, at_ps - MIN(at_ps, refresh_ps));
    return (none * (late->refresh_period_ps - refresh_ps) + HBM_ONE * sum_ps) / late->refresh_period_ps;
}

static guint64 hbm_power(guint64 share, guint32 n)
{
    guint64 power = HBM_ONE;
    for (; n > 0; n >>= 1) {
        if (n & 1)
            power = power * share / HBM_ONE;
        share = share * share / HBM_ONE;
    }
    return power;
}

SimTime hbm_latest_ps(const HbmLateness *late, SimTime turn_ps, guint32 lines, guint32 part, guint32 parts)
{
    const guint64 often = HBM_ONE * (2 * part + 1) / (2 * parts);
    SimTime low_ps = 0, high_ps = MIN(late->refresh_ps, late->refresh_period_ps) + turn_ps;
    while (high_ps - low_ps > HBM_NEAR_PS) {
        const SimTime at_ps = (low_ps + high_ps) / 2;
        *(hbm_power(hbm_share(late, turn_ps, at_ps), lines) < often ? &low_ps : &high_ps) = at_ps;
    }
    return (low_ps + high_ps) / 2;
}
