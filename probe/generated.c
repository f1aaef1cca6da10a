/* SPDX-License-Identifier: MIT */
/* Names of generated code; see generated.h. */
#include "generated.h"

#include "read/util.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 1 << 18 }; /* addresses that are kept */

void generated_begin(struct generated *g, long pid) {
  struct stat st;
  char *path = print_string("/proc/%ld", pid);
  *g = (struct generated){.pid = pid, .owner = geteuid()};
  if (!stat(path, &st))
    g->owner = st.st_uid;
  free(path);
}

void generated_free(struct generated *g) {
  free(g->address);
  *g = (struct generated){0};
}

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* In order, each once. */
static void settle(struct generated *g) {
  size_t kept = 0;
  if (g->count)
    qsort(g->address, g->count, sizeof *g->address, by_number);
  for (size_t i = 0; i < g->count; i++)
    if (!kept || g->address[kept - 1] != g->address[i])
      g->address[kept++] = g->address[i];
  g->count = kept;
}

void generated_add(struct generated *g, uint64_t address) {
  if (g->count == g->room) {
    settle(g);
    if (g->count >= MOST)
      return;
    g->room = 2 * g->count + 256;
    g->address = reallocate(g->address, g->room, sizeof *g->address);
  }
  g->address[g->count++] = address;
}

/* Whether one of them lies there. */
static int is_met(const struct generated *g, uint64_t start, uint64_t end) {
  size_t low = 0, high = g->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (g->address[middle] < start)
      low = middle + 1;
    else
      high = middle;
  }
  return low < g->count && g->address[low] < end;
}

/* "START SIZE NAME", numbers in hex; what comes later holds. */
void generated_name_of(struct generated *g, int fd, generated_visit *visit, void *context) {
  FILE *file = fdopen(fd, "r");
  char *line = NULL;
  size_t room = 0;
  uint64_t start, size;
  settle(g);
  while (file && g->count && getline(&line, &room, file) > 0) {
    int at = 0;
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &start, &size, &at) == 2 && at && line[at] &&
        size && start + size > start && is_met(g, start, start + size))
      visit(start, start + size, line + at, context);
  }
  free(line);
  if (file)
    fclose(file);
  else
    close(fd);
}

/* Its number in the innermost namespace is what it calls itself. */
static long inner_of(long pid) {
  char *path = print_string("/proc/%ld/status", pid), *line = NULL;
  FILE *file = fopen(path, "re");
  size_t room = 0;
  long inner = pid;
  while (file && getline(&line, &room, file) > 0)
    if (!strncmp(line, "NSpid:", 6))
      for (char *at = strtok(line + 6, " \t\n"); at; at = strtok(NULL, " \t\n"))
        inner = atol(at);
  if (file)
    fclose(file);
  free(line);
  free(path);
  return inner;
}

/* Anybody may put a file to /tmp: only its own counts, and no link is followed. */
void generated_name(struct generated *g, generated_visit *visit, void *context) {
  struct stat st;
  settle(g);
  if (!g->count)
    return;
  char *path[] = {print_string("/proc/%ld/root/tmp/perf-%ld.map", g->pid, inner_of(g->pid)),
                  print_string("/tmp/perf-%ld.map", g->pid)};
  int fd = open_regular(AT_FDCWD, path[0], O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0)
    fd = open_regular(AT_FDCWD, path[1], O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd >= 0 && !fstat(fd, &st) && st.st_uid == g->owner)
    generated_name_of(g, fd, visit, context);
  else if (fd >= 0)
    close(fd);
  free(path[0]);
  free(path[1]);
}
