/* SPDX-License-Identifier: MIT */
/* The allocator in requests: how often they call it, by their own count. What is called outside of
   them is not in it. */
#include <aprof.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"

static struct count handled = {.name = "handle"};
static unsigned calls;

/* Not to be seen through: it would be taken out. */
static void *keep(void *pointer) {
  __asm__ volatile("" : "+r"(pointer)::"memory");
  calls++;
  return pointer;
}

static void drop(void *pointer) {
  calls++;
  free(pointer);
}

APROF("request") __attribute__((noinline)) static void handle(const char *text) {
  char *copy = keep(strdup(text)), *pair = keep(malloc(8));
  pair = keep(realloc(pair, 64));
  uint64_t *zeroed = keep(calloc(4, sizeof *zeroed));
  void *aligned = keep(aligned_alloc(64, 128));
  drop(copy);
  drop(pair);
  drop(zeroed);
  drop(aligned);
  handled.created++;
  handled.done++;
}

int main(void) {
  for (int i = 0; i < 100; i++)
    handle("a text");
  unsigned inside = calls;
  drop(keep(malloc(100)));
  count_print(&handled);
  printf("allocator %u\n", inside);
  return 0;
}
