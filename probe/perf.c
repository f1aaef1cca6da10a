/* SPDX-License-Identifier: MIT */
/* Perf events; see perf.h. */
#include "perf.h"

#include "read/util.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int perf_open(const struct perf_event_attr *attr, int tid) {
  return (int)syscall(SYS_perf_event_open, attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* -- rings ----------------------------------------------------------------------------- */

bool perf_ring_map(struct perf_ring *r, int fd, size_t most, size_t least) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (size_t room = most; room >= least; room /= 2) {
    void *map = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED) {
      *r = (struct perf_ring){map, room + page};
      return true;
    }
  }
  errno = errno == EPERM ? ENOMEM : errno; /* more than may be locked */
  return false;
}

void perf_ring_unmap(struct perf_ring *r) {
  if (r->map)
    munmap(r->map, r->room);
  r->map = NULL;
}

struct perf_event_header *perf_ring_next(struct perf_ring *r, void *record) {
  struct perf_event_mmap_page *page = r->map;
  if (!page)
    return NULL;
  uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail;
  const uint8_t *data = (const uint8_t *)r->map + page->data_offset;
  uint64_t size = page->data_size;
  struct perf_event_header header;
  if (head == tail)
    return NULL;
  for (size_t i = 0; i < sizeof header; i++)
    ((uint8_t *)&header)[i] = data[(tail + i) % size];
  if (header.size < sizeof header) {
    __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
    return NULL;
  }
  uint64_t first = size - tail % size;
  first = first < header.size ? first : header.size;
  memcpy(record, data + tail % size, first);
  memcpy((uint8_t *)record + first, data, header.size - first);
  __atomic_store_n(&page->data_tail, tail + header.size, __ATOMIC_RELEASE);
  return record;
}

struct perf_words perf_words(const struct perf_event_header *header) {
  return (struct perf_words){(const uint8_t *)(header + 1), (const uint8_t *)header + header->size};
}

uint64_t perf_word(struct perf_words *w) {
  uint64_t word = 0;
  if ((size_t)(w->end - w->at) >= sizeof word) {
    memcpy(&word, w->at, sizeof word);
    w->at += sizeof word;
  } else {
    w->at = w->end;
  }
  return word;
}

void perf_registers(struct perf_words *w, uint64_t reg[MACHINE_REGISTERS]) {
  uint64_t mask = machine_mask();
  for (unsigned bit = 0; bit < 64; bit++)
    if (mask >> bit & 1) {
      uint64_t value = perf_word(w);
      for (int i = 0; i < MACHINE_REGISTERS; i++)
        if (machine_register[i] == bit)
          reg[i] = value;
    }
}

uint64_t perf_lost(const struct perf_event_header *header) {
  struct perf_words w = perf_words(header);
  perf_word(&w); /* of which event */
  return perf_word(&w);
}

/* -- why not --------------------------------------------------------------------------- */

/* What stands behind "NAME:" in a file of /proc/PID/status's form; free() it. NULL: nothing. */
static char *line_of(const char *path, const char *name) {
  size_t length;
  char *text = read_text_file(path, 64 << 10, &length), *found = NULL;
  for (char *line = text; line && *line && !found;) {
    size_t end = strcspn(line, "\n"), named = strlen(name);
    if (!strncmp(line, name, named) && line[named] == ':')
      found = print_string("%.*s", (int)(end - named - 1), line + named + 1);
    line += end + (line[end] == '\n');
  }
  free(text);
  return found;
}

static uint64_t number_in(const char *path, const char *name, int base, uint64_t otherwise) {
  char *text = line_of(path, name);
  uint64_t number = text ? strtoull(text, NULL, base) : otherwise;
  free(text);
  return number;
}

static bool is_privileged(const char *status) {
  const int perfmon = 38, admin = 21; /* capabilities: CAP_PERFMON, CAP_SYS_ADMIN */
  uint64_t may = number_in(status, "CapEff", 16, 0);
  return may >> perfmon & 1 || may >> admin & 1;
}

struct perf_facts perf_facts(int error, long pid, const char *root) {
  struct perf_facts f = {.error = error};
  struct stat st;
  size_t length;
  char *level = print_string("%s/proc/sys/kernel/perf_event_paranoid", root);
  char *mine = print_string("%s/proc/self/status", root);
  char *maps = print_string("%s/proc/%ld/maps", root, pid);
  char *status = print_string("%s/proc/%ld/status", root, pid);
  char *text = read_text_file(level, 64, &length);
  uint64_t us = number_in(mine, "Uid", 10, geteuid()), it = number_in(status, "Uid", 10, us);
  f.paranoid = text ? strtol(text, NULL, 10) : 0;
  f.privileged = is_privileged(mine);
  f.theirs = it != us;
  /* What is not for everybody in the folder of a process that is not dumpable is root's. */
  f.closed = !f.theirs && !stat(maps, &st) && st.st_uid != it;
  f.filtered = number_in(mine, "Seccomp", 10, 0) == 2;
  free(text);
  free(status);
  free(maps);
  free(mine);
  free(level);
  return f;
}

const char *perf_refusal(const struct perf_facts *f) {
  enum { NOBODY = 3 };
  switch (f->error) {
  case EACCES:
  case EPERM:
    if (!f->privileged && f->paranoid >= NOBODY)
      return turn_text("the kernel allows perf events to nobody but root "
                       "(kernel.perf_event_paranoid is %ld); ask as root, or set it to 2",
                       f->paranoid);
    if (f->theirs)
      return "it is another user's; ask as that user, or as root";
    if (f->closed)
      return "it is not dumpable: it has changed its user, or asked for that (PR_SET_DUMPABLE); "
             "ask as root";
    if (f->filtered)
      return "a filter of system calls (seccomp) forbids perf_event_open here, as those of "
             "containers do; ask from outside of it, or run it with --cap-add=PERFMON";
    return turn_text(
        "the kernel refuses perf_event_open (%s), as a security module may; ask as root",
        strerror(f->error));
  case ENOSYS:
    return f->filtered ? "a filter of system calls (seccomp) hides perf_event_open here; ask from "
                         "outside of it"
                       : "this kernel is built without perf events";
  case EMFILE:
  case ENFILE:
    return "too few file descriptors for its threads; raise `ulimit -n'";
  case ENOMEM:
    return "there is no memory for the rings of its threads; raise `ulimit -l'";
  case ESRCH:
    return "it has ended";
  default:
    return strerror(f->error);
  }
}
