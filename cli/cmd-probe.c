/* SPDX-License-Identifier: MIT */
/* aprof probe: a line of a running program, watched from outside; probe/ does it. */
#include "arguments.h"
#include "ask/slowest.h"
#include "cli.h"
#include "find.h"
#include "probed.h"
#include "show/probe.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct options {
  struct watch watch;
  uint64_t most_rate;
  const char *list, *directory, *label, *output;
  double slowest;
  bool json, log, alone;
};

static char *take_shown(void *into, const char *text) {
  struct watch *w = &((struct options *)into)->watch;
  if (w->showns == PROBE_SHOWN)
    return print_string("--show: at most %d expressions", PROBE_SHOWN);
  w->shown[w->showns++] = text;
  return NULL;
}

static char *take_slowest(void *into, const char *text) {
  return slowest_take(&((struct options *)into)->slowest, text);
}

#define AT(member) offsetof(struct options, member)
static const struct option_row rows[] = {
    {"show", 's', OPTION_OWN, 0, "EXPR",
     .text =
         "Sum up an expression of C over what is visible there, as `req->len'; may be given again",
     .take = take_shown},
    {"if", 0, OPTION_TEXT, AT(watch.condition), "COND",
     .text = "Only hits where this is true, as `req->len > 4096 && !strange'"},
    {"stack", 0, OPTION_FLAG, AT(watch.stack), .text = "Sum up the callers, too"},
    {"duration", 0, OPTION_FLAG, AT(watch.duration),
     .text = "Of a FUNCTION: measure from its entry to its return"},
    {"over", 0, OPTION_MS, AT(watch.over), "TIME",
     .text = "With --duration: count those that take so long"},
    {"slowest", 0, OPTION_OWN, 0, "PERCENT",
     .text = "Only hits inside the slowest requests of each kind, as 5%: all are kept until it is "
             "known which these are",
     .take = take_slowest},
    {"label", 0, OPTION_TEXT, AT(label), "NAME",
     .text =
         "Mark the requests that reach it: their kind is `KIND +NAME', here and in the recording"},
    {"output", 'o', OPTION_TEXT, AT(output), "FILE",
     .text = "Keep the recording that is made meanwhile, with the hits: `aprof tail --by' asks it"},
    {"alone", 0, OPTION_FLAG, AT(alone),
     .text = "Do not record the requests of a profiled process meanwhile"},
    {"uprobes", 0, OPTION_FLAG, AT(watch.instructions),
     .text =
         "As root: by breakpoint instructions that the kernel puts into the program, at up to 64 "
         "addresses; else the processor watches four"},
    {"later", 0, OPTION_FLAG, AT(watch.later),
     .text = "Wait for a library that has the place, if nothing has it yet"},
    {"log", 0, OPTION_FLAG, AT(log), .text = "Print a line for each hit, too, as it comes"},
    {"for", 0, OPTION_S, AT(watch.span), "TIME",
     .text = "End after so long; else Ctrl-C ends it, or the end of the process"},
    {"hits", 'n', OPTION_COUNT, AT(watch.most), "N", .text = "End after so many hits that match"},
    {"most", 0, OPTION_COUNT, AT(most_rate), "N",
     .text = "Switch off where the program reaches it more than N times a second (default: 10k)"},
    {"list", 'l', OPTION_TEXT, AT(list), "FUNCTION",
     .text = "Print the lines of a function that can be probed, and end"},
    {"debug", 0, OPTION_TEXT, AT(directory), "DIR",
     .text = "Look for debug information there, too"},
    {"json", 0, OPTION_FLAG, AT(json), .text = "Print the result as JSON (aprof.probe/1)"},
    {0}};
#undef AT

/* -- which process ----------------------------------------------------------------- */

struct candidates {
  const char *name;
  long pid[8];
  size_t count;
};

static void look_at(struct candidates *c, long pid) {
  char path[64], *text;
  size_t length;
  snprintf(path, sizeof path, "/proc/%ld/comm", pid);
  if (pid == getpid() || process_start(pid) == 0 || !(text = read_text_file(path, 256, &length)))
    return;
  text[strcspn(text, "\n")] = '\0';
  /* The kernel keeps 15 characters. */
  bool is = strlen(text) == 15 ? !strncmp(text, c->name, 15) : !strcmp(text, c->name);
  if (is && c->count < sizeof c->pid / sizeof *c->pid)
    c->pid[c->count++] = pid;
  free(text);
}

/* 0 after a message. */
static long find_named(const char *name) {
  struct candidates c = {.name = name};
  DIR *all = opendir("/proc");
  for (struct dirent *e; all && (e = readdir(all)) != NULL;)
    if (isdigit((unsigned char)e->d_name[0]))
      look_at(&c, strtol(e->d_name, NULL, 10));
  if (all)
    closedir(all);
  if (c.count == 1)
    return c.pid[0];
  if (c.count == 0) {
    complain("no live process is called '%s'", name);
    return 0;
  }
  complain("several processes are called '%s': say which by its number", name);
  for (size_t i = 0; i < c.count; i++)
    fprintf(stderr, "  %ld\n", c.pid[i]);
  exit(CLI_USAGE);
}

static long find_target(const char *target) {
  uint64_t number;
  if (!parse_number(target, &number))
    return find_named(target);
  if (number == 0 || number > INT32_MAX || (kill((pid_t)number, 0) && errno == ESRCH)) {
    complain("there is no process %s", target);
    return 0;
  }
  return (long)number;
}

static char *name_of(long pid) {
  char path[64];
  size_t length;
  snprintf(path, sizeof path, "/proc/%ld/comm", pid);
  char *comm = read_text_file(path, 256, &length);
  if (comm)
    comm[strcspn(comm, "\n")] = '\0';
  char *name = print_string("%s (pid %ld)", comm ? comm : "process", pid);
  free(comm);
  return name;
}

/* -- what is asked ------------------------------------------------------------------ */

static bool wants_requests(const struct options *o) {
  return o->slowest > 0 || o->label || o->output;
}

static const char *fault(const struct arguments *a) {
  const struct options *o = a->context;
  if (o->list ? a->words != 1 : a->words != 2)
    return o->list ? "--list takes a TARGET, and no place" : "which place? FILE:LINE or FUNCTION";
  if (o->watch.over && !o->watch.duration)
    return "--over goes with --duration";
  if (o->alone && wants_requests(o))
    return "--slowest, --label and --output are about requests: not --alone";
  return NULL;
}

static void log_hit(const struct probe_result *r, const struct probe_hit *h) {
  char *value[PROBE_SHOWN] = {NULL};
  const char *shown[PROBE_SHOWN];
  bool late[PROBE_SHOWN] = {false};
  for (size_t i = 0; i < r->showns; i++) {
    shown[i] = r->shown[i].text;
    value[i] = h->value ? h->value[i].text : NULL;
    late[i] = value[i] && h->value[i].late;
  }
  const struct probe_log log = {h->time > r->began ? h->time - r->began : 0,
                                h->tid,
                                &r->place[h->place],
                                h->duration,
                                shown,
                                value,
                                late,
                                r->showns};
  show_probe_log(&log, stdout);
  fflush(stdout);
}

/* Whether it has a profile that can be recorded. */
static bool is_profiled(long pid, struct found *found) {
  complain_never(true);
  bool is = find_process(pid, true, found);
  complain_never(false);
  if (is && found->state != PROFILE_LIVE)
    found_release(found);
  return is && found->state == PROFILE_LIVE;
}

static bool record(struct probed *p, const struct options *o, const struct found *found) {
  int fd = -1;
  char *path = o->output ? print_string("%s", o->output) : recording_room(&fd);
  struct recording_wish wish = {.output = path, .quiet = !o->output};
  bool done = path && probed_recorded(p, found, &wish) && probed_join(p, path);
  if (done)
    watch_settle(p->watching);
  free(path);
  if (fd >= 0)
    close(fd);
  return done;
}

/* Where it cannot be recorded, and nothing that was asked needs that, hits are counted alone. */
static bool watch_it(struct probed *p, const struct options *o, long pid) {
  struct found found;
  if (o->alone || !is_profiled(pid, &found)) {
    if (!wants_requests(o))
      return probed_alone(p);
    complain("process %ld is not profiled, so it has no requests: --slowest, --label and --output "
             "are about these",
             pid);
    return false;
  }
  bool done = record(p, o, &found);
  found_release(&found);
  if (done || p->armed || p->refused || wants_requests(o) || !p->watching)
    return done;
  watch_free(p->watching);
  p->watching = NULL;
  p->result->why_not_joined = "it could not be recorded meanwhile";
  return probed_alone(p);
}

static int watch(struct options *o, long pid, const char *what, const char *asked) {
  o->watch.what = what;
  o->watch.asked = asked;
  o->watch.ceiling = o->most_rate;
  struct probed p = {
      .asked = &o->watch, .log = o->log ? log_hit : NULL, .label = o->label, .slowest = o->slowest};
  bool ok = probed_open(&p, pid, o->directory) && watch_it(&p, o, pid);
  if (ok)
    (o->json ? show_probe_json : show_probe)(p.result, stdout);
  probed_close(&p);
  return ok ? CLI_OK : CLI_FAILED;
}

static int list(long pid, const struct options *o) {
  struct debug d;
  struct arena arena = {0};
  struct places places;
  const char *function = o->list;
  if (!debug_open(&d, pid, o->directory))
    return CLI_FAILED;
  bool ok = place_list(&d, &arena, function, &places);
  if (ok)
    show_probe_lines(function, places.place, places.count, stdout);
  free(places.place);
  arena_free(&arena);
  debug_close(&d);
  return ok ? CLI_OK : CLI_FAILED;
}

int cmd_probe(int argc, char **argv) {
  struct options o = {.most_rate = PROBED_RATE};
  struct arguments a = {
      .usage = "TARGET FILE:LINE|FUNCTION",
      .offers = OFFER_PROCESSES,
      .about = "Watches a line or function of a running program: how often it is reached, and with "
               "which values.\v"
               "TARGET: the PID or NAME of a live process, profiled or not. It is not stopped, and "
               "nothing is written to it; each hit takes its thread some microseconds.",
      .table = {{rows, &o}},
      .least = 1,
      .most = 2,
      .lacking = "which process? Give a PID or a NAME",
      .too_many = "one place at a time",
      .fault = fault,
      .context = &o};
  arguments_parse(&a, argc, argv);
  if (!MACHINE_KNOWN) {
    complain("probes know the registers of x86-64 and aarch64 only");
    return CLI_FAILED;
  }
  long pid = find_target(a.word[0]);
  if (pid == 0)
    return CLI_FAILED;
  char *what = name_of(pid);
  int status = o.list ? list(pid, &o) : watch(&o, pid, what, a.word[1]);
  free(what);
  return status;
}
