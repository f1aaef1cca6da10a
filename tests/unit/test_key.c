/* SPDX-License-Identifier: MIT */
/* The key table, seen through creates, runs and ends. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <ucontext.h>

#include "unit.h"

#include "rt/future/key-ring.h"
#include "rt/future/key-segments.h"
#include "rt/future/key.h"
#include "rt/sys/lock.h"

CALLBACK_SITE(request);
CALLBACK_SITE(other);
enum { NS = 1, OTHER_NS = 2, MANY = 20000 };
CREATE_SITE(create_it, APROF_ONCE, NS);
CREATE_SITE(create_other, APROF_ONCE, OTHER_NS);
CREATE_SITE(create_bare, APROF_ONCE, APROF_NS_NONE);
RUN_SITE(run_it, 0, NS);
RUN_SITE(run_other, 0, OTHER_NS);
RUN_SITE(run_bare, 0, APROF_NS_NONE);
WAKE_SITE(wake_any, APROF_NS_ANY);
END_SITE(end_it, NS);

/* The table grows many times while all of them live. */
START_TEST(many_keys) {
  const uint64_t many = suite_is_slow() ? MANY / 5 : MANY;
  attach();
  for (uint64_t i = 0; i < many; i++)
    new_future(&create_it, &request, 0x10000 + 16 * i);
  expect("request", "live", many);
  for (uint64_t i = many; i-- > 0;)
    run_whole(&run_it, 0x10000 + 16 * i, &request, 1);
  expect("request", "done", many);
  expect("request", "exec", many);
  expect("health", "missed", 0);
  expect("health", "lost", 0);
}
END_TEST

/* In a small table hardly any key stands behind another one's. */
START_TEST(few_keys_lie_apart) {
  enum { FEW = 1000 };
  unsigned first = 0;
  attach();
  for (uint64_t i = 0; i < FEW; i++)
    new_future(&create_it, &request, 0x10000 + 4112 * i);
  for (uint64_t i = 0; i < FEW; i++) {
    uint32_t hash = key_hash(0x10000 + 4112 * i, 0);
    const struct key_segment *segment = directory_at(&key_directory, hash);
    first += segment->word[hash % KEY_WORDS] >> 32 == hash;
  }
  ck_assert_uint_ge(first, FEW * 85 / 100);
}
END_TEST

/* One address over and over, as allocators give it: tombstones do not pile up. */
START_TEST(one_key_many_times) {
  attach();
  for (unsigned i = 0; i < MANY; i++) {
    new_future(&create_it, &request, 0x7f00);
    run_whole(&run_it, 0x7f00, &request, 1);
  }
  expect("request", "done", MANY);
  expect("health", "reused", 0);
  ck_assert_uint_lt(profile()->used, 2u << 20);
}
END_TEST

START_TEST(namespaces_are_apart) {
  attach();
  new_future(&create_it, &request, 0x7f00);
  new_future(&create_other, &other, 0x7f00);
  new_future(&create_bare, &other, 0x7f00);
  expect("health", "reused", 0);
  run_whole(&run_other, 0x7f00, &other, 1);
  expect("other", "done", 1);
  expect("request", "live", 1);
  run_whole(&run_it, 0x7f00, &request, 1);
  run_whole(&run_bare, 0x7f00, &other, 1);
  expect("other", "done", 2);
}
END_TEST

START_TEST(both_halves_count) {
  attach();
  token c, r;
  create(&create_it, &c, &request, NULL);
  gate.create_end(&c, 0x7f00, 1, 1);
  create(&create_it, &c, &request, NULL);
  gate.create_end(&c, 0x7f00, 2, 1);
  expect("request", "live", 2);
  r = (token){0};
  gate.run_begin(&run_it, &r, 0x7f00, 3, &request, NULL);
  ck_assert_uint_eq(r.word[0], 0);
  expect("health", "missed", 1);
  gate.run_begin(&run_it, &r, 0x7f00, 2, &request, NULL);
  ck_assert_uint_ne(r.word[0], 0);
  ran(&r, APROF_DONE);
  expect("request", "live", 1);
}
END_TEST

START_TEST(key_zero_is_a_key) {
  attach();
  new_future(&create_it, &request, 0);
  run_whole(&run_it, 0, &request, 1);
  expect("request", "done", 1);
}
END_TEST

START_TEST(ended_key_is_unknown) {
  attach();
  new_future(&create_it, &request, 0x7f00);
  end(&end_it, 0x7f00, APROF_DONE);
  token r;
  run(&run_it, &r, 0x7f00, &request);
  ck_assert_uint_eq(r.word[0], 0);
  expect("request", "done", 1);
  expect("health", "missed", 1);
}
END_TEST

/* Steps from a key's first place to the first that is free, of so many keys in one segment. */
static double steps_to_free(uint64_t key0, uint64_t step0, uint64_t key1, uint64_t step1) {
  enum { KEYS = 400 };
  static bool taken[KEY_WORDS];
  unsigned first[KEYS], steps = 0;
  memset(taken, 0, sizeof taken);
  for (unsigned i = 0; i < KEYS; i++) {
    unsigned at = first[i] = key_hash(key0 + i * step0, key1 + i * step1) % KEY_WORDS;
    while (taken[at])
      at = (at + 1) % KEY_WORDS;
    taken[at] = true;
  }
  for (unsigned i = 0; i < KEYS; i++)
    for (unsigned at = first[i]; taken[at]; at = (at + 1) % KEY_WORDS)
      steps++;
  return (double)steps / KEYS;
}

/* Objects side by side, stacks, descriptors; and one object with each of these: chance takes 2.3
   steps, a run of neighbours would take hundreds. */
START_TEST(places_are_spread) {
  const uint64_t heap = 0x55624eb1b240, stack = 0x7f4cc7fe1840;
  for (uint64_t step = 16; step <= 4096; step += 16) {
    ck_assert_double_lt(steps_to_free(heap, step, 0, 0), 16);
    ck_assert_double_lt(steps_to_free(stack, step << 8, 0, 0), 16);
    ck_assert_double_lt(steps_to_free(heap, 0, stack, step << 8), 16);
    ck_assert_double_lt(steps_to_free(heap, 0, heap, step), 16);
  }
  ck_assert_double_lt(steps_to_free(0, 1, 0, 0), 16);
  ck_assert_double_lt(steps_to_free(heap, 0, 0, 1), 16);
  ck_assert_double_lt(steps_to_free(0, 1, heap, 0), 16);
}
END_TEST

/* -- equal tuples ------------------------------------------------------------ */

CREATE_SITE(post, APROF_ONCE | APROF_READY | APROF_TUPLE, NS);
RUN_SITE(call, APROF_TUPLE, NS);
END_SITE(drop, NS);
CREATE_SITE(post_other, APROF_ONCE | APROF_READY | APROF_TUPLE, OTHER_NS);
RUN_SITE(call_other, APROF_TUPLE, OTHER_NS);
END_SITE(end_other, OTHER_NS);
enum { POSTS = 30000 };

static void post_equal(uint64_t fn) {
  token c;
  create(&post, &c, &request, NULL);
  gate.create_end(&c, fn, 0x10, 1);
}

static uint64_t call_equal(uint64_t fn) {
  token r = {0};
  gate.run_begin(&call, &r, fn, 0x10, &request, NULL);
  ck_assert_uint_ne(r.word[0], 0);
  pass(1);
  ran(&r, APROF_DONE);
  return r.word[0];
}

/* A pipeline of commands with one callback and one argument: each is found at once, or
   this test does not come to its end. */
START_TEST(equal_keys_are_a_queue) {
  const unsigned posts = suite_is_slow() ? POSTS / 10 : POSTS;
  attach();
  for (unsigned i = 0; i < posts; i++) {
    post_equal(0x7f00);
    pass(1);
  }
  expect("request", "live", posts);
  uint64_t last = 0;
  for (unsigned i = 0; i < posts; i++) {
    uint64_t id = call_equal(0x7f00);
    ck_assert_msg((uint32_t)id > (uint32_t)last, "%u comes after %u", (uint32_t)id, (uint32_t)last);
    last = id;
  }
  expect("request", "done", posts);
  expect("request", "queued", (uint64_t)posts * posts);
  expect("health", "missed", 0);
  expect("health", "lost", 0);
}
END_TEST

/* All of them one after the other, as a wake finds them: a step each, or this test does not
   come to its end. Some have ended, some are the queue's no longer when their turn comes. */
START_TEST(equal_keys_are_found_one_by_one) {
  const unsigned posts = suite_is_slow() ? POSTS / 10 : POSTS;
  attach();
  for (unsigned i = 0; i < posts; i++)
    post_equal(0x7f00);
  for (unsigned i = 0; i < posts / 3; i++)
    call_equal(0x7f00);
  struct key_search s = key_searching(0x7f00, 0x10, NS);
  unsigned found = 0, last = 0;
  for (struct aprof_future *f = key_next(&s, NULL); f != NULL; f = key_next(&s, f)) {
    ck_assert_uint_gt((uint32_t)f->id, last);
    last = (uint32_t)f->id;
    if (++found % 100 == 0)
      call_equal(0x7f00); /* the oldest, which is behind us */
  }
  ck_assert_uint_eq(found, posts - posts / 3);
}
END_TEST

/* The answer comes inside the call that asks: it is that call's, not the oldest's. */
START_TEST(body_inside_its_own_create) {
  attach();
  token c, r = {0};
  post_equal(0x7f00);
  pass(100);
  create(&post, &c, &request, NULL);
  gate.create_key(&c, 0x7f00, 0x10);
  gate.run_begin(&call, &r, 0x7f00, 0x10, &request, NULL);
  ck_assert_uint_eq(r.word[0], c.word[0]);
  pass(1);
  ran(&r, APROF_DONE);
  gate.create_end(&c, 0x7f00, 0x10, 1);
  expect("request", "wall_max", 1);
  pass(10);
  ck_assert_uint_lt(call_equal(0x7f00), c.word[0]);
  expect("request", "queued", 111);
  expect("request", "live", 0);
}
END_TEST

/* One stays, the others come and go behind it: the queue does not grow. */
START_TEST(equal_keys_behind_one_that_stays) {
  const unsigned posts = suite_is_slow() ? POSTS / 10 : POSTS;
  attach();
  post_equal(0x7f00);
  post_equal(0x7f00);
  token first = {0}, second = {0};
  gate.run_begin(&call, &first, 0x7f00, 0x10, &request, NULL);
  gate.run_begin(&call, &second, 0x7f00, 0x10, &request, NULL);
  ck_assert_uint_ne(first.word[0], second.word[0]);
  for (unsigned i = 0; i < posts; i++) {
    post_equal(0x7f00);
    call_equal(0x7f00);
  }
  ran(&second, APROF_DONE);
  ran(&first, APROF_DONE);
  expect("request", "done", posts + 2);
  expect("health", "missed", 0);
  ck_assert_uint_lt(profile()->used, 2u << 20);
}
END_TEST

/* Queues of many keys, whose words move as the table grows; ended from the middle. */
START_TEST(queues_of_many_keys) {
  attach();
  for (unsigned round = 0; round < 5; round++)
    for (uint64_t i = 0; i < MANY / 10; i++)
      post_equal(0x10000 + 16 * i);
  for (uint64_t i = 0; i < MANY / 10; i++)
    gate.end(&drop, 0x10000 + 16 * i, 0x10, APROF_CANCELLED);
  for (unsigned round = 1; round < 5; round++)
    for (uint64_t i = 0; i < MANY / 10; i++)
      call_equal(0x10000 + 16 * i);
  expect("request", "done", MANY / 10 * 4);
  expect("request", "cancelled", MANY / 10);
  expect("request", "live", 0);
  expect("health", "missed", 0);
}
END_TEST

/* Who inserts while the table grows and who copies it may both put the same word: it is there
   once, or a wake would find that future, and behind it the same again, for ever. */
START_TEST(inserted_twice) {
  attach();
  token first, second;
  create(&create_it, &first, &request, NULL);
  created(&first, 0x7f00, 1);
  create(&create_other, &second, &other, NULL);
  created(&second, 0x7f00, 1); /* the same place */
  for (unsigned i = 0; i < 3; i++) {
    key_insert((struct aprof_future *)(uintptr_t)first.word[1]);
    key_insert((struct aprof_future *)(uintptr_t)second.word[1]);
  }
  gate.wake(&wake_any, 0x7f00, 0);
  end(&end_it, 0x7f00, APROF_DONE);
  expect("request", "done", 1);
  expect("other", "live", 1);
}
END_TEST

/* -- threads ------------------------------------------------------------------ */

/* ThreadSanitizer keeps a thread's last four million accesses: of one before these it knows no stack,
   and so no suppression. */
#ifdef __SANITIZE_THREAD__
enum { THREADS = 4, EACH = 500 };
#else
enum { THREADS = 4, EACH = 4000 };
#endif

static void *creates(void *number) {
  uint64_t base = (uint64_t)(uintptr_t)number << 32;
  for (uint64_t i = 0; i < EACH; i++)
    new_future(&create_it, &request, base + 16 * i);
  return NULL;
}

static void *runs(void *number) {
  uint64_t base = (uint64_t)(uintptr_t)number << 32;
  for (uint64_t i = 0; i < EACH; i++) {
    token r;
    run(&run_it, &r, base + 16 * i, &request);
    ran(&r, APROF_DONE);
  }
  return NULL;
}

static void on_threads(void *(*function)(void *)) {
  pthread_t threads[THREADS];
  for (uintptr_t i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, function, (void *)i), 0);
  for (unsigned i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
}

enum { WORKERS = 40, JOBS = 40 };
static sem_t works[WORKERS], worked;
static pthread_barrier_t all_worked;

static void *runs_in_turn(void *number) {
  while (sem_wait(&works[(uintptr_t)number]) != 0)
    ;
  for (uint64_t i = 0; i < JOBS; i++)
    run_whole(&run_it, 0x10000 + 16 * i, &request, 1);
  sem_post(&worked);
  pthread_barrier_wait(&all_worked);
  return NULL;
}

static unsigned slabs(void) {
  unsigned count = 0;
  for (uint64_t at = profile()->header_size; at < profile()->used;) {
    const struct aprof_chunk *chunk = (const void *)((const char *)profile() + at);
    count += chunk->type == APROF_CHUNK_FUTURES;
    at += chunk->size;
  }
  return count;
}

/* A thread that only ends what another creates keeps few records for itself: those that go round
   stay in the caches. */
START_TEST(records_go_back_to_who_creates) {
  pthread_t worker[WORKERS];
  attach();
  sem_init(&worked, 0, 0);
  pthread_barrier_init(&all_worked, NULL, WORKERS + 1);
  for (uintptr_t i = 0; i < WORKERS; i++) {
    sem_init(&works[i], 0, 0);
    ck_assert_int_eq(pthread_create(&worker[i], NULL, runs_in_turn, (void *)i), 0);
  }
  for (unsigned i = 0; i < WORKERS; i++) {
    for (uint64_t j = 0; j < JOBS; j++)
      new_future(&create_it, &request, 0x10000 + 16 * j);
    sem_post(&works[i]);
    while (sem_wait(&worked) != 0)
      ;
  }
  pthread_barrier_wait(&all_worked);
  for (unsigned i = 0; i < WORKERS; i++)
    pthread_join(worker[i], NULL);
  expect("request", "done", WORKERS * JOBS);
  ck_assert_uint_le(slabs(), 2);
}
END_TEST

/* Inserts race with growth; what one thread created another runs. */
START_TEST(many_threads) {
  attach();
  on_threads(creates);
  expect("request", "live", THREADS * EACH);
  on_threads(runs);
  expect("request", "done", THREADS * EACH);
  expect("health", "missed", 0);
  expect("health", "lost", 0);
}
END_TEST

static void *posts_and_calls(void *unused) {
  (void)unused;
  for (unsigned i = 0; i < EACH; i++) {
    post_equal(0x7f00);
    if (i % 3 == 0)
      post_equal(0x7f00);
    call_equal(0x7f00);
  }
  return NULL;
}

/* Whose post a call finds is anyone's; none is lost. */
START_TEST(equal_keys_of_many_threads) {
  attach();
  on_threads(posts_and_calls);
  expect("request", "done", THREADS * EACH);
  expect("request", "live", THREADS * ((EACH + 2) / 3));
  expect("health", "missed", 0);
  expect("health", "lost", 0);
}
END_TEST

static void *calls_its_own(void *unused) {
  (void)unused;
  for (unsigned i = 0; i < EACH; i++) {
    post_equal(0x7f00);
    call_equal(0x7f00);
  }
  return NULL;
}

/* All of them want the few that there are, without a lock: each gets one. */
START_TEST(few_equal_keys_of_many_threads) {
  attach();
  on_threads(calls_its_own);
  expect("request", "done", THREADS * EACH);
  expect("request", "live", 0);
  expect("health", "missed", 0);
}
END_TEST

/* An end means the oldest, wherever its word stands. */
START_TEST(oldest_of_equal_keys_is_ended) {
  attach();
  struct aprof_site drop_equal = drop;
  drop_equal.flags |= APROF_TUPLE;
  for (int i = 0; i < 3; i++) {
    post_equal(0x7f00);
    pass(10);
  }
  uint64_t first = call_equal(0x7f00);
  post_equal(0x7f00); /* where that one stood */
  gate.end(&drop_equal, 0x7f00, 0x10, APROF_CANCELLED);
  ck_assert_uint_eq((uint32_t)call_equal(0x7f00), (uint32_t)first + 2);
}
END_TEST

static void *drops_or_calls_its_own(void *unused) {
  struct aprof_site drop_equal = drop;
  drop_equal.flags |= APROF_TUPLE;
  for (unsigned i = 0; i < EACH; i++) {
    post_equal(0x7f00);
    if (i % 3 == 0)
      call_equal(0x7f00);
    else
      gate.end(&drop_equal, 0x7f00, 0x10, APROF_CANCELLED);
  }
  return unused;
}

/* Several mean the same one: each of them ends another, and runs are of those that are left. */
START_TEST(equal_keys_are_ended_by_many_threads) {
  attach();
  on_threads(drops_or_calls_its_own);
  expect("request", "done", THREADS * ((EACH + 2) / 3));
  expect("request", "live", 0);
  expect("health", "missed", 0);
}
END_TEST

/* A tuple for each thread, all of one ring: key_hash is the same but for its upper bits. */
static uint64_t beside[THREADS];

static void *takes_the_ring(void *number) {
  uint64_t mine = beside[(uintptr_t)number];
  for (unsigned i = 0; i < EACH; i++) {
    unsigned count = i % 9; /* with a few each has a word, with more it is who was first */
    uint64_t last = 0;
    for (unsigned j = 0; j < count; j++)
      post_equal(mine);
    for (unsigned j = 0; j < count; j++) {
      uint64_t id = call_equal(mine);
      if (last != 0)
        ck_assert_uint_eq((uint32_t)id, (uint32_t)last + 1);
      last = id;
    }
  }
  return NULL;
}

/* Those of several tuples come and go, and whoever is first has the ring: none is lost, and each
   comes in its turn. */
START_TEST(ring_goes_from_key_to_key) {
  attach();
  unsigned found = 0;
  for (uint64_t fn = 0x7f00; found < THREADS; fn += 16)
    if (key_hash(fn, 0x10) % 16 == key_hash(0x7f00, 0x10) % 16)
      beside[found++] = fn;
  on_threads(takes_the_ring);
  unsigned done = 0;
  for (unsigned i = 0; i < EACH; i++)
    done += i % 9;
  expect("request", "done", THREADS * done);
  expect("request", "live", 0);
  expect("health", "missed", 0);
}
END_TEST

/* Round and round, in turn; then with one in it that stays, and so with more than
   there is room for. */
START_TEST(ring_goes_round) {
  attach();
  for (unsigned i = 0; i < 20; i++)
    post_equal(0x7f00);
  uint64_t last = 0;
  for (unsigned i = 0; i < (suite_is_slow() ? 1000u : 70000u); i++) {
    post_equal(0x7f00);
    uint64_t id = call_equal(0x7f00);
    ck_assert_uint_gt((uint32_t)id, (uint32_t)last);
    last = id;
  }
  token stays = {0};
  gate.run_begin(&call, &stays, 0x7f00, 0x10, &request, NULL);
  for (unsigned i = 0; i < 1000; i++) {
    post_equal(0x7f00);
    uint64_t id = call_equal(0x7f00);
    ck_assert_uint_gt((uint32_t)id, (uint32_t)last);
    last = id;
  }
  ran(&stays, APROF_DONE);
  for (unsigned i = 0; i < 19; i++)
    call_equal(0x7f00);
  expect("request", "live", 0);
  expect("health", "missed", 0);
}
END_TEST

/* Its second half is 0, as of those by one value. A create of such takes its key from it while it
   runs, and gives it back when it turns out to have failed. It stood in a ring, or in a queue,
   behind those of another namespace, and before those of its own: it is there once again, not
   twice, and goes on by it. */
static void has_it_back_once(unsigned in_front, unsigned behind) {
  attach();
  token c, r = {0};
  for (unsigned i = 0; i < in_front; i++) {
    create(&post, &c, &request, NULL);
    created(&c, 0x7f00, 1);
  }
  for (unsigned i = 0; i <= behind; i++) {
    create(&post_other, &c, &other, NULL);
    created(&c, 0x7f00, 1);
  }
  gate.run_begin(&call_other, &r, 0x7f00, 0, &other, NULL);
  create(&create_other, &c, &other, NULL);
  gate.create_key(&c, 0x7f00, 0);
  created(&c, 0x7f00, 0);
  create(&post_other, &c, &other, NULL);
  created(&c, 0x7f00, 1);
  struct key_search s = key_searching(0x7f00, 0, OTHER_NS);
  unsigned found = 0;
  for (struct aprof_future *f = key_next(&s, NULL); f != NULL; f = key_next(&s, f))
    found++;
  ck_assert_uint_eq(found, 2 + behind);
  ran(&r, APROF_PENDING);
  expect("other", "cancelled", 0);
  expect("health", "reused", 0);
  for (unsigned left = 2 + behind; left-- > 0;) {
    end(&end_other, 0x7f00, APROF_DONE);
    expect("other", "live", left);
  }
  expect("request", "live", in_front);
}

START_TEST(ring_has_it_back_once) {
  has_it_back_once(20, 0);
}
END_TEST

START_TEST(queue_has_it_back_once) {
  has_it_back_once(1000, 0);
}
END_TEST

START_TEST(one_before_equal_ones_has_it_back) {
  has_it_back_once(0, 3);
}
END_TEST

START_TEST(one_in_a_ring_before_equal_ones_has_it_back) {
  has_it_back_once(20, 20);
}
END_TEST

START_TEST(one_in_a_queue_before_equal_ones_has_it_back) {
  has_it_back_once(1000, 20);
}
END_TEST

/* What a reset has left behind in a ring is in nobody's way, of the same tuple or another. */
START_TEST(ring_goes_on_behind_a_reset) {
  uint64_t fn = 0x7f00, other_fn = fn + 16;
  while (key_hash(other_fn, 0x10) % RINGS != key_hash(fn, 0x10) % RINGS)
    other_fn += 16;
  uint32_t hash = key_hash(fn, 0x10), other_hash = key_hash(other_fn, 0x10);
  const struct ring *r = ring_for(hash);
  attach();
  for (unsigned i = 0; i < 2 * RING; i++)
    post_equal(fn);
  ck_assert_uint_eq(ring_count(r->state, hash), RING);
  ck_assert_int_eq(gate.api_reset(), 0);
  post_equal(fn);
  call_equal(fn);
  for (unsigned i = 0; i < 20; i++)
    post_equal(fn);
  ck_assert_uint_ge(ring_count(r->state, hash), 10);
  ck_assert_uint_le(ring_count(r->state, hash), 20);
  ck_assert_int_eq(gate.api_reset(), 0);
  for (unsigned i = 0; i < 20; i++)
    post_equal(other_fn);
  ck_assert_uint_ge(ring_count(r->state, other_hash), 10);
  for (unsigned i = 0; i < 20; i++)
    call_equal(other_fn);
  expect("request", "done", 20);
  expect("request", "live", 0);
  expect("health", "missed", 0);
}
END_TEST

/* A thread that finds what had the record before opens that, until the new one has its key. */
START_TEST(opened_before_it_has_its_key) {
  attach();
  for (unsigned i = 0; i < 20; i++) { /* what usual events need is there */
    post_equal(0x7f00);
    call_equal(0x7f00);
  }
  token c;
  create(&post, &c, &request, NULL);
  ((struct aprof_future *)(uintptr_t)c.word[1])->open = 1;
  gate.create_end(&c, 0x7f00, 0x10, 1);
  post_equal(0x7f00);
  ck_assert_uint_eq(call_equal(0x7f00), c.word[0]);
  call_equal(0x7f00);
  expect("request", "live", 0);
  expect("health", "missed", 0);
}
END_TEST

enum { NEW, WARM, HELD, OVER }; /* warm: the thread has all that takes the lock */
static uint32_t lock_state;

static void goes_to(uint32_t state) {
  __atomic_store_n(&lock_state, state, __ATOMIC_RELEASE);
}

static void waits_for(uint32_t state) {
  while (__atomic_load_n(&lock_state, __ATOMIC_ACQUIRE) != state)
    sched_yield();
}

static void posts_then_calls(void) {
  for (int i = 0; i < 20; i++)
    post_equal(0x7f00);
  for (int i = 0; i < 20; i++)
    call_equal(0x7f00);
}

static void *calls_while_it_is_held(void *unused) {
  (void)unused;
  posts_then_calls();
  goes_to(WARM);
  waits_for(HELD);
  posts_then_calls();
  goes_to(OVER);
  return NULL;
}

/* What threads have of equal keys they have without the lock, and so without system calls; else
   this test does not come to its end. */
START_TEST(equal_keys_take_no_lock) {
  attach();
  post_equal(0x7e00);
  pthread_t thread;
  lock_state = NEW;
  pthread_create(&thread, NULL, calls_while_it_is_held, NULL);
  waits_for(WARM);
  rt_lock();
  goes_to(HELD);
  waits_for(OVER);
  rt_unlock();
  pthread_join(thread, NULL);
  expect("request", "done", 40);
}
END_TEST

/* -- a thread that loses its processor anywhere, while others replace segments -------- */

enum { LIVING = 500, STOPPED_US = 2000000 };

static unsigned stop_us;
static uint32_t stop_over, stops;

/* Of one clock that all advance, nothing else would be seen. */
static void run_at_once(struct aprof_site *site, struct aprof_site *function, uint64_t key) {
  token r;
  run(site, &r, key, function);
  ran(&r, APROF_DONE);
}

static void stopped(int number) {
  (void)number;
  usleep(stop_us);
}

/* Always new keys, so that places are used up; of each the last LIVING live. */
static void *comes_and_goes(void *number) {
  uint64_t base = (uint64_t)(uintptr_t)number << 40, i = 0;
  for (; !__atomic_load_n(&stop_over, __ATOMIC_RELAXED); i++) {
    new_future(&create_it, &request, base + 16 * i);
    if (i >= LIVING)
      run_at_once(&run_it, &request, base + 16 * (i - LIVING));
  }
  for (uint64_t k = i > LIVING ? i - LIVING : 0; k < i; k++)
    run_at_once(&run_it, &request, base + 16 * k);
  return NULL;
}

static void *is_stopped(void *number) {
  uint64_t base = (uint64_t)(uintptr_t)number << 40;
  for (uint64_t i = 0; !__atomic_load_n(&stop_over, __ATOMIC_RELAXED); i++) {
    new_future(&create_other, &other, base + 16 * i);
    run_at_once(&run_other, &other, base + 16 * i);
  }
  return NULL;
}

/* The segment that it was about to write to is used again, for other keys, when it goes on: neither
   is its own word lost there, nor that of another future. */
static void stop_a_thread(unsigned us) {
  stop_us = us;
  attach();
  signal(SIGUSR2, stopped);
  pthread_t thread[3];
  for (uintptr_t i = 0; i < 3; i++)
    pthread_create(&thread[i], NULL, i == 0 ? is_stopped : comes_and_goes, (void *)(i + 1));
  for (unsigned i = 0; i < STOPPED_US / us; i++) {
    pthread_kill(thread[0], SIGUSR2);
    usleep(us + us / 10);
  }
  __atomic_store_n(&stop_over, 1, __ATOMIC_RELAXED);
  for (unsigned i = 0; i < 3; i++)
    pthread_join(thread[i], NULL);
  expect("request", "live", 0);
  expect("other", "live", 0);
  expect("health", "missed", 0);
  expect("health", "lost", 0);
}

START_TEST(stopped_in_a_segment) {
  stop_a_thread(2000);
}
END_TEST

/* ... also if it lasts long. */
START_TEST(stopped_for_long) {
  stop_a_thread(20000);
}
END_TEST

/* -- a thread that loses its processor while it takes one of equal keys ------------------ */

enum { STANDING = 25, STOPS = 30, WITHOUT_MS = 40, LOOK = 1024, SIGNALS = 3000 };

static uint32_t called;

static uint32_t calls_so_far(void) {
  return __atomic_load_n(&called, __ATOMIC_RELAXED);
}

/* While others have the lock, or for as long as they would need to take it away. */
static void stopped_in_a_look(int number, siginfo_t *info, void *context) {
  (void)number, (void)info;
#if defined __x86_64__
  uintptr_t at = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
  if (at + LOOK - (uintptr_t)key_search >= 2 * LOOK)
    return;
#else
  (void)context;
#endif
  uint32_t before = calls_so_far();
  for (unsigned ms = 0; ms < WITHOUT_MS && calls_so_far() - before < 1000; ms++)
    usleep(1000);
  __atomic_fetch_add(&stops, 1, __ATOMIC_RELEASE);
}

/* Some wait always, so that a look at them takes a while. */
static void *calls_its_own_on(void *unused) {
  for (int i = 0; i < STANDING; i++)
    post_equal(0x7f00);
  while (!__atomic_load_n(&stop_over, __ATOMIC_RELAXED)) {
    post_equal(0x7f00);
    call_equal(0x7f00);
    post_equal(0x7e00); /* has that one's record */
    call_equal(0x7e00);
    __atomic_fetch_add(&called, 1, __ATOMIC_RELAXED);
  }
  for (int i = 0; i < STANDING; i++)
    call_equal(0x7f00);
  return unused;
}

/* Others wait for it: what it has found is still there when it goes on, and nobody else's. */
START_TEST(stopped_with_equal_keys) {
  attach();
  struct sigaction action = {.sa_sigaction = stopped_in_a_look, .sa_flags = SA_SIGINFO};
  sigaction(SIGUSR2, &action, NULL);
  pthread_t thread[3];
  for (unsigned i = 0; i < 3; i++)
    pthread_create(&thread[i], NULL, calls_its_own_on, NULL);
  for (int i = 0; i < SIGNALS && __atomic_load_n(&stops, __ATOMIC_ACQUIRE) < STOPS; i++) {
    pthread_kill(thread[0], SIGUSR2);
    usleep(500);
  }
  __atomic_store_n(&stop_over, 1, __ATOMIC_RELAXED);
  for (unsigned i = 0; i < 3; i++)
    pthread_join(thread[i], NULL);
  expect("request", "live", 0);
  expect("health", "missed", 0);
}
END_TEST

/* A segment is being replaced: what lives is found in the old one or in the new one. */
static void run_on(uint64_t key) {
  token r;
  run(&run_it, &r, key, &request);
  ran(&r, APROF_PENDING);
}

static void *found_always(void *unused) {
  for (uint64_t k = 0; k < LIVING; k++)
    new_future(&create_it, &request, 16 * k);
  while (!__atomic_load_n(&stop_over, __ATOMIC_RELAXED))
    for (uint64_t k = 0; k < LIVING; k++)
      run_on(16 * k);
  return unused;
}

START_TEST(found_while_replaced) {
  attach();
  pthread_t thread[2];
  pthread_create(&thread[0], NULL, is_stopped, (void *)1);
  pthread_create(&thread[1], NULL, found_always, NULL);
  usleep(STOPPED_US);
  __atomic_store_n(&stop_over, 1, __ATOMIC_RELAXED);
  for (unsigned i = 0; i < 2; i++)
    pthread_join(thread[i], NULL);
  expect("request", "live", LIVING);
  expect("health", "missed", 0);
}
END_TEST

/* -- an address that is used again while another thread leaves its last bracket --------- */

enum { ADDRESSES = 16, USES = 20000 };

static uint32_t uses[ADDRESSES]; /* odd: created; even: free for the next one */

static void stopped_once(int number) {
  stopped(number);
  __atomic_fetch_add(&stops, 1, __ATOMIC_RELEASE);
}

static void wait_for_use(unsigned address, uint32_t use) {
  while (__atomic_load_n(&uses[address], __ATOMIC_ACQUIRE) != use)
    sched_yield();
}

/* Its own record, once freed, is that of the next `other`, which lives for a while. */
static void *frees_addresses(void *unused) {
  for (uint64_t n = 0; n < (uint64_t)USES * ADDRESSES; n++) {
    unsigned address = n % ADDRESSES;
    uint32_t use = (uint32_t)(n / ADDRESSES) * 2;
    token r;
    wait_for_use(address, use + 1);
    run(&run_it, &r, 16 * address, &request);
    __atomic_store_n(&uses[address], use + 2, __ATOMIC_RELEASE);
    ran(&r, APROF_DONE);
    new_future(&create_other, &other, 16 * n);
    if (n >= ADDRESSES)
      run_at_once(&run_other, &other, 16 * (n - ADDRESSES));
  }
  __atomic_store_n(&stop_over, 1, __ATOMIC_RELEASE);
  return unused;
}

static void *uses_addresses(void *unused) {
  for (uint64_t n = 0; n < (uint64_t)USES * ADDRESSES; n++) {
    unsigned address = n % ADDRESSES;
    uint32_t use = (uint32_t)(n / ADDRESSES) * 2;
    wait_for_use(address, use);
    new_future(&create_it, &request, 16 * address);
    __atomic_store_n(&uses[address], use + 1, __ATOMIC_RELEASE);
  }
  return unused;
}

/* Neither is the new future's key lost, nor that of whoever has the old one's record. */
static void use_again(unsigned who) {
#ifdef __SANITIZE_THREAD__
  return; /* what the create looks at is the other thread's, which is in an event, to write */
#endif
  attach();
  stop_us = 300;
  signal(SIGUSR2, stopped_once);
  pthread_t thread[2];
  pthread_create(&thread[0], NULL, frees_addresses, NULL);
  pthread_create(&thread[1], NULL, uses_addresses, NULL);
  for (uint32_t sent = 0; !__atomic_load_n(&stop_over, __ATOMIC_ACQUIRE); usleep(stop_us / 2))
    if (__atomic_load_n(&stops, __ATOMIC_ACQUIRE) == sent) { /* or it would do nothing else */
      pthread_kill(thread[who], SIGUSR2);
      sent++;
    }
  for (unsigned i = 0; i < 2; i++)
    pthread_join(thread[i], NULL);
  expect("request", "done", USES * ADDRESSES);
  expect("request", "live", 0);
  expect("other", "live", ADDRESSES);
  expect("health", "missed", 0);
}

START_TEST(used_again_while_left) {
  use_again(0);
}
END_TEST

START_TEST(used_again_by_one_that_stops) {
  use_again(1);
}
END_TEST

UNIT_MAIN("key", many_keys, few_keys_lie_apart, one_key_many_times, namespaces_are_apart,
          both_halves_count, key_zero_is_a_key, ended_key_is_unknown, equal_keys_are_a_queue,
          equal_keys_are_found_one_by_one, body_inside_its_own_create,
          equal_keys_behind_one_that_stays, ring_goes_round, ring_has_it_back_once,
          queue_has_it_back_once, one_before_equal_ones_has_it_back,
          one_in_a_ring_before_equal_ones_has_it_back, one_in_a_queue_before_equal_ones_has_it_back,
          ring_goes_on_behind_a_reset, opened_before_it_has_its_key, ring_goes_from_key_to_key,
          queues_of_many_keys, inserted_twice, oldest_of_equal_keys_is_ended,
          equal_keys_take_no_lock, RACES, many_threads, equal_keys_of_many_threads,
          few_equal_keys_of_many_threads, equal_keys_are_ended_by_many_threads,
          stopped_in_a_segment, stopped_for_long, stopped_with_equal_keys, places_are_spread,
          records_go_back_to_who_creates, found_while_replaced, used_again_while_left,
          used_again_by_one_that_stops)
