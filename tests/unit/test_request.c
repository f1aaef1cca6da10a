/* SPDX-License-Identifier: MIT */
/* Requests, tiers and spans: what is booked where, by hand on the virtual clock. */
#include "unit.h"

#include <pthread.h>
#include <setjmp.h>

#include "rt/request/share.h"

enum { NS = 7, NEW_WORK_NS = 8, KEY = 0xabc0, OTHER_KEY = 0xabd0 };
FUNCTION_SITE(body);
FUNCTION_SITE(child);
FUNCTION_SITE(handler);
CALLBACK_SITE(on_done);
CALLBACK_SITE(on_read);
AWAIT_SITE(nap);
SITE_(idle_wait, APROF_SITE_AWAIT, 0, APROF_BACKGROUND, 0);
SITE_(serve, APROF_SITE_FUNCTION, APROF_MODEL_STACK, APROF_ROOT, 0);
CREATE_SITE(request, APROF_ROOT | APROF_ONCE, NS);
CREATE_SITE(once, APROF_ONCE, NS);
CREATE_SITE(multi, APROF_MULTI, NS);
CREATE_SITE(read_start, APROF_MULTI | APROF_BACKGROUND, NEW_WORK_NS);
RUN_SITE(call, 0, NS);
RUN_SITE(call_read, 0, NEW_WORK_NS);
END_SITE(ender, NS);
SITE_(hander, APROF_SITE_WAKE, 0, APROF_HAND, NS);
#define SPAN_SITE(site_, tier_)                                                                    \
  static struct aprof_site site_ = {                                                               \
      .name = #site_, .file = "unit.c", .line = __LINE__, .kind = APROF_SITE_SPAN, .tier = tier_}
#define TIER_SITE(site_, tier_)                                                                    \
  static struct aprof_site site_ = {                                                               \
      .name = #site_, .file = "unit.c", .line = __LINE__, .kind = APROF_SITE_TIER, .tier = tier_}
SPAN_SITE(parse, NULL);
SPAN_SITE(inner, NULL);
SPAN_SITE(render, "render");
TIER_SITE(to_db, "db");
static struct aprof_site tiered = {.name = "tiered",
                                   .file = "unit.c",
                                   .line = 99,
                                   .kind = APROF_SITE_CREATE,
                                   .flags = APROF_ONCE,
                                   .ns = NS,
                                   .tier = "cache"};
SITE_(labels, APROF_SITE_LABEL, 0, 0, NS);

/* -- as the plugin emits them ------------------------------------------------ */

static void span(struct aprof_site *site, token *t) {
  *t = (token){0};
  if (*gate.flag)
    gate.span_begin(site, t);
}

static void spanned(token *t) {
  if (t->word[0])
    gate.span_end(t);
}

/* -- the profile ---------------------------------------------------------------- */

static const char *text(uint32_t string) {
  return string != 0 ? (const char *)profile() + ((uint64_t)string << 3) : "";
}

static const char *site_name(uint32_t site) {
  return text(((const struct aprof_psite *)element(APROF_CHUNK_SITES, site))->name);
}

static struct aprof_kind_part had; /* of the one that was asked for last */

/* The one with that label ("": none) and function; NULL: there is none. */
static const struct aprof_kind *kind(const char *label, const char *function) {
  for (uint32_t n = 1; n < profile()->kinds; n++) {
    const struct aprof_kind *k = element(APROF_CHUNK_KINDS, n);
    had = kind_sum(n);
    if (had.count != 0 && strcmp(text(k->label), label) == 0 &&
        strcmp(site_name(k->function), function) == 0)
      return k;
  }
  return NULL;
}

static struct aprof_kind_part kind_part(const char *label, const char *function) {
  ck_assert_ptr_nonnull(kind(label, function));
  return had;
}

static const struct aprof_kind_tier *tier(const char *label, const char *function,
                                          const char *name) {
  uint32_t offset = kind_part(label, function).tiers;
  while (offset != 0) {
    const struct aprof_kind_tier *t =
        (const void *)((const char *)profile() + ((uint64_t)offset << 3));
    if (strcmp(text(profile()->tier_names[t->tier]), name) == 0)
      return t;
    offset = t->next;
  }
  return NULL;
}

/* A kind of which so many are over, with these sums. */
#define expect_kind(label, function, count_, wall_, exec_, queued_, waiting_)                      \
  do {                                                                                             \
    const struct aprof_kind *k_ = kind(label, function);                                           \
    ck_assert_msg(k_ != NULL, "no kind \"%s\", %s", label, function);                              \
    ck_assert_uint_eq(had.count, count_);                                                          \
    ck_assert_uint_eq(had.wall.sum, wall_);                                                        \
    ck_assert_uint_eq(had.exec.sum, exec_);                                                        \
    ck_assert_uint_eq(had.queued.sum, queued_);                                                    \
    ck_assert_uint_eq(had.waiting.sum, waiting_);                                                  \
  } while (0)
#define expect_tier(label, function, name, calls_, exec_, waiting_, wall_)                         \
  do {                                                                                             \
    const struct aprof_kind_tier *t_ = tier(label, function, name);                                \
    ck_assert_msg(t_ != NULL, "no tier %s", name);                                                 \
    ck_assert_uint_eq(t_->calls.sum, calls_);                                                      \
    ck_assert_uint_eq(t_->exec.sum, exec_);                                                        \
    ck_assert_uint_eq(t_->waiting.sum, waiting_);                                                  \
    ck_assert_uint_eq(t_->wall.sum, wall_);                                                        \
  } while (0)

static uint32_t lives(void) {
  uint32_t living = 0;
  for (uint32_t n = 1; n < 256 && chunk_of(APROF_CHUNK_REQUESTS, 1) != NULL; n++)
    living += ((const struct aprof_request *)element(APROF_CHUNK_REQUESTS, n))->id != 0;
  return living;
}

/* The counters of the only span of that name, over all threads. */
static struct aprof_counters span_counters(const char *name) {
  struct aprof_counters sum = {0};
  for (uint32_t n = 1; n <= profile()->nodes; n++) {
    const struct aprof_node *node = element(APROF_CHUNK_NODES, n);
    if (node->is_await != APROF_NODE_SPAN || strcmp(site_name(node->site), name) != 0)
      continue;
    const struct aprof_chunk *c = chunk_of(APROF_CHUNK_COUNTERS, n);
    if (c == NULL)
      continue;
    const struct aprof_counters *one = element(APROF_CHUNK_COUNTERS, n);
    sum.function.exec += one->function.exec;
    sum.function.done += one->function.done;
  }
  return sum;
}
#define expect_span(name, exec_, done_)                                                            \
  do {                                                                                             \
    struct aprof_counters c_ = span_counters(name);                                                \
    ck_assert_uint_eq(c_.function.exec, exec_);                                                    \
    ck_assert_uint_eq(c_.function.done, done_);                                                    \
  } while (0)

/* -- spans ------------------------------------------------------------------------- */

START_TEST(a_span_has_what_ran_in_it) {
  attach();
  for (int i = 0; i < 10; i++) {
    token b, s, in, a;
    enter(&body, &b);
    pass(1);
    span(&parse, &s);
    pass(2);
    span(&inner, &in);
    pass(3);
    suspend(&nap, &a);
    pass(100);
    resume(&a);
    pass(4);
    spanned(&in);
    pass(5);
    spanned(&s);
    pass(6);
    leave(&b);
  }
  expect_span("parse", 70, 10);
  expect_span("inner", 70, 10);
  ck_assert_uint_eq(profile()->lost_events, 0);
  expect("body", "slice_max", 15);
}
END_TEST

START_TEST(a_recursion_folds) {
  attach();
  token b, s[3], c, s2;
  enter(&body, &b);
  for (int i = 0; i < 3; i++) {
    span(&parse, &s[i]);
    pass(1);
  }
  enter(&child, &c);
  span(&parse, &s2);
  pass(10);
  spanned(&s2);
  leave(&c);
  for (int i = 2; i >= 0; i--) {
    pass(1);
    spanned(&s[i]);
  }
  leave(&b);
  expect_span("parse", 16, 4);
  uint32_t spans = 0;
  for (uint32_t n = 1; n <= profile()->nodes; n++)
    spans +=
        ((const struct aprof_node *)element(APROF_CHUNK_NODES, n))->is_await == APROF_NODE_SPAN;
  ck_assert_uint_eq(spans, 2); /* one in each function */
}
END_TEST

START_TEST(a_span_that_was_jumped_out_of) {
  attach();
  token b, s, in, c;
  enter(&body, &b);
  span(&parse, &s);
  pass(1);
  span(&inner, &in);
  enter(&child, &c);
  pass(2);
  spanned(&s); /* its end comes first */
  pass(4);
  leave(&b);
  expect_span("parse", 1, 1);
  expect_span("inner", 0, 1); /* a call, however it was left */
  expect("body", "done", 1);
  expect("child", "cancelled", 1);
}
END_TEST

START_TEST(a_jump_back_into_a_span) {
  attach();
  token b, s, in, c;
  enter(&body, &b);
  span(&parse, &s);
  pass(1);
  span(&inner, &in);
  enter(&child, &c);
  pass(2);
  resync(&s);
  pass(8);
  spanned(&s);
  pass(16);
  leave(&b);
  expect_span("parse", 9, 1);
  expect("child", "cancelled", 1);
  ck_assert_uint_eq(span_counters("inner").function.exec, 0);
}
END_TEST

START_TEST(spans_outside_futures) {
  attach();
  token s, in, b;
  enter(&body, &b);
  pass(1);
  leave(&b);
  pass(2);
  span(&parse, &s);
  pass(4);
  span(&inner, &in);
  pass(8);
  enter(&body, &b);
  pass(16);
  leave(&b);
  pass(32);
  spanned(&in);
  pass(64);
  spanned(&s);
  pass(128);
  enter(&body, &b);
  leave(&b);
  expect_span("inner", 40, 1);
  expect_span("parse", 68, 1);
}
END_TEST

START_TEST(a_span_counted_or_left_out) {
  attach();
  token b, s;
  enter(&body, &b);
  span(&parse, &s);
  spanned(&s);
  struct aprof_psite *p = (struct aprof_psite *)element(APROF_CHUNK_SITES, parse.id);
  p->detail = APROF_DETAIL_COUNT;
  span(&parse, &s);
  pass(5);
  spanned(&s);
  p->detail = APROF_DETAIL_OFF;
  span(&parse, &s);
  ck_assert_uint_eq(s.word[0], 0);
  leave(&b);
  expect_span("parse", 0, 2);
  expect("body", "exec", 5);
}
END_TEST

/* -- requests ------------------------------------------------------------------------ */

START_TEST(a_root_and_what_it_calls) {
  attach();
  for (int i = 0; i < 5; i++) {
    token r, c, a;
    enter(&serve, &r);
    pass(1);
    enter(&child, &c);
    pass(2);
    suspend(&nap, &a);
    pass(30);
    resume(&a);
    pass(4);
    leave(&c);
    pass(8);
    leave(&r);
    pass(1000);
  }
  expect_kind("", "serve", 5, 5 * 45, 5 * 15, 0, 5 * 30);
  ck_assert_uint_eq(lives(), 0);
  ck_assert_uint_eq(profile()->roots, 1);
}
END_TEST

START_TEST(children_are_members) {
  attach();
  token r, t;
  enter(&serve, &r);
  pass(1);
  new_future(&once, &on_done, KEY); /* waits */
  pass(2);
  gate.label_current(&labels, APROF_VALUE_TEXT, (uintptr_t) "get", 0);
  token a;
  suspend(&nap, &a);
  pass(10);
  run(&call, &t, KEY, &on_done);
  pass(5);
  ran(&t, APROF_DONE);
  pass(7);
  resume(&a);
  pass(3);
  leave(&r);
  /* serve: 1 + 2 + 3, waits 22; on_done waits 12, runs 5 */
  expect_kind("get", "serve", 1, 28, 11, 0, 34);
  ck_assert_uint_eq(lives(), 0);
}
END_TEST

START_TEST(what_comes_after) {
  attach();
  token r, t;
  enter(&serve, &r);
  pass(1);
  new_future(&once, &on_done, KEY);
  new_future(&once, &on_done, OTHER_KEY);
  pass(2);
  leave(&r);
  expect_kind("", "serve", 1, 3, 3, 0, 0);
  ck_assert_uint_eq(lives(), 1);
  pass(50);
  run(&call, &t, KEY, &on_done);
  pass(5);
  ran(&t, APROF_DONE);
  end(&ender, OTHER_KEY, APROF_CANCELLED);
  ck_assert_uint_eq(kind_part("", "serve").after, 1);
  ck_assert_uint_eq(kind_part("", "serve").after_exec, 5);
  expect_kind("", "serve", 1, 3, 3, 0, 0);
  ck_assert_uint_eq(lives(), 0);
}
END_TEST

static void *calls(void *unused) {
  token t;
  run(&call, &t, KEY, &on_done);
  pass(5);
  ran(&t, APROF_PENDING);
  return unused;
}

/* Nothing begins or ends to run where the root is ended, and a part of it has run elsewhere since
   something did: that was before its end all the same. */
START_TEST(nothing_comes_after) {
  attach();
  token t;
  pthread_t thread;
  new_future(&request, &handler, OTHER_KEY);
  run(&call, &t, OTHER_KEY, &handler);
  pass(1);
  new_future(&once, &on_done, KEY);
  ran(&t, APROF_PENDING);
  pass(2);
  ck_assert_int_eq(pthread_create(&thread, NULL, calls, NULL), 0);
  pthread_join(thread, NULL);
  pass(3);
  end(&ender, OTHER_KEY, APROF_DONE);
  end(&ender, KEY, APROF_CANCELLED);
  ck_assert_uint_eq(kind_part("", "handler").count, 1);
  ck_assert_uint_eq(kind_part("", "handler").after, 0);
  ck_assert_uint_eq(lives(), 0);
}
END_TEST

/* The last callback ends the request: it is a part of it to its end. */
START_TEST(a_root_that_is_ended_in_a_callback) {
  attach();
  token b, t;
  enter(&body, &b);
  leave(&b);
  new_future(&request, &handler, KEY);
  pass(5);
  run(&call, &t, KEY, &handler);
  pass(1);
  new_future(&once, &on_done, OTHER_KEY);
  pass(2);
  ran(&t, APROF_PENDING);
  pass(10);
  run(&call, &t, OTHER_KEY, &on_done);
  pass(3);
  end(&ender, KEY, APROF_DONE);
  pass(4);
  ran(&t, APROF_DONE);
  pass(100);
  expect_kind("", "handler", 1, 25, 10, 0, 30);
  ck_assert_uint_eq(lives(), 0);
}
END_TEST

START_TEST(a_request_without_a_root) {
  attach();
  token b, a, t;
  enter(&body, &b);
  pass(1);
  suspend(&idle_wait, &a);
  pass(100);
  resume(&a);
  for (int i = 0; i < 3; i++) {
    pass(2);
    if (i == 1)
      new_future(&once, &on_done, KEY);
    suspend(&nap, &t);
    pass(20);
    resume(&t);
    pass(3);
    suspend(&idle_wait, &a);
    pass(1000);
    resume(&a);
  }
  run(&call, &t, KEY, &on_done);
  pass(50);
  ran(&t, APROF_DONE);
  leave(&b);
  const struct aprof_kind *k = kind("", "body");
  ck_assert_ptr_nonnull(k);
  ck_assert_uint_eq(k->flags & APROF_REQUEST_IMPLICIT, APROF_REQUEST_IMPLICIT);
  ck_assert_uint_eq(had.count, 4); /* the last one: from the last wait to its end */
  ck_assert_uint_eq(lives(), 0);
  ck_assert_uint_eq(had.exec.sum, 3 * 5 + 50);
}
END_TEST

START_TEST(a_callback_for_new_work) {
  attach();
  token b, t;
  enter(&body, &b);
  new_future(&read_start, &on_read, KEY);
  leave(&b);
  for (int i = 0; i < 4; i++) {
    pass(10);
    run(&call_read, &t, KEY, &on_read);
    pass(3);
    new_future(&once, &on_done, OTHER_KEY);
    ran(&t, APROF_PENDING);
    pass(5);
    run(&call, &t, OTHER_KEY, &on_done);
    pass(2);
    ran(&t, APROF_DONE);
  }
  expect_kind("", "on_read", 4, 4 * 10, 4 * 5, 0, 4 * 5);
  ck_assert_uint_eq(lives(), 0);
}
END_TEST

START_TEST(one_is_handed_over) {
  attach();
  token r, b, a, t;
  enter(&body, &b);
  new_future(&multi, &on_done, KEY);
  leave(&b);
  pass(10);
  enter(&serve, &r);
  pass(1);
  gate.wake(&hander, KEY, 0);
  suspend(&nap, &a);
  pass(4);
  run(&call, &t, KEY, &on_done);
  pass(2);
  ran(&t, APROF_DONE);
  resume(&a);
  pass(1);
  leave(&r);
  expect_kind("", "serve", 1, 8, 4, 4, 6);
}
END_TEST

START_TEST(a_run_for_a_request) {
  attach();
  token b, t, f;
  enter(&body, &b);
  new_future(&multi, &on_done, KEY);
  leave(&b);
  new_future(&request, &handler, OTHER_KEY);
  pass(10);
  run(&call, &t, KEY, &on_done);
  gate.run_for(&t, NS, OTHER_KEY, 0);
  pass(6);
  ran(&t, APROF_PENDING);
  run(&call, &f, OTHER_KEY, &handler);
  pass(3);
  ran(&f, APROF_DONE);
  ck_assert_uint_eq(kind_part("", "handler").exec.sum, 3);
  ck_assert_uint_eq(lives(), 1); /* the worker is part of it until it ends */
  end(&ender, KEY, APROF_DONE);
  ck_assert_uint_eq(kind_part("", "handler").after_exec, 6);
  ck_assert_uint_eq(lives(), 0);
}
END_TEST

START_TEST(failed_ones) {
  attach();
  token r;
  enter(&serve, &r);
  leave_how(&r, APROF_FAILED);
  enter(&serve, &r);
  leave_how(&r, APROF_CANCELLED);
  ck_assert_uint_eq(kind_part("", "serve").count, 2);
  ck_assert_uint_eq(kind_part("", "serve").failed, 1);
}
END_TEST

START_TEST(a_reset_empties_kinds) {
  attach();
  token r;
  enter(&serve, &r);
  pass(5);
  leave(&r);
  enter(&serve, &r);
  gate.api_reset();
  leave(&r);
  enter(&serve, &r);
  pass(7);
  leave(&r);
  expect_kind("", "serve", 1, 7, 7, 0, 0);
}
END_TEST

/* -- tiers -------------------------------------------------------------------------- */

START_TEST(tiers_of_a_request) {
  attach();
  token r, s, d, a, c;
  enter(&serve, &r);
  pass(1);
  span(&render, &s);
  pass(2);
  span(&to_db, &d);
  suspend(&nap, &a);
  pass(10);
  resume(&a);
  spanned(&d);
  pass(3);
  enter(&child, &c); /* in the tier that it is called in */
  pass(4);
  suspend(&nap, &a);
  pass(20);
  resume(&a);
  span(&to_db, &d);
  suspend(&nap, &a);
  pass(30);
  resume(&a);
  spanned(&d);
  leave(&c);
  spanned(&s);
  pass(5);
  leave(&r);
  expect_kind("", "serve", 1, 75, 15, 0, 60);
  expect_tier("", "serve", "render", 1, 9, 20, 69);
  expect_tier("", "serve", "db", 2, 0, 40, 40);
}
END_TEST

START_TEST(a_tier_within_itself) {
  attach();
  token r, s, in;
  enter(&serve, &r);
  span(&render, &s);
  pass(1);
  span(&render, &in);
  pass(2);
  spanned(&in);
  pass(4);
  spanned(&s);
  leave(&r);
  expect_tier("", "serve", "render", 1, 7, 0, 7);
}
END_TEST

START_TEST(the_wait_at_a_create) {
  attach();
  token r, a, t;
  enter(&serve, &r);
  new_future(&tiered, &on_done, KEY);
  suspend(&nap, &a);
  pass(10);
  run(&call, &t, KEY, &on_done);
  pass(3);
  ran(&t, APROF_DONE);
  resume(&a);
  leave(&r);
  expect_kind("", "serve", 1, 13, 3, 0, 23);
  expect_tier("", "serve", "cache", 1, 0, 10, 10);
}
END_TEST

/* -- what random programs have found ---------------------------------------------- */

/* A span without a tier closes the tiers that were left open inside, and leaves the one around. */
START_TEST(a_span_closes_tiers_inside) {
  attach();
  token r, around, s, d;
  enter(&serve, &r);
  span(&render, &around);
  pass(1);
  span(&parse, &s);
  span(&to_db, &d);
  pass(2);
  spanned(&s);
  pass(4);
  spanned(&around);
  pass(8);
  leave(&r);
  expect_tier("", "serve", "render", 1, 5, 0, 7);
  expect_tier("", "serve", "db", 1, 2, 0, 2);
}
END_TEST

START_TEST(a_tier_closes_spans_inside) {
  attach();
  token r, d, s;
  enter(&serve, &r);
  span(&to_db, &d);
  pass(1);
  span(&parse, &s);
  pass(2);
  spanned(&d);
  pass(4);
  leave(&r);
  expect_span("parse", 2, 1);
  expect("serve", "exec", 5);
}
END_TEST

/* Nobody saw it come back: it goes on all the same. */
START_TEST(new_work_behind_an_unseen_return) {
  attach();
  token b, s, a;
  enter(&body, &b);
  span(&to_db, &s);
  suspend(&idle_wait, &a);
  pass(100);
  spanned(&s);
  pass(3);
  leave(&b);
  expect_kind("", "body", 1, 3, 3, 0, 0);
}
END_TEST

/* The span began before there was any tier. */
START_TEST(a_span_closes_tiers_alone) {
  attach();
  token r, s, d;
  enter(&serve, &r);
  span(&parse, &s);
  span(&to_db, &d);
  span(&to_db, &d);
  pass(1);
  spanned(&d);
  spanned(&s);
  pass(10);
  leave(&r);
  expect_kind("", "serve", 1, 11, 11, 0, 0);
  expect_tier("", "serve", "db", 1, 1, 0, 1);
}
END_TEST

/* A part that is not over yet when its request is: what it called has been booked, and no more. */
START_TEST(one_that_rests_has_called) {
  attach();
  token r, t, c;
  enter(&serve, &r);
  new_future(&multi, &on_done, KEY);
  pass(1);
  run(&call, &t, KEY, &on_done);
  enter(&child, &c);
  pass(10);
  leave(&c);
  pass(2);
  ran(&t, APROF_PENDING);
  pass(4);
  leave(&r);
  expect_kind("", "serve", 1, 17, 15, 0, 0);
  end(&ender, KEY, APROF_DONE);
  ck_assert_uint_eq(kind_part("", "serve").after, 0);
  ck_assert_uint_eq(kind_part("", "serve").after_exec, 2);
}
END_TEST

/* The record of the one that a request began with is another part's by now. */
START_TEST(the_first_is_over) {
  attach();
  token b, t, a;
  enter(&body, &b);
  new_future(&read_start, &on_read, KEY);
  leave(&b);
  pass(1);
  run(&call_read, &t, KEY, &on_read);
  new_future(&once, &on_done, OTHER_KEY);
  ran(&t, APROF_DONE);
  run(&call, &t, OTHER_KEY, &on_done);
  enter(&child, &b);
  pass(5);
  suspend(&nap, &a);
  resume(&a);
  leave(&b);
  ran(&t, APROF_DONE);
  expect_kind("", "on_read", 1, 5, 5, 0, 0);
}
END_TEST

/* -- threads ------------------------------------------------------------------------ */

/* A request in a tier, on any thread. */
static void one_of(uint64_t wall) {
  token r, s;
  enter(&serve, &r);
  span(&render, &s);
  gate.api_clock_advance(wall);
  spanned(&s);
  gate.leave(&r, APROF_DONE);
}

static uint64_t in_histogram(uint32_t offset) {
  const struct aprof_buckets *h = (const void *)((const char *)profile() + ((uint64_t)offset << 3));
  uint64_t sum = offset > 1 && h->octaves == 0 ? h->few : 0;
  for (uint32_t i = 0; offset > 1 && i < h->octaves * 16u; i++)
    sum += h->count[i];
  return sum;
}

static uint64_t in_histograms; /* of the wall time of its parts */

static uint32_t parts_used(uint32_t number, uint64_t *shared) {
  uint32_t used = 0;
  in_histograms = 0;
  const struct aprof_header *h = profile();
  for (uint64_t at = APROF_HEADER_SIZE; at < h->used;) {
    const struct aprof_chunk *chunk = (const void *)((const char *)h + at);
    const struct aprof_kind_part *part = (const void *)(chunk + 1);
    if (chunk->type == APROF_CHUNK_KIND_PARTS && number - chunk->first < chunk->count) {
      used += part[number - chunk->first].count != 0;
      in_histograms += in_histogram(part[number - chunk->first].wall.histogram);
    }
    at += chunk->size;
  }
  *shared = ((const struct aprof_kind *)element(APROF_CHUNK_KINDS, number))->shared.count;
  return used;
}

static pthread_barrier_t begun, filled;
static bool is_filled;

static void *serves(void *wall) {
  if (is_filled) { /* a thread that is there already */
    token b;
    enter(&body, &b);
    gate.leave(&b, APROF_DONE);
    pthread_barrier_wait(&begun);
    pthread_barrier_wait(&filled);
  }
  one_of((uintptr_t)wall);
  one_of((uintptr_t)wall);
  return NULL;
}

/* One after the other: the clock is one. */
static void serve_on_two(void) {
  pthread_t thread;
  one_of(100);
  ck_assert_int_eq(pthread_create(&thread, NULL, serves, (void *)7), 0);
  pthread_join(thread, NULL);
}

/* Each thread has a part, which a thread that comes later goes on with; a reset empties all of
   them, also that of a thread that has gone. */
START_TEST(each_thread_has_a_part) {
  uint64_t shared;
  attach();
  serve_on_two();
  expect_kind("", "serve", 3, 114, 114, 0, 0);
  ck_assert_uint_eq(parts_used(1, &shared), 2);
  serve_on_two();
  expect_kind("", "serve", 6, 228, 228, 0, 0);
  ck_assert_uint_eq(parts_used(1, &shared), 2);
  ck_assert_uint_eq(shared, 0);
  ck_assert_uint_eq(in_histograms, 6);
  unit_follow();
  gate.api_reset();
  ck_assert_ptr_null(kind("", "serve"));
  one_of(3);
  expect_kind("", "serve", 1, 3, 3, 0, 0);
  expect_tier("", "serve", "render", 1, 3, 0, 3);
  serve_on_two();
  expect_kind("", "serve", 4, 117, 117, 0, 0);
}
END_TEST

/* A thread for whose part there is no memory counts in that which all share. */
START_TEST(no_room_for_a_part) {
  struct aprof_header *h;
  pthread_t thread;
  uint64_t shared;
  attach();
  one_of(100);
  is_filled = true;
  pthread_barrier_init(&begun, NULL, 2);
  pthread_barrier_init(&filled, NULL, 2);
  ck_assert_int_eq(pthread_create(&thread, NULL, serves, (void *)7), 0);
  pthread_barrier_wait(&begun);
  h = (struct aprof_header *)(uintptr_t)profile();
  uint64_t used = h->used;
  h->used = h->capacity;
  pthread_barrier_wait(&filled);
  pthread_join(thread, NULL);
  h->used = used;
  expect_kind("", "serve", 3, 114, 114, 0, 0);
  ck_assert_uint_eq(parts_used(1, &shared), 1);
  ck_assert_uint_eq(shared, 2);
  unit_follow();
  gate.api_reset();
  ck_assert_ptr_null(kind("", "serve"));
}
END_TEST

/* A thread that races for a future may be about to book a share that another one has given back. */
START_TEST(a_share_given_back_has_no_cells) {
  struct aprof_future f[2] = {{.id = 0}};
  struct aprof_share *s[2];
  attach();
  one_of(1);
  for (unsigned i = 0; i < 2; i++)
    ck_assert_ptr_nonnull(s[i] = share_new(&f[i]));
  for (unsigned i = 0; i < 2; i++)
    share_give(&f[i], s[i]);
  for (unsigned i = 0; i < 2; i++) {
    ck_assert_uint_eq(s[i]->cells, 0);
    cells_book(s[i], NULL);
  }
}
END_TEST

/* ... or to write any word of it. */
START_TEST(who_writes_what_was_given_back) {
  struct aprof_future f[3] = {{.id = 0}};
  attach();
  one_of(1);
  struct aprof_share *s = share_new(&f[0]);
  share_give(&f[0], s);
  s->request = s->cells = s->brackets = 0x23456789; /* as a move, a booking or a tier does */
  s->tier = 0x12;
  s->open = s->joined = s->since = s->queued = s->waiting = s->aside = 0x123456789;
  for (unsigned i = 0; i < 3; i++)
    ck_assert_ptr_nonnull(share_new(&f[i]));
}
END_TEST

enum { RACING = 4 };

/* From the first event on, which opens the profile; each with a block of its own: the ring of one
   is too short for what all of them do. */
static void *races(void *arg) {
  pthread_barrier_wait(&begun);
  one_of(0);
  pthread_barrier_wait(&begun);
  for (uintptr_t i = 1; i < (uintptr_t)arg; i++)
    one_of(i % 64);
  return NULL;
}

/* What threads book at one time is all there, in the histograms, too. */
START_TEST(threads_end_requests_at_once) {
  pthread_t thread[RACING];
  uint64_t shared;
  const uintptr_t each = suite_is_slow() ? 200 : 5000;
  attach();
  pthread_barrier_init(&begun, NULL, RACING);
  for (unsigned i = 0; i < RACING; i++)
    ck_assert_int_eq(pthread_create(&thread[i], NULL, races, (void *)each), 0);
  for (unsigned i = 0; i < RACING; i++)
    pthread_join(thread[i], NULL);
  uint64_t tiers = 0, all = RACING * each;
  ck_assert_uint_eq(kind_part("", "serve").count, all);
  parts_used(1, &shared);
  ck_assert_uint_eq(shared, 0);
  ck_assert_uint_eq(in_histograms, all);
  const struct aprof_header *h = profile();
  for (uint64_t at = APROF_HEADER_SIZE; at < h->used;) {
    const struct aprof_chunk *chunk = (const void *)((const char *)h + at);
    const struct aprof_kind_tier *of = (const void *)(chunk + 1);
    for (uint32_t i = 0; chunk->type == APROF_CHUNK_TIERS && i < chunk->count; i++)
      tiers += of[i].count;
    at += chunk->size;
  }
  ck_assert_uint_eq(tiers, all);
}
END_TEST

/* -- tokens ------------------------------------------------------------------------- */

START_TEST(a_traceparent) {
  static const char given[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  char buffer[56];
  attach();
  token r;
  ck_assert_int_eq(gate.api_token(buffer), -1);
  enter(&serve, &r);
  ck_assert_int_eq(gate.api_token(buffer), 0);
  ck_assert_uint_eq(strlen(buffer), 55);
  ck_assert_int_eq(gate.api_token_set("00-00000000000000000000000000000000-b7ad6b7169203331-01"),
                   -1);
  ck_assert_int_eq(gate.api_token_set("00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
                   -1);
  ck_assert_int_eq(gate.api_token_set("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
                   -1);
  ck_assert_int_eq(gate.api_token_set(given), 0);
  gate.token_out(buffer);
  ck_assert_int_eq(strncmp(buffer, given, 36), 0);
  ck_assert_int_ne(strncmp(buffer + 36, given + 36, 16), 0);
  ck_assert_str_eq(buffer + 52, "-01");
  ck_assert_int_eq(gate.api_label("list"), 0);
  leave(&r);
  const struct aprof_kind *k = kind("list", "serve");
  ck_assert_ptr_nonnull(k);
  const struct aprof_slow *slow =
      (const void *)((const char *)profile() + ((uint64_t)k->slowest << 3));
  ck_assert_uint_eq(slow->trace[0], 0x0af7651916cd43ddull);
}
END_TEST

/* Nobody wants requests: spans are told all the same, and cost no more for their tiers. */
START_TEST(without_requests) {
  setenv("APROF_OPTIONS", "clock:virtual,exit:no,signal:none,profile:memfd,requests:0", 1);
  attach();
  token r, s;
  enter(&serve, &r);
  span(&render, &s);
  pass(2);
  spanned(&s);
  leave(&r);
  ck_assert_uint_eq(profile()->kinds, 0);
  ck_assert_uint_eq(profile()->lost_requests, 0);
  ck_assert_uint_eq(profile()->tier_names[1], 0);
}
END_TEST

/* Of many the slowest are kept. */
START_TEST(the_slowest) {
  attach();
  for (unsigned i = 1; i <= 100; i++) {
    token r;
    enter(&serve, &r);
    pass(i * 7 % 101);
    leave(&r);
  }
  const struct aprof_slow *slow =
      (const void *)((const char *)profile() + ((uint64_t)kind("", "serve")->slowest << 3));
  uint64_t sum = 0;
  for (unsigned i = 0; i < APROF_SLOWEST; i++)
    sum += slow[i].wall;
  ck_assert_uint_eq(sum, 16 * (100 + 85) / 2);
}
END_TEST

static void request_that_takes(uint64_t wall) {
  token r;
  enter(&serve, &r);
  pass(wall);
  leave(&r);
}

/* All that take as long as somebody asks for lie in the log, by their numbers, until nobody does.
 */
START_TEST(the_log) {
  attach();
  for (unsigned i = 1; i <= 100; i++)
    request_that_takes(i);
  struct aprof_header *h = (struct aprof_header *)(uintptr_t)profile();
  ck_assert_uint_eq(h->logged, 0);
  h->log_until = h->virtual_now + 100000;
  h->log_over = 50;
  for (unsigned i = 1; i <= 100; i++)
    request_that_takes(i);
  ck_assert_uint_eq(h->logged, 51);
  const struct aprof_slow *log = (const void *)((const char *)h + ((uint64_t)h->log << 3));
  for (unsigned i = 0; i < 51; i++) {
    ck_assert_uint_eq(log[i].sequence, 2 * i + 2);
    ck_assert_uint_eq(log[i].wall, 50 + i);
  }
  ck_assert_uint_eq(log[0].kind, 1);
  for (unsigned i = 0; i < APROF_LOGGED; i++)
    request_that_takes(70);
  ck_assert_uint_eq(log[50].sequence, 2 * (50 + APROF_LOGGED) + 2);
  ck_assert_uint_eq(log[51].wall, 70);
  h->log_until = h->virtual_now;
  request_that_takes(70);
  ck_assert_uint_eq(h->logged, 51 + APROF_LOGGED);
  ck_assert_uint_eq(h->log_over, UINT64_MAX);
}
END_TEST

UNIT_TRACED_MAIN("request", a_span_has_what_ran_in_it, a_recursion_folds,
                 a_span_that_was_jumped_out_of, a_jump_back_into_a_span, spans_outside_futures,
                 a_span_counted_or_left_out, a_root_and_what_it_calls, children_are_members,
                 what_comes_after, nothing_comes_after, a_root_that_is_ended_in_a_callback,
                 a_request_without_a_root, a_callback_for_new_work, one_is_handed_over,
                 a_run_for_a_request, failed_ones, a_reset_empties_kinds, tiers_of_a_request,
                 a_tier_within_itself, the_wait_at_a_create, without_requests, a_traceparent,
                 the_slowest, the_log, a_span_closes_tiers_inside, a_span_closes_tiers_alone,
                 a_tier_closes_spans_inside, new_work_behind_an_unseen_return,
                 one_that_rests_has_called, the_first_is_over, each_thread_has_a_part,
                 no_room_for_a_part, a_share_given_back_has_no_cells, who_writes_what_was_given_back,
                 threads_end_requests_at_once)
