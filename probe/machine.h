/* SPDX-License-Identifier: MIT */
/* Registers, as the kernel's samples and as DWARF number them. Data. */
#ifndef APROF_PROBE_MACHINE_H
#define APROF_PROBE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#if defined __x86_64__
#include <asm/perf_regs.h>
#define MACHINE_KNOWN true
enum { MACHINE_REGISTERS = 17, MACHINE_STACK = 7, MACHINE_COUNTER = 16 };
/* By the number in DWARF. */
static const uint8_t machine_register[MACHINE_REGISTERS] = {
    PERF_REG_X86_AX,  PERF_REG_X86_DX,  PERF_REG_X86_CX,  PERF_REG_X86_BX,  PERF_REG_X86_SI,
    PERF_REG_X86_DI,  PERF_REG_X86_BP,  PERF_REG_X86_SP,  PERF_REG_X86_R8,  PERF_REG_X86_R9,
    PERF_REG_X86_R10, PERF_REG_X86_R11, PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14,
    PERF_REG_X86_R15, PERF_REG_X86_IP};
#elif defined __aarch64__
#include <asm/perf_regs.h>
#define MACHINE_KNOWN true
enum { MACHINE_REGISTERS = 33, MACHINE_STACK = 31, MACHINE_COUNTER = 32 };
static const uint8_t machine_register[MACHINE_REGISTERS] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
    17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
#else
#define MACHINE_KNOWN false
enum { MACHINE_REGISTERS = 1, MACHINE_STACK = 0, MACHINE_COUNTER = 0 };
static const uint8_t machine_register[MACHINE_REGISTERS] = {0};
#endif

static inline uint64_t machine_mask(void) {
  uint64_t mask = 0;
  for (int i = 0; i < MACHINE_REGISTERS; i++)
    mask |= (uint64_t)1 << machine_register[i];
  return mask;
}

#endif
