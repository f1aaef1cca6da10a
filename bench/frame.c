/* SPDX-License-Identifier: MIT */
/*
 * frame PROFILE FRAMES: what a live screen reads, for callgrind: the first view of a profile, and
 * then so many frames, each a reading of what was written meanwhile and the window of ten seconds.
 *
 * The program is at the other end of stdin and stdout: told by a byte it goes one round on, and
 * answers with one. Before each part stands a call of mark(), where callgrind writes what was
 * counted since the one before. Prints on stderr what the view has, and the processor time of each
 * part: that of a frame is the median's.
 */
#include "read/follow.h"
#include "read/history.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define WINDOW ((uint64_t)10 * 1000000000)
enum { FRAMES_MOST = 1000 };

__attribute__((noinline)) void mark(void);
void mark(void) {
  __asm__ volatile("");
}

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b) {
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static double median(double *of, int count) {
  qsort(of, (size_t)count, sizeof *of, by_value);
  return of[count / 2];
}

static bool go_on(void) {
  char byte = '.';
  return write(STDOUT_FILENO, &byte, 1) == 1 && read(STDIN_FILENO, &byte, 1) == 1;
}

static const struct view_request how = {.reason = "request"};

static void frame(struct follow *follow, struct history *h, double *reading, double *window) {
  double begin = now_ms();
  mark();
  struct view *v = follow_view(follow, &how, false);
  mark();
  double middle = now_ms();
  if (!v)
    exit(1);
  history_add(h, v);
  view_free(history_over(h, WINDOW));
  mark();
  *reading = middle - begin;
  *window = now_ms() - middle;
}

int main(int argc, char **argv) {
  int frames = argc == 3 ? atoi(argv[2]) : 0;
  int fd = argc == 3 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
  if (frames < 1 || frames > FRAMES_MOST || fd < 0) {
    fprintf(stderr, "frame PROFILE FRAMES, %d at most\n", FRAMES_MOST);
    return 2;
  }
  double reading[FRAMES_MOST], window[FRAMES_MOST], begin = now_ms();
  mark();
  struct follow *follow = follow_new(fd, argv[1]);
  struct view *v = follow ? follow_view(follow, &how, false) : NULL;
  mark();
  double first = now_ms() - begin;
  if (!v)
    return 1;
  fprintf(stderr, "paths %zu, functions %zu, threads %zu\n", v->paths, v->functions, v->threads);
  struct history *h = history_new(WINDOW, 256u << 20);
  history_add(h, v);
  for (int i = 0; i < frames; i++) {
    if (!go_on())
      return 1;
    frame(follow, h, &reading[i], &window[i]);
  }
  fprintf(stderr, "ms: first %.1f, reading %.1f, window %.1f\n", first, median(reading, frames),
          median(window, frames));
  history_free(h);
  follow_free(follow);
  return 0;
}
