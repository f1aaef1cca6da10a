/* SPDX-License-Identifier: MIT */
/* Values with units; see value.h. */
#include "value.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  enum measure_unit unit;
  double factor;
} units[] = {{"ns", UNIT_TIME, 1},     {"us", UNIT_TIME, 1e3},   {"ms", UNIT_TIME, 1e6},
             {"s", UNIT_TIME, 1e9},    {"m", UNIT_TIME, 60e9},   {"min", UNIT_TIME, 60e9},
             {"h", UNIT_TIME, 3600e9}, {"d", UNIT_TIME, 864e11}, {"k", UNIT_COUNT, 1e3},
             {"M", UNIT_COUNT, 1e6},   {"G", UNIT_COUNT, 1e9},   {"%", UNIT_SHARE, 1}};

const char *const value_examples[] = {
    [UNIT_TIME] = "20ms", [UNIT_COUNT] = "1000", [UNIT_SHARE] = "80%"};

/* strtod reads more than people mean: hexadecimal, inf, nan. */
static const char *read_number(const char *text, double *number) {
  char *end;
  size_t digits = strspn(text, "0123456789");
  *number = strtod(text, &end);
  return digits && !(digits == 1 && strchr("xX", text[1]) && text[1]) && *number <= 1e18 ? end
                                                                                         : NULL;
}

bool value_read(const char *text, enum measure_unit unit, double plain, double *value) {
  double number;
  const char *end = read_number(text, &number);
  if (!end)
    return false;
  end += strspn(end, " ");
  if (!*end) {
    *value = number * plain;
    return plain > 0 || number == 0;
  }
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (!strcmp(end, units[i].name) && (units[i].unit == unit || number == 0)) {
      *value = number * units[i].factor;
      return true;
    }
  return false;
}

/* A plain one exactly, as a double has no 64 bits. */
bool value_count(const char *text, uint64_t *count) {
  double number;
  if (parse_number(text, count))
    return true;
  if (!value_read(text, UNIT_COUNT, 1, &number) || number != (double)(uint64_t)number)
    return false;
  *count = (uint64_t)number;
  return true;
}

bool value_time(const char *text, double plain, uint64_t *ns) {
  double number;
  if (!value_read(text, UNIT_TIME, plain, &number) || number > 1e18)
    return false;
  *ns = (uint64_t)number;
  return true;
}
