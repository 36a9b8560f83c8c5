/* Reads a PTX text at module scope. Bodies are skipped, not read. */
#include <string.h>

#include "ptx/read/parse.h"

typedef struct {
    PtxUnit *unit;
    PtxLex lex;
    GError **error;
} Parser;

#define FAIL(parser, token, code, ...) ptx_lex_fail(&(parser)->lex, token, code, (parser)->error, __VA_ARGS__)

static gboolean take_number(Parser *parser, guint64 most, guint64 *value)
{
    PtxToken token = parser->lex.token;
    if (token.kind != TOKEN_INTEGER || token.value > most)
        return FAIL(parser, &token, PTX_LOAD_ERROR_SYNTAX, "a number of at most %" G_GUINT64_FORMAT " is expected here",
                    most);
    *value = token.value;
    ptx_lex_next(&parser->lex);
    return TRUE;
}

/* ---- directives of the text */

static gboolean parse_version(Parser *parser)
{
    PtxLex *lex = &parser->lex;
    PtxToken token = lex->token;
    guint major = 0, minor = 0;
    double value;
    if (token.kind == TOKEN_F64 && token.length < 8) {
        memcpy(&value, &token.value, sizeof value);
        guint tenths = (guint)(value * 10 + 0.5);
        major = tenths / 10;
        minor = tenths % 10;
    }
    if (major == 0)
        return FAIL(parser, &token, PTX_LOAD_ERROR_SYNTAX, "a version like 8.0 is expected here");
    ptx_lex_next(lex);
    parser->unit->version = major * 10 + minor;
    if (parser->unit->version < 30 || major > 9)
        return FAIL(parser, &token, PTX_LOAD_ERROR_VERSION, "PTX ISA %u.%u; 3.0 to 9.x are known", major, minor);
    return TRUE;
}

static gboolean parse_target(Parser *parser)
{
    PtxLex *lex = &parser->lex;
    do {
        PtxToken token = lex->token;
        if (token.kind != TOKEN_WORD)
            return FAIL(parser, &token, PTX_LOAD_ERROR_SYNTAX, "a target like sm_90 is expected here");
        if (token.length >= 5 && !memcmp(token.text, "sm_", 3)) {
            guint sm = 0, i = 3;
            for (; i < token.length && g_ascii_isdigit(token.text[i]) && sm < 1000; i++)
                sm = sm * 10 + (guint)(token.text[i] - '0');
            parser->unit->sm = sm;
            parser->unit->exact = i < token.length;
            if (sm < 20 || sm > 121)
                return FAIL(parser, &token, PTX_LOAD_ERROR_SYNTAX, "target sm_%u; sm_20 to sm_121 are known", sm);
            if (parser->unit->version < ptx_target_since(sm))
                return FAIL(parser, &token, PTX_LOAD_ERROR_SYNTAX,
                            "target sm_%u needs .version %u.%u or later; this text says %u.%u", sm,
                            ptx_target_since(sm) / 10, ptx_target_since(sm) % 10, parser->unit->version / 10,
                            parser->unit->version % 10);
        } else if (token.length >= 7 && !memcmp(token.text, "texmode", 7)) {
            return FAIL(parser, &token, PTX_LOAD_ERROR_UNSUPPORTED, "textures and surfaces are not simulated");
        }
        ptx_lex_next(lex);
    } while (ptx_lex_take(lex, ','));
    return TRUE;
}

static gboolean parse_file(Parser *parser)
{
    guint64 index;
    PtxLex *lex = &parser->lex;
    if (!take_number(parser, 65535, &index))
        return FALSE;
    if (lex->token.kind != TOKEN_STRING)
        return FAIL(parser, &lex->token, PTX_LOAD_ERROR_SYNTAX, "a file's name is expected here");
    GPtrArray *sources = parser->unit->sources;
    if (sources->len <= index)
        g_ptr_array_set_size(sources, (gint)index + 1);
    g_free(sources->pdata[index]);
    sources->pdata[index] = g_strndup(lex->token.text, lex->token.length);
    ptx_lex_next(lex);
    while (ptx_lex_take(lex, ','))
        if (!take_number(parser, G_MAXUINT64, &index))
            return FALSE;
    return TRUE;
}

/* Debug information: braces that are of no use here. */
static gboolean parse_section(Parser *parser)
{
    PtxLex *lex = &parser->lex;
    PtxToken token = lex->token;
    while (lex->token.kind == TOKEN_DOT || lex->token.kind == TOKEN_WORD)
        ptx_lex_next(lex);
    if (!ptx_lex_is(lex, '{') || !ptx_lex_skip_body(lex))
        return FAIL(parser, &token, PTX_LOAD_ERROR_SYNTAX, "the section has no end");
    return TRUE;
}

static gboolean skip_statement(Parser *parser)
{
    PtxToken token = parser->lex.token;
    while (!ptx_lex_is(&parser->lex, ';') && parser->lex.token.kind != TOKEN_END && parser->lex.token.kind != TOKEN_BAD)
        ptx_lex_next(&parser->lex);
    return ptx_lex_take(&parser->lex, ';') ||
           FAIL(parser, &token, PTX_LOAD_ERROR_SYNTAX, "';' is missing behind this directive");
}

static gboolean parse_alias(Parser *parser)
{
    PtxLex *lex = &parser->lex;
    PtxToken first = lex->token;
    ptx_lex_next(lex);
    if (first.kind != TOKEN_WORD || !ptx_lex_expect(lex, ',', parser->error))
        return first.kind == TOKEN_WORD ? FALSE
                                        : FAIL(parser, &first, PTX_LOAD_ERROR_SYNTAX, "a name is expected here");
    PtxToken second = lex->token;
    PtxSymbol *alias = ptx_unit_find(parser->unit, first.text, first.length);
    PtxSymbol *target = ptx_unit_find(parser->unit, second.text, second.kind == TOKEN_WORD ? second.length : 0);
    if (!alias || alias->space != SPACE_CODE || alias->function->body)
        return FAIL(parser, &first, PTX_LOAD_ERROR_SYMBOL, ".alias needs a function that is declared and has no body");
    if (!target || target->space != SPACE_CODE || target == alias)
        return FAIL(parser, &second, PTX_LOAD_ERROR_SYMBOL, ".alias needs another function");
    alias->resolved = target;
    ptx_lex_next(lex);
    return ptx_lex_expect(lex, ';', parser->error);
}

/* ---- variables */

static gboolean declare_variable(Parser *parser, const PtxDeclaration *declaration)
{
    PtxLex *lex = &parser->lex;
    PtxToken token = lex->token;
    g_autofree char *name = ptx_lex_name(lex, "a variable's name", parser->error);
    guint64 elements;
    gboolean open;
    if (!name)
        return FALSE;
    PtxSymbol *symbol = ptx_unit_declare(parser->unit, lex, &token, name, declaration->linkage, declaration->space,
                                         parser->error);
    if (!symbol || !ptx_dimensions_read(lex, &elements, &open, parser->error))
        return FALSE;
    if (declaration->type == T_PRED)
        return FAIL(parser, &token, PTX_LOAD_ERROR_SYNTAX, "predicates live in registers alone");
    guint64 bytes = (guint64)ptx_types[declaration->type].memory * declaration->vector * elements;
    if (bytes > PTX_BANK_BYTES_MAX || (declaration->space == SPACE_SHARED && bytes > PTX_SHARED_BYTES_MAX))
        return FAIL(parser, &token, PTX_LOAD_ERROR_LIMIT, "the variable has %" G_GUINT64_FORMAT " bytes; at most %s",
                    bytes, declaration->space == SPACE_SHARED ? "256 KiB of .shared" : "1 TiB");
    symbol->type = declaration->type;
    symbol->bytes = open ? 0 : bytes;
    symbol->open_array = open;
    symbol->align = MAX(symbol->align, ptx_declaration_align(declaration));
    symbol->managed = declaration->managed;
    if (ptx_lex_take(lex, '=') && !ptx_initialiser_read(lex, symbol, declaration->vector, parser->error))
        return FALSE;
    if (symbol->open_array && declaration->linkage != LINK_EXTERN)
        return FAIL(parser, &token, PTX_LOAD_ERROR_SYNTAX, "an array without a size is .extern or has initial values");
    return TRUE;
}

static gboolean parse_variables(Parser *parser, PtxLinkage linkage, PtxSpace space)
{
    PtxDeclaration declaration = {.linkage = linkage, .space = space};
    ptx_lex_next(&parser->lex);
    if (!ptx_declaration_read(&parser->lex, &declaration, parser->error))
        return FALSE;
    do {
        if (!declare_variable(parser, &declaration))
            return FALSE;
    } while (ptx_lex_take(&parser->lex, ','));
    return ptx_lex_expect(&parser->lex, ';', parser->error);
}

/* ---- functions */

static gboolean parse_numbers(Parser *parser, guint32 *to, guint most)
{
    guint n = 0;
    do {
        guint64 value;
        if (n >= most)
            return FAIL(parser, &parser->lex.token, PTX_LOAD_ERROR_SYNTAX, "too many numbers");
        if (!take_number(parser, G_MAXINT32, &value))
            return FALSE;
        to[n++] = (guint32)value;
    } while (ptx_lex_take(&parser->lex, ','));
    for (; n < most; n++)
        to[n] = 1;
    return TRUE;
}

/* .maxntid and the like, between a head and its body. */
static gboolean parse_performance(Parser *parser, PtxFunction *function)
{
    PtxLex *lex = &parser->lex;
    while (lex->token.kind == TOKEN_DOT) {
        PtxToken token = lex->token;
        gboolean good = TRUE;
        if (ptx_lex_take_dot(lex, "maxntid"))
            good = parse_numbers(parser, function->maxntid, 3);
        else if (ptx_lex_take_dot(lex, "reqntid"))
            good = parse_numbers(parser, function->reqntid, 3);
        else if (ptx_lex_take_dot(lex, "reqnctapercluster"))
            good = parse_numbers(parser, function->cluster, 3);
        else if (ptx_lex_take_dot(lex, "minnctapersm") || ptx_lex_take_dot(lex, "maxnctapersm"))
            good = parse_numbers(parser, &function->minnctapersm, 1);
        else if (ptx_lex_take_dot(lex, "maxnreg"))
            good = parse_numbers(parser, &function->maxnreg, 1);
        else if (ptx_lex_take_dot(lex, "maxclusterrank")) {
            guint64 ignored;
            good = take_number(parser, 64, &ignored);
        } else if (ptx_lex_take_dot(lex, "noreturn"))
            function->noreturn = TRUE;
        else if (ptx_lex_take_dot(lex, "explicitcluster"))
            function->explicit_cluster = TRUE;
        else if (ptx_lex_take_dot(lex, "blocksareclusters"))
            return FAIL(parser, &token, PTX_LOAD_ERROR_UNSUPPORTED, "grids counted in clusters are not simulated");
        else if (ptx_lex_take_dot(lex, "pragma"))
            good = skip_statement(parser);
        else if (ptx_lex_take_dot(lex, "abi_preserve") || ptx_lex_take_dot(lex, "abi_preserve_control")) {
            guint64 ignored;
            good = take_number(parser, 255, &ignored);
        } else if (ptx_lex_take_dot(lex, "unique"))
            good = TRUE;
        else
            return FAIL(parser, &token, PTX_LOAD_ERROR_SYNTAX, "not known behind a function's head");
        if (!good)
            return FALSE;
    }
    return TRUE;
}

static PtxFunction *function_of(Parser *parser, const PtxToken *token, const char *name, PtxLinkage linkage,
                                gboolean entry)
{
    PtxSymbol *symbol = ptx_unit_declare(parser->unit, &parser->lex, token, name, linkage, SPACE_CODE, parser->error);
    if (!symbol || symbol->function)
        return symbol ? symbol->function : NULL;
    PtxFunction *function = g_new0(PtxFunction, 1);
    function->symbol = symbol;
    function->unit = parser->unit;
    function->entry = entry;
    function->params = g_array_new(FALSE, FALSE, sizeof(PtxParam));
    function->rets = g_array_new(FALSE, FALSE, sizeof(PtxParam));
    g_array_set_clear_func(function->params, ptx_param_clear);
    g_array_set_clear_func(function->rets, ptx_param_clear);
    function->index = parser->unit->module->functions->len;
    symbol->function = function;
    g_ptr_array_add(parser->unit->module->functions, function);
    return function;
}

static gboolean parse_body(Parser *parser, PtxFunction *function, const PtxToken *token)
{
    PtxLex *lex = &parser->lex;
    if (ptx_lex_take(lex, ';'))
        return TRUE;
    if (function->body)
        return FAIL(parser, token, PTX_LOAD_ERROR_SYMBOL, "the function has a body already");
    if (!ptx_lex_is(lex, '{'))
        return ptx_lex_expect(lex, '{', parser->error);
    PtxToken open = lex->token;
    function->body = lex->at;
    function->body_line = lex->line;
    function->body_line_start = lex->line_start;
    function->symbol->line = token->line;
    function->symbol->column = token->column;
    if (!ptx_lex_skip_body(lex))
        return FAIL(parser, &open, PTX_LOAD_ERROR_SYNTAX, "the body has no closing '}'");
    function->body_end = lex->token.text; /* at or behind the closing brace: the reader stops at it */
    return TRUE;
}

static gboolean parse_function(Parser *parser, PtxLinkage linkage)
{
    PtxLex *lex = &parser->lex;
    gboolean entry = ptx_lex_is_dot(lex, "entry"), good;
    guint32 most = entry ? PTX_PARAM_BYTES_MAX : PTX_FUNC_PARAM_BYTES_MAX, param_bytes = 0, ret_bytes = 0;
    GArray *params = g_array_new(FALSE, FALSE, sizeof(PtxParam)), *rets = g_array_new(FALSE, FALSE, sizeof(PtxParam));
    g_array_set_clear_func(params, ptx_param_clear);
    g_array_set_clear_func(rets, ptx_param_clear);
    ptx_lex_next(lex);
    if (ptx_lex_is_dot(lex, "attribute")) {
        while (!ptx_lex_is(lex, ')') && lex->token.kind != TOKEN_END)
            ptx_lex_next(lex);
        ptx_lex_next(lex);
    }
    good = entry || !ptx_lex_is(lex, '(') || ptx_parameters_read(lex, rets, &ret_bytes, most, parser->error);
    PtxToken token = lex->token;
    g_autofree char *name = good ? ptx_lex_name(lex, "a function's name", parser->error) : NULL;
    good = name && (!ptx_lex_is(lex, '(') || ptx_parameters_read(lex, params, &param_bytes, most, parser->error));
    PtxFunction *function = good ? function_of(parser, &token, name, linkage, entry) : NULL;
    if (function && function->entry != entry) {
        FAIL(parser, &token, PTX_LOAD_ERROR_SYMBOL, "the name is declared as %s, too", entry ? ".func" : ".entry");
        function = NULL;
    }
    if (!function || function->body) { /* a later declaration says nothing new */
        good = function && parse_performance(parser, function) && parse_body(parser, function, &token);
        g_array_unref(params);
        g_array_unref(rets);
        return good;
    }
    g_array_unref(function->params);
    g_array_unref(function->rets);
    function->params = params;
    function->rets = rets;
    function->param_bytes = param_bytes;
    function->ret_bytes = ret_bytes;
    return parse_performance(parser, function) && parse_body(parser, function, &token);
}

/* ---- the text */

static gboolean parse_linkage(Parser *parser, PtxLinkage *linkage)
{
    static const struct {
        const char *word;
        PtxLinkage linkage;
    } rows[] = {{"extern", LINK_EXTERN}, {"visible", LINK_VISIBLE}, {"weak", LINK_WEAK}, {"common", LINK_COMMON}};
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        if (ptx_lex_take_dot(&parser->lex, rows[i].word)) {
            *linkage = rows[i].linkage;
            return TRUE;
        }
    return FALSE;
}

static gboolean parse_statement(Parser *parser)
{
    PtxLex *lex = &parser->lex;
    PtxLinkage linkage = LINK_STATIC;
    PtxToken token = lex->token;
    if (ptx_lex_take(lex, ';'))
        return TRUE;
    while (parse_linkage(parser, &linkage))
        ;
    if (ptx_lex_is_dot(lex, "entry") && linkage == LINK_STATIC)
        linkage = LINK_VISIBLE; /* a kernel can be launched even so */
    if (ptx_lex_is_dot(lex, "entry") || ptx_lex_is_dot(lex, "func"))
        return parse_function(parser, linkage);
    if (ptx_lex_is_dot(lex, "global"))
        return parse_variables(parser, linkage, SPACE_GLOBAL);
    if (ptx_lex_is_dot(lex, "const"))
        return parse_variables(parser, linkage, SPACE_CONST);
    if (ptx_lex_is_dot(lex, "shared"))
        return parse_variables(parser, linkage, SPACE_SHARED);
    if (ptx_lex_take_dot(lex, "version"))
        return parse_version(parser);
    if (ptx_lex_take_dot(lex, "target"))
        return parse_target(parser);
    if (ptx_lex_take_dot(lex, "address_size")) {
        guint64 bits;
        PtxToken size = lex->token;
        if (!take_number(parser, 64, &bits))
            return FALSE;
        parser->unit->address_bits = (guint)bits;
        return bits == 64 || FAIL(parser, &size, PTX_LOAD_ERROR_UNSUPPORTED, "addresses have 64 bits");
    }
    if (ptx_lex_take_dot(lex, "file"))
        return parse_file(parser);
    if (ptx_lex_take_dot(lex, "section"))
        return parse_section(parser);
    if (ptx_lex_take_dot(lex, "alias"))
        return parse_alias(parser);
    if (ptx_lex_take_dot(lex, "pragma"))
        return skip_statement(parser);
    if (ptx_lex_is_dot(lex, "tex"))
        return FAIL(parser, &token, PTX_LOAD_ERROR_UNSUPPORTED, "textures and surfaces are not simulated");
    return FAIL(parser, &token, PTX_LOAD_ERROR_SYNTAX, "not known at module scope");
}

gboolean ptx_unit_parse(PtxUnit *unit, GError **error)
{
    Parser parser = {.unit = unit, .error = error};
    unit->address_bits = 64;
    const char *end = unit->text + unit->bytes;
    while (end > unit->text && end[-1] == 0) /* loaders hand strings over with their end */
        end--;
    ptx_lex_init(&parser.lex, unit->file, unit->text, end, 1);
    if (!ptx_lex_is_dot(&parser.lex, "version"))
        return FAIL(&parser, &parser.lex.token, PTX_LOAD_ERROR_SYNTAX, "PTX begins with .version");
    while (parser.lex.token.kind != TOKEN_END)
        if (!parse_statement(&parser))
            return FALSE;
    if (unit->sm == 0)
        return FAIL(&parser, &parser.lex.token, PTX_LOAD_ERROR_SYNTAX, "the text has no .target");
    return TRUE;
}
