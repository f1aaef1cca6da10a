/* SPDX-License-Identifier: MIT */
/* Totals: the writer; see totals.h. */
#include "totals.h"

#include "format.h"
#include "read/verify.h"

#include <stdlib.h>
#include <string.h>

static void emit_object(struct emit *e, const char *name, const struct layout *layout,
                        const void *object);

static void emit_histogram(struct emit *e, const char *name, const struct distribution *d) {
  const uint64_t *point = &d->p50;
  if (!d->count) {
    emit_null(e, name);
    return;
  }
  emit_open(e, name, '{');
  for (int i = 0; i < DISTRIBUTION_POINTS; i++)
    emit_number(e, distribution_points[i], point[i]);
  emit_open(e, "buckets", '[');
  for (size_t i = 0; i < d->count; i++) {
    emit_open(e, NULL, '[');
    emit_number(e, NULL, d->bucket[i].lower);
    emit_number(e, NULL, d->bucket[i].count);
    emit_close(e, ']');
  }
  emit_close(e, ']');
  emit_close(e, '}');
}

static void emit_pair(struct emit *e, const char *name, const char *const *pair) {
  if (!pair[0] && !pair[1]) {
    emit_null(e, name);
    return;
  }
  emit_open(e, name, '[');
  emit_text(e, NULL, pair[0]);
  emit_text(e, NULL, pair[1]);
  emit_close(e, ']');
}

/* `rows`: each element has a line. */
static void emit_elements(struct emit *e, const struct field *field, const void *object,
                          bool rows) {
  size_t count = field_count(object, field);
  emit_open(e, field->name, '[');
  for (size_t i = 0; i < count; i++) {
    const void *element = field_element(object, field, i);
    if (rows)
      emit_row(e);
    emit_object(e, NULL, layout_of(field->of, element), element);
  }
  if (rows && count)
    e->gap = "\n";
  emit_close(e, ']');
}

static void emit_field(struct emit *e, const struct field *field, const void *object, bool rows) {
  const void *at = field_of(object, field);
  const char *name = field->name;
  switch (field->type) {
  case FIELD_COUNT:
    emit_number(e, name, *(const uint64_t *)at);
    break;
  case FIELD_MAYBE:
  case FIELD_INDEX:
    emit_maybe(e, name, *(const uint64_t *)at, *(const uint64_t *)at != UNKNOWN);
    break;
  case FIELD_NONZERO:
  case FIELD_ID:
    emit_maybe(e, name, *(const uint64_t *)at, *(const uint64_t *)at != 0);
    break;
  case FIELD_SIGNED:
    emit_signed(e, name, *(const int64_t *)at);
    break;
  case FIELD_TID:
    if (*(const int64_t *)at)
      emit_signed(e, name, *(const int64_t *)at);
    else
      emit_null(e, name);
    break;
  case FIELD_SHARE:
    emit_share(e, name, *(const double *)at, 4);
    break;
  case FIELD_TEXT:
  case FIELD_MAYBE_TEXT:
    emit_text(e, name, *(const char *const *)at);
    break;
  case FIELD_FLAG:
  case FIELD_MAYBE_FLAG:
    if (*(const uint8_t *)at == FLAG_UNKNOWN)
      emit_null(e, name);
    else
      emit_bool(e, name, *(const uint8_t *)at);
    break;
  case FIELD_HISTOGRAM:
    emit_histogram(e, name, at);
    break;
  case FIELD_PAIR:
    emit_pair(e, name, at);
    break;
  case FIELD_SHED:
    emit_shed(e, name, *(const unsigned *)at);
    break;
  case FIELD_LIST:
  case FIELD_STEPS:
    emit_elements(e, field, object, rows);
    break;
  case FIELD_OBJECT:
    if (field->is && !*((const bool *)object + field->is))
      emit_null(e, name);
    else
      emit_object(e, name, field->of, at);
    break;
  }
}

static void emit_object(struct emit *e, const char *name, const struct layout *layout,
                        const void *object) {
  emit_open(e, name, '{');
  emit_members(e, layout, object, NULL);
  emit_close(e, '}');
}

void emit_members(struct emit *e, const struct layout *layout, const void *object,
                  const char *names) {
  for (size_t i = 0; !names && i < layout->fields; i++)
    if (layout->field[i].name)
      emit_field(e, &layout->field[i], object, false);
  for (size_t length; names && *names; names += length + strspn(names + length, " ")) {
    length = strcspn(names, " ");
    for (size_t i = 0; i < layout->fields; i++) {
      const struct field *field = &layout->field[i];
      if (field->name && strlen(field->name) == length && !memcmp(field->name, names, length))
        emit_field(e, field, object, false);
    }
  }
}

void emit_total(struct emit *e, const struct view *v, const char *name) {
  for (size_t i = 0; i < layout_totals.fields; i++)
    if (!strcmp(layout_totals.field[i].name, name)) {
      e->gap = "\n";
      emit_field(e, &layout_totals.field[i], v, true);
    }
}

void emit_lacks(struct emit *e, const struct layout *layout, unsigned lacks) {
  emit_open(e, "lacks", '[');
  for (size_t i = 0; i < layout->fields && lacks; i++)
    if (layout->field[i].name && lacks & field_lack(layout, layout->field[i].at))
      emit_text(e, NULL, layout->field[i].name);
  emit_close(e, ']');
}

void emit_finding_members(struct emit *e, const struct finding *f) {
  const struct view_function *function = f->function;
  emit_text(e, "kind", finding_kinds[f->kind]);
  emit_maybe(e, "severity_ns", f->severity, f->severity != UNKNOWN);
  emit_text(e, "text", shown_sentence(f->text));
  emit_text(e, "function", function ? function->name : NULL);
  emit_text(e, "file", function ? function->file : NULL);
  emit_maybe(e, "line", function ? function->line : 0, function && function->line);
  emit_text(e, "at", f->at);
  emit_maybe(e, "count", f->count, f->count != UNKNOWN);
  emit_text(e, "created_at", f->created_at);
  emit_text(e, "created_by", f->created_by);
  emit_maybe(e, "held_ns", f->held, f->held != 0);
  emit_text(e, "from", f->from);
  emit_text(e, "to", f->to);
  emit_text(e, "mostly", f->mostly);
  emit_maybe(e, "mostly_ns", f->mostly_max, f->mostly != NULL);
  emit_text(e, "cause", f->cause ? f->cause->name : NULL);
  emit_text(e, "rule", f->rule);
  emit_shed(e, "shed", f->shed | (function ? function->shed : 0));
}

void emit_finding(struct emit *e, const struct finding *f) {
  emit_open(e, NULL, '{');
  emit_finding_members(e, f);
  emit_close(e, '}');
}

/* Writes the findings that a report has. A damaged profile may have numbers beyond what a report
   can work with. */
static void emit_findings(struct emit *e, const struct view *v) {
  char *fault = view_beyond(v);
  size_t count = 0;
  struct finding *findings = fault ? NULL : ask_findings(v, &ask_defaults, &count);
  emit_open(e, "findings", '[');
  for (size_t i = 0; i < count; i++) {
    emit_row(e);
    emit_finding(e, &findings[i]);
  }
  if (count)
    e->gap = "\n";
  emit_close(e, ']');
  findings_free(findings, count);
  free(fault);
}

void totals_write(const struct view *v, FILE *out) {
  struct emit e;
  emit_begin(&e, out, TOTALS_SCHEMA);
  for (size_t i = 0; i < layout_totals.fields; i++) {
    e.gap = "\n";
    emit_field(&e, &layout_totals.field[i], v, true);
  }
  e.gap = "\n";
  emit_findings(&e, v);
  e.gap = "\n";
  emit_end(&e);
}

bool totals_make(int fd, const char *what, enum profile_state state,
                 const struct view_request *request, FILE *out) {
  struct view *v = view_of_profile(fd, what, state, request);
  if (v)
    totals_write(v, out);
  view_free(v);
  return v != NULL;
}
