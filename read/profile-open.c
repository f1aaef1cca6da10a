/* SPDX-License-Identifier: MIT */
/* Opens a profile, and closes it; see profile.h. */
#include "profile-copy.h"

#include "util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(struct aprof_header) <= APROF_HEADER_SIZE, "header fits its pages");
_Static_assert(sizeof(struct aprof_chunk) % sizeof(struct aprof_future) == 0,
               "the index of a future is its offset / 128");

enum { COPY_TRIES = 40, REFRESH_TRIES = 3 };

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
  /* Huge pages would bring in what is never written to. */
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

static bool any_fresh(const struct profile *p, uint64_t at, uint64_t end) {
  for (uint64_t page = at / APROF_PAGE; page * APROF_PAGE < end; page++)
    if (p->fresh[page])
      return true;
  return false;
}

bool profile_is_fresh(const struct profile *p, uint32_t reference) {
  struct profile_counts c = profile_counts(p, reference);
  return !p->fresh || any_fresh(p, c.at, c.end) || any_fresh(p, c.carried_at, c.carried_end);
}

void profile_free(struct profile *p) {
  if (!p)
    return;
  struct profile_runs *all[] = {&p->sites,    &p->nodes,      &p->modules, &p->blocks,
                                &p->counters, &p->futures,    &p->misses,  &p->requests,
                                &p->kinds,    &p->kind_parts, &p->shares};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]->run);
  munmap(p->data, p->reserved);
  free(p->part);
  free(p->fresh);
  free(p);
}
