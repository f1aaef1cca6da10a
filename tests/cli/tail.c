/* SPDX-License-Identifier: MIT */
/*
 * Requests on the virtual clock, of which each number is known: 40, of which two are slow.
 *
 * Each runs 1 ms, waits for a pool, runs 0.5 ms. The pool takes 1.5 ms; of two requests 50.5 ms,
 * and when it is theirs, an upload holds the loop for 12 ms first.
 */
#include <aprof.h>
#include <stdlib.h>

#define US 1000u
#define CALL __attribute__((noinline))

struct request {
  int number;
};

APROF("create key=r:ret root") static struct request *request_new(int number);
APROF("run key=r:a0") static void get_item(struct request *r);
APROF("end key=r:a0") static void request_end(struct request *r);
APROF("create key=p:a0 fn=a1 | run key=p:a0 once")
static void pool_get(struct request *r, void (*then)(struct request *));
APROF("wake key=p:a0") static void pool_put(struct request *r);

static CALL struct request *request_new(int number) {
  struct request *r = malloc(sizeof *r);
  r->number = number;
  return r;
}

static CALL void request_end(struct request *r) {
  free(r);
}

static CALL void pool_get(struct request *r, void (*then)(struct request *)) {
  (void)r, (void)then;
}

static CALL void pool_put(struct request *r) {
  (void)r;
}

static void on_connection(struct request *r) {
  aprof_clock_advance(500 * US);
  request_end(r);
}

static CALL void get_item(struct request *r) {
  aprof_clock_advance(1000 * US);
  pool_get(r, on_connection);
}

APROF_ASYNC static CALL void save_upload(void) {
  aprof_clock_advance(12000 * US);
}

int main(void) {
  for (int i = 0; i < 40; i++) {
    struct request *r = request_new(i);
    void (*volatile then)(struct request *) = on_connection;
    int slow = i % 20 == 19;
    get_item(r);
    aprof_clock_advance((slow ? 50500 : 1500) * US);
    pool_put(r);
    if (slow)
      save_upload();
    then(r);
    aprof_clock_advance(1000 * US);
  }
  return 0;
}
