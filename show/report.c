/* SPDX-License-Identifier: MIT */
/* The report as text: its parts and their order; see report.h. */
#include "report.h"
#include "outputs.h"

#include "format.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* -- the whole ------------------------------------------------------------- */

/* What there is besides, and how to see it. */
static void print_rest(const struct view *v, const struct report_rest *rest, FILE *out) {
  struct loop loop = ask_loop(v);
  char text[256] = "";
  if (rest->functions)
    snprintf(text, sizeof text, "%zu function%s", rest->functions, rest->functions == 1 ? "" : "s");
  if (rest->libraries) {
    size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, " (%zu of libraries, %s of the loop)",
             rest->libraries, shown_share(rest->loop_exec, loop.elapsed));
  }
  size_t length = strlen(text);
  if (rest->waits)
    snprintf(text + length, sizeof text - length, "%s%zu wait%s", length ? ", " : "", rest->waits,
             rest->waits == 1 ? "" : "s");
  length = strlen(text);
  if (rest->kinds)
    snprintf(text + length, sizeof text - length, "%s%zu kind%s", length ? ", " : "", rest->kinds,
             rest->kinds == 1 ? "" : "s");
  if (*text)
    fprintf(out, "and %s more: --all\n", text);
}

/* A terminal has 24 lines, of which the prompt and what was typed want two. Titles and the empty
   lines above them, of both tables; the last line. Functions have a row whatever stands above, some
   but behind a long first finding, waits where there is room. */
enum { LINES = 24 - 2, FUNCTION_TITLES = 3, WAIT_TITLES = 2, LAST = 1, LEAST_ROWS = 3 };

static size_t room_behind(size_t lines, size_t more) {
  return LINES > lines + more ? LINES - lines - more : 0;
}

/* So many functions have a row in any case. */
static size_t least_rows(const struct view *v) {
  size_t count;
  free(report_functions(v, SORT_NAME, &count));
  return count < LEAST_ROWS ? count : LEAST_ROWS;
}

/* False: there is no room for waits. */
static bool choose_rows(const struct view *v, struct report_options *o, size_t lines) {
  size_t least = least_rows(v), rows = room_behind(lines, FUNCTION_TITLES + WAIT_TITLES + LAST);
  if (o->has_rows || o->all)
    return true;
  if (rows <= least) {
    size_t room = room_behind(lines, FUNCTION_TITLES + LAST); /* a long finding has the rest */
    o->functions = !room ? 1 : room < LEAST_ROWS ? room : LEAST_ROWS;
    return false;
  }
  size_t waits = rows / 2 < rows - least ? rows / 2 : rows - least;
  if (waits < o->waits)
    o->waits = waits;
  if (rows - waits < o->functions)
    o->functions = rows - waits;
  return true;
}

static size_t count_waits(const struct view *v) {
  size_t count;
  struct wait *waits = ask_waits(v, false, &count);
  ask_waits_free(waits, count);
  return count;
}

/* The lines that requests take. */
static size_t request_lines(const struct view *v, const struct report_options *options) {
  char *text = NULL;
  size_t length, lines = 0;
  FILE *memory = open_memstream(&text, &length);
  if (memory) {
    report_print_requests(v, options, memory);
    fclose(memory);
    lines = report_lines(text);
  }
  free(text);
  return lines;
}

/* The head, the findings that find room above requests and some functions, and these requests.
   False without memory. */
static bool print_above(struct view *v, struct report_options *options, size_t *lines,
                        struct report_rest *rest, FILE *out) {
  char *text = NULL;
  size_t length;
  FILE *memory = open_memstream(&text, &length);
  if (!memory) {
    complain("out of memory: free some");
    return false;
  }
  report_print_head(v, options, memory);
  fflush(memory);
  size_t room = room_behind(report_lines(text) + request_lines(v, options),
                            FUNCTION_TITLES + least_rows(v) + LAST);
  if (!options->has_rows && !options->all)
    options->finding_lines = room ? room : 1;
  report_print_findings(v, options, NULL, memory);
  rest->kinds = report_print_requests(v, options, memory);
  fclose(memory);
  *lines = report_lines(text);
  fputs(text, out);
  free(text);
  return true;
}

bool report_print(struct view *v, const struct report_options *given, FILE *out) {
  struct report_options o = *given, *options = &o;
  struct report_rest rest = {0};
  size_t lines;
  style_choose(out);
  if (options->name_count) {
    report_print_head(v, options, out);
    return report_print_details(v, options, out);
  }
  if (options->requests && (options->requests->kind || options->requests->tier)) {
    report_print_head(v, options, out);
    report_print_kinds(v, out);
    return true;
  }
  if (!print_above(v, options, &lines, &rest, out))
    return false;
  bool waits = choose_rows(v, options, lines);
  report_print_functions(v, options, &rest, out);
  rest.waits = waits ? report_print_waits(v, options, false, out) : count_waits(v);
  if (options->all) {
    report_print_kinds(v, out);
    report_print_wakers(v, options, NULL, out);
    report_print_blocking(v, options, NULL, out);
    report_print_waits(v, options, true, out);
    report_print_misses(v, options, out);
  }
  print_rest(v, &rest, out);
  return true;
}

/* Findings as a compiler would say them; those without a place are of the program. */
static void report_gcc(const struct view *v, const struct report_options *options, FILE *out) {
  size_t count;
  struct finding *findings = ask_findings(v, &options->limits, &count);
  for (size_t i = 0; i < count; i++)
    fprintf(out, "%s: note: %s [%s]\n", findings[i].at ? findings[i].at : v->process.name,
            shown_sentence(findings[i].text), finding_kinds[findings[i].kind]);
  findings_free(findings, count);
}

/* -- as an output -------------------------------------------------------------- */

const struct report_options report_defaults = {
    .sort = SORT_EXEC, .functions = 8, .waits = 8, .limits = ASK_DEFAULTS};

typedef bool report_writer(struct view *, const struct report_options *, const struct gate_result *,
                           FILE *out);

/* Its gates are of a lone view: the B of a comparison without an A, whose rows their results name.
 */
static int with_gates(struct view *v, const struct report_options *o, report_writer *write,
                      FILE *out) {
  struct diff *d = o->gates.count ? diff_new(&v, 0, 1) : NULL;
  if (o->gates.count && !d)
    return OUTPUT_FAILED;
  struct gate_result *result = d ? gates_judge(&o->gates, d, &o->limits) : NULL;
  bool written = write(v, o, result, out);
  int status = gates_say(result, o->gates.count);
  gates_free(result, o->gates.count);
  if (d)
    diff_free(d);
  return written ? status : OUTPUT_FAILED;
}

static bool write_text(struct view *v, const struct report_options *o,
                       const struct gate_result *result, FILE *out) {
  (void)result;
  if (!o->as_gcc)
    return report_print(v, o, out);
  report_gcc(v, o, out);
  return true;
}

static bool write_members(struct view *v, const struct report_options *o,
                          const struct gate_result *result, FILE *out) {
  report_json(v, o, result, out);
  return true;
}

static int print(struct view *v, const void *options, FILE *out) {
  return with_gates(v, options, write_text, out);
}

/* JSON has all rows, unless somebody asks for fewer. */
static int write_json(struct view *v, const void *options, FILE *out) {
  struct report_options o = *(const struct report_options *)options;
  if (!o.has_rows)
    o.functions = o.waits = 0;
  return with_gates(v, &o, write_members, out);
}

static void release(void *options) {
  gates_release(&((struct report_options *)options)->gates);
}

static const char *fault_of(const void *options, size_t targets, bool json) {
  const struct report_options *o = options;
  (void)targets;
  return json && o->as_gcc ? "--json, or --format=gcc: not both" : NULL;
}

static char *take_gate(void *options, const char *text) {
  return gates_take(&((struct report_options *)options)->gates, text, false);
}

static const char *const formats[] = {"text", "gcc", NULL};

static char *take_top(void *options, const char *text) {
  struct report_options *o = options;
  uint64_t rows;
  if (!value_count(text, &rows))
    return print_string("that is not a number of rows");
  o->functions = o->waits = rows;
  o->has_rows = true;
  return NULL;
}

static char *take_name(void *options, const char *text) {
  struct report_options *o = options;
  if (o->name_count == REPORT_NAMES)
    return print_string("%d names at most; a name may have * and ?", REPORT_NAMES);
  o->name[o->name_count++] = text;
  return NULL;
}

static const struct option_row own[] = {
    {"sort", 's', OPTION_WORD, offsetof(struct report_options, sort), "KEY",
     .text = "Order functions by KEY: exec (default), calls, waiting, wall, queued, slice, worst, "
             "children, name",
     .words = report_sorts},
    {"top", 'n', OPTION_OWN, 0, "N",
     .text = "Show N functions and N waits (0: all; default: 3 to 8, so that 24 lines do)",
     .take = take_top},
    {"all", 0, OPTION_FLAG, offsetof(struct report_options, all),
     .text = "Show everything: each function with its places, who woke whom, what blocked, what "
             "waits for new work, the code of libraries"},
    {"function", 'f', OPTION_OWN, 0, "NAME",
     .text = "Show all about function NAME (with * and ?: all that match), and nothing else",
     .take = take_name},
    {"format", 0, OPTION_WORD, offsetof(struct report_options, as_gcc), "FORMAT",
     .text = "text (default), or gcc: findings only, as `file:line: note:' for editors",
     .words = formats},
    {GATES_OPTION, .take = take_gate},
    {0}};

const struct output output_report = {
    .name = "report",
    .summary = "show totals, or the interval between two of them",
    .about = "Shows what is wrong, in words, then functions, then the awaits where time was really "
             "spent. With two totals of one process, what happened between them.\v"
             "A run is one hold of the loop by a function: how many, how long (p50, p99, worst), "
             "and the share of the loop's time that is in them. A future is one life of a "
             "function: how many were made, and how long they were queued, ran (exec) and waited "
             "on average, and lived (wall). `-' is not measured.",
    .targets = OUTPUT_INTERVAL,
    .option = own,
    .size = sizeof(struct report_options),
    .defaults = &report_defaults,
    .has_limits = true,
    .limits = offsetof(struct report_options, limits),
    .of_requests = OUTPUT_KINDS,
    .filter = offsetof(struct report_options, requests),
    .has_target = true,
    .target = offsetof(struct report_options, target),
    .fault = fault_of,
    .release = release,
    .text = print,
    .json = write_json};
