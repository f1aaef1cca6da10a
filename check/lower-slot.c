/* SPDX-License-Identifier: MIT */
/*
 * Places for functions: members, variables, parameters, and what is put into them; see lower.h.
 *
 * A place is a text: "struct.member@FILE", "name@" or, of a file's own, "name@FILE"; "KEY$3" is the
 * variable 3 of a function, "KEY#1" what it is given as its second argument.
 */
#include "lower.h"

#include <string.h>

static bool is_for_functions(CXType type) {
  CXType all = clang_getCanonicalType(type);
  while (all.kind == CXType_ConstantArray || all.kind == CXType_IncompleteArray)
    all = clang_getCanonicalType(clang_getArrayElementType(all));
  if (all.kind == CXType_LValueReference || all.kind == CXType_RValueReference ||
      all.kind == CXType_Pointer)
    all = clang_getCanonicalType(clang_getPointeeType(all));
  return all.kind == CXType_FunctionProto || all.kind == CXType_FunctionNoProto;
}

/* What a template is given, or a lambda that it is given as. */
static bool may_be_lambda(struct lower *l, CXType type) {
  CXType all = clang_getCanonicalType(type);
  if (all.kind == CXType_LValueReference || all.kind == CXType_RValueReference)
    all = clang_getCanonicalType(clang_getPointeeType(all));
  return l->cxx && (all.kind == CXType_Unexposed ||
                    (all.kind == CXType_Record &&
                     strstr(lower_string(l, clang_getTypeSpelling(all)), "(lambda at ")));
}

static const char *member_slot(struct lower *l, CXCursor member) {
  CXCursor of = clang_getCursorSemanticParent(member);
  const char *type = lower_string(l, clang_getTypeSpelling(clang_getCursorType(of))), *blank;
  if (strchr(type, '('))
    type = "";
  while ((blank = strchr(type, ' '))) /* struct, union */
    type = blank + 1;
  return lower_say(l, "%s.%s@%s", type, lower_string(l, clang_getCursorSpelling(member)),
                   lower_file(l, of));
}

static const char *variable_slot(struct lower *l, CXCursor variable) {
  int id = variable_of(l, variable);
  if (id >= 0 && l->body->function)
    return lower_say(l, variable.kind == CXCursor_ParmDecl ? "%s#%d" : "%s$%d",
                     l->body->function->key, id);
  if (id >= 0 || variable.kind != CXCursor_VarDecl)
    return NULL;
  return lower_say(
      l, "%s@%s", lower_string(l, clang_getCursorSpelling(variable)),
      clang_getCursorLinkage(variable) == CXLinkage_External ? "" : lower_file(l, variable));
}

/* A declaration, or an expression that names one: of an array or a pointer its element. */
const char *lower_slot(struct lower *l, CXCursor place) {
  if (clang_Cursor_isNull(place))
    return NULL;
  if (clang_isExpression(place.kind)) {
    place = lower_bare(l, place);
    while (place.kind == CXCursor_ArraySubscriptExpr || place.kind == CXCursor_UnaryOperator) {
      struct kids kids = kids_of(l, place);
      if (!kids.count)
        return NULL;
      place = lower_bare(l, kids.at[0]);
    }
    if (place.kind != CXCursor_MemberRefExpr && place.kind != CXCursor_DeclRefExpr)
      return NULL;
    place = clang_getCursorReferenced(place);
  }
  CXType type = clang_getCursorType(place);
  if (!is_for_functions(type) && !(place.kind == CXCursor_ParmDecl && may_be_lambda(l, type)))
    return NULL;
  return place.kind == CXCursor_FieldDecl ? member_slot(l, place) : variable_slot(l, place);
}

/* A function, nothing, another place's, or who knows what. */
void lower_put(struct lower *l, const char *slot, const char *value, CXCursor from) {
  const char *other = NULL;
  if (value[0] == '%' && !strpbrk(value, " [")) {
    struct ir_function *f = lower_named(l, arena_text(l->arena, value + 1));
    lower_note(l, &f->fields, slot);
  } else if (strcmp(value, "#0") && lower_bare(l, from).kind != CXCursor_InitListExpr) {
    other = lower_slot(l, from);
    if (!other || strcmp(other, slot))
      lower_note(l, &l->unit->opened, other ? lower_say(l, "%s%c%s", slot, IR_FROM, other) : slot);
  }
}

/* An argument of a function of the program. */
void lower_pass(struct lower *l, const struct ir_function *to, int at, const char *value,
                CXType type, CXCursor from) {
  if (!(to->flags & IR_SYSTEM) && (is_for_functions(type) || may_be_lambda(l, type)))
    lower_put(l, lower_say(l, "%s#%d", to->key, at), value, from);
}

void lower_given(struct lower *l, const char *value, CXType to, CXCursor place, CXCursor from) {
  const char *slot = lower_slot(l, place);
  if (!slot && l->slot && is_for_functions(to))
    slot = l->slot;
  if (slot)
    lower_put(l, slot, value, from);
  if (value[0] != '%' || strpbrk(value, " ["))
    return;
  struct ir_function *f = lower_named(l, arena_text(l->arena, value + 1));
  CXCursor declared = clang_getTypeDeclaration(to);
  f->given = true;
  if (declared.kind == CXCursor_TypedefDecl || declared.kind == CXCursor_TypeAliasDecl)
    lower_note(l, &f->types, lower_string(l, clang_getCursorSpelling(declared)));
}
