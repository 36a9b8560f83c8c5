/* Fatbinaries: the PTX in what compilers hand to a loader.
 *
 * Format, as nvcc 13 writes it (decoded from its output, in all five modes of compression): a header (magic
 * 0xba55ed50, u16 version 1, u16 header bytes, u64 bytes of what follows), then entries: u16 kind (1 PTX, 2 ELF), u16
 * version, u32 header bytes, u64 payload bytes, u32 compressed bytes (0: plain), u32 place of the options in the
 * header, u16 minor and u16 major PTX ISA, u32 architecture, u32 and u32 of a name, u64 flags (0x2000 LZ4 block,
 * 0x8000 zstd frame), u64, u64 uncompressed bytes. The options are u32 place of a text in the header and u32 its bytes:
 * what the assembler shall be told when it turns this PTX into machine code ("-maxrregcount=96"). All little-endian. */
#ifndef PTX_READ_FATBIN_H
#define PTX_READ_FATBIN_H

#include "ptx/read/lex.h"

#define PTX_FATBIN_MAGIC 0xba55ed50u
#define PTX_FATBIN_BYTES_MAX (G_GUINT64_CONSTANT(1) << 32) /* of one text when unpacked */

typedef struct {
    gboolean is_ptx; /* else machine code */
    guint arch;      /* 90: sm_90 or compute_90 */
    guint version;   /* of PTX: 90 for 9.0 */
    guint64 flags;
    guint registers_max;   /* -maxrregcount of its options; 0: not said */
    const guint8 *payload; /* in the image */
    gsize packed_bytes, bytes;
} PtxFatbinEntry;

/* The entries of a fatbinary (PtxFatbinEntry; g_array_unref). Several that stand one behind another count as one.
 * NULL: *error (PTX_LOAD_ERROR_IMAGE); name is for messages. */
GArray *ptx_fatbin_entries(const char *name, const guint8 *image, gsize bytes, GError **error);
/* How many bytes the fatbinary at `image` has, its header included: 16 bytes must be readable. 0: it is none. */
guint64 ptx_fatbin_bytes(const void *image);
/* What they are for: "sm_80, compute_90", each once. */
char *ptx_fatbin_targets(const GArray *entries);
/* The text of the PTX that suits a device best: the highest architecture up to its own. An image without one is
 * refused with the architectures that it has and how to build one that has PTX. sm 0: the highest of all.
 * *registers_max (may be NULL): as in the entry. */
char *ptx_fatbin_choose(const char *name, const guint8 *image, gsize bytes, guint sm, gsize *text_bytes,
                        guint *registers_max, GError **error);

#endif
