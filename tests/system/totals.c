/* SPDX-License-Identifier: MIT */
/* aprof_on_totals: asks for totals in a way that it is told, and says what it was told. */
#define _GNU_SOURCE
#include <aprof.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER;
static char last[4096];
static unsigned times, others, signals;
static pid_t first_thread;

APROF_ASYNC static void __attribute__((noinline)) work(void) {
  __asm__ volatile("" ::: "memory");
}

static void on_totals(const char *path, void *arg) {
  sigset_t blocked;
  work(); /* a thread as others */
  pthread_sigmask(SIG_BLOCK, NULL, &blocked);
  pthread_mutex_lock(&lock);
  snprintf(last, sizeof last, "%s", path);
  *(unsigned *)arg += 1;
  others += gettid() != first_thread && access(path, R_OK) == 0;
  signals += !sigismember(&blocked, SIGUSR2);
  pthread_cond_broadcast(&told);
  pthread_mutex_unlock(&lock);
}

static void wait_for(unsigned count) {
  pthread_mutex_lock(&lock);
  while (times < count)
    pthread_cond_wait(&told, &lock);
  printf("%s\n", last);
  pthread_mutex_unlock(&lock);
}

static unsigned threads(void) {
  unsigned count = 0;
  DIR *tasks = opendir("/proc/self/task");
  const struct dirent *entry;
  while (tasks != NULL && (entry = readdir(tasks)) != NULL)
    count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

static void once(const char *path, void *arg) {
  (void)path, (void)arg;
  aprof_on_totals(NULL, NULL);
  pthread_mutex_lock(&lock);
  times++;
  pthread_cond_broadcast(&told);
  pthread_mutex_unlock(&lock);
}

/* A child of a program that is told: it is not, and asks as ever. */
static void child(void) {
  unsigned before = times;
  work();
  int asked = aprof_snapshot();
  int again = aprof_on_totals(on_totals, &times);
  work();
  aprof_snapshot();
  wait_for(before + 1);
  _exit(asked != 0 || again != 0 || times != before + 1);
}

int main(int argc, char **argv) {
  first_thread = gettid();
  if (aprof_on_totals(on_totals, &times) != 0)
    return puts("nobody is told") < 0;
  work();
  if (argc > 1 && strcmp(argv[1], "none") == 0) { /* none can be made: the last of them is not told */
    aprof_snapshot();
    aprof_on_totals(NULL, NULL);
    return printf("told %u\n", times) < 0;
  }
  aprof_snapshot();
  wait_for(1);
  kill(getpid(), SIGUSR1);
  wait_for(2);
  pid_t pid = fork();
  if (pid == 0)
    child();
  int status;
  waitpid(pid, &status, 0);
  printf("child %d\n", status);
  for (int i = 0; i < 3; i++) /* the end waits for all of them */
    aprof_snapshot();
  aprof_on_totals(NULL, NULL);
  printf("told %u, elsewhere %u, with signals %u, threads %u\n", times, others, signals, threads());
  unsigned before = times;
  aprof_on_totals(once, NULL);
  aprof_snapshot();
  wait_for(before + 1);
  aprof_snapshot();
  aprof_on_totals(NULL, NULL);
  printf("told %u, threads %u\n", times, threads());
  return 0;
}
