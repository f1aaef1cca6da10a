/* SPDX-License-Identifier: MIT */
/* Coverage as text and as JSON, aprof.coverage/1; see coverage.h. */
#include "coverage.h"
#include "load.h"

#include "cli.h"
#include "places.h"
#include "read/json.h"
#include "read/view.h"
#include "show/emit.h"
#include "show/format.h"

#include <aprof/abi.h>
#include <stdlib.h>
#include <string.h>

/* What the records come to. The flags are by record. */
struct sums {
  const struct coverage *coverage;
  enum coverage_verdict *verdict; /* declared, callback */
  bool *shipped;                  /* binding: of a file that comes with aprof */
  bool *idle;                     /* function: never ran; NULL without totals */
  size_t functions, missings, callbacks, unmatched, idles, refused;
  bool inside; /* what is outside any async function may run in a future all the same */
  size_t amiss;
};

static const struct coverage_record *record(const struct coverage *c, enum coverage_kind kind,
                                            size_t i) {
  return &c->of[kind].record[i];
}

static enum coverage_verdict verdict(const struct sums *s, enum coverage_kind kind, size_t i) {
  return s->verdict[kind == COVERAGE_CALLBACK ? s->coverage->of[COVERAGE_DECLARED].count + i : i];
}

static size_t count_of(const struct sums *s, enum coverage_kind kind,
                       enum coverage_verdict wanted) {
  size_t count = 0;
  for (size_t i = 0; i < s->coverage->of[kind].count; i++)
    count += verdict(s, kind, i) == wanted;
  return count;
}

static bool ends_in(const char *text, const char *end) {
  size_t length = strlen(text), least = strlen(end);
  return length >= least && !strcmp(text + length - least, end);
}

/* The file of a bindings line is one of `directory`, or where an aprof elsewhere,
   whose plugin compiled this, keeps them. */
static bool is_in(const char *place, const char *directory) {
  const char *slash = strrchr(place, '/');
  char *own = slash ? print_string("%.*s", (int)(slash - place), place) : NULL;
  char *real = own ? realpath(own, NULL) : NULL;
  const char *name = real ? real : own;
  bool inside = name && directory && !strcmp(name, directory);
  inside |= own && ends_in(own, "/share/aprof/bindings");
  free(real);
  free(own);
  return inside;
}

static void find_unmatched(struct sums *s) {
  struct places places;
  places_find(&places);
  for (size_t i = 0; i < s->coverage->of[COVERAGE_BINDING].count; i++) {
    const struct coverage_record *b = record(s->coverage, COVERAGE_BINDING, i);
    s->shipped[i] = is_in(b->place, places.bindings);
    s->unmatched += !s->shipped[i] && !b->matches;
  }
  places_release(&places);
}

static bool has_run(const struct view *v, const struct coverage_record *record) {
  for (size_t i = 0; i < v->functions; i++) {
    const struct view_function *f = &v->function[i];
    if (!strcmp(f->name, record->name) && f->file && (f->slices || f->exec || f->created) &&
        !strcmp(base_name(place_text(f->file, f->line)), base_name(record->place)))
      return true;
  }
  return false;
}

static bool find_idle(struct sums *s, const char *totals) {
  const struct coverage *c = s->coverage;
  struct view *v = totals ? view_load(totals, &(struct view_request){0}) : NULL;
  if (!v)
    return !totals;
  s->idle = allocate(c->of[COVERAGE_FUNCTION].count, sizeof *s->idle);
  for (size_t i = 0; i < c->of[COVERAGE_FUNCTION].count; i++) {
    s->idle[i] = !has_run(v, record(c, COVERAGE_FUNCTION, i));
    s->idles += s->idle[i];
  }
  view_free(v);
  return true;
}

/* Any function may be called on the stack of a future that a call resumes by its key. */
static bool is_resumption(const struct coverage_record *b) {
  static const char *const ways[] = {"run call:", "run icall:", "run def:", "switch "};
  char text[16];
  size_t length = 0;
  for (const char *c = b->name; *c && length < sizeof text - 1; c++)
    if (*c != ' ' || (length && text[length - 1] != ' '))
      text[length++] = *c;
  text[length] = '\0';
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    if (b->matches && !strncmp(text, ways[i], strlen(ways[i])))
      return true;
  return false;
}

static bool may_be_inside(const struct coverage *c) {
  for (size_t i = 0; i < c->of[COVERAGE_BINDING].count; i++)
    if (is_resumption(record(c, COVERAGE_BINDING, i)))
      return true;
  return false;
}

/* Does this version's runtime take events of a unit with such a gate? */
static bool is_served(const struct coverage_record *unit) {
  char *end = NULL;
  unsigned long abi = unit->in ? strtoul(unit->in, &end, 10) : 0;
  unsigned long rows = end && *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
  return abi == APROF_ABI && rows <= APROF_GATE_ROWS;
}

static bool sum_up(struct sums *s, const struct coverage *c, const char *totals) {
  *s = (struct sums){.coverage = c, .functions = c->of[COVERAGE_FUNCTION].count};
  s->shipped = allocate(c->of[COVERAGE_BINDING].count, sizeof *s->shipped);
  s->verdict = coverage_judge(c);
  s->missings = count_of(s, COVERAGE_DECLARED, COVERAGE_MISSING);
  s->callbacks = count_of(s, COVERAGE_CALLBACK, COVERAGE_MISSING);
  find_unmatched(s);
  for (size_t i = 0; i < c->of[COVERAGE_UNIT].count; i++)
    s->refused += !is_served(record(c, COVERAGE_UNIT, i));
  s->inside = may_be_inside(c);
  s->amiss = s->missings + s->callbacks + s->unmatched + s->refused +
             (s->inside ? 0 : c->of[COVERAGE_OUTSIDE].count);
  return find_idle(s, totals);
}

static void release(struct sums *s) {
  free(s->verdict);
  free(s->shipped);
  free(s->idle);
}

/* -- text ------------------------------------------------------------------ */

static const char *plural(size_t count) {
  return count == 1 ? "" : "s";
}

static void print_title(size_t count, const char *title, FILE *out) {
  fputc('\n', out);
  style_set(out, STYLE_TITLE);
  fprintf(out, "%zu %s", count, title);
  style_set(out, STYLE_PLAIN);
  fputc('\n', out);
}

static void print_record(const struct coverage_record *v, FILE *out) {
  fprintf(out, "  %s  %s", v->place, v->name);
  if (v->in && *v->in)
    fprintf(out, "  %s %s", v->space ? "given to" : "in", v->in);
  fputc('\n', out);
}

static void print_head(const struct sums *s, FILE *out) {
  const struct coverage *c = s->coverage;
  size_t awaits = c->of[COVERAGE_AWAIT].count, units = c->of[COVERAGE_UNIT].count;
  size_t spans = c->of[COVERAGE_SPAN].count;
  fprintf(out, "%zu async function%s, %zu await%s, ", s->functions, plural(s->functions), awaits,
          plural(awaits));
  if (spans)
    fprintf(out, "%zu span%s, ", spans, plural(spans));
  fprintf(out, "in %zu unit%s\n", units, plural(units));
  fprintf(out, "%zu of %zu async functions instrumented\n", s->functions,
          s->functions + s->missings + s->callbacks);
}

/* One line for each shipped file. It describes a library, and who uses all of one?
   So only the lines that matched are in the notes. */
static void print_shipped(const struct sums *s, FILE *out) {
  const struct coverage *c = s->coverage;
  size_t count = c->of[COVERAGE_BINDING].count, lines = 0;
  for (size_t i = 0; i < count; i++) {
    const struct coverage_record *b = record(c, COVERAGE_BINDING, i);
    const char *file = base_name(b->place), *colon = strrchr(file, ':');
    int length = colon ? (int)(colon - file) : (int)strlen(file);
    if (!s->shipped[i])
      continue;
    lines += b->matches != 0;
    const char *next = i + 1 < count && s->shipped[i + 1]
                           ? base_name(record(c, COVERAGE_BINDING, i + 1)->place)
                           : "";
    if (!strncmp(next, file, (size_t)length) && next[length] == ':')
      continue;
    if (lines)
      fprintf(out, "%.*s: %zu line%s matched\n", length, file, lines, plural(lines));
    lines = 0;
  }
}

static void print_outside(const struct coverage *c, const char *where, FILE *out) {
  size_t outside = c->of[COVERAGE_OUTSIDE].count;
  char *title = print_string("await%s %s", plural(outside), where);
  if (outside)
    print_title(outside, title, out);
  for (size_t i = 0; i < outside; i++)
    print_record(record(c, COVERAGE_OUTSIDE, i), out);
  free(title);
}

static void print_verdict(const struct sums *s, enum coverage_kind kind,
                          enum coverage_verdict wanted, const char *title, FILE *out) {
  size_t count = count_of(s, kind, wanted);
  if (count)
    print_title(count, title, out);
  for (size_t i = 0; i < s->coverage->of[kind].count; i++)
    if (verdict(s, kind, i) == wanted)
      print_record(record(s->coverage, kind, i), out);
}

static void print_refused(const struct sums *s, FILE *out) {
  const struct coverage *c = s->coverage;
  char *title = print_string("unit%s compiled by another version of the plugin, whose events this "
                             "version's runtime does not take; rebuild:",
                             plural(s->refused));
  if (s->refused)
    print_title(s->refused, title, out);
  for (size_t i = 0; i < c->of[COVERAGE_UNIT].count; i++) {
    const struct coverage_record *unit = record(c, COVERAGE_UNIT, i);
    if (!is_served(unit))
      fprintf(out, "  %s  %s\n", unit->place, unit->name);
  }
  free(title);
}

static void print_amiss(const struct sums *s, FILE *out) {
  const struct coverage *c = s->coverage;
  print_refused(s, out);
  print_verdict(s, COVERAGE_DECLARED, COVERAGE_MISSING,
                "declared, but compiled nowhere here with the plugin:", out);
  print_verdict(s, COVERAGE_CALLBACK, COVERAGE_MISSING,
                "given as callbacks, but instrumented nowhere here:", out);
  if (!s->inside)
    print_outside(c, "outside any async function:", out);
  if (s->unmatched)
    print_title(s->unmatched,
                s->unmatched == 1 ? "line of a bindings file matched nothing:"
                                  : "lines of bindings files matched nothing:",
                out);
  for (size_t i = 0; i < c->of[COVERAGE_BINDING].count; i++)
    if (!s->shipped[i] && !record(c, COVERAGE_BINDING, i)->matches)
      print_record(record(c, COVERAGE_BINDING, i), out);
}

/* Nothing is followed, though it may be: who could be meant? */
static void print_passed(const struct sums *s, FILE *out) {
  const struct coverage *c = s->coverage;
  size_t count = s->functions ? 0 : c->of[COVERAGE_PASSED].count;
  if (count)
    print_title(count, "handed to functions that no line describes:", out);
  for (size_t i = 0; i < count; i++)
    fprintf(out, "  %s  %s  to %s\n", record(c, COVERAGE_PASSED, i)->place,
            record(c, COVERAGE_PASSED, i)->name, record(c, COVERAGE_PASSED, i)->in ?: "?");
}

/* Not amiss: what is missing there is known from who declares it. */
static void print_without(const struct coverage *c, FILE *out) {
  if (c->withouts)
    print_title(c->withouts,
                "without notes: nothing async there, or compiled without the plugin:", out);
  for (size_t i = 0; i < c->withouts; i++)
    fprintf(out, "  %s\n", c->without[i]);
}

static void print_text(const struct sums *s, FILE *out) {
  style_choose(out);
  print_head(s, out);
  print_shipped(s, out);
  print_amiss(s, out);
  if (s->idles)
    print_title(s->idles, "instrumented, never ran:", out);
  for (size_t i = 0; s->idle && i < s->functions; i++)
    if (s->idle[i])
      print_record(record(s->coverage, COVERAGE_FUNCTION, i), out);
  if (s->inside)
    print_outside(s->coverage, "in functions that what is resumed by key may call:", out);
  print_verdict(s, COVERAGE_CALLBACK, COVERAGE_LIBRARY,
                "of other libraries, given as callbacks: their runs are not seen:", out);
  print_passed(s, out);
  print_without(s->coverage, out);
  if (!s->amiss)
    fputs("nothing amiss\n", out);
}

/* -- JSON ------------------------------------------------------------------ */

/* Of a callback. */
static const char *body_of(enum coverage_verdict verdict) {
  return verdict == COVERAGE_HERE      ? "instrumented"
         : verdict == COVERAGE_KEYED   ? "run by the library"
         : verdict == COVERAGE_LIBRARY ? "library"
                                       : "missing";
}

static void emit_record(struct emit *e, const struct sums *s, enum coverage_kind kind, size_t i) {
  const struct coverage_record *v = record(s->coverage, kind, i);
  emit_open(e, NULL, '{');
  emit_text(e, kind == COVERAGE_UNIT ? "file" : "at", v->place);
  emit_text(e,
            kind == COVERAGE_UNIT      ? "plugin"
            : kind == COVERAGE_BINDING ? "text"
                                       : "name",
            v->name);
  if (kind == COVERAGE_AWAIT || kind == COVERAGE_OUTSIDE)
    emit_text(e, "function", v->in);
  if (kind == COVERAGE_CALLBACK)
    emit_text(e, "create", v->in);
  if (kind == COVERAGE_BINDING) {
    emit_number(e, "matches", v->matches);
    emit_bool(e, "shipped", s->shipped[i]);
  }
  if (kind == COVERAGE_UNIT)
    emit_bool(e, "served", is_served(v));
  if (kind == COVERAGE_FUNCTION && s->idle)
    emit_bool(e, "ran", !s->idle[i]);
  if (kind == COVERAGE_DECLARED)
    emit_bool(e, "instrumented", verdict(s, kind, i) == COVERAGE_HERE);
  if (kind == COVERAGE_CALLBACK)
    emit_text(e, "body", body_of(verdict(s, kind, i)));
  emit_close(e, '}');
}

static void emit_records(struct emit *e, const struct sums *s, const char *name,
                         enum coverage_kind kind) {
  emit_list(e, name);
  for (size_t i = 0; i < s->coverage->of[kind].count; i++) {
    emit_row(e);
    emit_record(e, s, kind, i);
  }
  emit_close(e, ']');
}

static void print_json(const struct sums *s, FILE *out) {
  static const char *const names[] = {"units",    "functions", "awaits",  "outside",
                                      "declared", "callbacks", "bindings"};
  const struct coverage *c = s->coverage;
  struct emit e;
  emit_begin(&e, out, "aprof.coverage/1");
  e.gap = "\n";
  emit_number(&e, "instrumented", s->functions);
  e.gap = "\n";
  emit_number(&e, "async", s->functions + s->missings + s->callbacks);
  e.gap = "\n";
  emit_number(&e, "amiss", s->amiss);
  e.gap = "\n";
  emit_bool(&e, "outside_amiss", !s->inside);
  emit_list(&e, "without");
  for (size_t i = 0; i < c->withouts; i++)
    emit_text(&e, NULL, c->without[i]);
  emit_close(&e, ']');
  for (int kind = 0; kind <= COVERAGE_BINDING; kind++)
    emit_records(&e, s, names[kind], (enum coverage_kind)kind);
  emit_records(&e, s, "spans", COVERAGE_SPAN);
  emit_end(&e);
}

size_t coverage_print(const struct coverage *c, const struct coverage_options *options, FILE *out) {
  struct sums s;
  size_t amiss = SIZE_MAX;
  if (sum_up(&s, c, options->totals)) {
    (options->json ? print_json : print_text)(&s, out);
    amiss = s.amiss;
  }
  release(&s);
  return amiss;
}
