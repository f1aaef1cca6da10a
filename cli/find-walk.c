/* SPDX-License-Identifier: MIT */
/* Directories of profiles; see find.h. */
#include "cli.h"
#include "find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { TMPFS = 0x01021994, DEPTH = 3 };

/* One walk: everything is reached from descriptors, so that a directory that is put in
   another's place meanwhile is not followed. */
struct walk {
  void (*visit)(const struct entry *, void *context);
  find_leave leave; /* NULL: none */
  void *context;
  bool whole; /* nothing was left out */
};

bool is_profile_name(const char *path) {
  static const char end[] = ".aprof";
  size_t length = strlen(path);
  return length >= sizeof end && !strcmp(path + length - (sizeof end - 1), end);
}

static void leave_out(struct walk *walk, const char *path, const char *why) {
  complain("%s is left alone: %s", path, why);
  walk->whole = false;
}

/* What the runtime makes is a file of the directory's owner. */
static void visit_file(struct walk *walk, const struct stat *directory, const struct stat *st,
                       const struct entry *entry) {
  if (S_ISLNK(st->st_mode))
    leave_out(walk, entry->path, "it is a symbolic link, which no profile is");
  else if (!S_ISREG(st->st_mode))
    leave_out(walk, entry->path, "it is not a regular file, as every profile is");
  else if (st->st_uid != directory->st_uid)
    leave_out(walk, entry->path, "it is not the file of the directory's owner");
  else
    walk->visit(entry, walk->context);
}

static void walk_directory(struct walk *walk, int fd, const char *name, int depth);

static void visit_entry(struct walk *walk, const struct stat *directory, const struct entry *entry,
                        int depth) {
  struct stat st;
  if (fstatat(entry->directory, entry->name, &st, AT_SYMLINK_NOFOLLOW))
    return;
  if (is_profile_name(entry->name))
    visit_file(walk, directory, &st, entry);
  else if (S_ISDIR(st.st_mode) && depth > 1 && !strncmp(entry->name, "run-", 4) &&
           st.st_uid == directory->st_uid) {
    int fd = openat(entry->directory, entry->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int again = fd >= 0 && walk->leave ? dup(fd) : -1;
    if (fd >= 0)
      walk_directory(walk, fd, entry->path, depth - 1);
    if (again >= 0) {
      walk->leave(entry, again, st.st_mtim.tv_sec, walk->context);
      close(again);
    }
  }
}

/* Takes the descriptor. */
static void walk_directory(struct walk *walk, int fd, const char *name, int depth) {
  struct stat st;
  DIR *directory = fdopendir(fd);
  if (!directory || fstat(fd, &st)) {
    if (!directory)
      close(fd);
    else
      closedir(directory);
    return;
  }
  for (struct dirent *item; (item = readdir(directory));) {
    if (item->d_name[0] == '.')
      continue;
    char *path = print_string("%s/%s", name, item->d_name);
    visit_entry(walk, &st, &(struct entry){.directory = fd, .name = item->d_name, .path = path},
                depth);
    free(path);
  }
  closedir(directory);
}

/* The places where profiles go by themselves are names that anybody may have taken
   before their owner. Nobody has them is no fault. */
static void walk_default(struct walk *walk, const char *name, uid_t owner) {
  int fd = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat st;
  if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
    leave_out(walk, name, "it is no directory, which it should be; remove it");
  else if (fd < 0 && errno != ENOENT)
    leave_out(walk, name, strerror(errno));
  if (fd < 0)
    return;
  const char *wrong =
      fstat(fd, &st)            ? strerror(errno)
      : st.st_uid != owner      ? "it is another user's; it should be its user's alone (0700)"
      : (st.st_mode & 022) != 0 ? "others may write to it; it should be its user's alone (0700)"
                                : NULL;
  if (wrong) {
    leave_out(walk, name, wrong);
    close(fd);
    return;
  }
  walk_directory(walk, fd, name, DEPTH);
}

/* "/dev/shm/aprof-UID", or the N-th beside it. */
static char *shared_directory(uid_t uid, unsigned number) {
  return number ? print_string("/dev/shm/aprof-%u.%u", (unsigned)uid, number)
                : print_string("/dev/shm/aprof-%u", (unsigned)uid);
}

static void walk_user(struct walk *walk, uid_t uid) {
  for (unsigned i = 0; i < APROF_DIRECTORIES; i++) {
    char *path = shared_directory(uid, i);
    walk_default(walk, path, uid);
    free(path);
  }
}

/* A server that root starts may run as others: root asks for all of them. */
static void walk_shared(struct walk *walk) {
  static const char prefix[] = "aprof-";
  DIR *directory = geteuid() == 0 ? opendir("/dev/shm") : NULL;
  for (struct dirent *item; directory && (item = readdir(directory));) {
    char *end = item->d_name;
    if (strncmp(end, prefix, sizeof prefix - 1))
      continue;
    end += sizeof prefix - 1;
    unsigned long uid = *end >= '1' && *end <= '9' ? strtoul(end, &end, 10) : 0;
    if (uid == 0 || uid >= (uid_t)-1 || (*end && *end != '.'))
      continue;
    char *path = print_string("/dev/shm/%s", item->d_name);
    walk_default(walk, path, (uid_t)uid);
    free(path);
  }
  if (directory)
    closedir(directory);
  walk_user(walk, geteuid());
}

bool find_all(const char *directory, void (*visit)(const struct entry *, void *context),
              find_leave leave, void *context) {
  struct walk walk = {.visit = visit, .leave = leave, .context = context, .whole = true};
  if (directory) {
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) /* of a run: nothing is left in it, and others tidy up */
      return true;
    if (fd < 0) {
      complain("cannot look into %s: %s", directory, strerror(errno));
      return false;
    }
    walk_directory(&walk, fd, directory, DEPTH);
    return walk.whole;
  }
  const char *runtime = getenv("XDG_RUNTIME_DIR");
  if (runtime && runtime[0] == '/') {
    char *path = print_string("%s/aprof", runtime);
    walk_default(&walk, path, geteuid());
    free(path);
  }
  walk_shared(&walk);
  return walk.whole;
}

/* Ours alone, and in memory: what the runtime asks of the place, too. */
const char *directory_fault(const char *path) {
  struct stat st;
  struct statfs fs;
  if (mkdir(path, 0700) && errno != EEXIST)
    return strerror(errno);
  if (lstat(path, &st))
    return strerror(errno);
  if (!S_ISDIR(st.st_mode))
    return "it is no directory";
  if (st.st_uid != geteuid())
    return "it is another user's";
  if (st.st_mode & 022)
    return "others may write to it";
  if ((st.st_mode & 0700) != 0700) /* a umask took it away, for all that come later */
    chmod(path, 0700);
  return statfs(path, &fs) || fs.f_type != TMPFS ? "it is not in memory (tmpfs)" : NULL;
}

char *profile_directory(void) {
  const char *runtime = getenv("XDG_RUNTIME_DIR"), *fault = NULL;
  char *path = runtime && runtime[0] == '/' ? print_string("%s/aprof", runtime) : NULL;
  if (path && !directory_fault(path))
    return path;
  for (unsigned i = 0; i < APROF_DIRECTORIES; i++) {
    free(path);
    path = shared_directory(geteuid(), i);
    const char *wrong = directory_fault(path);
    fault = i ? fault : wrong;
    if (!wrong)
      break;
    if (i + 1 == APROF_DIRECTORIES) {
      free(path);
      path = NULL;
    }
  }
  if (fault) {
    char *first = shared_directory(geteuid(), 0);
    complain("%s is no place for profiles: %s; %sname a directory of yours on tmpfs by "
             "--options=profile:DIR. They go to %s",
             first, fault, access(first, F_OK) ? "" : "have it removed, or ",
             path ? path : "memory, and are lost if a process is killed");
    free(first);
  }
  return path;
}
