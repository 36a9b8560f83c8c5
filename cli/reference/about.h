/* What help and manual pages say of a verb beyond its options: what it is for, and command lines to copy. */
#ifndef CLI_REFERENCE_ABOUT_H
#define CLI_REFERENCE_ABOUT_H

/* line: behind the word fanout, "coll all_reduce -b 64M"; text: what it answers. A test runs them all, in a folder that
 * has the files which tests/cli/inputs.sh makes (one.trace, spec.ini, swept.db, a.json ...). */
typedef struct {
    const char *line, *text;
} AboutExample;

typedef struct {
    const char *verb;
    const AboutExample *examples; /* ends with {NULL, NULL} */
    const char *text;             /* paragraphs, with a newline between them */
} About;

/* NULL: no such verb. */
const About *about_find(const char *verb);

#endif
