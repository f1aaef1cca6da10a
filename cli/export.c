/* SPDX-License-Identifier: MIT */
/* What is exported, to a file or to a server; see export.h. */
#include "export.h"

#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct push *export_push;

bool export_chooses(const struct export *e) {
  const struct slowest_filter *f = &e->slowest;
  return f->kind || f->tier || f->percent > 0 || f->over;
}

void export_write(const struct export *e, FILE *out) {
  const struct recordings *r = &e->recordings;
  if (r->stories && e->to->tell)
    e->to->tell((const struct story *const *)r->story, r->stories, &e->options, out);
  else
    e->to->write((const struct view *const *)e->load.view, e->load.views, &e->options, out);
}

/* -- to a server ------------------------------------------------------------------------- */

/* What is sent at once: a part of a recording, or a view. */
static void send_body(struct pusher *p, const struct export *e, uint64_t items) {
  const struct format_push *how = e->to->push;
  char *body = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&body, &length);
  fputs(how->before ? how->before : "", out);
  long begin = ftell(out);
  export_write(e, out);
  bool empty = ftell(out) == begin;
  fputs(how->behind ? how->behind : "", out);
  fclose(out);
  if (empty)
    free(body);
  else
    export_push->add(p, body, length, items);
}

static uint64_t count_items(const struct export *e, const struct story *s, uint32_t from,
                            uint32_t until) {
  uint64_t count = 0;
  for (uint32_t i = from; i < until; i++)
    count += s->requests[i].whole && format_means(&e->options, 0, i);
  return count;
}

static void send_story(struct pusher *p, const struct export *whole, size_t which) {
  struct export e = *whole;
  struct story *s = e.recordings.story[which];
  e.recordings.story += which;
  e.recordings.stories = 1;
  e.options.meant = e.options.meant ? e.options.meant + which : NULL;
  for (uint32_t from = 0; from < s->requests_count; from = e.options.until) {
    e.options.from = from;
    e.options.until = format_part_end(s, from);
    uint64_t items = count_items(&e, s, from, e.options.until);
    if (items)
      send_body(p, &e, items);
  }
}

static void add_up(struct pushed *all, const struct pushed *one) {
  all->items += one->items;
  all->bodies += one->bodies;
  all->dropped += one->dropped;
  all->rejected += one->rejected;
  all->retries += one->retries;
  all->gone |= one->gone;
  if (*one->fault)
    memcpy(all->fault, one->fault, sizeof all->fault);
}

/* Each process has a server's URL of its own where that names it. */
static bool send_views(const struct export *e, struct pushed *all) {
  for (size_t i = 0; i < e->load.views; i++) {
    struct export one = *e;
    one.load.view += i;
    one.load.views = 1;
    char *query = e->to->push->query ? e->to->push->query(e->load.view[i]) : NULL;
    one.push.query = query;
    struct pusher *p = export_push->open(&one.push, e->to->push);
    if (p) {
      send_body(p, &one, 1);
      struct pushed done = export_push->close(p);
      add_up(all, &done);
    }
    free(query);
    if (!p)
      return false;
  }
  return true;
}

static bool send_stories(const struct export *e, struct pushed *all) {
  struct push_options push = e->push;
  char *query = e->to->push->query ? e->to->push->query(NULL) : NULL;
  push.query = query;
  struct pusher *p = export_push->open(&push, e->to->push);
  for (size_t i = 0; p && i < e->recordings.stories; i++)
    send_story(p, e, i);
  if (p)
    *all = export_push->close(p);
  free(query);
  return p != NULL;
}

bool export_to_server(const struct export *e) {
  struct pushed done = {0};
  bool stories = e->recordings.stories && e->to->tell;
  const char *what = stories ? "request" : "profile";
  if (!(stories ? send_stories(e, &done) : send_views(e, &done)))
    return false;
  printf("sent %" PRIu64 " %s%s to %s", done.items, what, done.items == 1 ? "" : "s", e->push.url);
  if (done.retries)
    printf(", %" PRIu64 " %s again", done.retries, done.retries == 1 ? "time" : "times");
  printf("\n");
  if (done.dropped)
    complain("dropped %" PRIu64 " %s%s: %s%s", done.dropped, what, done.dropped == 1 ? "" : "s",
             done.fault,
             done.gone ? "; see to the server and push again, or let it be away for longer "
                         "(--give-up 10min)"
                       : "");
  if (done.rejected)
    complain("the server refused %" PRIu64 " spans of those", done.rejected);
  return !done.dropped && !done.rejected;
}

/* -- by another program ------------------------------------------------------------------ */

char **export_arguments(int argc, char **argv) {
  char **copy = allocate((size_t)argc + 1, sizeof *copy);
  memcpy(copy, argv, (size_t)argc * sizeof *copy);
  return copy;
}

int export_hand_over(char **argv) {
  return run_beside("-serve",
                    "libmicrohttpd and libcurl, so it does not push: write a file (-o), and have "
                    "curl send it",
                    argv);
}
