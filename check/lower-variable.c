/* SPDX-License-Identifier: MIT */
/* Variables and references that are declared; see lower.h. */
#include "lower.h"

#include <string.h>

/* What a reference becomes: an address. */
const char *lower_reference(struct lower *l, CXCursor c) {
  const char *place = lower_place(l, c);
  bool named = place[0] == '@' || place[0] == '$' || place[0] == '*';
  return named && !strchr(place, ' ') ? lower_say(l, "&%s", place) : place;
}

/* By a constructor that no source has: it gets no value, as in C. */
static bool is_made_by_nobody(CXCursor value) {
  CXCursor by = clang_getCursorReferenced(value);
  return value.kind == CXCursor_CallExpr && by.kind == CXCursor_Constructor &&
         clang_Cursor_getNumArguments(value) == 0 &&
         clang_equalLocations(clang_getCursorLocation(by),
                              clang_getCursorLocation(clang_getCursorSemanticParent(by)));
}

void lower_declaration(struct lower *l, CXCursor variable) {
  int id = variable_new(l, variable);
  unsigned line = lower_line(variable);
  const char *place = lower_say(l, "$%d", id);
  CXCursor value = clang_Cursor_getVarDeclInitializer(variable);
  if (clang_Cursor_isNull(value) || clang_isInvalid(value.kind) || is_made_by_nobody(value)) {
    block_step(l, IR_DECLARE, line, place);
    return;
  }
  const char *outer = l->slot, *from;
  enum CXTypeKind kind = clang_getCanonicalType(clang_getCursorType(variable)).kind;
  if (kind != CXType_LValueReference && lower_chosen(l, variable, variable, value))
    return;
  l->slot = lower_slot(l, variable);
  if (lower_bare(l, value).kind == CXCursor_InitListExpr && kind == CXType_Record) {
    block_step(l, IR_SET, line, place)->value = "?";
    l->whole = place;
    lower_value(l, value);
    l->whole = NULL;
    l->slot = outer;
    return;
  }
  from = kind == CXType_LValueReference ? lower_reference(l, value) : lower_value(l, value);
  l->slot = outer;
  lower_given(l, from, clang_getCursorType(variable), variable, value);
  block_step(l, IR_SET, line, place)->value = from;
}
