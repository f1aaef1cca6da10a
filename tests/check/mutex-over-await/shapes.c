/* SPDX-License-Identifier: MIT */
/* The same in other shapes: loops, choices, macros, helpers, scopes. */
#include <aprof.h>
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

/* GLib's, as its macros make them. */
typedef struct {
  int i;
} GMutex;
typedef GMutex GMutexLocker;
#ifdef __cplusplus
extern "C" {
#endif
GMutexLocker *g_mutex_locker_new(GMutex *);
void g_mutex_locker_free(GMutexLocker *);
APROF_AWAIT void yield_now(void);
void plain(void);
int test(int);
#ifdef __cplusplus
}
#endif
static inline void clean_locker(GMutexLocker **locker) {
  if (*locker)
    g_mutex_locker_free(*locker);
}
#define g_autolocker __attribute__((cleanup(clean_locker))) GMutexLocker *
#define g_clear_pointer(pp, destroy)                                                               \
  do {                                                                                             \
    GMutexLocker **pp_ = (pp), *old_ = *pp_;                                                       \
    *pp_ = NULL;                                                                                   \
    if (old_)                                                                                      \
      (destroy)(old_);                                                                             \
  } while (0)
typedef struct {
  pthread_mutex_t m;
  int n;
  GMutex g;
  pthread_rwlock_t rw;
  mtx_t c;
} tbl;
static pthread_mutex_t gm = PTHREAD_MUTEX_INITIALIZER;
#define WITH_LOCK(m)                                                                               \
  for (int once_ = (pthread_mutex_lock(m), 1); once_; pthread_mutex_unlock(m), once_ = 0)
#define LOCK(t) pthread_mutex_lock(&(t)->m)
#define UNLOCK(t) pthread_mutex_unlock(&(t)->m)
APROF_ASYNC void m_loop(tbl *t) {
  for (int i = 0; i < 3; i++) {
    LOCK(t);
    if (test(i))
      continue;
    UNLOCK(t);
  }
  yield_now(); /* BAD */
}
APROF_ASYNC void m_loop_ok(tbl *t) {
  for (int i = 0; i < 3; i++) {
    LOCK(t);
    if (test(i)) {
      UNLOCK(t);
      continue;
    }
    UNLOCK(t);
    yield_now();
  }
  yield_now();
}
APROF_ASYNC void m_with(void) {
  WITH_LOCK(&gm) {
    yield_now(); /* BAD */
  }
}
APROF_ASYNC void m_with_ok(void) {
  WITH_LOCK(&gm) {
    plain();
  }
  yield_now();
}
APROF_ASYNC int m_goto(tbl *t, int n) {
  int r = 0;
  pthread_mutex_lock(&t->m);
  if (n < 0)
    goto out;
  switch (n) {
  case 1:
    r = 1;
    break;
  case 2:
    pthread_mutex_unlock(&t->m);
    yield_now();
    pthread_mutex_lock(&t->m);
    break;
  case 3:
    yield_now(); /* BAD */
    break;
  default:
    goto out;
  }
out:
  pthread_mutex_unlock(&t->m);
  yield_now();
  return r;
}
APROF_ASYNC void m_glib(tbl *t) {
  g_autolocker l = g_mutex_locker_new(&t->g);
  plain();
  yield_now(); /* BAD */
}
APROF_ASYNC void m_glib_ok(tbl *t) {
  {
    g_autolocker l = g_mutex_locker_new(&t->g);
    plain();
  }
  yield_now();
}
APROF_ASYNC void m_glib_clear(tbl *t) {
  g_autolocker l = g_mutex_locker_new(&t->g);
  plain();
  g_clear_pointer(&l, g_mutex_locker_free);
  yield_now();
}
static void unlock_cb(void *p) {
  pthread_mutex_unlock((pthread_mutex_t *)p);
}
APROF_ASYNC void m_cleanup(tbl *t) {
  pthread_mutex_lock(&t->m);
  pthread_cleanup_push(unlock_cb, &t->m);
  yield_now(); /* BAD */
  pthread_cleanup_pop(1);
}
APROF_ASYNC void m_cleanup_ok(tbl *t) {
  pthread_mutex_lock(&t->m);
  pthread_cleanup_push(unlock_cb, &t->m);
  plain();
  pthread_cleanup_pop(1);
  yield_now();
}
static inline void tbl_lock(tbl *t) {
  LOCK(t);
}
static inline void tbl_unlock(tbl *t) {
  UNLOCK(t);
}
static inline void tbl_lock2(tbl *t) {
  tbl_lock(t);
}
APROF_ASYNC void m_nested(tbl *t) {
  tbl_lock2(t);
  yield_now(); /* BAD */
  tbl_unlock(t);
}
APROF_ASYNC void m_nested_ok(tbl *t) {
  tbl_lock2(t);
  tbl_unlock(t);
  yield_now();
}
APROF_ASYNC void m_rw(tbl *t) {
  pthread_rwlock_rdlock(&t->rw);
  yield_now(); /* BAD */
  pthread_rwlock_unlock(&t->rw);
}
APROF_ASYNC void m_mtx(tbl *t) {
  if (mtx_lock(&t->c) != thrd_success)
    return;
  yield_now(); /* BAD */
  mtx_unlock(&t->c);
}
APROF_ASYNC void m_ptr(tbl *t) {
  pthread_mutex_t *m = &t->m;
  pthread_mutex_lock(m);
  yield_now(); /* BAD */
  pthread_mutex_unlock(m);
}
APROF_ASYNC void m_ptr_ok(tbl *t) {
  pthread_mutex_t *m = &t->m;
  pthread_mutex_lock(m);
  pthread_mutex_unlock(&t->m);
  yield_now();
}
APROF_ASYNC void m_ptr_ok2(tbl *t) {
  pthread_mutex_t *m = &t->m;
  pthread_mutex_lock(&t->m);
  pthread_mutex_unlock(m);
  yield_now();
}
APROF_ASYNC void m_arr(tbl *t, int i) {
  pthread_mutex_lock(&t[i].m);
  yield_now(); /* BAD */
  pthread_mutex_unlock(&t[i].m);
}
APROF_ASYNC void m_trywhile(tbl *t) {
  while (pthread_mutex_trylock(&t->m))
    yield_now();
  plain();
  pthread_mutex_unlock(&t->m);
  yield_now();
}
APROF_ASYNC int m_try_ret(tbl *t) {
  int rc = pthread_mutex_trylock(&t->m);
  if (rc) {
    yield_now();
    return rc;
  }
  yield_now(); /* BAD */
  return pthread_mutex_unlock(&t->m);
}
APROF_ASYNC int m_bool(tbl *t, int want) {
  int held = want > 2;
  if (held)
    LOCK(t);
  plain();
  if (held)
    UNLOCK(t);
  yield_now();
  return 0;
}
APROF_ASYNC void m_cond(tbl *t, pthread_cond_t *c) {
  LOCK(t);
  while (!t->n)
    pthread_cond_wait(c, &t->m); /* aprof: meant(blocking-in-async) */
  UNLOCK(t);
  yield_now();
}
APROF_ASYNC void m_tern(tbl *t, int a) {
  LOCK(t);
  a ? yield_now() : plain(); /* BAD */
  UNLOCK(t);
}
APROF_ASYNC void m_dowhile(tbl *t) {
  int n = 0;
  LOCK(t);
  do {
    n++;
    yield_now(); /* BAD */
  } while (n < 3);
  UNLOCK(t);
}
APROF_ASYNC void m_swap(tbl *a, tbl *b) {
  LOCK(a);
  LOCK(b);
  UNLOCK(a);
  yield_now(); /* BAD */
  UNLOCK(b);
}
/* hand over hand */
struct node {
  struct node *next;
  pthread_mutex_t m;
};
APROF_ASYNC void m_hand(struct node *n) {
  pthread_mutex_lock(&n->m);
  while (n->next) {
    struct node *x = n->next;
    pthread_mutex_lock(&x->m);
    pthread_mutex_unlock(&n->m);
    n = x;
  }
  pthread_mutex_unlock(&n->m);
  yield_now();
}
static tbl *global_tbl;
static void lock_global(void) {
  pthread_mutex_lock(&global_tbl->m);
}
static void unlock_global(void) {
  pthread_mutex_unlock(&global_tbl->m);
}
APROF_ASYNC void m_global(void) {
  lock_global();
  yield_now(); /* BAD */
  unlock_global();
}
APROF_ASYNC void m_global_ok(void) {
  lock_global();
  unlock_global();
  yield_now();
}
static tbl *tbl_get(void) {
  lock_global();
  return global_tbl;
}
static void tbl_put(tbl *t) {
  (void)t;
  unlock_global();
}
APROF_ASYNC void m_get(void) {
  tbl *t = tbl_get();
  yield_now(); /* BAD */
  tbl_put(t);
}
APROF_ASYNC void m_get_ok(void) {
  tbl *t = tbl_get();
  tbl_put(t);
  yield_now();
}
/* One of two: what frees either frees it. */
APROF_ASYNC void m_ordered(tbl *a, tbl *b) {
  tbl *first = a < b ? a : b, *second = a < b ? b : a;
  LOCK(first);
  LOCK(second);
  UNLOCK(a);
  UNLOCK(b);
  yield_now();
}
APROF_ASYNC void m_either(tbl *a, tbl *b) {
  tbl *one = a->n ? a : b;
  LOCK(one);
  yield_now(); /* BAD */
  UNLOCK(one);
}
APROF_ASYNC void m_flag_of_both(tbl *t, int want) {
  int held = want && pthread_mutex_trylock(&t->m) == 0;
  plain();
  if (held)
    UNLOCK(t);
  yield_now();
}
APROF_ASYNC void m_flag_kept(tbl *t, int want) {
  int held = want && pthread_mutex_trylock(&t->m) == 0;
  if (held)
    yield_now(); /* BAD */
  if (held)
    UNLOCK(t);
}
