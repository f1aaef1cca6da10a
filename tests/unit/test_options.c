/* SPDX-License-Identifier: MIT */
/* APROF_OPTIONS: what is understood, and what is said of the rest. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "unit.h"

FUNCTION_SITE(work);

static char said[4096];

/* Runs a body with these options, with stderr read into `said`. */
static void with(const char *options) {
  FILE *log = tmpfile();
  setenv("APROF_OPTIONS", options, 1);
  int saved = dup(STDERR_FILENO);
  dup2(fileno(log), STDERR_FILENO);
  attach();
  token t;
  pass(5);
  enter(&work, &t);
  pass(10);
  leave(&t);
  dup2(saved, STDERR_FILENO);
  close(saved);
  rewind(log);
  size_t length = fread(said, 1, sizeof said - 1, log);
  said[length] = 0;
  fclose(log);
}

static unsigned lines(void) {
  unsigned count = 0;
  for (const char *c = said; *c; c++)
    count += *c == '\n';
  return count;
}

START_TEST(known_options_say_nothing) {
  with(UNIT_OPTIONS ",memory:8M,nodes:1000,histograms:yes,enabled:yes");
  ck_assert_str_eq(said, "");
  expect("work", "exec", 10);
  ck_assert_uint_le(profile()->capacity, 8u << 20);
}
END_TEST

START_TEST(units_are_capital_or_small) {
  with(UNIT_OPTIONS ",memory:2048k,trace:flight=64k");
  ck_assert_str_eq(said, "");
  ck_assert_uint_eq(profile()->capacity, 2u << 20);
  ck_assert_uint_eq(profile()->trace_size, 64u << 10);
}
END_TEST

/* No letter else is a unit, nor is what a letter becomes by losing a bit. */
START_TEST(other_units_are_none) {
  with(UNIT_OPTIONS ",memory:64t,memory:64+,memory:8Mb,memory:8kB");
  ck_assert_msg(lines() == 4, "%s", said);
  expect("work", "exec", 10);
}
END_TEST

START_TEST(unknown_key_is_one_line) {
  with(UNIT_OPTIONS ",colour:red");
  ck_assert_msg(lines() == 1, "%s", said);
  ck_assert_msg(strstr(said, "colour") != NULL, "%s", said);
  ck_assert_msg(strncmp(said, "aprof: ", 7) == 0, "%s", said);
  expect("work", "exec", 10);
}
END_TEST

START_TEST(bad_values_name_themselves) {
  with(UNIT_OPTIONS ",exit:perhaps,memory:lots");
  ck_assert_msg(lines() == 2, "%s", said);
  ck_assert_msg(strstr(said, "exit:perhaps") != NULL, "%s", said);
  ck_assert_msg(strstr(said, "memory:lots") != NULL, "%s", said);
}
END_TEST

START_TEST(word_without_colon) {
  with(UNIT_OPTIONS ",verbose");
  ck_assert_msg(lines() == 1 && strstr(said, "verbose"), "%s", said);
}
END_TEST

START_TEST(empty_items_are_nothing) {
  with(",," UNIT_OPTIONS ",,");
  ck_assert_str_eq(said, "");
  expect("work", "exec", 10);
}
END_TEST

START_TEST(very_long_values) {
  static char options[8192];
  strcpy(options, UNIT_OPTIONS ",dir:/");
  memset(options + strlen(options), 'x', 5000);
  with(options);
  ck_assert_msg(lines() == 1, "%s", said);
  expect("work", "exec", 10);
}
END_TEST

START_TEST(disabled_at_start) {
  with(UNIT_OPTIONS ",enabled:no");
  ck_assert_uint_eq(*gate.flag, 0);
  expect("work", "created", 0);
  ck_assert_int_eq(gate.api_enable(1), 0);
  token t;
  enter(&work, &t);
  pass(7);
  leave(&t);
  expect("work", "exec", 7);
}
END_TEST

START_TEST(clocks) {
  with("clock:monotonic,profile:memfd,exit:no,signal:none");
  ck_assert_uint_eq(profile()->clock_source, APROF_CLOCK_MONOTONIC);
  ck_assert_uint_eq(profile()->fit_mult, 1ull << 32);
}
END_TEST

/* The profile is a file of its own, for its owner only, where it was asked for. */
START_TEST(profile_directory) {
  char directory[] = "/dev/shm/aprof-unit-XXXXXX", options[256], command[300], path[512];
  ck_assert_ptr_nonnull(mkdtemp(directory));
  snprintf(options, sizeof options, "clock:virtual,exit:no,signal:none,profile:%s", directory);
  with(options);
  ck_assert_str_eq(said, "");
  snprintf(command, sizeof command, "ls %s", directory);
  FILE *list = popen(command, "r");
  path[0] = 0;
  char name[200] = "";
  ck_assert_ptr_nonnull(fgets(name, sizeof name, list));
  name[strcspn(name, "\n")] = 0;
  char more[200];
  ck_assert_msg(fgets(more, sizeof more, list) == NULL, "more than one file: %s", more);
  pclose(list);
  snprintf(path, sizeof path, "%s/%s", directory, name);
  char pid[32];
  snprintf(pid, sizeof pid, "-%d-", (int)getpid());
  ck_assert_msg(strstr(name, pid) != NULL && strstr(name, ".aprof") != NULL, "%s", name);
  struct stat st;
  ck_assert_int_eq(stat(path, &st), 0);
  ck_assert_uint_eq(st.st_mode & 07777, 0600);
  ck_assert_int_eq(unlink(path), 0);
  rmdir(directory);
}
END_TEST

UNIT_MAIN("options", known_options_say_nothing, units_are_capital_or_small, other_units_are_none,
          unknown_key_is_one_line, bad_values_name_themselves, word_without_colon,
          empty_items_are_nothing, very_long_values, disabled_at_start, clocks, profile_directory)
