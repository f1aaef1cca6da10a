/* SPDX-License-Identifier: MIT */
/* Locks and waits of coroutines that have a stack. */
#include <aprof.h>

#include <pthread.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif
APROF_AWAIT void yield_now(void);
void plain(void);
#ifdef __cplusplus
}
#endif

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

static void unlock_all(void) {
  pthread_mutex_unlock(&table);
}

static void deep(void) {
  plain();
  yield_now();
}

APROF_ASYNC void direct(void) {
  pthread_mutex_lock(&table);
  yield_now(); /* BAD */
  pthread_mutex_unlock(&table);
}

APROF_ASYNC void through(void) {
  pthread_mutex_lock(&table);
  plain();
  deep(); /* BAD */
  pthread_mutex_unlock(&table);
}

APROF_ASYNC int early(int n) {
  pthread_mutex_lock(&table);
  if (n > 3)
    return -1;
  pthread_mutex_unlock(&table);
  yield_now();
  return 0;
}

APROF_ASYNC void on_one_way(int n) {
  pthread_mutex_lock(&table);
  if (n > 3)
    pthread_mutex_unlock(&table);
  yield_now(); /* BAD */
  if (n <= 3)
    pthread_mutex_unlock(&table);
}

APROF_ASYNC void before(void) {
  pthread_mutex_lock(&table);
  plain();
  pthread_mutex_unlock(&table);
  yield_now();
}

APROF_ASYNC void by_another(void) {
  pthread_mutex_lock(&table);
  unlock_all();
  yield_now();
}

APROF_ASYNC void wrong_one(void) {
  pthread_mutex_lock(&table);
  pthread_mutex_unlock(&other);
  yield_now(); /* BAD */
  pthread_mutex_unlock(&table);
}

APROF_ASYNC void same_condition(int locked) {
  if (locked)
    pthread_mutex_lock(&table);
  plain();
  if (locked)
    pthread_mutex_unlock(&table);
  yield_now();
}

APROF_ASYNC void dies(int n) {
  pthread_mutex_lock(&table);
  if (n) {
    yield_now();
    abort();
  }
  pthread_mutex_unlock(&table);
}

static void unlock_it(pthread_mutex_t **mutex) {
  pthread_mutex_unlock(*mutex);
}

APROF_ASYNC void cleaned_up(int n) {
  {
    __attribute__((cleanup(unlock_it))) pthread_mutex_t *held = &table;
    pthread_mutex_lock(&table);
    if (n)
      yield_now(); /* BAD */
  }
  yield_now();
}

/* One that is called again: it keeps the lock while it is not. */
APROF("run key=a0 pending=0") int steps(int *state) {
  pthread_mutex_lock(&table);
  if (*state == 0)
    return 0; /* BAD */
  pthread_mutex_unlock(&table);
  if (*state == 1)
    return 0;
  return 1;
}

APROF_ASYNC int failed(void) {
  int error = pthread_mutex_lock(&table);
  if (error) {
    yield_now();
    return error;
  }
  pthread_mutex_unlock(&table);
  yield_now();
  return 0;
}

APROF_ASYNC void tried(void) {
  if (pthread_mutex_trylock(&table) == 0) {
    yield_now(); /* BAD */
    pthread_mutex_unlock(&table);
  }
  while (pthread_mutex_trylock(&table) != 0)
    yield_now();
  pthread_mutex_unlock(&table);
}

APROF_ASYNC void by_flag(int n) {
  int locked = 0;
  if (n) {
    pthread_mutex_lock(&table);
    locked = 1;
  }
  plain();
  if (locked)
    pthread_mutex_unlock(&table);
  yield_now();
}

APROF_ASYNC void by_wrong_flag(int n) {
  int locked = 0, other_one = 0;
  if (n) {
    pthread_mutex_lock(&table);
    locked = 1;
  }
  if (other_one)
    pthread_mutex_unlock(&table);
  yield_now(); /* BAD */
  if (locked)
    pthread_mutex_unlock(&table);
}

APROF_ASYNC void in_rounds(int *more) {
  for (int held = 0; *more; plain()) {
    if (!held)
      pthread_mutex_lock(&table);
    held = 1;
    plain();
    pthread_mutex_unlock(&table);
    held = 0;
    yield_now();
  }
}

/* -- functions of its own around them ---------------------------------------------------- */

struct store {
  pthread_mutex_t lock;
  int rows;
};

static void store_lock(struct store *store) {
  int error = pthread_mutex_lock(&store->lock);
  if (error)
    abort();
}

static void store_unlock(struct store *store) {
  pthread_mutex_unlock(&store->lock);
}

static int store_enter(struct store *store, int n) {
  pthread_mutex_lock(&store->lock);
  if (n > store->rows) {
    pthread_mutex_unlock(&store->lock);
    return -1;
  }
  return 0;
}

static void store_count(struct store *store) {
  pthread_mutex_lock(&store->lock);
  store->rows++;
  pthread_mutex_unlock(&store->lock);
}

static void wait_unlocked(struct store *store) {
  pthread_mutex_unlock(&store->lock);
  yield_now();
  pthread_mutex_lock(&store->lock);
}

APROF_ASYNC void wrapped(struct store *store) {
  store_lock(store);
  yield_now(); /* BAD */
  store_unlock(store);
}

APROF_ASYNC void wrapped_well(struct store *store) {
  store_lock(store);
  store->rows++;
  store_unlock(store);
  yield_now();
}

APROF_ASYNC void another_one(struct store *store, struct store *second) {
  store_lock(store);
  store_count(second);
  store_unlock(second);
  yield_now(); /* BAD */
  store_unlock(store);
}

APROF_ASYNC void who_knows(struct store *store) {
  if (store_enter(store, 3) == 0)
    yield_now();
}

APROF_ASYNC void let_go(struct store *store) {
  pthread_mutex_lock(&store->lock);
  wait_unlocked(store);
  pthread_mutex_unlock(&store->lock);
}
