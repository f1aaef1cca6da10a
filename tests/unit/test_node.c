/* SPDX-License-Identifier: MIT */
/* Paths: the calling-context tree, folding of recursion, and its cap. */
#include <pthread.h>
#include <signal.h>

#include "unit.h"

#include "rt/file/map.h"
#include "rt/sys/lock.h"

FUNCTION_SITE(a);
FUNCTION_SITE(b);
FUNCTION_SITE(c);
AWAIT_SITE(nap);

static void nested(struct aprof_site *const *path, unsigned length, uint64_t ns) {
  token t;
  if (length == 0)
    return;
  enter(path[0], &t);
  pass(ns);
  nested(path + 1, length - 1, ns);
  leave(&t);
}
#define NESTED(ns, ...)                                                                            \
  nested((struct aprof_site *const[]){__VA_ARGS__},                                                \
         sizeof((struct aprof_site *const[]){__VA_ARGS__}) / sizeof(struct aprof_site *), ns)

START_TEST(one_path_per_caller) {
  attach();
  NESTED(1, &a, &c);
  NESTED(10, &b, &c);
  NESTED(100, &c);
  expect("a > c", "exec", 1);
  expect("b > c", "exec", 10);
  expect_times("c", 111, 0, 111);
  expect("c", "created", 3);
}
END_TEST

START_TEST(recursion_folds) {
  attach();
  NESTED(1, &a, &a, &a);
  expect("a > a", "created", 0);
  expect("a", "created", 3);
  expect_times("a", 3, 0, 3 + 2 + 1);
  expect("a @ a", "count", 2);
}
END_TEST

START_TEST(mutual_recursion_folds) {
  attach();
  NESTED(1, &a, &b, &a, &c, &b);
  expect("a", "created", 2);
  expect("a > b", "created", 1);
  expect("a > c > b", "created", 1);
  expect("a > b > a", "created", 0);
  expect("a", "exec", 2);
  expect("a", "children_exec", 3);
  expect("b", "children_exec", 0);
}
END_TEST

START_TEST(awaits_are_leaves_of_their_path) {
  attach();
  token t, u, w;
  enter(&a, &t);
  enter(&b, &u);
  suspend(&nap, &w);
  pass(5);
  resume(&w);
  leave(&u);
  leave(&t);
  enter(&b, &u);
  suspend(&nap, &w);
  pass(7);
  resume(&w);
  leave(&u);
  expect("a > b @ nap", "waiting", 5);
  expect("b @ nap", "waiting", 12); /* over both paths */
}
END_TEST

/* -- the cap ------------------------------------------------------------------- */

enum { SITES = 400 };
static struct aprof_site sites[SITES];
static char names[SITES][8];

static void make_sites(void) {
  for (unsigned i = 0; i < SITES; i++) {
    snprintf(names[i], sizeof names[i], "f%u", i);
    sites[i] = (struct aprof_site){.name = names[i],
                                   .file = "unit.c",
                                   .line = 1000 + i,
                                   .kind = APROF_SITE_FUNCTION,
                                   .model = APROF_MODEL_STACK};
  }
}

/* Paths beyond the cap are one, (other): counted, and nothing is lost. */
START_TEST(cap) {
  const unsigned many = suite_is_slow() ? SITES / 3 : SITES;
  setenv("APROF_OPTIONS", UNIT_OPTIONS ",nodes:100", 1);
  make_sites();
  attach();
  for (unsigned i = 0; i < many; i++) {
    token t, w;
    enter(&sites[i], &t);
    pass(10);
    suspend(&nap, &w);
    pass(5);
    resume(&w);
    leave(&t);
  }
  const struct aprof_header *h = profile();
  ck_assert_uint_le(h->nodes, 101);
  ck_assert_uint_gt(h->other_nodes, 0);
  expect("f0", "exec", 10);
  expect("f0 @ nap", "waiting", 5);
  uint64_t done = 0, exec = 0;
  for (unsigned i = 0; i < many; i++) {
    done += total(names[i], "done");
    exec += total(names[i], "exec");
  }
  ck_assert_uint_eq(done + total("(other)", "done"), many);
  ck_assert_uint_eq(exec + total("(other)", "exec"), 10 * many);
  ck_assert_uint_gt(total("(other)", "done"), 0);
}
END_TEST

START_TEST(deep_paths) {
  make_sites();
  attach();
  static token tokens[SITES];
  for (unsigned i = 0; i < 200; i++) {
    enter(&sites[i], &tokens[i]);
    pass(1);
  }
  for (unsigned i = 200; i-- > 0;)
    leave(&tokens[i]);
  expect("f0", "children_exec", 199);
  expect("f199", "exec", 1);
  expect("f199", "done", 1);
}
END_TEST

/* Equal places of two units (an inline function in a header) are one function. */
START_TEST(equal_sites_are_one) {
  static struct aprof_site first = {.name = "inlined",
                                    .file = "h.h",
                                    .line = 3,
                                    .kind = APROF_SITE_FUNCTION,
                                    .model = APROF_MODEL_STACK};
  static struct aprof_site second = {.name = "inlined",
                                     .file = "h.h",
                                     .line = 3,
                                     .kind = APROF_SITE_FUNCTION,
                                     .model = APROF_MODEL_STACK};
  attach();
  NESTED(1, &a, &first);
  NESTED(1, &a, &second);
  expect("inlined", "done", 2);
  expect("a > inlined", "exec", 2);
}
END_TEST

/* -- looked for while others are added ------------------------------------------ */

enum { MAPS = 400, KEYS = 350 };
static struct map maps[MAPS], *shown;
static uint32_t added, strangers;

static void stopped(int number) {
  (void)number;
  usleep(1000);
}

static void *adds(void *unused) {
  for (unsigned i = 0; i < MAPS; i++) {
    rt_lock();
    ck_assert(map_start(&maps[i]));
    rt_unlock();
    __atomic_store_n(&shown, &maps[i], __ATOMIC_RELEASE);
    for (uint32_t k = 1; k <= KEYS; k++) {
      rt_lock();
      map_add(&maps[i], (uint64_t)k << 20, k);
      rt_unlock();
      for (volatile unsigned moment = 0; moment < 1000; moment++)
        ;
    }
  }
  __atomic_store_n(&added, 1, __ATOMIC_RELEASE);
  return unused;
}

static void *looks(void *unused) {
  for (uint64_t k = 1; !__atomic_load_n(&added, __ATOMIC_ACQUIRE); k++) {
    const struct map *map = __atomic_load_n(&shown, __ATOMIC_ACQUIRE);
    strangers += map != NULL && map_find(map, k << 40 | 1) != 0;
  }
  return unused;
}

/* What is not there is no other's, which comes to the same slot meanwhile: paths would be counted
   at each other's nodes. */
START_TEST(not_there_beside_what_is_added) {
  attach();
  NESTED(1, &a);
  signal(SIGUSR2, stopped);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, adds, NULL);
  pthread_create(&threads[1], NULL, looks, NULL);
  while (!__atomic_load_n(&added, __ATOMIC_ACQUIRE)) {
    pthread_kill(threads[1], SIGUSR2);
    usleep(1100);
  }
  for (unsigned i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  ck_assert_uint_eq(strangers, 0);
}
END_TEST

UNIT_MAIN("node", one_path_per_caller, recursion_folds, mutual_recursion_folds,
          awaits_are_leaves_of_their_path, cap, deep_paths, equal_sites_are_one, RACES,
          not_there_beside_what_is_added)
