/* GLib's translations, for WebAssembly: there are none, so that each text stands for itself. Declared here as GLib
 * declares them, whose own header would take names for macros. */
const char *glib_gettext(const char *text);
const char *glib_pgettext(const char *text, unsigned long offset);
const char *g_dgettext(const char *domain, const char *text);
const char *g_dngettext(const char *domain, const char *one, const char *many, unsigned long n);
const char *g_dpgettext(const char *domain, const char *text, unsigned long offset);
const char *g_strip_context(const char *id, const char *text);

const char *glib_gettext(const char *text) { return text; }
const char *glib_pgettext(const char *text, unsigned long offset) { return text + offset; }
const char *g_dgettext(const char *domain, const char *text) { return (void)domain, text; }
const char *g_dngettext(const char *domain, const char *one, const char *many, unsigned long n)
{
    return (void)domain, n == 1 ? one : many;
}
const char *g_dpgettext(const char *domain, const char *text, unsigned long offset)
{
    return (void)domain, text + offset;
}
const char *g_strip_context(const char *id, const char *text) { return (void)id, text; }
