/* SPDX-License-Identifier: MIT */
/* The commands that show a view of a TARGET: all of them, from the table of outputs. */
#include "arguments.h"
#include "ask/narrow.h"
#include "ask/requests.h"
#include "ask/slowest.h"
#include "cli.h"
#include "control.h"
#include "core.h"
#include "export.h"
#include "followed.h"
#include "load.h"
#include "many.h"
#include "output.h"
#include "read/checked.h"
#include "read/clock.h"
#include "record/switch.h"
#include "recorded.h"
#include "sampling.h"
#include "target.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What each of them takes. */
struct show {
  const struct output *output;
  const char *file, *core, *check;
  struct checked *checked;
  bool json;
  int64_t loop;
  struct load load;
  struct request_filter requests;
  void *options; /* the output's own */
};

static const struct option_row everywhere[] = {
    {"json", 0, OPTION_FLAG, offsetof(struct show, json), .text = "Print JSON instead of text"},
    {"output", 'o', OPTION_TEXT, offsetof(struct show, file), "FILE",
     .text = "Write to FILE, whole or not at all (default: standard output)"},
    {0}};

static const struct option_row of_views[] = {
    {"loop", 0, OPTION_THREAD, offsetof(struct show, loop), "TID",
     .text = "Only what thread TID ran: its loop (of a PID, a NAME or a profile)"},
    {"core", 0, OPTION_TEXT, offsetof(struct show, core), "FILE",
     .text = "Of the process that FILE is a core of"},
    {0}};

static const struct option_row of_recordings[] = {
    {"for", 0, OPTION_S, offsetof(struct show, load.span), "TIME",
     .text = "Record a live process for TIME (default 10s); Ctrl-C ends it before"},
    {0}};

static const struct option_row checks[] = {
    {"check", 0, OPTION_TEXT, offsetof(struct show, check), "FILE",
     .text = "Show beside the lines what `aprof check --json -o FILE' found in them"},
    {0}};

static bool wants_many(const struct show *show) {
  const struct output_manys *many = show->output->many;
  return many && many->wanted(show->options);
}

/* Whether it is about a recording, or one that is made first. */
static bool wants_story(const struct show *show, const char *const *target, size_t targets) {
  const struct output *o = show->output;
  if (!o->story_text || targets > 1 || show->core)
    return false;
  return !o->text || (targets && story_is(target[0])) ||
         (o->wants_story && o->wants_story(show->options));
}

static const char *fault_of(const struct arguments *a) {
  const struct show *show = a->context;
  const struct output *o = show->output;
  if (show->core && a->words)
    return "a core, or a target: not both";
  if (o->many && !wants_many(show) && a->words > 1)
    return "one target at a time; several are compared by host, build or process: --by";
  if (a->words == 2 && !strcmp(a->word[0], "-") && !strcmp(a->word[1], "-"))
    return "only one of the two can be standard input";
  if (show->load.window && show->loop)
    return "earlier totals have the sums of all loops: --window, or --loop";
  if (wants_story(show, (const char *const *)a->word, a->words) && (show->loop || show->core))
    return "a recording is asked as it is: without --loop and --core";
  if (a->words && !wants_many(show) && (show->load.window || show->load.span) &&
      story_is(a->word[0]))
    return "a recording has its own time: without --for and --window";
  if (o->follow && o->follow->wanted(show->options) &&
      (strcmp(show->file, "-") || show->loop || show->core || show->load.window))
    return "a log is of a live process, to standard output: without -o, --loop, --core and "
           "--window";
  const char *fault = load_fault(&show->load, o->targets == OUTPUT_INTERVAL && a->words > 1);
  if (!fault && o->fault)
    fault = o->fault(show->options, a->words, show->json);
  if (!fault && o->picture && !show->json && !strcmp(show->file, "-") && isatty(STDOUT_FILENO))
    return "a picture is nothing for a terminal: give -o FILE";
  return fault;
}

struct shown {
  const struct show *show;
  struct view *view;
  int *status;
};

static void write_shown(const void *of, FILE *out) {
  const struct shown *shown = of;
  const struct show *show = shown->show;
  output_function *write = show->json ? show->output->json : show->output->text;
  *shown->status = write(shown->view, show->options, out);
}

/* What of the view is meant; false after a message: nothing is. */
static bool cut_to(const struct show *show, struct view *v) {
  const struct request_filter *f = &show->requests;
  enum output_requests how = show->output->of_requests;
  if (!ask_any_requests(v, f))
    return false;
  if (how == OUTPUT_NARROWED)
    ask_narrow(v, f);
  else if (how != OUTPUT_NARROWS)
    ask_keep_requests(v, f);
  return true;
}

static int write_views(const struct show *show, struct view *first, struct view *second) {
  int status = CLI_OK;
  const struct output *o = show->output;
  if (second && o->targets == OUTPUT_PAIR)
    *(struct view **)((char *)show->options + o->second) = second;
  if (second && o->targets == OUTPUT_INTERVAL) {
    if (!view_subtract(second, first))
      return CLI_FAILED;
    first = second;
  }
  if (!cut_to(show, first) || (second && second != first && !cut_to(show, second)))
    return CLI_FAILED;
  struct shown shown = {show, first, &status};
  return output_given(show->file, write_shown, &shown) ? status : CLI_FAILED;
}

/* What names the same again; NULL of what can be read but once. free() it. */
static char *target_text(const struct view *v, const char *const *target, size_t targets) {
  if (!targets)
    return print_string("%lld", (long long)v->process.pid);
  for (size_t i = 0; i < targets; i++)
    if (!strcmp(target[i], "-"))
      return NULL;
  char *one = from_here(target[0]), *other = targets > 1 ? from_here(target[1]) : NULL;
  char *text = other ? print_string("%s %s", one, other) : print_string("%s", one);
  free(one);
  free(other);
  return text;
}

static int show_targets(struct show *show, const char *const *target, size_t targets) {
  struct load *load = &show->load;
  int status = CLI_FAILED;
  load->wanted = show->output->wanted;
  load->wanted.loop = show->loop;
  show->checked = show->check ? checked_read(show->check) : NULL;
  bool loaded = (!show->check || show->checked) && load_add(load, targets ? target[0] : NULL) &&
                (targets < 2 || load_add(load, target[1])) && load_finish(load);
  if (loaded) {
    char *text = target_text(load->view[0], target, targets);
    load->view[0]->checked = show->checked;
    if (show->output->has_target)
      *(const char **)((char *)show->options + show->output->target) = text;
    status = write_views(show, load->view[0], load->views > 1 ? load->view[1] : NULL);
    free(text);
  }
  load_release(load);
  checked_free(show->checked);
  return status;
}

/* -- recordings ------------------------------------------------------------------------ */

struct told {
  const struct show *show;
  const struct story *story;
  int *status;
};

static void write_told(const void *of, FILE *out) {
  const struct told *told = of;
  const struct output *o = told->show->output;
  story_function *write = told->show->json ? o->story_json : o->story_text;
  *told->status = write(told->story, told->show->options, out);
}

static int show_story(const struct show *show, const char *target) {
  const uint64_t usual = 10000000000u; /* ns */
  int status = CLI_FAILED;
  struct story_error why;
  const struct output *o = show->output;
  const struct slowest_filter *filter =
      o->asks_slowest ? (const void *)((const char *)show->options + o->slowest) : NULL;
  bool sampled = o->wants_samples && o->wants_samples(show->options);
  const struct sampler_wish wish = {.hertz = sampled ? SAMPLING_USUAL : 0};
  char *file = recording_of(target, show->load.span ? show->load.span : usual, &wish,
                            filter ? filter->by : NULL);
  if (!file)
    return CLI_FAILED;
  struct story *story = story_open(file, &why);
  if (!story)
    complain("%s", why.text);
  struct told told = {show, story, &status};
  if (story && !output_given(show->file, write_told, &told))
    status = CLI_FAILED;
  story_free(story);
  free(file);
  return status;
}

/* -- several, told apart ---------------------------------------------------------------- */

struct compared {
  const struct show *show;
  const struct many *many;
  int *status;
};

static void write_compared(const void *of, FILE *out) {
  const struct compared *c = of;
  const struct output_manys *o = c->show->output->many;
  *c->status = (c->show->json ? o->json : o->text)(&c->many->is, c->show->options, out);
}

static int show_many(const struct show *show, const char *const *target, size_t targets) {
  const uint64_t usual = 10000000000u; /* ns */
  struct output_from *from =
      (struct output_from *)((char *)show->options + show->output->many->from);
  struct many many;
  int status = CLI_FAILED;
  struct compared compared = {show, &many, &status};
  if (many_open(&many, target, targets, from, show->load.span ? show->load.span : usual) &&
      !output_given(show->file, write_compared, &compared))
    status = CLI_FAILED;
  many_release(&many);
  return status;
}

/* Who has no library for that hands over. */
static bool asks_others(const struct show *show, const char *const *target, size_t targets) {
  const struct output_from *from =
      (const struct output_from *)((const char *)show->options + show->output->many->from);
  bool any = from->froms != 0;
  for (size_t i = 0; i < targets; i++)
    any |= many_is_url(target[i]);
  return any && !many_pull;
}

/* -- live processes, followed ----------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
  (void)number;
  interrupted = 1;
}

/* Whether it has ended, a moment later. */
static bool ends(struct followed *f, int end) {
  const int ms = 250;
  struct pollfd ended = {.fd = end, .events = POLLIN};
  bool told = poll(&ended, end >= 0, ms) > 0;
  return told || profile_state(f->fd, &f->header) != PROFILE_LIVE;
}

static int follow(const struct show *show, struct followed *f, struct aprof_header *header,
                  uint64_t rate) {
  const struct output_follow *o = show->output->follow;
  const uint64_t over = o->over(show->options);
  const struct sigaction mine = {.sa_handler = on_interrupt, .sa_flags = SA_RESETHAND};
  uint64_t begin = clock_monotonic(), now = begin, span = show->load.span;
  int end = (int)syscall(SYS_pidfd_open, (pid_t)followed_pid(f), 0);
  void *log = o->begin(show->options, show->json, stdout);
  bool ended = false;
  f->log = true;
  sigaction(SIGINT, &mine, NULL);
  while (!ended && !interrupted && !ferror(stdout) && (!span || now - begin < span)) {
    switch_log(header, over, rate);
    ended = now != begin && ends(f, end);
    followed_read(f, ended);
    now = clock_monotonic();
    if (history_now(f->history))
      o->look(log, history_now(f->history), now);
  }
  o->end(log);
  if (end >= 0)
    close(end);
  return CLI_OK;
}

static int show_followed(const struct show *show, const char *target) {
  const size_t memory = (size_t)64 << 20;
  struct found found;
  struct followed f;
  int status = CLI_FAILED;
  if (!find_profile(target, false, &found))
    return CLI_FAILED;
  bool live = found.state == PROFILE_LIVE;
  if (!live)
    complain("%s is of no live process: nothing more happens there", found.what);
  struct aprof_header *header = live && control_may(&found) ? control_map(&found, true) : NULL;
  if (header) {
    uint64_t rate = 0;
    signal(SIGBUS, control_bus_error);
    if (followed_open(&f, &found, 1, memory) &&
        (rate = clock_rate(found.fd, found.what, &f.header, true)) != 0)
      status = follow(show, &f, header, rate);
    followed_close(&f);
    munmap(header, APROF_HEADER_SIZE);
  }
  found_release(&found);
  return status;
}

/* -- the command ----------------------------------------------------------------------- */

static void add_table(struct arguments *a, const struct option_row *row, void *into) {
  size_t i = 0;
  while (a->table[i].row)
    i++;
  a->table[i].row = row;
  a->table[i].into = into;
}

static void add_tables(struct arguments *a, struct show *show) {
  const struct output *o = show->output;
  if (o->option)
    add_table(a, o->option, show->options);
  if (o->has_limits)
    add_table(a, ask_options(), (char *)show->options + o->limits);
  if (o->asks_slowest)
    add_table(a, o->of_requests ? slowest_options : slowest_kinds,
              (char *)show->options + o->slowest);
  if (!o->text)
    add_table(a, of_recordings, show);
  else if (!o->of_now)
    add_table(a, load_options, &show->load);
  if (o->has_check)
    add_table(a, checks, show);
  if (o->of_requests) {
    add_table(a, request_options, &show->requests);
    if (o->filter)
      *(const struct request_filter **)((char *)show->options + o->filter) = &show->requests;
  }
  add_table(a, everywhere + !(o->json || o->story_json), show);
  if (o->text)
    add_table(a, of_views, show);
}

static int show_arguments(const struct output *o, struct show *show, int argc, char **argv) {
  const char *targets = o->text ? ARGUMENTS_TARGET : ARGUMENTS_RECORDING;
  char *usage = print_string("%s%s%s",
                             o->many                    ? "[TARGET...]"
                             : o->targets == OUTPUT_ONE ? "[TARGET]"
                                                        : "[TARGET [TARGET]]",
                             o->words ? " " : "", o->words ? o->words : "");
  char **given = export_arguments(argc, argv);
  char *about = print_string("%s%s%s", o->about, strchr(o->about, '\v') ? "\n\n" : "\v", targets);
  struct arguments a = {.usage = usage,
                        .offers = OFFER_TARGETS,
                        .about = about,
                        .most = o->many                    ? UINT32_MAX
                                : o->targets == OUTPUT_ONE ? 1
                                                           : 2,
                        .too_many = o->targets == OUTPUT_ONE ? "one target at a time"
                                                             : "two targets at most",
                        .fault = fault_of,
                        .context = show};
  add_tables(&a, show);
  arguments_parse(&a, argc, argv);
  free(about);
  free(usage);
  const char *const *word = (const char *const *)a.word;
  if (wants_many(show) && asks_others(show, word, a.words))
    return run_beside("-serve", "libmicrohttpd and libcurl, so it asks no other", given);
  free(given);
  if (wants_many(show))
    return show_many(show, word, a.words);
  if (show->core && !core_is(show->core)) {
    complain("%s is no core", show->core);
    return CLI_FAILED;
  }
  if (o->follow && o->follow->wanted(show->options))
    return show_followed(show, a.words ? word[0] : NULL);
  return wants_story(show, word, a.words) ? show_story(show, a.words ? word[0] : NULL)
         : show->core                     ? show_targets(show, &show->core, 1)
                                          : show_targets(show, word, a.words);
}

int show_output(const struct output *o, int argc, char **argv) {
  struct show show = {.output = o, .file = "-", .options = allocate(1, o->size)};
  memcpy(show.options, o->defaults, o->size);
  int status = show_arguments(o, &show, argc, argv);
  if (o->release)
    o->release(show.options);
  free(show.options);
  return status;
}

int show_plainly(const struct output *o, const char *target) {
  char *argv[] = {(char *)o->name, (char *)target, NULL};
  return show_output(o, 2, argv);
}
