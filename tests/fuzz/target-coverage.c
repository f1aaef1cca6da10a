/*
 * Fuzz target: the reader of what the plugin left in each unit (cli/coverage.h).
 *
 * Input: the text of the section. ELF files themselves are libelf's to read.
 */
#include "cli/coverage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static FILE *nowhere;
  struct coverage_options options = {.json = size % 2};
  struct coverage coverage = {.files = 1};
  if (!nowhere)
    nowhere = fopen("/dev/null", "w");
  coverage_add(&coverage, (const char *)data, size);
  coverage_add(&coverage, (const char *)data, size / 2);
  coverage_finish(&coverage);
  coverage_print(&coverage, &options, nowhere);
  coverage_release(&coverage);
  return 0;
}
/* SPDX-License-Identifier: MIT */
