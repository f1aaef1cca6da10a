/* SPDX-License-Identifier: MIT */
/* Where a breakpoint instruction goes; see uprobe.h. */
#include "uprobe.h"

#include "read/util.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t type_of_events(void) {
  size_t length;
  char *text = read_text_file("/sys/bus/event_source/devices/uprobe/type", 64 << 10, &length);
  long type = text ? strtol(text, NULL, 10) : 0;
  free(text);
  return type > 0 && type < INT32_MAX ? (uint32_t)type : 0;
}

/* The file itself, were it another one's by now or none; where that may not be asked, what has its
   name. */
static char *file_of(long pid, uint64_t begin, uint64_t end, const char *path) {
  char *file = print_string("/proc/%ld/map_files/%" PRIx64 "-%" PRIx64, pid, begin, end);
  if (access(file, R_OK) == 0)
    return file;
  free(file);
  return print_string("/proc/%ld/root%.*s", pid, (int)strcspn(path, "\n"), path);
}

/* The file of a line of maps, if the address lies there; NULL. */
static char *file_in(long pid, const char *line, uint64_t address, uint64_t *offset) {
  uint64_t begin, end, at;
  char mode[5];
  int path = 0;
  if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &begin, &end, mode, &at,
             &path) < 4 ||
      address < begin || address >= end || path == 0 || line[path] != '/')
    return NULL;
  *offset = address - begin + at;
  return file_of(pid, begin, end, line + path);
}

bool uprobe_find(long pid, uint64_t address, struct uprobe *u) {
  *u = (struct uprobe){.type = type_of_events()};
  errno = ENODEV;
  if (u->type == 0)
    return false;
  char *maps = print_string("/proc/%ld/maps", pid), *line = NULL;
  size_t room = 0;
  FILE *file = fopen(maps, "re");
  int error = file ? EFAULT : errno;
  while (file && !u->file && getline(&line, &room, file) > 0)
    u->file = file_in(pid, line, address, &u->offset);
  if (file)
    fclose(file);
  free(line);
  free(maps);
  errno = error;
  return u->file != NULL;
}
