#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
  void *library = dlopen(argv[argc - 1], RTLD_NOW);
  if (library == NULL) {
    puts(dlerror());
    return 1;
  }
  int (*serve)(int) = (int (*)(int))dlsym(library, "serve");
  int result = serve(3);
  dlclose(library);
  return result - 3;
}
/* SPDX-License-Identifier: MIT */
