/* SPDX-License-Identifier: MIT */
/* What a probe has seen; see probe.h. */
#include "probe.h"

#include "emit.h"
#include "format.h"
#include "read/names.h"
#include "read/util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_SHOWN = 12, RANGES_FROM = 25, STACKS_SHOWN = 10, BAR = 20 };

/* -- for people -------------------------------------------------------------------- */

static const char *place_of(const struct probe_place *p) {
  const char *place = p->line ? place_text(base_name(p->file), p->line) : NULL;
  const char *in = p->inlined ? " (inlined)" : "";
  if (p->function && place)
    return turn_text("%s at %s%s", p->function, place, in);
  return p->function ? turn_text("%s%s", p->function, in) : place ? place : "?";
}

static void print_bar(uint64_t part, uint64_t whole, FILE *out) {
  unsigned filled = whole ? (unsigned)((part * BAR + whole - 1) / whole) : 0;
  for (unsigned i = 0; i < filled && i < BAR; i++)
    fputc('#', out);
  fputc('\n', out);
}

static void print_row(const char *text, uint64_t count, uint64_t whole, FILE *out) {
  fputs("  ", out);
  print_right(out, cut_middle(text, 38), 38);
  fputs("  ", out);
  print_right(out, shown_count(count), 6);
  print_right(out, shown_share(count, whole), 6);
  fputs("  ", out);
  print_bar(count, whole, out);
}

static void print_ranges(const struct probe_shown *s, FILE *out) {
  for (unsigned i = 0; i < PROBE_RANGES; i++)
    if (s->range[i]) {
      int64_t least, most;
      probe_range(i, &least, &most);
      print_row(least == most ? turn_text("%" PRId64, least)
                              : turn_text("%" PRId64 " to %" PRId64, least, most),
                s->range[i], s->known, out);
    }
}

static void print_shown(const struct probe_shown *s, FILE *out) {
  fputc('\n', out);
  style_set(out, STYLE_TITLE);
  fputs(s->text, out);
  style_set(out, STYLE_PLAIN);
  if (s->is_number && s->known)
    fprintf(out, "  %" PRId64 " to %" PRId64 ", mean %.1f", s->least, s->most,
            s->sum / (double)s->known);
  fputc('\n', out);
  bool ranges = s->is_number && s->values >= RANGES_FROM;
  if (ranges)
    print_ranges(s, out);
  for (size_t i = 0; i < s->values && i < VALUES_SHOWN && !ranges; i++)
    print_row(s->value[i].text, s->value[i].count, s->known, out);
  if (s->values > VALUES_SHOWN && !ranges)
    fprintf(out, "  and %s values more: --json\n", shown_count(s->values - VALUES_SHOWN));
  if (s->unknown)
    fprintf(out, "  not known at %s hits: %s\n", shown_count(s->unknown), s->why ? s->why : "?");
  if (s->late)
    fprintf(out, "  read from memory just after the hit: %s of %s\n", shown_count(s->late),
            shown_count(s->known));
}

static void print_duration(const struct probe_result *r, FILE *out) {
  const struct distribution *d = &r->duration;
  if (r->durations)
    fprintf(out, "  took %s on average; p50 %s, p90 %s, p99 %s, max %s; %s returns\n",
            shown_time(r->duration_sum / r->durations), shown_time(d->p50), shown_time(d->p90),
            shown_time(d->p99), shown_time(d->max), shown_count(r->durations));
  if (r->over && r->durations)
    fprintf(out, "  %s of %s %s and more\n", shown_count(r->overs),
            r->slowest > 0 ? "all returns, in slow requests or not," : "them", shown_time(r->over));
  if (r->unpaired)
    fprintf(out,
            "  calls whose return was not seen, as it was not armed yet or went elsewhere: %s\n",
            shown_count(r->unpaired));
}

static void print_losses(const struct probe_result *r, FILE *out) {
  if (r->too_hot)
    fprintf(out, "  SWITCHED OFF: it was reached more than %s times a second; --most allows more\n",
            shown_count(r->ceiling));
  if (r->lost)
    fprintf(out, "  %s hits were counted, but not looked at: they came too fast\n",
            shown_count(r->lost));
  if (r->undecided)
    fprintf(out, "  not known whether it holds at %s hits, which count as false: %s\n",
            shown_count(r->undecided), r->why_undecided);
  if (r->late_threads)
    fprintf(out, "  threads that began later: %s; they ran for up to %s unwatched\n",
            shown_count(r->late_threads), shown_time(r->late_most));
  if (r->unwatched)
    fprintf(out, "  threads that could not be watched: %s (%s)\n", shown_count(r->unwatched),
            r->why_unwatched);
  if (r->late_places)
    fprintf(out, "  places in code that was loaded later: %s; it ran for up to %s unwatched\n",
            shown_count(r->late_places), shown_time(r->late_places_most));
  if (r->unwatched_places)
    fprintf(out, "  places in code that was loaded later, for which there was no breakpoint: %s\n",
            shown_count(r->unwatched_places));
  if (r->places == 0)
    fputs("  nothing that has the place was loaded meanwhile\n", out);
  if (r->ended)
    fputs("  the process has ended\n", out);
}

static void print_kind(const struct probe_kind *k, const struct probe_result *r, FILE *out) {
  fputs("  ", out);
  print_left(out, cut_middle(k->kind, 34), 36);
  print_right(out, shown_count(k->hits), 8);
  print_right(out, shown_count(k->requests), 10);
  print_right(out, shown_count(k->all), 10);
  print_right(out, shown_share(k->requests, k->all), 7);
  if (r->slowest > 0)
    print_right(out, shown_count(k->slow), 7);
  fputc('\n', out);
}

static void print_requests(const struct probe_result *r, FILE *out) {
  if (!r->joined && !r->why_not_joined)
    return;
  if (r->why_not_joined) {
    fprintf(out, "  which requests reached it is not known: %s\n", r->why_not_joined);
    return;
  }
  if (r->slowest > 0)
    fprintf(out, "  only hits in the slowest %g %% of each kind count below; %s others do not\n",
            r->slowest, shown_count(r->left_out));
  if (r->kinds) {
    fputc('\n', out);
    style_set(out, STYLE_TITLE);
    print_left(out, "requests", 38);
    style_set(out, STYLE_FAINT);
    fprintf(out, "%8s%10s%10s%s\n", "hits", "reached", "of",
            r->slowest > 0 ? "          slow" : "");
    style_set(out, STYLE_PLAIN);
  }
  for (size_t i = 0; i < r->kinds && i < VALUES_SHOWN; i++)
    print_kind(&r->kind[i], r, out);
  if (r->kinds > VALUES_SHOWN)
    fprintf(out, "  and %s kinds more: --json\n", shown_count(r->kinds - VALUES_SHOWN));
  if (r->outside)
    fprintf(out, "  hits of no request: %s\n", shown_count(r->outside));
  if (r->unseen)
    fprintf(out, "  hits of which that is not known, as events are lost: %s\n",
            shown_count(r->unseen));
  if (r->unkept)
    fprintf(out, "  hits that there was no room for: %s; they count above alone\n",
            shown_count(r->unkept));
}

void show_probe(const struct probe_result *r, FILE *out) {
  style_choose(out);
  style_set(out, STYLE_TITLE);
  fprintf(out, "%s", r->what);
  style_set(out, STYLE_PLAIN);
  fprintf(out, "  %s  watched for %s\n", r->places == 1 ? place_of(&r->place[0]) : r->asked,
          shown_time(r->elapsed));
  for (size_t i = 0; i < r->places && r->places > 1; i++)
    fprintf(out, "  %s: %s hits\n", place_of(&r->place[i]), shown_count(r->place[i].hits));
  fprintf(out, "  %s hits", shown_count(r->hits));
  if (r->elapsed && r->hits)
    fprintf(out, ", %s a second",
            shown_measure(UNIT_COUNT, (double)r->hits * 1e9 / (double)r->elapsed));
  fprintf(out, ", on %s thread%s\n", shown_count(r->threads), r->threads == 1 ? "" : "s");
  if (r->condition)
    fprintf(out, "  where %s: %s (%s)\n", r->condition, shown_count(r->matched),
            shown_percent(r->matched, r->seen));
  if (r->has_duration)
    print_duration(r, out);
  print_losses(r, out);
  print_requests(r, out);
  for (size_t i = 0; i < r->showns; i++)
    print_shown(&r->shown[i], out);
  if (r->stacks)
    fputs("\nstacks\n", out);
  for (size_t i = 0; i < r->stacks && i < STACKS_SHOWN; i++)
    fprintf(out, "  %6s  %s\n", shown_count(r->stack[i].count), cut_middle(r->stack[i].stack, 70));
  if (r->stacks > STACKS_SHOWN)
    fprintf(out, "  and %s more: --json\n", shown_count(r->stacks - STACKS_SHOWN));
}

/* The line of a source as it is now, without the blanks before it; "" where it cannot be read. */
static const char *source_line(const char *text, uint64_t line) {
  for (; text && line > 1; line--) {
    text = strchr(text, '\n');
    text += text != NULL;
  }
  if (!text)
    return "";
  text += strspn(text, " \t");
  return turn_text("%.*s", (int)strcspn(text, "\r\n"), text);
}

void show_probe_lines(const char *asked, const struct probe_place *place, size_t count, FILE *out) {
  const size_t most = (size_t)16 << 20, wide = 60;
  const char *file = NULL;
  char *text = NULL;
  size_t length;
  for (size_t i = 0; i < count; i++) {
    const struct probe_place *p = &place[i];
    if (p->file && (!file || strcmp(file, p->file))) {
      fprintf(out, "%s in %s\n", asked, p->file);
      free(text);
      text = read_text_file(p->file, most, &length);
      file = p->file;
    }
    char *clean = print_string("%s", source_line(text, p->line));
    clean_text(clean);
    fprintf(out, "  %6" PRIu64 "  %s%s%s%s\n", p->line, cut_middle(clean, wide),
            p->inlined ? "  of " : "", p->inlined && p->function ? p->function : "",
            p->inlined ? ", inlined" : "");
    free(clean);
  }
  free(text);
}

void show_probe_log(const struct probe_log *l, FILE *out) {
  fprintf(out, "%12.6f  %7d", (double)l->at / 1e9, l->tid);
  if (l->duration != UINT64_MAX)
    fprintf(out, "  %s", shown_time(l->duration));
  else if (l->place)
    fprintf(out, "  %s", place_of(l->place));
  for (size_t i = 0; i < l->values && l->value; i++)
    fprintf(out, "  %s=%s%s", l->shown[i], l->value[i] ? l->value[i] : "?",
            l->late[i] ? " (later)" : "");
  fputc('\n', out);
}

/* -- as JSON ----------------------------------------------------------------------- */

static void emit_place_of(struct emit *e, const struct probe_place *p, bool hits) {
  char address[24];
  snprintf(address, sizeof address, "0x%" PRIx64, p->address);
  emit_open(e, NULL, '{');
  emit_text(e, "function", p->function);
  emit_text(e, "file", p->file);
  emit_maybe(e, "line", p->line, p->line != 0);
  emit_bool(e, "inlined", p->inlined);
  emit_text(e, "address", address);
  if (hits)
    emit_number(e, "hits", p->hits);
  emit_close(e, '}');
}

static void emit_shown(struct emit *e, const struct probe_shown *s) {
  bool number = s->is_number && s->known;
  emit_open(e, NULL, '{');
  emit_text(e, "expression", s->text);
  emit_number(e, "known", s->known);
  emit_number(e, "unknown", s->unknown);
  emit_text(e, "why_unknown", s->why);
  emit_number(e, "read_later", s->late);
  if (number) {
    emit_signed(e, "least", s->least);
    emit_signed(e, "most", s->most);
    emit_float(e, "mean", s->sum / (double)s->known, 6);
  }
  emit_list(e, "values");
  for (size_t i = 0; i < s->values; i++) {
    emit_row(e);
    emit_open(e, NULL, '{');
    emit_text(e, "value", s->value[i].text);
    emit_number(e, "count", s->value[i].count);
    emit_close(e, '}');
  }
  emit_close(e, ']');
  emit_number(e, "other", s->other);
  emit_close(e, '}');
}

static void emit_duration(struct emit *e, const struct probe_result *r) {
  const struct distribution *d = &r->duration;
  emit_open(e, "duration", '{');
  emit_number(e, "count", r->durations);
  emit_number(e, "sum_ns", r->duration_sum);
  emit_maybe(e, "p50_ns", d->p50, r->durations != 0);
  emit_maybe(e, "p90_ns", d->p90, r->durations != 0);
  emit_maybe(e, "p99_ns", d->p99, r->durations != 0);
  emit_maybe(e, "max_ns", d->max, r->durations != 0);
  emit_number(e, "over_ns", r->over);
  emit_number(e, "over", r->overs);
  emit_number(e, "unpaired", r->unpaired);
  emit_close(e, '}');
}

static void emit_requests(struct emit *e, const struct probe_result *r) {
  emit_text(e, "why_no_requests", r->why_not_joined);
  if (!r->joined) {
    emit_null(e, "requests");
    return;
  }
  emit_open(e, "requests", '{');
  emit_list(e, "kinds");
  for (size_t i = 0; i < r->kinds; i++) {
    const struct probe_kind *k = &r->kind[i];
    emit_row(e);
    emit_open(e, NULL, '{');
    emit_text(e, "kind", k->kind);
    emit_number(e, "hits", k->hits);
    emit_number(e, "came_by", k->requests);
    emit_number(e, "count", k->all);
    emit_maybe(e, "slow", k->slow, r->slowest > 0);
    emit_close(e, '}');
  }
  emit_close(e, ']');
  emit_number(e, "outside", r->outside);
  emit_number(e, "not_known", r->unseen);
  emit_number(e, "unkept", r->unkept);
  emit_number(e, "left_out", r->left_out);
  emit_text(e, "label", r->label);
  emit_close(e, '}');
}

void show_probe_json(const struct probe_result *r, FILE *out) {
  struct emit *e = allocate(1, sizeof *e);
  emit_begin(e, out, "aprof.probe/1");
  emit_signed(e, "pid", r->pid);
  emit_text(e, "asked", r->asked);
  emit_number(e, "elapsed_ns", r->elapsed);
  emit_number(e, "hits", r->hits);
  emit_number(e, "seen", r->seen);
  emit_number(e, "lost", r->lost);
  emit_text(e, "condition", r->condition);
  emit_number(e, "matched", r->matched);
  emit_number(e, "undecided", r->undecided);
  emit_text(e, "why_undecided", r->why_undecided);
  emit_number(e, "threads", r->threads);
  emit_number(e, "late_threads", r->late_threads);
  emit_number(e, "late_most_ns", r->late_most);
  emit_number(e, "unwatched_threads", r->unwatched);
  emit_text(e, "why_unwatched", r->why_unwatched);
  emit_number(e, "late_places", r->late_places);
  emit_number(e, "late_places_most_ns", r->late_places_most);
  emit_number(e, "unwatched_places", r->unwatched_places);
  emit_bool(e, "too_hot", r->too_hot);
  emit_bool(e, "ended", r->ended);
  emit_list(e, "places");
  for (size_t i = 0; i < r->places; i++)
    emit_place_of(e, &r->place[i], true);
  emit_close(e, ']');
  if (r->has_duration)
    emit_duration(e, r);
  emit_requests(e, r);
  emit_list(e, "shown");
  for (size_t i = 0; i < r->showns; i++)
    emit_shown(e, &r->shown[i]);
  emit_close(e, ']');
  emit_list(e, "stacks");
  for (size_t i = 0; i < r->stacks; i++) {
    emit_row(e);
    emit_open(e, NULL, '{');
    emit_text(e, "stack", r->stack[i].stack);
    emit_number(e, "count", r->stack[i].count);
    emit_close(e, '}');
  }
  emit_close(e, ']');
  emit_end(e);
  free(e);
}
