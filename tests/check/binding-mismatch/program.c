/* SPDX-License-Identifier: MIT */
/* The program that my.aprof is about. */
#include "program.h"

int main(void) {
  ask(1, 0);
  tell("%d", 1);
  wake_up(2);
  return 0;
}
