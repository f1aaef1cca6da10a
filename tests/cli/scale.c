/*
 * A large program, in events written by hand: what the command has to stay quick and
 * readable with.
 *
 *   scale SITES THREADS FUTURES
 *
 * SITES functions with an await each, called in chains of four; THREADS threads that
 * run them all; FUTURES futures that are created, one in a hundred after the other
 * half a second late, and live to the end. It prints its process number and waits for
 * a line on stdin; then it is killed, so that the profile stays.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "aprof/abi.h"

extern int __aprof_attach(struct aprof_gate *) __attribute__((weak));

static struct aprof_gate gate = {.flag = &gate.closed, .abi = APROF_ABI, .size = sizeof gate};

enum { CHAIN = 4 };

static struct aprof_site *function, *await, *create;
static unsigned sites, threads, futures;
static pthread_mutex_t clock_lock = PTHREAD_MUTEX_INITIALIZER;

static void make_sites(void) {
  char *text = malloc(sites * 64ul);
  function = calloc(sites, sizeof *function);
  await = calloc(sites, sizeof *await);
  create = calloc(sites, sizeof *create);
  for (unsigned i = 0; i < sites; i++, text += 64) {
    snprintf(text, 32, "handle_request_%u", i);
    snprintf(text + 32, 32, "server/module_%u.c", i / 50);
    function[i] = (struct aprof_site){.name = text,
                                      .file = text + 32,
                                      .line = 10 * (i % 50) + 1,
                                      .column = 1,
                                      .kind = APROF_SITE_FUNCTION,
                                      .model = APROF_MODEL_STACK};
    await[i] = function[i];
    await[i].name = "wait_for";
    await[i].line += 4;
    await[i].kind = APROF_SITE_AWAIT;
    create[i] = await[i];
    create[i].name = "start";
    create[i].line++;
    create[i].kind = APROF_SITE_CREATE;
    create[i].function = text;
  }
}

static void advance(uint64_t ns) {
  pthread_mutex_lock(&clock_lock);
  if (gate.api_clock_advance)
    gate.api_clock_advance(ns);
  pthread_mutex_unlock(&clock_lock);
}

static void run(unsigned site, unsigned depth) {
  struct aprof_token token = {{0}}, wait = {{0}};
  if (*gate.flag)
    gate.enter(&function[site], &token, NULL);
  advance(1000 + site);
  if (*gate.flag)
    gate.suspend(&await[site], &wait);
  advance(2000);
  if (wait.word[0])
    gate.resume(&wait);
  if (depth + 1 < CHAIN)
    run((site + 1 + site % 7) % sites, depth + 1);
  if (token.word[0])
    gate.leave(&token, APROF_DONE);
}

static void *run_all(void *argument) {
  unsigned from = (unsigned)(uintptr_t)argument;
  for (unsigned i = from; i < sites; i += threads)
    run(i, 0);
  for (unsigned i = 0; i < 20 && i < sites; i++) /* what all threads share */
    run(i, 0);
  return NULL;
}

int main(int argc, char **argv) {
  sites = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
  threads = argc > 2 ? (unsigned)atoi(argv[2]) : 4;
  futures = argc > 3 ? (unsigned)atoi(argv[3]) : 1000;
  make_sites();
  if (__aprof_attach != NULL)
    __aprof_attach(&gate);
  pthread_t *thread = calloc(threads, sizeof *thread);
  for (unsigned i = 0; i < threads; i++)
    if (pthread_create(&thread[i], NULL, run_all, (void *)(uintptr_t)i))
      return 1;
  for (unsigned i = 0; i < threads; i++)
    pthread_join(thread[i], NULL);
  for (unsigned i = 0; i < futures; i++) {
    struct aprof_token token = {{0}};
    unsigned site = i % sites;
    if (*gate.flag)
      gate.create_begin(&create[site], &token, &function[site], NULL);
    if (token.word[0])
      gate.create_end(&token, 1000 + i, 0, 1);
    if (i % 100 == 0)
      advance(500000);
  }
  printf("%d\n", (int)getpid());
  fflush(stdout);
  getchar();
  kill(getpid(), SIGKILL);
}
/* SPDX-License-Identifier: MIT */
