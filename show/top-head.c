/* SPDX-License-Identifier: MIT */
/* Above the rows: the process, its loops, findings; see top.h. */
#include "format.h"
#include "read/util.h"
#include "top.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 24, BAR = 20, LEAST = 24, LEAST_NAME = 8, MOST_OF_KIND = 2 };

/* Columns behind the line and two spaces. */
static size_t room_behind(const struct sheet *s, const char *line) {
  size_t used = 2;
  for (const char *at = line; *at; at++)
    used += (unsigned char)*at >= SHEET_STYLES && ((unsigned char)*at & 0xc0) != 0x80;
  return s->width > used ? s->width - used : 0;
}

/* Appends to the line, two spaces apart, as long as there is room. */
static void add(const struct sheet *s, char **line, const char *style, const char *text) {
  bool used = **line != 0;
  size_t room = room_behind(s, *line);
  if (!*text || (used && shown_width(text) > room))
    return;
  char *longer = print_string("%s%s%s%s" SHEET_PLAIN, *line, used ? "  " : "", style, text);
  free(*line);
  *line = longer;
}

/* "last 10 s"; or what is known of that yet. */
static void window_text(char *text, size_t room, const struct top_look *look,
                        const struct top_process *p) {
  const struct top_windows *w = &top_windows[look->window];
  uint64_t span = p->view->process.elapsed;
  if (!p->view->is_interval)
    snprintf(text, room, "%s %s", p->view->process.reset != UNKNOWN ? "since reset" : "since start",
             shown_time(top_span(p->view)));
  else if (w->ns && span > w->ns - w->ns / 8 && span < w->ns + w->ns / 8)
    snprintf(text, room, "%s", w->name);
  else
    snprintf(text, room, "last %s", shown_time(span));
}

static uint64_t lost(const struct view *v) {
  return v->health.lost_futures + v->health.lost_events + v->health.missed_events +
         v->health.lost_histograms + v->health.lost_requests + v->health.lost_shares;
}

void top_head_line(struct sheet *s, const struct top_look *look, const struct top_process *p) {
  const struct view *v = p->view;
  char *line = print_string("%s", ""), text[160];
  uint64_t ended = 0, runs = 0, live = 0;
  for (size_t i = 0; i < v->functions; i++) {
    ended += top_ended(&v->function[i]);
    runs += v->function[i].slices;
    live += v->function[i].live;
  }
  snprintf(text, sizeof text, "%s %" PRId64, cut_middle(p->name, NAME_WIDTH), p->pid);
  add(s, &line, SHEET_TITLE, text);
  if (p->state != TOP_RUNS)
    add(s, &line, SHEET_ALARM, top_states[p->state]);
  else if (!v->process.enabled)
    add(s, &line, SHEET_ALARM, "profiling is off");
  if (look->frozen)
    add(s, &line, SHEET_ALARM, "frozen");
  window_text(text, sizeof text, look, p);
  add(s, &line, "", text);
  snprintf(text, sizeof text, "%s ended/s", top_rate(ended, top_span(v)));
  add(s, &line, "", text);
  if (s->width > 80) {
    snprintf(text, sizeof text, "%s runs/s", top_rate(runs, top_span(v)));
    add(s, &line, "", text);
  }
  snprintf(text, sizeof text, "%s live", shown_count(live));
  add(s, &line, "", text);
  if (lost(v)) {
    snprintf(text, sizeof text, "lost %s", shown_count(lost(v)));
    add(s, &line, SHEET_ALARM, text);
  }
  if (v->health.overhead >= 0) {
    snprintf(text, sizeof text, "cost %.1f %%", v->health.overhead);
    add(s, &line, "", text);
  }
  add(s, &line, SHEET_FAINT, look->clock ? look->clock : "");
  sheet_head(s, line);
}

/* -- loops ------------------------------------------------------------------------------ */

static char *bar(double share) {
  char text[BAR + 1];
  int full = share < 0 ? 0 : (int)(share * BAR + 0.5);
  for (int i = 0; i < BAR; i++)
    text[i] = share < 0 ? '?' : i < full ? '|' : '.';
  text[BAR] = 0;
  int on = share < 0 ? 0 : full > BAR ? BAR : full;
  return print_string("[" SHEET_BAR "%.*s" SHEET_FAINT "%s" SHEET_PLAIN "]", on, text, text + on);
}

static void add_loop(struct sheet *s, const struct top_process *p, const struct view_loop *loop,
                     uint64_t limit) {
  const struct view *v = p->view;
  bool ran;
  double share = top_share(loop, &ran);
  const char *function;
  bool edge;
  uint64_t hold = top_hold(p, loop, &function, &edge);
  bool holds = loop->open != UNKNOWN && loop->open > limit;
  char *meter = bar(share);
  char *name = strcmp(loop->name, v->process.name) && s->width > 100
                   ? print_string(" %s", cut_middle(loop->name, 16))
                   : print_string("%s", "");
  bool lacks = loop->thread && (loop->thread->lacks & LACK_MAXIMA);
  const char *time = holds ? shown_time(loop->open) : hold == UNKNOWN ? "-" : shown_time(hold);
  char *line = print_string("loop %-7" PRId64 "%s %s %4s%s  %s %s%s" SHEET_PLAIN, loop->tid, name,
                            meter, share < 0 ? "?" : shown_share(rounded(share * 1e6), 1000000),
                            ran ? " ran" : "", holds ? SHEET_ALARM "held for" : "longest hold",
                            edge && !holds ? "<" : "", shown_mark(lacks, time));
  const char *by = holds ? loop->open_function : function;
  size_t room = room_behind(s, line);
  if (by && (holds || hold != UNKNOWN) && room >= LEAST_NAME)
    add(s, &line, holds ? SHEET_ALARM : "", cut_middle(by, room));
  sheet_head(s, line);
  free(meter);
  free(name);
}

static int by_share(const void *a, const void *b) {
  const struct view_loop *x = *(const struct view_loop *const *)a,
                         *y = *(const struct view_loop *const *)b;
  bool ran;
  double one = top_share(x, &ran), other = top_share(y, &ran);
  return one > other ? -1 : one < other ? 1 : x < y ? -1 : x > y;
}

/* The busiest first; threads of a pool hold none. */
static void add_loops(struct sheet *s, const struct top_process *p, uint64_t limit, size_t most) {
  const struct view *v = p->view;
  const struct view_loop **loop = allocate(v->loops + 1, sizeof *loop);
  size_t count = 0;
  for (size_t i = 0; i < v->loops; i++)
    if (!v->loop[i].thread || !v->loop[i].thread->is_pool)
      loop[count++] = &v->loop[i];
  if (count)
    qsort(loop, count, sizeof *loop, by_share);
  for (size_t i = 0; i < count && (!most || i < most); i++)
    add_loop(s, p, loop[i], limit);
  if (most && count > most)
    sheet_head(s, print_string("and %zu loops less busy", count - most));
  free(loop);
}

/* -- findings --------------------------------------------------------------------------- */

static void label_of(const struct finding *f, char *label, size_t room) {
  const char *kind = finding_kinds[f->kind];
  size_t i = 0;
  for (; kind[i] && i + 1 < room; i++)
    label[i] = kind[i] == '_' ? ' ' : (char)toupper(kind[i]);
  label[i] = 0;
}

/* A hundred of one kind do not hide another. */
static bool is_told(const struct finding *finding, size_t i, size_t most) {
  size_t before = 0;
  for (size_t j = 0; j < i; j++)
    before += finding[j].kind == finding[i].kind && !finding[j].cause;
  return !finding[i].cause && (!most || before < MOST_OF_KIND);
}

/* What has no other finding as its cause, a line each. */
static void add_findings(struct sheet *s, const struct top_look *look, const struct view *v,
                         size_t most) {
  size_t count, shown = 0, told = 0, all = 0;
  char label[32];
  struct finding *finding = ask_findings(v, &look->limits, &count);
  for (size_t i = 0; i < count; i++) {
    all += !finding[i].cause;
    told += is_told(finding, i, most);
  }
  told = most && told > most ? most : told;
  for (size_t i = 0; i < count && shown < told; i++) {
    if (!is_told(finding, i, most))
      continue;
    label_of(&finding[i], label, sizeof label);
    size_t used = 3 + strlen(label), left = s->width > used + 20 ? s->width - used : 20;
    bool last = ++shown == told && all > told;
    char *more = last ? print_string(" [f: %zu more]", all - told) : print_string("%s", "");
    sheet_head(s,
               print_string(SHEET_ALARM "! %s" SHEET_PLAIN " %s" SHEET_FAINT "%s", label,
                            cut_right(shown_sentence(finding[i].text), left - strlen(more)), more));
    free(more);
  }
  findings_free(finding, count);
}

void top_head(struct sheet *s, const struct top_look *look, const struct top_process *p,
              size_t lines) {
  size_t part = !lines ? 0 : lines <= LEAST ? 3 : lines / 6;
  top_head_line(s, look, p);
  add_loops(s, p, look->limits.of[FINDING_HELD], part);
  add_findings(s, look, p->view, part);
}

void top_findings_page(struct sheet *s, const struct top_look *look, const struct top_process *p) {
  size_t count;
  char label[40];
  struct finding *finding = ask_findings(p->view, &look->limits, &count);
  top_head_line(s, look, p);
  s->title = print_string("FINDINGS");
  for (size_t i = 0; i < count; i++) {
    label_of(&finding[i], label, sizeof label - 2);
    strcat(label, "  ");
    sheet_wrapped(s, label, shown_sentence(finding[i].text), finding[i].function);
    for (size_t j = 0; j < FINDING_EFFECTS && finding[i].effect[j].parts; j++)
      sheet_wrapped(s, "  - ", shown_sentence(finding[i].effect[j]), finding[i].function);
  }
  if (!count)
    sheet_row(s, print_string("no finding in this time"), NULL);
  findings_free(finding, count);
}
