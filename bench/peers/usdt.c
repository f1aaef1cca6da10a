/* SPDX-License-Identifier: MIT */
/* Two USDT probes to which nobody listens: what they cost while they wait. */
#include <sys/sdt.h>

#include "../measure.h"

int main(int argc, char **argv) {
  int batches = argc > 1 && strncmp(argv[1], "batches=", 8) == 0 ? atoi(argv[1] + 8) : 4001;
  struct meter meter = measure_start(0, batches, NULL, stdout);
  MEASURE(&meter, "call", DTRACE_PROBE1(bench, enter, i); DTRACE_PROBE1(bench, leave, i));
  return 0;
}
