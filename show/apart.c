/* SPDX-License-Identifier: MIT */
/* One of several against the others; see apart.h. */
#include "apart.h"

#include "ask/apart.h"
#include "format.h"
#include "read/util.h"
#include "report.h"
#include "tail-rows.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP = 26, COUNT = 9, TIME = 9, BUSY = 7, BUILD = 11, BUILD_SHOWN = 9 };

static struct apart *find(const struct output_many *m, const struct apart_options *o) {
  return apart_of(m->view, m->views, o->by, &o->requests);
}

/* -- text ------------------------------------------------------------------------------ */

struct shown {
  const struct apart *all;
  const struct apart_options *options;
  FILE *out;
};

/* "node3: GET /item: +49.00 of the +61.00 ms: waiting in ..."; free() it. */
static char *headline(const struct shown *s, const struct apart_kind *k) {
  const struct apart_part *first = k->part, *last = &k->part[k->parts - 1];
  if (k->parts < 2)
    return print_string("%s: %s alone has them, %s on average", k->name, first->group->name,
                        shown_time(rounded(first->mean)));
  if (!k->stands_out)
    return print_string("%s: no %s stands out: %s to %s on average, of %zu", k->name,
                        s->options->by, shown_time(rounded(last->mean)),
                        shown_time(rounded(first->mean)), k->parts);
  char *name = print_string("%s: %s", first->group->name, k->name);
  char *text =
      k->tail && tail_rows_differ(k->tail)
          ? tail_rows_cause(s->all->paths, name, k->tail)
          : print_string("%s: %s on average instead of %s, and nothing that its futures "
                         "did says why",
                         name, shown_time(rounded(first->mean)), shown_time(rounded(k->others)));
  free(name);
  return text;
}

static void print_part(const struct apart_part *p, FILE *out) {
  const struct apart_group *g = p->group;
  print_left(out, cut_middle(g->name, GROUP - 1), GROUP);
  print_right(out, shown_count(p->count), COUNT);
  print_right(out, shown_short(rounded(p->mean)), TIME);
  print_right(out, shown_short(p->p50), TIME);
  print_right(out, shown_short(p->p99), TIME);
  print_right(out, g->busy >= 0 ? turn_text("%.0f %%", 100 * g->busy) : "-", BUSY);
  print_right(out, g->build ? turn_text("%.*s", BUILD_SHOWN, g->build) : "-", BUILD);
  fputc('\n', out);
}

static void print_parts(const struct shown *s, const struct apart_kind *k) {
  static const char *const heads[] = {"requests", "mean", "p50", "p99", "busy", "build"};
  static const int widths[] = {COUNT, TIME, TIME, TIME, BUSY, BUILD};
  fputc('\n', s->out);
  style_set(s->out, STYLE_FAINT);
  print_left(s->out, cut_right(s->options->by, GROUP - 1), GROUP);
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
    print_right(s->out, heads[i], widths[i]);
  fputc('\n', s->out);
  style_set(s->out, STYLE_PLAIN);
  for (size_t i = 0; i < k->parts; i++)
    print_part(&k->part[i], s->out);
}

/* All the others have one build, and this one another: that may be all of it. */
static void print_build(const struct shown *s, const struct apart_kind *k) {
  const char *own = k->part[0].group->build,
             *others = k->parts > 1 ? k->part[1].group->build : NULL;
  for (size_t i = 2; i < k->parts && others; i++) {
    const char *build = k->part[i].group->build;
    others = build && !strcmp(build, others) ? others : NULL;
  }
  if (!own || !others || !strcmp(own, others) || !strcmp(s->options->by, APART_BUILD))
    return;
  char *text = print_string("%s alone runs build %.16s, all others %.16s", k->part[0].group->name,
                            own, others);
  report_print_wrapped(s->out, text, 0);
  free(text);
}

static void print_kind(const struct shown *s, const struct apart_kind *k) {
  char *line = headline(s, k);
  style_set(s->out, STYLE_TITLE);
  report_print_wrapped(s->out, line, 0);
  style_set(s->out, STYLE_PLAIN);
  free(line);
  if (k->stands_out) {
    char *which =
        print_string("%s on average, %s elsewhere; below what all futures of a request took%s%s%s",
                     shown_time(rounded(k->part[0].mean)), shown_time(rounded(k->others)),
                     k->together ? ", of all kinds that begin in `" : "",
                     k->together ? k->together : "", k->together ? "'" : "");
    report_print_wrapped(s->out, which, 0);
    print_build(s, k);
    free(which);
  }
  print_parts(s, k);
  const struct tail_heads heads = {"others", k->part[0].group->name};
  if (k->stands_out && k->tail)
    tail_rows_print(s->all->paths, k->tail, s->options->rows, &heads, s->out);
}

static void print_source(const struct output_many *m, const struct shown *s) {
  uint64_t longest = 0;
  for (size_t i = 0; i < m->views; i++)
    if (m->view[i]->process.elapsed > longest)
      longest = m->view[i]->process.elapsed;
  fputc('\n', s->out);
  style_set(s->out, STYLE_FAINT);
  char *text = print_string("%zu process%s by %s, of %s", m->views, m->views == 1 ? "" : "es",
                            s->options->by, shown_time(longest));
  report_print_wrapped(s->out, text, 0);
  free(text);
  style_set(s->out, STYLE_PLAIN);
  for (size_t i = 0; i < m->missings; i++) {
    char *line = print_string("%s is in no number: %s", m->missing[i].name, m->missing[i].says);
    report_print_wrapped(s->out, line, 0);
    free(line);
  }
}

int apart_print(const struct output_many *m, const struct apart_options *o, FILE *out) {
  struct apart *all = find(m, o);
  if (!all)
    return OUTPUT_FAILED;
  style_choose(out);
  struct shown s = {all, o, out};
  for (size_t i = 0; i < all->kinds; i++) {
    if (i)
      fputc('\n', out);
    print_kind(&s, &all->kind[i]);
  }
  print_source(m, &s);
  apart_free(all);
  return 0;
}

/* -- JSON ------------------------------------------------------------------------------ */

static void emit_part(struct emit *e, const struct apart_part *p) {
  const struct apart_group *g = p->group;
  emit_row(e);
  emit_open(e, NULL, '{');
  emit_text(e, "group", g->name);
  emit_number(e, "processes", g->processes);
  emit_text(e, "host", g->host);
  emit_text(e, "build_id", g->build);
  emit_text(e, "aprof_version", g->version);
  emit_share(e, "busy", g->busy, 4);
  emit_number(e, "count", p->count);
  emit_number(e, "failed", p->failed);
  emit_number(e, "wall_ns", p->wall);
  emit_float(e, "mean_ns", p->mean, 1);
  emit_float(e, "error_ns", p->error, 1);
  emit_maybe(e, "p50_ns", p->p50, p->p50 != UNKNOWN);
  emit_maybe(e, "p99_ns", p->p99, p->p99 != UNKNOWN);
  emit_maybe(e, "max_ns", p->max, p->max != UNKNOWN);
  emit_close(e, '}');
}

static void emit_kind(const struct shown *s, const struct apart_kind *k, struct emit *e) {
  char *line = headline(s, k);
  char *name = print_string("%s: %s", k->part[0].group->name, k->name);
  emit_row(e);
  emit_open(e, NULL, '{');
  emit_text(e, "kind", k->name);
  emit_text(e, "text", line);
  emit_text(e, "stands_out", k->stands_out ? k->part[0].group->name : NULL);
  emit_float(e, "more_ns", k->more, 1);
  emit_text(e, "together", k->together);
  emit_list(e, "groups");
  for (size_t i = 0; i < k->parts; i++)
    emit_part(e, &k->part[i]);
  emit_close(e, ']');
  if (k->stands_out && k->tail)
    tail_rows_emit_cause(e, s->all->paths, name, k->tail);
  else
    emit_null(e, "cause");
  if (k->tail)
    tail_rows_emit(e, s->all->paths, k->tail);
  else
    emit_null(e, "rows");
  emit_close(e, '}');
  free(name);
  free(line);
}

int apart_json(const struct output_many *m, const struct apart_options *o, FILE *out) {
  struct apart *all = find(m, o);
  struct shown s = {all, o, out};
  struct emit e;
  if (!all)
    return OUTPUT_FAILED;
  emit_begin(&e, out, "aprof.apart/1");
  emit_text(&e, "by", o->by);
  emit_number(&e, "processes", m->views);
  emit_list(&e, "missing");
  for (size_t i = 0; i < m->missings; i++) {
    emit_row(&e);
    emit_open(&e, NULL, '{');
    emit_text(&e, "name", m->missing[i].name);
    emit_text(&e, "says", m->missing[i].says);
    emit_close(&e, '}');
  }
  emit_close(&e, ']');
  emit_list(&e, "kinds");
  for (size_t i = 0; i < all->kinds; i++)
    emit_kind(&s, &all->kind[i], &e);
  emit_close(&e, ']');
  emit_end(&e);
  apart_free(all);
  return 0;
}
