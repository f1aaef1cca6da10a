/* SPDX-License-Identifier: MIT */
/* JSON, written member by member; see emit.h. */
#include "emit.h"

#include "read/view.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void flush(struct emit *e) {
  fwrite(e->buffer, 1, e->used, e->out);
  e->used = 0;
}

static void put(struct emit *e, const char *bytes, size_t count) {
  if (count > EMIT_BUFFER - e->used)
    flush(e);
  if (count > EMIT_BUFFER)
    fwrite(bytes, 1, count, e->out);
  else {
    memcpy(e->buffer + e->used, bytes, count);
    e->used += count;
  }
}

static void put_text(struct emit *e, const char *text) {
  put(e, text, strlen(text));
}

static void put_char(struct emit *e, char c) {
  put(e, &c, 1);
}

static void put_gap(struct emit *e) {
  if (e->gap)
    put_text(e, e->gap);
  e->gap = NULL;
}

static void put_quoted(struct emit *e, const char *text) {
  static const char escapes[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
  put_char(e, '"');
  for (const char *from = text;; text++) {
    bool odd = (unsigned char)*text < 0x20 || *text == '"' || *text == '\\' ||
               (*text == '<' && e->in_page);
    if (!odd)
      continue;
    put(e, from, (size_t)(text - from));
    from = text + 1;
    if (!*text)
      break;
    const char *known = strchr(escapes, *text);
    char escape[8];
    if (known)
      snprintf(escape, sizeof escape, "\\%c", letters[known - escapes]);
    else
      snprintf(escape, sizeof escape, "\\u%04x", (unsigned char)*text);
    put_text(e, escape);
  }
  put_char(e, '"');
}

/* The comma, and the name. */
static void put_name(struct emit *e, const char *name) {
  bool spaced = e->gap != NULL;
  if (e->inside)
    put_char(e, ',');
  e->inside = true;
  put_gap(e);
  if (!name)
    return;
  put_char(e, '"');
  put_text(e, name);
  put_text(e, spaced ? "\": " : "\":");
}

/* What is in no text of a document has no '<'. */
void emit_document(struct emit *e, const char *name, const char *json) {
  put_name(e, name);
  for (; *json; json++)
    if (*json == '<' && e->in_page)
      put_text(e, "\\u003c");
    else
      put_char(e, *json);
}

void emit_open(struct emit *e, const char *name, char bracket) {
  put_name(e, name);
  put_char(e, bracket);
  e->inside = false;
}

void emit_close(struct emit *e, char bracket) {
  put_gap(e);
  put_char(e, bracket);
  e->inside = true;
}

void emit_begin(struct emit *e, FILE *out, const char *schema) {
  e->out = out;
  e->gap = NULL;
  e->inside = e->in_page = false;
  e->used = 0;
  emit_open(e, NULL, '{');
  e->gap = schema ? "" : NULL;
  if (schema)
    emit_text(e, "schema", schema);
}

void emit_end(struct emit *e) {
  emit_close(e, '}');
  put_char(e, '\n');
  flush(e);
}

void emit_list(struct emit *e, const char *name) {
  e->gap = "\n";
  emit_open(e, name, '[');
}

void emit_null(struct emit *e, const char *name) {
  put_name(e, name);
  put(e, "null", 4);
}

void emit_number(struct emit *e, const char *name, uint64_t value) {
  char digits[24], *to = digits + sizeof digits;
  put_name(e, name);
  do
    *--to = (char)('0' + value % 10);
  while (value /= 10);
  put(e, to, (size_t)(digits + sizeof digits - to));
}

void emit_signed(struct emit *e, const char *name, int64_t value) {
  char text[24];
  put_name(e, name);
  snprintf(text, sizeof text, "%" PRId64, value);
  put_text(e, text);
}

void emit_bool(struct emit *e, const char *name, bool value) {
  put_name(e, name);
  put_text(e, value ? "true" : "false");
}

void emit_text(struct emit *e, const char *name, const char *text) {
  if (!text) {
    emit_null(e, name);
    return;
  }
  put_name(e, name);
  put_quoted(e, text);
}

void emit_float(struct emit *e, const char *name, double value, int digits) {
  char text[400];
  if (!isfinite(value)) {
    emit_null(e, name);
    return;
  }
  put_name(e, name);
  snprintf(text, sizeof text, "%.*f", digits, value);
  put_text(e, text);
}

void emit_share(struct emit *e, const char *name, double value, int digits) {
  emit_float(e, name, value < 0 ? (double)NAN : value, digits);
}

void emit_maybe(struct emit *e, const char *name, uint64_t value, bool known) {
  if (known)
    emit_number(e, name, value);
  else
    emit_null(e, name);
}

void emit_place(struct emit *e, const char *name, const char *file, uint64_t line) {
  char text[4096 + 32];
  if (file && line)
    snprintf(text, sizeof text, "%s:%" PRIu64, file, line);
  emit_text(e, name, file && line ? text : file);
}

void emit_shed(struct emit *e, const char *name, unsigned shed) {
  emit_open(e, name, '[');
  for (int step = 1; step < APROF_STEPS; step++)
    if (shed & 1u << step)
      emit_text(e, NULL, governed_steps[step].name);
  emit_close(e, ']');
}
