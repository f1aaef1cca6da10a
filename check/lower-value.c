/* SPDX-License-Identifier: MIT */
/* Expressions; see lower.h and, for the texts that they become, ir.h. */
#include "lower.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char unknown[] = "?";

/* The one expression among the children; else null. */
static bool only_expression(const struct kids *kids, CXCursor *found) {
  size_t count = 0;
  for (size_t i = 0; i < kids->count; i++)
    if (clang_isExpression(kids->at[i].kind)) {
      *found = kids->at[i];
      count++;
    }
  return count == 1;
}

static bool is_wrapper(enum CXCursorKind kind) {
  switch (kind) {
  case CXCursor_UnexposedExpr:
  case CXCursor_ParenExpr:
  case CXCursor_CStyleCastExpr:
  case CXCursor_CXXStaticCastExpr:
  case CXCursor_CXXReinterpretCastExpr:
  case CXCursor_CXXConstCastExpr:
  case CXCursor_CXXDynamicCastExpr:
  case CXCursor_CXXFunctionalCastExpr:
    return true;
  default:
    return false;
  }
}

CXCursor lower_bare(struct lower *l, CXCursor c) {
  CXCursor inner;
  while (is_wrapper(c.kind) && !lower_is_await(l, c, &inner)) {
    struct kids kids = kids_of(l, c);
    if (!only_expression(&kids, &inner))
      break;
    c = inner;
  }
  return c;
}

/* What a call returns goes where no value says so. */
void lower_hand_on(struct lower *l, CXCursor at, const char *value) {
  if (value[0] == '!')
    block_step(l, IR_SET, lower_line(at), unknown)->value = value;
}

/* All that is evaluated inside, for what it does. */
static const char *lower_all(struct lower *l, CXCursor c) {
  struct kids kids = kids_of(l, c);
  for (size_t i = 0; i < kids.count; i++) {
    if (clang_isExpression(kids.at[i].kind))
      lower_hand_on(l, kids.at[i], lower_value(l, kids.at[i]));
    else if (clang_isStatement(kids.at[i].kind))
      lower_statement(l, kids.at[i]);
  }
  return unknown;
}

/* -- names ------------------------------------------------------------------------------- */

static const char *name_of(struct lower *l, CXCursor c, bool read) {
  CXCursor to = clang_getCursorReferenced(c);
  switch (to.kind) {
  case CXCursor_EnumConstantDecl:
    return lower_say(l, "#%lld", clang_getEnumConstantDeclValue(to));
  case CXCursor_FunctionDecl:
  case CXCursor_CXXMethod:
    return lower_say(l, "%%%s", lower_function(l, to)->key);
  case CXCursor_VarDecl:
  case CXCursor_ParmDecl: {
    int variable = variable_of(l, to);
    if (variable < 0) {
      variable_captured(l, to);
      bool thread = clang_getCursorTLSKind(to) != CXTLS_None;
      bool array =
          read && clang_getCanonicalType(clang_getCursorType(to)).kind == CXType_ConstantArray;
      return lower_say(l, "%s%s%s", thread && array ? "&" : "", thread ? "@thread:" : "@",
                       lower_string(l, clang_getCursorSpelling(to)));
    }
    const char *text = lower_say(l, "$%d", variable);
    if (read)
      block_step(l, IR_USE, lower_line(c), text);
    return text;
  }
  default:
    return unknown;
  }
}

/* Of a member or an element that is inside of it, not where it points to. */
static const char *place_or_value(struct lower *l, CXCursor c, bool read) {
  enum CXTypeKind kind = clang_getCanonicalType(clang_getCursorType(c)).kind;
  return read || kind == CXType_Pointer ? lower_value(l, c) : lower_place(l, c);
}

static const char *member_of(struct lower *l, CXCursor c, bool read) {
  struct kids kids = kids_of(l, c);
  const char *member = lower_string(l, clang_getCursorSpelling(c)), *base = "this";
  bool arrow = true;
  for (size_t i = 0; i < kids.count; i++)
    if (clang_isExpression(kids.at[i].kind)) {
      arrow = clang_getCanonicalType(clang_getCursorType(kids.at[i])).kind == CXType_Pointer;
      base = place_or_value(l, kids.at[i], read);
      break;
    }
  if (strpbrk(base, "? "))
    return unknown;
  if (arrow && base[0] == '&') /* (&x)->f */
    return lower_say(l, "%s.%s", base + 1, member);
  if (!arrow && base[0] == '*') /* (*p).f */
    return lower_say(l, "%s->%s", base + 1, member);
  bool array = read && !strncmp(base, "@thread:", 8) &&
               clang_getCanonicalType(clang_getCursorType(c)).kind == CXType_ConstantArray;
  return *member ? lower_say(l, "%s%s%s%s", array ? "&" : "", base, arrow ? "->" : ".", member)
                 : base;
}

/* -- operators ----------------------------------------------------------------------------- */

/* What stands between the two operands. */
const char *lower_sign(struct lower *l, CXCursor a, CXCursor b) {
  unsigned a_begin, a_end, b_begin, b_end;
  lower_extent(a, &a_begin, &a_end);
  lower_extent(b, &b_begin, &b_end);
  return lower_between(l, a_end, b_begin);
}

static bool is_comparison(const char *sign) {
  static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="};
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    if (!strcmp(sign, signs[i]))
      return true;
  return false;
}

static void set(struct lower *l, CXCursor at, const char *to, const char *value) {
  block_step(l, IR_SET, lower_line(at), to)->value = value;
}

static void lower_assigned(struct lower *l, CXCursor at, CXCursor to, CXCursor from) {
  CXCursor bare = lower_bare(l, to);
  if (lower_chosen(l, at, bare, from))
    return;
  const char *value = lower_value(l, from), *place = lower_place(l, to);
  lower_given(l, value, clang_getCursorType(bare), bare, from);
  set(l, at, place, value);
}

static const char *lower_binary(struct lower *l, CXCursor c) {
  struct kids kids = kids_of(l, c);
  if (kids.count != 2)
    return lower_all(l, c);
  const char *sign = lower_sign(l, kids.at[0], kids.at[1]);
  if (!strcmp(sign, "=")) {
    lower_assigned(l, c, kids.at[0], kids.at[1]);
    return lower_place(l, kids.at[0]);
  }
  if (!strcmp(sign, "&&") || !strcmp(sign, "||"))
    return lower_choice(l, c);
  const char *a = lower_value(l, kids.at[0]), *b = lower_value(l, kids.at[1]);
  if (!strcmp(sign, ","))
    return b;
  if (is_comparison(sign) && !strchr(a, ' ') && !strchr(b, ' '))
    return lower_say(l, "%s %s %s", a, sign, b);
  if ((*sign == '+' || *sign == '-') && !strncmp(a, "&@thread:", 9))
    return a; /* further on in the same array */
  return lower_fold(l, a, sign, b);
}

static const char *lower_compound(struct lower *l, CXCursor c) {
  struct kids kids = kids_of(l, c);
  if (kids.count != 2)
    return lower_all(l, c);
  lower_value(l, kids.at[1]);
  lower_value(l, kids.at[0]);
  set(l, c, lower_place(l, kids.at[0]), unknown);
  return unknown;
}

static const char *lower_unary(struct lower *l, CXCursor c) {
  struct kids kids = kids_of(l, c);
  unsigned begin, end;
  if (kids.count != 1)
    return lower_all(l, c);
  lower_extent(c, &begin, &end);
  const char *text = lower_between(l, begin, end);
  CXCursor of = kids.at[0];
  if (text[0] == '&') {
    const char *place = lower_place(l, of);
    if (place[0] == '$' && !strstr(place, "->"))
      block_step(l, IR_ADDRESS, lower_line(c),
                 lower_say(l, "$%.*s", (int)strspn(place + 1, "0123456789"), place + 1));
    return place[0] == '%' ? place : place[0] == '?' ? unknown : lower_say(l, "&%s", place);
  }
  const char *value = lower_value(l, of);
  size_t length = strlen(text);
  bool counts =
      !strncmp(text, "++", 2) || !strncmp(text, "--", 2) ||
      (length > 2 && (!strcmp(text + length - 2, "++") || !strcmp(text + length - 2, "--")));
  if (counts) {
    set(l, c, lower_place(l, of), unknown);
    return unknown;
  }
  if (text[0] == '*')
    return value[0] == '&' ? value + 1 : value[0] == '?' ? unknown : lower_say(l, "*%s", value);
  if (text[0] == '-' && value[0] == '#' && !strchr(value, ' '))
    return value[1] == '-' ? lower_say(l, "#%s", value + 2) : lower_say(l, "#-%s", value + 1);
  if (text[0] == '!' && !strchr(value, ' '))
    return lower_say(l, "%s == #0", value);
  if (text[0] == '+' || !strncmp(text, "__extension__", 13))
    return value;
  return unknown;
}

static const char *element_of(struct lower *l, CXCursor c, bool read) {
  struct kids kids = kids_of(l, c);
  if (kids.count != 2)
    return lower_all(l, c);
  CXCursor of = lower_bare(l, kids.at[0]);
  bool pointer = clang_getCanonicalType(clang_getCursorType(of)).kind == CXType_Pointer;
  const char *base = place_or_value(l, of, read), *index = lower_value(l, kids.at[1]);
  if (strpbrk(base, "? ") || strpbrk(index, "? "))
    return unknown;
  bool address = base[0] == '&'; /* of an array that is a pointer here */
  return lower_say(l, pointer && !address ? "%s->[%s]" : "%s[%s]", base + address, index);
}

/* -- lists ------------------------------------------------------------------------------------ */

struct fields {
  CXCursor *at;
  size_t count;
};

static enum CXVisitorResult add_field(CXCursor field, CXClientData data) {
  struct fields *f = data;
  f->at = ir_grow(f->at, f->count, sizeof *f->at);
  f->at[f->count++] = field;
  return CXVisit_Continue;
}

static const char *lower_list(struct lower *l, CXCursor c) {
  struct fields fields = {0};
  struct kids kids = kids_of(l, c);
  const char *whole = l->whole;
  l->whole = NULL;
  clang_Type_visitFields(clang_getCanonicalType(clang_getCursorType(c)), add_field, &fields);
  for (size_t i = 0; i < kids.count; i++) {
    struct kids inner = kids_of(l, kids.at[i]);
    CXCursor to = i < fields.count ? fields.at[i] : kids.at[i];
    if (inner.count && inner.at[0].kind == CXCursor_MemberRef) /* .field = */
      to = clang_getCursorReferenced(inner.at[0]);
    CXCursor value = inner.count ? inner.at[inner.count - 1] : kids.at[i];
    if (inner.count && inner.at[0].kind != CXCursor_MemberRef)
      value = kids.at[i];
    if (!clang_isExpression(kids.at[i].kind))
      continue;
    const char *text = lower_value(l, kids.at[i]);
    lower_given(l, text, clang_getCursorType(to), to, value);
    const char *name =
        whole && to.kind == CXCursor_FieldDecl ? lower_string(l, clang_getCursorSpelling(to)) : "";
    if (*name && strcmp(text, unknown))
      set(l, kids.at[i], lower_say(l, "%s.%s", whole, name), text);
    else
      lower_hand_on(l, kids.at[i], text);
  }
  return unknown;
}

/* -- all of them ----------------------------------------------------------------------------------
 */

const char *lower_place(struct lower *l, CXCursor c) {
  CXCursor bare = lower_bare(l, c);
  switch (bare.kind) {
  case CXCursor_DeclRefExpr:
    return name_of(l, bare, false);
  case CXCursor_MemberRefExpr:
    return member_of(l, bare, false);
  case CXCursor_ArraySubscriptExpr:
    return element_of(l, bare, false);
  default:
    return lower_value(l, bare);
  }
}

static const char *lower_block_value(struct lower *l, CXCursor c) {
  struct kids kids = kids_of(l, c);
  if (kids.count != 1 || kids.at[0].kind != CXCursor_CompoundStmt)
    return lower_all(l, c);
  size_t clean = l->body->cleans;
  struct kids parts = kids_of(l, kids.at[0]);
  const char *value = unknown;
  for (size_t i = 0; i < parts.count; i++)
    if (i + 1 == parts.count && clang_isExpression(parts.at[i].kind))
      value = lower_value(l, parts.at[i]);
    else
      lower_statement(l, parts.at[i]);
  block_clean(l, clean);
  l->body->cleans = clean;
  return value;
}

const char *lower_value(struct lower *l, CXCursor c) {
  CXCursor operand;
  c = lower_bare(l, c);
  if (lower_is_await(l, c, &operand))
    return lower_await(l, c, operand);
  switch (c.kind) {
  case CXCursor_DeclRefExpr:
    return name_of(l, c, true);
  case CXCursor_MemberRefExpr:
    return member_of(l, c, true);
  case CXCursor_IntegerLiteral:
  case CXCursor_CharacterLiteral:
    return lower_number(l, c);
  case CXCursor_CXXNullPtrLiteralExpr:
  case CXCursor_GNUNullExpr:
    return "#0";
  case CXCursor_CXXBoolLiteralExpr: {
    unsigned begin, end;
    lower_extent(c, &begin, &end);
    return l->text[begin] == 't' ? "#1" : "#0";
  }
  case CXCursor_CXXThisExpr:
    return "this";
  case CXCursor_StringLiteral:
    return "\"";
  case CXCursor_BinaryOperator:
    return lower_binary(l, c);
  case CXCursor_CompoundAssignOperator:
    return lower_compound(l, c);
  case CXCursor_UnaryOperator:
    return lower_unary(l, c);
  case CXCursor_ArraySubscriptExpr:
    return element_of(l, c, true);
  case CXCursor_ConditionalOperator:
    return lower_conditional(l, c);
  case CXCursor_CallExpr:
    return lower_call(l, c);
  case CXCursor_InitListExpr:
    return lower_list(l, c);
  case CXCursor_StmtExpr:
    return lower_block_value(l, c);
  case CXCursor_LambdaExpr:
    return lower_say(l, "%%%s", lower_lambda(l, c)->key);
  case CXCursor_UnaryExpr: /* sizeof: nothing is evaluated */
  case CXCursor_GenericSelectionExpr:
    return unknown;
  default:
    return lower_all(l, c);
  }
}
