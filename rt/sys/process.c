/* SPDX-License-Identifier: MIT */
/* Is this the process that made the profile? See process.h. */
#include "process.h"

#include <sys/mman.h>
#include <unistd.h>

#include "confine.h"
#include "rt/rt.h"

/* A word that is not 0 in the process that set it, and whatever runs in its memory: a number
   can come again, in another namespace or when all have been used, and getpid() differs in
   a child made by vfork. */
static uint32_t not_forked = PROCESS_OURS, *process = &not_forked;

void process_mark(enum process_mark mark) {
  if (process == &not_forked) {
    void *page = sys_mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!sys_failed(page) && sys_madvise(page, 4096, MADV_WIPEONFORK) == 0)
      process = page;
    else if (!sys_failed(page))
      sys_munmap(page, 4096);
  }
  *process = mark;
  __atomic_store_n(&rt.pid, sys_getpid(), __ATOMIC_RELAXED);
}

bool process_ours(void) {
  return is_confined() || (*process == PROCESS_OURS && rt.pid == sys_getpid());
}

bool process_vforked(void) {
  return process != &not_forked && *process && rt.pid != sys_getpid();
}
