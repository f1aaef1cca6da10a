/*
 * What a kill at each instruction of the runtime would leave.
 *
 *     steps LIBRARY PROFILES OUT PROGRAM ARGUMENT...
 *
 * PROGRAM stops itself (int3) before and after what is looked at, when its profile is the only
 * file in PROFILES. In between it is stepped, and whenever an instruction of LIBRARY has changed
 * the profile, that is copied to OUT/NUMBER. Exits 97 where it could not be followed.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aprof/profile.h>

#include "../hazards/stepped.h"

static void resume(enum __ptrace_request how) {
  int status;
  if (ptrace(how, victim, NULL, NULL) != 0 || waitpid(victim, &status, 0) < 0)
    fail("ptrace");
  if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
    fail("no trap");
}

static unsigned long place(void) {
  struct user_regs_struct regs;
  if (ptrace(PTRACE_GETREGS, victim, NULL, &regs) != 0)
    fail("PTRACE_GETREGS");
  return regs.rip;
}

static bool at_mark(unsigned long rip) {
  errno = 0;
  long word = ptrace(PTRACE_PEEKTEXT, victim, (void *)rip, NULL);
  return errno == 0 && (word & 0xff) == 0xcc;
}

struct image {
  char *now, *before;
  size_t size; /* of what is used: the marks come when it grows no more */
};

static struct image map_profile(const char *directory) {
  DIR *all = opendir(directory);
  struct image image = {0};
  struct dirent *entry;
  while (all != NULL && (entry = readdir(all)) != NULL) {
    struct stat st;
    int fd = openat(dirfd(all), entry->d_name, O_RDONLY);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        (image.now = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0)) != MAP_FAILED)
      image.size = ((const struct aprof_header *)image.now)->used;
    close(fd);
  }
  if (image.now == NULL || image.now == MAP_FAILED || (image.before = malloc(image.size)) == NULL)
    fail(directory);
  memcpy(image.before, image.now, image.size);
  return image;
}

static void keep(struct image *image, const char *directory, unsigned number) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%04u", directory, number);
  FILE *file = fopen(path, "w");
  if (file == NULL || fwrite(image->now, image->size, 1, file) != 1 || fclose(file) != 0)
    fail(path);
  memcpy(image->before, image->now, image->size);
}

int main(int argc, char **argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: steps LIBRARY PROFILES OUT PROGRAM ARGUMENT...\n");
    return 97;
  }
  victim = fork();
  if (victim == 0) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    execv(argv[4], argv + 4);
    _exit(97);
  }
  int status;
  if (victim < 0 || waitpid(victim, &status, 0) < 0)
    fail("fork");
  resume(PTRACE_CONT);
  find_library(argv[1]);
  if (high == 0)
    fail("no library");
  struct image image = map_profile(argv[2]);
  unsigned changes = 0;
  for (unsigned long rip; !at_mark(rip = place());) {
    resume(PTRACE_SINGLESTEP);
    if (rip >= low && rip < high && memcmp(image.now, image.before, image.size) != 0)
      keep(&image, argv[3], changes++);
  }
  kill(victim, SIGKILL);
  return changes == 0 ? 97 : 0;
}
/* SPDX-License-Identifier: MIT */
