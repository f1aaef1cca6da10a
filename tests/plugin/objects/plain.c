/* Nothing here means anything to a binding: the plugin must not change a byte. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf place;
static int table[16];
typedef int (*operation)(int);

static int twice(int x) { return x + x; }
static int fill(operation f) {
  for (int i = 0; i < 16; i++)
    table[i] = f(i);
  return setjmp(place);
}
__attribute__((constructor)) static void early(void) { memset(table, 1, sizeof table); }

int main(int argc, char **argv) {
  (void)argv;
  if (fill(argc > 1 ? twice : abs) == 0)
    printf("%d\n", table[3]);
  return 0;
}
/* SPDX-License-Identifier: MIT */
