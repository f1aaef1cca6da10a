/* SPDX-License-Identifier: MIT */
/* untraced PROFILE: succeeds where nobody traces its process. */
#include <aprof/profile.h>

#include <stdio.h>

int main(int argc, char **argv) {
  static struct aprof_header header;
  FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
  return !file || fread(&header, sizeof header, 1, file) != 1 || header.usual & APROF_TRACED;
}
