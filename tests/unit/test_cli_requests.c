/* SPDX-License-Identifier: MIT */
/* Requests, tiers and spans from a profile to totals and back, on profiles made to measure. */
#include "ask/beneath.h"
#include "ask/narrow.h"
#include "read/fields.h"
#include "read/follow.h"
#include "read/verify.h"
#include "shown.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct synthetic *s;
static uint32_t handler, node, db, fs;
static struct aprof_kind *get;
static struct aprof_block *block;

static void setup(void) {
  s = synthetic_new();
  block = synthetic_block(s, 1);
  handler = synthetic_site(s, APROF_SITE_FUNCTION, "handle", "server.c", 10, 1);
  node = synthetic_node(s, 0, handler, 0);
  get = synthetic_kind(s, "GET /item", handler);
  db = synthetic_tier(s, "db");
  fs = synthetic_tier(s, "fs");
}

static void teardown(void) {
  free(s);
}

static struct view *view(void) {
  return shown_view(s, "exit", 100000);
}

static const struct view_kind *kind_named(const struct view *v, const char *kind) {
  for (size_t i = 0; i < v->kinds; i++)
    if (!strcmp(v->kind[i].kind, kind))
      return &v->kind[i];
  return NULL;
}

static const struct view_tier *tier_named(const struct view_kind *k, const char *name) {
  for (size_t i = 0; i < k->tiers; i++)
    if (!strcmp(k->tier[i].name, name))
      return &k->tier[i];
  return NULL;
}

START_TEST(kinds_have_what_was_booked) {
  synthetic_book(s, get, 1000, 100, 300, 600);
  synthetic_book(s, get, 3000, 200, 500, 2300);
  synthetic_book_tier(s, get, db, 3, 100, 2000, 2200);
  get->shared.failed = 1;
  get->shared.after = 2;
  get->shared.after_exec = 77;
  struct view *v = view();
  ck_assert_uint_eq(v->kinds, 1);
  const struct view_kind *k = &v->kind[0];
  ck_assert_str_eq(k->kind, "GET /item");
  ck_assert(k->labelled);
  ck_assert_str_eq(k->function, "handle");
  ck_assert_str_eq(k->file, "server.c");
  ck_assert_uint_eq(k->line, 10);
  ck_assert_uint_eq(k->count, 2);
  ck_assert_uint_eq(k->failed, 1);
  ck_assert_uint_eq(k->after, 2);
  ck_assert_uint_eq(k->after_exec, 77);
  ck_assert_uint_eq(k->wall.sum, 4000);
  ck_assert_uint_eq(k->wall.max, 3000);
  ck_assert_uint_eq(k->wall.of.max, 3000);
  ck_assert_uint_eq(k->wall.of.count, 2);
  ck_assert_uint_eq(k->member, 4000);
  const struct view_tier *t = tier_named(k, "db");
  ck_assert_uint_eq(t->count, 1);
  ck_assert_uint_eq(t->calls.sum, 3);
  ck_assert_uint_eq(t->calls.of.p50, 3);
  ck_assert_uint_eq(t->waiting.sum, 2000);
  ck_assert_uint_eq(t->wall.max, 2200);
  ck_assert_uint_eq(k->other_exec, 700);
  ck_assert_uint_eq(k->other_waiting, 900);
  view_free(v);
}
END_TEST

/* Each thread has its part, and what has none of its own is shared: sums add up, a maximum is the
   greatest, a tier of any is one. */
START_TEST(a_kind_is_the_sum_of_its_parts) {
  struct aprof_kind_part *one = synthetic_part(s, 1, get), *two = synthetic_part(s, 2, get);
  synthetic_book(s, get, 1000, 100, 300, 600);
  synthetic_book_part(s, one, 3000, 200, 500, 2300);
  synthetic_book_part(s, one, 100, 0, 100, 0);
  synthetic_book_part(s, two, 200, 50, 150, 0);
  synthetic_book_part_tier(s, one, db, 3, 100, 2000, 2200);
  synthetic_book_part_tier(s, two, fs, 1, 10, 0, 10);
  synthetic_book_part_tier(s, two, db, 4, 50, 0, 60);
  one->failed = two->failed = two->after = 1;
  two->after_exec = 9;
  struct view *v = view();
  ck_assert_uint_eq(v->kinds, 1);
  const struct view_kind *k = &v->kind[0];
  ck_assert_uint_eq(k->count, 4);
  ck_assert_uint_eq(k->failed, 2);
  ck_assert_uint_eq(k->after, 1);
  ck_assert_uint_eq(k->after_exec, 9);
  ck_assert_uint_eq(k->wall.sum, 4300);
  ck_assert_uint_eq(k->wall.max, 3000);
  ck_assert_uint_eq(k->wall.of.count, 4);
  ck_assert_uint_eq(k->queued.sum, 350);
  ck_assert_uint_eq(k->exec.max, 500);
  ck_assert_uint_eq(k->tiers, 2);
  ck_assert_uint_eq(tier_named(k, "db")->count, 2);
  ck_assert_uint_eq(tier_named(k, "db")->calls.sum, 7);
  ck_assert_uint_eq(tier_named(k, "db")->wall.max, 2200);
  ck_assert_uint_eq(tier_named(k, "fs")->exec.sum, 10);
  view_free(v);
}
END_TEST

START_TEST(without_a_label_the_function_names_it) {
  struct aprof_kind *plain = synthetic_kind(s, NULL, handler);
  synthetic_book(s, plain, 10, 0, 5, 5);
  synthetic_book(s, get, 10, 0, 5, 4);
  struct view *v = view();
  ck_assert_uint_eq(v->kinds, 2);
  ck_assert(!kind_named(v, "handle")->labelled);
  ck_assert_str_eq(v->kind[0].kind, "handle"); /* it has more member time */
  view_free(v);
}
END_TEST

/* A function has a site in each unit: records of equal names are one kind. */
START_TEST(records_of_one_name_are_one_kind) {
  uint32_t again = synthetic_site(s, APROF_SITE_FUNCTION, "handle", "server.c", 10, 1);
  struct aprof_kind *other = synthetic_kind(s, "GET /item", again);
  synthetic_book(s, get, 100, 0, 50, 50);
  synthetic_book(s, other, 300, 0, 50, 250);
  synthetic_book_tier(s, get, db, 1, 0, 40, 40);
  synthetic_book_tier(s, other, db, 1, 0, 200, 200);
  struct view *v = view();
  ck_assert_uint_eq(v->kinds, 1);
  ck_assert_uint_eq(v->kind[0].count, 2);
  ck_assert_uint_eq(v->kind[0].wall.max, 300);
  ck_assert_uint_eq(v->kind[0].tiers, 1);
  ck_assert_uint_eq(v->kind[0].tier[0].waiting.sum, 240);
  view_free(v);
}
END_TEST

START_TEST(roots_leave_implicit_ones_out) {
  struct aprof_kind *implicit = synthetic_kind(s, NULL, handler);
  implicit->flags = APROF_REQUEST_IMPLICIT;
  synthetic_book(s, implicit, 10, 0, 5, 5);
  struct view *v = view();
  ck_assert_uint_eq(v->kinds, 1);
  ck_assert(v->kind[0].implicit);
  view_free(v);
  s->header->roots = 1;
  v = view();
  ck_assert_uint_eq(v->kinds, 0);
  view_free(v);
}
END_TEST

START_TEST(the_slowest_come_first) {
  synthetic_book(s, get, 10, 0, 5, 5);
  for (uint64_t i = 1; i <= APROF_SLOWEST; i++)
    synthetic_slow(s, get, 2000 + i, i * 7 % 17);
  struct aprof_slow *slow = synthetic_slow(s, synthetic_kind(s, "B", handler), 5000, 900);
  slow->trace[1] = 0xabc;
  slow->exec = 100;
  slow->waiting = 700;
  slow->queued = 100;
  slow->tiers = 200; /* more than there can be */
  slow->tier[0].tier = fs;
  slow->tier[0].waiting = 600;
  synthetic_book(s, &s->kinds[2], 900, 100, 100, 700);
  struct view *v = view();
  const struct view_kind *k = kind_named(v, "GET /item");
  ck_assert_uint_eq(k->slows, APROF_SLOWEST);
  for (size_t i = 1; i < k->slows; i++)
    ck_assert_uint_ge(k->slow[i - 1].wall, k->slow[i].wall);
  k = kind_named(v, "B");
  ck_assert_str_eq(k->slow[0].trace, "00000000000000000000000000000abc");
  ck_assert_uint_eq(k->slow[0].begin, 4000); /* the profile began at tick 1000 */
  ck_assert_str_eq(k->slow[0].began_at, "2023-11-14T22:13:20.000004000Z");
  ck_assert_uint_eq(k->slow[0].member, 900);
  ck_assert_uint_eq(k->slow[0].tiers, APROF_SLOW_TIERS);
  ck_assert_str_eq(k->slow[0].tier[0].name, "fs");
  view_free(v);
}
END_TEST

START_TEST(one_that_is_being_written_is_not_shown) {
  synthetic_book(s, get, 10, 0, 5, 5);
  synthetic_slow(s, get, 2000, 10)->sequence = 3;
  struct view *v = view();
  ck_assert_uint_eq(v->kind[0].slows, 0);
  view_free(v);
}
END_TEST

/* Of a live process the tiers may have one more than the kind: then that has it, too. */
START_TEST(tiers_have_no_more_than_their_kind) {
  synthetic_book(s, get, 1000, 0, 300, 600);
  synthetic_book_tier(s, get, db, 1, 400, 700, 1000);
  struct view *v = view();
  ck_assert_uint_eq(v->kind[0].exec.sum, 400);
  ck_assert_uint_eq(v->kind[0].waiting.sum, 700);
  ck_assert_uint_eq(v->kind[0].other_exec, 0);
  view_free(v);
}
END_TEST

START_TEST(totals_whose_tiers_have_more_are_refused) {
  size_t length;
  synthetic_book(s, get, 1000, 0, 300, 600);
  synthetic_book_tier(s, get, db, 1, 300, 600, 900);
  char *text = shown_totals(s, "exit", 100000, &length);
  char *at = memmem(text, length, "\"exec_ns\":300", 13);
  ck_assert_ptr_nonnull(at);
  at[strlen("\"exec_ns\":")] = '2';
  ck_assert_ptr_null(view_of_totals(text, length, "totals"));
  free(text);
}
END_TEST

START_TEST(those_that_go_on_are_listed) {
  struct aprof_future *f = synthetic_future(s, 1, node, APROF_FUTURE_QUEUED, 50000);
  struct aprof_request *r = synthetic_request(s, get, handler, 40000);
  r->root = synthetic_index(s, f);
  r->exec = 10;
  r->queued = 5;
  r->total = 100;
  f->request = synthetic_request_number(s, r);
  struct aprof_request *inner = synthetic_request(s, NULL, handler, 60000);
  inner->parent = f->request;
  synthetic_request(s, get, handler, 70000)->state = APROF_REQUEST_OVER;
  synthetic_request(s, get, handler, 70000)->id = (uint64_t)7 << 48 | 9; /* of another epoch */
  struct view *v = view();
  ck_assert_uint_eq(v->pendings, 2);
  const struct view_pending *p = &v->pending[0];
  ck_assert_str_eq(p->kind, "GET /item");
  ck_assert_uint_eq(p->age, 60000);
  ck_assert_uint_eq(p->root, f->id);
  ck_assert_uint_eq(p->waiting, 85);
  ck_assert(!p->rootless);
  ck_assert_uint_eq(v->live[0].request, p->id);
  ck_assert_str_eq(v->pending[1].kind, "handle");
  ck_assert_uint_eq(v->pending[1].parent, p->id);
  ck_assert(v->pending[1].rootless);
  ck_assert_uint_eq(kind_named(v, "GET /item")->live, 1);
  ck_assert_uint_eq(kind_named(v, "GET /item")->count, 0);
  ck_assert_uint_eq(kind_named(v, "GET /item")->wall.max, UNKNOWN);
  view_free(v);
}
END_TEST

START_TEST(an_interval_has_what_came_to_it) {
  synthetic_book(s, get, 1000, 0, 300, 600);
  synthetic_book_tier(s, get, db, 1, 100, 600, 700);
  synthetic_slow(s, get, 2000, 1000);
  struct view *earlier = view();
  synthetic_book(s, get, 500, 0, 100, 400);
  synthetic_book_tier(s, get, db, 2, 30, 300, 330);
  synthetic_slow(s, get, 4000, 500);
  struct view *later = view();
  ck_assert(view_subtract(later, earlier));
  const struct view_kind *k = kind_named(later, "GET /item");
  ck_assert_uint_eq(k->count, 1);
  ck_assert_uint_eq(k->wall.sum, 500);
  ck_assert_uint_eq(k->wall.max, UNKNOWN);
  ck_assert_uint_eq(k->wall.of.count, 1);
  ck_assert_uint_eq(k->tier[0].calls.sum, 2);
  ck_assert_uint_eq(k->other_exec, 70);
  ck_assert_uint_eq(k->other_waiting, 100);
  ck_assert_uint_eq(k->slows, 1);
  ck_assert_uint_eq(k->slow[0].wall, 500);
  view_free(later);
  view_free(earlier);
}
END_TEST

START_TEST(a_merge_has_both) {
  synthetic_book(s, get, 1000, 0, 300, 600);
  synthetic_book_tier(s, get, db, 1, 100, 600, 700);
  synthetic_slow(s, get, 2000, 1000);
  struct view *one = view();
  s->header->pid++;
  synthetic_book(s, get, 4000, 0, 100, 3000);
  synthetic_book_tier(s, get, fs, 1, 10, 50, 60);
  synthetic_slow(s, get, 9000, 4000);
  synthetic_request(s, get, handler, 40000);
  struct view *other = view();
  view_merge(one, other, false);
  const struct view_kind *k = kind_named(one, "GET /item");
  ck_assert_uint_eq(one->kinds, 1);
  ck_assert_uint_eq(k->count, 3);
  ck_assert_uint_eq(k->live, 1);
  ck_assert_uint_eq(k->wall.max, 4000);
  ck_assert_uint_eq(k->tiers, 2);
  ck_assert_uint_eq(tier_named(k, "db")->waiting.sum, 1200);
  ck_assert_uint_eq(k->slows, 3);
  ck_assert_uint_eq(k->slow[0].wall, 4000);
  ck_assert_uint_eq(k->slow[0].process, 1);
  ck_assert_uint_eq(one->pendings, 1);
  ck_assert_uint_eq(one->pending[0].process, 1);
  view_free(one);
  view_free(other);
}
END_TEST

/* What futures run in a span is their function's exec; outside of any, the thread's other. */
START_TEST(spans_are_part_of_their_function) {
  uint32_t parse = synthetic_site(s, APROF_SITE_SPAN, "parse", "http.c", 5, 1);
  uint32_t call = synthetic_site(s, APROF_SITE_AWAIT, "fetch", "http.c", 7, 1);
  uint32_t inside = synthetic_node(s, node, parse, APROF_NODE_SPAN);
  uint32_t await = synthetic_node(s, inside, call, APROF_NODE_AWAIT);
  uint32_t outside = synthetic_node(s, 0, parse, APROF_NODE_SPAN);
  synthetic_node(s, outside, call, APROF_NODE_AWAIT); /* there is none of that */
  s->sites[parse].tier = db;
  synthetic_counters(s, 1, node)->function.exec = 1000;
  synthetic_counters(s, 1, node)->function.done = 2;
  synthetic_counters(s, 1, inside)->function.exec = 300;
  synthetic_counters(s, 1, inside)->function.done = 4;
  synthetic_counters(s, 1, await)->await.waiting = 50;
  synthetic_counters(s, 1, await)->await.count = 1;
  synthetic_counters(s, 1, outside)->function.exec = 20;
  synthetic_counters(s, 1, outside)->function.done = 1;
  synthetic_future(s, 1, inside, APROF_FUTURE_RUNNING, 99990);
  struct view *v = view();
  ck_assert_uint_eq(v->functions, 1);
  ck_assert_uint_eq(v->function[0].exec, 1310);
  ck_assert_uint_eq(v->function[0].waiting, 50);
  ck_assert_uint_eq(v->function[0].children_exec, 0);
  ck_assert_uint_eq(v->function[0].live, 1);
  ck_assert_uint_eq(v->function[0].awaits, 1);
  ck_assert_uint_eq(v->thread[0].exec, 1310);
  ck_assert_uint_eq(v->paths, 3);
  ck_assert(!view_is_span(&v->path[0]) && view_is_span(&v->path[1]));
  ck_assert_uint_eq(v->path[0].exec, 1000);
  ck_assert_uint_eq(v->path[1].exec, 310);
  ck_assert_uint_eq(v->path[1].calls, 4);
  ck_assert_uint_eq(v->path[1].waiting, 50);
  ck_assert_str_eq(v->path[1].name, "parse");
  ck_assert_uint_eq(v->path[2].parent, 1);
  ck_assert_uint_eq(v->spans, 1);
  ck_assert_uint_eq(v->span[0].calls, 5);
  ck_assert_uint_eq(v->span[0].exec, 310);
  ck_assert_uint_eq(v->span[0].waiting, 50);
  ck_assert_uint_eq(v->span[0].other, 20);
  ck_assert_str_eq(v->span[0].tier, "db");
  ck_assert_str_eq(v->span[0].detail, "time");
  view_free(v);
}
END_TEST

START_TEST(an_open_span_outside_has_the_rest_of_other) {
  uint32_t parse = synthetic_site(s, APROF_SITE_SPAN, "parse", "http.c", 5, 1);
  uint32_t outside = synthetic_node(s, 0, parse, APROF_NODE_SPAN);
  synthetic_counters(s, 1, outside)->function.exec = 20;
  block->state = APROF_THREAD_OTHER;
  block->last = 99000;
  block->other = 500;
  block->span_node = outside;
  block->span_other = 470;
  struct view *v = view();
  ck_assert_uint_eq(v->span[0].other, 20 + 30 + 1000);
  ck_assert_uint_eq(v->thread[0].other, 1500);
  view_free(v);
}
END_TEST

START_TEST(a_share_says_whose_part_a_future_is) {
  struct aprof_share *share =
      synthetic_chunk(s, APROF_CHUNK_SHARES, 0, 0, 8, sizeof(struct aprof_share));
  struct aprof_request *r = synthetic_request(s, get, handler, 40000);
  struct aprof_future *f = synthetic_future(s, 1, node, APROF_FUTURE_QUEUED, 50000);
  share[3].request = synthetic_request_number(s, r);
  f->request = APROF_SHARE | 3;
  synthetic_future(s, 1, node, APROF_FUTURE_QUEUED, 60000)->request = APROF_SHARE | 99;
  struct view *v = view();
  ck_assert_uint_eq(v->live[0].request, r->id);
  ck_assert_uint_eq(v->live[1].request, 0);
  view_free(v);
}
END_TEST

START_TEST(kinds_of_before_a_reset_are_empty) {
  synthetic_book(s, get, 1000, 0, 300, 600);
  synthetic_slow(s, get, 2000, 10);
  struct aprof_kind_part *part = synthetic_part(s, 1, get);
  synthetic_book_part(s, part, 30, 10, 10, 10);
  get->epoch = get->shared.epoch = s->header->reset_epoch - 1;
  struct view *v = view();
  ck_assert_uint_eq(v->kinds, 1);
  ck_assert_uint_eq(v->kind[0].count, 1);
  ck_assert_uint_eq(v->kind[0].wall.sum, 30);
  ck_assert_uint_eq(v->kind[0].slows, 0);
  view_free(v);
  part->epoch = get->epoch;
  v = view();
  ck_assert_uint_eq(v->kinds, 0);
  view_free(v);
}
END_TEST

/* A list that leads round, or out of the file, ends. */
START_TEST(damaged_lists_end) {
  synthetic_book(s, get, 1000, 0, 300, 600);
  synthetic_book_tier(s, get, db, 1, 1, 1, 1);
  s->tiers[0].next = get->shared.tiers;
  struct aprof_kind *other = synthetic_kind(s, "B", handler);
  synthetic_book(s, other, 1000, 0, 300, 600);
  other->shared.tiers = UINT32_MAX;
  other->slowest = UINT32_MAX - 1;
  other->label = UINT32_MAX;
  other->shared.wall.histogram = UINT32_MAX;
  struct view *v = view();
  ck_assert_uint_eq(v->kinds, 2);
  ck_assert_uint_eq(kind_named(v, "GET /item")->tiers, 1);
  view_free(v);
}
END_TEST

static void rewrite(int fd) {
  ck_assert_int_eq(pwrite(fd, s->bytes, s->header->used, 0), (ssize_t)s->header->used);
}

/* A label, a tier and a kind that were not there before, and buckets of one that was. */
START_TEST(the_next_reading_has_what_is_new) {
  struct aprof_kind_part *part = synthetic_part(s, 1, get);
  synthetic_book_part(s, part, 1000, 0, 300, 600);
  int fd = synthetic_file(s, s->header->used);
  struct follow *f = follow_new(fd, "synthetic");
  struct view_request how = {.reason = "request", .at = 100000};
  struct view *v = follow_view(f, &how, false);
  ck_assert_uint_eq(v->kind[0].wall.of.count, 1);
  view_free(v);
  synthetic_book_part(s, part, 9000, 0, 300, 600);
  synthetic_kind(s, "PUT /item", handler);
  part[1].epoch = part->epoch; /* the one after the other */
  synthetic_book_part(s, &part[1], 1000, 0, 300, 600);
  synthetic_book_part_tier(s, &part[1], synthetic_tier(s, "cache"), 1, 100, 200, 300);
  block->sequence += 2; /* it ended in an event */
  rewrite(fd);
  v = follow_view(f, &how, false);
  ck_assert_uint_eq(kind_named(v, "GET /item")->count, 2);
  ck_assert_uint_eq(kind_named(v, "GET /item")->wall.of.count, 2);
  ck_assert_ptr_nonnull(kind_named(v, "PUT /item"));
  ck_assert_str_eq(kind_named(v, "PUT /item")->tier[0].name, "cache");
  view_free(v);
  follow_free(f);
  close(fd);
}
END_TEST

/* Only slow --follow looks at it. */
START_TEST(the_log_is_read_for_who_wishes_it) {
  synthetic_book(s, get, 1000, 0, 300, 600);
  synthetic_logged(s, get, 700);
  synthetic_logged(s, get, 800);
  int fd = synthetic_file(s, s->header->used);
  struct follow *f = follow_new(fd, "synthetic");
  struct view_request how = {.reason = "request", .at = 100000};
  struct view *v = follow_view(f, &how, false);
  ck_assert_uint_eq(v->logged, 2);
  ck_assert_ptr_null(v->kind[0].logged);
  ck_assert_uint_eq(v->kind[0].loggeds, 0);
  view_free(v);
  how.log = true;
  v = follow_view(f, &how, false);
  ck_assert_uint_eq(v->kind[0].loggeds, 2);
  ck_assert_uint_eq(v->kind[0].logged[0].number + v->kind[0].logged[1].number, 1);
  view_free(v);
  follow_free(f);
  close(fd);
}
END_TEST

/* -- functions beneath them -------------------------------------------------------------- */

static struct aprof_counters *ran(uint32_t at, uint64_t done, uint64_t exec) {
  struct aprof_counters *c = synthetic_counters(s, 1, at);
  c->function.done = c->function.slices = done;
  c->function.exec = exec;
  return c;
}

static const struct beneath_function *find_beneath(const struct beneath *all, const char *root,
                                                   const char *name) {
  for (size_t i = 0; i < all->functions; i++) {
    const struct beneath_function *b = &all->function[i];
    if (!strcmp(b->whole->name, name) &&
        (root ? b->root && !strcmp(b->root->name, root) : !b->root))
      return b;
  }
  return NULL;
}

/* `fetch` runs beneath two roots, one of which is called by the other, and beneath none. */
START_TEST(functions_are_of_the_nearest_root) {
  uint32_t other = synthetic_site(s, APROF_SITE_FUNCTION, "upload", "server.c", 30, 1);
  uint32_t fetch = synthetic_site(s, APROF_SITE_FUNCTION, "fetch", "db.c", 5, 1);
  uint32_t idle = synthetic_site(s, APROF_SITE_FUNCTION, "listen", "server.c", 10, 1);
  uint32_t upload = synthetic_node(s, node, other, 0), alone = synthetic_node(s, 0, idle, 0);
  synthetic_book(s, get, 100, 0, 50, 50);
  synthetic_book(s, synthetic_kind(s, "POST", other), 100, 0, 50, 50);
  synthetic_book(s, synthetic_kind(s, "PUT", other), 100, 0, 50, 50);
  ran(node, 1, 10);
  ran(upload, 2, 20);
  ran(alone, 3, 40);
  ran(synthetic_node(s, node, fetch, 0), 4, 100);
  ran(synthetic_node(s, upload, fetch, 0), 5, 200);
  ran(synthetic_node(s, alone, fetch, 0), 6, 400);
  struct view *v = view();
  struct beneath all = ask_beneath(v);
  ck_assert_uint_eq(all.functions, 6);
  ck_assert(find_beneath(&all, "handle", "handle")->is_whole);
  ck_assert(find_beneath(&all, "upload", "upload")->is_whole);
  ck_assert(find_beneath(&all, NULL, "listen")->is_whole); /* its line is a root's, too */
  ck_assert(!find_beneath(&all, NULL, "fetch")->is_whole);
  ck_assert_uint_eq(find_beneath(&all, "handle", "fetch")->part.exec, 100);
  ck_assert_uint_eq(find_beneath(&all, "upload", "fetch")->part.exec, 200);
  ck_assert_uint_eq(find_beneath(&all, "upload", "fetch")->part.done, 5);
  ck_assert_uint_eq(find_beneath(&all, NULL, "fetch")->part.exec, 400);
  ck_assert_uint_eq(ask_kinds_of_root(v, find_beneath(&all, "upload", "upload")->root), 2);
  uint64_t exec = 0, whole = 0;
  for (size_t i = 0; i < all.functions; i++)
    exec += all.function[i].part.exec;
  for (size_t i = 0; i < v->functions; i++)
    whole += v->function[i].exec;
  ck_assert_uint_eq(exec, whole);
  ask_beneath_free(&all);
  view_free(v);
}
END_TEST

/* Of the one kind that is meant, and of that part of a function that ran elsewhere, too. */
START_TEST(a_view_is_narrowed_to_a_kind) {
  uint32_t other = synthetic_site(s, APROF_SITE_FUNCTION, "upload", "server.c", 30, 1);
  uint32_t fetch = synthetic_site(s, APROF_SITE_FUNCTION, "fetch", "db.c", 5, 1);
  uint32_t wait = synthetic_site(s, APROF_SITE_AWAIT, "reply", "db.c", 7, 3);
  uint32_t mine = synthetic_node(s, node, fetch, 0), root = synthetic_node(s, 0, other, 0),
           its = synthetic_node(s, root, fetch, 0);
  synthetic_book(s, get, 100, 0, 50, 50);
  synthetic_book(s, synthetic_kind(s, "POST", other), 100, 0, 50, 50);
  ran(node, 1, 10);
  ran(root, 2, 20);
  ran(mine, 4, 100);
  ran(its, 5, 200);
  const uint32_t at[] = {mine, its};
  for (uint64_t i = 0; i < 2; i++) {
    struct aprof_counters *c =
        synthetic_counters(s, 1, synthetic_node(s, at[i], wait, APROF_NODE_AWAIT));
    c->await.count = 3 + i;
    c->await.waiting = c->await.max = 1000 * (i + 1);
  }
  struct view *v = view();
  size_t functions = v->functions;
  ck_assert(!ask_narrow(v, &(struct request_filter){.kind = "G?T", .exact = true}));
  view_free(v);
  v = view();
  ck_assert(ask_narrow(v, &(struct request_filter){.kind = "GET*"}));
  ck_assert_uint_eq(v->kinds, 1);
  ck_assert_uint_eq(v->functions, functions);
  ck_assert_uint_eq(v->paths, 3);
  for (size_t i = 0; i < v->functions; i++) {
    const struct view_function *f = &v->function[i];
    bool is = !strcmp(f->name, "fetch");
    uint64_t exec = is ? 100 : !strcmp(f->name, "handle") ? 10 : 0;
    ck_assert_uint_eq(f->exec, exec);
    if (!is)
      continue;
    ck_assert_uint_eq(f->done, 4);
    ck_assert_uint_eq(f->awaits, 1);
    ck_assert_uint_eq(f->await[0].count, 3);
    ck_assert_uint_eq(f->await[0].waiting, 1000);
    ck_assert_uint_eq(f->await[0].max, 1000);
    ck_assert_uint_eq(f->wall, 100 + f->queued + f->waiting);
  }
  ck_assert_uint_eq(v->path[0].parent, SIZE_MAX);
  ck_assert_uint_eq(v->path[2].parent, 1);
  view_free(v);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("requests");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, kinds_have_what_was_booked);
  tcase_add_test(tests, a_kind_is_the_sum_of_its_parts);
  tcase_add_test(tests, without_a_label_the_function_names_it);
  tcase_add_test(tests, records_of_one_name_are_one_kind);
  tcase_add_test(tests, roots_leave_implicit_ones_out);
  tcase_add_test(tests, the_slowest_come_first);
  tcase_add_test(tests, one_that_is_being_written_is_not_shown);
  tcase_add_test(tests, tiers_have_no_more_than_their_kind);
  tcase_add_test(tests, totals_whose_tiers_have_more_are_refused);
  tcase_add_test(tests, those_that_go_on_are_listed);
  tcase_add_test(tests, an_interval_has_what_came_to_it);
  tcase_add_test(tests, a_merge_has_both);
  tcase_add_test(tests, spans_are_part_of_their_function);
  tcase_add_test(tests, an_open_span_outside_has_the_rest_of_other);
  tcase_add_test(tests, a_share_says_whose_part_a_future_is);
  tcase_add_test(tests, kinds_of_before_a_reset_are_empty);
  tcase_add_test(tests, damaged_lists_end);
  tcase_add_test(tests, the_next_reading_has_what_is_new);
  tcase_add_test(tests, the_log_is_read_for_who_wishes_it);
  tcase_add_test(tests, functions_are_of_the_nearest_root);
  tcase_add_test(tests, a_view_is_narrowed_to_a_kind);
  return suite_run("cli requests", tests);
}
