/* SPDX-License-Identifier: MIT */
/* The profile reader; see profile.h. */
#include "profile.h"

#include "clock.h"
#include "util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined __x86_64__ || defined __i386__
#include <x86intrin.h>
#endif

_Static_assert(sizeof(struct aprof_header) <= APROF_HEADER_SIZE, "header fits its pages");
_Static_assert(sizeof(struct aprof_chunk) % sizeof(struct aprof_future) == 0,
               "the index of a future is its offset / 128");

enum { COPY_TRIES = 40 };

uint64_t profile_clock(const struct aprof_header *header) {
  if (header->clock_source == APROF_CLOCK_VIRTUAL)
    return header->virtual_now;
#if defined __x86_64__ || defined __i386__
  if (header->clock_source == APROF_CLOCK_TSC)
    return __rdtsc();
#endif
  return clock_monotonic();
}

/* Reads what is there of [offset, offset + length); the rest stays as it is. */
static size_t read_at(int fd, void *to, size_t length, uint64_t offset) {
  size_t done = 0;
  while (done < length) {
    ssize_t got = pread(fd, (char *)to + done, length - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    done += (size_t)got;
  }
  return done;
}

static const char *header_fault(const struct aprof_header *header, size_t got) {
  if (got >= sizeof header->magic && memcmp(header->magic, APROF_PROFILE_MAGIC, 8) &&
      memcmp(header->magic, "\0\0\0\0\0\0\0\0", 8))
    return header->magic[0] == '{' ? "is not a profile; if it is totals, `aprof report` shows them"
                                   : "is not a profile";
  if (got < sizeof *header)
    return "is shorter than a profile's header";
  if (memcmp(header->magic, "\0\0\0\0\0\0\0\0", 8) == 0)
    return "was not finished when its process ended: there is nothing in it";
  if (header->version != APROF_PROFILE_VERSION)
    return "was written by another version of aprof; read it with that version's command";
  if (header->header_size != APROF_HEADER_SIZE)
    return "is damaged: its header has an impossible size";
  if (header->clock_source < APROF_CLOCK_TSC || header->clock_source > APROF_CLOCK_VIRTUAL)
    return "is damaged: it names a clock that does not exist";
  return NULL;
}

enum profile_kind profile_kind(int fd) {
  struct {
    char magic[8];
    uint32_t version;
  } begin = {.version = 0};
  if (read_at(fd, &begin, sizeof begin, 0) < sizeof begin)
    return PROFILE_DAMAGED;
  if (memcmp(begin.magic, "\0\0\0\0\0\0\0\0", 8) == 0)
    return PROFILE_UNFINISHED;
  if (memcmp(begin.magic, APROF_PROFILE_MAGIC, 8))
    return PROFILE_DAMAGED;
  return begin.version == APROF_PROFILE_VERSION ? PROFILE_OURS : PROFILE_OTHER_VERSION;
}

bool profile_read_header(int fd, const char *what, struct aprof_header *header, bool quiet) {
  memset(header, 0, sizeof *header);
  struct stat st;
  const char *fault = NULL;
  if (fstat(fd, &st) || !S_ISREG(st.st_mode))
    fault = "is not a regular file";
  else
    fault = header_fault(header, read_at(fd, header, sizeof *header, 0));
  if (fault) {
    if (!quiet)
      complain("%s %s", what, fault);
    return false;
  }
  header->boot_id[sizeof header->boot_id - 1] = 0;
  header->host[sizeof header->host - 1] = 0;
  header->command[sizeof header->command - 1] = 0;
  header->dir[sizeof header->dir - 1] = 0;
  header->name[sizeof header->name - 1] = 0;
  header->refused_name[sizeof header->refused_name - 1] = 0;
  header->aprof[sizeof header->aprof - 1] = 0;
  header->container[sizeof header->container - 1] = 0;
  if (header->build_id_length > sizeof header->build_id)
    header->build_id_length = 0;
  return true;
}

/* Elements of every chunk type we read; 0: not for us. */
static size_t element_size(uint32_t type) {
  switch (type) {
  case APROF_CHUNK_SITES:
    return sizeof(struct aprof_psite);
  case APROF_CHUNK_NODES:
    return sizeof(struct aprof_node);
  case APROF_CHUNK_BLOCK:
    return sizeof(struct aprof_block);
  case APROF_CHUNK_COUNTERS:
    return sizeof(struct aprof_counters);
  case APROF_CHUNK_FUTURES:
    return sizeof(struct aprof_future);
  case APROF_CHUNK_MODULES:
    return sizeof(struct aprof_module);
  case APROF_CHUNK_MISSES:
    return sizeof(struct aprof_missed);
  default:
    return 0;
  }
}

/* HOT must be copied at one moment for the ledger to close; WARM should be, and is
   as long as a busy process holds still for that long. */
enum heat { COLD = 1, WARM = 2, HOT = 4 };

static enum heat heat_of(uint32_t type) {
  if (type == APROF_CHUNK_BLOCK || type == APROF_CHUNK_COUNTERS || type == APROF_CHUNK_FUTURES ||
      type == APROF_CHUNK_MISSES)
    return HOT;
  return type == APROF_CHUNK_HISTOGRAMS ? WARM : COLD;
}

/* The chunk at `offset`, or false at the end. *size is never 0, so that every
   walk ends. */
static bool next_chunk(int fd, uint64_t offset, uint64_t end, struct aprof_chunk *chunk,
                       uint64_t *size) {
  if (offset >= end || end - offset < sizeof *chunk)
    return false;
  if (read_at(fd, chunk, sizeof *chunk, offset) != sizeof *chunk)
    return false;
  *size = chunk->size;
  if (*size == 0)
    *size = APROF_PAGE;
  if (*size % APROF_PAGE || *size > end - offset) {
    /* Not a size that the writer makes: this page holds nothing, the next may. */
    *size = APROF_PAGE;
    chunk->type = 0;
  }
  if (chunk->size == 0)
    chunk->type = 0;
  return true;
}

static bool is_zero(const unsigned char *page, size_t length) {
  return !length || (!page[0] && !memcmp(page, page + 1, length - 1));
}

/* Pages of nothing, half of all histograms, take no memory here. What an earlier pass
   has read may have to be cleared. */
static void copy_pages(struct profile *p, int fd, uint64_t at, uint64_t size) {
  unsigned char buffer[16 * APROF_PAGE];
  for (uint64_t end = at + size; at < end;) {
    size_t room = sizeof buffer - at % APROF_PAGE; /* so that pages here are pages there */
    size_t part = end - at < room ? (size_t)(end - at) : room, done = 0;
    size_t got = read_at(fd, buffer, part, at);
    while (done < got) {
      size_t length = APROF_PAGE - (at + done) % APROF_PAGE;
      if (length > got - done)
        length = got - done;
      if (!is_zero(buffer + done, length))
        memcpy(p->data + at + done, buffer + done, length);
      else if (p->again)
        memset(p->data + at + done, 0, length);
      done += length;
    }
    if (got < part)
      return;
    at += part;
  }
}

/* One pass over the chunks of these temperatures, copying them into place. */
static void copy_chunks(struct profile *p, int fd, int heat) {
  struct aprof_chunk chunk;
  uint64_t size;
  for (uint64_t at = APROF_HEADER_SIZE; next_chunk(fd, at, p->size, &chunk, &size); at += size) {
    if (chunk.type == 0 || !(heat_of(chunk.type) & heat))
      continue;
    /* The header goes last: the one that was checked is the one that is kept. */
    if (chunk.type != APROF_CHUNK_KEYS && chunk.type != APROF_CHUNK_PRIVATE &&
        (chunk.type != APROF_CHUNK_HISTOGRAMS || p->histograms))
      copy_pages(p, fd, at + sizeof chunk, size - sizeof chunk);
    memcpy(p->data + at, &chunk, sizeof chunk);
  }
}

/* The sequences of all blocks added up, and whether one of them is odd. A sum
   that is equal before and after a copy means that none has moved: they only
   grow. */
static uint64_t sequences(struct profile *p, int fd, bool *busy) {
  struct aprof_chunk chunk;
  uint64_t size, sum = 0;
  *busy = false;
  for (uint64_t at = APROF_HEADER_SIZE; next_chunk(fd, at, p->size, &chunk, &size); at += size) {
    struct aprof_block block = {0};
    if (chunk.type != APROF_CHUNK_BLOCK)
      continue;
    read_at(fd, &block, sizeof block, at + sizeof chunk);
    uint64_t sequence = block.sequence;
    *busy |= sequence & 1;
    sum += sequence + 1;
  }
  return sum;
}

static uint64_t usable_size(struct profile *p, int fd) {
  struct stat st;
  struct aprof_header header;
  if (read_at(fd, &header, sizeof header, 0) == sizeof header && header.used > p->header.used)
    p->header.used = header.used;
  uint64_t size = p->header.used;
  if (fstat(fd, &st) == 0 && size > (uint64_t)st.st_size)
    size = (uint64_t)st.st_size;
  if (size > p->reserved)
    size = p->reserved;
  return size < APROF_HEADER_SIZE ? APROF_HEADER_SIZE : size;
}

/* Copies counters, futures and histograms, of a live process as of one moment if it
   holds still for as long as that takes; without the histograms if that is too long. */
static void copy_hot(struct profile *p, int fd, bool live) {
  if (!live) {
    copy_chunks(p, fd, HOT | WARM);
    p->consistent = true;
    return;
  }
  struct aprof_header header;
  int heat = 0;
  for (int try = 0; try < COPY_TRIES && !p->consistent; try++) {
    bool busy, busy_after;
    uint64_t before = sequences(p, fd, &busy);
    if (busy && try < COPY_TRIES - 1) {
      nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
      continue;
    }
    p->again = try > 0;
    heat = try < COPY_TRIES / 2 ? HOT | WARM : HOT;
    copy_chunks(p, fd, heat);
    header = p->header;
    read_at(fd, &header, sizeof header, 0);
    p->read_tick = profile_clock(&header);
    p->consistent = sequences(p, fd, &busy_after) == before && !busy && !busy_after;
    p->size = usable_size(p, fd);
  }
  if (!(heat & WARM))
    copy_chunks(p, fd, WARM);
}

static void add_run(struct profile_runs *runs, const struct aprof_chunk *chunk, size_t element,
                    uint64_t size) {
  uint64_t fits = (size - sizeof *chunk) / element;
  if (runs->count == runs->room) {
    runs->room = runs->room ? runs->room * 2 : 16;
    runs->run = reallocate(runs->run, runs->room, sizeof *runs->run);
  }
  runs->run[runs->count++] = (struct profile_run){
      .elements = chunk + 1,
      .first = chunk->first,
      .count = chunk->count < fits ? chunk->count : (uint32_t)fits,
      .owner = chunk->owner,
  };
}

static struct profile_runs *runs_of(struct profile *p, uint32_t type) {
  switch (type) {
  case APROF_CHUNK_SITES:
    return &p->sites;
  case APROF_CHUNK_NODES:
    return &p->nodes;
  case APROF_CHUNK_BLOCK:
    return &p->blocks;
  case APROF_CHUNK_COUNTERS:
    return &p->counters;
  case APROF_CHUNK_FUTURES:
    return &p->futures;
  case APROF_CHUNK_MISSES:
    return &p->misses;
  default:
    return &p->modules;
  }
}

/* Numbers an element may have: more of them than fit into the file are a lie,
   and would make tables by number unbounded. */
static bool plausible(const struct profile *p, const struct aprof_chunk *chunk, size_t element) {
  uint64_t most = p->size / element;
  return chunk->element == element && chunk->count <= most && chunk->first <= most;
}

static int by_first(const void *a, const void *b) {
  const struct profile_run *x = a, *y = b;
  return x->first < y->first ? -1 : x->first > y->first;
}

static void index_chunks(struct profile *p) {
  for (uint64_t at = APROF_HEADER_SIZE; p->size - at >= sizeof(struct aprof_chunk);) {
    const struct aprof_chunk *chunk = (const void *)(p->data + at);
    uint64_t size = chunk->size;
    if (chunk->type == 0 || size == 0 || size % APROF_PAGE || size > p->size - at) {
      at += APROF_PAGE;
      if (at > p->size)
        break;
      continue;
    }
    size_t element = element_size(chunk->type);
    if (element && chunk->type == APROF_CHUNK_BLOCK) {
      struct aprof_chunk one = *chunk;
      one.count = 1;
      if (one.first <= p->size / APROF_PAGE && size >= sizeof one + element) {
        add_run(&p->blocks, chunk, element, size);
        p->blocks.run[p->blocks.count - 1].count = 1;
      }
    } else if (element && plausible(p, chunk, element))
      add_run(runs_of(p, chunk->type), chunk, element, size);
    at += size;
  }
  struct profile_runs *numbered[] = {&p->sites, &p->nodes, &p->modules, &p->blocks};
  for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++)
    if (numbered[i]->count)
      qsort(numbered[i]->run, numbered[i]->count, sizeof(struct profile_run), by_first);
}

struct profile *profile_read(int fd, const char *what, bool live, bool histograms) {
  struct profile *p = allocate(1, sizeof *p);
  struct stat st;
  p->histograms = histograms;
  if (!profile_read_header(fd, what, &p->header, false) || fstat(fd, &st)) {
    free(p);
    return NULL;
  }
  uint64_t most = p->header.capacity;
  if (most < (uint64_t)st.st_size)
    most = (uint64_t)st.st_size;
  if (p->header.used > PROFILE_LIMIT && (uint64_t)st.st_size > PROFILE_LIMIT) {
    complain("%s is larger than %zu MB, more than is read; profile with a smaller memory: option",
             what, PROFILE_LIMIT >> 20);
    free(p);
    return NULL;
  }
  p->reserved = most < PROFILE_LIMIT ? (size_t)most : PROFILE_LIMIT;
  if (p->reserved < APROF_HEADER_SIZE)
    p->reserved = APROF_HEADER_SIZE;
  p->data = mmap(NULL, p->reserved, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p->data == MAP_FAILED) {
    complain("no memory to read %s (%zu MB): %s", what, p->reserved >> 20, strerror(errno));
    free(p);
    return NULL;
  }
  /* Or pages that are never written to would be there because of their neighbours. */
  madvise(p->data, p->reserved, MADV_NOHUGEPAGE);
  p->size = usable_size(p, fd);
  copy_hot(p, fd, live);
  /* What the counters refer to was written before them: so it is read after. */
  profile_read_header(fd, what, &p->header, true);
  p->size = usable_size(p, fd);
  copy_chunks(p, fd, COLD);
  index_chunks(p);
  return p;
}

void profile_free(struct profile *p) {
  if (!p)
    return;
  struct profile_runs *all[] = {&p->sites,    &p->nodes,   &p->modules, &p->blocks,
                                &p->counters, &p->futures, &p->misses};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]->run);
  munmap(p->data, p->reserved);
  free(p);
}
