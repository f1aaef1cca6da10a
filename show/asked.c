/* SPDX-License-Identifier: MIT */
/* What answers about recordings share; see asked.h. */
#include "asked.h"

#include "ask/blame.h"
#include "format.h"
#include "read/util.h"
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const asked_whats[] = {[CRITICAL_EXEC] = "running",
                                   [CRITICAL_QUEUED] = "queued",
                                   [CRITICAL_WAITING] = "waiting",
                                   [CRITICAL_UNSEEN] = "not seen"};

/* -- numbers --------------------------------------------------------------------------- */

struct asked_unit asked_unit(double ns) {
  static const struct asked_unit units[] = {{"us", 1e3, 2}, {"ms", 1e6, 2}, {"s", 1e9, 2}};
  size_t i = 0;
  while (i < 2 && fabs(ns) >= 1000 * units[i].ns)
    i++;
  return units[i];
}

const char *asked_time(const struct asked_unit *unit, double ns) {
  return turn_text("%.*f", unit->digits, ns / unit->ns);
}

const char *asked_change(const struct asked_unit *unit, double ns) {
  bool none = fabs(ns) < 0.5 * unit->ns / pow(10, unit->digits); /* not "-0.00" */
  ns = none ? 0 : ns;
  return turn_text("%+.*f", unit->digits, ns / unit->ns);
}

/* -- names ----------------------------------------------------------------------------- */

const char *asked_name(const struct story *s, uint32_t path) {
  if (path == STORY_NONE)
    return "?";
  const struct story_path *p = &s->paths[path];
  return p->kind == STORY_AWAIT && p->parent != STORY_NONE
             ? turn_text("%s > %s", s->paths[p->parent].name, p->name)
             : p->name;
}

const char *asked_place(const struct story *s, uint32_t path) {
  const struct story_path *p = path != STORY_NONE ? &s->paths[path] : NULL;
  return p && p->file ? place_text(base_name(p->file), p->line) : "";
}

const char *asked_path(const struct story *s, uint32_t path, size_t width) {
  const char *place = asked_place(s, path);
  size_t taken = *place ? shown_width(place) + 1 : 0;
  size_t left = width > taken + 12 ? width - taken : 12;
  return turn_text("%s%s%s", cut_left(asked_name(s, path), left), *place ? " " : "",
                   cut_left(place, width - 13));
}

const char *asked_none(int none) {
  return none == BLAME_NEVER   ? "nobody: it never ran"
         : none == BLAME_SHORT ? "runs that are short"
                               : "the loop itself";
}

const char *asked_row(const struct story *s, const struct tail_row *row, size_t width) {
  if (row->what == CRITICAL_UNSEEN)
    return "";
  if (row->path == STORY_NONE)
    return asked_none(row->none);
  return row->what == CRITICAL_QUEUED ? turn_text("behind %s", asked_path(s, row->path, width - 7))
                                      : asked_path(s, row->path, width);
}

const char *asked_on_cpu(const struct on_cpu *held) {
  const struct {
    uint64_t time;
    const char *name;
  } state[] = {{held->on, "on a processor"},
               {held->preempted, "preempted"},
               {held->blocked, "blocked in the kernel"},
               {held->unknown, "not known"}};
  const char *text = "";
  for (size_t i = 0; i < sizeof state / sizeof *state; i++)
    if (state[i].time)
      text =
          turn_text("%s%s%s %s", text, *text ? ", " : "", shown_time(state[i].time), state[i].name);
  return text;
}

void asked_emit_on_cpu(struct emit *e, const struct story *s, const struct on_cpu *held) {
  bool known = s->kernel.has_switches;
  emit_maybe(e, "on_cpu_ns", held->on, known);
  emit_maybe(e, "preempted_ns", held->preempted, known);
  emit_maybe(e, "blocked_ns", held->blocked, known);
  emit_maybe(e, "unknown_ns", held->unknown, known);
}

const char *asked_clock(const struct story *s, uint64_t ns) {
  const int64_t second = 1000000000;
  int64_t at = moment_after(s->started_at_ns, ns);
  time_t seconds = (time_t)(at / second);
  struct tm tm;
  if (at < 0 || !gmtime_r(&seconds, &tm))
    return "-";
  return turn_text("%02d:%02d:%02d.%03d", tm.tm_hour, tm.tm_min, tm.tm_sec,
                   (int)(at % second / 1000000));
}

/* -- where it is from ------------------------------------------------------------------ */

const char *asked_slow(const struct slowest_kind *k, const struct slowest_filter *f) {
  if (f->by)
    return turn_text("reached %s: %s of %s", f->by, shown_count(k->slow), shown_count(k->count));
  const char *which = f->over
                          ? turn_text("%s or more", shown_time(f->over))
                          : turn_text("slowest %g %% (%s or more)", f->percent > 0 ? f->percent : 5,
                                      shown_time(k->threshold));
  return turn_text("%s: %s of %s", which, shown_count(k->slow), shown_count(k->count));
}

/* While it was not stopped. */
static void bounds(const struct story *s, double *least, double *most) {
  *least = 1;
  *most = 0;
  for (uint32_t i = 0; i < s->shares_count; i++) {
    if (!(s->shares[i].share > 0))
      continue;
    *least = s->shares[i].share < *least ? s->shares[i].share : *least;
    *most = s->shares[i].share > *most ? s->shares[i].share : *most;
  }
}

/* Whose numbers are of the requests that were kept, and are not scaled up. */
static char *sampled_text(const struct story *s) {
  double least, most;
  bounds(s, &least, &most);
  char *text = s->shares_count < 2 && most >= 1 ? print_string("%s", ",")
               : s->shares_count < 2            ? print_string(", sampled %s", shown_part(most))
               : s->shares_count == 2
                   ? print_string(", sampled %s to %s", shown_part(most), shown_part(least))
                   : print_string(", sampled %s to %s (changed %s times)", shown_part(most),
                                  shown_part(least), shown_count(s->shares_count - 1));
  char *stopped = s->stopped_ns ? print_string(" (and none for %s, while recording was stopped)",
                                               shown_time(s->stopped_ns))
                                : NULL;
  char *all =
      print_string("%s of %s that began%s", text, shown_count(s->begun), stopped ? stopped : "");
  free(stopped);
  free(text);
  if (!s->over && !s->only)
    return all;
  char *some = print_string(
      "%s, those%s%s%s%s alone: %s others were taken out", all, s->only ? " of kind " : "",
      s->only ? s->only : "", s->over ? " of " : "",
      s->over ? turn_text("%s or more", shown_time(s->over)) : "", shown_count(s->left_out));
  free(all);
  return some;
}

void asked_print_source(const struct story *s, FILE *out) {
  char *partial =
      s->partial ? print_string("; %s partial ones left out", shown_count(s->partial)) : NULL;
  char *share = s->shared ? sampled_text(s) : NULL;
  char *lost = s->lost ? print_string("; %s events are lost: what lacks some is partial",
                                      shown_count(s->lost))
                       : print_string("; nothing lost");
  char *text =
      print_string("%s (pid %d), %s from %s UTC: %s requests%s%s%s%s",
                   s->process ? s->process : "?", (int)s->pid, shown_time(s->end_ns - s->begin_ns),
                   asked_clock(s, s->begin_ns), shown_count(s->requests_count), share ? share : "",
                   partial ? partial : "", lost, s->truncated ? "; the recording was cut off" : "");
  fputc('\n', out);
  style_set(out, STYLE_FAINT);
  report_print_wrapped(out, text, 0);
  style_set(out, STYLE_PLAIN);
  free(partial);
  free(share);
  free(lost);
  free(text);
}

static void emit_sampled(struct emit *e, const struct story *s) {
  double least, most;
  if (!s->shared) {
    emit_null(e, "sampled");
    return;
  }
  bounds(s, &least, &most);
  emit_open(e, "sampled", '{');
  emit_share(e, "least", least, 9);
  emit_share(e, "most", most, 9);
  emit_share(e, "last", s->shares_count ? s->shares[s->shares_count - 1].share : 1, 9);
  emit_number(e, "changes", s->shares_count ? s->shares_count - 1 : 0);
  emit_number(e, "begun", s->begun);
  emit_number(e, "kept", s->kept);
  emit_number(e, "stopped_ns", s->stopped_ns);
  emit_number(e, "stopped_events", s->stopped_events);
  emit_close(e, '}');
}

static void emit_only(struct emit *e, const struct story *s) {
  if (!s->over && !s->only) {
    emit_null(e, "only");
    return;
  }
  emit_open(e, "only", '{');
  emit_number(e, "over_ns", s->over);
  emit_text(e, "kind", s->only);
  emit_number(e, "left_out", s->left_out);
  emit_close(e, '}');
}

void asked_emit_source(struct emit *e, const struct story *s) {
  emit_open(e, "recording", '{');
  emit_signed(e, "pid", s->pid);
  emit_text(e, "name", s->process);
  emit_text(e, "host", s->host);
  emit_signed(e, "started_at_ns", s->started_at_ns);
  emit_number(e, "elapsed_ns", s->end_ns - s->begin_ns);
  emit_number(e, "requests", s->requests_count);
  emit_number(e, "partial", s->partial);
  emit_number(e, "events", s->events);
  emit_number(e, "lost", s->lost);
  emit_share(e, "share", s->share, 6);
  emit_sampled(e, s);
  emit_only(e, s);
  emit_bool(e, "truncated", s->truncated);
  emit_close(e, '}');
}

void asked_emit_samples(struct emit *e, const struct view_sampled *s) {
  if (!s->samples) {
    emit_null(e, "samples");
    return;
  }
  emit_open(e, "samples", '{');
  emit_number(e, "count", s->samples);
  emit_number(e, "each_ns", s->each);
  emit_number(e, "outside", s->outside);
  emit_number(e, "frames", s->frames);
  emit_number(e, "unknown", s->unknown);
  emit_number(e, "lost", s->lost);
  emit_bool(e, "user_only", s->user_only);
  emit_bool(e, "throttled", s->throttled);
  emit_close(e, '}');
}

void asked_emit_path(struct emit *e, const struct story *s, uint32_t path) {
  const struct story_path *p = path != STORY_NONE ? &s->paths[path] : NULL;
  emit_text(e, "path", p ? p->text : NULL);
  emit_text(e, "name", p ? p->name : NULL);
  emit_place(e, "at", p ? p->file : NULL, p ? p->line : 0);
}

void asked_emit_row(struct emit *e, const struct story *s, const struct tail_row *row) {
  bool queued = row->what == CRITICAL_QUEUED, known = row->path != STORY_NONE;
  emit_text(e, "what", asked_whats[row->what]);
  emit_bool(e, "behind", queued && known);
  emit_text(e, "by", queued && !known ? asked_none(row->none) : NULL);
  asked_emit_path(e, s, row->path);
}

const char *asked_fault(const void *options, size_t targets, bool json) {
  (void)targets;
  (void)json;
  return slowest_fault(options);
}
