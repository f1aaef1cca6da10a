/* SPDX-License-Identifier: MIT */
/*
 * Messages, memory and small readers: what every file of the command shares.
 *
 * Purpose: memory that either is there or ends the program with one line, and the
 * statuses that it ends with.
 * Cost: none worth a thought. Locking: the command is single threaded.
 */
#ifndef APROF_READ_UTIL_H
#define APROF_READ_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum cli_exit {
  CLI_OK = 0,
  CLI_FAILED = 1, /* the request was understood and could not be done */
  CLI_USAGE = 2,  /* the request was not understood */
};

/* One line on stderr, "aprof: " first. It names the thing and the remedy. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether complain() says nothing, as somebody else tries the same, and says it. */
void complain_never(bool);

/* Zeroed memory for `count` elements; ends the program (status 1) without. */
void *allocate(size_t count, size_t size);

/* As realloc; what is new is not zeroed. */
void *reallocate(void *old, size_t count, size_t size);

/* asprintf that cannot fail. */
char *print_string(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same of a list. */
char *print_list(const char *format, va_list);

/* The same, which the TURNS next calls leave alone: for texts of one sentence, or one line. */
enum { TURNS = 32 };
const char *turn_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "server.c:88", "server.c" without a line, "?" without a file; for as long. */
const char *place_text(const char *file, uint64_t line);
/* A path or place without its directories; NULL for NULL. */
const char *base_name(const char *path);
/* As a shell takes it: in quotes, unless it is made of what no shell looks at. free() it. */
char *shell_word(const char *text);
/* The same of a path, from where we are. */
char *from_here(const char *path);

/* As openat, of regular files only, and with O_NOFOLLOW of no symbolic link: -1 with errno
   (EISDIR, ELOOP: a link, EINVAL: a device, a pipe), and nothing was opened. */
int open_regular(int directory, const char *path, int flags);
/* A file of totals is not longer. */
#define TOTALS_LIMIT ((size_t)256 << 20)

/* What errno says after open_regular failed, in words. */
const char *open_fault(int error);

/* Reads a whole regular file of at most `limit` bytes, NUL-terminated; NULL
   with errno set where that is impossible (EFBIG: longer than the limit). read_stream: all
   that comes from `fd`, a pipe for one. */
char *read_stream(int fd, size_t limit, size_t *length);
char *read_text_file(const char *path, size_t limit, size_t *length);

/* More than totals hold. Sums of a damaged profile's numbers end there, and do not come round to
   what could be true. */
#define BEYOND ((uint64_t)1 << 63)
static inline uint64_t plus(uint64_t a, uint64_t b) {
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) || sum > BEYOND ? BEYOND : sum;
}
static inline uint64_t add_to(uint64_t *sum, uint64_t more) {
  return *sum = plus(*sum, more);
}
/* A moment so much later, or the last there is. */
static inline int64_t moment_after(int64_t moment, uint64_t ns) {
  int64_t sum;
  return __builtin_add_overflow(moment, ns, &sum) ? INT64_MAX : sum;
}
/* The nearest whole number; 0 of what is below or no number, INT64_MAX of what is beyond. */
static inline uint64_t rounded(double value) {
  return !(value > 0) ? 0 : value >= 0x1p63 ? INT64_MAX : (uint64_t)(value + 0.5);
}

/* A decimal number, nothing before or behind it. */
bool parse_number(const char *text, uint64_t *value);
/* Bytes that this process's control group may have, or the machine has. */
uint64_t memory_at_most(void);
/* /proc/PID/stat from its field 3, the state, on; NULL when there is no such process. */
const char *process_stat(long pid, char *line, int room);
/* Field 22 of it, as aprof_header has it; 0 when there is no such process, or only its remains (a
   zombie runs nothing any more). */
uint64_t process_start(long pid);
/* ns of CLOCK_MONOTONIC. */
uint64_t clock_monotonic(void);

#endif
