#!/bin/sh
# Prepares GLib's sources for emscripten: glib.sh SOURCE FOLDER. SOURCE is the unpacked source of Debian's package;
# FOLDER gets glibconfig.h and private/config.h. Meson is not used, since it would look for libffi, PCRE and a resolver,
# none of which the simulator needs: what it would find of a 32-bit musl without processes stands below.
set -eu
source=$1 out=$2
mkdir -p "$out/private"

version() { sed -n "s/^ *version *: '\([0-9.]*\)'.*/\1/p" "$source/meson.build" | head -n 1; }
IFS=. read -r major minor micro <<VERSION
$(version)
VERSION

# ---- glibconfig.h: types of wasm32, where int, long and pointers have 32 bits
put() { set -- "$1" "$(printf '%s' "$2" | sed 's/[&|\\]/\\&/g')"; edits="$edits
s|@$1@|$2|g"; }
edits=
put GLIB_MAJOR_VERSION "$major"; put GLIB_MINOR_VERSION "$minor"; put GLIB_MICRO_VERSION "$micro"
put gint16 short; put gint16_modifier '"h"'; put gint16_format '"hi"'; put guint16_format '"hu"'
put gint32 int; put gint32_modifier '""'; put gint32_format '"i"'; put guint32_format '"u"'
put glib_extension ''; put gint64 'long long'; put gint64_constant '(val##LL)'; put guint64_constant '(val##ULL)'
put gint64_modifier '"ll"'; put gint64_format '"lli"'; put guint64_format '"llu"'
put glib_void_p 4; put glib_long 4; put glib_size_t 4; put glib_ssize_t 4
put glib_size_type_define long; put gsize_modifier '"l"'; put gssize_modifier '"l"'
put gsize_format '"lu"'; put gssize_format '"li"'; put glib_msize_type LONG
put g_pollfd_format '"%d"'; put glib_gpi_cast '(gint)'; put glib_gpui_cast '(guint)'; put glib_intptr_type_define int
put gintptr_modifier '""'; put gintptr_format '"i"'; put guintptr_format '"u"'
put glib_os '#define G_OS_UNIX'; put glib_vacopy '#define G_VA_COPY va_copy'; put g_threads_impl_def POSIX
put gintbits 32; put glongbits 32; put gsizebits 32; put gssizebits 32
put g_byte_order G_LITTLE_ENDIAN; put g_bs_native LE; put g_bs_alien BE
put g_pollin 1; put g_pollout 4; put g_pollpri 2; put g_pollhup 16; put g_pollerr 8; put g_pollnval 32
put g_module_suffix so; put g_pid_type int; put g_pid_format '"i"'
put g_af_unix 1; put g_af_inet 2; put g_af_inet6 10; put g_msg_oob 1; put g_msg_peek 2; put g_msg_dontroute 4
put g_dir_separator /; put g_searchpath_separator :
yes='GLIB_HAVE_ALLOCA_H\|GLIB_USING_SYSTEM_PRINTF\|G_ATOMIC_LOCK_FREE'
sed -e "$edits" -e 's|^#mesondefine \('"$yes"'\)|#define \1 1|' \
    -e 's|^#mesondefine \(G_VA_COPY_AS_ARRAY\|G_HAVE_ISO_VARARGS\|G_HAVE_GNUC_VISIBILITY\)|#define \1 1|' \
    -e 's|^#mesondefine G_HAVE_GROWING_STACK|#define G_HAVE_GROWING_STACK 0|' \
    -e 's|^#mesondefine \([A-Z_]*STATIC[A-Z_]*\|FFI_STATIC_BUILD\)|#define \1 1|' \
    -e 's|^#mesondefine .*||' "$source/glib/glibconfig.h.in" >"$out/glibconfig.h"
if grep -n '@[a-z0-9_A-Z]*@' "$out/glibconfig.h"; then
    echo "glib.sh: GLib $major.$minor.$micro asks for what is not known here, above" >&2
    exit 1
fi

# ---- config.h: what musl as emscripten has it offers; what only processes, sockets and locales need is left out
{
    echo "#define GLIB_MAJOR_VERSION $major"
    echo "#define GLIB_MINOR_VERSION $minor"
    echo "#define GLIB_MICRO_VERSION $micro"
    echo "#define GLIB_INTERFACE_AGE $micro"
    echo "#define GLIB_BINARY_AGE $((minor * 100 + micro))"
    for name in HAVE_ALLOCA_H HAVE_DIRENT_H HAVE_FLOAT_H HAVE_INTTYPES_H HAVE_LIMITS_H HAVE_LOCALE_H HAVE_MEMORY_H \
        HAVE_POLL_H HAVE_PWD_H HAVE_SCHED_H HAVE_STDINT_H HAVE_STDLIB_H HAVE_STRINGS_H HAVE_STRING_H HAVE_SYS_PARAM_H \
        HAVE_SYS_POLL_H HAVE_SYS_RESOURCE_H HAVE_SYS_SELECT_H HAVE_SYS_STAT_H HAVE_SYS_TIMES_H HAVE_SYS_TIME_H \
        HAVE_SYS_TYPES_H HAVE_SYS_UIO_H HAVE_SYS_WAIT_H HAVE_UNISTD_H HAVE_WCHAR_H HAVE_LANGINFO_CODESET \
        HAVE_CODESET HAVE_C99_SNPRINTF HAVE_C99_VSNPRINTF HAVE_UNIX98_PRINTF HAVE_VSNPRINTF HAVE_SNPRINTF \
        HAVE_STRERROR_R \
        HAVE_CLOCK_GETTIME HAVE_FCHMOD HAVE_FSYNC HAVE_FTRUNCATE HAVE_GETTIMEOFDAY HAVE_GMTIME_R HAVE_LOCALTIME_R \
        HAVE_LSTAT HAVE_MMAP HAVE_POSIX_MEMALIGN HAVE_MEMALIGN HAVE_READLINK HAVE_SETENV HAVE_UNSETENV HAVE_STPCPY \
        HAVE_STRCASECMP HAVE_STRNCASECMP HAVE_STRNLEN HAVE_STRSIGNAL HAVE_SYMLINK HAVE_TIMEGM HAVE_POLL HAVE_ISINF \
        HAVE_ISNAN \
        HAVE_DECL_ISINF HAVE_DECL_ISNAN HAVE_LONG_LONG HAVE_LONG_DOUBLE HAVE_INTMAX_T HAVE_WINT_T \
        HAVE_WCHAR_T HAVE_PTRDIFF_T HAVE_PTHREAD_ATTR_SETSTACKSIZE HAVE_PTHREAD_CONDATTR_SETCLOCK THREADS_POSIX \
        HAVE_INTTYPES_H_WITH_UINTMAX HAVE_STDINT_H_WITH_UINTMAX STDC_HEADERS HAVE_VASPRINTF USE_SYSTEM_PRINTF \
        HAVE_UNISTD_H HAVE_FCHOWN HAVE_GOOD_PRINTF; do
        echo "#define $name 1"
    done
    echo '#define GLIB_LOCALE_DIR "/usr/share/locale"'
    echo '#define GETTEXT_PACKAGE "glib20"'
    echo '#define LOCALSTATEDIR "/var"'
    echo '#define GLIB_RUNSTATEDIR "/run"'
    echo '#define ALIGNOF_GUINT32 4'
    echo '#define ALIGNOF_GUINT64 8'
    echo '#define ALIGNOF_UNSIGNED_LONG 4'
    echo '#define SIZEOF_CHAR 1'
    echo '#define SIZEOF_SHORT 2'
    echo '#define SIZEOF_INT 4'
    echo '#define SIZEOF_LONG 4'
    echo '#define SIZEOF_LONG_LONG 8'
    echo '#define SIZEOF_SIZE_T 4'
    echo '#define SIZEOF_SSIZE_T 4'
    echo '#define SIZEOF_VOID_P 4'
    echo '#define SIZEOF_WCHAR_T 4'
    echo '#define G_INTL_STATIC_COMPILATION 1'
    echo '#define _GNU_SOURCE 1'
    echo '#define USE_STATFS 0'
    echo '#define EXEEXT ""'
    echo '#define _GLIB_EXTERN __attribute__((visibility("default"))) extern'
} >"$out/private/config.h"
cp "$source/glib/gnulib/gnulib_math.h.in" "$out/private/gnulib_math.h"
