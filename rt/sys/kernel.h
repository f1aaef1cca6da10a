/* SPDX-License-Identifier: MIT */
/*
 * The kernel's calls without libc: sys_open does what open(2) does.
 *
 * Why: a program may define read, access or getenv itself, as ISO C allows, or have a
 * library that hooks them for its coroutines; the linker then gives it to us, and the program's
 * code runs in the middle of an event. So may a preloaded library, which can be over before the
 * program's last destructor. What libc alone can do (its threads' keys and cancellation, the
 * loader's list of modules, at_quick_exit) is still asked of it.
 *
 * What fails returns the negative error, and errno stays: it is not this thread's everywhere (in an
 * event, in a process in the program's memory), and never ours to change. Of those that return an
 * address sys_failed tells.
 * Cost: a system call. Locking: none; async-signal-safe.
 * Where the compiler or the kernel's interface is not known here, these are libc's own.
 */
#ifndef APROF_KERNEL_H
#define APROF_KERNEL_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

/* What only libc has, and calls of more than one step. */
#define OWN(name) __asm__("__aprof_own_" #name) __attribute__((visibility("hidden")))
char *sys_getenv(const char *name) OWN(getenv);
unsigned long sys_strtoul(const char *restrict text, char **restrict end, int base) OWN(strtoul);

/* result name (parameters): the call of that name with these arguments. */
#define SYS_CALLS(ROW)                                                                             \
  ROW(int, access, (const char *path, int mode), path, mode)                                       \
  ROW(int, close, (int fd), fd)                                                                    \
  ROW(int, fallocate, (int fd, int mode, off_t from, off_t size), fd, mode, from, size)            \
  ROW(int, fcntl, (int fd, int command, long argument), fd, command, argument)                     \
  ROW(int, flock, (int fd, int how), fd, how)                                                      \
  ROW(int, ftruncate, (int fd, off_t size), fd, size)                                              \
  ROW(uid_t, geteuid, (void))                                                                      \
  ROW(pid_t, getpid, (void))                                                                       \
  ROW(pid_t, getppid, (void))                                                                      \
  ROW(int, kill, (pid_t pid, int number), pid, number)                                             \
  ROW(int, madvise, (void *at, size_t size, int advice), at, size, advice)                         \
  ROW(int, memfd_create, (const char *name, unsigned flags), name, flags)                          \
  ROW(int, mkdir, (const char *path, mode_t mode), path, mode)                                     \
  ROW(void *, mmap, (void *at, size_t size, int rights, int flags, int fd, off_t from), at, size,  \
      rights, flags, fd, from)                                                                     \
  ROW(int, mprotect, (void *at, size_t size, int rights), at, size, rights)                        \
  ROW(void *, mremap, (void *at, size_t size, size_t wanted, int flags, void *to), at, size,       \
      wanted, flags, to)                                                                           \
  ROW(int, munmap, (void *at, size_t size), at, size)                                              \
  ROW(ssize_t, process_vm_readv,                                                                   \
      (pid_t pid, const struct iovec *to, unsigned long tos, const struct iovec *from,             \
       unsigned long froms, unsigned long flags),                                                  \
      pid, to, tos, from, froms, flags)                                                            \
  ROW(ssize_t, pwrite, (int fd, const void *from, size_t size, off_t at), fd, from, size, at)      \
  ROW(ssize_t, read, (int fd, void *to, size_t size), fd, to, size)                                \
  ROW(ssize_t, readlink, (const char *path, char *to, size_t size), path, to, size)                \
  ROW(int, sigaltstack, (const stack_t *mine, stack_t *old), mine, old)                            \
  ROW(int, statfs, (const char *path, struct statfs *fs), path, fs)                                \
  ROW(int, unlink, (const char *path), path)                                                       \
  ROW(ssize_t, write, (int fd, const void *from, size_t size), fd, from, size)

/* The call of that number, of up to six arguments. In line, for it is made inside events: a handler
   that comes meanwhile must find this library interrupted, and no tool may think that a buffer is
   the program's. */
#define sys_call(...) SYS_PADDED(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define SYS_PADDED(number, a, b, c, d, e, f, ...)                                                  \
  sys_call6(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

#if defined __x86_64__ && defined __LP64__
static inline __attribute__((always_inline)) long sys_call6(long number, long a, long b, long c,
                                                            long d, long e, long f) {
  register long fourth __asm__("r10") = d, fifth __asm__("r8") = e, sixth __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
}
#define SYS_pwrite SYS_pwrite64
#define SYS_CALL(result, name, parameters, ...)                                                    \
  static inline result sys_##name parameters {                                                     \
    return (result)sys_call(SYS_##name, ##__VA_ARGS__);                                            \
  }

static inline int sys_getrlimit(__rlimit_resource_t which, struct rlimit *limit) {
  return (int)sys_call(SYS_prlimit64, 0, which, NULL, limit);
}
static inline int sys_open(const char *path, int flags, mode_t mode) {
  return (int)sys_call(SYS_openat, AT_FDCWD, path, flags, mode);
}
char *sys_getcwd(char *to, size_t size) OWN(getcwd);
int sys_gethostname(char *to, size_t size) OWN(gethostname);
int sys_sigaction(int number, const struct sigaction *restrict new, struct sigaction *restrict old)
    OWN(sigaction);
int sys_sigfillset(sigset_t *set) OWN(sigfillset);
int sys_usleep(useconds_t us) OWN(usleep);
/* What handlers return to that are installed by it, and what the kernel knows of them. */
void sys_restorer(void) OWN(restorer);
#define KERNEL_RESTORER 0x04000000u
struct kernel_action {
  uint64_t handler, flags, restorer, mask;
};
#else
/* What libc returned, as the kernel does; errno as it was. */
static inline long sys_kept(long result, int before) {
  result = result == -1 ? -errno : result;
  errno = before;
  return result;
}
static inline long sys_call6(long number, long a, long b, long c, long d, long e, long f) {
  int before = errno;
  return sys_kept(syscall(number, a, b, c, d, e, f), before);
}
#define SYS_CALL(result, name, parameters, ...)                                                    \
  static inline result sys_##name parameters {                                                     \
    int before = errno;                                                                            \
    return (result)sys_kept((long)name(__VA_ARGS__), before);                                      \
  }
SYS_CALL(int, getrlimit, (__rlimit_resource_t which, struct rlimit *limit), which, limit)
SYS_CALL(int, open, (const char *path, int flags, mode_t mode), path, flags, mode)
#define sys_getcwd getcwd
#define sys_gethostname gethostname
#define sys_sigaction sigaction
#define sys_sigfillset sigfillset
#define sys_usleep usleep
#endif
SYS_CALLS(SYS_CALL)

/* Is that an error in place of an address? */
static inline bool sys_failed(const void *at) {
  return (uintptr_t)at > (uintptr_t)-4096;
}

/* The call that libc makes for fstat, so a filter for the program has it. */
static inline __attribute__((always_inline)) int sys_fstatat(int fd, const char *path, int flags,
                                                             struct stat *st) {
#ifdef SYS_newfstatat
  return (int)sys_call(SYS_newfstatat, fd, path, st, flags);
#else
  return fstatat(fd, path, st, flags);
#endif
}
static inline __attribute__((always_inline)) int sys_fstat(int fd, struct stat *st) {
  return sys_fstatat(fd, "", AT_EMPTY_PATH, st);
}

#undef OWN

/* The beginning of a file, as text; its length, 0 where there is none. Opens, reads and closes, as
   the loader has done before, and makes no other call. */
size_t sys_read_file(const char *path, char *to, size_t room) __attribute__((visibility("hidden")));

#endif
