/* Hazards to do with descriptors, directories and what the kernel permits. */
#define _GNU_SOURCE
#include "hazard.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned long close_all(void) {
  unsigned long sum = work(1);
  for (int fd = 3; fd < 4096; fd++)
    close(fd);
  for (unsigned i = 0; i < count; i++)
    must(work(1) == sum, "work");
  return sum;
}

/* Our numbers are taken by files of the program. */
static unsigned long take_all(void) {
  unsigned long sum = work(1);
  char name[] = "/tmp/hazard.XXXXXX";
  int file = mkstemp(name);
  must(file >= 0 && unlink(name) == 0, "mkstemp");
  for (int fd = 3; fd < 1000; fd++)
    if (fd != file)
      dup2(file, fd);
  for (unsigned i = 0; i < count; i++)
    must(work(1) == sum, "work");
  raise(SIGURG);
  struct stat st;
  must(fstat(file, &st) == 0, "fstat");
  return sum + (unsigned long)st.st_size;
}

/* A data file that happens to have the number of standard error. */
static int data_file = -1;
static void check_data(void) {
  struct stat st;
  if (fstat(data_file, &st) == 0)
    printf("data %ld\n", (long)st.st_size);
}

static unsigned long reuse_stderr(void) {
  char name[] = "/tmp/hazard.XXXXXX";
  close(2);
  data_file = mkstemp(name);
  must(data_file == 2 && unlink(name) == 0, "mkstemp");
  atexit(check_data);
  unsigned long sum = work(2);
  for (int fd = 3; fd < 1024; fd++)
    close(fd);
  return sum + work(2);
}

/* Every descriptor that the limit allows is the program's. */
static unsigned long all_descriptors(void) {
  struct rlimit limit = {24, 24};
  must(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
  unsigned long sum = work(1), opened = 0;
  while (open("/dev/null", O_RDONLY) >= 0)
    opened++;
  return sum + opened * 1000003 + work(1);
}

static unsigned long no_directory(void) {
  char name[] = "/tmp/hazard.XXXXXX";
  must(mkdtemp(name) != NULL && chdir(name) == 0 && rmdir(name) == 0, "mkdtemp");
  return work(2);
}

static unsigned long into_chroot(void) {
  char name[] = "/tmp/hazard.XXXXXX";
  unsigned long sum = count & 1 ? work(1) : 0;
  must(mkdtemp(name) != NULL && chdir(name) == 0, "mkdtemp");
  if (chroot(".") != 0)
    exit(77);
  rmdir(name);
  for (unsigned i = 0; i < count; i++)
    sum += work(1);
  return sum;
}

/* -- no file may grow ------------------------------------------------------------- */

static void limit_files(bool limited) {
  struct rlimit limit;
  must(getrlimit(RLIMIT_FSIZE, &limit) == 0, "getrlimit");
  limit.rlim_cur = limited ? 0 : limit.rlim_max;
  must(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
}

/* From before the first future on; standard error may be a file, too. */
static unsigned long no_files(void) {
  limit_files(true);
  unsigned long sum = 0;
  for (unsigned i = 0; i < count; i++)
    sum += work(1);
  limit_files(false);
  return sum;
}

/* The parent has a profile, its children can have none. */
static unsigned long no_files_in_child(void) {
  unsigned long sum = work(1);
  for (unsigned i = 0; i < count; i++) {
    pid_t child = fork();
    if (child == 0) {
      limit_files(true);
      _exit((int)(small_future(i) & 31));
    }
    int status;
    must(child > 0 && waitpid(child, &status, 0) == child, "waitpid");
    sum += (unsigned long)status;
  }
  return sum + work(1);
}

/* -- a filter that lets through what this program needs, and no more -------------- */

#define ALLOW(name)                                                                                \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void confine(unsigned otherwise, unsigned mask_call) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(read),
      ALLOW(write),
      ALLOW(exit_group),
      ALLOW(exit),
      ALLOW(rt_sigreturn),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, mask_call, 0, 1), /* of swapcontext */
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      ALLOW(brk),
      ALLOW(mmap),
      ALLOW(munmap),
      ALLOW(futex),
      ALLOW(newfstatat), /* of printf */
      ALLOW(ioctl),
      ALLOW(getrandom), /* of malloc */
      BPF_STMT(BPF_RET | BPF_K, otherwise),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "prctl");
  must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "seccomp");
}

static unsigned long confined(void) {
  unsigned long sum = work(1);
  confine(SECCOMP_RET_KILL_PROCESS, SYS_rt_sigprocmask);
  for (unsigned i = 0; i < count; i++)
    must(work(1) == sum, "work");
  return sum;
}

static unsigned long confined_errno(void) {
  confine(SECCOMP_RET_ERRNO | EPERM, SYS_rt_sigprocmask);
  unsigned long sum = work(1);
  for (unsigned i = 0; i < count; i++)
    must(work(1) == sum, "work");
  return sum;
}

/* Before the first future, which makes the profile. */
static unsigned long confined_early(void) {
  confine(SECCOMP_RET_KILL_PROCESS, SYS_rt_sigprocmask);
  unsigned long sum = work(1);
  for (unsigned i = 0; i < count; i++)
    must(work(1) == sum, "work");
  return sum;
}

/* Not even the mask of signals may be asked for; futures that were never seen before
   begin afterwards. */
static unsigned long confined_bare(void) {
  unsigned long sum = count & 1 ? work(1) : 0;
  confine(SECCOMP_RET_KILL_PROCESS, SYS_read);
  for (unsigned i = 0; i < count; i++)
    sum += work(1) + small_future(i);
  return sum;
}

/* The child's filter is not its parent's. */
static unsigned long confined_child(void) {
  unsigned long sum = work(1);
  pid_t child = fork();
  if (child == 0) {
    confine(SECCOMP_RET_KILL_PROCESS, SYS_read);
    unsigned long got = small_future(1);
    for (unsigned i = 0; i < count; i++)
      got += small_future(i) & 1;
    _exit(got != 0 ? 17 : 1);
  }
  int status;
  must(child > 0 && waitpid(child, &status, 0) == child, "waitpid");
  return sum + work(1) + (unsigned long)status;
}

const struct hazard file_hazards[] = {
    {"close-all", close_all, false},
    {"take-all", take_all, false},
    {"reuse-stderr", reuse_stderr, false},
    {"all-descriptors", all_descriptors, true},
    {"no-directory", no_directory, false},
    {"chroot", into_chroot, true},
    {"no-files", no_files, false},
    {"no-files-in-child", no_files_in_child, false},
    {"confined", confined, true},
    {"confined-errno", confined_errno, true},
    {"confined-early", confined_early, true},
    {"confined-bare", confined_bare, true},
    {"confined-child", confined_child, true},
    {NULL, NULL, false},
};
/* SPDX-License-Identifier: MIT */
