# GLib calls functions of one or two arguments through pointers to functions of two or three, which WebAssembly ends the
# program for. In these places a function of web/include/casts.h stands between.
s/(GFunc) free_func, NULL/(GFunc) web_free, (gpointer) free_func/
s/(GFunc) \(compare_func\|func\), NULL/(GFunc) web_compare, (gpointer) \1/
s/(GCompareDataFunc) key_compare_func, NULL/web_compare, (gpointer) key_compare_func/
/(GCompareDataFunc)compare_func,$/{
N
s/(GCompareDataFunc)compare_func,\n *NULL/web_compare, (gpointer) compare_func/
}
