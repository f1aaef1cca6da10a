/* SPDX-License-Identifier: MIT */
/*
 * Preloaded under callgrind, where a server takes fifty times as long as it would: the virtual
 * clock moves by so much at each call of the kernel, as it does on a processor. Else slices that
 * take 5 us would go by the general events, as those of over 50 us do.
 */
#define _GNU_SOURCE
#include <aprof.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CALL_NS = 2000, SLEEP_NS = 50000 };

static long stepped(uint64_t ns, long result) {
  aprof_clock_advance(ns);
  return result;
}

int epoll_pwait(int epoll, struct epoll_event *events, int most, int timeout,
                const sigset_t *mask) {
  long ready = syscall(SYS_epoll_pwait, epoll, events, most, timeout, mask, _NSIG / 8);
  return (int)stepped(timeout != 0 ? SLEEP_NS : CALL_NS, ready);
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout) {
  return epoll_pwait(epoll, events, most, timeout, NULL);
}

ssize_t read(int fd, void *buffer, size_t size) {
  return stepped(CALL_NS, syscall(SYS_read, fd, buffer, size));
}

ssize_t write(int fd, const void *buffer, size_t size) {
  return stepped(CALL_NS, syscall(SYS_write, fd, buffer, size));
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  return stepped(CALL_NS, syscall(SYS_sendmsg, fd, message, flags));
}
