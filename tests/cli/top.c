/* SPDX-License-Identifier: MIT */
/*
 * What `aprof top` looks at, on the virtual clock: each line of standard input, "REQUESTS MS SECONDS",
 * is so many requests, each of which waits for 2 ms and then runs for MS, and then the rest of so many
 * seconds. It answers with "done"; at the end of the input it returns.
 */
#include <aprof.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct request {
  unsigned run;
};

APROF("create key=ret root") static struct request *request_new(unsigned run) {
  struct request *request = malloc(sizeof *request);
  request->run = run;
  return request;
}

APROF("run key=a0") static void serve(struct request *request) {
  aprof_clock_advance(request->run * 1000000u);
}

APROF("end key=a0") static void request_free(struct request *request) {
  free(request);
}

static void work(unsigned requests, unsigned run) {
  for (unsigned i = 0; i < requests; i++) {
    struct request *request = request_new(run);
    aprof_clock_advance(2000000);
    serve(request);
    request_free(request);
  }
}

int main(void) {
  unsigned requests, run, seconds;
  struct request *never = request_new(0); /* it lives on */
  printf("%d\n", (int)getpid());
  fflush(stdout);
  while (scanf("%u %u %u", &requests, &run, &seconds) == 3) {
    work(requests, run);
    aprof_clock_advance(seconds * 1000000000ull - requests * (run + 2ull) * 1000000);
    puts("done");
    fflush(stdout);
  }
  return never == NULL;
}
