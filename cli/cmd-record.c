/* SPDX-License-Identifier: MIT */
/*
 * aprof record: writes the events of a live process to a file, from outside, or what its rings
 * hold; or runs a program and records it from its first future on.
 */
#include "arguments.h"
#include "ask/value.h"
#include "cli.h"
#include "hold.h"
#include "probed.h"
#include "recording.h"
#include "sampling.h"
#include "target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What is asked for. */
struct asked {
  struct recording_wish wish; /* first: options are of it */
  const char *if_hit;         /* or NULL */
};

static char *take_size(void *wish, const char *text);
static char *take_rotate(void *wish, const char *text);
static char *take_cpu(void *wish, const char *text);
static char *take_share(void *wish, const char *text);
static char *take_lag(void *wish, const char *text);

static const struct option_row options[] = {
    {"output", 'o', OPTION_TEXT, offsetof(struct recording_wish, output), "FILE",
     .text = "Write to FILE, `-' for standard output (default: PROG.PID.trace here)"},
    {"for", 0, OPTION_S, offsetof(struct recording_wish, span), "TIME",
     .text = "End after TIME, as 10s or 2min (default: when Ctrl-C, or the process, ends it)"},
    {"last", 0, OPTION_FLAG, offsetof(struct recording_wish, last),
     .text =
         "Write what the rings hold already: of a live process, or of one that has ended, which "
         "ran with the option trace:flight=SIZE"},
    {"size", 0, OPTION_OWN, 0, "SIZE",
     .text = "Memory of each thread's ring, as 16M (default 16M): larger where events are lost",
     .take = take_size},
    {"sample", 0, OPTION_OWN, 0, "SHARE",
     .text = "Of the requests that begin keep 1/100, or 200/s, whole, and of all else who held "
             "which loop",
     .take = take_share},
    {"max-lag", 0, OPTION_OWN, 0, "TIME",
     .text = "Halve the share while something that is ready waits longer than TIME to run, or this "
             "command falls behind; below 1/64 of it stop recording",
     .take = take_lag},
    {"resume-after", 0, OPTION_S, offsetof(struct recording_wish, share.resume_after), "TIME",
     .text = "Double it again, or go on, when there was nothing like that for TIME (default 10s)"},
    {"kind", 0, OPTION_TEXT, offsetof(struct recording_wish, sieve.kind), "KIND",
     .text = "Of those keep requests of this kind (with * and ?: all that match)"},
    {"over", 0, OPTION_MS, offsetof(struct recording_wish, sieve.over), "TIME",
     .text = "Of those keep what took TIME or more, as 50ms"},
    {"rotate", 0, OPTION_OWN, 0, "SIZE",
     .text = "Begin another file whenever one has SIZE, as 100M; each stands by itself",
     .take = take_rotate},
    {"keep", 0, OPTION_COUNT, offsetof(struct recording_wish, keep), "N",
     .text = "Of these keep the last N"},
    {"cpu", 0, OPTION_OWN, 0, "HZ|dwarf",
     .text = "Sample, too, what threads run, HZ times (default 99, at most 1000) in a second of "
             "processor time; dwarf: callers by unwind tables, not by frame pointers; HZ,dwarf: "
             "both",
     .take = take_cpu, .optional = true},
    {"if-hit", 0, OPTION_TEXT, offsetof(struct asked, if_hit), "PLACE",
     .text = "With --cpu: only samples of requests that reached that FILE:LINE or FUNCTION, from "
             "there on"},
    {"switches", 0, OPTION_FLAG, offsetof(struct recording_wish, kernel.switches),
     .text = "Record, too, when threads leave a processor and come back: what ran was on it, was "
             "preempted, or blocked in the kernel"},
    {"quiet", 'q', OPTION_FLAG, offsetof(struct recording_wish, quiet),
     .text = "Do not say at the end what was written"},
    {0}};

/* -- sizes ------------------------------------------------------------------------------ */

/* "100M", "100m"; 0: it is none. */
static uint64_t bytes_of(const char *text) {
  static const char units[] = "kmg";
  char *end;
  errno = 0;
  unsigned long long number = strtoull(text, &end, 10);
  const char *unit = *end ? strchr(units, *end | 0x20) : NULL;
  if (errno || end == text || *text < '0' || *text > '9' || (*end && (!unit || end[1])))
    return 0;
  unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
  return number <= UINT64_MAX >> 20 >> shift ? (uint64_t)number << shift : 0;
}

static char *take_bytes(uint64_t *to, const char *text, uint64_t least, const char *said) {
  *to = bytes_of(text);
  return *to < least ? print_string("that is no size, as 16M, of %s or more", said) : NULL;
}

static char *take_size(void *wish, const char *text) {
  return take_bytes(&((struct recording_wish *)wish)->ring, text, 64 << 10, "64k");
}

static char *take_rotate(void *wish, const char *text) {
  return take_bytes(&((struct recording_wish *)wish)->rotate, text, 1 << 20, "1M");
}

/* "199", "dwarf", "199,dwarf"; NULL: as usual. */
static char *take_cpu(void *wish, const char *text) {
  struct sampler_wish *kernel = &((struct recording_wish *)wish)->kernel;
  uint64_t hertz = SAMPLING_USUAL;
  char *rest = print_string("%s", text ? text : ""), *comma = strchr(rest, ',');
  const char *second = comma ? comma + 1 : *rest < '0' || *rest > '9' ? rest : "";
  if (comma)
    *comma = 0;
  bool fits = second == rest || parse_number(rest, &hertz);
  fits = fits && (!strcmp(second, "dwarf") || (!*second && !comma));
  free(rest);
  if (!fits || hertz < 1 || hertz > SAMPLING_MOST)
    return print_string("samples a second, of 1 to %d, or dwarf, or both as 199,dwarf",
                        SAMPLING_MOST);
  kernel->hertz = (uint32_t)hertz;
  kernel->dwarf = text && strstr(text, "dwarf");
  return NULL;
}

static char *take_share(void *wish, const char *text) {
  return share_take(&((struct recording_wish *)wish)->share, text);
}

static char *take_lag(void *wish, const char *text) {
  uint64_t *lag = &((struct recording_wish *)wish)->share.max_lag;
  return value_time(text, 1e6, lag) && *lag ? NULL : print_string("that is no time, as 50ms");
}

/* -- a program ----------------------------------------------------------------------------- */

/* `aprof run`, which sees to its totals, with a ring from the start. */
static pid_t start(const struct recording_wish *wish, const char *directory, char **program,
                   size_t words) {
  char *share =
      share_is_wished(&wish->share) ? print_string("/%" PRIu64, share_start(&wish->share)) : NULL;
  char *wanted = print_string("profile:%s,trace:flight=%llu%s", directory,
                              (unsigned long long)(wish->ring ? wish->ring : RECORDING_RING),
                              share ? share : "");
  const char **argv = allocate(words + 7, sizeof *argv);
  const char *head[] = {"aprof", "run", "--options", wanted, "--"};
  memcpy(argv, head, sizeof head);
  memcpy(argv + 5, program, words * sizeof *argv);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    execv("/proc/self/exe", (char **)argv);
    complain("cannot start `aprof run': %s", strerror(errno));
    _exit(CLI_FAILED);
  }
  free(argv);
  free(wanted);
  free(share);
  return child;
}

/* A profile in the directory of this run, or below. */
static bool find_below(const char *directory, struct found *found) {
  DIR *list = opendir(directory);
  bool done = false;
  for (struct dirent *entry; list && !done && (entry = readdir(list));) {
    char *path = print_string("%s/%s", directory, entry->d_name);
    struct stat st;
    if (entry->d_name[0] == '.' || lstat(path, &st)) {
      free(path);
      continue;
    }
    if (S_ISDIR(st.st_mode))
      done = find_below(path, found);
    else if (is_profile_name(path) && st.st_size >= (off_t)APROF_HEADER_SIZE) {
      complain_never(true);
      done = find_file(path, true, found);
      complain_never(false);
    }
    free(path);
  }
  if (list)
    closedir(list);
  return done;
}

static bool has_ended(pid_t child) {
  siginfo_t info = {0};
  return waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT | WNOHANG) || info.si_pid;
}

/* The profile of the first process that makes a future; false: none did. */
static bool await_profile(const char *directory, pid_t child, struct found *found) {
  for (;;) {
    bool ended = has_ended(child);
    if (find_below(directory, found))
      return true;
    if (ended)
      return false;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
}

static int status_of(pid_t child) {
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return CLI_FAILED;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static bool record(const struct found *found, struct asked *asked) {
  return asked->if_hit ? probed_recording(found, &asked->wish, asked->if_hit, true)
                       : recording_make(found, &asked->wish);
}

static int record_program(struct asked *asked, char **program, size_t words) {
  struct recording_wish *wish = &asked->wish;
  char *below = profile_directory();
  char *directory = below ? print_string("%s/run-%ld-XXXXXX", below, (long)getpid()) : NULL;
  struct found found;
  if (!directory || !mkdtemp(directory)) {
    complain("cannot make a directory for the profile of %s: %s", program[0], strerror(errno));
    return CLI_FAILED;
  }
  int hold = hold_begin(directory);
  pid_t child = start(wish, directory, program, words);
  wish->wait = child;
  bool done = false, is = await_profile(directory, child, &found);
  hold_end(directory, hold);
  if (is) {
    done = record(&found, asked);
    found_release(&found);
  } else
    complain("%s made no future, or had no room for a profile, which it says itself: there is "
             "nothing to record",
             program[0]);
  int status = status_of(child);
  rmdir(directory);
  free(directory);
  free(below);
  return done || status ? status : CLI_FAILED;
}

/* -- the command ---------------------------------------------------------------------------- */

/* `--' stands in front of a program. */
static bool is_program(const struct arguments *a) {
  return a->words && !strcmp(a->word[-1], "--");
}

static const char *fault_of(const struct arguments *a) {
  const struct asked *asked = a->context;
  const struct recording_wish *w = &asked->wish;
  bool out = w->output && !strcmp(w->output, "-");
  return w->last && (w->span || w->ring) ? "--last writes what is there: no --for, no --size"
         : w->last && share_is_wished(&w->share)
             ? "--last writes what is there: no --sample; run it with trace:flight=SIZE/100"
         : w->last && w->share.max_lag ? "--last writes what is there: no --max-lag"
         : w->share.resume_after && !w->share.max_lag
             ? "--resume-after is of what --max-lag TIME has halved or stopped"
         : w->last && sieve_is_wished(&w->sieve)
             ? "--last writes what is there: no --kind, no --over; `aprof slow' has them"
         : out && sieve_is_wished(&w->sieve)
             ? "--kind and --over write a file once more: give -o FILE, or nothing"
         : w->sieve.kind && (!*w->sieve.kind || strlen(w->sieve.kind) >= TRACE_KIND)
             ? "--kind takes the kind of a request, as `aprof report' names it"
         : w->last && w->rotate ? "--last writes one file: no --rotate"
         : w->last && (w->kernel.hertz || w->kernel.switches)
             ? "--last writes what is there, and the kernel's side is not"
         : asked->if_hit && !w->kernel.hertz ? "--if-hit is of the samples of --cpu"
         : w->keep && !w->rotate             ? "--keep is of the files of --rotate SIZE"
         : is_program(a) && !*a->word[0]     ? "the program's name is empty: is a variable not set?"
         : w->rotate && out                  ? "--rotate makes files: give -o FILE, or nothing"
         : out && isatty(STDOUT_FILENO)      ? "a recording is nothing for a terminal: give -o FILE"
                                             : NULL;
}

int cmd_record(int argc, char **argv) {
  struct asked asked = {0};
  struct recording_wish *wish = &asked.wish;
  struct arguments a = {
      .usage = "[TARGET]\n-- PROG [ARG...]",
      .offers = OFFER_TARGETS,
      .about = "Writes what happens in a live process, event by event, until Ctrl-C: who ran when, "
               "what waited for what, request by request. `aprof tail', `slow' and `blame' ask it; "
               "`aprof export' draws it. Or runs PROG, and records it from its first future on; "
               "the exit status is PROG's then.\v"
               "The process is not stopped and waits for nobody: events that it overwrites before "
               "they are fetched are lost, counted, and said. Its own trace goes off again when "
               "this command ends, however it does.\n\n" ARGUMENTS_TARGET,
      .table = {{options, &asked}},
      .most = SIZE_MAX,
      .in_order = true,
      .fault = fault_of,
      .context = &asked};
  arguments_parse(&a, argc, argv);
  if ((sieve_is_wished(&wish->sieve) || wish->share.max_lag) && !share_is_wished(&wish->share))
    wish->share.share = 1; /* what is taken out, or left out, is known by requests */
  if (is_program(&a)) {
    if (!wish->last)
      return record_program(&asked, a.word, a.words);
    complain("--last is of a process that runs, or has run: name it");
    return CLI_USAGE;
  }
  if (a.words > 1) {
    complain("one target at a time; a program to be run stands behind `--'");
    return CLI_USAGE;
  }
  struct found found;
  if (!find_profile(a.words ? a.word[0] : NULL, !wish->last, &found))
    return CLI_FAILED;
  bool done = record(&found, &asked);
  found_release(&found);
  return done ? CLI_OK : CLI_FAILED;
}
