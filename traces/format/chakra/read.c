/* MLCommons Chakra execution traces: length-delimited protobuf messages, one file a rank. */
#include <string.h>

#include "traces/format/chakra/chakra.h"
#include "traces/format/chakra/chakra.pb-c.h"

#define MESSAGE_BYTES_MAX (256u << 20)

static gsize varint(const guint8 *at, gsize n, guint64 *value)
{
    *value = 0;
    for (gsize i = 0; i < n && i < 10; i++) {
        *value |= (guint64)(at[i] & 0x7f) << (7 * i);
        if (at[i] < 0x80)
            return i + 1;
    }
    return 0;
}

/* There is no magic: a short length, then a message that starts as GlobalMetadata does, then one
 * that starts as a Node does; and bytes that no text has. */
static int chakra_probe(const char *head, gsize n)
{
    const guint8 *at = (const guint8 *)head;
    gboolean text = TRUE;
    for (gsize i = 0; i < MIN(n, 512) && text; i++)
        text = at[i] >= 0x20 || at[i] == '\n' || at[i] == '\r' || at[i] == '\t';
    guint64 length, inner;
    gsize used = varint(at, n, &length);
    if (text || used == 0 || length > MESSAGE_BYTES_MAX)
        return 0;
    at += used;
    n -= used;
    if (length > 0) {
        gsize more = n > 1 ? varint(at + 1, n - 1, &inner) : 0;
        if (n < 2 || (at[0] != 0x0a && at[0] != 0x12) || more == 0 || inner > length)
            return 0;
    }
    if (length >= n)
        return 50;
    used = varint(at + length, n - length, &inner);
    if (used == 0 || length + used >= n)
        return 40;
    guint8 tag = at[length + used];
    return tag == 0x08 || tag == 0x12 || tag == 0x18 ? 80 : 0;
}

/* The next message into `buffer`. 1: there is one; 0: the file has ended; -1: error. */
static int next_message(Input *input, GByteArray *buffer, GError **error)
{
    guint64 length = 0, start = input_offset(input);
    for (guint i = 0;; i++) {
        guint8 byte;
        gssize got = input_read(input, &byte, 1, error);
        if (got < 0 || (got == 0 && i == 0))
            return got;
        if (got == 0 || i == 9) {
            g_set_error(error, TRACE_ERROR, got == 0 ? TRACE_ERROR_CUT_OFF : TRACE_ERROR_FORMAT,
                        "%s: byte %" G_GUINT64_FORMAT ": %s", input_path(input), start,
                        got == 0 ? "the file ends inside a message's length"
                                 : "no message length; it should be a varint");
            return -1;
        }
        length |= (guint64)(byte & 0x7f) << (7 * i);
        if (byte < 0x80)
            break;
    }
    if (length > MESSAGE_BYTES_MAX) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                    "%s: byte %" G_GUINT64_FORMAT ": a message of %" G_GUINT64_FORMAT
                    " bytes; lengths should be at most 256 MiB",
                    input_path(input), start, length);
        return -1;
    }
    g_byte_array_set_size(buffer, length);
    for (gsize have = 0; have < length;) {
        gssize got = input_read(input, buffer->data + have, length - have, error);
        if (got == 0) {
            g_set_error(error, TRACE_ERROR, TRACE_ERROR_CUT_OFF,
                        "%s: byte %" G_GUINT64_FORMAT ": a message "
                        "says it has %" G_GUINT64_FORMAT " bytes, but the file ends %" G_GSIZE_FORMAT " bytes into it",
                        input_path(input), start, length, have);
        }
        if (got <= 0)
            return -1;
        have += got;
    }
    return 1;
}

static gboolean attribute_integer(const Chakra__Attribute *attr, gint64 *value)
{
    guint64 big = 0;
    switch (attr->value_case) {
    case CHAKRA__ATTRIBUTE__VALUE_INT32_VAL: *value = attr->int32_val; break;
    case CHAKRA__ATTRIBUTE__VALUE_INT64_VAL: *value = attr->int64_val; break;
    case CHAKRA__ATTRIBUTE__VALUE_UINT32_VAL: *value = attr->uint32_val; break;
    case CHAKRA__ATTRIBUTE__VALUE_UINT64_VAL:
        big = attr->uint64_val;
        *value = big;
        break;
    case CHAKRA__ATTRIBUTE__VALUE_SINT32_VAL: *value = attr->sint32_val; break;
    case CHAKRA__ATTRIBUTE__VALUE_SINT64_VAL: *value = attr->sint64_val; break;
    case CHAKRA__ATTRIBUTE__VALUE_FIXED32_VAL: *value = attr->fixed32_val; break;
    case CHAKRA__ATTRIBUTE__VALUE_FIXED64_VAL:
        big = attr->fixed64_val;
        *value = big;
        break;
    case CHAKRA__ATTRIBUTE__VALUE_SFIXED32_VAL: *value = attr->sfixed32_val; break;
    case CHAKRA__ATTRIBUTE__VALUE_SFIXED64_VAL: *value = attr->sfixed64_val; break;
    case CHAKRA__ATTRIBUTE__VALUE_BOOL_VAL: *value = attr->bool_val; break;
    default: return FALSE;
    }
    return big <= G_MAXINT64;
}

static void take_attribute(ChakraNode *node, const Chakra__Attribute *attr)
{
    if (strcmp(attr->name, "pg_name") == 0 && attr->value_case == CHAKRA__ATTRIBUTE__VALUE_STRING_VAL)
        node->pg_name = attr->string_val;
    else if (strcmp(attr->name, "involved_dim") == 0 && attr->value_case == CHAKRA__ATTRIBUTE__VALUE_BOOL_LIST)
        for (gsize i = 0; i < attr->bool_list->n_values; i++)
            node->partial_dims |= !attr->bool_list->values[i];
    int known = chakra_attribute_by_name(attr->name);
    if (known < 0)
        return;
    node->has[known] = attribute_integer(attr, &node->value[known]);
    if (!node->has[known] && !node->bad_text) {
        node->bad_text = attr->value_case == CHAKRA__ATTRIBUTE__VALUE_STRING_VAL
                             ? g_strdup_printf("%s is the string \"%.40s\"; it should be an integer", attr->name,
                                               attr->string_val)
                             : g_strdup_printf("%s should be an integer below 2^63", attr->name);
    }
}

static gboolean take_node(Chakra *chakra, const GByteArray *buffer, guint64 byte, GError **error)
{
    RecordSource where = reader_here(chakra->reader, 0, byte, -1);
    Chakra__Node *message = chakra__node__unpack(NULL, buffer->len, buffer->data);
    if (!message) {
        return reader_problem(chakra->reader, where, "wrong message", error,
                              "these %u bytes are no Chakra node: a field inside has a wrong length or type",
                              buffer->len);
    }
    ChakraNode node = {
        .where = where,
        .name = message->name,
        .type = message->type,
        .deps = g_array_new(FALSE, FALSE, sizeof(guint64)),
        .duration_us = message->duration_micros,
        .start_us = message->start_time_micros,
    };
    node.where.node = message->id <= G_MAXINT64 ? (gint64)message->id : -1;
    g_array_append_vals(node.deps, message->ctrl_deps, message->n_ctrl_deps);
    g_array_append_vals(node.deps, message->data_deps, message->n_data_deps);
    for (gsize i = 0; i < message->n_attr; i++)
        take_attribute(&node, message->attr[i]);
    gboolean ok = chakra_add(chakra, &node, error);
    g_array_free(node.deps, TRUE);
    chakra__node__free_unpacked(message, NULL);
    return ok;
}

/* Metadata may carry the groups as JSON in an attribute. */
static gboolean take_metadata(Chakra *chakra, const GByteArray *buffer, GError **error)
{
    const char *path = input_path(chakra->reader->input);
    Chakra__Metadata *message = chakra__metadata__unpack(NULL, buffer->len, buffer->data);
    if (!message) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                    "%s: byte 0: the first message is no Chakra "
                    "metadata: a field inside has a wrong length or type",
                    path);
        return FALSE;
    }
    gboolean ok = TRUE;
    for (gsize i = 0; i < message->n_attr && ok; i++) {
        const Chakra__Attribute *attr = message->attr[i];
        gint64 world;
        if (strcmp(attr->name, "fanout_world") == 0 && attribute_integer(attr, &world))
            ok = reader_set_world(chakra->reader, world < 0 ? 0 : world, error);
        gboolean groups = strcmp(attr->name, "pg_config") == 0 || strcmp(attr->name, "process_groups") == 0;
        if (!groups || attr->value_case != CHAKRA__ATTRIBUTE__VALUE_STRING_VAL)
            continue;
        JsonDocument *document = json_parse(path, attr->string_val, strlen(attr->string_val), error);
        ok = document && chakra_groups(chakra, json_root(document), path, error);
        json_free(document);
    }
    chakra__metadata__free_unpacked(message, NULL);
    return ok;
}

static gboolean chakra_read(Reader *reader, GError **error)
{
    Chakra chakra;
    GByteArray *buffer = g_byte_array_new();
    gboolean ok = chakra_init(&chakra, reader, error);
    for (gboolean first = TRUE; ok; first = FALSE) {
        guint64 byte = input_offset(reader->input);
        GError *broken = NULL;
        int got = next_message(reader->input, buffer, &broken);
        if (got < 0)
            ok = reader_skip(reader, &broken, error);
        if (got <= 0)
            break;
        ok = first ? take_metadata(&chakra, buffer, error) : take_node(&chakra, buffer, byte, error);
    }
    ok = ok && chakra_finish(&chakra, error);
    g_byte_array_free(buffer, TRUE);
    chakra_clear(&chakra);
    return ok;
}

const TraceFormat trace_format_chakra = {
    .name = "chakra",
    .title = "MLCommons Chakra (.et)",
    .probe = chakra_probe,
    .read = chakra_read,
    .per_rank = TRUE,
};
