/* SPDX-License-Identifier: MIT */
/* Threads: which block a thread counts in, and what it does when the profile's epoch is no longer
   the one it knew. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "thread.h"

#include "end.h"
#include "nested.h"
#include "rt/count/govern.h"
#include "rt/count/histogram.h"
#include "rt/count/miss.h"
#include "rt/count/node.h"
#include "rt/file/arena.h"
#include "rt/file/clock.h"
#include "rt/future/grace.h"
#include "rt/future/record.h"
#include "rt/request/member.h"
#include "rt/sys/confine.h"
#include "rt/sys/lock.h"
#include "rt/sys/process.h"
#include "rt/trace/ring.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#define MADV_KEEPONFORK 19
#endif
#define THREAD_SIZE ((sizeof(struct thread) + 4095) & ~(size_t)4095)

static pthread_key_t exit_key;
static bool exit_key_made;
static struct thread *free_threads; /* rt.lock */

static void thread_exit(void *thread);

/* Keys up to here have their place in the thread itself. For others the C library asks for
   memory, and a thread's first event may be in a handler that interrupted its malloc: threads
   that end are found later then, by reclaim_blocks. */
#define KEYS_WITHOUT_MEMORY 32u

void thread_start(void) {
  exit_key_made = pthread_key_create(&exit_key, thread_exit) == 0;
  if (exit_key_made && (uint32_t)exit_key >= KEYS_WITHOUT_MEMORY) {
    pthread_key_delete(exit_key);
    exit_key_made = false;
  }
}

static uint32_t given_back;  /* blocks, so far */
static uint32_t none_behind; /* so many given back, plus 1, when there was none; 0: there was one */

void thread_wipe(void) {
  grace_reset();
  free_threads = NULL; /* wiped too: made anew */
  none_behind = 0;
  if (aprof_self != &thread_nobody)
    memset(aprof_self, 0, sizeof *aprof_self);
  thread_is(&thread_nobody);
}

/* A handler that interrupted an event is about to fork: the child will come back to the
   event, so this thread's half must survive. True: it does. */
bool thread_keep(bool keep) {
  struct thread *t = aprof_self;
  if (t->block == NULL || (keep && !event_interrupted(t)))
    return false;
  return sys_madvise(t, THREAD_SIZE, keep ? MADV_KEEPONFORK : MADV_WIPEONFORK) == 0;
}

/* Where this thread's own stack can be: below its control block, or for the
   first thread below the end that the C library knows. */
static void find_stack(struct thread *t) {
  extern void *__libc_stack_end __attribute__((weak));
  struct rlimit limit;
  uintptr_t here = (uintptr_t)__builtin_frame_address(0), size = 8u << 20;
  if (sys_getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < 64u << 20)
    size = limit.rlim_cur;
  uintptr_t high = (uintptr_t)__builtin_thread_pointer();
  if (sys_call(SYS_gettid) == sys_getpid() && &__libc_stack_end != NULL)
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
  t = sys_mmap(NULL, THREAD_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (sys_failed(t))
    return NULL;
  sys_madvise(t, THREAD_SIZE, MADV_WIPEONFORK);
  return t;
}

static void thread_memory_free(struct thread *t) {
  rt_lock();
  t->next = free_threads;
  free_threads = t;
  rt_unlock();
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
    __atomic_store_n(&thread_blocks[n], block, __ATOMIC_RELAXED);
    __atomic_store_n(&rt.header->blocks, n, __ATOMIC_RELEASE);
    *number = n;
  }
  rt_unlock();
  return block;
}

static void retire(struct thread *t);

/* The owner writes the state by plain stores until it lets go; a thread that sees it free asks
   again. */
HINT static bool looks_free(const struct aprof_block *b) {
  return b != NULL && __atomic_load_n(&b->state, __ATOMIC_RELAXED) == APROF_THREAD_FREE;
}

/* Threads that ended without a word to the C library still hold theirs. Looked for
   when the blocks are twice as many as the last time. */
static bool reclaim_blocks(void) {
  uint32_t count = __atomic_load_n(&rt.header->blocks, __ATOMIC_ACQUIRE), found = 0;
  if (count < 16 || (count & (count - 1)) != 0)
    return false;
  for (uint32_t n = 1; n <= count; n++) {
    struct aprof_block *b = __atomic_load_n(&thread_blocks[n], __ATOMIC_RELAXED);
    struct thread *t = __atomic_load_n(&thread_holders[n], __ATOMIC_ACQUIRE);
    if (b == NULL || t == NULL || looks_free(b) || t->block != b ||
        sys_call(SYS_tgkill, rt.pid, b->tid, 0) != -ESRCH ||
        !swapped(&thread_holders[n], &t, NULL, ACQUIRE))
      continue;
    retire(t);
    found++;
  }
  return found > 0;
}

static struct aprof_block *block_find(uint32_t *number) {
  uint32_t count = __atomic_load_n(&rt.header->blocks, __ATOMIC_ACQUIRE);
  for (uint32_t n = 1; n <= count; n++) {
    uint32_t expected = APROF_THREAD_FREE;
    struct aprof_block *block = __atomic_load_n(&thread_blocks[n], __ATOMIC_RELAXED);
    if (looks_free(block) && swapped(&block->state, &expected, APROF_THREAD_OTHER, ACQUIRE)) {
      *number = n;
      return block;
    }
  }
  return NULL;
}

static struct aprof_block *block_lease(uint32_t *number) {
  struct aprof_block *block = block_find(number);
  if (block == NULL && reclaim_blocks())
    block = block_find(number);
  return block != NULL ? block : block_new(number);
}

/* No block was free when a thread last looked, and none has been given back since. Without this
   test each event of a thread without a block would look again. */
static bool none_is_free(void) {
  return unlikely(__atomic_load_n(&none_behind, __ATOMIC_RELAXED) ==
                  __atomic_load_n(&given_back, __ATOMIC_RELAXED) + 1);
}

static struct thread *lease(void) {
  struct thread *t = is_confined() ? NULL : thread_memory();
  uint32_t number, before = __atomic_load_n(&given_back, __ATOMIC_ACQUIRE);
  struct aprof_block *b = t != NULL ? block_lease(&number) : NULL;
  if (b == NULL) {
    __atomic_fetch_add(&rt.header->lost_events, 1, __ATOMIC_RELAXED);
    if (t != NULL) {
      thread_memory_free(t);
      __atomic_store_n(&none_behind, before + 1, __ATOMIC_RELAXED);
    }
    return NULL;
  }
  t->block = b;
  t->index = number;
  t->segments = (struct aprof_counters **)(b + 1);
  memcpy(t->kind_parts, b->kind_parts, sizeof t->kind_parts);
  t->serial = (uint32_t)b->serial + 1;
  t->held = NULL;
  trace_none(t);
  t->untraced = 0;
  thread_waits(t, false); /* who waited for the last one that had this memory may still look */
  t->at_sequence = UINT64_MAX;
  t->slice_count = (uint64_t)number * 0x9e3779b1u; /* no two threads' are alike */
  node_cache_clear(t);                             /* its counters were another block's */
  t->callback_at = 0;
  find_stack(t);
  b->leases++;
  b->tid = (int32_t)sys_call(SYS_gettid);
  __atomic_store_n(&thread_holders[number], t, __ATOMIC_RELEASE);
  if (number != 1)
    thread_first_settles(t);
  sys_call(SYS_prctl, PR_GET_NAME, b->name, 0, 0, 0);
  if (exit_key_made)
    pthread_setspecific(exit_key, t);
  return t;
}

void thread_forget_sites(void) {
  rt_lock();
  for (uint32_t n = 1; n <= rt.header->blocks; n++) {
    struct thread *t = __atomic_load_n(&thread_holders[n], __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; t != NULL && i <= t->paths / sizeof *t->cache; i++) {
      __atomic_store_n(&t->cache[i].site, NULL, __ATOMIC_RELAXED);
      __atomic_store_n(&t->cache[i].callee, NULL, __ATOMIC_RELAXED);
    }
    if (thread_blocks[n] != NULL)
      node_forget_sites((struct aprof_counters **)(thread_blocks[n] + 1));
  }
  rt_unlock();
}

/* The block enters the current epoch: what was open in the old one stays for the
   reader to clip; time since the new one began was spent outside futures, or idle. */
static void enter_epoch(struct thread *t) {
  struct aprof_header *h = rt.header;
  struct aprof_block *b = t->block;
  uint32_t epoch = __atomic_load_n(&h->epoch, __ATOMIC_ACQUIRE);
  if (t->epoch != 0) {
    uint64_t end =
        epoch - t->epoch < APROF_EPOCHS ? h->epochs[t->epoch % APROF_EPOCHS].end_tick : b->last;
    trace_epoch_over(t, end);
    govern_stop(t, end);
    node_cache_clear(t); /* what begins there has the lease */
  }
  uint64_t began = h->epochs[epoch % APROF_EPOCHS].begin_tick;
  if (b->counters_epoch < h->reset_epoch) {
    uint32_t segments = (rt.nodes_cap + NODE_SEGMENT - 1) / NODE_SEGMENT;
    for (uint32_t i = 0; i < segments; i++)
      if (t->segments[i] != NULL)
        memset(t->segments[i], 0, NODE_SEGMENT * sizeof **t->segments);
    histogram_forget(t->index);
    misses_forget(b);
    b->span_other = 0;
    b->idle = b->other = b->missed_events = b->reused_keys = b->migrations = 0;
    b->nested_events = b->unmatched_awaits = 0;
    b->preempted = b->preempted_max = b->cpu_ns = 0;
    memset(b->at_step, 0, sizeof b->at_step);
    b->timed_events = b->timed_ticks = 0;
    memset(b->periods, 0, sizeof b->periods);
    b->changes = b->step = 0;
    b->counters_epoch = h->reset_epoch;
  } else if (b->epoch != 0 && b->epoch != epoch) {
    uint64_t end =
        epoch - b->epoch < APROF_EPOCHS ? h->epochs[b->epoch % APROF_EPOCHS].end_tick : 0;
    uint64_t passed = end > b->last ? end - b->last : 0; /* 0: nobody knows any more */
    if (b->state != APROF_THREAD_RUNNING) {
      *(b->state == APROF_THREAD_IDLE ? &b->idle : &b->other) += passed;
    } else if (t->cur != NULL && (uint16_t)(t->cur->id >> 48) == (uint16_t)b->epoch) {
      /* It was detached while it ran: this thread books it. */
      t->counters->function.exec += passed;
      t->cur->last += passed;
    }
  }
  if (b->span_node != 0) /* its token is of the epoch before */
    span_outside_close(t);
  b->span_node = 0;
  t->given = 0;
  t->cur = t->suspended = t->idler = t->tentative = t->published = t->polled = NULL;
  t->tentative_id = 0;
  t->rest = APROF_THREAD_OTHER;
  t->finishing = t->also_finishing_count = 0;
  govern_start(t, clock_read());
  holds_forget(t);
  if (b->epoch != epoch || b->last < began)
    b->last = began;
  /* A thread that was idle stays so until this event, as the reader has reported it. */
  bool idle = b->epoch != 0 && b->epoch != epoch && b->state == APROF_THREAD_IDLE;
  b->state = idle ? APROF_THREAD_IDLE : APROF_THREAD_OTHER;
  b->epoch = epoch;
  t->lease = epoch << 16 | t->index;
  publish_fence();
  t->epoch = epoch;
  timing_start(t);
}

static struct thread *sync_blocked(bool birth) {
  struct thread *t = aprof_self;
  if (birth ? !rt.start()
            : __atomic_load_n(&rt.state, __ATOMIC_ACQUIRE) != RT_ON || !process_ours())
    return NULL;
  t = aprof_self; /* made anew in a forked child */
  if (t->block == NULL) {
    if (!__atomic_load_n(&rt.header->enabled, __ATOMIC_ACQUIRE) || (t = lease()) == NULL)
      return NULL;
    t->block->last = clock_read();
    slice_thread_starts(t, t->block->last);
    t->block->epoch = rt.header->epoch;
  }
  enter_epoch(t);
  thread_is(t);
  future_epoch(t);
  return t;
}

static struct thread *thread_sync(bool birth) {
  uint64_t before = 0;
  int saved = errno;
  if (__atomic_load_n(&rt.state, __ATOMIC_RELAXED) == RT_DEAD || rt_locked_here())
    return NULL;
  if (aprof_self->block == NULL && none_is_free() && process_ours()) {
    __atomic_fetch_add(&rt.header->lost_events, 1, __ATOMIC_RELAXED);
    return NULL;
  }
  signals_block(&before);
  struct thread *t = sync_blocked(birth);
  if (t != NULL)
    t->asked = t->block->sequence + 1;
  signals_restore(&before);
  errno = saved;
  return t;
}

struct thread *thread_sees(bool birth) {
  struct thread *t = aprof_self;
  if (t->epoch != __atomic_load_n(&rt.header->epoch, __ATOMIC_RELAXED) &&
      (t = thread_sync(birth)) == NULL)
    return NULL;
  trace_seen(t); /* by the epoch that it is in now: a newer one it sees the next time */
  return t;
}

/* The block is free for the next thread. What ran here ends unseen. */
static void retire(struct thread *t) {
  struct aprof_block *b = t->block;
  if (b->sequence & 1)
    event_left(t); /* cancelled in the middle of it, or by a jump of its last handler */
  if (t->epoch == rt.header->epoch) {
    b->sequence++;
    publish_fence();
    cur_apart(t);
    if (running_is_lost(t))
      running_lost(t);
    cancel_running(t, event_time(t));
    if (t->finishing != 0)
      request_settle(t);
    span_outside_close(t);
    b->span_node = 0;
    govern_stop(t, event_time(t));
    publish_fence();
    b->sequence++;
  }
  member_thread_ends(t);
  trace_gone(t);
  b->serial = t->serial - 1;
  __atomic_store_n(&thread_holders[t->index], NULL, __ATOMIC_RELAXED);
  t->block = NULL;
  t->epoch = t->usual = t->seen = 0;
  __atomic_store_n(&b->state, APROF_THREAD_FREE, __ATOMIC_RELEASE);
  __atomic_fetch_add(&given_back, 1, __ATOMIC_RELEASE);
  thread_memory_free(t);
}

static void thread_exit(void *thread) {
  struct thread *t = thread;
  uint64_t before = 0;
  if (aprof_self != t || t->block == NULL)
    return; /* wiped by a fork */
  signals_block(&before);
  thread_is(&thread_nobody);
  retire(t);
  signals_restore(&before);
}
