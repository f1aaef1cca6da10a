/*
 * What the crash drill kills: two threads run futures for ever, and each counts, in a
 * file that it shares with the drill, the futures it has seen end.
 *
 *     target FILE
 */
#include <aprof.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 2 };

struct seen {
  volatile uint64_t calls, runs;
  char apart[48];
};

static struct seen *seen;

APROF_AWAIT static __attribute__((noinline)) void pass(void) { __asm__ volatile("" ::: "memory"); }

APROF_ASYNC static __attribute__((noinline)) int leaf(int n) {
  pass();
  return n + 1;
}

APROF_ASYNC static __attribute__((noinline)) int call(int n) {
  int sum = leaf(n);
  pass();
  return sum + leaf(n);
}

struct machine {
  int step;
};

APROF("run key=a0 pending=0") static __attribute__((noinline)) int run(struct machine *m) {
  leaf(1);
  return ++m->step % 3 == 0;
}

static void *churn(void *argument) {
  struct seen *mine = argument;
  for (;;) {
    struct machine machine = {0};
    call(1);
    mine->calls++;
    while (!run(&machine))
      ;
    mine->runs++;
  }
}

int main(int argc, char **argv) {
  int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
  if (fd < 0 || ftruncate(fd, 4096) != 0) {
    perror("target");
    return 2;
  }
  seen = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (seen == MAP_FAILED)
    return 2;
  pthread_t thread;
  for (int i = 1; i < THREADS; i++)
    if (pthread_create(&thread, NULL, churn, &seen[i]) != 0)
      return 2;
  churn(&seen[0]);
}
