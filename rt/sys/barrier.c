/* SPDX-License-Identifier: MIT */
/* A barrier on all processors; see barrier.h. */
#include "barrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>

#include "confine.h"
#include "kernel.h"

static bool registered;

void barrier_start(void) {
  registered = confine_never() &&
               sys_call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

bool barrier_everywhere(void) {
  return registered && confine_never() &&
         sys_call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}
