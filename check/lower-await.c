/* SPDX-License-Identifier: MIT */
/*
 * Coroutines of C++20; see lower.h. libclang has no kinds of cursors for them: they are told by
 * their words.
 */
#include "lower.h"

#include <string.h>

static bool begins(struct lower *l, CXCursor c, const char *word) {
  unsigned begin, end;
  size_t length = strlen(word);
  lower_extent(c, &begin, &end);
  return begin + length < l->length && !strncmp(l->text + begin, word, length) &&
         !strchr("_abcdefghijklmnopqrstuvwxyz", l->text[begin + length]);
}

static bool is_at(CXCursor c, unsigned at) {
  unsigned begin, end;
  lower_extent(c, &begin, &end);
  return begin == at;
}

/* Conversions of it begin where it does; what is awaited stands behind the word. */
bool lower_is_await(struct lower *l, CXCursor c, CXCursor *operand) {
  unsigned begin, end;
  bool yields = c.kind == CXCursor_UnexposedExpr && begins(l, c, "co_yield");
  if (c.kind != CXCursor_UnexposedExpr || (!begins(l, c, "co_await") && !yields))
    return false;
  lower_extent(c, &begin, &end);
  for (;;) {
    struct kids kids = kids_of(l, c);
    *operand = kids.count ? kids.at[0] : clang_getNullCursor();
    if (!kids.count || !is_at(kids.at[0], begin))
      return true;
    if (kids.at[0].kind != CXCursor_UnexposedExpr)
      return yields; /* promise.yield_value(operand) stands there */
    c = kids.at[0];
  }
}

/* A function that no source has: a line is about it. */
static struct ir_function *await_function(struct lower *l, const char *name) {
  struct ir_function *f = lower_named(l, name);
  if (!f->name) {
    f->name = f->qualified = f->symbol = name;
    f->signature = "";
    f->flags = IR_CXX | IR_C_NAME;
    lower_note(l, &f->annotations, "await");
  }
  return f;
}

const char *lower_await(struct lower *l, CXCursor c, CXCursor operand) {
  bool none = clang_Cursor_isNull(operand), yields = begins(l, c, "co_yield");
  const char *value = none ? "?" : lower_value(l, operand);
  const char *type =
      none ? "" : lower_string(l, clang_getTypeSpelling(clang_getCursorType(operand)));
  if (strstr(type, "suspend_never"))
    return "?";
  struct ir_step *s = block_step(l, IR_CALL, lower_line(c),
                                 await_function(l, yields ? "co_yield" : "co_await")->key);
  s->argument.text = arena_get(l->arena, 1, sizeof(char *));
  s->argument.text[s->argument.count++] = value;
  s->id = l->body->calls++;
  if (!yields && l->body->function)
    l->body->function->flags |= IR_COROUTINE;
  return lower_say(l, "!%d", s->id);
}

bool lower_is_return(struct lower *l, CXCursor c) {
  return c.kind == CXCursor_UnexposedStmt && begins(l, c, "co_return");
}

/* What is called at its begin is told by its type: std::suspend_always. */
static enum CXChildVisitResult find_initial(CXCursor c, CXCursor parent, CXClientData data) {
  CXCursor *found = data;
  (void)parent;
  CXString name = clang_getCursorSpelling(c);
  const char *text = clang_getCString(name);
  if (c.kind == CXCursor_CallExpr && text && !strcmp(text, "initial_suspend"))
    *found = c;
  clang_disposeString(name);
  return clang_Cursor_isNull(*found) ? CXChildVisit_Recurse : CXChildVisit_Break;
}

void lower_coroutine(struct lower *l, struct ir_function *f, CXCursor body) {
  struct kids kids = kids_of(l, body);
  CXCursor initial = clang_getNullCursor();
  f->flags |= IR_STACKLESS;
  for (size_t i = 1; i < kids.count && clang_Cursor_isNull(initial); i++)
    clang_visitChildren(kids.at[i], find_initial, &initial);
  if (!clang_Cursor_isNull(initial) &&
      strstr(lower_string(l, clang_getTypeSpelling(clang_getCursorType(initial))),
             "suspend_always"))
    f->flags |= IR_LAZY;
}
