/* The part of the proof of quiet that waits for packets on their way between sockets of the host. */
#include "tests/test.h"

#include "machine/engine/tree_parts.h"

#include <glib/gstdio.h>
#include <unistd.h>

typedef struct {
    Tree *tree;
    char *path;
    const char *later; /* what the kernel's file is to say in a moment */
    gint changed;
} Fixture;

static void put(const char *path, const char *text) { assert_true(g_file_set_contents(path, text, -1, NULL)); }

/* The file is written in place, as that of the kernel changes. */
static void put_over(const char *path, const char *text)
{
    FILE *file = fopen(path, "r+");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
}

static void begin(Fixture *f, const char *text)
{
    int fd = g_file_open_tmp("fanout-packets-XXXXXX", &f->path, NULL);

    assert_true(fd >= 0);
    close(fd);
    put(f->path, text);
    f->tree = tree_new(getpid(), FALSE);
    for (int i = 0; i < 2; i++) /* one thread sends itself nothing */
        g_ptr_array_add(f->tree->order, NULL);
    tree_packets_close(f->tree);
    tree_packets_open(f->tree, f->path);
}

static void end(Fixture *f)
{
    tree_free(f->tree);
    g_unlink(f->path);
    g_free(f->path);
}

static gpointer change_main(gpointer data)
{
    Fixture *f = data;

    g_usleep(500);
    g_atomic_int_set(&f->changed, 1);
    put_over(f->path, f->later);
    return NULL;
}

/* In a line of the kernel's file: packets taken up first, those that wait in the twelfth place, then others. */
#define LINE(done, backlog)                                                                                            \
    done " 00000007 0000000a 0 0 0 0 0 00000000 00000000 00000000 " backlog " 00000000 00000000\n"

/* Nothing waits: the proof goes on at once. So it does where an older kernel does not say what waits. */
static void test_nothing_waits(void **state)
{
    Fixture f;

    (void)state;
    begin(&f, LINE("00000bcd", "00000000") LINE("00000001", "00000000"));
    assert_true(tree_packets_arrive(f.tree));
    end(&f);
    begin(&f, "00000bcd 00000007 0000000a 0 0 0 0 0 00000000 00000000 00000000\n");
    assert_true(tree_packets_arrive(f.tree));
    end(&f);
    begin(&f, "");
    assert_true(tree_packets_arrive(f.tree));
    end(&f);
}

static void wait_for(const char *before, const char *later)
{
    Fixture f = {.later = later};

    begin(&f, before);
    GThread *thread = g_thread_new("change", change_main, &f);
    assert_true(tree_packets_arrive(f.tree));
    assert_int_equal(g_atomic_int_get(&f.changed), 1); /* not before */
    g_thread_join(thread);
    end(&f);
}

/* Three packets wait on the second processor: the proof waits until these three were taken up, though others have come
 * meanwhile; or until none waits; and the count may begin anew at 2^32. */
static void test_waits_for_those_that_were_there(void **state)
{
    (void)state;
    wait_for(LINE("00000bcd", "00000000") LINE("00000010", "00000003"),
             LINE("00000bcd", "00000000") LINE("00000013", "00000002"));
    wait_for(LINE("00000bcd", "00000000") LINE("00000010", "00000003"),
             LINE("00000bcd", "00000000") LINE("00000010", "00000000"));
    wait_for(LINE("ffffffff", "00000002"), LINE("00000001", "00000001"));
}

/* What is never taken up ends the wait, without proof; also of the last of so many processors that the kernel gives
 * their lines in several pieces. */
static void test_gives_up(void **state)
{
    Fixture f;
    g_autoptr(GString) many = g_string_new(NULL);

    (void)state;
    for (int i = 0; i < 300; i++)
        g_string_append(many, LINE("00000bcd", "00000000"));
    g_string_append(many, LINE("00000010", "00000003"));
    begin(&f, many->str);
    assert_false(tree_packets_arrive(f.tree));
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_waits),
        cmocka_unit_test(test_waits_for_those_that_were_there),
        cmocka_unit_test(test_gives_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
