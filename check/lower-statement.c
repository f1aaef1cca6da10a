/* SPDX-License-Identifier: MIT */
/* Statements; see lower.h. */
#include "lower.h"

#include "read/util.h"

#include <string.h>

static void lower_declarations(struct lower *l, CXCursor statement) {
  struct kids kids = kids_of(l, statement);
  for (size_t i = 0; i < kids.count; i++)
    if (kids.at[i].kind == CXCursor_VarDecl)
      lower_declaration(l, kids.at[i]);
}

static void lower_scope(struct lower *l, CXCursor statement) {
  struct kids kids = kids_of(l, statement);
  size_t clean = l->body->cleans;
  for (size_t i = 0; i < kids.count; i++)
    lower_statement(l, kids.at[i]);
  block_clean(l, clean);
  l->body->cleans = clean;
}

/* The children behind a variable that a condition declares. */
static struct kids after_variable(struct lower *l, CXCursor statement) {
  struct kids kids = kids_of(l, statement);
  while (kids.count > 1 &&
         (kids.at[0].kind == CXCursor_VarDecl || kids.at[0].kind == CXCursor_DeclStmt)) {
    if (kids.at[0].kind == CXCursor_VarDecl)
      lower_declaration(l, kids.at[0]);
    else
      lower_declarations(l, kids.at[0]);
    kids.at++;
    kids.count--;
  }
  return kids;
}

static void lower_if(struct lower *l, CXCursor c) {
  unsigned line = lower_line(c);
  size_t clean = l->body->cleans;
  struct kids kids = after_variable(l, c);
  if (kids.count < 2)
    return;
  unsigned yes = block_new(l, line), after = block_new(l, line),
           no = kids.count > 2 ? block_new(l, line) : after;
  lower_condition(l, kids.at[0], yes, no);
  l->body->now = yes;
  lower_statement(l, kids.at[1]);
  block_jump(l, after);
  if (kids.count > 2) {
    l->body->now = no;
    lower_statement(l, kids.at[2]);
    block_jump(l, after);
  }
  l->body->now = after;
  block_clean(l, clean);
  l->body->cleans = clean;
}

/* -- loops --------------------------------------------------------------------------------- */

/* The body of a loop, and where its break and continue lead. */
static void lower_loop_body(struct lower *l, CXCursor body, unsigned leave, unsigned again) {
  struct lower_body *b = l->body;
  struct lower_target *leave_before = b->leave, *again_before = b->again;
  b->leave = &(struct lower_target){leave, b->cleans};
  b->again = &(struct lower_target){again, b->cleans};
  lower_statement(l, body);
  block_jump(l, again);
  b->leave = leave_before;
  b->again = again_before;
}

/* The parts of for (first; second; third), by the semicolons between them: each may be missing. */
static unsigned part_of_for(struct lower *l, CXCursor loop, CXCursor part) {
  unsigned begin, end, at, ignored, semicolons = 0;
  int depth = 0;
  lower_extent(loop, &begin, &end);
  lower_extent(part, &at, &ignored);
  char quote = 0;
  for (unsigned i = begin; i < at && i < l->length; i++) {
    char c = l->text[i];
    if (quote) {
      if (c == '\\')
        i++;
      else if (c == quote)
        quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else {
      depth += (c == '(' || c == '{') - (c == ')' || c == '}');
      semicolons += c == ';' && depth == 1;
    }
  }
  return semicolons;
}

static void lower_for(struct lower *l, CXCursor c) {
  struct kids kids = kids_of(l, c);
  unsigned line = lower_line(c);
  size_t clean = l->body->cleans;
  CXCursor *test = NULL, *step = NULL;
  for (size_t i = 0; i + 1 < kids.count; i++) {
    unsigned part = part_of_for(l, c, kids.at[i]);
    if (part == 0)
      lower_statement(l, kids.at[i]);
    else if (part == 1 && kids.at[i].kind != CXCursor_VarDecl)
      test = &kids.at[i];
    else if (part == 2)
      step = &kids.at[i];
  }
  unsigned head = block_new(l, line), body = block_new(l, line), again = block_new(l, line),
           after = block_new(l, line);
  block_jump(l, head);
  l->body->now = head;
  if (test)
    lower_condition(l, *test, body, after);
  else
    block_jump(l, body);
  l->body->now = body;
  lower_loop_body(l, kids.at[kids.count - 1], after, again);
  l->body->now = again;
  if (step)
    lower_statement(l, *step);
  block_jump(l, head);
  l->body->now = after;
  block_clean(l, clean);
  l->body->cleans = clean;
}

static void lower_while(struct lower *l, CXCursor c) {
  unsigned line = lower_line(c), head = block_new(l, line), body = block_new(l, line),
           after = block_new(l, line);
  size_t clean = l->body->cleans;
  block_jump(l, head);
  l->body->now = head;
  struct kids kids = after_variable(l, c);
  if (kids.count < 2)
    return;
  lower_condition(l, kids.at[0], body, after);
  l->body->now = body;
  lower_loop_body(l, kids.at[1], after, head);
  l->body->now = after;
  block_clean(l, clean);
  l->body->cleans = clean;
}

static void lower_do(struct lower *l, CXCursor c) {
  struct kids kids = kids_of(l, c);
  unsigned line = lower_line(c), body = block_new(l, line), test = block_new(l, line),
           after = block_new(l, line);
  if (kids.count < 2)
    return;
  block_jump(l, body);
  l->body->now = body;
  lower_loop_body(l, kids.at[0], after, test);
  l->body->now = test;
  lower_condition(l, kids.at[1], body, after);
  l->body->now = after;
}

static void lower_range(struct lower *l, CXCursor c) {
  struct kids kids = kids_of(l, c);
  unsigned line = lower_line(c), head = block_new(l, line), body = block_new(l, line),
           after = block_new(l, line);
  size_t clean = l->body->cleans;
  for (size_t i = 0; i + 1 < kids.count; i++)
    if (clang_isExpression(kids.at[i].kind)) /* begin() and end() are called of it */
      block_step(l, IR_SET, line, "?")->value = lower_value(l, kids.at[i]);
  block_jump(l, head);
  l->body->now = head;
  block_branch(l, "?", body, after);
  l->body->now = body;
  for (size_t i = 0; i + 1 < kids.count; i++)
    if (kids.at[i].kind == CXCursor_VarDecl)
      lower_declaration(l, kids.at[i]);
  if (kids.count)
    lower_loop_body(l, kids.at[kids.count - 1], after, head);
  l->body->cleans = clean;
  l->body->now = after;
}

/* -- choices ---------------------------------------------------------------------------------- */

static void lower_switch(struct lower *l, CXCursor c) {
  struct lower_body *b = l->body;
  size_t clean = b->cleans;
  struct kids kids = after_variable(l, c);
  unsigned line = lower_line(c);
  if (kids.count < 2)
    return;
  const char *value = lower_value(l, kids.at[0]);
  int choice_before = b->choice;
  bool default_before = b->has_default;
  struct lower_target *leave_before = b->leave;
  unsigned after = block_new(l, line);
  b->choice = (int)b->now;
  b->has_default = false;
  b->ir->block[b->now].many = true;
  b->ir->block[b->now].branch = value;
  b->leave = &(struct lower_target){after, b->cleans};
  b->now = block_new(l, line); /* what stands before the first label is never reached */
  lower_statement(l, kids.at[1]);
  block_jump(l, after);
  if (!b->has_default)
    block_next(l, (unsigned)b->choice, after);
  b->choice = choice_before;
  b->has_default = default_before;
  b->leave = leave_before;
  b->now = after;
  block_clean(l, clean);
  b->cleans = clean;
}

static void lower_case(struct lower *l, CXCursor c) {
  struct kids kids = kids_of(l, c);
  unsigned at = block_new(l, lower_line(c));
  l->body->has_default |= c.kind == CXCursor_DefaultStmt;
  if (l->body->choice >= 0)
    block_next(l, (unsigned)l->body->choice, at);
  block_jump(l, at);
  l->body->now = at;
  if (kids.count)
    lower_statement(l, kids.at[kids.count - 1]);
}

/* -- jumps ---------------------------------------------------------------------------------------
 */

static void lower_leave(struct lower *l, CXCursor c, const struct lower_target *to) {
  if (!to)
    return;
  block_clean(l, to->clean);
  block_jump(l, to->block);
  block_end(l, lower_line(c));
}

static void lower_label(struct lower *l, CXCursor c) {
  struct lower_body *b = l->body;
  struct kids kids = kids_of(l, c);
  unsigned at = block_new(l, lower_line(c));
  block_jump(l, at);
  b->now = at;
  b->label = ir_grow(b->label, b->labels, sizeof *b->label);
  b->label[b->labels++] =
      (struct lower_label){lower_string(l, clang_getCursorSpelling(c)), at, b->cleans};
  for (size_t i = 0; i < kids.count; i++)
    lower_statement(l, kids.at[i]);
}

static void lower_goto(struct lower *l, CXCursor c) {
  struct lower_body *b = l->body;
  struct kids kids = kids_of(l, c);
  struct lower_goto jump = {.cleans = b->cleans};
  for (size_t i = 0; i < kids.count; i++)
    if (kids.at[i].kind == CXCursor_LabelRef)
      jump.name = lower_string(l, clang_getCursorSpelling(kids.at[i]));
    else if (clang_isExpression(kids.at[i].kind))
      lower_value(l, kids.at[i]);
  jump.block = b->now;
  jump.clean = allocate(b->cleans + 1, sizeof *jump.clean);
  if (b->cleans)
    memcpy(jump.clean, b->clean, b->cleans * sizeof *jump.clean);
  b->jump = ir_grow(b->jump, b->jumps, sizeof *b->jump);
  b->jump[b->jumps++] = jump;
  block_end(l, lower_line(c));
}

static void lower_return(struct lower *l, CXCursor c) {
  struct kids kids = kids_of(l, c);
  const char *value = NULL;
  for (size_t i = 0; i < kids.count; i++)
    if (clang_isExpression(kids.at[i].kind) && (i == 0 || c.kind == CXCursor_ReturnStmt))
      value =
          l->body->by_reference
              ? lower_reference(l, kids.at[i])
              : lower_value(l, kids.at[i]); /* behind that of co_return stands what is made of it */
  block_clean(l, 0);
  block_step(l, IR_RETURN, lower_line(c), NULL)->value = value;
  block_end(l, lower_line(c));
}

/* What may throw; the block from which the first exception comes: behind the first statement, which
   has been called by then, or before it, where it declares what the end of the scope cleans up. */
static unsigned lower_tried(struct lower *l, CXCursor c) {
  struct kids kids = kids_of(l, c);
  size_t clean = l->body->cleans;
  unsigned from = l->body->now, body = block_new(l, lower_line(c));
  block_jump(l, body);
  l->body->now = body;
  for (size_t i = 0; i < kids.count; i++) {
    lower_statement(l, kids.at[i]);
    if (i || l->body->cleans > clean)
      continue;
    from = l->body->now;
    unsigned rest = block_new(l, lower_line(c));
    block_jump(l, rest);
    l->body->now = rest;
  }
  block_clean(l, clean);
  l->body->cleans = clean;
  return from;
}

/* An exception may come from anywhere inside: from its begin, and after all of it. */
static void lower_try(struct lower *l, CXCursor c) {
  struct kids kids = kids_of(l, c);
  unsigned line = lower_line(c), after = block_new(l, line),
           before = kids.count ? lower_tried(l, kids.at[0]) : l->body->now, end = l->body->now;
  block_jump(l, after);
  for (size_t i = 1; i < kids.count; i++) {
    unsigned catch = block_new(l, lower_line(kids.at[i]));
    block_next(l, before, catch);
    block_next(l, end, catch);
    l->body->ir->block[before].many = l->body->ir->block[end].many = true;
    l->body->now = catch;
    struct kids parts = kids_of(l, kids.at[i]);
    if (parts.count)
      lower_statement(l, parts.at[parts.count - 1]);
    block_jump(l, after);
  }
  l->body->now = after;
}

void lower_statement(struct lower *l, CXCursor c) {
  switch (c.kind) {
  case CXCursor_CompoundStmt:
    lower_scope(l, c);
    return;
  case CXCursor_DeclStmt:
    lower_declarations(l, c);
    return;
  case CXCursor_IfStmt:
    lower_if(l, c);
    return;
  case CXCursor_ForStmt:
    lower_for(l, c);
    return;
  case CXCursor_WhileStmt:
    lower_while(l, c);
    return;
  case CXCursor_DoStmt:
    lower_do(l, c);
    return;
  case CXCursor_CXXForRangeStmt:
    lower_range(l, c);
    return;
  case CXCursor_SwitchStmt:
    lower_switch(l, c);
    return;
  case CXCursor_CaseStmt:
  case CXCursor_DefaultStmt:
    lower_case(l, c);
    return;
  case CXCursor_BreakStmt:
    lower_leave(l, c, l->body->leave);
    return;
  case CXCursor_ContinueStmt:
    lower_leave(l, c, l->body->again);
    return;
  case CXCursor_LabelStmt:
    lower_label(l, c);
    return;
  case CXCursor_GotoStmt:
  case CXCursor_IndirectGotoStmt:
    lower_goto(l, c);
    return;
  case CXCursor_ReturnStmt:
    lower_return(l, c);
    return;
  case CXCursor_CXXTryStmt:
    lower_try(l, c);
    return;
  case CXCursor_UnexposedStmt:
    if (lower_is_return(l, c)) {
      lower_return(l, c);
      return;
    }
    __attribute__((fallthrough));
  case CXCursor_GCCAsmStmt: {
    struct kids kids = kids_of(l, c);
    for (size_t i = 0; i < kids.count; i++)
      lower_statement(l, kids.at[i]);
    return;
  }
  default:
    if (clang_isExpression(c.kind))
      lower_value(l, c);
  }
}
