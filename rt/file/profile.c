/* SPDX-License-Identifier: MIT */
/*
 * The profile file: where it lies, how its memory is reserved, backed and let go.
 *
 *   reserve   at attach: address space only, and a private header page, so that
 *             gates have a flag to test
 *   open      at the first future: the file, on tmpfs, mapped over the range
 *   commit    a piece at a time, before it is used: no page fault can fail later
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profile.h"

#include "clock.h"
#include "describe.h"
#include "room.h"
#include "rt/rt.h"
#include "rt/sys/barrier.h"
#include "rt/sys/confine.h"
#include "rt/sys/quiet.h"
#include "rt/sys/say.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x10
#endif
#define LEAST (1u << 20)
#define USUALLY (64u << 20)  /* where no option says how much */
#define FIRST (256u * 1024u) /* backed at once when it is made, ... */
#define STEP (32u * 1024u)   /* ... and when it grows: a longer pause would be noticed */

static bool too_little; /* the limits leave no room for the least profile */

bool profile_reserve(void) {
  uint64_t capacity = room_of_process(rt.options.memory ? rt.options.memory : USUALLY);
  too_little = capacity < LEAST;
  if (too_little) /* to be said once there is a future: profile_open */
    capacity = LEAST;
  char *base =
      sys_mmap(NULL, capacity, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (sys_failed(base))
    return false;
  if (sys_mprotect(base, APROF_HEADER_SIZE, PROT_READ | PROT_WRITE) != 0) {
    sys_munmap(base, capacity);
    return false;
  }
  rt.capacity = capacity;
  rt.header = (struct aprof_header *)base;
  rt.header->enabled = 1;
  rt.header->virtual_now = VIRTUAL_START;
  aprof_epoch_begins(rt.header, 1); /* of no thread: the first event comes to thread_sees */
  confine_watch();
  barrier_start();
  return true;
}

/* -- the file ------------------------------------------------------------------ */

/* A directory of ours alone. */
static bool usable_dir(const char *dir) {
  struct stat st;
  sys_mkdir(dir, 0700);
  if (sys_fstatat(AT_FDCWD, dir, AT_SYMLINK_NOFOLLOW, &st) != 0 || !S_ISDIR(st.st_mode) ||
      st.st_uid != sys_geteuid() || (st.st_mode & 022) != 0)
    return false;
  if ((st.st_mode & 0700) != 0700) /* a program's umask took it away, for all that come later */
    sys_call(SYS_fchmodat, AT_FDCWD, dir, 0700);
  return room_on_tmpfs(dir);
}

/* In a user namespace without a map each user is nobody, whose directory is another's. */
static bool is_nobody(void) {
  char map[8];
  return sys_geteuid() == 65534 && sys_access("/proc/self/uid_map", F_OK) == 0 &&
         sys_read_file("/proc/self/uid_map", map, sizeof map) == 0;
}

/* Once; a forked child need not say it again. */
static void say_memory(const char *why, const char *dir) {
  static bool said;
  if (!said)
    rt_say(why, dir);
  said = true;
}

#define INSTEAD ", using a memfd (nothing of it is left after a kill) instead of: "

static bool pick_dir(char *dir, size_t room) {
  const char *wanted = rt.options.profile;
  if (strcmp(wanted, "memfd") == 0 || getauxval(AT_SECURE)) /* its caller may fill no directory */
    return false;
  if (*wanted != '\0') {
    if (text_join(dir, room, wanted, NULL) && usable_dir(dir))
      return true;
    say_memory("the profile directory must be on tmpfs and writable by you alone" INSTEAD, wanted);
    return false;
  }
  bool nobody = is_nobody();
  const char *runtime = nobody ? NULL : sys_getenv("XDG_RUNTIME_DIR");
  if (runtime != NULL && *runtime == '/' && text_join(dir, room, runtime, "/aprof", NULL) &&
      room_on_tmpfs(runtime) && usable_dir(dir))
    return true;
  char user[24], number[24];
  text_number(user, sys_geteuid());
  for (unsigned i = 0; i < APROF_DIRECTORIES && !nobody; i++)
    if (text_join(dir, room, "/dev/shm/aprof-", user, i > 0 ? "." : "",
                  i > 0 ? text_number(number, i) : "", NULL) &&
        usable_dir(dir))
      return true;
  text_join(dir, room, "/dev/shm/aprof-", user, NULL);
  say_memory(
      "no directory on tmpfs is there for profiles that is yours alone (have removed what has the "
      "name, or give another by profile: in APROF_OPTIONS)" INSTEAD,
      dir);
  return false;
}

/* What is static from here on is so because the first future may be on a small stack; only one
   thread opens a profile. */

/* In a directory of its own; -1: nowhere. */
static int create_named(const struct aprof_header *h, const char *dir) {
  char name[65], pid[24], start[24], number[24];
  text_join(name, sizeof name, h->name, NULL);
  text_number(pid, (uint64_t)h->pid);
  text_number(start, h->start_time);
  for (unsigned attempt = 0; attempt < 100; attempt++) {
    const char *again = attempt > 0 ? text_number(number, attempt) : "";
    if (!text_join(rt.path, sizeof rt.path, dir, "/", name, "-", pid, "-", start,
                   attempt > 0 ? "." : "", again, ".aprof", NULL))
      break;
    int fd = sys_open(rt.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) {
      sys_call(SYS_fchmod, fd, 0600); /* whatever the umask */
      return fd;
    }
    if (fd != -EEXIST)
      break;
  }
  return -1;
}

/* The least that a profile needs. */
static bool begin_file(int fd, struct aprof_header *h, uint64_t capacity) {
  struct quiet quiet; /* another thread, or process, may set a limit meanwhile */
  h->capacity = capacity;
  quiet_begin(&quiet);
  bool ok = sys_ftruncate(fd, (off_t)capacity) == 0 && sys_fallocate(fd, 0, 0, FIRST) == 0 &&
            sys_pwrite(fd, h, sizeof *h, 0) == (ssize_t)sizeof *h;
  quiet_end(&quiet);
  if (ok)
    rt.capacity = capacity; /* what lies beyond it stays address space */
  return ok;
}

/* A directory may be full where memory is not. */
static int create_file(struct aprof_header *h) {
  static char dir[300];
  rt.path[0] = '\0';
  bool picked = pick_dir(dir, sizeof dir);
  uint64_t most = rt.options.memory ? rt.capacity : room_of_group(rt.capacity);
  most = most < LEAST ? LEAST : most;
  uint64_t share = picked ? room_in(dir, most) : 0;
  int fd = share >= LEAST ? create_named(h, dir) : -1;
  if (fd >= 0 && begin_file(fd, h, share))
    return fd;
  if (fd >= 0) {
    sys_unlink(rt.path);
    sys_close(fd);
  }
  rt.path[0] = '\0';
  fd = sys_memfd_create("aprof-profile", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd >= 0 && !begin_file(fd, h, most)) {
    sys_close(fd);
    return -1;
  }
  if (fd >= 0)
    sys_fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK); /* nobody takes the memory away that is mapped */
  if (fd >= 0 && picked && !rt.child)
    say_memory(share < LEAST ? "the profile directory is more than half full" INSTEAD
                             : "no profile can be made in the profile directory" INSTEAD,
               dir);
  return fd;
}

/* Out of the way of programs that count on low numbers, and of those that have few
   numbers at all: a profile with a name needs none. -1: it has none now. */
static int move_high(int fd) {
  struct rlimit limit;
  bool few = sys_getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 256;
  int high = few && rt.path[0] != '\0' ? -1 : sys_fcntl(fd, F_DUPFD_CLOEXEC, few ? 3 : 100);
  if (high < 0 && rt.path[0] == '\0')
    return fd;
  sys_close(fd);
  return high;
}

/* -- what the header says of the process ----------------------------------------- */

void profile_note_refused(struct aprof_header *h) {
  h->refused_abi = rt.refused.abi;
  memcpy(h->refused_name, rt.refused.name, sizeof h->refused_name);
  __atomic_store_n(&h->refused_modules, rt.refused.modules, __ATOMIC_RELEASE);
}

static void fill_header(struct aprof_header *h) {
  describe_process(h);
  h->version = APROF_PROFILE_VERSION;
  h->header_size = APROF_HEADER_SIZE;
  h->used = APROF_HEADER_SIZE;
  h->mapped_at = (uintptr_t)rt.header;
  clock_start(h);
  profile_note_refused(h);
  h->enabled = rt.options.enabled;
  h->epoch = h->usual = rt.header->epoch + 1;
  h->reset_epoch = h->epoch;
  h->log_over = UINT64_MAX;
  h->epochs[h->epoch % APROF_EPOCHS].begin_tick = h->tick0;
}

/* The pages change hands at once: a gate that tests its flag sees the old header or the
   new one, and what both have is the same. Asked of the kernel itself, since programs
   and their tools have an mmap of their own. */
static bool map_file(int fd) {
  return sys_call(SYS_mmap, rt.header, rt.capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                  fd, 0) >= 0;
}

/* By the kernel's own list. A tool such as valgrind keeps a list too, where a range that
   a child did not inherit is still taken. */
static bool nothing_lies_in(uintptr_t from, uintptr_t to) {
  static char text[512];
  uintptr_t bounds[2] = {0, 0}; /* of the line that is being read */
  int part = 0;                 /* 0 and 1: in a bound; 2: behind both */
  bool free = true;
  ssize_t n = 0;
  int fd = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
  while (fd >= 0 && free && (n = sys_read(fd, text, sizeof text)) > 0)
    for (char *c = text; c < text + n; c++) {
      if (*c == '\n') {
        free = free && (bounds[1] <= from || to <= bounds[0]);
        bounds[0] = bounds[1] = 0;
        part = 0;
      } else if (part < 2 && (*c == '-' || *c == ' ')) {
        part++;
      } else if (part < 2) {
        bounds[part] = bounds[part] * 16 + (uintptr_t)(*c <= '9' ? *c - '0' : *c - 'a' + 10);
      }
    }
  if (fd >= 0)
    sys_close(fd);
  return fd >= 0 && n == 0 && free;
}

/* Address space alone, where the profile lies behind its header. */
static long map_nothing(int fixed) {
  return sys_call(SYS_mmap, rt_base() + APROF_HEADER_SIZE, rt.capacity - APROF_HEADER_SIZE,
                  PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
}

/* A forked child has a hole where its parent's profile was, and the kernel may give it to
   whoever asks for memory. */
bool profile_keep_range(void) {
  if (!rt.hole)
    return true;
  uintptr_t from = (uintptr_t)rt_base() + APROF_HEADER_SIZE;
  uint64_t size = rt.capacity - APROF_HEADER_SIZE;
  /* Asked for, not forced: the kernel grants it where nothing lies there. */
  long got = map_nothing(0);
  if (got != (long)from) {
    if (got >= 0)
      sys_call(SYS_munmap, got, size);
    if (!nothing_lies_in(from, from + size) || map_nothing(MAP_FIXED) < 0)
      return false;
  }
  rt.hole = false;
  return true;
}

/* Valgrind makes a fork of what was to be a process in our memory. Memcheck would look for
   leaks in the whole profile, of which that process has nothing, a fault for each word. */
void profile_cover(void) {
  if (sys_madvise(rt_base() + APROF_HEADER_SIZE, APROF_PAGE, MADV_NORMAL) < 0)
    map_nothing(MAP_FIXED);
}

static void backed(uint64_t until) {
  rt.committed = until;
  __atomic_store_n(&rt.records, until / sizeof(struct aprof_future), __ATOMIC_RELAXED);
}

/* By the limit of now: the program, or the process that forked it, may have set one since the range
   was reserved. What lies beyond it stays address space. */
static bool fits_limit(void) {
  struct rlimit limit;
  if (too_little || sys_getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < LEAST)
    return false;
  if (rt.capacity > limit.rlim_cur)
    rt.capacity = limit.rlim_cur & ~(uint64_t)(APROF_PAGE - 1);
  return true;
}

bool profile_open(void) {
  static struct aprof_header fresh; /* rt.lock held by control_start */
  if (!fits_limit())
    return false;
  memset(&fresh, 0, sizeof fresh);
  fill_header(&fresh);
  int fd = create_file(&fresh);
  if (fd < 0)
    return false;
  struct stat st;
  if (sys_fstat(fd, &st) != 0)
    goto fail;
  sys_flock(fd, LOCK_EX | LOCK_NB);
  if (!map_file(fd))
    goto fail;
  if (getauxval(AT_SECURE)) /* the user who started it may look into it, not change it */
    sys_fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
  char *base = rt_base();
  /* The header stays with a child until it has its own: gates test its flag. */
  sys_madvise(base + APROF_HEADER_SIZE, rt.capacity - APROF_HEADER_SIZE, MADV_DONTFORK);
  rt.hole = true;
  sys_madvise(base, rt.capacity, MADV_DONTDUMP); /* core files are not for this */
  rt.fd = move_high(fd);
  rt.device = st.st_dev;
  rt.inode = st.st_ino;
  backed(FIRST);
  confine_opened();
  memcpy(rt.header->magic, APROF_PROFILE_MAGIC, sizeof rt.header->magic);
  return true;
fail:
  if (rt.path[0] != '\0')
    sys_unlink(rt.path);
  sys_close(fd);
  return false;
}

/* In a child the header is still its parent's, whose flag is not to be touched. */
void profile_none(void) {
  sys_call(SYS_mmap, rt.header, APROF_HEADER_SIZE, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  rt.header->enabled = 0;
  aprof_epoch_begins(rt.header, 1); /* which no thread is in */
}

bool profile_fd_ok(void) {
  struct stat st;
  return rt.fd >= 0 && sys_fstat(rt.fd, &st) == 0 && st.st_dev == rt.device &&
         st.st_ino == rt.inode;
}

int profile_reopen(void) {
  struct stat st;
  if (rt.path[0] == '\0')
    return -1;
  /* In the process that becomes the command: see rt/host/command.c on the C library's calls. */
  int fd = (int)sys_call(SYS_openat, AT_FDCWD, rt.path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && sys_fstat(fd, &st) == 0 && st.st_dev == rt.device && st.st_ino == rt.inode)
    return fd;
  if (fd >= 0)
    sys_call(SYS_close, fd);
  return -1;
}

bool profile_commit(uint64_t until) {
  uint64_t aside = __atomic_load_n(&rt.header->set_aside, __ATOMIC_ACQUIRE);
  if (until > rt.committed && aside > rt.committed && aside <= rt.capacity)
    backed(aside);
  if (until <= rt.committed)
    return true;
  if (is_confined())
    return false; /* what there is must do */
  uint64_t target = (until + STEP - 1) / STEP * STEP;
  if (target > rt.capacity)
    target = rt.capacity;
  struct rlimit limit;
  bool ok = sys_getrlimit(RLIMIT_FSIZE, &limit) == 0 && target <= limit.rlim_cur;
  /* The file has the pages from then on, and a first touch maps and clears one: all at once
     would hold the thread up for those too that may never be touched. Where the program
     closed our descriptor, the mapping itself can still grow. */
  if (ok && profile_fd_ok())
    ok = sys_fallocate(rt.fd, FALLOC_FL_KEEP_SIZE, (off_t)rt.committed,
                       (off_t)(target - rt.committed)) == 0;
  else if (ok)
    ok = sys_madvise(rt_base() + rt.committed, target - rt.committed, MADV_POPULATE_WRITE) == 0;
  if (ok)
    backed(target);
  return ok;
}

void profile_remove(void) {
  struct stat st;
  if (rt.path[0] != '\0' && sys_fstatat(AT_FDCWD, rt.path, AT_SYMLINK_NOFOLLOW, &st) == 0 &&
      st.st_dev == rt.device && st.st_ino == rt.inode)
    sys_call(SYS_unlinkat, AT_FDCWD, rt.path, 0);
}

/* In a child: the parent's file is not ours. The range and the header's flag stay
   readable until profile_open maps a new file there. */
void profile_abandon(void) {
  if (profile_fd_ok())
    sys_close(rt.fd);
  rt.fd = -1;
  rt.path[0] = '\0';
}

void profile_copy(struct profile_copy *copy) {
  copy->size = rt.committed;
  copy->at = NULL;
  if (!is_confined())
    copy->at =
        sys_mmap(NULL, copy->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (sys_failed(copy->at))
    copy->at = NULL;
  if (copy->at != NULL)
    memcpy(copy->at, rt_base(), copy->size);
}

void profile_copy_release(struct profile_copy *copy) {
  if (copy->at != NULL)
    sys_munmap(copy->at, copy->size);
}

/* The header is the parent's no longer, either. */
bool profile_copy_use(struct profile_copy *copy) {
  if (copy->at == NULL || sys_failed(sys_mremap(copy->at, copy->size, copy->size,
                                                MREMAP_MAYMOVE | MREMAP_FIXED, rt_base())))
    return false;
  rt.header->set_aside = 0; /* behind the copy is nothing */
  profile_abandon();
  return true;
}
