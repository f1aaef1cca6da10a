/* SPDX-License-Identifier: MIT */
/* Gates that are taken, and gates that are not. */
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/rt.h"

#include "unit.h"

FUNCTION_SITE(a);

static void one(struct aprof_site *function, uint64_t ns) {
  token t;
  enter(function, &t);
  pass(ns);
  leave(&t);
}

/* What another plugin's unit has: `size` bytes, and behind them what is the program's. */
union foreign {
  struct aprof_gate gate;
  unsigned char byte[sizeof(struct aprof_gate) + 64];
};
enum { PROGRAMS = 0x5a };

static union foreign *foreign_gate(uint32_t abi, uint32_t size) {
  static union foreign foreign;
  memset(&foreign, PROGRAMS, sizeof foreign);
  memset(&foreign, 0, size);
  foreign.gate.flag = &foreign.gate.closed;
  foreign.gate.abi = abi;
  foreign.gate.size = size;
  return &foreign;
}

static void refused(uint32_t abi, uint32_t size, uint32_t modules) {
  union foreign *foreign = foreign_gate(abi, size), before = *foreign;
  ck_assert_int_eq(__aprof_attach(&foreign->gate), -1);
  ck_assert_mem_eq(foreign, &before, sizeof before);
  ck_assert_uint_eq(rt.header->refused_modules, modules);
}

/* Nobody has had a future yet, and who looks finds a profile that says so. */
START_TEST(gates_of_another_version_are_refused) {
  refused(APROF_ABI - 1, 0, 1);
  ck_assert_int_eq(rt.state, RT_ON);
  ck_assert_uint_eq(rt.header->refused_abi, APROF_ABI - 1);
  ck_assert_str_eq(rt.header->refused_name, rt.header->name); /* of the program itself */
  refused(APROF_ABI + 1, sizeof(struct aprof_gate), 2);
  refused(APROF_ABI, sizeof(struct aprof_gate) + 8, 3); /* newer by a row */
  refused(APROF_ABI, 8, 4);
  ck_assert_uint_eq(rt.header->refused_abi, APROF_ABI - 1);
  attach();
  one(&a, 1);
  expect("a", "done", 1);
  gate.api_reset();
  ck_assert_uint_eq(rt.header->refused_modules, 4);
}
END_TEST

START_TEST(a_shorter_gate_is_served) {
  const size_t size = offsetof(struct aprof_gate, resync);
  union foreign *foreign = foreign_gate(APROF_ABI, size);
  ck_assert_int_eq(__aprof_attach(&foreign->gate), 0);
  attach();
  ck_assert(foreign->gate.flag == gate.flag);
  ck_assert_mem_eq(&foreign->gate.enter, &gate.enter, size - offsetof(struct aprof_gate, enter));
  for (size_t i = size; i < sizeof *foreign; i++)
    ck_assert_uint_eq(foreign->byte[i], PROGRAMS);
}
END_TEST

/* A child's own profile says it, too. */
START_TEST(a_child_knows_what_was_refused) {
  refused(APROF_ABI + 1, sizeof(struct aprof_gate), 1);
  attach();
  pid_t child = fork();
  if (child == 0) {
    one(&a, 1);
    _exit(rt.header->pid == getpid() && rt.header->refused_modules == 1 ? 0 : 1);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
}
END_TEST

UNIT_MAIN("attach", gates_of_another_version_are_refused, a_shorter_gate_is_served,
          a_child_knows_what_was_refused)
