/* What the core takes of GIO, for WebAssembly: codes of errors, and files that glib-compile-resources put into the
 * program. Nothing else of GIO is built there. web/resource.c reads them. */
#ifndef WEB_GIO_H
#define WEB_GIO_H

#include <glib.h>

#define G_IO_ERROR g_quark_from_static_string("g-io-error-quark")
typedef enum {
    G_IO_ERROR_FAILED,
    G_IO_ERROR_NO_SPACE,
    G_IO_ERROR_INVALID_ARGUMENT,
    G_IO_ERROR_NOT_SUPPORTED
} GIOErrorEnum;
static inline GIOErrorEnum g_io_error_from_errno(int number) { return (void)number, G_IO_ERROR_FAILED; }

typedef enum { G_RESOURCE_LOOKUP_FLAGS_NONE } GResourceLookupFlags;

typedef struct {
    const guint8 *data; /* of the generated source */
    gsize bytes;
} GResource;

typedef struct { /* in the layout in which the generated source fills it in */
    const guint8 *data;
    gsize bytes;
    GResource *resource; /* made when it is first asked for */
    gpointer next, padding;
} GStaticResource;

void g_static_resource_init(GStaticResource *resource);
void g_static_resource_fini(GStaticResource *resource);
GResource *g_static_resource_get_resource(GStaticResource *resource);
/* The bytes of a file, which live as long as the program; NULL with an error where there is none. */
GBytes *g_resource_lookup_data(GResource *resource, const char *path, GResourceLookupFlags flags, GError **error);
/* The names in a folder (g_strfreev), in order of the alphabet. */
char **g_resource_enumerate_children(GResource *resource, const char *path, GResourceLookupFlags flags, GError **error);

#endif
