/* Uses the names of the constructor itself: they stay the program's own. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define A(text) __attribute__((aprof(text)))
A("await") void wait_for(int x);
void wait_for(int x) { (void)x; }
A("async") int serve(void) {
  void *self = dlopen(NULL, RTLD_NOW);
  wait_for(1);
  return dlsym(self, "printf") == NULL || getenv("PATH") == NULL;
}
int main(void) { return serve(); }
/* SPDX-License-Identifier: MIT */
