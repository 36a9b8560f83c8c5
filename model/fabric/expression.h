/* Whole-number expressions of wiring rules: "gpu/8", "(link + 1) % 4". */
#ifndef MODEL_FABRIC_EXPRESSION_H
#define MODEL_FABRIC_EXPRESSION_H

#include <glib.h>

typedef struct {
    const char *name;
    gint64 value;
} Variable;

/* The value of text[0..length-1] with the variables, up to one without name. FALSE: *wrong says what is amiss with it
 * (not owned), as for a division by zero, an unknown name, or numbers beyond 2^31. */
gboolean expression_value(const char *text, gsize length, const Variable *variables, gint64 *value, const char **wrong);

#endif
