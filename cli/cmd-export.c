/* SPDX-License-Identifier: MIT */
/* aprof export: views in the formats of other tools, which show/formats.c lists. */
#include "arguments.h"
#include "ask/narrow.h"
#include "cli.h"
#include "load.h"
#include "output.h"
#include "show/formats.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A node exporter reads what ends so, and only that. */
#define TEXTFILE "aprof.prom"
#define TEXTFILE_FORMAT "prometheus"
enum { FUNCTIONS = 50 };

/* What an option is before it is given. */
enum { NOT_GIVEN = -1 };

struct export {
  const struct format *to;
  const char *output, *textfile;
  uint64_t functions; /* or NOT_GIVEN, as the next */
  int measure, rows;
  struct format_options options;
  struct request_filter requests;
  struct load load;
};

static char *take_format(void *options, const char *name) {
  struct export *e = options;
  e->to = format_find(name);
  if (e->to)
    return NULL;
  char *all = print_string("%s", "");
  for (const struct format *f = formats; f->name; f++) {
    char *longer = print_string("%s%s%s", all, *all ? ", " : "", f->name);
    free(all);
    all = longer;
  }
  char *fault = print_string("there are %s", all);
  free(all);
  return fault;
}

static const char *offer_format(size_t i) {
  return formats[i].name;
}

static const struct option_row options[] = {
    {"to", 0, OPTION_OWN, 0, "FORMAT", .take = take_format, .offer = offer_format,
     .text = "Which of those below"},
    {"output", 'o', OPTION_TEXT, offsetof(struct export, output), "FILE",
     .text = "Write to FILE, whole or not at all (default: standard output)"},
    {"textfile", 0, OPTION_TEXT, offsetof(struct export, textfile), "DIR",
     .text = "Write DIR/" TEXTFILE " for a node exporter: --to prometheus -o DIR/" TEXTFILE},
    {"top", 'n', OPTION_COUNT, offsetof(struct export, functions), "N",
     .text = "The N functions of each process that ran most, the rest as one (default 50; 0: all)"},
    {"measure", 0, OPTION_WORD, offsetof(struct export, measure), "MEASURE",
     .text = "Of each stack wall (default), exec, waiting, queued, or calls",
     .words = stack_measures},
    {"all", 0, OPTION_FLAG, offsetof(struct export, options.background),
     .text = "Waiting for new work (listeners, readers), too"},
    {"rows", 0, OPTION_WORD, offsetof(struct export, rows), "LIST",
     .text =
         "Of csv: functions (default), awaits, wakers, blocking, delayed, loop, threads, misses, "
         "live, requests, tiers, slowest or spans",
     .words = csv_rows},
    {0}};

static const char *fault_of(const struct arguments *a) {
  const struct export *e = a->context;
  const struct {
    bool given;
    unsigned need;
    const char *name;
  } option[] = {{e->functions != (uint64_t)NOT_GIVEN, FORMAT_FUNCTIONS, "--top"},
                {e->measure != NOT_GIVEN, FORMAT_MEASURE, "--measure"},
                {e->rows != NOT_GIVEN, FORMAT_ROWS, "--rows"},
                {e->options.background, FORMAT_BACKGROUND, "--all"},
                {e->load.span, FORMAT_TIME, "--for"},
                {e->load.window, FORMAT_TIME, "--window"},
                {e->requests.kind, FORMAT_REQUESTS, "--kind"},
                {e->requests.tier, FORMAT_REQUESTS, "--tier"}};
  if (e->textfile && (e->to || e->output))
    return "--textfile says where to, and in which format: without --to and -o";
  if (!e->to && !e->textfile)
    return "export as what? Give --to FORMAT, or --textfile DIR";
  const struct format *to = e->to ? e->to : format_find(TEXTFILE_FORMAT);
  if (to->binary && (!e->output || !strcmp(e->output, "-")) && isatty(STDOUT_FILENO))
    return "that is nothing for a terminal: give -o FILE";
  for (size_t i = 0; i < sizeof option / sizeof *option; i++)
    if (option[i].given && !(to->takes & option[i].need))
      return print_string("%s means nothing to the format %s", option[i].name, to->name);
  return load_fault(&e->load, false);
}

/* Help from the table. */
static char *about(void) {
  char *text = print_string(
      "%s", "Writes the numbers of processes in the format of another tool.\v" ARGUMENTS_TARGET
            " Here without one: all live processes that are profiled.\n\nFormats:\n");
  for (const struct format *f = formats; f->name; f++) {
    char *longer = print_string("%s  %-12s %s\n", text, f->name, f->summary);
    free(text);
    text = longer;
  }
  return text;
}

static bool load(struct load *l, char **target, size_t targets) {
  if (!targets)
    load_add_live(l);
  for (size_t i = 0; i < targets; i++) {
    if (!load_add(l, target[i]))
      return false;
    for (size_t j = 0; j < i; j++)
      if (view_shares_process(l->view[j], l->view[i])) {
        complain("%s and %s are of one process", target[j], target[i]);
        return false;
      }
  }
  return load_finish(l);
}

/* Processes without such requests are left out, unless none has any. */
static bool cut(struct load *l, const struct request_filter *f) {
  bool any = !f->kind && !f->tier;
  for (size_t i = 0; i < l->views; i++)
    any |= ask_narrow(l->view[i], f);
  return any || !l->views || ask_any_requests(l->view[0], f);
}

static void write_views(const void *of, FILE *out) {
  const struct export *e = of;
  e->to->write((const struct view *const *)e->load.view, e->load.views, &e->options, out);
}

int cmd_export(int argc, char **argv) {
  struct export e = {.functions = (uint64_t)NOT_GIVEN, .measure = NOT_GIVEN, .rows = NOT_GIVEN};
  char *help = about();
  struct arguments a = {
      .usage = "[TARGET...]",
      .offers = OFFER_TARGETS,
      .about = help,
      .table = {{options, &e}, {request_options, &e.requests}, {load_options, &e.load}},
      .most = UINT32_MAX,
      .fault = fault_of,
      .context = &e};
  arguments_parse(&a, argc, argv);
  char *path = e.textfile ? print_string("%s/" TEXTFILE, e.textfile)
                          : print_string("%s", e.output ? e.output : "-");
  e.to = e.textfile ? format_find(TEXTFILE_FORMAT) : e.to;
  e.options.functions = e.functions == (uint64_t)NOT_GIVEN ? FUNCTIONS : e.functions;
  e.options.measure = e.measure == NOT_GIVEN ? STACK_WALL : (enum stack_measure)e.measure;
  e.options.rows = e.rows == NOT_GIVEN ? 0 : e.rows;
  bool done = load(&e.load, a.word, a.words) && cut(&e.load, &e.requests) &&
              output_given(path, write_views, &e);
  load_release(&e.load);
  free(path);
  free(help);
  return done ? CLI_OK : CLI_FAILED;
}
