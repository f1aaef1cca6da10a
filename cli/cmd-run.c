/* SPDX-License-Identifier: MIT */
/*
 * aprof run: runs a program with the runtime attached, however the program ends
 * sees to its totals, and leaves with the program's own exit status.
 */
#include "arguments.h"
#include "cli.h"
#include "find.h"
#include "periodic.h"
#include "places.h"
#include "read/clock.h"
#include "recover.h"
#include "run-end.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct run {
  char **program; /* and its arguments */
  char *options;  /* KEY:VALUE,... collected, in order */
  char *output;   /* absolute; "": where the program starts */
  const char *runtime;
  uint64_t every, keep;
  bool report, json, preload, quiet;
};

enum { STATUS_NOT_EXECUTABLE = 126, STATUS_NOT_FOUND = 127 };

static void add_option(struct run *run, const char *key, const char *value) {
  char *longer = print_string("%s%s%s%s", run->options, *run->options ? "," : "", key, value);
  free(run->options);
  run->options = longer;
}

/* Directories are known by their absolute names: the program may move. */
static char *make_directory(const char *path) {
  if (mkdir(path, 0777) && errno != EEXIST) {
    complain("cannot make directory %s: %s", path, strerror(errno));
    exit(CLI_FAILED);
  }
  char *real = realpath(path, NULL);
  if (!real || strchr(real, ',')) {
    complain("cannot put totals into %s: %s", path,
             real ? "a name with a comma cannot be said in APROF_OPTIONS" : strerror(errno));
    exit(CLI_FAILED);
  }
  return real;
}

static char *take_output(void *run, const char *path) {
  struct run *r = run;
  free(r->output);
  r->output = make_directory(path);
  add_option(r, "dir:", r->output);
  return NULL;
}

/* More of APROF_OPTIONS, in the order given. */
#define KEY(name, key)                                                                             \
  static char *take_##name(void *run, const char *value) {                                         \
    add_option(run, key, value ? value : "");                                                      \
    return NULL;                                                                                   \
  }
KEY(options, "")
KEY(clock, "clock:")
KEY(memory, "memory:")
KEY(signal, "signal:")
KEY(off, "enabled:no")

static const struct option_row options[] = {
    {"output", 'o', OPTION_OWN, 0, "DIR",
     .text = "Put totals into DIR, made if need be (default: here)", .take = take_output},
    {"report", 0, OPTION_FLAG, offsetof(struct run, report),
     .text = "Print the report when the program has ended"},
    {"json", 0, OPTION_FLAG, offsetof(struct run, json),
     .text = "Print at the end which totals are where, as one line of JSON (aprof.written/1)"},
    {"options", 0, OPTION_OWN, 0, "KEY:VALUE,...",
     .text = "More of APROF_OPTIONS, see aprof-options(7)", .take = take_options},
    {"clock", 0, OPTION_OWN, 0, "CLOCK", .text = "auto, tsc, monotonic or virtual",
     .take = take_clock},
    {"memory", 0, OPTION_OWN, 0, "SIZE", .text = "Memory of a profile at most, as 64M",
     .take = take_memory},
    {"signal", 0, OPTION_OWN, 0, "NAME", .text = "Signal that makes totals (default USR1; none)",
     .take = take_signal},
    {"off", 0, OPTION_OWN, 0, .text = "Start switched off, for `aprof on PID'", .take = take_off},
    {"every", 0, OPTION_S, offsetof(struct run, every), "TIME",
     .text = "Write totals of what lives that often, too, as PROG.PID.every-N.json"},
    {"keep", 0, OPTION_COUNT, offsetof(struct run, keep), "N",
     .text = "Of these keep the last N of each process (default 60; 0: all)"},
    {"runtime", 0, OPTION_TEXT, offsetof(struct run, runtime), "FILE",
     .text = "Use this libaprof.so.0"},
    {"quiet", 'q', OPTION_FLAG, offsetof(struct run, quiet),
     .text = "Do not say at the end where totals are"},
    {"preload", 0, OPTION_FLAG, offsetof(struct run, preload),
     .text = "Preload the runtime, too: for what was compiled with autoload=no"},
    {0}};

static const char *fault_of(const struct arguments *a) {
  const struct run *run = a->context;
  return !*a->word[0]               ? "the program's name is empty: is a variable not set?"
         : run->json && run->report ? "the report, or --json: not both"
                                    : periodic_fault(run->every, run->keep);
}

static void parse(struct run *run, int argc, char **argv) {
  struct arguments a = {
      .usage = "[--] PROG [ARG...]",
      .offers = OFFER_PROGRAM,
      .about = "Runs PROG with the profiler attached. Its exit status is kept (128+N if signal N "
               "killed it); totals are written to PROG.PID.json however it ends, for each process "
               "of its tree that created futures.\v"
               "A program that was not compiled with the plugin runs as ever and makes no totals. "
               "Statuses of our own: 1 nothing could be run, 2 wrong usage, 126 PROG cannot be "
               "executed, 127 there is no PROG.",
      .table = {{options, run}},
      .least = 1,
      .most = SIZE_MAX,
      .lacking = "which program? aprof run [OPTION...] -- PROG [ARG...]",
      .in_order = true,
      .fault = fault_of,
      .context = run};
  arguments_parse(&a, argc, argv);
  run->program = a.word;
}

/* -- before ---------------------------------------------------------------- */

/* A directory for the profiles of this run alone, so that what is left in it is
   this run's. NULL: profiles are memfds, which leave nothing. */
static char *private_directory(const char *wanted) {
  if (wanted && !strcmp(wanted, "memfd"))
    return NULL;
  char *below = wanted ? print_string("%s", wanted) : profile_directory();
  if (!below)
    return NULL; /* it was said */
  char *directory = print_string("%s/run-%ld-XXXXXX", below, (long)getpid());
  if (mkdir(below, 0700) && errno != EEXIST) /* that of a run around this one goes with it */
    complain("cannot make %s: %s", below, strerror(errno));
  const char *fault = mkdtemp(directory) ? directory_fault(directory) : strerror(errno);
  if (fault) {
    complain("no profiles in %s: %s; they go to memory, and are lost if a process is killed",
             directory, fault);
    rmdir(directory);
    free(directory);
    directory = NULL;
  } else
    written_begin(directory);
  free(below);
  return directory;
}

static char *find_runtime(const struct run *run) {
  const char *named = run->runtime ? run->runtime : getenv("APROF_RUNTIME");
  if (named && *named) {
    char *real = realpath(named, NULL);
    if (!real)
      complain("there is no runtime %s: %s", named, strerror(errno));
    return real;
  }
  struct places places;
  places_find(&places);
  char *runtime = places.runtime ? print_string("%s", places.runtime) : NULL;
  if (!runtime)
    complain("the runtime (libaprof.so.0) is not beside this command; name it with --runtime FILE");
  places_release(&places);
  return runtime;
}

/* Instrumented units look for the runtime themselves, wherever they are in the tree of processes.
   A preloaded one would come to every program there: to those of another C library, and before
   a sanitizer's, which has to be the first and ends the program where it is not. */
static void set_environment(const struct run *run, const char *runtime, const char *directory) {
  const char *preload = getenv("LD_PRELOAD"), *inherited = getenv("APROF_OPTIONS");
  char *list =
      preload && *preload ? print_string("%s:%s", preload, runtime) : print_string("%s", runtime);
  char *whole = print_string("%s%s%s%sprofile:%s", inherited ? inherited : "",
                             inherited && *inherited ? "," : "", run->options,
                             *run->options ? "," : "", directory ? directory : "memfd");
  if (run->preload && strpbrk(runtime, " :"))
    complain("not preloaded: LD_PRELOAD cannot say %s, which has a space or colon", runtime);
  else if (run->preload)
    setenv("LD_PRELOAD", list, 1);
  setenv("APROF_RUNTIME", runtime, 1);
  char exe[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
  if (length > 0) { /* totals come from this very command, wherever the runtime lies */
    exe[length] = 0;
    setenv("APROF_COMMAND", exe, 0);
  }
  setenv("APROF_OPTIONS", whole, 1);
  free(list);
  free(whole);
}

/* -- during ---------------------------------------------------------------- */

static volatile pid_t child;

/* What the terminal sends goes to the program as well, so it is only waited for;
   what was sent to us alone is passed on. */
static void pass_on(int number, siginfo_t *info, void *context) {
  (void)context;
  if (info->si_code <= 0 && child > 0)
    kill(child, number);
}

static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

enum { SIGNALS = sizeof signals / sizeof *signals };

static void take_signals(struct sigaction before[SIGNALS]) {
  struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigfillset(&action.sa_mask);
  for (int i = 0; i < SIGNALS; i++)
    sigaction(signals[i], &action, &before[i]);
}

static void give_signals_back(const struct sigaction before[SIGNALS]) {
  for (int i = 0; i < SIGNALS; i++)
    sigaction(signals[i], &before[i], NULL);
}

/* Tells by `failed` that nothing runs. */
static void become(char **program, const struct sigaction before[SIGNALS], const sigset_t *mask,
                   int failed) {
  give_signals_back(before);
  sigprocmask(SIG_SETMASK, mask, NULL);
  execvp(program[0], program);
  int error = errno;
  complain("cannot run %s: %s", program[0], strerror(error));
  ssize_t ignored = write(failed, "", 1);
  (void)ignored;
  _exit(error == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE);
}

/* While it is a zombie the kernel has its name still. */
static void note_end(pid_t pid, struct killed *killed) {
  siginfo_t info;
  while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0)
    if (errno != EINTR)
      return; /* waitpid will say why */
  killed->at_ns = clock_monotonic();
  char *path = print_string("/proc/%ld/comm", (long)pid);
  FILE *comm = info.si_code == CLD_EXITED ? NULL : fopen(path, "re");
  if (comm && fgets(killed->name, sizeof killed->name, comm)) {
    killed->name[strcspn(killed->name, "\n")] = 0;
    killed->pid = pid;
  }
  if (comm)
    fclose(comm);
  free(path);
}

/* The program's wait status, or -1 after a message. */
static int run_program(char **program, struct killed *killed, bool *ran) {
  struct sigaction before[SIGNALS];
  sigset_t all, mask;
  char byte;
  int failed[2] = {-1, -1}; /* the child's end of it goes when it becomes the program */
  if (pipe2(failed, O_CLOEXEC))
    complain("cannot make a pipe: %s", strerror(errno));
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &mask);
  take_signals(before);
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0)
    become(program, before, &mask, failed[1]);
  child = pid;
  close(failed[1]);
  sigprocmask(SIG_SETMASK, &mask, NULL);
  int status = -1;
  if (pid < 0) {
    complain("cannot start %s: %s", program[0], strerror(errno));
  } else {
    note_end(pid, killed);
    while (waitpid(pid, &status, 0) < 0)
      if (errno != EINTR) {
        complain("cannot wait for %s: %s", program[0], strerror(errno));
        status = -1;
        break;
      }
  }
  child = 0;
  *ran = pid > 0 && read(failed[0], &byte, 1) != 1;
  close(failed[0]);
  return status;
}

/* -- totals in between ------------------------------------------------------ */

static void write_one(const struct entry *entry, void *context) {
  struct found found;
  struct aprof_header header;
  complain_never(true); /* it may end at any moment */
  bool is = find_entry(entry, false, &found);
  bool read = is && profile_read_header(found.fd, entry->path, &header, true);
  complain_never(false);
  if (read)
    periodic_write(context, &found, header.pid);
  if (is)
    found_release(&found);
}

static void write_round(struct periodic *p) {
  find_all(p->of, write_one, NULL, p);
}

static void start_periodic(struct periodic *p, const struct run *run, const char *directory) {
  *p = (struct periodic){.every = run->every,
                         .keep = run->keep == UNKNOWN ? PERIODIC_KEEP : run->keep,
                         .round = write_round,
                         .of = directory};
  if (p->every && !directory)
    complain(
        "no totals --every TIME: the profiles are in memory, where this run does not see them");
  else
    periodic_start(p);
}

/* -- after ----------------------------------------------------------------- */

static void finish(const struct run *run, const char *directory, const struct killed *killed,
                   bool ran, int status) {
  struct written written = {0};
  bool whole = directory && recover_all(directory, killed, &written);
  bool known = directory && written_end(directory, &written);
  for (size_t i = 0; i < written.count; i++) /* to a run around this one */
    written_tell(directory, written.path[i]);
  struct run_end end = {.program = run->program[0],
                        .written = &written,
                        .known = known,
                        .report = run->report,
                        .json = run->json,
                        .quiet = (run->quiet && !run->report) || !ran ||
                                 !(whole || !directory || written.count),
                        .status = status};
  run_end(&end);
  written_release(&written);
}

int cmd_run(int argc, char **argv) {
  struct run run = {.options = print_string("%s", ""), .keep = UNKNOWN};
  parse(&run, argc, argv);
  char *runtime = find_runtime(&run);
  if (!runtime)
    return CLI_FAILED;
  char *both =
      print_string("%s,%s", getenv("APROF_OPTIONS") ? getenv("APROF_OPTIONS") : "", run.options);
  char *wanted = run_option(both, "profile:");
  char *directory = private_directory(wanted);
  set_environment(&run, runtime, directory);
  struct killed killed = {0};
  struct periodic periodic;
  bool ran;
  start_periodic(&periodic, &run, directory);
  int status = run_program(run.program, &killed, &ran);
  periodic_end(&periodic);
  status = status < 0            ? CLI_FAILED
           : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                 : WEXITSTATUS(status);
  finish(&run, directory, &killed, ran, status);
  free(both);
  free(wanted);
  free(directory);
  free(runtime);
  free(run.options);
  free(run.output);
  return status;
}
