/*
 * What the kernel says of a file, asked without the C library.
 *
 * A preloaded library may have the C library's calls in its place, and be over before the
 * program's last destructor: libfaketime's stat crashes then. So what happens at exit, or in a
 * process that becomes the command, asks the kernel.
 * Cost: a system call. Locking: none; async-signal-safe. Errors: -1 and errno, as of fstatat(2).
 */
#ifndef APROF_PLAIN_H
#define APROF_PLAIN_H

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int plain_stat(int fd, const char *path, int flags, struct stat *st) {
#ifdef SYS_newfstatat
  return (int)syscall(SYS_newfstatat, fd, path, st, flags);
#else
  return fstatat(fd, path, st, flags);
#endif
}
static inline int plain_fstat(int fd, struct stat *st) {
  return plain_stat(fd, "", AT_EMPTY_PATH, st);
}

#endif
