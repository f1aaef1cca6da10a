/* SPDX-License-Identifier: MIT */
/* The findings, in words; see report.h. */
#include "report.h"

#include "format.h"
#include "read/util.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FINDINGS = 6, MOST_OF_KIND = 2 };
/* Nothing is worth saying of less than this share (1/N) of the time. */
enum { LEAST_SEEN = 1000 };

/* Takes the text. */
static void print_note(FILE *out, char *text) {
  report_print_wrapped(out, text, 0);
  free(text);
}

/* Where times were shed, nobody can tell that nothing happened. */
static void print_none(const struct view *v, const struct report_options *options, size_t count,
                       FILE *out) {
  struct loop loop = ask_loop(v);
  const char *limit = shown_time(options->limits.of[FINDING_HELD]);
  bool longer = loop.worst != UNKNOWN && loop.worst > options->limits.of[FINDING_HELD];
  if (!loop.unseen && !count && longer && loop.run_delay != UNKNOWN)
    print_note(out,
               print_string("no finding: others had the processors for %s while its loops were "
                            "ready, and may have made each hold over %s",
                            shown_time(loop.run_delay), limit));
  else if (!loop.unseen && !count)
    print_note(out, print_string("no finding: nothing held the loop for over %s", limit));
  if (!loop.unseen)
    return;
  bool none = !count && loop.elapsed - loop.unseen > loop.elapsed / LEAST_SEEN;
  const char *seen = shown_percent(loop.elapsed - loop.unseen, loop.elapsed);
  print_note(out, print_string("%sholds of the loop could be seen for %s of its time only (~)%s%s",
                               count ? "" : "no finding, but ", seen, none ? ": none over " : "",
                               none ? limit : ""));
}

/* No hold of anybody's, and late all the same. */
static void print_preempted(const struct view *v, const struct report_options *options, FILE *out) {
  uint64_t all = 0, most = 0;
  for (size_t i = 0; i < v->loops; i++) {
    all += v->loop[i].preempted;
    uint64_t worst = v->loop[i].preempted_max;
    most = worst != UNKNOWN && worst > most ? worst : most;
  }
  if (most > options->limits.of[FINDING_HELD])
    print_note(out, print_string("preempted while it ran: %s at worst, %s in all; others had the "
                                 "processor",
                                 shown_time(most), shown_time(all)));
}

/* Functions without histograms have maxima only. */
static void print_blind(const struct view *v, FILE *out) {
  size_t ran = 0, blind = 0;
  for (size_t i = 0; i < v->functions; i++) {
    ran += v->function[i].slices || v->function[i].done;
    blind += ask_lacks_histograms(&v->function[i]);
  }
  char *of = blind == ran ? print_string("%s", "") : print_string(" of %zu functions", blind);
  if (blind)
    print_note(out, print_string("no histograms%s: how often is not known; late and stuck ones are "
                                 "told by maxima and means only",
                                 of));
  free(of);
}

/* -- one finding ------------------------------------------------------------- */

char *report_next(const struct finding *f, const char *target) {
  static const char simple[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:";
  bool named = f->next == NEXT_FUNCTION;
  target = target ? target : "TARGET";
  if (f->next == NEXT_NOTHING || (named && !f->function))
    return NULL;
  if (!named)
    return print_string("aprof ps %s", target);
  const char *name = f->function->name, *quote = name[strspn(name, simple)] ? "'" : "";
  return print_string("aprof report %s -f %s%s%s", target, quote, name, quote);
}

/* NULL: nothing that is not said. free() it. A target that leaves no room is a word. */
static char *next_step(const struct finding *f, const struct report_options *options) {
  bool said = f->next == NEXT_FUNCTION && options->name_count;
  char *text = said ? NULL : report_next(f, options->target);
  if (!text || shown_width(text) + strlen("next: ") + REPORT_INDENT <= FORMAT_WIDTH)
    return text;
  free(text);
  return report_next(f, NULL);
}

static void print_finding(const struct finding *f, size_t number, FILE *out) {
  char label[32] = "";
  for (size_t i = 0; finding_kinds[f->kind][i] && i + 1 < sizeof label; i++)
    label[i] = finding_kinds[f->kind][i] == '_' ? ' ' : (char)toupper(finding_kinds[f->kind][i]);
  style_set(out, STYLE_ALARM);
  fprintf(out, "%2zu %s", number, label);
  style_set(out, STYLE_PLAIN);
  fputs("  ", out);
  report_print_wrapped(out, shown_sentence(f->text), 5 + shown_width(label));
  for (size_t i = 0; i < FINDING_EFFECTS && f->effect[i].parts; i++) {
    fprintf(out, "%*s\342\224\224 ", REPORT_INDENT, "");
    report_print_wrapped(out, shown_sentence(f->effect[i]), REPORT_INDENT + 2);
  }
  if (f->rule)
    fprintf(out, "%*s`aprof check` finds this before it runs: rule %s\n", REPORT_INDENT, "",
            f->rule);
}

/* What it takes and what to type next: on one line, where both find room there. */
static void print_below(const struct finding *f, const char *next, FILE *out) {
  char *cost = print_string("%s", "");
  if (f->cost.time != UNKNOWN) {
    free(cost);
    cost = print_string("cost: %s, %s of %s", shown_time(f->cost.time),
                        shown_percent(f->cost.time, f->cost.whole), f->cost.of);
  }
  size_t width = REPORT_INDENT + shown_width(cost) + 2 + strlen("next: ");
  bool both = *cost && next && width + shown_width(next) <= FORMAT_WIDTH;
  if (*cost)
    fprintf(out, "%*s%s%s", REPORT_INDENT, "", cost, both ? "  " : "\n");
  if (next)
    fprintf(out, "%*snext: %s\n", both ? 0 : REPORT_INDENT, "", next);
  free(cost);
}

/* -- all of them --------------------------------------------------------------- */

/* What is printed: one below the other, as long as there is room. */
struct printed {
  size_t lines, shown;
  char *last; /* the last command that was told */
};

/* Tells the worst of each kind, so that a hundred of one kind do not hide another. */
static bool is_told(const struct finding *findings, size_t i, size_t count, bool all) {
  size_t before = 0;
  while (before < i && findings[i - 1 - before].kind == findings[i].kind)
    before++;
  return all || count <= MOST_FINDINGS || before < MOST_OF_KIND;
}

size_t report_lines(const char *text) {
  size_t lines = 0;
  for (; (text = strchr(text, '\n')); text++)
    lines++;
  return lines;
}

/* What there is to say of all of them, below an empty line; so many lines. */
static size_t print_notes(const struct view *v, const struct report_options *options, size_t count,
                          FILE *out) {
  char *text = NULL;
  size_t length, lines = 0;
  FILE *memory = open_memstream(&text, &length);
  if (!memory)
    return 0;
  fputc('\n', memory);
  print_none(v, options, count, memory);
  print_preempted(v, options, memory);
  print_blind(v, memory);
  fclose(memory);
  fputs(text, out);
  lines = report_lines(text);
  free(text);
  return lines;
}

/* False where it finds no room any more. */
static bool print_next(struct printed *p, const struct finding *f,
                       const struct report_options *options, size_t most, FILE *out) {
  char *text = NULL, *next = next_step(f, options);
  size_t length;
  FILE *memory = open_memstream(&text, &length);
  bool fits = memory != NULL;
  if (memory) {
    print_finding(f, p->shown + 1, memory);
    print_below(f, next && (!p->last || strcmp(next, p->last) != 0) ? next : NULL, memory);
    fclose(memory);
    fits = !p->shown || !most || p->lines + report_lines(text) <= most;
  }
  if (fits) {
    fputs(text, out);
    p->lines += report_lines(text);
    p->shown++;
    free(p->last);
    p->last = next;
  } else
    free(next);
  free(text);
  return fits;
}

void report_print_findings(const struct view *v, const struct report_options *options,
                           const struct view_function *of, FILE *out) {
  struct printed p = {.lines = 1}; /* how many there are more */
  size_t count, effects = 0;
  struct finding *findings = ask_findings(v, &options->limits, &count);
  bool all = options->all || !options->functions || of, room = true;
  if (!of)
    p.lines += print_notes(v, options, count, out);
  for (size_t i = 0; i < count; i++) {
    effects += !of && !all && findings[i].cause;
    if ((of ? findings[i].function != of : !all && findings[i].cause != NULL) ||
        !is_told(findings, i, count, all))
      continue;
    room = room && print_next(&p, &findings[i], options, of ? 0 : options->finding_lines, out);
  }
  size_t more = count - p.shown - effects;
  if (!of && more)
    fprintf(out, "%*sand %zu finding%s more: --all\n", REPORT_INDENT, "", more,
            more == 1 ? "" : "s");
  free(p.last);
  findings_free(findings, count);
}
