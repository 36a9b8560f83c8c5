/* libfanout_find.so: the run-time linker's auditor (LD_AUDIT) in every process below `fanout exec`. The linker asks it
 * where each library is before it looks anywhere itself, and it answers for those of FANOUT_LIBRARIES: lines of
 * NAME=PATH. So Fanout's libraries are found first also by programs that name their own folder (DT_RPATH, as PyTorch
 * does) or a whole path, where LD_LIBRARY_PATH comes too late.
 *
 * A library's name is its file's, with or without further numbers behind: libcudart.so.13 stands for
 * libcudart.so.13.0.96, too. An auditor lives apart from the program, with libraries of its own. This one needs none,
 * not even the C library, so that no second one is loaded: hence its own loops. */
#include <link.h>

#define EXPORT __attribute__((visibility("default")))
#define TEXT_BYTES 65536 /* FANOUT_LIBRARIES is not longer: cli/exec/found.c */

static char text[TEXT_BYTES]; /* the lines, each NAME and PATH ended by a NUL of its own; an empty one ends them */

EXPORT unsigned la_version(unsigned version);
EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag);

/* How much of `of` comes first in `at`, if all of it does; else 0. */
static unsigned begins(const char *at, const char *of)
{
    unsigned n = 0;

    while (of[n] && at[n] == of[n])
        n++;
    return of[n] ? 0 : n;
}

/* The linker hands a library's constructor what it hands main(). */
__attribute__((constructor)) static void read_environment(int argc, char **argv, char **environment)
{
    static const char variable[] = "FANOUT_LIBRARIES=";
    unsigned n = 0;

    (void)argc;
    (void)argv;
    while (*environment && !begins(*environment, variable))
        environment++;
    if (!*environment)
        return;
    int in_name = 1;
    for (const char *at = *environment + sizeof variable - 1; *at && n < TEXT_BYTES - 2; at++) {
        int ends = *at == (in_name ? '=' : '\n');
        text[n++] = (char)(ends ? '\0' : *at);
        in_name ^= ends;
    }
}

static const char *next(const char *at)
{
    while (*at)
        at++;
    return at + 1;
}

/* No library's calls are to be watched: la_objopen() and la_symbind() are left out, and calls cost what they did. */
unsigned la_version(unsigned version) { return version < LAV_CURRENT ? version : LAV_CURRENT; }

char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
    const char *file = name;

    (void)cookie;
    (void)flag;
    for (const char *at = name; *at; at++)
        if (*at == '/')
            file = at + 1;
    for (const char *known = text; *known; known = next(next(known))) {
        unsigned n = begins(file, known);
        if (n > 0 && (file[n] == '\0' || file[n] == '.'))
            return (char *)(uintptr_t)next(known);
    }
    return (char *)(uintptr_t)name;
}
