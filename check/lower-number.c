/* SPDX-License-Identifier: MIT */
/* Numbers that a source has; see lower.h. */
#include "lower.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char unknown[] = "?";

const char *lower_number(struct lower *l, CXCursor c) {
  unsigned begin, end;
  lower_extent(c, &begin, &end);
  const char *text = lower_between(l, begin, end);
  if (c.kind == CXCursor_CharacterLiteral)
    return text[0] == '\'' && text[1] != '\\' && text[2] == '\'' ? lower_say(l, "#%d", text[1])
                                                                 : unknown;
  char *rest;
  long long value = !strncmp(text, "0b", 2) ? strtoll(text + 2, &rest, 2) : strtoll(text, &rest, 0);
  return isdigit((unsigned char)text[0]) ? lower_say(l, "#%lld", value) : unknown;
}

/* Two known numbers become one. */
const char *lower_fold(struct lower *l, const char *a, const char *sign, const char *b) {
  if (a[0] != '#' || b[0] != '#' || strchr(a, ' ') || strchr(b, ' '))
    return unknown;
  long long x = strtoll(a + 1, NULL, 10), y = strtoll(b + 1, NULL, 10);
  if (!strcmp(sign, "|"))
    return lower_say(l, "#%lld", x | y);
  if (!strcmp(sign, "&"))
    return lower_say(l, "#%lld", x & y);
  if (!strcmp(sign, "+"))
    return lower_say(l, "#%lld", (long long)((unsigned long long)x + (unsigned long long)y));
  if (!strcmp(sign, "-"))
    return lower_say(l, "#%lld", (long long)((unsigned long long)x - (unsigned long long)y));
  if (!strcmp(sign, "<<") && y >= 0 && y < 63)
    return lower_say(l, "#%lld", (long long)((unsigned long long)x << y));
  return unknown;
}
