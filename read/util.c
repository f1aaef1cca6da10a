/* SPDX-License-Identifier: MIT */
/* Messages, memory and small readers; see util.h. */
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static bool silent;

void complain_never(bool never) {
  silent = never;
}

void complain(const char *format, ...) {
  if (silent)
    return;
  char line[4096];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  /* One write: several processes may complain to one terminal at once. */
  fflush(stdout);
  fprintf(stderr, "aprof: %s\n", line);
}

static void out_of_memory(void) {
  complain("out of memory; free some, or raise the limit set by ulimit -v");
  exit(CLI_FAILED);
}

void *allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size ? size : 1);
  if (!memory)
    out_of_memory();
  return memory;
}

void *reallocate(void *old, size_t count, size_t size) {
  void *memory = reallocarray(old, count ? count : 1, size);
  if (!memory)
    out_of_memory();
  return memory;
}

char *print_list(const char *format, va_list arguments) {
  char *text = NULL;
  if (vasprintf(&text, format, arguments) < 0)
    out_of_memory();
  return text;
}

char *print_string(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = print_list(format, arguments);
  va_end(arguments);
  return text;
}

const char *turn_text(const char *format, ...) {
  static char *turns[TURNS];
  static unsigned next;
  va_list arguments;
  va_start(arguments, format);
  char *text = print_list(format, arguments), **turn = &turns[next++ % TURNS];
  va_end(arguments);
  free(*turn); /* not before: it may be one of the arguments */
  return *turn = text;
}

const char *place_text(const char *file, uint64_t line) {
  return !file ? "?" : line ? turn_text("%s:%" PRIu64, file, line) : file;
}

const char *base_name(const char *path) {
  const char *slash = path ? strrchr(path, '/') : NULL;
  return slash ? slash + 1 : path;
}

char *shell_word(const char *text) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=,-";
  bool simple = !text[strspn(text, plain)];
  return simple || strchr(text, '\'') ? print_string("%s", text) : print_string("'%s'", text);
}

char *from_here(const char *path) {
  char *here = getcwd(NULL, 0);
  size_t length = here ? strlen(here) : 0;
  bool below = length > 1 && !strncmp(path, here, length) && path[length] == '/';
  free(here);
  return shell_word(below ? path + length + 1 : path);
}

int open_regular(int directory, const char *path, int flags) {
  char self[64];
  struct stat st;
  /* O_PATH opens nothing: no device is touched, no pipe waited for, and what was looked
     at is what is then opened. */
  bool follow = !(flags & O_NOFOLLOW);
  int place = openat(directory, path, O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW)), fd = -1;
  if (place < 0)
    return -1;
  int error = fstat(place, &st)     ? errno
              : S_ISREG(st.st_mode) ? 0
              : S_ISLNK(st.st_mode) ? ELOOP
              : S_ISDIR(st.st_mode) ? EISDIR
                                    : EINVAL;
  if (!error) {
    snprintf(self, sizeof self, "/proc/self/fd/%d", place);
    fd = open(self, (flags & ~O_NOFOLLOW) | O_CLOEXEC | O_NOCTTY);
    error = errno;
  }
  close(place);
  errno = error;
  return fd;
}

const char *open_fault(int error) {
  switch (error) {
  case ELOOP:
    return "it is a symbolic link; name the file itself";
  case EINVAL:
    return "it is not a regular file";
  default:
    return strerror(error);
  }
}

char *read_stream(int fd, size_t limit, size_t *length) {
  struct stat st;
  size_t room = 65536, done = 0;
  int error = 0;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (size_t)st.st_size <= limit)
    room = (size_t)st.st_size + 2; /* so that its end is seen without more room */
  char *text = allocate(room, 1);
  for (;;) {
    ssize_t got = read(fd, text + done, room - 1 - done);
    if (got == 0 || (got < 0 && errno != EINTR))
      error = got ? errno : 0;
    if (got == 0 || error)
      break;
    done += got > 0 ? (size_t)got : 0;
    if (done > limit && (error = EFBIG))
      break;
    if (done == room - 1)
      text = reallocate(text, room *= 2, 1);
  }
  text[done] = 0;
  *length = done;
  if (!error)
    return text;
  free(text);
  errno = error;
  return NULL;
}

char *read_text_file(const char *path, size_t limit, size_t *length) {
  struct stat st;
  int fd = open_regular(AT_FDCWD, path, O_RDONLY);
  if (fd < 0)
    return NULL;
  bool small = fstat(fd, &st) || (uint64_t)st.st_size <= limit;
  char *text = small ? read_stream(fd, limit, length) : NULL;
  int error = small ? errno : EFBIG;
  close(fd);
  errno = error;
  return text;
}

bool parse_number(const char *text, uint64_t *value) {
  if (*text < '0' || *text > '9')
    return false;
  char *end;
  errno = 0;
  *value = strtoull(text, &end, 10);
  return *end == 0 && errno == 0;
}

/* -- memory ------------------------------------------------------------------------- */

/* UINT64_MAX: there is no limit. */
static uint64_t group_limit(void) {
  enum { SHORT = 65536 };
  size_t length;
  uint64_t limit = UINT64_MAX;
  char *own = read_text_file("/proc/self/cgroup", SHORT, &length);
  const char *group = own ? strstr(own, "0::/") : NULL;
  size_t name = group ? strcspn(group += 3, "\n") : 0;
  char *path = print_string("/sys/fs/cgroup%.*s/memory.max", (int)name, group ? group : "");
  char *text = read_text_file(path, SHORT, &length);
  if (text)
    text[strcspn(text, "\n")] = 0;
  if (!text || !parse_number(text, &limit))
    limit = UINT64_MAX;
  free(text);
  free(path);
  free(own);
  return limit;
}

uint64_t memory_at_most(void) {
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  uint64_t machine = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : (uint64_t)4 << 30;
  uint64_t group = group_limit();
  return group < machine ? group : machine;
}

/* -- processes --------------------------------------------------------------------- */

const char *process_stat(long pid, char *line, int room) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  FILE *file = fopen(path, "re");
  if (!file)
    return NULL;
  char *got = fgets(line, room, file);
  fclose(file);
  char *at = got ? strrchr(line, ')') : NULL;
  return at && at[1] ? at + 2 : NULL;
}

uint64_t process_start(long pid) {
  char line[1024];
  const char *at = process_stat(pid, line, sizeof line);
  if (!at || strchr("ZXx", *at))
    return 0;
  for (int field = 3; field < 22 && at; field++)
    at = strchr(at + 1, ' ');
  return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* Of the kernel itself, as the runtime asks it: the command may be run with another
   clock_gettime in its place. */
uint64_t clock_monotonic(void) {
  struct timespec now = {0, 0};
#if defined __x86_64__ && defined __LP64__
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "0"((long)SYS_clock_gettime), "D"((long)CLOCK_MONOTONIC), "S"(&now)
                   : "rcx", "r11", "memory");
#else
  clock_gettime(CLOCK_MONOTONIC, &now);
#endif
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
