/* SPDX-License-Identifier: MIT */
/* aprof probe: a line of a running program, watched from outside; probe/ does it. */
#include "arguments.h"
#include "cli.h"
#include "find.h"
#include "probe/watch.h"
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
  const char *list, *directory;
  bool json, log;
};

static char *take_shown(void *into, const char *text) {
  struct watch *w = &((struct options *)into)->watch;
  if (w->showns == PROBE_SHOWN)
    return print_string("--show: at most %d expressions", PROBE_SHOWN);
  w->shown[w->showns++] = text;
  return NULL;
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
    {"log", 0, OPTION_FLAG, AT(log), .text = "Print a line for each hit, too, as it comes"},
    {"for", 0, OPTION_S, AT(watch.span), "TIME",
     .text = "End after so long; else Ctrl-C ends it, or the end of the process"},
    {"hits", 'n', OPTION_COUNT, AT(watch.most), "N", .text = "End after so many hits that match"},
    {"most", 0, OPTION_COUNT, AT(most_rate), "N",
     .text = "Switch off where it comes by more often than N times a second (default: 10k)"},
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

static const char *fault(const struct arguments *a) {
  const struct options *o = a->context;
  if (o->list ? a->words != 1 : a->words != 2)
    return o->list ? "--list takes a TARGET, and no place" : "which place? FILE:LINE or FUNCTION";
  if (o->watch.duration && o->log && o->watch.showns)
    return "--duration --log tells how long each call took, and no expressions";
  if (o->watch.over && !o->watch.duration)
    return "--over goes with --duration";
  return NULL;
}

static void told(const struct watch_hit *h, void *context) {
  const struct options *o = context;
  struct probe_log log = {h->at,          h->tid,   h->place, h->duration,
                          o->watch.shown, h->value, h->values};
  show_probe_log(&log, stdout);
  fflush(stdout);
}

static void started(void *context) {
  (void)context;
  if (isatty(STDERR_FILENO))
    fputs("aprof: watching; Ctrl-C ends it\n", stderr);
}

static bool may_watch(const struct options *o, const struct places *p, const char *asked) {
  if (p->count > PROBE_ADDRESSES) {
    complain("%s is %zu places in the program's code (it was inlined), and a processor watches "
             "%d at most; ask for one of its callers",
             asked, p->count, PROBE_ADDRESSES);
    return false;
  }
  if (o->watch.duration && !p->entry) {
    complain("--duration goes with a FUNCTION, not with a line");
    return false;
  }
#if !defined __x86_64__
  if (o->watch.duration) {
    complain("--duration knows x86-64 only");
    return false;
  }
#endif
  for (size_t i = 0; i < p->count && o->watch.duration; i++)
    if (p->place[i].inlined) {
      complain("%s was inlined: nobody returns from it; ask for one of its callers", asked);
      return false;
    }
  if (o->watch.duration && p->count == PROBE_ADDRESSES) {
    complain("%s is %zu places, which leaves no breakpoint for its return", asked, p->count);
    return false;
  }
  return true;
}

static int watch(struct debug *d, struct options *o, const char *what, const char *asked) {
  struct probe_result *r = allocate(1, sizeof *r);
  struct places places;
  o->watch.what = what;
  o->watch.asked = asked;
  o->watch.ceiling = o->most_rate;
  o->watch.started = started;
  o->watch.tell = o->log ? told : NULL;
  o->watch.context = o;
  bool ok = place_find(d, &r->arena, asked, &places) && may_watch(o, &places, asked) &&
            watch_run(d, &places, &o->watch, r);
  if (ok)
    (o->json ? show_probe_json : show_probe)(r, stdout);
  free(places.place);
  watch_release(r);
  free(r);
  return ok ? CLI_OK : CLI_FAILED;
}

static int list(struct debug *d, const char *function) {
  struct arena arena = {0};
  struct places places;
  bool ok = place_list(d, &arena, function, &places);
  if (ok)
    show_probe_lines(function, places.place, places.count, stdout);
  free(places.place);
  arena_free(&arena);
  return ok ? CLI_OK : CLI_FAILED;
}

int cmd_probe(int argc, char **argv) {
  struct options o = {.most_rate = 10000};
  struct arguments a = {
      .usage = "TARGET FILE:LINE|FUNCTION",
      .offers = OFFER_PROCESSES,
      .about = "Watches a line or function of a running program: how often it comes by, and with "
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
  struct debug d;
  long pid = find_target(a.word[0]);
  if (pid == 0 || !debug_open(&d, pid, o.directory))
    return CLI_FAILED;
  char *what = name_of(pid);
  int status = o.list ? list(&d, o.list) : watch(&d, &o, what, a.word[1]);
  debug_close(&d);
  free(what);
  return status;
}
