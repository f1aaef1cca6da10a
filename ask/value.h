/* SPDX-License-Identifier: MIT */
/*
 * Values as people write them: "50ms", "1.5 s", "100k", "5%".
 *
 * Purpose: the one table of units, for options and gates. Cost, locking: none.
 */
#ifndef APROF_ASK_VALUE_H
#define APROF_ASK_VALUE_H

#include <stdbool.h>
#include <stdint.h>

enum measure_unit { UNIT_TIME, UNIT_COUNT, UNIT_SHARE }; /* ns; things; per cent */

/* One of each unit. */
extern const char *const value_examples[];

/* A decimal number and a unit of that kind. `plain`: what one without a unit is counted in, 0: only
   nothing needs none. False where the text is no such value. */
bool value_read(const char *text, enum measure_unit, double plain, double *value);
/* So many: "10k" is a number, too; ns, see `plain`. */
bool value_count(const char *text, uint64_t *count);
bool value_time(const char *text, double plain, uint64_t *ns);

#endif
