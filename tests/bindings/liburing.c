/* liburing: operations that complete in any order, several with the same data. Where
   the kernel has no io_uring for us it says so and exits with 77. */
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "count.h"

static struct count operation = {.name = "io_uring_sqe_set_data"};

int main(void) {
  enum { READS = 8, NOPS = 16 };
  static char buffers[READS][64];
  struct io_uring ring;
  struct io_uring_cqe *cqe;
  int ends[2], left = 0;
  if (pipe(ends) != 0)
    return 1;
  if (io_uring_queue_init(64, &ring, 0) != 0) {
    puts("no io_uring here");
    return 77;
  }
  for (int i = 0; i < READS; i++) {
    struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
    io_uring_prep_read(sqe, ends[0], buffers[i], 1, 0);
    io_uring_sqe_set_data(sqe, buffers[i]);
    operation.created++;
    left++;
  }
  for (int i = 0; i < NOPS; i++) {
    struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
    io_uring_prep_nop(sqe);
    io_uring_sqe_set_data(sqe, &ring);
    operation.created++;
    left++;
  }
  if (io_uring_submit(&ring) < 0 || write(ends[1], "12345678", READS) != READS)
    return 1;
  for (; left > 0; left--) {
    if (io_uring_wait_cqe(&ring, &cqe) != 0 || !io_uring_cqe_get_data(cqe))
      return 1;
    operation.done++;
    operation.waits++;
    io_uring_cqe_seen(&ring, cqe);
  }
  io_uring_queue_exit(&ring);
  count_print(&operation);
  return 0;
}
/* SPDX-License-Identifier: MIT */
