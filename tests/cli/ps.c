/* SPDX-License-Identifier: MIT */
/*
 * What `aprof ps` looks at: three requests that wait, each with a part that never ran, and one that
 * holds the loop while it waits for a line on standard input, on the virtual clock. It ends then:
 * returns, or is aborted ("abort" as the argument).
 */
#include <aprof.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
  int number;
};

APROF("create key=ret root ready") static struct request *request_new(int number) {
  struct request *request = malloc(sizeof *request);
  request->number = number;
  return request;
}

APROF("create key=ret ready") static struct request *part_new(int number) { /* at part */
  struct request *part = malloc(sizeof *part);
  part->number = number;
  return part;
}

APROF("run key=a0") static void handle(struct request *request) {
  part_new(request->number);
}

APROF("run key=a0") static void hang(struct request *request) {
  char line[8];
  aprof_clock_advance(7000000);
  printf("%d\n", (int)getpid());
  fflush(stdout);
  while (read(0, line, sizeof line) < 0)
    ;
  if (request->number < 0)
    abort();
}

int main(int argc, char **argv) {
  struct request *requests[3];
  for (int i = 0; i < 3; i++) {
    aprof_clock_advance(1000000);
    requests[i] = request_new(i);
  }
  for (int i = 0; i < 3; i++)
    handle(requests[i]);
  aprof_clock_advance(5000000);
  hang(request_new(argc > 1 && !strcmp(argv[1], "abort") ? -1 : 3));
  return 0;
}
