/* SPDX-License-Identifier: MIT */
/* Gates; see gate.h. */
#include "gate.h"

#include "read/util.h"
#include "sentence.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -- reading one ------------------------------------------------------------------------- */

bool gate_is(const char *text) {
  return strpbrk(text, "<>") != NULL;
}

static bool no(char **why, char *text) {
  *why = text;
  return false;
}

static bool parse_value(struct gate *g, const char *text, bool compares, char **why) {
  enum measure_unit unit = g->measure->unit;
  g->changes = *text == '+' || *text == '-';
  const char *number = text + g->changes;
  g->share = g->changes && strchr(number, '%');
  if (!value_read(number, g->share ? UNIT_SHARE : unit, unit == UNIT_COUNT, &g->value))
    return no(why,
              print_string("'%s' is no value of %s: that is one like %s%s", text, g->measure->name,
                           value_examples[unit], compares ? ", or as +10% a change" : ""));
  g->value = *text == '-' ? -g->value : g->value;
  if (g->changes && !compares)
    return no(why, print_string("'%s' is a change, and there is nothing to compare with: that is "
                                "for `aprof diff A B'",
                                text));
  return true;
}

/* The names that begin alike, or all beginnings. */
static char *unknown_measure(const char *name) {
  char *list = print_string("%s", "");
  size_t length = strcspn(name, ".");
  bool alike = false;
  for (size_t i = 0; i < measure_count; i++)
    alike |= length && !strncmp(measures[i].name, name, length);
  for (size_t i = 0; i < measure_count; i++) {
    const char *other = measures[i].name;
    size_t part = alike ? strlen(other) : strcspn(other, ".");
    bool again = !alike && i && !strncmp(other, measures[i - 1].name, part + 1);
    if (again || (alike && strncmp(other, name, length)))
      continue;
    char *longer = print_string("%s%s%.*s%s", list, *list ? ", " : "", (int)part, other,
                                other[part] ? ".*" : "");
    free(list);
    list = longer;
  }
  char *text = print_string("there is no measure '%s'; there are %s (aprof-diff(1))", name, list);
  free(list);
  return text;
}

static char *trimmed(const char *text, size_t length) {
  while (length && isspace((unsigned char)*text))
    text++, length--;
  while (length && isspace((unsigned char)text[length - 1]))
    length--;
  return print_string("%.*s", (int)length, text);
}

static bool is_kind(const char *name) {
  for (size_t i = 0; i < FINDINGS; i++)
    if (!strcmp(name, finding_kinds[i]))
      return true;
  return !strcmp(name, "*");
}

/* The measure is the last word before the comparison: names of functions may have spaces, and
   comparisons, in them. */
static bool parse_left(struct gate *g, const char *text, size_t length, char **why) {
  char *left = trimmed(text, length), *space = strrchr(left, ' ');
  const char *measure = space ? space + 1 : left;
  g->measure = measure_find(measure);
  g->name = space ? trimmed(left, (size_t)(space - left)) : print_string("*");
  if (!*left)
    *why = print_string("a gate is a measure, a comparison and a value, as in 'hold.max > 20ms'");
  else if (!g->measure)
    *why = unknown_measure(measure);
  else if (g->measure->of == MEASURE_FINDINGS && !is_kind(g->name))
    *why = print_string("there is no kind of finding '%s'; aprof-report(1) has them", g->name);
  else if (g->measure->of == MEASURE_PROCESS && strcmp(g->name, "*") != 0)
    *why = print_string("%s is of the whole process, and of no function `%s'", measure, g->name);
  free(left);
  return !*why;
}

bool gate_parse(const char *text, bool compares, struct gate *g, char **why) {
  const char *greater = strrchr(text, '>'), *less = strrchr(text, '<');
  const char *at = !greater || (less && less > greater) ? less : greater;
  *why = NULL;
  *g = (struct gate){.text = trimmed(text, strlen(text))};
  if (!at)
    return no(why, print_string("'%s' has no comparison; a gate is as 'hold.max > 20ms'", g->text));
  g->above = *at == '>';
  g->equal = at[1] == '=';
  char *value = trimmed(at + 1 + g->equal, strlen(at + 1 + g->equal));
  bool good = parse_left(g, text, (size_t)(at - text), why) && parse_value(g, value, compares, why);
  free(value);
  return good;
}

void gate_release(struct gate *g) {
  free(g->text);
  free(g->name);
}

/* -- judging -------------------------------------------------------------------------- */

static bool fits(const char *name, const char *pattern) {
  return name && (!strcmp(pattern, "*") || !strcmp(name, pattern) ||
                  fnmatch(pattern, name, FNM_NOESCAPE) == 0);
}

static bool is_meant(const struct gate *g, const struct diff_row *row) {
  if (!row->name || g->measure->of == MEASURE_PROCESS)
    return !row->name && g->measure->of == MEASURE_PROCESS;
  if (g->measure->of != row->sort)
    return false;
  /* Who waits for new work waits as long as there is none, who calls as long as what it calls. */
  if (row->sort == MEASURE_AWAIT && !strcmp(g->name, "*") &&
      (row->background || !view_is_outside(row->kind)))
    return false;
  return fits(row->name, g->name) || fits(row->callee, g->name);
}

/* What is compared, in the unit of the gate's value; NAN: not known. */
static double figure_of(const struct gate *g, const struct change *c) {
  return !g->changes ? c->side[DIFF_B].median : g->share ? 100 * c->ratio : c->by;
}

static bool holds(const struct gate *g, double figure) {
  return (g->above ? figure > g->value : figure < g->value) || (g->equal && figure == g->value);
}

static bool is_worse(const struct gate *g, double figure, double than) {
  return g->above ? figure > than : figure < than;
}

static const char *told_measure(enum measure_unit unit, double value) {
  uint64_t number = rounded(value);
  return isnan(value)         ? "-"
         : unit == UNIT_TIME  ? told_time(number)
         : unit == UNIT_COUNT ? told_count(number)
                              : told_percent(rounded(value * 1e6), 100000000);
}

static const char *told_figure(const struct gate *g, const struct change *c) {
  enum measure_unit unit = g->measure->unit;
  const char *now = told_measure(unit, c->side[DIFF_B].median),
             *was = told_measure(unit, c->side[DIFF_A].median);
  bool share = g->share && !isinf(c->ratio);
  double by = share ? 100 * c->ratio : c->by;
  const char *change = told_measure(share ? UNIT_SHARE : unit, fabs(by));
  return g->changes ? turn_text("%c%s (%s, was %s)", by < 0 ? '-' : '+', change, now, was) : now;
}

/* "`save_upload' (upload.c:133) hold.max 65.2 ms > 20ms" */
static struct sentence failure(const struct gate *g, const struct change *c, size_t failed) {
  const struct diff_row *row = c->row;
  const char *value = strpbrk(strrchr(g->text, g->above ? '>' : '<'), "+-0123456789");
  const char *who = row->callee ? turn_text("`%s` > `%s`", row->name, row->callee)
                    : row->name ? turn_text("`%s`", row->name)
                                : "the process";
  int side = row->file[DIFF_B] ? DIFF_B : DIFF_A;
  const char *file = row->file[side];
  const char *place = file ? turn_text(" (%s)", place_text(file, row->line[side])) : "";
  const char *more = failed > 1 ? turn_text(", and %s more", told_count(failed - 1)) : "";
  return sentence("%s%s: %s is %s, gate %s%s %s%s", who, place, g->measure->name, told_figure(g, c),
                  g->above ? ">" : "<", g->equal ? "=" : "", value, more);
}

/* Why nothing could be compared, although one is asked to. */
static struct sentence cannot(const struct diff *d, const struct gate *g, size_t meant) {
  bool one = strcmp(g->name, "*") != 0, await = g->measure->of == MEASURE_AWAIT;
  bool request = g->measure->of == MEASURE_REQUEST || g->measure->of == MEASURE_TIER;
  const char *where = d->side[DIFF_A] ? " in either" : "";
  if (!meant && request)
    return sentence("the gate '%s' judges nothing: there are no requests%s%s%s%s", g->text,
                    one ? " of `" : "", one ? g->name : "", one ? "`" : "", where);
  if (!meant && one)
    return sentence("the gate '%s' judges nothing: no function%s `%s`%s; `aprof report --all` "
                    "has the names",
                    g->text, await ? " awaits, or is awaited as," : " is called", g->name, where);
  return sentence("the gate '%s' judges nothing: %s%s%s%s is not known%s", g->text,
                  g->measure->name, one ? " of `" : "", one ? g->name : "", one ? "`" : "",
                  g->changes        ? " on both sides"
                  : d->side[DIFF_A] ? " in B"
                                    : "");
}

static void judge_row(const struct diff *d, const struct diff_row *row, struct gate_result *r,
                      struct change *worst) {
  const struct gate *g = r->gate;
  struct change c = diff_change(d, row, g->measure);
  double figure = figure_of(g, &c);
  /* In per cent of nothing nothing has grown. What is not there any more is judged as it was in no
     way. */
  bool fresh = g->share && !diff_is_there(d, row, DIFF_A);
  if (isnan(figure) || fresh || !diff_is_there(d, row, DIFF_B))
    return;
  r->judged++;
  if (!holds(g, figure) || (g->changes && d->has_spread && !c.beyond))
    return;
  if (!r->failed++ || is_worse(g, figure, r->figure)) {
    r->figure = figure;
    *worst = c;
  }
}

/* Of findings there are no rows: they are counted in each run of B. */
static void judge_findings(const struct diff *d, struct gate_result *r, struct change *worst,
                           const struct ask_limits *limits) {
  const struct gate *g = r->gate;
  struct spread *side = worst->side;
  for (int s = 0; s < DIFF_SIDES; s++) {
    side[s] = (struct spread){.median = NAN};
    for (size_t i = 0; i < d->side[s]; i++) {
      double n = measure_findings(d->view[diff_first(d, s) + i], limits,
                                  strcmp(g->name, "*") ? g->name : NULL);
      if (!side[s].runs++ || n > side[s].median)
        side[s].median = side[s].least = side[s].most = n;
    }
  }
  worst->row = &d->row[0];
  worst->by = side[DIFF_B].median - side[DIFF_A].median;
  worst->ratio = side[DIFF_A].median > 0 ? worst->by / side[DIFF_A].median
                 : worst->by > 0         ? INFINITY
                                         : 0;
  r->figure = figure_of(g, worst);
  r->judged = !isnan(r->figure);
  r->failed = r->judged && holds(g, r->figure);
}

struct gate_result gate_judge(const struct diff *d, const struct gate *g,
                              const struct ask_limits *limits) {
  struct gate_result r = {.gate = g, .figure = NAN};
  struct change worst = {.row = NULL};
  size_t meant = 0;
  if (g->measure->of == MEASURE_FINDINGS)
    judge_findings(d, &r, &worst, limits);
  else
    for (size_t i = 0; i < d->rows; i++)
      if (is_meant(g, &d->row[i])) {
        meant++;
        judge_row(d, &d->row[i], &r, &worst);
      }
  r.verdict = r.failed ? GATE_FAILED : r.judged ? GATE_PASSED : GATE_CANNOT;
  if (r.failed) {
    r.row = worst.row;
    memcpy(r.side, worst.side, sizeof r.side);
    r.text = failure(g, &worst, r.failed);
  } else if (!r.judged)
    r.text = cannot(d, g, meant);
  return r;
}

void gate_result_release(struct gate_result *r) {
  sentence_free(r->text);
}
