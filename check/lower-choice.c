/* SPDX-License-Identifier: MIT */
/* Conditions, and values that they choose; see lower.h. */
#include "lower.h"

#include <string.h>

static const char unknown[] = "?";

void lower_condition(struct lower *l, CXCursor c, unsigned yes, unsigned no) {
  c = lower_bare(l, c);
  struct kids kids = kids_of(l, c);
  if (c.kind == CXCursor_BinaryOperator && kids.count == 2) {
    const char *sign = lower_sign(l, kids.at[0], kids.at[1]);
    bool both = !strcmp(sign, "&&");
    if (both || !strcmp(sign, "||")) {
      unsigned second = block_new(l, lower_line(kids.at[1]));
      lower_condition(l, kids.at[0], both ? second : yes, both ? no : second);
      l->body->now = second;
      lower_condition(l, kids.at[1], yes, no);
      return;
    }
  }
  if (c.kind == CXCursor_UnaryOperator && kids.count == 1) {
    unsigned begin, end;
    lower_extent(c, &begin, &end);
    if (l->text[begin] == '!') {
      lower_condition(l, kids.at[0], no, yes);
      return;
    }
  }
  block_branch(l, lower_value(l, c), yes, no);
}

/* A value that is chosen by control flow, as statements would. */
const char *lower_choice(struct lower *l, CXCursor c) {
  unsigned line = lower_line(c), yes = block_new(l, line), no = block_new(l, line),
           after = block_new(l, line);
  lower_condition(l, c, yes, no);
  l->body->now = yes;
  block_jump(l, after);
  l->body->now = no;
  block_jump(l, after);
  l->body->now = after;
  return unknown;
}

static const char *place_of(struct lower *l, CXCursor to) {
  return clang_isDeclaration(to.kind) ? lower_say(l, "$%d", variable_of(l, to))
                                      : lower_place(l, to);
}

/* One way of it: the variable or place becomes this. */
static void assign_way(struct lower *l, CXCursor at, CXCursor to, CXCursor from, unsigned after) {
  if (!lower_chosen(l, at, to, from)) {
    const char *value = lower_value(l, from), *place = place_of(l, to);
    lower_given(l, value, clang_getCursorType(to), to, from);
    block_step(l, IR_SET, lower_line(at), place)->value = value;
  }
  block_jump(l, after);
}

/* a && b, a || b */
static bool is_either(struct lower *l, CXCursor c, const struct kids *kids) {
  const char *sign = c.kind == CXCursor_BinaryOperator && kids->count == 2
                         ? lower_sign(l, kids->at[0], kids->at[1])
                         : "";
  return !strcmp(sign, "&&") || !strcmp(sign, "||");
}

bool lower_chosen(struct lower *l, CXCursor at, CXCursor to, CXCursor from) {
  from = lower_bare(l, from);
  struct kids kids = kids_of(l, from);
  bool either = is_either(l, from, &kids);
  if (!either && (from.kind != CXCursor_ConditionalOperator || kids.count != 3))
    return false;
  unsigned line = lower_line(from), yes = block_new(l, line), no = block_new(l, line),
           after = block_new(l, line);
  lower_condition(l, either ? from : kids.at[0], yes, no);
  for (int way = 0; way < 2; way++) {
    l->body->now = way ? no : yes;
    if (!either) {
      assign_way(l, at, to, kids.at[1 + way], after);
      continue;
    }
    const char *place = place_of(l, to);
    block_step(l, IR_SET, lower_line(at), place)->value = way ? "#0" : "#1";
    block_jump(l, after);
  }
  l->body->now = after;
  return true;
}

const char *lower_conditional(struct lower *l, CXCursor c) {
  struct kids kids = kids_of(l, c);
  if (kids.count != 3)
    return unknown;
  unsigned line = lower_line(c), yes = block_new(l, line), no = block_new(l, line),
           after = block_new(l, line);
  lower_condition(l, kids.at[0], yes, no);
  l->body->now = yes;
  bool none = clang_getCursorType(c).kind == CXType_Void;
  const char *a = lower_value(l, kids.at[1]);
  if (!none)
    lower_hand_on(l, kids.at[1], a);
  block_jump(l, after);
  l->body->now = no;
  const char *b = lower_value(l, kids.at[2]);
  if (!none)
    lower_hand_on(l, kids.at[2], b);
  block_jump(l, after);
  l->body->now = after;
  return !strcmp(a, b) ? a : unknown;
}
