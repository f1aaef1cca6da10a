/* SPDX-License-Identifier: MIT */
/* A comparison as text and as Markdown; see diff.h. */
#include "diff.h"

#include "format.h"
#include "read/util.h"
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, NAME = 24, CELL = 17, CHANGE = 20 };

/* -- cells ---------------------------------------------------------------------------- */

/* "65.2 ms", of several runs "65.2 ms ±4%": half of what lies between them. */
static const char *shown_side(const struct change *c, int side) {
  const struct spread *s = &c->side[side];
  const char *text = shown_mark(s->lacks, shown_measure(c->measure->unit, s->median));
  double share = s->median > 0 ? 50 * (s->most - s->least) / s->median : 0;
  return s->runs < 2 ? text : turn_text("%s \302\261%.0f%%", text, share);
}

/* A time's in per cent up to a doubling, then how many times; of a share the difference. */
static const char *shown_by(const struct diff *d, const struct change *c) {
  const char *mark = d->has_spread && c->beyond ? " *" : "";
  double times = 1 + c->ratio;
  if (!diff_is_there(d, c->row, DIFF_A))
    return turn_text("new%s", mark);
  if (!diff_is_there(d, c->row, DIFF_B))
    return turn_text("gone%s", mark);
  if (isnan(c->by))
    return "-";
  if (c->measure->unit == UNIT_SHARE)
    return turn_text("%+.1f points%s", c->by, mark);
  if (isinf(c->ratio))
    return turn_text("from 0%s", mark);
  if (times >= 2)
    return turn_text(times < 100 ? "x %.1f%s" : "x %.0f%s", times, mark);
  return turn_text("%+.1f %%%s", 100 * c->ratio, mark);
}

static int place_side(const struct diff_row *row) {
  return row->file[DIFF_B] || row->line[DIFF_B] ? DIFF_B : DIFF_A;
}

static const char *place_of(const struct diff_row *row) {
  int side = place_side(row);
  return row->file[side] ? place_text(row->file[side], row->line[side]) : "";
}

/* "get_item > pool_get", to be freed. */
static char *name_of(const struct diff_row *row) {
  return row->callee ? print_string("%s > %s", row->name, row->callee)
                     : print_string("%s", row->name);
}

/* -- what is compared ------------------------------------------------------------------ */

/* "3 runs of kv (pids 12, 14, 16), 60.0 s", to be freed. */
static char *side_text(const struct diff *d, int side) {
  size_t first = diff_first(d, side), count = d->side[side];
  const struct view_process *p = &d->view[first]->process;
  struct spread elapsed = diff_value(d, &d->row[0], measure_find("elapsed"), side);
  char *text = count > 1 ? print_string("%zu runs of %s, each about ", count, p->name)
               : p->pid  ? print_string("%s (pid %" PRId64 "), ", p->name, p->pid)
                         : print_string("%s, ", p->name);
  char *whole = print_string("%s%s", text, shown_measure(UNIT_TIME, elapsed.median));
  free(text);
  return whole;
}

static const char *build_text(const struct diff *d) {
  return d->other_build == 1 ? ", other build" : d->other_build == 0 ? ", same build" : "";
}

/* How sure what is shown below is. */
static const char *sure_text(const struct diff *d) {
  return d->has_spread
             ? "Medians; \302\261 half the spread of the runs. * No run of B lies among those of A."
             : "A run each, so a change may be chance: A,A,A B,B,B tells those that are not.";
}

/* -- text ------------------------------------------------------------------------------ */

static void print_row(const struct diff *d, const struct change *c, const char *name, FILE *out) {
  print_left(out, name, NAME);
  print_right(out, shown_side(c, DIFF_A), CELL);
  print_right(out, shown_side(c, DIFF_B), CELL);
  const char *by = shown_by(d, c);
  bool starred = by[strlen(by) - 1] == '*';
  print_right(out, by, CHANGE - (starred ? 0 : 2));
  fputc('\n', out);
}

static void print_name(const struct diff_row *row, FILE *out) {
  char *name = name_of(row);
  const char *place = place_of(row);
  size_t width = WIDTH - shown_width(place) - 2;
  style_set(out, STYLE_TITLE);
  fputs(cut_middle(name, width > 20 ? width : 20), out);
  style_set(out, STYLE_FAINT);
  fprintf(out, "  %s\n", cut_left(place, WIDTH - 22));
  style_set(out, STYLE_PLAIN);
  free(name);
}

/* The first so many rows have how many changes. */
static size_t first_rows(const struct change *list, size_t count, uint64_t rows) {
  size_t i = 0;
  for (uint64_t seen = 0; i < count; i++) {
    seen += !i || list[i].row != list[i - 1].row;
    if (rows && seen > rows)
      break;
  }
  return i;
}

static char *summary(const struct diff *d, const struct change *list, size_t count) {
  size_t functions = diff_rows_of(list, count, MEASURE_FUNCTION),
         awaits = diff_rows_of(list, count, MEASURE_AWAIT),
         kinds = diff_rows_of(list, count, MEASURE_REQUEST);
  const char *what = d->has_spread ? "beyond the spread of the runs" : "by over 5 %";
  if (!count)
    return print_string("Nothing changed %s.", what);
  char *name = name_of(list[0].row);
  char *of_kinds = kinds ? print_string("%zu kind%s of requests, ", kinds, kinds == 1 ? "" : "s")
                         : print_string("%s", "");
  char *text = print_string("%s%zu function%s and %zu wait%s changed %s, most of all `%s`.",
                            of_kinds, functions, functions == 1 ? "" : "s", awaits,
                            awaits == 1 ? "" : "s", what, name);
  free(of_kinds);
  free(name);
  return text;
}

static void print_head(const struct diff *d, FILE *out) {
  char *side[] = {side_text(d, DIFF_A), side_text(d, DIFF_B)};
  fprintf(out, "A  %s\nB  %s%s\n", cut_right(side[0], WIDTH - 3), cut_right(side[1], WIDTH - 18),
          build_text(d));
  for (size_t i = 0; i < d->notes; i++)
    fputs("   ", out), report_print_wrapped(out, shown_sentence(d->note[i]), 3);
  free(side[0]);
  free(side[1]);
}

void diff_print(const struct diff_shown *shown, FILE *out) {
  const struct diff *d = shown->diff;
  size_t wholes, count;
  struct change *whole = diff_whole(d, &wholes), *list = diff_changes(d, &count);
  size_t some = first_rows(list, count, shown->rows);
  char *first = summary(d, list, count);
  style_choose(out);
  print_head(d, out);
  fputc('\n', out);
  report_print_wrapped(out, first, 0);
  fprintf(out, "%s\n\n", sure_text(d));
  style_set(out, STYLE_TITLE);
  print_left(out, "", NAME);
  print_right(out, "A", CELL);
  print_right(out, "B", CELL);
  print_right(out, "change", CHANGE - 2);
  style_set(out, STYLE_PLAIN);
  fputc('\n', out);
  for (size_t i = 0; i < wholes; i++)
    if (whole[i].side[DIFF_A].runs || whole[i].side[DIFF_B].runs)
      print_row(d, &whole[i], whole[i].measure->name, out);
  for (size_t i = 0; i < some; i++) {
    char *name = print_string("  %s", list[i].measure->name);
    if (!i || list[i].row != list[i - 1].row) {
      fputc('\n', out);
      print_name(list[i].row, out);
    }
    print_row(d, &list[i], name, out);
    free(name);
  }
  size_t rest = 0;
  for (int sort = MEASURE_FUNCTION; sort <= MEASURE_TIER; sort++)
    rest += diff_rows_of(list + some, count - some, (enum measure_of)sort);
  if (rest)
    fprintf(out, "\nand %zu more (--top 0 shows all)\n", rest);
  free(first);
  free(list);
  free(whole);
}

/* -- Markdown ---------------------------------------------------------------------------- */

/* Names of C++ have what means something there. */
static void mark_text(const char *text, FILE *out) {
  for (; *text; text++) {
    if (strchr("\\`*_{}[]<>()#+!|~", *text))
      fputc('\\', out);
    fputc(*text, out);
  }
}

static void mark_row(const struct diff *d, const struct change *c, bool named, FILE *out) {
  fputs("| ", out);
  if (named && c->row->name) {
    char *name = name_of(c->row);
    fputs("**", out);
    mark_text(name, out);
    fputs("** ", out);
    mark_text(place_of(c->row), out);
    free(name);
  }
  fprintf(out, " | %s | %s | %s | ", c->measure->name, shown_side(c, DIFF_A),
          shown_side(c, DIFF_B));
  mark_text(shown_by(d, c), out);
  fputs(" |\n", out);
}

/* As code, in more backticks than stand in it. */
static void mark_code(const char *text, FILE *out) {
  size_t most = 0;
  for (const char *at = text; *at; at++) {
    size_t run = strspn(at, "`");
    most = run > most ? run : most;
    at += run ? run - 1 : 0;
  }
  for (size_t i = 0; i <= most; i++)
    fputc('`', out);
  fprintf(out, most ? " %s " : "%s", text);
  for (size_t i = 0; i <= most; i++)
    fputc('`', out);
}

static void mark_gates(const struct diff_shown *shown, FILE *out) {
  for (size_t i = 0; i < shown->gates; i++) {
    const struct gate_result *r = &shown->gate[i];
    fprintf(out, "- %s ", r->verdict == GATE_PASSED ? "passed" : "**failed**");
    mark_code(r->gate->text, out);
    if (r->text.parts) {
      fputs(": ", out);
      mark_text(shown_sentence(r->text), out);
    }
    fputc('\n', out);
  }
  if (shown->gates)
    fputc('\n', out);
}

void diff_markdown(const struct diff_shown *shown, FILE *out) {
  const struct diff *d = shown->diff;
  size_t wholes, count;
  struct change *whole = diff_whole(d, &wholes), *list = diff_changes(d, &count);
  size_t some = first_rows(list, count, shown->rows);
  char *side[] = {side_text(d, DIFF_A), side_text(d, DIFF_B)}, *first = summary(d, list, count);
  fputs("### aprof: ", out);
  mark_text(first, out);
  fputs("\n\n", out);
  mark_gates(shown, out);
  fputs("A: ", out);
  mark_text(side[DIFF_A], out);
  fputs("  \nB: ", out);
  mark_text(side[DIFF_B], out);
  fprintf(out, "%s\n\n| | | A | B | change |\n|---|---|---:|---:|---:|\n", build_text(d));
  for (size_t i = 0; i < wholes; i++)
    if (whole[i].side[DIFF_A].runs || whole[i].side[DIFF_B].runs)
      mark_row(d, &whole[i], false, out);
  for (size_t i = 0; i < some; i++)
    mark_row(d, &list[i], !i || list[i].row != list[i - 1].row, out);
  fputc('\n', out);
  mark_text(sure_text(d), out);
  fputc('\n', out);
  for (size_t i = 0; i < d->notes; i++) {
    fputs("\n- ", out);
    mark_text(shown_sentence(d->note[i]), out);
  }
  if (d->notes)
    fputc('\n', out);
  for (int s = 0; s < DIFF_SIDES; s++)
    free(side[s]);
  free(first);
  free(list);
  free(whole);
}
