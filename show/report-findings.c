/* SPDX-License-Identifier: MIT */
/* The findings, in words; see report.h. */
#include "report.h"

#include "ask/format.h"
#include "read/util.h"

#include <ctype.h>
#include <string.h>

enum { MOST_FINDINGS = 10, MOST_OF_KIND = 3 };
/* Of a share (1/N) of the time there is nothing to say. */
enum { LEAST_SEEN = 1000 };

/* Length of the piece at `text` that stays on one line: a word, a number with its unit. */
static size_t piece_length(const char *text) {
  static const char *const units[] = {"ns", "us", "ms", "s", "h", "d", "%"};
  size_t length = strcspn(text, " ");
  if (!length || text[length] != ' ' || !isdigit((unsigned char)text[length - 1]))
    return length;
  const char *next = text + length + 1;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    size_t unit = strlen(units[i]);
    if (!strncmp(next, units[i], unit) && !isalpha((unsigned char)next[unit]))
      return length + 1 + strcspn(next, " ");
  }
  return length;
}

/* Breaks at spaces; the lines after the first are indented as far as it is. */
static void print_wrapped(FILE *out, const char *text, size_t indent) {
  size_t column = indent;
  while (*text) {
    size_t word = piece_length(text);
    char piece[512];
    snprintf(piece, sizeof piece, "%.*s", (int)(word < 511 ? word : 511), text);
    size_t width = shown_width(piece);
    if (column > indent && column + 1 + width > FORMAT_WIDTH) {
      fprintf(out, "\n%*s", (int)indent, "");
      column = indent;
    } else if (column > indent) {
      fputc(' ', out);
      column++;
    }
    fputs(piece, out);
    column += width;
    text += word;
    text += strspn(text, " ");
  }
  fputc('\n', out);
}

/* How many of that kind there are, from `i` on. */
static size_t of_kind(const struct finding *findings, size_t i, size_t count) {
  size_t more = 0;
  while (i + more < count && findings[i + more].kind == findings[i].kind)
    more++;
  return more;
}

/* Where times were shed nobody can tell that there was nothing. */
static void print_none(const struct view *v, const struct report_options *options, size_t count,
                       FILE *out) {
  struct loop loop = ask_loop(v);
  const char *limit = shown_time(options->limits.of[FINDING_HELD]);
  if (!loop.unseen) {
    if (!count)
      fprintf(out, "no finding: nothing held the loop for over %s\n", limit);
    return;
  }
  fprintf(out, "%sholds of the loop could be seen for %s of its time only (~)",
          count ? "" : "no finding, but ", shown_percent(loop.elapsed - loop.unseen, loop.elapsed));
  if (!count && loop.elapsed - loop.unseen > loop.elapsed / LEAST_SEEN)
    fprintf(out, ": none over %s", limit);
  fputc('\n', out);
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
    fprintf(out, "preempted while it ran: %s at worst, %s in all; others had the processor\n",
            shown_time(most), shown_time(all));
}

/* Of functions without histograms only the worst of anything is known. */
static void print_blind(const struct view *v, FILE *out) {
  size_t ran = 0, blind = 0;
  for (size_t i = 0; i < v->functions; i++) {
    ran += v->function[i].slices || v->function[i].done;
    blind += ask_lacks_histograms(&v->function[i]);
  }
  if (blind && blind == ran)
    fputs("no histograms: ", out);
  else if (blind)
    fprintf(out, "no histograms of %zu functions: ", blind);
  if (blind)
    fputs("how often is not known; late and stuck ones are told by maxima and means only\n", out);
}

/* Where there are many, the worst of each kind: a hundred of one do not hide another. */
void report_print_findings(const struct view *v, const struct report_options *options, FILE *out) {
  size_t count, shown = 0;
  struct finding *findings = ask_findings(v, &options->limits, &count);
  bool all = count <= MOST_FINDINGS || !options->functions;
  fputc('\n', out);
  print_none(v, options, count, out);
  print_preempted(v, options, out);
  print_blind(v, out);
  for (size_t i = 0, more; i < count; i += more) {
    more = of_kind(findings, i, count);
    for (size_t j = 0; j < more && (all || j < MOST_OF_KIND); j++) {
      style_set(out, STYLE_ALARM);
      fprintf(out, "%2zu", ++shown);
      style_set(out, STYLE_PLAIN);
      fputs("  ", out);
      print_wrapped(out, findings[i + j].text, 4);
    }
    if (!all && more > MOST_OF_KIND)
      fprintf(out, "    and %zu more of this kind (%s)\n", more - MOST_OF_KIND,
              finding_kinds[findings[i].kind]);
  }
  if (shown < count)
    fputs("    --top 0 shows all, --json has them too\n", out);
  findings_free(findings, count);
}
