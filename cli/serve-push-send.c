/* SPDX-License-Identifier: MIT */
/* Processes that send; see serve-push-send.h. */
#include "serve-push-send.h"

#include "ask/story-view.h"
#include "load.h"
#include "push.h"
#include "read/util.h"
#include "recorded.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

enum { END_MS = 2000 };
#define NEVER ((uint64_t)1 << 62) /* ns until it gives up */

bool push_is_recorded(const struct push_wish *w) {
  return w->format->tell && !w->format->write;
}

bool push_ends_within(int stop, uint64_t ns) {
  struct pollfd fd = {.fd = stop, .events = POLLIN};
  return poll(&fd, 1, (int)(ns / 1000000)) > 0;
}

/* -- one that sends -------------------------------------------------------------------------- */

struct sender {
  const struct push_job *all;
  struct pusher *pusher[PUSH_MOST]; /* NULL: not this one's */
  struct pushed told[PUSH_MOST];    /* that is counted already */
};

static bool open_sender(struct sender *s, const struct push_job *all, bool recorded) {
  const struct push_wishes *w = all->wishes;
  *s = (struct sender){.all = all};
  for (size_t i = 0; i < w->count; i++) {
    const struct format_push *how = w->of[i].format->push;
    if (push_is_recorded(&w->of[i]) != recorded)
      continue;
    char *query = recorded && how->query ? how->query(NULL) : NULL;
    const struct push_options o = {.url = w->of[i].url,
                                   .query = query,
                                   .headers = w->headers,
                                   .give_up = NEVER,
                                   .drops = true};
    s->pusher[i] = push_by_curl.open(&o, how);
    free(query);
    if (!s->pusher[i])
      return false;
  }
  return true;
}

static void count(struct sender *s) {
  for (size_t i = 0; i < s->all->wishes->count; i++)
    if (s->pusher[i]) {
      struct pushed now = push_by_curl.numbers(s->pusher[i]);
      push_counts_add(&s->all->counts[i], &s->told[i], &now);
      s->told[i] = now;
    }
}

/* What waits still is dropped. */
static void close_sender(struct sender *s) {
  count(s);
  for (size_t i = 0; i < s->all->wishes->count; i++)
    if (s->pusher[i])
      push_by_curl.abandon(s->pusher[i], END_MS);
  count(s);
}

static char *body_of(const struct format *f, const struct view *v, const struct story *s,
                     const struct format_options *o, size_t *length) {
  char *body = NULL;
  FILE *out = open_memstream(&body, length);
  fputs(f->push->before ? f->push->before : "", out);
  long begin = ftell(out);
  if (v)
    f->write(&v, 1, o, out);
  else
    f->tell(&s, 1, o, out);
  bool empty = ftell(out) == begin;
  fputs(f->push->behind ? f->push->behind : "", out);
  fclose(out);
  if (!empty)
    return body;
  free(body);
  return NULL;
}

/* -- of totals --------------------------------------------------------------------------------- */

static void send_view(struct sender *s, size_t which, const struct view *v) {
  const struct format *f = s->all->wishes->of[which].format;
  const struct format_options o = {.measure = STACK_WALL};
  size_t length = 0;
  char *body = body_of(f, v, NULL, &o, &length);
  char *query = f->push->query ? f->push->query(v) : NULL;
  if (body)
    push_by_curl.add_for(s->pusher[which], query, body, length, 1);
  free(query);
}

/* Profiles are of what lies between two readings, metrics of all since the start. */
static void send_views(struct sender *s, struct view *const *now, size_t nows,
                       struct view *const *before, size_t befores) {
  for (size_t i = 0; i < nows; i++) {
    struct view *between = NULL;
    for (size_t j = 0; j < befores && !between; j++)
      if (view_shares_process(now[i], before[j]))
        between = view_between(now[i], before[j]);
    for (size_t j = 0; j < s->all->wishes->count; j++) {
      const struct format *f = s->all->wishes->of[j].format;
      const struct view *v = f->takes & FORMAT_STACKS ? between : now[i];
      if (s->pusher[j] && v)
        send_view(s, j, v);
    }
    view_free(between);
  }
}

static void free_views(struct view **view, size_t views) {
  for (size_t i = 0; i < views; i++)
    view_free(view[i]);
  free(view);
}

void push_totals(const struct push_job *all) {
  struct sender s;
  struct view **before = NULL, **now;
  size_t befores = 0;
  complain_never(true);
  if (!open_sender(&s, all, false))
    _exit(1);
  do {
    size_t nows = view_load_live(all->wishes->target, &now);
    for (size_t i = 0; i < nows; i++)
      now[i]->process.labels = all->wishes->labels;
    send_views(&s, now, nows, before, befores);
    free_views(before, befores);
    before = now;
    befores = nows;
    count(&s);
  } while (!push_ends_within(all->stop, all->wishes->every));
  close_sender(&s);
  _exit(0);
}

/* -- of requests ------------------------------------------------------------------------------- */

static void send_part(struct sender *s, size_t which, const struct story *story,
                      const struct format_options *o) {
  size_t length = 0;
  uint64_t items = 0;
  for (uint32_t i = o->from; i < o->until; i++)
    items += story->requests[i].whole && format_means(o, 0, i);
  char *body = items ? body_of(s->all->wishes->of[which].format, NULL, story, o, &length) : NULL;
  if (body)
    push_by_curl.add_for(s->pusher[which], NULL, body, length, items);
}

/* Those that are cut by an end of the recording are in no answer, and counted. */
static void send_story(struct sender *s, const struct story *story) {
  const struct slowest_filter *f = s->all->wishes->which;
  bool all = !f->kind && !f->tier && !f->over && !(f->percent > 0), *meant = NULL;
  if (!all) {
    struct slowest *found = slowest_find(story, f);
    if (!found)
      return;
    meant = ask_story_meant(story, found, f->over || f->percent > 0 ? STORY_SLOW : STORY_ALL);
    slowest_free(found);
  }
  const bool *const list[] = {meant};
  for (size_t i = 0; i < s->all->wishes->count; i++) {
    struct format_options o = {.meant = meant ? list : NULL};
    if (!s->pusher[i])
      continue;
    push_counts_cut(&s->all->counts[i], story->partial, story->lost);
    for (; o.from < story->requests_count; o.from = o.until) {
      o.until = format_part_end(story, o.from);
      send_part(s, i, story, &o);
    }
  }
  free(meant);
}

void push_requests(const struct push_job *all, pid_t pid) {
  struct sender s;
  pid_t parent = getppid();
  char *target = print_string("%ld", (long)pid), *file;
  struct story_error why;
  complain_never(true);
  if (!open_sender(&s, all, true))
    _exit(1);
  /* A signal ends a recording, not this; the end of who started it does. */
  while (getppid() == parent && !push_ends_within(all->stop, 0) &&
         (file = recording_of(target, all->wishes->every, NULL, NULL))) {
    struct story *story = story_open(file, &why);
    recording_forget(file);
    if (story)
      send_story(&s, story);
    story_free(story);
    count(&s);
  }
  close_sender(&s);
  _exit(0);
}
