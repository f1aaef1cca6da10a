/* SPDX-License-Identifier: MIT */
/*
 * The events that the benches measure, each by a function that does nothing else: what is
 * timed (events.c) is what is counted (instructions.c). Include it once per program.
 */
#ifndef BENCH_ANNOTATED_H
#define BENCH_ANNOTATED_H

#include <aprof.h>

#define EVENT __attribute__((noinline, noclone))

/* Suspend and resume. */
APROF_AWAIT EVENT static void rest(void) {
  __asm__ volatile("");
}

/* The same through a key: each call is a run of the future, which goes on. */
APROF("run key=k:a0 multi") EVENT static void turn(char *object) {
  __asm__ volatile("" : : "r"(object));
}

/* An async function that comes back without having waited. */
APROF_ASYNC EVENT static long leaf(long value) {
  __asm__ volatile("" : "+r"(value));
  return value;
}

/* A whole life on a stack: entered by no future, one wait, left. */
APROF_ASYNC EVENT static void coroutine(void) {
  rest();
}

/* A whole life by key: created, run, not over, run, over. */
APROF("create key=r:a0 fn=a1")
EVENT static void request(char *object, int (*then)(char *, int)) {
  __asm__ volatile("" : : "r"(object), "r"(then));
}
APROF("run key=r:a0 pending=0") EVENT static int progress(char *object, int value) {
  __asm__ volatile("" : "+r"(value) : "r"(object));
  return value;
}

/* Lives that are woken: run by that, or ended from elsewhere. */
APROF("create key=r:a0 fn=a1 | run key=r:a0 once")
EVENT static void watch(char *object, void (*then)(char *)) {
  __asm__ volatile("" : : "r"(object), "r"(then));
}
APROF("wake key=r:a0") EVENT static void ring(char *object) {
  __asm__ volatile("" : : "r"(object));
}
APROF("end key=r:a0 how=cancelled") EVENT static void stop(char *object) {
  __asm__ volatile("" : : "r"(object));
}
EVENT static void arrived(char *object) {
  __asm__ volatile("" : : "r"(object));
}

/* A span: a plain function whose time is told apart. */
APROF("span") EVENT static void plain_span(void) {
  __asm__ volatile("");
}

/* A request: from its root's create to its end, with a label; one run of it may go on. */
APROF("create key=q:a0 fn=a1 root ready")
EVENT static void serve(char *object, void (*then)(char *)) {
  __asm__ volatile("" : : "r"(object), "r"(then));
}
APROF("label key=q:a0 value=a1:str") EVENT static void serve_as(char *object, const char *kind) {
  __asm__ volatile("" : : "r"(object), "r"(kind));
}
APROF("end key=q:a0") EVENT static void served(char *object) {
  __asm__ volatile("" : : "r"(object));
}

/* Its tiers. */
APROF("span tier=parse") EVENT static void parse(void) {
  __asm__ volatile("");
}
APROF("span tier=cache") EVENT static void look_up(void) {
  __asm__ volatile("");
}
APROF("span tier=db") EVENT static void query(void) {
  __asm__ volatile("");
}
APROF("span tier=render") EVENT static void render(void) {
  __asm__ volatile("");
}
APROF("span tier=reply") EVENT static void reply(void) {
  __asm__ volatile("");
}

/* A whole one: five tiers in the run that it is over with. */
APROF("run key=q:a0 multi") EVENT static void five_tiers(char *object) {
  (void)object;
  parse();
  look_up();
  query();
  render();
  reply();
}
static inline void whole(char *object) {
  serve(object, five_tiers);
  serve_as(object, "hello");
  five_tiers(object);
  served(object);
}

#endif
