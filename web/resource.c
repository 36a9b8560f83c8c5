/* Files inside the program, for WebAssembly: a reader of what glib-compile-resources writes, GVDB's format.
 *
 * The file begins with a signature of 8 bytes, a version, options, and where its only table lies. A table is a number
 * of words of a Bloom filter, a number of buckets, the filter, the buckets, and then items of 24 bytes: a hash, the
 * number of the parent, where the key lies and how long it is, the kind, and where the value lies. A whole name is the
 * parent's name and the key. The value of a file ('v') is its size, flags, and its bytes. There are a dozen files: all
 * items are looked at. Source: the public description of GVDB, and files that the tool had written. */
#include <gio/gio.h>
#include <string.h>

typedef struct {
    guint32 hash, parent, key_start;
    guint16 key_bytes;
    char kind, unused;
    guint32 start, end;
} ResourceItem;

enum { RESOURCE_HEADER_BYTES = 24, RESOURCE_ROOT_AT = 16, RESOURCE_NO_PARENT = -1 };

static guint32 resource_word(const GResource *resource, gsize at)
{
    guint32 word;
    g_assert(at + sizeof word <= resource->bytes);
    memcpy(&word, resource->data + at, sizeof word);
    return GUINT32_FROM_LE(word);
}

static ResourceItem resource_item(const GResource *resource, gsize items_at, guint index)
{
    ResourceItem item;
    memcpy(&item, resource->data + items_at + index * sizeof item, sizeof item);
    return item;
}

/* Where the items stand, and how many there are. */
static gsize resource_items(const GResource *resource, guint *n)
{
    const gsize start = resource_word(resource, RESOURCE_ROOT_AT), end = resource_word(resource, RESOURCE_ROOT_AT + 4);
    const gsize filter = resource_word(resource, start) & ((1u << 27) - 1),
                buckets = resource_word(resource, start + 4);
    const gsize at = start + 8 + 4 * (filter + buckets);
    *n = (guint)((end - at) / sizeof(ResourceItem));
    return at;
}

static char *resource_name(const GResource *resource, gsize items_at, guint index)
{
    const ResourceItem item = resource_item(resource, items_at, index);
    g_autofree char *before = item.parent == (guint32)RESOURCE_NO_PARENT
                                  ? g_strdup("")
                                  : resource_name(resource, items_at, item.parent);
    return g_strdup_printf("%s%.*s", before, item.key_bytes, (const char *)resource->data + item.key_start);
}

void g_static_resource_init(GStaticResource *resource) { (void)resource; }
void g_static_resource_fini(GStaticResource *resource) { g_clear_pointer(&resource->resource, g_free); }

GResource *g_static_resource_get_resource(GStaticResource *resource)
{
    if (!resource->resource) {
        resource->resource = g_new(GResource, 1);
        *resource->resource = (GResource){resource->data, resource->bytes};
    }
    return resource->resource;
}

GBytes *g_resource_lookup_data(GResource *resource, const char *path, GResourceLookupFlags flags, GError **error)
{
    guint n;
    const gsize at = resource_items(resource, &n);
    (void)flags;
    for (guint i = 0; i < n; i++) {
        const ResourceItem item = resource_item(resource, at, i);
        g_autofree char *name = resource_name(resource, at, i);
        if (item.kind == 'v' && strcmp(name, path) == 0)
            return g_bytes_new_static(resource->data + item.start + 8, resource_word(resource, item.start));
    }
    g_set_error(error, g_quark_from_static_string("resource"), 0, "there is no file '%s' in the program", path);
    return NULL;
}

static int resource_compare(gconstpointer a, gconstpointer b) { return strcmp(*(char *const *)a, *(char *const *)b); }

char **g_resource_enumerate_children(GResource *resource, const char *path, GResourceLookupFlags flags, GError **error)
{
    guint n;
    const gsize at = resource_items(resource, &n), length = strlen(path);
    GPtrArray *names = g_ptr_array_new();
    (void)flags, (void)error;
    for (guint i = 0; i < n; i++) {
        g_autofree char *name = resource_name(resource, at, i);
        const char *rest = g_str_has_prefix(name, path) ? name + length + (name[length] == '/') : "";
        if (resource_item(resource, at, i).kind == 'v' && *rest && !strchr(rest, '/'))
            g_ptr_array_add(names, g_strdup(rest));
    }
    g_ptr_array_sort(names, resource_compare);
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}
