#include "model/fabric/expression.h"

#include <string.h>

#define EXPRESSION_MAX ((gint64)1 << 31)
#define EXPRESSION_DEPTH_MAX 64 /* of parentheses */

typedef struct {
    const char *at, *end;
    const Variable *variables;
    const char *wrong;
    guint depth;
} Parser;

static gint64 parse_sum(Parser *parser);

static char parse_peek(Parser *parser)
{
    while (parser->at < parser->end && *parser->at == ' ')
        parser->at++;
    return parser->at < parser->end ? *parser->at : '\0';
}

static gint64 parse_fail(Parser *parser, const char *wrong)
{
    if (!parser->wrong)
        parser->wrong = wrong;
    parser->at = parser->end;
    return 0;
}

static gint64 parse_name(Parser *parser)
{
    const char *from = parser->at;
    while (parser->at < parser->end && g_ascii_isalpha(*parser->at))
        parser->at++;
    const gsize length = (gsize)(parser->at - from);
    for (const Variable *v = parser->variables; v->name; v++)
        if (strlen(v->name) == length && strncmp(v->name, from, length) == 0)
            return v->value;
    return parse_fail(parser, "a name that is not to the left of the arrow");
}

static gint64 parse_number(Parser *parser)
{
    gint64 value = 0;
    for (; parser->at < parser->end && g_ascii_isdigit(*parser->at); parser->at++) {
        value = value * 10 + (*parser->at - '0');
        if (value > EXPRESSION_MAX)
            return parse_fail(parser, "a number that is too large");
    }
    return value;
}

static gint64 parse_factor(Parser *parser)
{
    const char c = parse_peek(parser);
    if (g_ascii_isdigit(c))
        return parse_number(parser);
    if (g_ascii_isalpha(c))
        return parse_name(parser);
    if (c != '(')
        return parse_fail(parser, "a number, a name or a parenthesis is missing");
    if (++parser->depth > EXPRESSION_DEPTH_MAX)
        return parse_fail(parser, "too many parentheses");
    parser->at++;
    gint64 value = parse_sum(parser);
    if (parse_peek(parser) != ')')
        return parse_fail(parser, "a closing parenthesis is missing");
    parser->at++;
    parser->depth--;
    return value;
}

static gint64 parse_checked(Parser *parser, gint64 value)
{
    if (value > EXPRESSION_MAX || value < -EXPRESSION_MAX)
        return parse_fail(parser, "a number that is too large");
    return value;
}

static gint64 parse_product(Parser *parser)
{
    gint64 value = parse_factor(parser);
    for (;;) {
        const char c = parse_peek(parser);
        if (c != '*' && c != '/' && c != '%')
            return value;
        parser->at++;
        const gint64 by = parse_factor(parser);
        if (c != '*' && by == 0)
            return parse_fail(parser, "a division by zero");
        value = parse_checked(parser, c == '*' ? value * by : c == '/' ? value / by : value % by);
    }
}

static gint64 parse_sum(Parser *parser)
{
    gint64 value = parse_product(parser);
    for (;;) {
        const char c = parse_peek(parser);
        if (c != '+' && c != '-')
            return value;
        parser->at++;
        const gint64 by = parse_product(parser);
        value = parse_checked(parser, c == '+' ? value + by : value - by);
    }
}

gboolean expression_value(const char *text, gsize length, const Variable *variables, gint64 *value, const char **wrong)
{
    Parser parser = {.at = text, .end = text + length, .variables = variables};
    *value = parse_sum(&parser);
    if (!parser.wrong && parse_peek(&parser) != '\0')
        parser.wrong = "something that is no whole-number expression";
    *wrong = parser.wrong;
    return !parser.wrong;
}
