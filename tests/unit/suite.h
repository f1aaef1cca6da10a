/* SPDX-License-Identifier: MIT */
/*
 * What the unit tests end with: a case that has its tests is run by Check, as CK_VERBOSITY
 * asks for it. The exit status of main; takes the case. And what a test asks that does one thing
 * many times.
 */
#ifndef APROF_TESTS_SUITE_H
#define APROF_TESTS_SUITE_H

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Under valgrind and ThreadSanitizer a few rounds must do: what these find, the first ones show. */
static inline bool suite_is_slow(void) {
#ifdef __SANITIZE_THREAD__
  return true;
#else
  const char *preload = getenv("LD_PRELOAD");
  return preload && strstr(preload, "vgpreload");
#endif
}

static inline int suite_end(Suite *suite) {
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline int suite_run(const char *name, TCase *tests) {
  Suite *suite = suite_create(name);
  suite_add_tcase(suite, tests);
  return suite_end(suite);
}

#endif
