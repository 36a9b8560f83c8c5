/* Files in memory that processes share, and how far they are trusted.
 *
 * Another process has the same right to such a file as this one, and may be of another program. None can make it
 * shorter under another's mapping: it is sealed before anybody else gets it, and only sealed ones are taken. The owner
 * of a machine and its clients ask the same of them. */
#ifndef MACHINE_WIRE_SEALED_H
#define MACHINE_WIRE_SEALED_H

#include <glib.h>

/* A new file of so many bytes that keeps its size for good, closed on exec; -1: the host gives none. */
int sealed_new(const char *name, guint64 bytes);
/* Made so, by whichever process, and open for reading and writing. */
gboolean sealed_is_sound(int fd);
/* Which file it is (device, inode), and its bytes; FALSE: no file of memory. */
gboolean sealed_identity(int fd, guint64 identity[2], guint64 *bytes);
/* A hash of an identity of so many words. */
static inline guint sealed_identity_hash(const guint64 *identity, guint words)
{
    guint64 hash = 0;

    for (guint i = 0; i < words; i++)
        hash = hash * 31 + identity[i];
    return (guint)hash;
}

#endif
