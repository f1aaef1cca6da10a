/* SPDX-License-Identifier: MIT */
/* Where profiles are; see find.h. */
#include "find.h"

#include "cli.h"
#include "read/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

bool find_is_stopped(long pid) {
  char line[1024];
  const char *state = process_stat(pid, line, sizeof line);
  return state && (*state == 'T' || *state == 't');
}

/* The number that the process has in its own PID namespace, the innermost. */
static long own_number(long pid) {
  char path[64], line[512];
  long number = 0;
  snprintf(path, sizeof path, "/proc/%ld/status", pid);
  FILE *file = fopen(path, "re");
  while (file && number == 0 && fgets(line, sizeof line, file))
    if (!strncmp(line, "NSpid:", 6)) {
      const char *last = strrchr(line, '\t');
      number = last ? strtol(last + 1, NULL, 10) : 0;
    }
  if (file)
    fclose(file);
  return number;
}

/* One that could not tell when it was started, in a chroot, is known by its number. */
static bool is_of(const struct aprof_header *header, long pid) {
  return header->start_time ? header->start_time == process_start(pid)
                            : header->pid == own_number(pid);
}

/* 1: the process maps this file; 0: it does not; -1: we may not know. */
static int is_mapped(long pid, const struct stat *st) {
  char path[64], *line = NULL;
  size_t room = 0;
  snprintf(path, sizeof path, "/proc/%ld/maps", pid);
  FILE *file = fopen(path, "re");
  if (!file)
    return errno == ENOENT ? 0 : -1;
  int mapped = 0;
  while (!mapped && getline(&line, &room, file) > 0) {
    unsigned major_number, minor_number;
    unsigned long inode;
    if (sscanf(line, "%*s %*s %*s %x:%x %lu", &major_number, &minor_number, &inode) == 3)
      mapped = inode == st->st_ino && makedev(major_number, minor_number) == st->st_dev;
  }
  free(line);
  fclose(file);
  return mapped;
}

static bool is_locked(int fd) {
  /* A lock of our own descriptor (dump --fd inherits the runtime's) is no
     stranger's, so it is looked at through a fresh one. */
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  int fresh = open(path, O_RDONLY | O_CLOEXEC);
  if (fresh < 0)
    return false;
  bool locked = flock(fresh, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
  close(fresh);
  return locked;
}

enum profile_state profile_state(int fd, const struct aprof_header *header) {
  struct stat st;
  if (fstat(fd, &st))
    return PROFILE_LEFT;
  if (clock_same_boot(header) && header->pid > 0 && is_of(header, header->pid)) {
    int mapped = is_mapped(header->pid, &st);
    if (mapped > 0 || (mapped < 0 && is_locked(fd)))
      return PROFILE_LIVE;
  }
  return is_locked(fd) ? PROFILE_BUSY : PROFILE_LEFT;
}

/* `flags`: O_NOFOLLOW, but for the links in /proc/PID/fd. */
static int open_profile(int directory, const char *name, bool writable, int flags) {
  int fd = open_regular(directory, name, O_RDWR | flags);
  if (fd < 0 && !writable && (errno == EACCES || errno == EROFS || errno == EPERM))
    fd = open_regular(directory, name, O_RDONLY | flags);
  return fd;
}

bool find_entry(const struct entry *entry, bool writable, struct found *found) {
  const char *path = entry->path;
  *found = (struct found){.fd = open_profile(entry->directory, entry->name, writable, O_NOFOLLOW)};
  if (found->fd < 0) {
    complain("cannot open %s: %s", path, open_fault(errno));
    return false;
  }
  struct aprof_header header;
  if (!profile_read_header(found->fd, path, &header, false)) {
    close(found->fd);
    return false;
  }
  found->path = print_string("%s", path);
  found->what = print_string("%s", path);
  found->state = profile_state(found->fd, &header);
  return true;
}

bool find_unreadable(const struct entry *entry, struct found *found, enum profile_kind *kind) {
  int fd = open_profile(entry->directory, entry->name, false, O_NOFOLLOW);
  if (fd < 0)
    return false;
  *kind = profile_kind(fd);
  if (*kind != PROFILE_OTHER_VERSION && *kind != PROFILE_UNFINISHED) {
    close(fd);
    return false;
  }
  *found = (struct found){.fd = fd,
                          .path = print_string("%s", entry->path),
                          .what = print_string("%s", entry->path),
                          .state = is_locked(fd) ? PROFILE_LIVE : PROFILE_LEFT};
  return true;
}

bool find_file(const char *path, bool writable, struct found *found) {
  return find_entry(&(struct entry){.directory = AT_FDCWD, .name = path, .path = path}, writable,
                    found);
}

/* Whether `fd` is the profile that process `pid` writes now. */
static bool belongs(int fd, long pid) {
  struct aprof_header header;
  struct stat st;
  if (fstat(fd, &st) || !profile_read_header(fd, "", &header, true))
    return false;
  return is_of(&header, pid) && is_mapped(pid, &st) != 0;
}

/* The profile among the open files of a process: right whatever directory or
   memfd it was put in. */
static bool find_descriptor(long pid, bool writable, struct found *found) {
  char path[PATH_MAX], target[PATH_MAX];
  snprintf(path, sizeof path, "/proc/%ld/fd", pid);
  DIR *directory = opendir(path);
  if (!directory)
    return false;
  struct dirent *entry;
  bool done = false;
  while (!done && (entry = readdir(directory))) {
    snprintf(path, sizeof path, "/proc/%ld/fd/%s", pid, entry->d_name);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0)
      continue;
    target[length] = 0;
    bool memfd = !strncmp(target, "/memfd:", 7);
    if (!memfd && !is_profile_name(target))
      continue;
    int fd = open_profile(AT_FDCWD, path, writable, 0);
    if (fd < 0)
      continue;
    if (!belongs(fd, pid)) {
      close(fd);
      continue;
    }
    *found = (struct found){.fd = fd, .path = memfd ? NULL : print_string("%s", target)};
    done = true;
  }
  closedir(directory);
  return done;
}

struct search {
  long pid;
  bool writable;
  struct found *found;
  bool done;
};

static void visit_pid(const struct entry *entry, void *context) {
  struct search *search = context;
  if (search->done)
    return;
  int fd = open_profile(entry->directory, entry->name, search->writable, O_NOFOLLOW);
  if (fd < 0)
    return;
  if (!belongs(fd, search->pid)) {
    close(fd);
    return;
  }
  *search->found = (struct found){.fd = fd, .path = print_string("%s", entry->path)};
  search->done = true;
}

/* One that is linked as an archive has no name. */
static bool has_runtime(long pid) {
  char path[64], *line = NULL;
  size_t room = 0;
  bool found = false;
  snprintf(path, sizeof path, "/proc/%ld/maps", pid);
  FILE *maps = fopen(path, "re");
  while (maps && !found && getline(&line, &room, maps) > 0)
    found = strstr(line, "/libaprof.so") != NULL;
  if (maps)
    fclose(maps);
  free(line);
  return found;
}

bool find_process(long pid, bool writable, struct found *found) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld", pid);
  if (access(path, F_OK)) {
    complain("there is no process %ld; `aprof list` shows what it may have left", pid);
    return false;
  }
  struct search search = {.pid = pid, .writable = writable, .found = found};
  if (!find_descriptor(pid, writable, found)) {
    find_all(NULL, visit_pid, NULL, &search);
    if (!search.done) {
      snprintf(path, sizeof path, "/proc/%ld/fd", pid);
      if (access(path, R_OK | X_OK))
        complain("process %ld is another user's; ask as that user, or as root", pid);
      else
        complain(has_runtime(pid)
                     ? "process %ld has made no future yet: it has the runtime, and a profile from "
                       "its first future on"
                     : "process %ld has no profile: it is not profiled, or has made no future yet",
                 pid);
      return false;
    }
  }
  found->what = print_string("process %ld", pid);
  found->pid = pid;
  found->state = PROFILE_LIVE;
  return true;
}

void found_release(struct found *found) {
  close(found->fd);
  free(found->path);
  free(found->what);
}

/* -- all that live ----------------------------------------------------------------- */

static bool is_ours(long pid) {
  char path[64];
  struct stat st;
  snprintf(path, sizeof path, "/proc/%ld", pid);
  return stat(path, &st) == 0 && (st.st_uid == geteuid() || geteuid() == 0);
}

void find_live(void (*visit)(struct found *, void *context), void *context) {
  DIR *directory = opendir("/proc");
  struct dirent *entry;
  while (directory && (entry = readdir(directory))) {
    uint64_t pid;
    struct found found;
    if (!parse_number(entry->d_name, &pid) || pid == 0 || pid > INT_MAX || !is_ours((long)pid) ||
        !find_descriptor((long)pid, false, &found))
      continue;
    found.what = print_string("process %ld", (long)pid);
    found.pid = (long)pid;
    found.state = PROFILE_LIVE;
    visit(&found, context);
    found_release(&found);
  }
  if (directory)
    closedir(directory);
}
