/* SPDX-License-Identifier: MIT */
/* Programs and rows without what a step of the governor gives up. */
#include "shed.h"

#include <stdlib.h>
#include <string.h>

void shed_program(struct program *program, uint32_t step) {
  program->shed = step;
  for (uint32_t i = 0; step != APROF_STEP_NONE && i < program->count; i++) {
    struct op *op = &program->ops[i];
    if (step >= APROF_STEP_COARSE)
      op->dt = 0;
    if (op->kind == OP_OFF || op->kind == OP_ON || op->kind == OP_RESET)
      op->dropped = true; /* a thread sheds nothing at the start of an epoch */
  }
}

/* "a > b @ w | count" -> "b @ w | count" */
static void without_path(char *name) {
  char *end = strstr(name, " | "), *from = name;
  for (char *at = name; (at = strstr(at, " > ")) != NULL && at < end; at += 3)
    from = at + 3;
  memmove(name, from, strlen(from) + 1);
}

static bool is_shed(const char *what, uint32_t step) {
  return strstr(what, " from ") != NULL || strstr(what, " between ") != NULL ||
         (step >= APROF_STEP_TREE && strcmp(what, " | children_exec") == 0);
}

void shed_rows(struct rows *rows, uint32_t step) {
  unsigned kept = 0;
  for (unsigned i = 0; step != APROF_STEP_NONE && i < rows->count; i++) {
    struct row *row = &rows->row[i];
    if (is_shed(strstr(row->name, " | "), step)) {
      free(row->name);
      continue;
    }
    if (step >= APROF_STEP_TREE)
      without_path(row->name);
    rows->row[kept++] = *row;
  }
  if (step != APROF_STEP_NONE) {
    rows->count = kept;
    rows->sorted = false;
  }
}
