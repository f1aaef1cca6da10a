/* SPDX-License-Identifier: MIT */
/*
 * The process that records for who looks on; see inquiry.h.
 *
 * Two files lie over each other, the next one beginning when the first has some seconds or many
 * events: so an answer is about the last seconds, and costs no more as time goes on. A copy of this
 * process answers, with a copy of the first file that it ends, while this one goes on recording.
 */
#include "inquiry.h"

#include "control.h"
#include "read/clock.h"
#include "read/util.h"
#include "record-share.h"
#include "record/recorder.h"
#include "record/switch.h"
#include "recording.h"
#include "sampling.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND ((uint64_t)1000000000)
#define WINDOW (5 * SECOND) /* an answer is about so long, and twice that at most */
enum { EVENTS = 500000 };   /* or about so many events, and twice that at most */
#define STEP (SECOND / 20)  /* between looks at the lease, and at the process */
#define RATE 200 /* requests a second that are kept, of a process that has any: that is cheap */
enum { REFUSED = 2, MORE = 4 }; /* an answer's status; so much more is kept where that is why */
#define LATELY (SECOND / 2)     /* over which the rate is */

struct file {
  int fd;
  uint64_t since, events; /* when it began, ns; how many there had been */
};

struct records {
  struct found found;
  struct aprof_header *header; /* mapped */
  struct recorder *recorder;
  uint64_t rate, began, looked;
  struct file first, next; /* next.fd -1: there is none yet */
  struct question_state *state;
  uint64_t told, told_events, told_cpu; /* when the state was written last, and from what */
  struct share_wish wish;
  struct share share;
  struct sampling *sampling; /* or NULL, and why: */
  char unsampled[512];
  int socket;
  struct inquiry_asked asked;
  bool is_asked, ended, is_share, samples;
  pid_t answers; /* 0: nobody does */
};

/* -- answers ------------------------------------------------------------------------------- */

/* The story of the last seconds; NULL after a message. */
static struct story *story_of_now(struct records *r) {
  struct story_error why;
  int copy = memfd_create("aprof-recording", MFD_CLOEXEC);
  char *path = print_string("/proc/self/fd/%d", copy);
  sampling_names(r->sampling);
  recorder_end_copy(r->recorder, copy, r->ended);
  struct story *s = story_open(path, &why);
  if (!s)
    complain("%s", why.text);
  free(path);
  return s;
}

/* What was said to standard error from there on, without what stands before all of it. */
static size_t said_since(off_t since, char *text, size_t size) {
  ssize_t some = pread(STDERR_FILENO, text, size - 1, since);
  size_t length = some > 0 ? (size_t)some : 0;
  text[length] = 0;
  size_t name = strncmp(text, "aprof: ", 7) ? 0 : 7;
  memmove(text, text + name, length + 1 - name);
  for (length -= name; length && text[length - 1] == '\n';)
    text[--length] = 0;
  return length;
}

static bool write_answer(struct records *r, FILE *out) {
  const struct inquiry_asked *a = &r->asked;
  const struct question *q = &questions[a->question % QUESTIONS];
  const struct question_about about = {a->of_kind ? a->kind : NULL,
                                       a->of_function ? a->function : NULL};
  if (q == &questions[QUESTION_CPU] && !r->sampling) {
    complain("%s", r->samples ? r->unsampled : "no samples are taken");
    return false;
  }
  struct story *s = story_of_now(r);
  return s && question_answer(q, s, &about, a->json, out) == 0;
}

static _Noreturn void answer(struct records *r) {
  char *text = NULL, why[1024];
  size_t length = 0;
  int said = memfd_create("aprof-said", MFD_CLOEXEC);
  dup2(said, STDERR_FILENO);
  FILE *out = open_memstream(&text, &length);
  bool answered = out && write_answer(r, out);
  if (out)
    fclose(out);
  if (!answered) {
    text = why;
    length = said_since(0, why, sizeof why);
  }
  inquiry_send(r->socket, !answered, text, length);
  _exit(answered ? 0 : REFUSED);
}

/* Where nothing is told, as it is rare among what is kept, more is kept from now on. */
static void take_end(struct records *r) {
  int status;
  if (r->answers <= 0 || waitpid(r->answers, &status, WNOHANG) != r->answers)
    return;
  r->answers = 0;
  if (r->share.now < 1 && WIFEXITED(status) && WEXITSTATUS(status) == REFUSED)
    r->wish.rate *= MORE;
}

/* In a moment there is something to tell. */
static void answer_asked(struct records *r, uint64_t now) {
  take_end(r);
  if (!r->is_asked || r->answers || (now - r->began < SECOND && !r->ended))
    return;
  pid_t child = fork();
  if (child == 0)
    answer(r);
  r->answers = child > 0 ? child : 0;
  r->is_asked = child < 0; /* else there is a process for it in a moment, maybe */
}

/* -- the last seconds ---------------------------------------------------------------------------
 */

static bool is_old(const struct file *f, uint64_t now, uint64_t events) {
  return now - f->since >= WINDOW || events - f->events >= EVENTS;
}

static void begin_file(struct file *f, uint64_t now, uint64_t events) {
  *f = (struct file){memfd_create("aprof-recording", MFD_CLOEXEC), now, events};
}

static void turn_files(struct records *r, uint64_t now, uint64_t events) {
  if (r->next.fd >= 0 && is_old(&r->next, now, events)) {
    recorder_take_next(r->recorder);
    close(r->first.fd);
    r->first = r->next;
    r->next.fd = -1;
  }
  if (r->next.fd < 0 && is_old(&r->first, now, events)) {
    begin_file(&r->next, now, events);
    recorder_begin_next(r->recorder, r->next.fd);
  }
}

/* -- what it costs ------------------------------------------------------------------------------
 */

static uint64_t cpu_of(int who) {
  struct rusage used;
  getrusage(who, &used);
  return ((uint64_t)used.ru_utime.tv_sec + (uint64_t)used.ru_stime.tv_sec) * SECOND +
         ((uint64_t)used.ru_utime.tv_usec + (uint64_t)used.ru_stime.tv_usec) * 1000;
}

static void tell_state(struct records *r, const struct recorder_numbers *n, uint64_t now) {
  struct question_state *s = r->state;
  uint64_t passed = now - r->told;
  s->elapsed = now - r->began;
  s->lost = n->lost;
  s->share = r->is_share ? r->share.now : 1;
  if (passed < LATELY)
    return;
  uint64_t cpu = cpu_of(RUSAGE_SELF) + cpu_of(RUSAGE_CHILDREN);
  double second = (double)SECOND / (double)passed;
  s->per_second = rounded((double)(n->events - r->told_events) * second);
  s->of_cpu = rounded((double)(cpu - r->told_cpu) * second / 1000);
  snprintf(s->samples, sizeof s->samples, "%s", sampling_says(r->sampling));
  r->told = now;
  r->told_events = n->events;
  r->told_cpu = cpu;
}

/* -- the recording ------------------------------------------------------------------------------
 */

static uint32_t switch_on(struct records *r, uint64_t ring) {
  return switch_trace(r->found.fd, r->header, ring, r->rate, r->is_share ? &r->share.now : NULL);
}

/* Now and then: the lease, and whether the process lives. */
static void look(struct records *r, uint64_t now) {
  if (r->ended || now - r->looked < STEP)
    return;
  r->looked = now;
  switch_prolong(r->header, r->rate);
  if (!switch_is_on(r->header))
    switch_on(r, 0);
  r->ended = profile_state(r->found.fd, r->header) != PROFILE_LIVE;
}

static void go_on(struct records *r) {
  struct pollfd in = {.fd = r->socket, .events = POLLIN};
  for (;;) {
    uint64_t pause = r->ended ? STEP : recorder_pause(r->recorder);
    bool asked = poll(&in, 1, (int)(pause / 1000000)) > 0;
    if (asked && !inquiry_read(r->socket, &r->asked))
      return;
    r->is_asked |= asked;
    struct recorder_numbers n;
    uint64_t now = clock_monotonic();
    if (!r->ended && r->is_share)
      share_look(&r->share, r->header, now, 0);
    if (!r->ended) {
      recorder_poll(r->recorder);
      sampling_poll(r->sampling);
    }
    recorder_numbers(r->recorder, &n);
    if (n.error) {
      complain("there is no memory for what is recorded: %s", strerror(n.error));
      return;
    }
    if (!r->ended)
      turn_files(r, now, n.events);
    tell_state(r, &n, now);
    look(r, now);
    answer_asked(r, now);
  }
}

/* What refuses them is said by who asks for them. */
static void begin_samples(struct records *r) {
  const struct sampler_wish wish = {.hertz = SAMPLING_USUAL};
  off_t since = lseek(STDERR_FILENO, 0, SEEK_END);
  r->sampling = sampling_begin(&r->found, r->header, &wish, r->recorder);
  if (!r->sampling)
    said_since(since, r->unsampled, sizeof r->unsampled);
}

/* False after a message. */
static bool begin(struct records *r, long pid) {
  struct aprof_header header;
  if (!find_process(pid, true, &r->found) || !control_may(&r->found) ||
      !profile_read_header(r->found.fd, r->found.what, &header, false) ||
      !(r->rate = clock_rate(r->found.fd, r->found.what, &header, true)) ||
      !(r->header = control_map(&r->found, true)))
    return false;
  r->is_share = !r->samples && __atomic_load_n(&r->header->begun_requests, __ATOMIC_RELAXED) > 0;
  r->wish.rate = RATE;
  share_begin(&r->share, &r->wish, r->header, clock_monotonic());
  uint32_t other = switch_on(r, RECORDING_RING);
  if (other != SWITCH_DONE) {
    recording_refused(&r->found, r->header, other);
    return false;
  }
  r->began = r->told = clock_monotonic();
  begin_file(&r->first, r->began, 0);
  r->recorder = recorder_begin(r->found.fd, r->found.what, r->first.fd, r->rate, false);
  if (!r->recorder)
    switch_off_trace(r->header);
  else if (r->samples)
    begin_samples(r);
  return r->recorder != NULL;
}

void inquiry_record(long pid, int socket, bool samples, struct question_state *state) {
  struct records r = {.socket = socket, .samples = samples, .state = state, .next = {.fd = -1}};
  signal(SIGBUS, control_bus_error);
  if (!begin(&r, pid))
    _exit(1);
  go_on(&r);
  switch_off_trace(r.header);
  _exit(0);
}
