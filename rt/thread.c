/*
 * Threads: which block a thread counts in, and what it does when the profile's
 * epoch is no longer the one it knew.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "transitions.h"

#define BLOCKS 4096u
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* Every thread starts here: epoch 0 sends its first event to thread_sync. */
static struct thread nobody;
__thread struct thread *aprof_self __attribute__((tls_model("initial-exec"))) = &nobody;

static pthread_key_t exit_key;
static bool exit_key_made;
static struct aprof_block *blocks[BLOCKS]; /* rt.lock to add */
static struct thread *free_threads;        /* rt.lock */

static void thread_exit(void *thread);

void thread_start(void) { exit_key_made = pthread_key_create(&exit_key, thread_exit) == 0; }

void thread_wipe(void) {
  memset(blocks, 0, sizeof blocks);
  free_threads = NULL; /* wiped too: made anew */
  if (aprof_self != &nobody)
    memset(aprof_self, 0, sizeof *aprof_self);
  aprof_self = &nobody;
}

/* Where this thread's own stack can be: below its control block, or for the
   first thread below the end that the C library knows. */
static void find_stack(struct thread *t) {
  extern void *__libc_stack_end __attribute__((weak));
  struct rlimit limit;
  uintptr_t here = (uintptr_t)__builtin_frame_address(0), size = 8u << 20;
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < 64u << 20)
    size = limit.rlim_cur;
  uintptr_t high = (uintptr_t)pthread_self();
  if (syscall(SYS_gettid) == getpid() && &__libc_stack_end != NULL)
    high = (uintptr_t)__libc_stack_end + 4096;
  if (here < high && high - here < size) {
    t->stack_high = high;
    t->stack_low = high - size;
  } else { /* on a coroutine's stack already */
    t->stack_high = t->stack_low = 0;
  }
}

static struct thread *thread_memory(void) {
  rt_lock();
  struct thread *t = free_threads;
  if (t != NULL)
    free_threads = t->next;
  rt_unlock();
  if (t != NULL)
    return t;
  size_t size = (sizeof *t + 4095) & ~(size_t)4095;
  t = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (t == MAP_FAILED)
    return NULL;
  madvise(t, size, MADV_WIPEONFORK);
  return t;
}

static struct aprof_block *block_new(uint32_t *number) {
  uint32_t segments = (rt.nodes_cap + NODE_SEGMENT - 1) / NODE_SEGMENT;
  struct aprof_block *block = NULL;
  rt_lock();
  uint32_t n = rt.header->blocks + 1;
  if (n < BLOCKS)
    block = arena_chunk(APROF_CHUNK_BLOCK, n, n, 1,
                        (uint32_t)(sizeof *block + segments * sizeof(void *)));
  if (block != NULL) {
    block->state = APROF_THREAD_OTHER;
    block->counters_epoch = rt.header->reset_epoch;
    arena_publish(block, APROF_CHUNK_BLOCK);
    blocks[n] = block;
    rt.header->blocks = n;
    *number = n;
  }
  rt_unlock();
  return block;
}

static struct aprof_block *block_lease(uint32_t *number) {
  for (uint32_t n = 1; n <= rt.header->blocks; n++) {
    uint32_t expected = APROF_THREAD_FREE;
    if (blocks[n] != NULL &&
        __atomic_compare_exchange_n(&blocks[n]->state, &expected, APROF_THREAD_OTHER, false,
                                    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
      *number = n;
      return blocks[n];
    }
  }
  return block_new(number);
}

static struct thread *lease(void) {
  struct thread *t = thread_memory();
  uint32_t number;
  struct aprof_block *b = t != NULL ? block_lease(&number) : NULL;
  if (b == NULL) {
    __atomic_fetch_add(&rt.header->lost_events, 1, __ATOMIC_RELAXED);
    return NULL;
  }
  t->block = b;
  t->index = number;
  t->segments = (struct aprof_counters **)(b + 1);
  t->rest = APROF_THREAD_OTHER;
  t->serial = (uint32_t)b->serial;
  t->cur = t->suspended = t->idler = t->tentative = t->polled = NULL;
  t->at = NULL;
  t->slice_count = (uint64_t)number * 0x9e3779b1u; /* no two threads' are alike */
  memset(t->cache, 0, sizeof t->cache); /* its counters were another block's */
  memset(t->runs, 0, sizeof t->runs);
  find_stack(t);
  b->leases++;
  b->tid = (int32_t)syscall(SYS_gettid);
  prctl(PR_GET_NAME, b->name);
  if (exit_key_made)
    pthread_setspecific(exit_key, t);
  return t;
}

/* The block enters the current epoch: what was open in the old one stays for the
   reader to clip; time since the new one began was spent outside futures. */
static void enter_epoch(struct thread *t) {
  struct aprof_header *h = rt.header;
  struct aprof_block *b = t->block;
  uint32_t epoch = __atomic_load_n(&h->epoch, __ATOMIC_ACQUIRE);
  uint64_t began = h->epochs[epoch % APROF_EPOCHS].begin_tick;
  if (b->counters_epoch < h->reset_epoch) {
    uint32_t segments = (rt.nodes_cap + NODE_SEGMENT - 1) / NODE_SEGMENT;
    for (uint32_t i = 0; i < segments; i++)
      if (t->segments[i] != NULL)
        memset(t->segments[i], 0, NODE_SEGMENT * sizeof **t->segments);
    histogram_forget(t->index);
    memset(t->cache, 0, sizeof t->cache);
    memset(t->runs, 0, sizeof t->runs);
    b->idle = b->other = b->missed_events = b->reused_keys = b->migrations = 0;
    b->nested_events = b->unmatched_awaits = 0;
    b->counters_epoch = h->reset_epoch;
  } else if (b->epoch != 0 && b->epoch != epoch && b->state != APROF_THREAD_RUNNING) {
    uint64_t end = h->epochs[b->epoch % APROF_EPOCHS].end_tick;
    if (end > b->last)
      *(b->state == APROF_THREAD_IDLE ? &b->idle : &b->other) += end - b->last;
  }
  t->cur = t->suspended = t->idler = t->tentative = t->polled = NULL;
  t->rest = APROF_THREAD_OTHER;
  if (b->epoch != epoch || b->last < began)
    b->last = began;
  b->state = APROF_THREAD_OTHER;
  b->epoch = epoch;
  publish_fence();
  t->epoch = epoch;
}

struct thread *thread_sync(void) {
  struct thread *t = aprof_self;
  static __thread uint8_t inside __attribute__((tls_model("initial-exec")));
  if (inside || rt.state == RT_DEAD)
    return NULL; /* a signal handler came in between */
  inside = 1;
  if (!control_start())
    goto none;
  if (t->block == NULL) {
    if (!__atomic_load_n(&rt.header->enabled, __ATOMIC_ACQUIRE) || (t = lease()) == NULL)
      goto none;
    t->block->last = clock_read();
    t->block->epoch = rt.header->epoch;
  }
  enter_epoch(t);
  aprof_self = t;
  inside = 0;
  return t;
none:
  inside = 0;
  return NULL;
}

/* The block is free for the next thread. What ran here ends unseen. */
static void thread_exit(void *thread) {
  struct thread *t = thread;
  if (aprof_self != t || t->block == NULL)
    return; /* wiped by a fork */
  if (t->epoch == rt.header->epoch && !(t->block->sequence & 1)) {
    t->block->sequence++;
    uint64_t now = event_time(t);
    if (t->cur != NULL) {
      close_running(t, now);
      slice_close(t, now, node_site(t->cur->node));
    } else {
      close_rest(t->block, now);
    }
    for (struct aprof_future *f = t->cur; f != NULL;) {
      struct aprof_future *below = f->caller ? future_at(f->caller) : NULL;
      if (below != NULL && !is_aside(below, index_of(f)))
        below = NULL;
      future_end(t, f, APROF_CANCELLED, now);
      if (below != NULL)
        close_waiting(t, below, not_before(now, below), false);
      f = below;
    }
    t->block->last = now;
    t->block->sequence++;
  }
  aprof_self = &nobody;
  struct aprof_block *b = t->block;
  b->serial = t->serial;
  t->block = NULL;
  t->epoch = 0;
  __atomic_store_n(&b->state, APROF_THREAD_FREE, __ATOMIC_RELEASE);
  rt_lock();
  t->next = free_threads;
  free_threads = t;
  rt_unlock();
}
