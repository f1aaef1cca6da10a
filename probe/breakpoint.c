/* SPDX-License-Identifier: MIT */
/* Breakpoints by perf events; see breakpoint.h. */
#include "breakpoint.h"

#include "perf.h"
#include "read/util.h"
#include "uprobe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { RING_MOST = 1 << 20, RING_LEAST = 1 << 14 };
enum { THREADS_FEW = 16 }; /* that have large rings */

struct watched {
  int tid;
  int fd[PROBE_ADDRESSES]; /* -1: not armed there */
  struct perf_ring ring;   /* of all of them */
  bool gone;
};

struct breakpoints {
  long pid;
  uint32_t stack;    /* bytes of it in each record */
  bool instructions; /* else the processor compares */
  uint64_t address[PROBE_ADDRESSES];
  struct uprobe uprobe[PROBE_ADDRESSES];
  size_t addresses;
  struct watched *thread;
  size_t threads;
  uint64_t ended[PROBE_ADDRESSES]; /* counted on threads that are over */
  uint64_t lost, late, late_most, unwatched;
  int why_unwatched; /* errno */
  uint64_t looked;   /* when threads were looked for */
  uint64_t mapped;   /* when code was mapped; 0: none was */
  size_t turn;       /* whose ring comes next */
  uint8_t record[PERF_RECORD_ROOM] __attribute__((aligned(8)));
};

struct breakpoints *breakpoints_new(long pid, uint32_t stack, bool instructions) {
  struct breakpoints *b = allocate(1, sizeof *b);
  b->pid = pid;
  b->instructions = instructions;
  b->stack = stack;
  return b;
}

static uint64_t counted(int fd) {
  uint64_t count = 0;
  return fd >= 0 && read(fd, &count, sizeof count) == (ssize_t)sizeof count ? count : 0;
}

static void let_go(struct breakpoints *b, struct watched *w) {
  for (size_t i = 0; i < PROBE_ADDRESSES; i++)
    if (w->fd[i] >= 0) {
      b->ended[i] += counted(w->fd[i]);
      close(w->fd[i]);
      w->fd[i] = -1;
    }
  perf_ring_unmap(&w->ring);
}

void breakpoints_free(struct breakpoints *b) {
  for (size_t i = 0; i < b->threads; i++)
    let_go(b, &b->thread[i]);
  for (size_t i = 0; i < b->addresses; i++)
    free(b->uprobe[i].file);
  free(b->thread);
  free(b);
}

/* -- arming ------------------------------------------------------------------------ */

static int open_one(const struct breakpoints *b, int tid, size_t which) {
  struct perf_event_attr a = {
      .type = PERF_TYPE_BREAKPOINT,
      .size = sizeof a,
      .bp_type = HW_BREAKPOINT_X,
      .bp_addr = b->address[which],
      .bp_len = sizeof(long),
      .sample_period = 1,
      .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER,
      .sample_regs_user = machine_mask(),
      .exclude_kernel = 1,
      .exclude_hv = 1,
      .use_clockid = 1,
      .clockid = CLOCK_MONOTONIC,
      .watermark = 1, /* any record wakes, that of a new thread, too */
      .wakeup_watermark = 1,
      .task = 1,
      .mmap = 1, /* of code */
      .sample_id_all = 1,
      .sample_stack_user = b->stack,
  };
  if (b->stack)
    a.sample_type |= PERF_SAMPLE_STACK_USER;
  if (b->instructions) {
    a.type = b->uprobe[which].type;
    a.bp_type = 0;
    a.uprobe_path = (uintptr_t)b->uprobe[which].file;
    a.probe_offset = b->uprobe[which].offset;
  }
  if (b->address[which] == 0) {
    a.type = PERF_TYPE_SOFTWARE;
    a.config = PERF_COUNT_SW_DUMMY;
    a.bp_type = 0;
    a.bp_len = 0;
    a.sample_period = 0;
  }
  return perf_open(&a, tid);
}

static int arm_thread(struct breakpoints *b, struct watched *w, size_t which) {
  int fd = open_one(b, w->tid, which), error = 0;
  if (fd < 0) {
    error = errno;
  } else if (!w->ring.map) {
    size_t most = b->threads < THREADS_FEW ? RING_MOST : RING_MOST / 8;
    error = perf_ring_map(&w->ring, fd, most, RING_LEAST) ? 0 : errno;
  } else {
    for (size_t i = 0; i < PROBE_ADDRESSES; i++)
      if (w->fd[i] >= 0) {
        error = ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, w->fd[i]) ? errno : 0;
        break;
      }
  }
  if (error && fd >= 0)
    close(fd);
  if (!error)
    w->fd[which] = fd;
  return error;
}

static struct watched *thread_of(struct breakpoints *b, int tid) {
  for (size_t i = 0; i < b->threads; i++)
    if (b->thread[i].tid == tid && !b->thread[i].gone)
      return &b->thread[i];
  return NULL;
}

/* Those that are not known yet are armed as the others are. The first error, or 0. */
static int find_threads(struct breakpoints *b, bool *any) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/task", b->pid);
  DIR *tasks = opendir(path);
  int error = 0;
  if (!tasks)
    return ESRCH;
  for (struct dirent *e; (e = readdir(tasks)) != NULL;) {
    int tid = atoi(e->d_name);
    if (tid <= 0 || thread_of(b, tid))
      continue;
    b->thread = reallocate(b->thread, b->threads + 1, sizeof *b->thread);
    struct watched *w = &b->thread[b->threads];
    *w = (struct watched){.tid = tid};
    memset(w->fd, -1, sizeof w->fd);
    int failed = 0;
    for (size_t i = 0; i < b->addresses && !failed; i++)
      failed = arm_thread(b, w, i);
    if (failed == ESRCH) {
      let_go(b, w);
      continue; /* it has ended meanwhile */
    }
    b->threads++;
    *any = true;
    if (failed) {
      error = failed;
      b->unwatched++;
      b->why_unwatched = failed;
    }
  }
  closedir(tasks);
  return error || b->threads ? error : ESRCH;
}

int breakpoints_arm(struct breakpoints *b, uint64_t address) {
  bool any = false;
  int error = b->threads == 0 ? find_threads(b, &any) : 0;
  size_t which = b->addresses;
  size_t silent = which > 0 && b->address[0] == 0; /* that one is no breakpoint */
  if (which == (b->instructions ? PROBE_ADDRESSES : PROBE_HARDWARE + silent))
    return ENOSPC;
  if (b->instructions && address && !uprobe_find(b->pid, address, &b->uprobe[which])) {
    int fault = errno;
    free(b->uprobe[which].file);
    return fault;
  }
  b->address[b->addresses++] = address;
  for (size_t i = 0; i < b->threads && !error; i++) {
    error = b->thread[i].gone ? 0 : arm_thread(b, &b->thread[i], which);
    if (error == ESRCH) {
      b->thread[i].gone = true;
      error = 0;
    }
  }
  if (error) {
    for (size_t i = 0; i < b->threads; i++)
      if (b->thread[i].fd[which] >= 0) {
        close(b->thread[i].fd[which]);
        b->thread[i].fd[which] = -1;
      }
    b->addresses--;
    free(b->uprobe[which].file);
    b->uprobe[which].file = NULL;
  }
  return error;
}

void breakpoints_threads(struct breakpoints *b, uint64_t now) {
  size_t before = b->threads;
  bool any = false;
  find_threads(b, &any);
  b->late += b->threads - before;
  if (any && b->looked != 0 && now - b->looked > b->late_most)
    b->late_most = now - b->looked;
  b->looked = now;
}

void breakpoints_stop(struct breakpoints *b) {
  for (size_t i = 0; i < b->threads; i++)
    for (size_t j = 0; j < PROBE_ADDRESSES; j++)
      if (b->thread[i].fd[j] >= 0)
        ioctl(b->thread[i].fd[j], PERF_EVENT_IOC_DISABLE, 0);
}

uint64_t breakpoints_count(const struct breakpoints *b, uint64_t address) {
  uint64_t count = 0;
  for (size_t i = 0; i < b->addresses; i++)
    if (b->address[i] == address) {
      count += b->ended[i];
      for (size_t j = 0; j < b->threads; j++)
        count += counted(b->thread[j].fd[i]);
    }
  return count;
}

void breakpoints_say(const struct breakpoints *b, struct probe_result *r) {
  r->lost = b->lost;
  r->unwatched = b->unwatched;
  r->why_unwatched = b->unwatched ? strerror(b->why_unwatched) : NULL;
  r->threads = b->threads;
  r->late_threads = b->late;
  r->late_most = b->late_most;
}

/* -- records ----------------------------------------------------------------------- */

static int first_of(const struct watched *w) {
  for (size_t i = 0; i < PROBE_ADDRESSES; i++)
    if (w->fd[i] >= 0)
      return w->fd[i];
  return -1;
}

bool breakpoints_wait(struct breakpoints *b, int end, int ms) {
  struct pollfd *polled = allocate(b->threads + 1, sizeof *polled);
  nfds_t count = 0;
  polled[count++] = (struct pollfd){.fd = end, .events = POLLIN};
  for (size_t i = 0; i < b->threads; i++)
    if (!b->thread[i].gone)
      polled[count++] = (struct pollfd){.fd = first_of(&b->thread[i]), .events = POLLIN};
  poll(polled, count, ms);
  bool ended = polled[0].fd >= 0 && polled[0].revents != 0;
  /* A thread that is over hangs up, for ever: what it left is read by then. */
  for (nfds_t i = 1; i < count; i++)
    if (polled[i].revents & POLLHUP)
      for (size_t j = 0; j < b->threads; j++)
        if (polled[i].fd >= 0 && first_of(&b->thread[j]) == polled[i].fd)
          b->thread[j].gone = true;
  free(polled);
  return ended;
}

/* In the order that the kernel has them in: IP, TID, TIME, REGS_USER, STACK_USER. */
static bool take_hit(const struct breakpoints *b, const struct perf_event_header *header,
                     struct breakpoint_hit *hit) {
  struct perf_words w = perf_words(header);
  *hit = (struct breakpoint_hit){.address = perf_word(&w)};
  hit->tid = (int)(perf_word(&w) >> 32);
  hit->time = perf_word(&w);
  if (perf_word(&w) != PERF_SAMPLE_REGS_ABI_64)
    return false;
  perf_registers(&w, hit->reg);
  if (b->stack) {
    uint64_t size = perf_word(&w);
    if (size > (size_t)(w.end - w.at))
      return false;
    hit->stack = w.at;
    w.at += size;
    uint64_t copied = size ? perf_word(&w) : 0;
    hit->stack_size = copied < size ? copied : size;
  }
  return true;
}

/* PID, TID, address, length, offset, the file's name (what a compiler makes at run time is of
   none), and at the end the time. */
static void take_mapping(struct breakpoints *b, const struct perf_event_header *header) {
  struct perf_words w = perf_words(header);
  for (int i = 0; i < 4; i++)
    perf_word(&w);
  if (w.at == w.end || w.at[0] != '/' || w.at[1] == '/')
    return;
  w.at = w.end - sizeof(uint64_t);
  uint64_t time = perf_word(&w);
  b->mapped = b->mapped ? b->mapped : time;
}

bool breakpoints_mapped(struct breakpoints *b, uint64_t *when) {
  *when = b->mapped;
  b->mapped = 0;
  return *when != 0;
}

/* A thread has begun: it is armed at once. */
static void take_fork(struct breakpoints *b, const struct perf_event_header *header) {
  struct perf_words w = perf_words(header);
  perf_word(&w); /* pid, ppid */
  perf_word(&w); /* tid, ptid */
  uint64_t time = perf_word(&w);
  size_t before = b->threads;
  bool any = false;
  find_threads(b, &any);
  uint64_t now = clock_monotonic();
  b->late += b->threads - before;
  if (any && now > time && now - time > b->late_most)
    b->late_most = now - time;
}

bool breakpoints_next(struct breakpoints *b, struct breakpoint_hit *hit) {
  for (size_t tried = 0; tried < b->threads;) {
    struct watched *w = &b->thread[b->turn % b->threads];
    struct perf_event_header *header = perf_ring_next(&w->ring, b->record);
    if (!header) {
      if (w->gone && w->ring.map)
        let_go(b, w);
      b->turn++;
      tried++;
      continue;
    }
    if (header->type == PERF_RECORD_LOST)
      b->lost += perf_lost(header);
    else if (header->type == PERF_RECORD_FORK)
      take_fork(b, header);
    else if (header->type == PERF_RECORD_MMAP)
      take_mapping(b, header);
    else if (header->type == PERF_RECORD_SAMPLE && take_hit(b, header, hit)) {
      b->turn++; /* no thread's ring before all others' */
      return true;
    }
  }
  return false;
}

/* -- why not ----------------------------------------------------------------------- */

/* The kernel's own number for what it cannot do; strerror() does not know it. */
enum { NOT_SUPPORTED = 524 };

static const char *why_not(int error, const struct perf_facts *f) {
  switch (error) {
  case ENOSPC:
    return f->privileged ? "its processor has four breakpoints, and others use them (a debugger?); "
                           "--uprobes needs none of them"
                         : "its processor has four breakpoints, and others use them (a debugger?)";
  case ENOENT:
  case EOPNOTSUPP:
  case ENODEV:
    return f->privileged ? "this machine has no hardware breakpoints for programs; try --uprobes"
                         : "this machine has no hardware breakpoints for programs; try --uprobes, "
                           "as root";
  default:
    return perf_refusal(f);
  }
}

static const char *why_no_instruction(int error, const struct perf_facts *f) {
  switch (error) {
  case EACCES:
  case EPERM:
    return f->privileged ? perf_refusal(f)
                         : "that is for root (CAP_PERFMON); without --uprobes the processor "
                           "watches four addresses, for any user";
  case ENODEV:
    return "this kernel has no such events (CONFIG_UPROBE_EVENTS); without --uprobes the "
           "processor watches four addresses";
  case EFAULT:
    return "the code there is of no file, as a compiler at run time makes it; the processor "
           "watches it, without --uprobes";
  case EINVAL:
  case EIO:
  case EOPNOTSUPP:
  case NOT_SUPPORTED:
    return "the kernel does not replace the instruction there; the processor watches it, without "
           "--uprobes";
  default:
    return perf_refusal(f);
  }
}

void breakpoints_refused(const struct breakpoints *b, int error, const char *what) {
  struct perf_facts facts = perf_facts(error, b->pid, "");
  if (b->instructions)
    complain("cannot put a breakpoint instruction into %s: %s", what,
             why_no_instruction(error, &facts));
  else
    complain("cannot watch %s: %s", what, why_not(error, &facts));
}
