/* SPDX-License-Identifier: MIT */
/* The profile reader; see profile.h. */
#include "profile-copy.h"

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

enum { COPY_TRIES = 40, REFRESH_TRIES = 3 };

uint64_t profile_clock(const struct aprof_header *header) {
  if (header->clock_source == APROF_CLOCK_VIRTUAL)
    return header->virtual_now;
#if defined __x86_64__ || defined __i386__
  if (header->clock_source == APROF_CLOCK_TSC)
    return __rdtsc();
#endif
  return clock_monotonic();
}

size_t profile_read_at(int fd, void *to, size_t length, uint64_t offset) {
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
  if (profile_read_at(fd, &begin, sizeof begin, 0) < sizeof begin)
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
    fault = header_fault(header, profile_read_at(fd, header, sizeof *header, 0));
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
  profile_fill(p, fd, live, COPY_TRIES);
  return p;
}

void profile_refresh(struct profile *p, int fd) {
  size_t pages = p->reserved / APROF_PAGE + 1;
  if (p->fresh)
    memset(p->fresh, 0, pages);
  else
    p->fresh = allocate(pages, 1);
  p->renamed = false;
  profile_read_header(fd, "", &p->header, true);
  profile_fill(p, fd, true, REFRESH_TRIES);
}

bool profile_is_fresh(const struct profile *p, uint32_t reference) {
  uint64_t at = (uint64_t)reference * 8, end = at + sizeof(struct aprof_histogram) - 1;
  for (uint64_t page = at / APROF_PAGE; p->fresh && page <= end / APROF_PAGE; page++)
    if (p->fresh[page])
      return true;
  return !p->fresh;
}

void profile_free(struct profile *p) {
  if (!p)
    return;
  struct profile_runs *all[] = {&p->sites,    &p->nodes,   &p->modules, &p->blocks,
                                &p->counters, &p->futures, &p->misses};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]->run);
  munmap(p->data, p->reserved);
  free(p->part);
  free(p->fresh);
  free(p);
}
