/* SPDX-License-Identifier: MIT */
/* Recordings of what a user names; see recording.h. */
#include "recording.h"

#include "control.h"
#include "progress.h"
#include "read/clock.h"
#include "read/util.h"
#include "record-lost.h"
#include "record-sieve.h"
#include "record/recorder.h"
#include "record/switch.h"
#include "sampling.h"
#include "show/format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NAME_ROOM = 20, STEP_NS = 50000000 };

struct recording {
  const struct found *found;
  const struct recording_wish *wish;
  struct aprof_header *header; /* mapped */
  struct recorder *recorder;
  struct sampling *sampling; /* or NULL */
  char *path;                /* NULL: standard output */
  int fd;
  uint64_t rate, files;
  uint64_t events, lost, bytes; /* of files that are finished: bytes */
  bool paused;                  /* this command was, and has said so */
  struct share share;
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
  (void)number;
  interrupted = 1;
}

/* The first one ends the recording, the next one the command. */
static void take_signals(void) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction old, mine = {.sa_handler = on_interrupt, .sa_flags = SA_RESETHAND};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
      sigaction(ends[i], &mine, NULL);
  signal(SIGPIPE, SIG_IGN); /* who reads a recording may go: that is an error like others */
  signal(SIGXFSZ, SIG_IGN);
}

/* -- files ---------------------------------------------------------------------------- */

/* Of the rotated ones: shop.4242.trace, shop.4242.2.trace, ... */
static char *name_of(const struct recording *r, uint64_t number) {
  const char *given = r->wish->output;
  const struct aprof_header *h = r->header;
  bool has_name = memchr(h->name, 0, sizeof h->name) && h->name[0] && h->name[0] != '.' &&
                  !strchr(h->name, '/');
  char *base = given ? print_string("%s", given)
                     : print_string("%s.%" PRId32 ".trace", has_name ? h->name : "process", h->pid);
  size_t length = strlen(base);
  bool ends = length > 6 && !strcmp(base + length - 6, ".trace");
  char *name = number < 2 ? print_string("%s", base)
                          : print_string("%.*s.%" PRIu64 "%s", (int)(ends ? length - 6 : length),
                                         base, number, ends ? ".trace" : "");
  free(base);
  return name;
}

static bool open_next(struct recording *r) {
  r->files++;
  if (r->wish->output && !strcmp(r->wish->output, "-")) {
    r->fd = STDOUT_FILENO;
    return true;
  }
  free(r->path);
  r->path = name_of(r, r->files);
  r->fd = open(r->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (r->fd < 0)
    complain("cannot write %s: %s; choose another place with -o", r->path, strerror(errno));
  return r->fd >= 0;
}

/* The oldest goes. */
static void drop_old(const struct recording *r) {
  if (!r->wish->keep || r->files <= r->wish->keep)
    return;
  char *old = name_of(r, r->files - r->wish->keep);
  if (unlink(old) && errno != ENOENT)
    complain("cannot remove %s: %s", old, strerror(errno));
  free(old);
}

static bool rotate(struct recording *r, uint64_t written) {
  int old = r->fd;
  if (!open_next(r))
    return false;
  sampling_names(r->sampling);
  int error = recorder_rotate(r->recorder, r->fd);
  r->bytes += written;
  close(old);
  if (!error && sieve_is_wished(&r->wish->sieve)) {
    char *path = name_of(r, r->files - 1);
    record_sieve_beside(path, &r->wish->sieve);
    free(path);
  }
  if (error) {
    complain("cannot write the file before %s: %s; it is a recording up to there", r->path,
             strerror(error));
    return false;
  }
  drop_old(r);
  return true;
}

/* "812 kB", "48 MB" */
static const char *shown_size(uint64_t bytes) {
  return bytes < 10000000 ? turn_text("%" PRIu64 " kB", bytes / 1000)
                          : turn_text("%" PRIu64 " MB", bytes / 1000000);
}

/* -- going on --------------------------------------------------------------------------- */

static bool has_ended(const struct recording *r) {
  if (r->wish->wait) {
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)r->wish->wait, &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid)
      return true;
  }
  return profile_state(r->found->fd, r->header) != PROFILE_LIVE;
}

/* False: it is over. */
static bool pause_for(const struct recording *r, uint64_t ns) {
  const struct recording_guest *g = r->wish->guest;
  if (g)
    return g->go(g->context, r->recorder, ns);
  struct timespec time = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
  nanosleep(&time, NULL); /* a signal ends it */
  return true;
}

/* "kept 312 of 31.4k requests, "; `now`: "kept 312 of 31.4k requests (now 1/8), " */
static char *kept_text(const struct recording *r, const struct recorder_numbers *n, bool now) {
  if (!share_is_wished(&r->wish->share))
    return print_string("%s", "");
  const char *share = r->share.stopped ? "stopped" : shown_part(share_kept(&r->share));
  char *begun = print_string("%s", shown_count(n->begun));
  char *text = print_string("kept %s of %s requests%s%s%s, ", shown_count(n->kept), begun,
                            now ? " (now " : "", now ? share : "", now ? ")" : "");
  free(begun);
  return text;
}

static void say_progress(const struct recording *r, uint64_t passed,
                         const struct recorder_numbers *n) {
  char *span = r->wish->span ? print_string(" of %s", shown_time(r->wish->span)) : NULL;
  char *kept = kept_text(r, n, true);
  progress_say("aprof: records %s, %s%s: %s events/s, %s%s, %s lost; Ctrl-C ends it",
               r->found->what, shown_time(passed), span ? span : "",
               shown_count(passed ? rounded((double)n->events * 1e9 / (double)passed) : 0), kept,
               shown_size(r->bytes + n->written), shown_count(n->lost));
  free(span);
  free(kept);
}

static uint32_t switch_on(const struct recording *r, uint64_t ring) {
  double share = share_kept(&r->share);
  return switch_trace(r->found->fd, r->header, ring, r->rate,
                      share_is_wished(&r->wish->share) ? &share : NULL);
}

static void watch(const struct recording *r) {
  if (r->wish->share.max_lag)
    recorder_watch(r->recorder);
}

/* Another share, or none at all for a while. */
static void follow(struct recording *r, uint64_t now) {
  bool stopped = r->share.stopped;
  share_look(&r->share, r->header, now, r->wish->share.max_lag ? recorder_lag(r->recorder) : 0);
  if (stopped == r->share.stopped)
    return;
  if (stopped)
    switch_on(r, 0);
  else if (!switch_pause(r->header))
    return; /* what the process traces goes on to say how late it is */
  watch(r);
}

/* Who was stopped for longer than its lease finds the trace off: it goes on, and what happened
   meanwhile is missing. */
static void keep_on(struct recording *r) {
  switch_prolong(r->header, r->rate);
  if (r->share.stopped || switch_is_on(r->header) || switch_on(r, 0) != SWITCH_DONE)
    return;
  watch(r);
  if (r->paused)
    return;
  r->paused = true;
  complain("this command stood still for seconds: what %s did meanwhile is not recorded",
           r->found->what);
}

/* False after a message: the file is not whole. */
static bool is_written(const struct recording *r) {
  struct recorder_numbers n;
  recorder_numbers(r->recorder, &n);
  if (n.error)
    complain("cannot write %s: %s; what was written is a recording up to there",
             r->path ? r->path : "standard output", strerror(n.error));
  return !n.error;
}

/* False after a message: the file cannot be written any more. */
static bool go_on(struct recording *r, bool *ended) {
  uint64_t begin = clock_monotonic(), looked = 0, now = begin;
  struct recorder_numbers n;
  while (!interrupted && !*ended && (!r->wish->span || now - begin < r->wish->span)) {
    uint64_t pause = recorder_pause(r->recorder), rest = r->wish->span - (now - begin);
    if (!pause_for(r, r->wish->span && rest < pause ? rest : pause))
      break;
    now = clock_monotonic();
    follow(r, now);
    recorder_poll(r->recorder);
    sampling_poll(r->sampling);
    if (!is_written(r))
      return false;
    recorder_numbers(r->recorder, &n);
    if (r->wish->guest && r->wish->guest->most && n.written >= r->wish->guest->most)
      break;
    if (r->wish->rotate && n.written >= r->wish->rotate && !rotate(r, n.written))
      return false;
    if (now - looked >= STEP_NS) {
      keep_on(r);
      *ended = has_ended(r);
      say_progress(r, now - begin, &n);
      looked = now;
    }
  }
  progress_end();
  return true;
}

/* -- begin and end ------------------------------------------------------------------------ */

void recording_refused(const struct found *found, const struct aprof_header *header,
                       uint32_t other) {
  char path[64], name[NAME_ROOM] = "";
  if (other == SWITCH_BUSY) {
    control_busy(found, header);
    return;
  }
  bool near = switch_is_near(other);
  snprintf(path, sizeof path, "/proc/%u/comm", aprof_control_pid(other));
  FILE *comm = near ? fopen(path, "re") : NULL;
  if (comm && fgets(name, sizeof name, comm))
    name[strcspn(name, "\n")] = 0;
  if (comm)
    fclose(comm);
  complain(
      "%s is recorded already, by process %u%s%s%s%s; end that one first, or read what it writes",
      found->what, aprof_control_pid(other), near ? "" : " of another PID namespace",
      *name ? " (" : "", name, *name ? ")" : "");
}

static void say_overload(const struct recording *r) {
  char *said = share_says(&r->share, clock_monotonic());
  if (said)
    fprintf(stderr, "aprof: overload: %s\n", said);
  free(said);
}

static void say_end(const struct recording *r) {
  struct recorder_numbers n;
  recorder_numbers(r->recorder, &n);
  if (r->wish->quiet)
    return;
  char *kept = kept_text(r, &n, false);
  fprintf(stderr, "aprof: %s%s events, %s lost%s, %s%s in %s%s%s\n", n.error ? "at most " : "",
          shown_count(n.events), shown_count(n.lost), sampling_says(r->sampling), kept,
          shown_size(r->bytes + n.written), r->path ? r->path : "standard output",
          r->files > 1 ? " and those before" : "", n.events ? "" : ": nothing happened meanwhile");
  free(kept);
  say_overload(r);
  record_say_lost(&n);
}

/* The last file, once the process is left alone. */
static bool sieve_last(const struct recording *r, bool done) {
  uint64_t left_out = 0;
  if (!sieve_is_wished(&r->wish->sieve))
    return done;
  done = done && record_sieve(r->path, &r->wish->sieve, &left_out);
  record_sieve_wait();
  struct stat st;
  if (done && !r->wish->quiet && stat(r->path, &st) == 0)
    fprintf(stderr, "aprof: %s requests were not asked for: %s is left of %s\n",
            shown_count(left_out), shown_size((uint64_t)st.st_size), r->path);
  return done;
}

static bool record_live(struct recording *r) {
  bool ended = false, done = false;
  share_begin(&r->share, &r->wish->share, r->header, clock_monotonic());
  uint32_t other = switch_on(r, r->wish->ring ? r->wish->ring : RECORDING_RING);
  if (other != SWITCH_DONE) {
    recording_refused(r->found, r->header, other);
    return false;
  }
  r->recorder = r->wish->wait
                    ? recorder_of_rings(r->found->fd, r->found->what, r->fd, r->rate, false)
                    : recorder_begin(r->found->fd, r->found->what, r->fd, r->rate, false);
  if (r->recorder) {
    r->sampling = sampling_begin(r->found, r->header, &r->wish->kernel, r->recorder);
    watch(r);
    done = go_on(r, &ended);
    if (r->wish->guest)
      r->wish->guest->end(r->wish->guest->context, r->recorder);
    sampling_poll(r->sampling);
    sampling_names(r->sampling);
    recorder_end(r->recorder, ended);
    done = done && is_written(r);
    say_end(r);
    sampling_free(r->sampling);
  }
  switch_off_trace(r->header);
  return sieve_last(r, done);
}

/* Of rings that were looked at and gave no event. */
static void say_nothing_taken(const struct recording *r, const struct recorder_numbers *n) {
  if (n->lost > n->ringless)
    complain("the rings of %s are overwritten faster than they can be read; larger ones "
             "(trace:flight=16M), or a machine that is less busy, leave some events",
             r->found->what);
  else if (n->lost)
    complain("the threads of %s had no room for a ring; smaller ones (trace:flight=64K), or more "
             "`memory:' for the process, leave some",
             r->found->what);
  else
    complain("there are no events in the rings of %s: it was neither recorded nor run with the "
             "option trace:flight=16M",
             r->found->what);
}

static bool record_rings(struct recording *r) {
  bool left = r->found->state != PROFILE_LIVE;
  r->recorder = recorder_of_rings(r->found->fd, r->found->what, r->fd, r->rate, left);
  if (!r->recorder)
    return false;
  recorder_end(r->recorder, left);
  if (!is_written(r))
    return false;
  struct recorder_numbers n;
  recorder_numbers(r->recorder, &n);
  if (!n.events) {
    say_nothing_taken(r, &n);
    return false;
  }
  say_end(r);
  return true;
}

bool recording_make(const struct found *found, const struct recording_wish *wish) {
  struct recording r = {.found = found, .wish = wish, .fd = -1};
  struct aprof_header header;
  bool live = found->state == PROFILE_LIVE || wish->wait, done = false;
  if (!wish->last && !wish->wait && !control_may(found))
    return false;
  if (!profile_read_header(found->fd, found->what, &header, false) ||
      !(r.rate = clock_rate(found->fd, found->what, &header, live)) ||
      !(r.header = control_map(found, !wish->last)))
    return false;
  take_signals();
  signal(SIGBUS, control_bus_error);
  if (open_next(&r))
    done = wish->last ? record_rings(&r) : record_live(&r);
  if (r.fd >= 0 && r.fd != STDOUT_FILENO)
    close(r.fd);
  if (!done && !r.recorder && r.path)
    unlink(r.path);
  recorder_free(r.recorder);
  munmap(r.header, APROF_HEADER_SIZE);
  free(r.path);
  return done;
}

/* -- for who asks ---------------------------------------------------------------------------- */

char *recording_room(int *fd) {
  const char *directory = getenv("TMPDIR");
  char *path = print_string("%s/aprof-XXXXXX", directory && *directory ? directory : "/tmp");
  *fd = mkostemp(path, O_CLOEXEC);
  if (*fd < 0) {
    complain("cannot write %s: %s; name another directory with TMPDIR", path, strerror(errno));
    free(path);
    return NULL;
  }
  /* Without a name it goes with this command, whatever ends that. */
  unlink(path);
  free(path);
  return print_string("/proc/self/fd/%d", *fd);
}
