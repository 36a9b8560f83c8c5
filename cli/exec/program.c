/* See program.h. */
#include "cli/exec/program.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of the kind that this machine runs, and asks for no run-time linker. FALSE for scripts. */
static gboolean is_static(int fd)
{
    Elf64_Ehdr head;
    Elf64_Phdr part;

    if (read(fd, &head, sizeof head) != sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof part)
        return FALSE;
    for (guint i = 0; i < head.e_phnum; i++) {
        const off_t at = (off_t)(head.e_phoff + i * sizeof part);
        if (pread(fd, &part, sizeof part, at) != sizeof part || part.p_type == PT_INTERP)
            return FALSE;
    }
    return TRUE;
}

char *program_why_no_call(const char *program)
{
    g_autofree char *path = g_find_program_in_path(program);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    struct stat st = {0};
    const char *why = "it makes none (questions for versions do not count), starts what makes them with another "
                      "environment, or starts a program that is linked statically or setuid";

    if (fd >= 0 && fstat(fd, &st) == 0) {
        if ((st.st_mode & S_ISUID) && st.st_uid != getuid())
            why = "it is setuid, and for such a program the loader puts nothing in place of a library";
        else if (is_static(fd))
            why = "it is linked statically, and nothing can be put in place of a library that is part of it";
    }
    if (fd >= 0)
        close(fd);
    return g_strdup_printf("no call of '%s' reached Fanout: %s", program, why);
}
