/* SPDX-License-Identifier: MIT */
/* Executable mappings; see mappings.h. */
#include "mappings.h"

#include "read/util.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void mappings_begin(struct mappings *m, long pid) {
  *m = (struct mappings){.pid = pid};
}

void mappings_free(struct mappings *m) {
  for (size_t i = 0; i < m->count; i++)
    free(m->list[i].path);
  free(m->list);
  *m = (struct mappings){0};
}

/* As the process sees the path: it may be in a container. A pipe or a device is left alone. */
static void find_build_id(const struct mappings *m, struct mapping *of) {
  char *inside = print_string("/proc/%ld/root%s", m->pid, of->path);
  int fd = of->path[0] == '/' ? open_regular(AT_FDCWD, inside, O_RDONLY | O_CLOEXEC) : -1;
  free(inside);
  if (fd < 0)
    return;
  elf_version(EV_CURRENT);
  Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
  const void *bits = NULL;
  ssize_t length = elf ? dwelf_elf_gnu_build_id(elf, &bits) : -1;
  if (length > 0) {
    of->build_id_length = length < MAPPING_BUILD_ID ? (uint32_t)length : MAPPING_BUILD_ID;
    memcpy(of->build_id, bits, of->build_id_length);
  }
  elf_end(elf);
  close(fd);
}

static bool is_known(const struct mappings *m, const struct mapping *new) {
  const struct mapping *at = mappings_at(m, new->start);
  return at && at->start == new->start && at->end == new->end && at->offset == new->offset &&
         !strcmp(at->path, new->path);
}

static void add(struct mappings *m, const struct mapping *new) {
  if (m->count == m->room) {
    m->room = m->room ? m->room * 2 : 64;
    m->list = reallocate(m->list, m->room, sizeof *m->list);
  }
  struct mapping *to = &m->list[m->count];
  *to = *new;
  to->path = print_string("%s", new->path);
  /* A file is read once, whichever of its parts came first. */
  const struct mapping *same = NULL;
  for (size_t i = 0; i < m->count && !same; i++)
    if (*to->path && !strcmp(m->list[i].path, to->path))
      same = &m->list[i];
  if (same) {
    memcpy(to->build_id, same->build_id, sizeof to->build_id);
    to->build_id_length = same->build_id_length;
  } else {
    find_build_id(m, to);
  }
  m->count++;
}

/* "START-END rwxp OFFSET DEVICE INODE   PATH" */
static bool parse(char *line, struct mapping *to) {
  char may[5];
  int at = 0;
  line[strcspn(line, "\n")] = 0;
  *to = (struct mapping){0};
  if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &to->start, &to->end, may,
             &to->offset, &at) != 4 ||
      at == 0 || may[2] != 'x')
    return false;
  to->path = line + at;
  return to->start < to->end;
}

size_t mappings_read(struct mappings *m) {
  char *path = print_string("/proc/%ld/maps", m->pid), *line = NULL;
  FILE *file = fopen(path, "re");
  size_t room = 0, before = m->count;
  struct mapping new;
  while (file && getline(&line, &room, file) > 0)
    if (parse(line, &new) && !is_known(m, &new))
      add(m, &new);
  if (file)
    fclose(file);
  free(line);
  free(path);
  return m->count - before;
}

const struct mapping *mappings_at(const struct mappings *m, uint64_t address) {
  for (size_t i = m->count; i > 0; i--)
    if (address >= m->list[i - 1].start && address < m->list[i - 1].end)
      return &m->list[i - 1];
  return NULL;
}
