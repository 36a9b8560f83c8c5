/* Between GLib and functions that take fewer arguments than it passes; see casts.sed. */
#ifndef WEB_CASTS_H
#define WEB_CASTS_H

static inline int web_compare(const void *a, const void *b, void *compare)
{
    return ((int (*)(const void *, const void *))compare)(a, b);
}

static inline void web_free(void *data, void *release) { ((void (*)(void *))release)(data); }

#endif
