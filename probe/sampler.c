/* SPDX-License-Identifier: MIT */
/* Perf events on all threads of a process; see sampler.h. */
#include "sampler.h"

#include "perf.h"
#include "read/util.h"
#include "unwind.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  RING = 128 << 10,
  RING_OF_STACKS = 512 << 10, /* each sample has a piece of stack */
  RING_LEAST = 8 << 10,
  THREADS_FEW = 32,     /* that have large rings */
  STACK = 8 << 10,      /* bytes of it, for unwind tables */
  LOOK_NS = 1000000000, /* so often threads are looked for that nobody told of */
  CONTEXT_MOST = 4095,  /* addresses above -4095 are marks within a chain of callers */
};

struct thread {
  int tid, inner; /* inner: its number in the process's own namespace */
  int fd;
  struct perf_ring ring;
  uint64_t since; /* it is watched, */
  bool told;      /* and that was told */
  bool over;      /* it has ended: what is in its ring is the last of it */
};

struct sampler {
  long pid;
  struct sampler_wish wish;
  struct thread *thread;
  size_t threads;
  struct sampler_numbers numbers;
  struct mappings mappings;
  size_t told; /* of these */
  struct debug debug;
  bool unwinds, mapped; /* mapped: something new was, since the maps were read */
  uint64_t looked;
  uint64_t frame[SAMPLER_FRAMES];
  uint8_t record[PERF_RECORD_ROOM] __attribute__((aligned(8)));
};

/* -- threads --------------------------------------------------------------------------- */

static struct perf_event_attr attr_of(const struct sampler *s) {
  struct perf_event_attr a = {
      .type = PERF_TYPE_SOFTWARE,
      .size = sizeof a,
      .config = s->wish.hertz ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_DUMMY,
      .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
      .freq = s->wish.hertz != 0,
      .sample_freq = s->wish.hertz,
      .exclude_kernel = s->numbers.no_kernel,
      .exclude_hv = 1,
      .exclude_callchain_kernel = 1,
      .use_clockid = 1,
      .clockid = CLOCK_MONOTONIC,
      .sample_id_all = 1,
      .task = 1,
      .mmap = 1,
      .context_switch = s->wish.switches,
      .watermark = 1,
      .wakeup_watermark = UINT32_MAX, /* nobody waits for it: it is looked at */
  };
  if (s->wish.dwarf && s->wish.hertz) {
    a.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    a.sample_regs_user = machine_mask();
    a.sample_stack_user = STACK;
  }
  return a;
}

/* The last of its numbers: one for each namespace, from the outside in. */
static int inner_of(long pid, int tid) {
  char *path = print_string("/proc/%ld/task/%d/status", pid, tid), *line = NULL;
  FILE *file = fopen(path, "re");
  size_t room = 0;
  int inner = tid;
  while (file && getline(&line, &room, file) > 0)
    if (!strncmp(line, "NSpid:", 6)) {
      for (char *at = strtok(line + 6, " \t\n"); at; at = strtok(NULL, " \t\n"))
        inner = atoi(at);
      break;
    }
  if (file)
    fclose(file);
  free(line);
  free(path);
  return inner;
}

static void let_go(struct thread *t) {
  perf_ring_unmap(&t->ring);
  if (t->fd >= 0)
    close(t->fd);
  t->fd = -1;
}

/* 0, or an errno. */
static int watch(struct sampler *s, int tid) {
  struct perf_event_attr attr = attr_of(s);
  struct thread t = {.tid = tid, .fd = perf_open(&attr, tid)};
  size_t ring = s->wish.dwarf ? RING_OF_STACKS : RING;
  if (t.fd < 0)
    return errno;
  if (!perf_ring_map(&t.ring, t.fd, s->threads < THREADS_FEW ? ring : ring / 8, RING_LEAST)) {
    int error = errno;
    let_go(&t);
    return error;
  }
  t.since = clock_monotonic();
  t.inner = inner_of(s->pid, tid);
  s->thread = reallocate(s->thread, s->threads + 1, sizeof *s->thread);
  s->thread[s->threads++] = t;
  s->numbers.threads++;
  return 0;
}

static struct thread *thread_of(struct sampler *s, int tid) {
  for (size_t i = 0; i < s->threads; i++)
    if (s->thread[i].tid == tid && !s->thread[i].over)
      return &s->thread[i];
  return NULL;
}

/* Watches those that are not watched yet. The first error, or 0; ESRCH: there is no thread. */
static int find_threads(struct sampler *s) {
  char *path = print_string("/proc/%ld/task", s->pid);
  DIR *tasks = opendir(path);
  int error = 0;
  bool any = false;
  free(path);
  for (struct dirent *e; tasks && (e = readdir(tasks));) {
    int tid = atoi(e->d_name);
    bool known = tid <= 0 || thread_of(s, tid);
    int failed = known ? 0 : watch(s, tid);
    any |= tid > 0 && failed != ESRCH;
    if (failed && failed != ESRCH) {
      s->numbers.unwatched += s->threads != 0;
      error = error ? error : failed;
    }
  }
  if (tasks)
    closedir(tasks);
  s->looked = clock_monotonic();
  return error ? error : any ? 0 : ESRCH;
}

/* All of them, or none: who may not watch one may not watch any. In the kernel, too, if that is
   allowed. */
static int watch_all(struct sampler *s) {
  int error = find_threads(s);
  if ((error == EACCES || error == EPERM) && !s->threads) {
    s->numbers.no_kernel = true;
    error = find_threads(s);
  }
  return s->threads ? 0 : error;
}

struct sampler *sampler_new(long pid, const struct sampler_wish *wish, const char **why) {
  struct sampler *s = allocate(1, sizeof *s);
  s->pid = pid;
  s->wish = *wish;
  s->wish.dwarf = wish->dwarf && MACHINE_KNOWN;
  int error = watch_all(s);
  if (error) {
    struct perf_facts facts = perf_facts(error, pid, "");
    *why = perf_refusal(&facts);
    free(s);
    return NULL;
  }
  mappings_begin(&s->mappings, pid);
  mappings_read(&s->mappings);
  s->unwinds =
      s->wish.dwarf && s->wish.hertz && debug_open(&s->debug, pid, NULL) && unwind_start(&s->debug);
  return s;
}

void sampler_free(struct sampler *s) {
  if (!s)
    return;
  for (size_t i = 0; i < s->threads; i++)
    let_go(&s->thread[i]);
  free(s->thread);
  mappings_free(&s->mappings);
  debug_close(&s->debug);
  free(s);
}

/* -- callers --------------------------------------------------------------------------- */

static void read_mappings(struct sampler *s) {
  if (mappings_read(&s->mappings) && s->unwinds)
    debug_refresh(&s->debug);
  s->mapped = false;
}

/* Where no code is no function goes on: what a register that is no frame pointer leads to. */
static size_t cut_chain(struct sampler *s, size_t frames) {
  size_t sound = frames ? 1 : 0;
  while (sound < frames && mappings_at(&s->mappings, s->frame[sound]))
    sound++;
  return sound;
}

/* Those of the kernel are left out. */
static size_t take_chain(struct sampler *s, struct perf_words *w) {
  uint64_t count = perf_word(w), frames = 0;
  bool user = false;
  for (; count && w->at < w->end; count--) {
    uint64_t address = perf_word(w);
    if (address >= (uint64_t)-CONTEXT_MOST)
      user = address == (uint64_t)PERF_CONTEXT_USER;
    else if (user && frames < SAMPLER_FRAMES)
      s->frame[frames++] = address;
  }
  return frames;
}

/* By unwind tables, if that leads further than frame pointers have. */
static size_t take_stack(struct sampler *s, struct perf_words *w, int tid, size_t frames) {
  struct hit h = {.debug = &s->debug, .tid = tid, .copied_only = true};
  uint64_t unwound[SAMPLER_FRAMES];
  if (perf_word(w) != PERF_SAMPLE_REGS_ABI_64)
    return frames;
  perf_registers(w, h.reg);
  uint64_t size = perf_word(w);
  if (!s->unwinds || size > (size_t)(w->end - w->at))
    return frames;
  h.stack = w->at;
  w->at += size;
  uint64_t copied = size ? perf_word(w) : 0;
  h.stack_size = copied < size ? copied : size;
  size_t more = unwind_addresses(&h, unwound, SAMPLER_FRAMES);
  if (more <= frames)
    return frames;
  memcpy(s->frame, unwound, more * sizeof *unwound);
  return more;
}

/* -- records --------------------------------------------------------------------------- */

/* New mappings come first: what is told next may lie in them. */
static void tell(struct sampler *s, const struct sampler_record *r,
                 const struct sampler_sink *sink) {
  for (; s->told < s->mappings.count; s->told++)
    sink->mapping(&s->mappings.list[s->told], sink->context);
  sink->record(r, sink->context);
}

/* In the order that the kernel has them in: IP, TID, TIME, CALLCHAIN, REGS_USER, STACK_USER. */
static void take_sample(struct sampler *s, struct thread *t, const struct perf_event_header *header,
                        const struct sampler_sink *sink) {
  struct perf_words w = perf_words(header);
  uint64_t address = perf_word(&w);
  perf_word(&w); /* whose it is is known */
  struct sampler_record r = {.what = SAMPLER_SAMPLE,
                             .time = perf_word(&w),
                             .tid = t->inner,
                             .kernel = (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
                                       PERF_RECORD_MISC_KERNEL,
                             .frame = s->frame};
  size_t frames = take_chain(s, &w);
  if (!frames && !r.kernel)
    s->frame[frames++] = address;
  if (s->mapped || (frames && !mappings_at(&s->mappings, s->frame[0])))
    read_mappings(s);
  r.frames = cut_chain(s, frames);
  if (s->wish.dwarf)
    r.frames = cut_chain(s, take_stack(s, &w, t->tid, r.frames));
  s->numbers.samples++;
  tell(s, &r, sink);
}

/* TID and TIME stand at the end of what is no sample. */
static uint64_t time_at_end(const struct perf_event_header *header) {
  uint64_t time = 0;
  if (header->size >= sizeof *header + 2 * sizeof time)
    memcpy(&time, (const uint8_t *)header + header->size - sizeof time, sizeof time);
  return time;
}

static void take_switch(struct sampler *s, struct thread *t, const struct perf_event_header *header,
                        const struct sampler_sink *sink) {
  bool out = header->misc & PERF_RECORD_MISC_SWITCH_OUT;
  bool ready = header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
  const struct sampler_record r = {.what = !out    ? SAMPLER_ON
                                           : ready ? SAMPLER_PREEMPTED
                                                   : SAMPLER_BLOCKED,
                                   .time = time_at_end(header),
                                   .tid = t->inner};
  s->numbers.switches++;
  tell(s, &r, sink);
}

static void take_record(struct sampler *s, size_t number, const struct perf_event_header *header,
                        const struct sampler_sink *sink) {
  struct thread *t = &s->thread[number];
  struct sampler_record r = {.time = time_at_end(header), .tid = t->inner};
  switch (header->type) {
  case PERF_RECORD_SAMPLE:
    take_sample(s, t, header, sink);
    break;
  case PERF_RECORD_SWITCH:
    take_switch(s, t, header, sink);
    break;
  case PERF_RECORD_FORK:
    find_threads(s); /* it moves the list */
    break;
  case PERF_RECORD_EXIT:
    t->over = true;
    r.what = SAMPLER_OVER;
    tell(s, &r, sink);
    break;
  case PERF_RECORD_MMAP:
    s->mapped = true;
    break;
  case PERF_RECORD_LOST:
    s->numbers.lost += perf_lost(header);
    r.what = SAMPLER_LOST;
    tell(s, &r, sink);
    break;
  case PERF_RECORD_THROTTLE:
    s->numbers.throttled = true;
    break;
  default:
    break;
  }
}

static void take_all(struct sampler *s, size_t number, const struct sampler_sink *sink) {
  const struct perf_event_header *header;
  struct thread *t = &s->thread[number];
  const struct sampler_record watched = {
      .what = SAMPLER_WATCHED, .time = t->since, .tid = t->inner};
  if (!t->told && s->wish.switches)
    tell(s, &watched, sink);
  t->told = true;
  while ((header = perf_ring_next(&s->thread[number].ring, s->record)))
    take_record(s, number, header, sink);
}

/* Their rings are empty, and nothing more comes. */
static void forget_ended(struct sampler *s) {
  size_t kept = 0;
  for (size_t i = 0; i < s->threads; i++)
    if (s->thread[i].over)
      let_go(&s->thread[i]);
    else
      s->thread[kept++] = s->thread[i];
  s->threads = kept;
}

void sampler_poll(struct sampler *s, const struct sampler_sink *sink) {
  for (size_t i = 0; i < s->threads; i++)
    take_all(s, i, sink);
  forget_ended(s);
  if (clock_monotonic() - s->looked > LOOK_NS)
    find_threads(s);
}

void sampler_numbers(const struct sampler *s, struct sampler_numbers *n) {
  *n = s->numbers;
}
