/* A PTX module: what one image, or several linked ones, declares; bodies of functions stay text until they are
 * first needed (code.h).
 *
 * Modelled: .entry and .func with .param and .reg parameters, .extern, .visible, .weak, .common, .alias; variables
 * of all state spaces with initialisers that hold addresses of variables and functions; performance directives.
 * Every variable of .global and .const gets a place in its bank; the bank's address is given when the module is
 * loaded into a context (image.h), so that one module serves many.
 * Left out: .section (debug information is skipped), .pragma (skipped), .branchtargets outside functions. */
#ifndef PTX_READ_MODULE_H
#define PTX_READ_MODULE_H

#include "ptx/read/lex.h"
#include "ptx/read/optable.h"

typedef enum {
    SPACE_GENERIC,
    SPACE_GLOBAL,
    SPACE_CONST,
    SPACE_SHARED,
    SPACE_LOCAL,
    SPACE_PARAM,
    SPACE_REG,
    SPACE_CODE,
    SPACE_SHARED_CLUSTER
} PtxSpace;
typedef enum { LINK_STATIC, LINK_VISIBLE, LINK_EXTERN, LINK_WEAK, LINK_COMMON } PtxLinkage;

#define PTX_PARAM_BYTES_MAX 32764u /* of a kernel */
#define PTX_FUNC_PARAM_BYTES_MAX 65536u
#define PTX_SHARED_BYTES_MAX (256u << 10)
#define PTX_LOCAL_BYTES_MAX (512u << 10) /* of a thread */
#define PTX_BANK_BYTES_MAX (G_GUINT64_CONSTANT(1) << 40)
#define PTX_ALIGN_MAX 4096u
#define PTX_CONST_BYTES_MAX (10u * 65536u)

typedef struct PtxUnit PtxUnit;
typedef struct PtxFunction PtxFunction;
typedef struct PtxSymbol PtxSymbol;

/* A word of an initialiser that is known only once addresses are. */
typedef struct {
    guint64 offset;
    guint32 bytes; /* 4, 8; 1 with `shift`: a byte of the address (mask() operator) */
    guint8 shift;
    gboolean generic;
    PtxSymbol *target; /* a variable or a function */
    gint64 addend;
} PtxReloc;

struct PtxSymbol {
    char *name;
    PtxUnit *unit;
    guint8 space;        /* PtxSpace; SPACE_CODE: function */
    guint8 linkage;      /* PtxLinkage */
    guint8 type;         /* PtxType of an element */
    gboolean open_array; /* .extern .shared x[] */
    gboolean managed;
    guint32 line, column;
    guint64 bytes, align;
    guint64 offset;        /* in its bank (.global, .const, .shared of the module) */
    GByteArray *data;      /* initial bytes, shorter than `bytes` or NULL: the rest is zero */
    GArray *relocs;        /* PtxReloc, or NULL */
    PtxFunction *function; /* of SPACE_CODE */
    PtxSymbol *resolved;   /* what it stands for after linking: itself unless extern, weak or alias */
};

typedef struct {
    char *name;
    guint8 type, space; /* SPACE_PARAM or SPACE_REG */
    guint32 bytes, align;
    guint32 offset;        /* in the parameter block */
    guint32 pointer_align; /* .ptr .align, or 0 */
} PtxParam;

struct PtxFunction {
    PtxSymbol *symbol;
    PtxUnit *unit;
    guint32 index; /* in PtxModule.functions: its address is PTX_CODE_WINDOW + index */
    gboolean entry, noreturn;
    GArray *params, *rets; /* PtxParam */
    guint32 param_bytes, ret_bytes;
    guint32 maxntid[3], reqntid[3], cluster[3]; /* 0: not said */
    guint32 minnctapersm, maxnreg;
    gboolean explicit_cluster;
    const char *body, *body_end; /* behind '{'; NULL: only declared */
    const char *body_line_start;
    guint32 body_line;
    struct PtxCode *code;                    /* made when first needed, or NULL */
    void (*code_free)(struct PtxCode *code); /* of who made it */
    GError *broken;                          /* why it cannot be made */
};

/* One PTX text. */
struct PtxUnit {
    struct PtxModule *module;
    char *file;
    char *text; /* owned copy */
    gsize bytes;
    guint version;  /* 90: .version 9.0 */
    guint sm;       /* 90: .target sm_90 */
    gboolean exact; /* the "a" or "f" form of a target */
    guint address_bits;
    guint registers_max; /* of its kernels; 0: not said */
    GHashTable *symbols; /* name -> PtxSymbol, of this text */
    GPtrArray *sources;  /* .file: index -> path */
};

typedef struct PtxModule {
    GPtrArray *units, *symbols /* all, in order */, *functions;
    GHashTable *names; /* visible name -> PtxSymbol */
    PtxOpTable *ops;
    guint64 global_bytes, const_bytes, global_align;
    guint32 shared_bytes;     /* of variables at module scope */
    guint32 functions_shared; /* of variables in bodies of functions that kernels call, as far as these are made */
    gboolean linked;
    GMutex lock; /* of the making of code: by threads that ask, and the one that runs kernels */
} PtxModule;

PtxModule *ptx_module_new(void);
void ptx_module_free(PtxModule *module);
/* Reads one text; `file` names it in messages. Any number may be added before ptx_module_link. */
gboolean ptx_module_add(PtxModule *module, const char *file, const char *text, gsize bytes, GError **error);
/* The most registers that a kernel of the text added last takes, unless it says itself: as ptxas -maxrregcount. */
void ptx_module_limit_registers(PtxModule *module, guint registers);
/* Resolves names between units and lays the banks out. Externals that nothing defines are errors when a body uses them.
 */
gboolean ptx_module_link(PtxModule *module, GError **error);
/* Both for one text. NULL: *error says file, line, column. */
PtxModule *ptx_module_read(const char *file, const char *text, gsize bytes, GError **error);

PtxFunction *ptx_module_entry(const PtxModule *module, const char *name);  /* NULL: none */
PtxSymbol *ptx_module_variable(const PtxModule *module, const char *name); /* .global or .const; NULL: none */
/* Initial bytes of a bank whose address is known: bytes of SPACE_GLOBAL or SPACE_CONST. */
void ptx_module_bank(const PtxModule *module, PtxSpace space, guint64 global_base, guint64 const_base, guint8 *bytes);
guint64 ptx_symbol_address(const PtxSymbol *symbol, guint64 global_base, guint64 const_base);

/* Windows of the generic address space, above every address that a process has. */
#define PTX_WINDOW_SHIFT 48
#define PTX_SHARED_WINDOW (G_GUINT64_CONSTANT(1) << PTX_WINDOW_SHIFT)
#define PTX_LOCAL_WINDOW (G_GUINT64_CONSTANT(2) << PTX_WINDOW_SHIFT)
#define PTX_PARAM_WINDOW (G_GUINT64_CONSTANT(3) << PTX_WINDOW_SHIFT)
#define PTX_CODE_WINDOW (G_GUINT64_CONSTANT(4) << PTX_WINDOW_SHIFT)
#define PTX_CLUSTER_SHIFT 24 /* of a CTA's rank + 1 in addresses of .shared::cluster; 0: the own CTA */
/* Where a generic address lies; *offset gets what is left of it. */
static inline PtxSpace ptx_space_of(guint64 va, guint64 *offset)
{
    static const guint8 spaces[] = {SPACE_GLOBAL, SPACE_SHARED_CLUSTER, SPACE_LOCAL, SPACE_PARAM, SPACE_CODE};
    guint64 window = va >> PTX_WINDOW_SHIFT;
    if (window == 0 || window >= G_N_ELEMENTS(spaces)) {
        *offset = va;
        return SPACE_GLOBAL;
    }
    *offset = va & (PTX_SHARED_WINDOW - 1);
    return spaces[window];
}

#endif
