/* SPDX-License-Identifier: MIT */
/* A place that is watched; see probed.h. */
#include "probed.h"

#include "read/profile.h"
#include "read/util.h"
#include "record/recorder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAMES = 1 + 2 * PROBE_ADDRESSES };

/* -- may it be? ------------------------------------------------------------------------- */

static bool may_time(const struct watch *watch, const struct places *p) {
  const char *asked = watch->asked;
#if !defined __x86_64__
  complain("--duration knows x86-64 only");
  return false;
#endif
  if (!p->entry) {
    complain("--duration goes with a FUNCTION, not with a line");
    return false;
  }
  for (size_t i = 0; i < p->count; i++)
    if (p->place[i].inlined) {
      complain("%s was inlined: nobody returns from it; ask for one of its callers", asked);
      return false;
    }
  if (p->count == watch_most(watch)) {
    complain("%s is %zu places, which leaves no breakpoint for its return", asked, p->count);
    return false;
  }
  return true;
}

static bool may_watch(const struct watch *watch, const struct places *p) {
  if (p->count > watch_most(watch)) {
    complain("%s is %zu places in the program's code (it was inlined), and %s %zu at most; ask for "
             "one of its callers%s",
             watch->asked, p->count,
             watch->instructions ? "--uprobes watches" : "a processor watches", watch_most(watch),
             watch->instructions ? "" : ", or, as root, with --uprobes");
    return false;
  }
  return !watch->duration || may_time(watch, p);
}

/* -- hits -------------------------------------------------------------------------------- */

static void told(const struct probe_result *r, const struct probe_hit *h, void *context) {
  struct probed *p = context;
  if (p->recorder)
    recorder_hit(p->recorder, p->number, h->tid, h->time);
  if (p->log)
    p->log(r, h);
}

static bool arm(struct probed *p) {
  p->armed = watch_arm(p->watching);
  p->refused = !p->armed;
  if (p->armed && isatty(STDERR_FILENO))
    fputs("aprof: watching; Ctrl-C ends it\n", stderr);
  return p->armed;
}

/* What the place is called, once each. */
static void tell_recorder(struct probed *p, struct recorder *recorder) {
  const char *name[NAMES];
  char *made[PROBE_ADDRESSES] = {NULL};
  size_t names = 0;
  name[names++] = p->watch.asked;
  for (size_t i = 0; i < p->result->places; i++) {
    const struct probe_place *place = &p->result->place[i];
    if (place->file && place->line)
      name[names++] = made[i] = print_string("%s:%" PRIu64, place->file, place->line);
    if (place->function && p->places.entry)
      name[names++] = place->function;
  }
  p->number = recorder_probe(recorder, p->if_hit, p->label ? p->label : "", name, names);
  p->recorder = recorder;
  for (size_t i = 0; i < PROBE_ADDRESSES; i++)
    free(made[i]);
}

/* -- alone, and beside a recording -------------------------------------------------------- */

bool probed_open(struct probed *p, long pid, const char *directory) {
  if (!debug_open(&p->debug, pid, directory))
    return false;
  p->result = allocate(1, sizeof *p->result);
  p->watch = *p->asked;
  p->watch.tell = told;
  p->watch.context = p;
  complain_never(p->watch.later);
  bool found = place_find(&p->debug, &p->result->arena, p->watch.asked, &p->places);
  complain_never(false);
  return (found || p->watch.later) && may_watch(&p->watch, &p->places);
}

static bool begin(struct probed *p, bool keep) {
  p->watch.keep = keep;
  p->watching = watch_new(&p->debug, &p->places, &p->watch, p->result);
  return p->watching != NULL;
}

bool probed_alone(struct probed *p) {
  if ((!p->watching && !begin(p, false)) || !arm(p))
    return false;
  while (watch_go(p->watching, UINT64_MAX / 2))
    ;
  watch_stop(p->watching);
  watch_settle(p->watching);
  return true;
}

static bool go(void *context, struct recorder *recorder, uint64_t ns) {
  struct probed *p = context;
  if (!p->armed) {
    tell_recorder(p, recorder);
    if (!arm(p))
      return false;
  }
  return watch_go(p->watching, ns);
}

static void end(void *context, struct recorder *recorder) {
  const struct probed *p = context;
  (void)recorder;
  watch_stop(p->watching);
}

static bool record(struct probed *p, const struct found *found, struct recording_wish *wish,
                   const struct recording_guest *guest) {
  wish->guest = guest;
  bool done = recording_make(found, wish) && p->armed;
  wish->guest = NULL;
  p->recorder = NULL;
  return done;
}

bool probed_recorded(struct probed *p, const struct found *found, struct recording_wish *wish) {
  const struct recording_guest guest = {
      .go = go, .end = end, .context = p, .most = wish->quiet ? PROBED_ROOM : 0};
  return begin(p, true) && record(p, found, wish, &guest);
}

void probed_close(struct probed *p) {
  watch_free(p->watching);
  free(p->places.place);
  if (p->result)
    watch_release(p->result);
  free(p->result);
  if (p->debug.dwfl)
    debug_close(&p->debug);
}

/* -- for who asks a recording --------------------------------------------------------------- */

static void say_gaps(const struct probe_result *r, const char *place) {
  if (r->too_hot)
    complain("%s was reached more than %" PRIu64 " times a second: the recording ends there, after "
             "%" PRIu64 " ms",
             place, r->ceiling, r->elapsed / 1000000);
  if (r->lost)
    complain("%" PRIu64 " of %" PRIu64 " hits of %s came too fast to be looked at: requests that "
             "had no other count as those that did not reach it",
             r->lost, r->hits, place);
}

bool probed_recording(const struct found *found, struct recording_wish *wish, const char *place,
                      bool if_hit) {
  const struct watch watch = {.what = found->what, .asked = place, .ceiling = PROBED_RATE};
  struct probed p = {.asked = &watch, .if_hit = if_hit};
  const struct recording_guest guest = {
      .go = go, .end = end, .context = &p, .most = if_hit ? 0 : PROBED_ROOM};
  struct aprof_header header;
  bool done = profile_read_header(found->fd, found->what, &header, false) &&
              probed_open(&p, found->pid ? found->pid : header.pid, NULL) && begin(&p, false) &&
              record(&p, found, wish, &guest);
  if (done) {
    watch_settle(p.watching);
    say_gaps(p.result, place);
  }
  probed_close(&p);
  return done;
}
