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

enum { TMPFS = 0x01021994, DEPTH = 2 };

/* One walk: everything is reached from descriptors, so that a directory that is put in
   another's place meanwhile is not followed. */
struct walk {
  void (*visit)(const struct entry *, void *context);
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
    if (fd >= 0)
      walk_directory(walk, fd, entry->path, depth - 1);
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

/* A server that root starts may run as others: root asks for all of them. */
static void walk_shared(struct walk *walk) {
  static const char shared[] = "/dev/shm", prefix[] = "aprof-";
  DIR *directory = geteuid() == 0 ? opendir(shared) : NULL;
  for (struct dirent *item; directory && (item = readdir(directory));) {
    uint64_t uid;
    if (strncmp(item->d_name, prefix, sizeof prefix - 1) ||
        !parse_number(item->d_name + sizeof prefix - 1, &uid) || uid >= (uid_t)-1 || uid == 0)
      continue;
    char *path = print_string("%s/%s", shared, item->d_name);
    walk_default(walk, path, (uid_t)uid);
    free(path);
  }
  if (directory)
    closedir(directory);
  char *path = print_string("%s/%s%u", shared, prefix, (unsigned)geteuid());
  walk_default(walk, path, geteuid());
  free(path);
}

bool find_all(const char *directory, void (*visit)(const struct entry *, void *context),
              void *context) {
  struct walk walk = {.visit = visit, .context = context, .whole = true};
  if (directory) {
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
static bool is_usable(const char *path) {
  struct stat st;
  struct statfs fs;
  if (mkdir(path, 0700) && errno != EEXIST)
    return false;
  if (lstat(path, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
    return false;
  if (st.st_mode != (S_IFDIR | 0700)) /* a umask took it away, for all that come later */
    chmod(path, 0700);
  return statfs(path, &fs) == 0 && fs.f_type == TMPFS;
}

char *profile_directory(void) {
  const char *runtime = getenv("XDG_RUNTIME_DIR");
  if (runtime && runtime[0] == '/') {
    char *path = print_string("%s/aprof", runtime);
    if (is_usable(path))
      return path;
    free(path);
  }
  char *path = print_string("/dev/shm/aprof-%u", (unsigned)geteuid());
  if (is_usable(path))
    return path;
  free(path);
  return NULL;
}
