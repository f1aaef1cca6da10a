/* SPDX-License-Identifier: MIT */
/* Calls; see lower.h. */
#include "lower.h"

#include <string.h>

/* Builtins that are their first argument, and those that evaluate nothing. */
static bool is_one_of(const char *name, const char *const *names) {
  for (; *names; names++)
    if (!strcmp(name, *names))
      return true;
  return false;
}

static bool is_function(enum CXCursorKind kind) {
  return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod ||
         kind == CXCursor_Constructor || kind == CXCursor_Destructor ||
         kind == CXCursor_ConversionFunction;
}

static CXCursor callee_expression(struct lower *l, CXCursor call) {
  struct kids kids = kids_of(l, call);
  for (size_t i = 0; i < kids.count; i++)
    if (clang_isExpression(kids.at[i].kind))
      return lower_bare(l, kids.at[i]);
  return clang_getNullCursor();
}

/* Of x.f() or x->f(): the address of x. */
static const char *object_of(struct lower *l, CXCursor call) {
  CXCursor callee = callee_expression(l, call);
  if (callee.kind != CXCursor_MemberRefExpr)
    return "?";
  struct kids kids = kids_of(l, callee);
  for (size_t i = 0; i < kids.count; i++) {
    if (!clang_isExpression(kids.at[i].kind))
      continue;
    bool pointer = clang_getCanonicalType(clang_getCursorType(kids.at[i])).kind == CXType_Pointer;
    const char *value = pointer ? lower_value(l, kids.at[i]) : lower_place(l, kids.at[i]);
    return pointer || value[0] == '%' || value[0] == '?' ? value : lower_say(l, "&%s", value);
  }
  return "this";
}

static void add_argument(struct ir_texts *list, const char *value) {
  list->text = ir_grow(list->text, list->count, sizeof *list->text);
  list->text[list->count++] = value;
}

static void lower_arguments(struct lower *l, CXCursor call, const struct ir_function *callee,
                            CXType function, struct ir_texts *to) {
  int count = clang_Cursor_getNumArguments(call);
  for (int i = 0; i < count; i++) {
    CXCursor argument = clang_Cursor_getArgument(call, (unsigned)i);
    const char *value = lower_value(l, argument);
    CXType type = clang_getArgType(function, (unsigned)i);
    if (type.kind == CXType_Invalid)
      type = clang_getCursorType(argument);
    lower_given(l, value, type, clang_getNullCursor(), argument);
    if (callee)
      lower_pass(l, callee, i, value, type, argument);
    bool place = value[0] == '$' || value[0] == '@' || !strncmp(value, "this->", 6),
         by_reference = type.kind == CXType_LValueReference && place && !strchr(value, ' ');
    add_argument(to, by_reference ? lower_say(l, "&%s", value) : value);
  }
}

/* A lambda, which has no object: what it names it has from around it. */
static const char *lower_call_of(struct lower *l, CXCursor c, struct ir_function *lambda,
                                 CXCursor callee) {
  struct ir_texts arguments = {0};
  unsigned line = lower_line(c);
  object_of(l, c);
  lower_arguments(l, c, NULL, clang_getCursorType(callee), &arguments);
  struct ir_step *s = block_step(l, IR_CALL, line, lambda->key);
  if (arguments.count)
    s->argument = (struct ir_texts){arguments.text + 1, arguments.count - 1};
  s->id = l->body->calls++;
  return lower_say(l, "!%d", s->id);
}

/* What stands in the source of an instance of a template. */
static CXCursor pattern_of(CXCursor callee) {
  CXCursor pattern = clang_getSpecializedCursorTemplate(callee);
  return !clang_Cursor_isNull(pattern) && !clang_isInvalid(pattern.kind) &&
                 clang_equalLocations(clang_getCursorLocation(pattern),
                                      clang_getCursorLocation(callee)) &&
                 !clang_Location_isInSystemHeader(clang_getCursorLocation(pattern))
             ? pattern
             : callee;
}

static const char *lower_direct(struct lower *l, CXCursor c, CXCursor callee) {
  struct ir_function *lambda_itself = lower_called_lambda(l, callee);
  if (lambda_itself)
    return lower_call_of(l, c, lambda_itself, callee);
  struct ir_function *f = lower_function(l, pattern_of(callee));
  struct ir_texts arguments = {0};
  unsigned line = lower_line(c);
  const char *object =
      f->flags & IR_MEMBER && callee.kind != CXCursor_Constructor ? object_of(l, c) : NULL;
  if (object && object[0] == '%' && callee.kind == CXCursor_ConversionFunction)
    return object; /* a lambda becomes a pointer */
  if (object)
    add_argument(&arguments, object);
  lower_arguments(l, c, f, clang_getCursorType(callee), &arguments);
  bool lambda = object && object[0] == '%';
  bool other = f->flags & IR_VIRTUAL && !lambda;
  struct ir_step *s = block_step(l, other ? IR_ICALL : IR_CALL, line,
                                 other    ? lower_say(l, "virtual:%s", f->key)
                                 : lambda ? object + 1
                                          : f->key);
  if (other)
    s->value = lower_say(l, "virtual %s", f->qualified);
  s->argument = arguments;
  s->id = l->body->calls++;
  const char *result = lower_say(l, "!%d", s->id);
  if (f->flags & IR_NORETURN)
    block_end(l, line);
  return result;
}

static const char *lower_indirect(struct lower *l, CXCursor c) {
  CXCursor callee = callee_expression(l, c);
  struct ir_texts arguments = {0};
  unsigned line = lower_line(c);
  if (clang_Cursor_isNull(callee))
    return "?";
  const char *to = lower_value(l, callee), *field = lower_slot(l, callee);
  CXType type = clang_getPointeeType(clang_getCanonicalType(clang_getCursorType(callee)));
  lower_arguments(l, c, NULL, type, &arguments);
  struct ir_step *s = block_step(l, to[0] == '%' ? IR_CALL : IR_ICALL, line, to + (to[0] == '%'));
  s->value = field;
  s->argument = arguments;
  s->id = l->body->calls++;
  return lower_say(l, "!%d", s->id);
}

/* In a template, of arguments that are not known yet: a function of C has no other of its name. */
static CXCursor only_of_c(struct lower *l, CXCursor call) {
  CXCursor of = callee_expression(l, call);
  of = clang_isExpression(of.kind) ? clang_getCursorReferenced(of) : of;
  if (of.kind != CXCursor_OverloadedDeclRef || clang_getNumOverloadedDecls(of) != 1)
    return clang_getNullCursor();
  CXCursor only = clang_getOverloadedDecl(of, 0);
  return only.kind == CXCursor_FunctionDecl &&
                 !strcmp(lower_string(l, clang_Cursor_getMangling(only)),
                         lower_string(l, clang_getCursorSpelling(only)))
             ? only
             : clang_getNullCursor();
}

const char *lower_call(struct lower *l, CXCursor c) {
  static const char *const first[] = {"__builtin_expect", "__builtin_expect_with_probability",
                                      "__builtin_assume_aligned", NULL};
  static const char *const nothing[] = {"__builtin_constant_p", "__builtin_object_size",
                                        "__builtin_dynamic_object_size", NULL};
  static const char *const ends[] = {"__builtin_unreachable", "__builtin_trap", NULL};
  CXCursor callee = clang_getCursorReferenced(c);
  const char *name = lower_string(l, clang_getCursorSpelling(c));
  if (is_one_of(name, first) && clang_Cursor_getNumArguments(c) > 0)
    return lower_value(l, clang_Cursor_getArgument(c, 0));
  if (is_one_of(name, nothing))
    return "#0";
  if (is_one_of(name, ends)) {
    block_end(l, lower_line(c));
    return "?";
  }
  if (l->cxx && !is_function(callee.kind)) {
    CXCursor only = only_of_c(l, c);
    callee = clang_Cursor_isNull(only) ? callee : only;
  }
  return is_function(callee.kind) ? lower_direct(l, c, callee) : lower_indirect(l, c);
}
