/* SPDX-License-Identifier: MIT */
/* aprof export: views and recordings in the formats of other tools, which show/formats.c lists. */
#include "arguments.h"
#include "ask/narrow.h"
#include "ask/story-cpu.h"
#include "cli.h"
#include "export.h"
#include "output.h"
#include "read/binary.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A node exporter reads what ends so, and only that. */
#define TEXTFILE "aprof.prom"
#define TEXTFILE_FORMAT "prometheus"
enum { FUNCTIONS = 50 };

/* What an option is before it is given. */
enum { NOT_GIVEN = -1 };

/* ns that a server may fail to take anything. */
#define GIVE_UP UINT64_C(30000000000)
/* For so long what lives is recorded. */
#define RECORDED UINT64_C(10000000000)

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

static char *take_debug(void *options, const char *directory) {
  (void)options;
  binary_look_in(directory);
  return NULL;
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
     .text = "Of each stack wall (default), exec, waiting, queued, or calls; of a recording with "
             "samples cpu",
     .words = stack_measures},
    {"debug", 0, OPTION_OWN, 0, "DIR",
     .text = "Look for the files that samples lie in there, too, by their build-ids",
     .take = take_debug},
    {"all", 0, OPTION_FLAG, offsetof(struct export, options.background),
     .text = "Waiting for new work (listeners, readers), too"},
    {"rows", 0, OPTION_WORD, offsetof(struct export, rows), "LIST",
     .text =
         "Of csv: functions (default), awaits, wakers, blocking, delayed, loop, threads, misses, "
         "live, requests, tiers, slowest or spans",
     .words = csv_rows},
    {"push", 0, OPTION_TEXT, offsetof(struct export, push.url), "URL",
     .text = "Send it to the server at URL, which takes that format, and try again where need be"},
    {"header-file", 0, OPTION_TEXT, offsetof(struct export, push.headers), "FILE",
     .text = "Send the lines of FILE as headers, such as a token"},
    {"give-up", 0, OPTION_S, offsetof(struct export, push.give_up), "TIME",
     .text = "End when the server has taken nothing for TIME (default 30s)"},
    {0}};

/* The format has to be known. */
static const char *fault_of_options(const struct export *e, const struct format *to) {
  const struct {
    bool given, means;
    const char *name;
  } option[] = {{e->functions != (uint64_t)NOT_GIVEN, to->takes & FORMAT_FUNCTIONS, "--top"},
                {e->measure != NOT_GIVEN, to->takes & FORMAT_MEASURE, "--measure"},
                {e->rows != NOT_GIVEN, to->takes & FORMAT_ROWS, "--rows"},
                {e->options.background, to->takes & FORMAT_BACKGROUND, "--all"},
                {e->load.span, to->takes & FORMAT_TIME, "--for"},
                {e->load.window, to->takes & FORMAT_TIME, "--window"},
                {e->requests.kind, to->tell || to->takes & FORMAT_REQUESTS, "--kind"},
                {e->requests.tier, to->tell || to->takes & FORMAT_REQUESTS, "--tier"},
                {e->push.url, to->push, "--push"}};
  for (size_t i = 0; i < sizeof option / sizeof *option; i++)
    if (option[i].given && !option[i].means)
      return print_string("%s means nothing to the format %s", option[i].name, to->name);
  return NULL;
}

static const char *fault_of_push(const struct export *e, const struct format *to) {
  const char *url = e->push.url;
  if (!url)
    return e->push.headers ? "headers are for a server: --push URL" : NULL;
  if (e->output || e->textfile)
    return "it is sent to a server, or written to a file: --push, or -o";
  if (strncmp(url, "http://", 7) && strncmp(url, "https://", 8))
    return "--push takes a URL, as http://HOST:PORT";
  const char *host = strstr(url, "://") + 3, *slash = strchr(host, '/');
  return !to->push->path && (!slash || !slash[1])
             ? print_string("--push of %s takes a whole URL, with a path", to->name)
             : NULL;
}

/* It is about recordings, or what lives is recorded first. */
static bool is_recorded(const struct format *to, char *const *target, size_t targets) {
  return !to->write || recordings_are(target, targets);
}

static const char *fault_of_targets(const struct export *e, const struct arguments *a,
                                    const struct format *to) {
  bool there = recordings_are(a->word, a->words);
  bool slowest = e->slowest.percent > 0 || e->slowest.over;
  if (slowest && !is_recorded(to, a->word, a->words))
    return "which requests are slow is known of recordings (aprof record), not of totals";
  if (there && !to->tell && !(to->takes & FORMAT_STACKS))
    return print_string("%s is made of totals, and that is a recording: there is perfetto, for one",
                        to->name);
  if (there && (e->load.span || e->load.window))
    return "a recording has its own time: without --for and --window";
  if (!to->write && e->load.window)
    return "a recording has its own time: without --window";
  if (e->measure == STACK_CPU && !there)
    return "samples are of a recording, which `aprof record --cpu' makes: name one";
  return slowest_fault(&e->slowest);
}

static const char *fault_of(const struct arguments *a) {
  const struct export *e = a->context;
  if (e->textfile && (e->to || e->output))
    return "--textfile says where to, and in which format: without --to and -o";
  if (!e->to && !e->textfile)
    return "export as what? Give --to FORMAT, or --textfile DIR";
  const struct format *to = e->to ? e->to : format_find(TEXTFILE_FORMAT);
  const char *fault = fault_of_options(e, to);
  fault = fault ? fault : fault_of_push(e, to);
  if (!fault && to->binary && !e->push.url && (!e->output || !strcmp(e->output, "-")) &&
      isatty(STDOUT_FILENO))
    fault = "that is nothing for a terminal: give -o FILE";
  fault = fault ? fault : fault_of_targets(e, a, to);
  return fault ? fault : load_fault(&e->load, false);
}

/* Help from the table. */
static char *about(void) {
  char *text = print_string(
      "%s",
      "Writes the numbers of processes, or recordings, in the format of another "
      "tool.\v" ARGUMENTS_TARGET
      " Here without one: all live processes that are profiled. Or recordings (.trace), of which "
      "some formats are.\n\nFormats:\n");
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
  export_write(of, out);
}

/* Views of a recording's paths, for formats that tell nothing else. False after a message. */
static bool add_views(struct export *e) {
  struct recordings *r = &e->recordings;
  e->load.view = allocate(r->stories + 1, sizeof(struct view *));
  for (size_t i = 0; i < r->stories; i++) {
    const bool *meant = r->meant ? r->meant[i] : NULL;
    struct view *v = ask_story_view(r->story[i], meant, r->story[i]->process);
    e->load.view[e->load.views++] = v;
    if (e->measure == STACK_CPU && !ask_has_samples(r->story[i]))
      return false;
    if (e->to->takes & FORMAT_SAMPLES)
      ask_story_cpu(v, r->story[i], meant, NULL);
  }
  return true;
}

static bool take_targets(struct export *e, char **target, size_t targets) {
  if (!is_recorded(e->to, target, targets))
    return load(&e->load, target, targets) && cut(&e->load, &e->requests);
  if (!recordings_open(&e->recordings, target, targets, e->load.span ? e->load.span : RECORDED,
                       export_chooses(e) ? &e->slowest : NULL, NULL))
    return false;
  e->options.meant = (const bool *const *)e->recordings.meant;
  return e->to->tell || add_views(e);
}

int cmd_export(int argc, char **argv) {
  struct export e = {.functions = (uint64_t)NOT_GIVEN,
                     .measure = NOT_GIVEN,
                     .rows = NOT_GIVEN,
                     .push.give_up = GIVE_UP};
  char *help = about(), **given = export_arguments(argc, argv);
  struct arguments a = {.usage = "[TARGET...]",
                        .offers = OFFER_TARGETS,
                        .about = help,
                        .table = {{options, &e},
                                  {request_options, &e.requests},
                                  {slowest_options, &e.slowest},
                                  {load_options, &e.load}},
                        .most = UINT32_MAX,
                        .fault = fault_of,
                        .context = &e};
  arguments_parse(&a, argc, argv);
  e.slowest.kind = e.requests.kind;
  e.slowest.tier = e.requests.tier;
  if (e.push.url && !export_push)
    return export_hand_over(given);
  char *path = e.textfile ? print_string("%s/" TEXTFILE, e.textfile)
                          : print_string("%s", e.output ? e.output : "-");
  e.to = e.textfile ? format_find(TEXTFILE_FORMAT) : e.to;
  e.options.functions = e.functions == (uint64_t)NOT_GIVEN ? FUNCTIONS : e.functions;
  e.options.measure = e.measure == NOT_GIVEN ? STACK_WALL : (enum stack_measure)e.measure;
  e.options.rows = e.rows == NOT_GIVEN ? 0 : e.rows;
  bool done = take_targets(&e, a.word, a.words) &&
              (e.push.url ? export_to_server(&e) : output_given(path, write_views, &e));
  load_release(&e.load);
  recordings_release(&e.recordings);
  free(path);
  free(help);
  free(given);
  return done ? CLI_OK : CLI_FAILED;
}
