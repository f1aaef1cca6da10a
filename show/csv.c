/* SPDX-License-Identifier: MIT */
/*
 * One list of totals as comma-separated values (RFC 4180): a row for each element, a column for
 * each of its members, under the names that totals have for them.
 *
 * Members of members have both names, with "_" between; of a histogram these are its count and
 * percentiles. What is not known is empty. Lists within are lists of their own: --rows.
 */
#include "formats.h"
#include "read/fields.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

const char *const csv_rows[] = {"functions", "awaits",  "wakers",  "blocking", "delayed",
                                "loop",      "threads", "misses",  "ignored",  "live",
                                "requests",  "tiers",   "slowest", "spans",    NULL};

struct writer {
  FILE *out;
  bool inside; /* something stands in this row */
};

static void put_text(struct writer *w, const char *text) {
  if (w->inside)
    fputc(',', w->out);
  w->inside = true;
  if (!text || !strpbrk(text, "\",\r\n")) {
    fputs(text ? text : "", w->out);
    return;
  }
  fputc('"', w->out);
  for (; *text; text++)
    fprintf(w->out, *text == '"' ? "\"\"" : "%c", *text);
  fputc('"', w->out);
}

static void put(struct writer *w, const char *format, ...) {
  char text[64];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  put_text(w, text);
}

static void put_number(struct writer *w, uint64_t number, bool known) {
  if (known)
    put(w, "%" PRIu64, number);
  else
    put_text(w, NULL);
}

static void end_row(struct writer *w) {
  fputc('\n', w->out);
  w->inside = false;
}

/* -- names of columns --------------------------------------------------------------------- */

/* Each row says whose it is by name. */
static bool is_place_in_totals(const struct field *field) {
  return !field->name || !strcmp(field->name, "process") || !strcmp(field->name, "function_index");
}

static void put_names(struct writer *w, const struct layout *layout, const char *prefix) {
  char name[128];
  for (size_t i = 0; i < layout->fields; i++) {
    const struct field *field = &layout->field[i];
    if (is_place_in_totals(field))
      continue;
    bool counts = layout == &layout_tier && !strcmp(field->name, "calls_of");
    snprintf(name, sizeof name, "%s%s", prefix, field->name);
    switch (field->type) {
    case FIELD_LIST:
    case FIELD_STEPS:
      break;
    case FIELD_OBJECT:
      strncat(name, "_", sizeof name - strlen(name) - 1);
      put_names(w, field->of, name);
      break;
    case FIELD_PAIR:
      put(w, "%.50s_begin", name);
      put(w, "%.50s_end", name);
      break;
    case FIELD_HISTOGRAM:
      put(w, "%.50s_count", name);
      for (int point = 0; point < DISTRIBUTION_POINTS - 1; point++)
        put(w, counts ? "%.50s_%s" : "%.50s_%s_ns", name, distribution_points[point]);
      break;
    default:
      put_text(w, name);
    }
  }
}

/* -- values ---------------------------------------------------------------------------------- */

static void put_histogram(struct writer *w, const struct distribution *d) {
  const uint64_t point[] = {d->p50, d->p90, d->p95, d->p99, d->p999};
  uint64_t count = 0;
  for (size_t i = 0; i < d->count; i++)
    count += d->bucket[i].count;
  put_number(w, count, d->count);
  for (size_t i = 0; i < sizeof point / sizeof *point; i++)
    put_number(w, point[i], d->count);
}

static void put_shed(struct writer *w, unsigned shed) {
  char text[64] = "";
  for (int step = 1; step < APROF_STEPS; step++)
    if (shed & 1u << step)
      snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? " " : "",
               governed_steps[step].name);
  put_text(w, text);
}

static bool is_known(const struct field *field, const void *at) {
  switch (field->type) {
  case FIELD_MAYBE:
  case FIELD_INDEX:
    return *(const uint64_t *)at != UNKNOWN;
  case FIELD_NONZERO:
  case FIELD_ID:
  case FIELD_TID:
    return *(const uint64_t *)at != 0;
  case FIELD_SHARE:
    return *(const double *)at >= 0;
  case FIELD_MAYBE_FLAG:
    return *(const uint8_t *)at != FLAG_UNKNOWN;
  default:
    return true;
  }
}

static void put_values(struct writer *w, const struct layout *layout, const void *object,
                       bool there);

/* `there`: or else it is a member of an object that is null. */
static void put_value(struct writer *w, const struct field *field, const void *at, bool there) {
  bool known = there && is_known(field, at);
  switch (field->type) {
  case FIELD_LIST:
  case FIELD_STEPS:
    break;
  case FIELD_SIGNED:
  case FIELD_TID:
    put(w, known ? "%" PRId64 : "", *(const int64_t *)at);
    break;
  case FIELD_SHARE:
    put(w, known ? "%.4f" : "", *(const double *)at);
    break;
  case FIELD_TEXT:
  case FIELD_MAYBE_TEXT:
    put_text(w, known ? *(const char *const *)at : NULL);
    break;
  case FIELD_FLAG:
  case FIELD_MAYBE_FLAG:
    put_text(w, !known ? NULL : *(const uint8_t *)at ? "true" : "false");
    break;
  case FIELD_PAIR:
    put_text(w, ((const char *const *)at)[0]);
    put_text(w, ((const char *const *)at)[1]);
    break;
  case FIELD_HISTOGRAM:
    put_histogram(w, at);
    break;
  case FIELD_SHED:
    put_shed(w, *(const unsigned *)at);
    break;
  case FIELD_OBJECT:
    put_values(w, field->of, at, known);
    break;
  default:
    put_number(w, *(const uint64_t *)at, known);
  }
}

static void put_values(struct writer *w, const struct layout *layout, const void *object,
                       bool there) {
  for (size_t i = 0; i < layout->fields; i++) {
    const struct field *field = &layout->field[i];
    bool null = field->is && !*((const bool *)object + field->is);
    if (!is_place_in_totals(field))
      put_value(w, field, field_of(object, field), there && !null);
  }
}

/* -- rows -------------------------------------------------------------------------------- */

/* Of totals, or else of a function or kind. */
static const struct field *find_list(const struct layout *layout, const char *name) {
  for (size_t i = 0; i < layout->fields; i++)
    if (layout->field[i].type == FIELD_LIST && !strcmp(layout->field[i].name, name))
      return &layout->field[i];
  return NULL;
}

static uint64_t process_of(const struct layout *layout, const void *element) {
  for (size_t i = 0; i < layout->fields; i++)
    if (layout->field[i].name && !strcmp(layout->field[i].name, "process"))
      return *(const uint64_t *)field_of(element, &layout->field[i]);
  return UNKNOWN;
}

/* Whose list it is. */
struct owner {
  const char *kind; /* of requests; or NULL: a function's */
  const char *name, *file;
  uint64_t line, process;
};

/* `of`: or NULL: the totals'. */
static void put_list(struct writer *w, const struct view *v, const struct field *list,
                     const void *object, const struct owner *of) {
  for (size_t i = 0; i < field_count(object, list); i++) {
    const void *element = field_element(object, list, i);
    uint64_t number = of && !of->kind ? of->process : process_of(list->of, element);
    const struct view_process *p = number < v->processes ? &v->merged[number] : &v->process;
    put_text(w, p->name);
    put(w, "%" PRId64, p->pid);
    put_text(w, p->host);
    if (of && of->kind)
      put_text(w, of->kind);
    if (of) {
      put_text(w, of->name);
      put_text(w, of->file);
      put_number(w, of->line, of->line);
    }
    put_values(w, list->of, element, true);
    end_row(w);
  }
}

static void put_lists(struct writer *w, const struct view *v, const struct field *list,
                      const struct layout *in) {
  for (size_t i = 0; in == &layout_function && i < v->functions; i++) {
    const struct view_function *f = &v->function[i];
    put_list(w, v, list, f, &(struct owner){NULL, f->name, f->file, f->line, f->process});
  }
  for (size_t i = 0; in == &layout_kind && i < v->kinds; i++) {
    const struct view_kind *k = &v->kind[i];
    put_list(w, v, list, k, &(struct owner){k->kind, k->function, k->file, k->line, UNKNOWN});
  }
}

void csv_write(const struct view *const *v, size_t views, const struct format_options *options,
               FILE *out) {
  static const char *const names[] = {"process", "pid", "host"};
  static const char *const owners[] = {"of_kind", "of_function", "of_file", "of_line"};
  const struct layout *const all[] = {&layout_totals, &layout_function, &layout_kind};
  struct writer w = {.out = out};
  const struct field *list = NULL;
  size_t in = 0;
  while (!(list = find_list(all[in], csv_rows[options->rows])))
    in++;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    put_text(&w, names[i]);
  for (size_t i = all[in] == &layout_kind ? 0 : 1; in && i < sizeof owners / sizeof *owners; i++)
    put_text(&w, owners[i]);
  put_names(&w, list->of, "");
  end_row(&w);
  for (size_t i = 0; i < views; i++)
    if (in)
      put_lists(&w, v[i], list, all[in]);
    else
      put_list(&w, v[i], list, v[i], NULL);
}
