/* SPDX-License-Identifier: MIT */
/* What a process, its machine and a directory leave a profile of their memory; see room.h. */
#include <linux/magic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/vfs.h>

#include "room.h"

#include "rt/rt.h"
#include "rt/sys/bytes.h"

#define PAGES(bytes) ((bytes) & ~(uint64_t)(APROF_PAGE - 1))

/* Bytes of address space the process may still take, by its own limit. */
static uint64_t address_space_left(void) {
  struct rlimit limit;
  if (sys_getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return UINT64_MAX;
  char text[64];
  sys_read_file("/proc/self/statm", text, sizeof text);
  uint64_t used = sys_strtoul(text, NULL, 10) * getauxval(AT_PAGESZ);
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

uint64_t room_of_process(uint64_t wanted) {
  uint64_t left = address_space_left();
  struct rlimit limit;
  if (left != UINT64_MAX && wanted > left / 8)
    wanted = left / 8; /* the program's memory comes first */
  if (sys_getrlimit(RLIMIT_FSIZE, &limit) == 0 && wanted > limit.rlim_cur)
    wanted = limit.rlim_cur;
  return PAGES(wanted);
}

/* -- control groups ---------------------------------------------------------------- */

/* The least limit of a group and those that it lies in; `group` is shortened to nothing. */
static uint64_t limit_of_group(const char *mount, char *group, const char *file) {
  static char path[1024], text[32];
  uint64_t least = UINT64_MAX;
  for (;;) {
    if (text_join(path, sizeof path, mount, group, file, NULL) &&
        sys_read_file(path, text, sizeof text) > 0 && text[0] >= '0' && text[0] <= '9') {
      uint64_t limit = sys_strtoul(text, NULL, 10);
      least = limit < least ? limit : least;
    }
    char *last = strrchr(group, '/');
    if (last == NULL)
      return least;
    *last = '\0';
  }
}

/* Of a line of /proc/self/cgroup, "0::/group" or "4:memory:/group": its limit. */
static uint64_t limit_of_line(char *line) {
  char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
  if (group == NULL)
    return UINT64_MAX;
  *group++ = '\0';
  group += strcmp(group, "/") == 0; /* the root has no name of its own */
  if (controllers[1] == '\0')
    return limit_of_group("/sys/fs/cgroup", group, "/memory.max");
  if (strcmp(controllers + 1, "memory") == 0)
    return limit_of_group("/sys/fs/cgroup/memory", group, "/memory.limit_in_bytes");
  return UINT64_MAX;
}

uint64_t room_of_group(uint64_t wanted) {
  static char text[2048];
  uint64_t least = UINT64_MAX;
  sys_read_file("/proc/self/cgroup", text, sizeof text);
  for (char *line = text, *end; *line != '\0'; line = end) {
    end = strchr(line, '\n');
    if (end == NULL)
      break;
    *end++ = '\0';
    uint64_t limit = limit_of_line(line);
    least = limit < least ? limit : least;
  }
  return wanted > least / 4 ? PAGES(least / 4) : wanted;
}

/* -- directories --------------------------------------------------------------------- */

uint64_t room_in(const char *dir, uint64_t wanted) {
  struct statfs fs;
  if (sys_statfs(dir, &fs) != 0 || fs.f_blocks == 0) /* no limit, or none that is told */
    return wanted;
  if (fs.f_bavail < fs.f_blocks / 2)
    return 0;
  uint64_t share = PAGES((uint64_t)fs.f_bsize * fs.f_blocks / 4);
  return share < wanted ? share : wanted;
}

bool room_on_tmpfs(const char *dir) {
  struct statfs fs;
  return sys_statfs(dir, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}
