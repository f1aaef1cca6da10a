/* SPDX-License-Identifier: MIT */
/* aprof export: views in the formats of other tools. */
#include "arguments.h"
#include "cli.h"
#include "load.h"
#include "output.h"
#include "show/formats.h"

#include <stdlib.h>
#include <string.h>

/* A node exporter reads what ends so, and only that. */
#define TEXTFILE "aprof.prom"
enum { FUNCTIONS = 50 };

struct export {
  const struct format *to;
  const char *output, *textfile;
  struct format_options options;
  struct view **view;
  size_t views;
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
  char *fault = print_string("--to %s: there are %s", name, all);
  free(all);
  return fault;
}

static const struct option_row options[] = {
    {"to", 0, OPTION_OWN, 0, "FORMAT", .take = take_format,
     .text = "openmetrics, or prometheus (the text that it had before)"},
    {"output", 'o', OPTION_TEXT, offsetof(struct export, output), "FILE",
     .text = "Write to FILE, whole or not at all (default: standard output)"},
    {"textfile", 0, OPTION_TEXT, offsetof(struct export, textfile), "DIR",
     .text = "Write DIR/" TEXTFILE " for a node exporter: --to prometheus -o DIR/" TEXTFILE},
    {"top", 'n', OPTION_COUNT, offsetof(struct export, options.functions), "N",
     .text = "The N functions of each process that ran most, the rest as one (default 50; 0: all)"},
    {0}};

static const char *fault_of(const struct arguments *a) {
  const struct export *e = a->context;
  if (e->textfile && (e->to || e->output))
    return "--textfile says where to, and in which format: without --to and -o";
  return e->to || e->textfile ? NULL : "export as what? Give --to FORMAT, or --textfile DIR";
}

static bool load(struct export *e, char **target, size_t targets) {
  if (!targets)
    e->views = view_load_live(&e->view);
  else
    e->view = allocate(targets, sizeof *e->view);
  for (size_t i = 0; i < targets; i++) {
    struct view *v = view_load(target[i], &(struct view_request){0});
    if (!v)
      return false;
    e->view[e->views++] = v;
    for (size_t j = 0; j < i; j++)
      if (view_shares_process(e->view[j], v)) {
        complain("%s and %s are of one process", target[j], target[i]);
        return false;
      }
  }
  return true;
}

static void write_views(const void *of, FILE *out) {
  const struct export *e = of;
  e->to->write((const struct view *const *)e->view, e->views, &e->options, out);
}

int cmd_export(int argc, char **argv) {
  struct export e = {.options = {.functions = FUNCTIONS}};
  struct arguments a = {
      .usage = "[TARGET...]",
      .about = "Writes the numbers of processes in the format of another tool: as metrics, each "
               "function a set of series, with counters, peaks and histograms.\v" ARGUMENTS_TARGET
               " Here without one: all live processes that are profiled.",
      .table = {{options, &e}},
      .most = UINT32_MAX,
      .fault = fault_of,
      .context = &e};
  arguments_parse(&a, argc, argv);
  char *path = e.textfile ? print_string("%s/" TEXTFILE, e.textfile)
                          : print_string("%s", e.output ? e.output : "-");
  e.to = e.textfile ? format_find("prometheus") : e.to;
  bool done = load(&e, a.word, a.words) && output_given(path, write_views, &e);
  for (size_t i = 0; i < e.views; i++)
    view_free(e.view[i]);
  free(e.view);
  free(path);
  return done ? CLI_OK : CLI_FAILED;
}
