/* A model of what driver calls do, to hold the driver against: allocations, reservations, teams and the bytes in them,
 * of one thread. Threads share the driver and its contexts, not their objects. */
#ifndef TESTS_API_CUDA_MODEL_H
#define TESTS_API_CUDA_MODEL_H

#include "tests/api/cuda_test.h"

#define MODEL_SLOTS 6
#define MODEL_DEVICES 4
#define MODEL_BURST 8

/* cuMemCreate: bytes live as long as a handle or a mapping. */
typedef struct {
    Handle handle;
    int device, handles, users; /* users: mappings */
    gboolean exports;
    size_t bytes;
    guint8 *image; /* NULL: the slot is empty */
} ModelMemory;

typedef struct {
    Handle handle;
    int n;
    unsigned added; /* bit for each device */
    size_t bytes;
    ModelMemory *bound[MODEL_DEVICES];
    int handles, users; /* users: mappings */
} ModelTeam;

/* cuMemAddressReserve, with at most one mapping, over all of it. */
typedef struct {
    CUdeviceptr va;
    size_t bytes;
    ModelMemory *memory;
    ModelTeam *team;
    gboolean access;
} ModelRange;

typedef struct {
    CUdeviceptr va;
    int device;
    size_t bytes;
    guint8 *image;
} ModelBlock; /* cuMemAlloc */

typedef struct {
    int number, devices, current;
    guint64 seed;
    GRand *rand;
    CUcontext context[MODEL_DEVICES];
    CUstream stream[2]; /* of device 0 */
    CUevent event;
    ModelMemory memory[MODEL_SLOTS];
    ModelTeam team[2];
    ModelRange range[MODEL_SLOTS];
    ModelBlock block[MODEL_SLOTS];
    guint64 calls, team_writes, processes;
    GString *log; /* the last calls */
    char *wrong;  /* what the driver did against the model; NULL so far */
} Model;

Model *model_new(int number, guint64 seed, int devices);
void model_free(Model *model);      /* ends with a look at all bytes, and gives everything back */
void model_processes(Model *model); /* fork and exec */
void model_step(Model *model);      /* one call, or a few that belong together */

/* ---- of model_calls.c for model_copies.c, and the reverse */
guint model_below(Model *model, guint bound);
/* A call and what it is to give: notes it, and sets model->wrong where it gave something else. TRUE: success. */
gboolean model_expect(Model *model, CUresult want, CUresult got, const char *format, ...) G_GNUC_PRINTF(4, 5);
gboolean model_context(Model *model, int device); /* is current from now on; what was under way is over */
void model_complain(Model *model, const char *format, ...) G_GNUC_PRINTF(2, 3);
void model_copy(Model *model); /* a copy or fill, or a burst of them on streams */
void model_look(Model *model, CUdeviceptr va, const guint8 *image, size_t bytes); /* the device has these bytes */

#endif
