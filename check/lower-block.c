/* SPDX-License-Identifier: MIT */
/* Blocks and variables of the body that is being made; see lower.h. */
#include "lower.h"

#include "read/util.h"

#include <string.h>

unsigned block_new(struct lower *l, unsigned line) {
  struct ir_body *b = l->body->ir;
  b->block = ir_grow(b->block, b->blocks, sizeof *b->block);
  b->block[b->blocks] = (struct ir_block){.line = line};
  return (unsigned)b->blocks++;
}

void block_next(struct lower *l, unsigned from, unsigned to) {
  struct ir_block *k = &l->body->ir->block[from];
  k->next = ir_grow(k->next, k->nexts, sizeof *k->next);
  k->next[k->nexts++] = to;
}

void block_jump(struct lower *l, unsigned to) {
  block_next(l, l->body->now, to);
}

void block_branch(struct lower *l, const char *value, unsigned yes, unsigned no) {
  unsigned now = l->body->now;
  if (value[0] == '#' && !strchr(value, ' ')) {
    block_next(l, now, strcmp(value, "#0") ? yes : no);
    return;
  }
  l->body->ir->block[now].branch = value;
  block_next(l, now, yes);
  block_next(l, now, no);
}

struct ir_step *block_step(struct lower *l, enum ir_kind kind, unsigned line, const char *to) {
  struct ir_block *k = &l->body->ir->block[l->body->now];
  k->step = ir_grow(k->step, k->steps, sizeof *k->step);
  struct ir_step *s = &k->step[k->steps++];
  *s = (struct ir_step){.kind = kind, .line = line, .to = to, .id = -1};
  return s;
}

void block_end(struct lower *l, unsigned line) {
  l->body->now = block_new(l, line);
}

/* -- variables ------------------------------------------------------------------------- */

int variable_of(const struct lower *l, CXCursor declaration) {
  if (!l->body)
    return -1;
  for (size_t i = l->body->ir->variables; i-- > 0;)
    if (clang_equalCursors(l->body->declared[i], declaration))
      return (int)i;
  return -1;
}

/* The function of __attribute__((cleanup(f))), by its name: it is one of the unit. */
static const char *cleanup_of(struct lower *l, CXCursor variable) {
  struct kids kids = kids_of(l, variable);
  for (size_t i = 0; i < kids.count; i++) {
    unsigned begin, end;
    if (kids.at[i].kind != CXCursor_UnexposedAttr)
      continue;
    lower_extent(kids.at[i], &begin, &end);
    const char *text = lower_between(l, begin, end), *open = strchr(text, '(');
    if (open && (!strncmp(text, "cleanup", 7) || !strncmp(text, "__cleanup__", 11)))
      return lower_between(l, begin + (unsigned)(open - text) + 1, end - 1);
  }
  return NULL;
}

/* The key of the destructor that a class of the program declares; empty: it has none. */
static const char *destructor_of(struct lower *l, CXType type) {
  CXCursor of = clang_getTypeDeclaration(clang_getCanonicalType(type));
  CXCursor pattern = clang_getSpecializedCursorTemplate(of);
  if (!clang_Cursor_isNull(pattern) && !clang_isInvalid(pattern.kind))
    of = pattern;
  if (clang_Location_isInSystemHeader(clang_getCursorLocation(of)))
    return "";
  struct kids kids = kids_of(l, of);
  for (size_t i = 0; i < kids.count; i++)
    if (kids.at[i].kind == CXCursor_Destructor)
      return lower_function(l, kids.at[i])->key;
  return "";
}

static unsigned flags_of(CXCursor variable, CXType type) {
  unsigned flags = variable.kind == CXCursor_ParmDecl ? IR_PARAMETER : 0;
  enum CXTypeKind kind = clang_getCanonicalType(type).kind;
  if (clang_Cursor_getStorageClass(variable) == CX_SC_Static)
    flags |= IR_KEPT;
  if (clang_getCursorTLSKind(variable) != CXTLS_None)
    flags |= IR_THREAD;
  if (kind == CXType_Pointer)
    flags |= IR_POINTER;
  if (kind == CXType_LValueReference || kind == CXType_RValueReference)
    flags |= IR_REFERENCE;
  return flags;
}

int variable_new(struct lower *l, CXCursor declaration) {
  struct lower_body *b = l->body;
  struct ir_body *ir = b->ir;
  CXType type = clang_getCursorType(declaration);
  struct ir_variable v = {
      .name = lower_string(l, clang_getCursorSpelling(declaration)),
      .type = lower_string(l, clang_getTypeSpelling(type)),
      .cleanup = cleanup_of(l, declaration),
      .flags = flags_of(declaration, type),
      .line = lower_line(declaration),
  };
  bool object = l->cxx && clang_getCanonicalType(type).kind == CXType_Record &&
                !(v.flags & (IR_KEPT | IR_THREAD | IR_PARAMETER));
  if (!v.cleanup && object)
    v.cleanup = lower_say(l, "~%s", destructor_of(l, type));
  ir->variable = ir_grow(ir->variable, ir->variables, sizeof *ir->variable);
  b->declared = ir_grow(b->declared, ir->variables, sizeof *b->declared);
  b->declared[ir->variables] = declaration;
  ir->variable[ir->variables] = v;
  if (v.cleanup) {
    b->clean = ir_grow(b->clean, b->cleans, sizeof *b->clean);
    b->clean[b->cleans++] = (int)ir->variables;
  }
  return (int)ir->variables++;
}

/* A variable of the function around a lambda: that function no longer knows what it is. */
void variable_captured(struct lower *l, CXCursor variable) {
  struct lower_body *body = l->body;
  if (!body || !body->outer)
    return;
  l->body = body->outer;
  int id = variable_of(l, variable);
  if (id >= 0)
    block_step(l, IR_ADDRESS, lower_line(variable), lower_say(l, "$%d", id));
  else
    variable_captured(l, variable);
  l->body = body;
}

static void leave_scope(struct lower *l, int variable) {
  unsigned line = l->body->ir->block[l->body->now].line;
  const char *cleanup = l->body->ir->variable[variable].cleanup;
  block_step(l, IR_SCOPE, line, lower_say(l, "$%d", variable));
  if (cleanup[0] != '~' || !cleanup[1])
    return;
  struct ir_step *s = block_step(l, IR_CALL, line, cleanup + 1);
  s->value = IR_CLEANUP;
  s->argument.text = arena_get(l->arena, 1, sizeof(char *));
  s->argument.text[s->argument.count++] = lower_say(l, "&$%d", variable);
  s->id = l->body->calls++;
}

void block_clean(struct lower *l, size_t down_to) {
  for (size_t i = l->body->cleans; i > down_to; i--)
    leave_scope(l, l->body->clean[i - 1]);
}

/* -- labels ------------------------------------------------------------------------------ */

void block_settle(struct lower *l) {
  struct lower_body *b = l->body;
  for (struct lower_goto *g = b->jump; g < b->jump + b->jumps; g++)
    for (struct lower_label *to = b->label; to < b->label + b->labels; to++) {
      if (g->name && strcmp(g->name, to->name))
        continue;
      b->now = g->block;
      for (size_t i = g->cleans; g->name && i > to->clean; i--)
        leave_scope(l, g->clean[i - 1]);
      block_next(l, g->block, to->block);
      b->ir->block[g->block].many |= !g->name;
    }
}
