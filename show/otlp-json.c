/* SPDX-License-Identifier: MIT */
/* OpenTelemetry's JSON of its messages; see otlp.h. */
#include "otlp.h"

#include "read/json.h"
#include "read/util.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = 64, ID_ROOM = 64 };

/* "trace_id": "traceId" */
static const char *camel_case(const char *name, char to[NAME_ROOM]) {
  size_t used = 0;
  for (; *name && used < NAME_ROOM - 1; name++)
    if (*name == '_' && name[1])
      to[used++] = (char)toupper((unsigned char)*++name);
    else
      to[used++] = *name;
  to[used] = 0;
  return to;
}

static void emit_id(struct emit *e, const char *name, const ProtobufCBinaryData *id) {
  char text[2 * ID_ROOM + 1] = "";
  for (size_t i = 0; i < id->len && i < ID_ROOM; i++)
    snprintf(text + 2 * i, 3, "%02x", id->data[i]);
  emit_text(e, name, text);
}

static void emit_long(struct emit *e, const char *name, int64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%" PRId64, value);
  emit_text(e, name, text);
}

static void emit_value(struct emit *e, const char *name, const ProtobufCFieldDescriptor *field,
                       const void *at) {
  switch (field->type) {
  case PROTOBUF_C_TYPE_STRING:
    emit_text(e, name, *(const char *const *)at);
    break;
  case PROTOBUF_C_TYPE_BYTES:
    emit_id(e, name, at);
    break;
  case PROTOBUF_C_TYPE_BOOL:
    emit_bool(e, name, *(const protobuf_c_boolean *)at);
    break;
  case PROTOBUF_C_TYPE_INT64:
  case PROTOBUF_C_TYPE_FIXED64:
    emit_long(e, name, *(const int64_t *)at);
    break;
  case PROTOBUF_C_TYPE_DOUBLE:
    emit_float(e, name, *(const double *)at, 9);
    break;
  case PROTOBUF_C_TYPE_MESSAGE:
    emit_open(e, name, '{');
    otlp_members(e, *(const ProtobufCMessage *const *)at);
    emit_close(e, '}');
    break;
  default:
    emit_signed(e, name, *(const int32_t *)at);
  }
}

static size_t size_of(const ProtobufCFieldDescriptor *field) {
  switch (field->type) {
  case PROTOBUF_C_TYPE_BYTES:
    return sizeof(ProtobufCBinaryData);
  case PROTOBUF_C_TYPE_BOOL:
    return sizeof(protobuf_c_boolean);
  case PROTOBUF_C_TYPE_INT64:
  case PROTOBUF_C_TYPE_FIXED64:
  case PROTOBUF_C_TYPE_DOUBLE:
    return 8;
  case PROTOBUF_C_TYPE_STRING:
  case PROTOBUF_C_TYPE_MESSAGE:
    return sizeof(void *);
  default:
    return 4;
  }
}

/* What has its default is not written, unless it is one of several that it might be. */
static bool is_set(const ProtobufCFieldDescriptor *field, const ProtobufCMessage *of,
                   const void *at) {
  static const char zeros[sizeof(ProtobufCBinaryData)];
  if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
    return *(const uint32_t *)((const char *)of + field->quantifier_offset) == field->id;
  if (field->type == PROTOBUF_C_TYPE_STRING)
    return *(const char *const *)at && **(const char *const *)at;
  if (field->type == PROTOBUF_C_TYPE_BYTES)
    return ((const ProtobufCBinaryData *)at)->len != 0;
  return memcmp(at, zeros, size_of(field)) != 0;
}

void otlp_members(struct emit *e, const ProtobufCMessage *of) {
  for (unsigned i = 0; i < of->descriptor->n_fields; i++) {
    const ProtobufCFieldDescriptor *field = &of->descriptor->fields[i];
    const char *at = (const char *)of + field->offset;
    char room[NAME_ROOM];
    const char *name = camel_case(field->name, room);
    if (field->label != PROTOBUF_C_LABEL_REPEATED) {
      if (is_set(field, of, at))
        emit_value(e, name, field, at);
      continue;
    }
    size_t count = *(const size_t *)((const char *)of + field->quantifier_offset);
    if (!count)
      continue;
    emit_open(e, name, '[');
    for (size_t j = 0; j < count; j++)
      emit_value(e, NULL, field, *(const char *const *)at + j * size_of(field));
    emit_close(e, ']');
  }
}

/* -- what a collector answers ------------------------------------------------------------ */

uint64_t otlp_rejected(const char *answer, size_t length, const char *member) {
  char *fault = NULL;
  cJSON *all = json_parse(answer, length, &fault);
  uint64_t count = json_value(json_member(json_member(all, "partialSuccess"), member), 0);
  json_free(all);
  free(fault);
  return count;
}
