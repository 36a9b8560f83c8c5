/* Modules, libraries, kernels and functions as objects of the driver API.
 *
 * A Program (program.h) is what was read; a Module is a program in one context: its variables have memory there. A
 * Library is a program that gets a module in every context that uses it. A Kernel is an entry of a library, a Function
 * an entry of a module; either may be launched. */
#ifndef API_CUDA_MODULE_MODULE_H
#define API_CUDA_MODULE_MODULE_H

#include "api/cuda/context/ctx.h"
#include "api/cuda/module/program.h"
#include "machine/engine/kernel.h"

typedef struct Module Module;
typedef struct Library Library;

/* What cuFuncSetAttribute and its like set. */
typedef struct {
    guint dynamic_shared_max; /* bytes */
    int carveout;             /* CUshared_carveout, or percent */
    guint cluster[3];         /* asked for at run time; 0: not */
    gboolean non_portable;
    int cluster_policy;
    CUfunc_cache cache;
} Settings;

typedef struct Function {
    guint64 handle;
    Module *module;
    Entry *entry;
    Settings own, *settings; /* its own, or the kernel's of that device */
    gboolean loaded;
} Function;

typedef struct Kernel {
    guint64 handle;
    Library *library;
    Entry *entry;
    GHashTable *settings; /* ordinal of a device -> Settings */
} Kernel;

struct Module {
    guint64 handle;
    Context *context;
    Program *program;
    PtxImage *image;
    guint64 global_va, const_va; /* of the memory of its variables, or 0 */
    GHashTable *functions;       /* Entry -> Function */
    Library *library;            /* NULL: loaded by itself */
};

struct Library {
    guint64 handle;
    Program *program;
    GPtrArray *modules;  /* Module, by context */
    GHashTable *kernels; /* Entry -> Kernel */
};

Module *module_get(Call *call, CUmodule handle); /* NULL: not a live module */
CUresult module_new(Call *call, Context *context, Program *program, Module **module);
void module_free(Call *call, Module *module); /* waits for nothing */
void module_context_gone(Call *call, Context *context);
CUresult module_function(Call *call, Module *module, Entry *entry, Function **function);
/* INVALID_VALUE, NOT_FOUND: as cuModuleGetGlobal. managed: only such variables. */
CUresult module_global(Call *call, Module *module, const char *name, gboolean managed, CUdeviceptr *address,
                       size_t *bytes);

Library *library_get(Call *call, CUlibrary handle);
Kernel *kernel_get(Call *call, CUkernel handle);
/* The library's module in a context, made at the first use. */
CUresult library_module(Call *call, Library *library, Context *context, Module **module);

/* The function that a CUfunction means: one of a module, or a kernel in the current context. */
CUresult function_get(Call *call, CUfunction handle, Function **function);

/* settings.c */
Settings *kernel_settings(Kernel *kernel, int device); /* of the kernel on a device, made at the first use */
void settings_init(Settings *settings, const Entry *entry);
/* Attributes of an entry with such settings on a device. */
CUresult settings_get(Call *call, const Entry *entry, const Program *program, const Settings *settings, int device,
                      CUfunction_attribute attribute, int *value);
CUresult settings_set(Call *call, const Entry *entry, Settings *settings, int device, CUfunction_attribute attribute,
                      int value);
guint threads_max(Call *call, const Entry *entry, int device); /* of a CTA */
CUresult entry_parameter(const Entry *entry, size_t index, size_t *offset, size_t *bytes);

/* launch.c: what a launch asks for, checked; param is owned. */
typedef struct Launch {
    Function *function;
    KernelSpec spec;
    guint8 *param;
    int priority;
    gboolean programmatic; /* may start before the work ahead of it has ended */
    CUevent event;         /* to record behind it; NULL: none */
} Launch;
void launch_clear(Launch *launch);
/* launch_attribute.c: one of those that cuLaunchKernelEx takes. */
CUresult launch_attribute(Call *call, Launch *launch, const CUlaunchAttribute *attribute);
CUresult launch_prepare(Call *call, const CUlaunchConfig *config, CUfunction function, void **params, void **extra,
                        Launch *launch);
CUresult launch_submit(Call *call, const Stream *stream, const Launch *launch);

#endif
