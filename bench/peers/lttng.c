/* SPDX-License-Identifier: MIT */
/* Two tracepoints of LTTng-UST; whether a session listens is the script's business. */
#define TRACEPOINT_CREATE_PROBES
#define TRACEPOINT_DEFINE
#include "lttng-provider.h"

#include "../measure.h"

int main(int argc, char **argv) {
  int batches = argc > 1 && strncmp(argv[1], "batches=", 8) == 0 ? atoi(argv[1] + 8) : 4001;
  struct meter meter = measure_start(0, batches, NULL, stdout);
  MEASURE(&meter, "call", tracepoint(bench, enter, i); tracepoint(bench, leave, i));
  return 0;
}
