/* SPDX-License-Identifier: MIT */
/*
 * What the kernel says, of a file or otherwise, asked without the C library.
 *
 * For what kernel.h has no name for, or where errno is not this thread's: in an event, at exit, in
 * a process in the program's memory. Cost: a system call. Locking: none; async-signal-safe. Errors:
 * not 0, or negative; errno stays.
 */
#ifndef APROF_RT_RAW_H
#define APROF_RT_RAW_H

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In line, for it is made inside events: a handler that comes meanwhile must find this
   library interrupted, and no tool may think that the buffer is the program's. */
static inline __attribute__((always_inline)) long raw_call6(long number, long a, long b, long c,
                                                            long d, long e, long f) {
#if defined __x86_64__
  register long fourth __asm__("r10") = d, fifth __asm__("r8") = e, sixth __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
#else
  int saved = errno;
  long result = syscall(number, a, b, c, d, e, f);
  errno = saved;
  return result;
#endif
}
static inline __attribute__((always_inline)) long raw_call(long number, long a, long b, long c,
                                                           long d) {
  return raw_call6(number, a, b, c, d, 0, 0);
}

/* The call that libc makes for fstat, so a filter for the program has it. */
static inline __attribute__((always_inline)) int raw_stat(int fd, const char *path, int flags,
                                                          struct stat *st) {
#ifdef SYS_newfstatat
  return (int)raw_call(SYS_newfstatat, fd, (long)path, (long)st, flags);
#else
  return fstatat(fd, path, st, flags);
#endif
}
static inline __attribute__((always_inline)) int raw_fstat(int fd, struct stat *st) {
  return raw_stat(fd, "", AT_EMPTY_PATH, st);
}

#endif
