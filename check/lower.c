/* SPDX-License-Identifier: MIT */
/* A unit, its functions and what is declared of them; see lower.h. */
#include "lower.h"

#include "read/util.h"

#include <ctype.h>
#include <search.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* -- texts, places, children ------------------------------------------------------------- */

const char *lower_say(struct lower *l, const char *format, ...) {
  char *text = NULL;
  va_list args;
  va_start(args, format);
  if (vasprintf(&text, format, args) < 0)
    abort();
  va_end(args);
  const char *kept = arena_text(l->arena, text);
  free(text);
  return kept;
}

const char *lower_string(struct lower *l, CXString string) {
  const char *text = clang_getCString(string), *kept = arena_text(l->arena, text ? text : "");
  clang_disposeString(string);
  return kept;
}

static enum CXChildVisitResult add_kid(CXCursor kid, CXCursor parent, CXClientData data) {
  struct kids *kids = data;
  (void)parent;
  kids->at = ir_grow(kids->at, kids->count, sizeof *kids->at);
  kids->at[kids->count++] = kid;
  return CXChildVisit_Continue;
}

struct kids kids_of(struct lower *l, CXCursor parent) {
  struct kids kids = {0};
  (void)l;
  clang_visitChildren(parent, add_kid, &kids);
  return kids;
}

unsigned lower_line(CXCursor c) {
  unsigned line = 0;
  CXString file;
  clang_getPresumedLocation(clang_getCursorLocation(c), &file, &line, NULL);
  clang_disposeString(file);
  return line;
}

const char *lower_file(struct lower *l, CXCursor c) {
  CXString file;
  clang_getPresumedLocation(clang_getCursorLocation(c), &file, NULL, NULL);
  const char *name = clang_getCString(file);
  if (!l->last_file || strcmp(l->last_file, name)) {
    l->last_file = arena_text(l->arena, name);
    l->last_shown = units_show(l->shown, l->directory, name);
  }
  clang_disposeString(file);
  return l->last_shown;
}

void lower_extent(CXCursor c, unsigned *begin, unsigned *end) {
  CXSourceRange range = clang_getCursorExtent(c);
  clang_getSpellingLocation(clang_getRangeStart(range), NULL, NULL, NULL, begin);
  clang_getSpellingLocation(clang_getRangeEnd(range), NULL, NULL, NULL, end);
}

const char *lower_between(struct lower *l, unsigned begin, unsigned end) {
  if (end > l->length || begin > end)
    return "";
  while (begin < end && isspace((unsigned char)l->text[begin]))
    begin++;
  while (begin < end && isspace((unsigned char)l->text[end - 1]))
    end--;
  return lower_say(l, "%.*s", (int)(end - begin), l->text + begin);
}

void lower_note(struct lower *l, struct ir_texts *list, const char *text) {
  for (size_t i = 0; i < list->count; i++)
    if (!strcmp(list->text[i], text))
      return;
  list->text = ir_grow(list->text, list->count, sizeof *list->text);
  list->text[list->count++] = arena_text(l->arena, text);
}

/* -- functions ------------------------------------------------------------------------------ */

static int by_key(const void *a, const void *b) {
  return strcmp(((const struct ir_function *)a)->key, ((const struct ir_function *)b)->key);
}

static struct ir_function *function_at(struct lower *l, const char *key, bool *is_new) {
  struct ir_function *f = arena_get(l->arena, 1, sizeof *f);
  f->key = key;
  struct ir_function *found = *(struct ir_function **)tsearch(f, &l->known, by_key);
  *is_new = found == f;
  if (*is_new) {
    l->unit->function = ir_grow(l->unit->function, l->unit->functions, sizeof f);
    l->unit->function[l->unit->functions++] = f;
  }
  return found;
}

static const char *qualified_of(struct lower *l, CXCursor c) {
  const char *name = lower_string(l, clang_getCursorSpelling(c));
  CXCursor in = clang_getCursorSemanticParent(c);
  for (; !clang_isInvalid(in.kind) && !clang_isTranslationUnit(in.kind);
       in = clang_getCursorSemanticParent(in)) {
    const char *part = lower_string(l, clang_getCursorSpelling(in));
    if (in.kind != CXCursor_LinkageSpec && *part && *part != '(')
      name = lower_say(l, "%s::%s", part, name);
  }
  return name;
}

static bool is_member(enum CXCursorKind kind) {
  return kind == CXCursor_CXXMethod || kind == CXCursor_Constructor ||
         kind == CXCursor_Destructor || kind == CXCursor_ConversionFunction;
}

static unsigned function_flags(struct lower *l, CXCursor c, const struct ir_function *f) {
  unsigned flags = l->cxx ? IR_CXX : 0;
  if (clang_getCursorLinkage(c) == CXLinkage_Internal)
    flags |= IR_STATIC;
  if (strstr(f->signature, "noreturn"))
    flags |= IR_NORETURN;
  if (is_member(c.kind) && !clang_CXXMethod_isStatic(c))
    flags |= IR_MEMBER;
  if (c.kind == CXCursor_Constructor)
    flags |= IR_MAKES;
  if (c.kind == CXCursor_CXXMethod && clang_CXXMethod_isVirtual(c))
    flags |= IR_VIRTUAL;
  if (!strcmp(f->symbol, f->name) || !l->cxx)
    flags |= IR_C_NAME;
  if (clang_Location_isInSystemHeader(clang_getCursorLocation(c)))
    flags |= IR_SYSTEM;
  return flags;
}

/* What this declaration says: its file, its attributes. */
static void note_declaration(struct lower *l, struct ir_function *f, CXCursor c) {
  if (clang_isInvalid(c.kind))
    return;
  lower_note(l, &f->files, lower_file(l, c));
  struct kids kids = kids_of(l, c);
  for (size_t i = 0; i < kids.count; i++) {
    enum CXCursorKind kind = kids.at[i].kind;
    if (!clang_isAttribute(kind))
      continue;
    const char *text = lower_string(l, clang_getCursorSpelling(kids.at[i]));
    unsigned begin, end;
    lower_extent(kids.at[i], &begin, &end);
    if (kind == CXCursor_AnnotateAttr && !strncmp(text, "aprof:", 6))
      lower_note(l, &f->annotations, text + 6);
    else if (kind == CXCursor_UnexposedAttr && strcasestr(lower_between(l, begin, end), "noreturn"))
      f->flags |= IR_NORETURN;
  }
}

static void note_parameters(struct lower *l, struct ir_function *f, CXCursor c) {
  int count = clang_Cursor_getNumArguments(c);
  for (int i = 0; i < count; i++) {
    CXType type = clang_getCursorType(clang_Cursor_getArgument(c, (unsigned)i));
    f->parameters.text = ir_grow(f->parameters.text, f->parameters.count, sizeof(char *));
    f->parameters.text[f->parameters.count++] = lower_string(l, clang_getTypeSpelling(type));
  }
}

/* External ones by their symbol, those of a file with its name. */
static const char *key_of(struct lower *l, CXCursor c, const char *symbol) {
  CXCursor first = clang_getCanonicalCursor(c);
  if (clang_getCursorLinkage(c) == CXLinkage_External && *symbol)
    return symbol;
  return lower_say(l, "%s@%s", lower_string(l, clang_getCursorUSR(c)), lower_file(l, first));
}

static const char *symbol_of(struct lower *l, CXCursor c) {
  const char *symbol = lower_string(l, clang_Cursor_getMangling(c));
  while (*symbol == '\1')
    symbol++;
  return symbol;
}

/* A virtual method, and those that it overrides, all the way up. */
static void note_overridden(struct lower *l, struct ir_function *f, CXCursor c) {
  CXCursor *over = NULL;
  unsigned count = 0;
  lower_note(l, &f->fields, lower_say(l, "virtual:%s", key_of(l, c, symbol_of(l, c))));
  clang_getOverriddenCursors(c, &over, &count);
  for (unsigned i = 0; i < count; i++)
    note_overridden(l, f, over[i]);
  clang_disposeOverriddenCursors(over);
}

struct ir_function *lower_function(struct lower *l, CXCursor c) {
  bool is_new;
  const char *symbol = symbol_of(l, c);
  struct ir_function *f = function_at(l, key_of(l, c, symbol), &is_new);
  if (!is_new)
    return f;
  f->name = lower_string(l, clang_getCursorSpelling(c));
  if (!*f->name) /* of a lambda's own class */
    f->name = "unnamed";
  f->qualified = l->cxx ? qualified_of(l, c) : f->name;
  f->symbol = *symbol ? symbol : f->name;
  f->signature = lower_string(l, clang_getTypeSpelling(clang_getCursorType(c)));
  f->flags = function_flags(l, c, f);
  note_declaration(l, f, c);
  note_declaration(l, f, clang_getCanonicalCursor(c));
  note_declaration(l, f, clang_getCursorDefinition(c));
  if (f->flags & IR_VIRTUAL)
    note_overridden(l, f, c);
  note_parameters(l, f, c);
  return f;
}

struct ir_function *lower_named(struct lower *l, const char *key) {
  bool is_new;
  return function_at(l, key, &is_new);
}

/* -- bodies ----------------------------------------------------------------------------------- */

/* Where its brace closes. */
static unsigned last_line(CXCursor block) {
  unsigned line = 0;
  CXString file;
  clang_getPresumedLocation(clang_getRangeEnd(clang_getCursorExtent(block)), &file, &line, NULL);
  clang_disposeString(file);
  return line;
}

static void note_damage(struct lower *l, struct ir_function *f, const struct ir_body *body,
                        unsigned last) {
  for (const struct check_place *e = l->error; e < l->error + l->errors; e++)
    if (e->line >= body->line && e->line <= last && !strcmp(e->file, body->file))
      f->flags |= IR_DAMAGED;
}

static void lower_body_of(struct lower *l, struct ir_function *f, CXCursor c, CXCursor block) {
  struct lower_body body = {.function = f, .choice = -1, .outer = l->body}, *outer = l->body;
  struct kids kids = kids_of(l, c);
  body.ir = arena_get(l->arena, 1, sizeof *body.ir);
  body.ir->file = lower_file(l, c);
  body.ir->line = lower_line(c);
  body.by_reference =
      clang_getCanonicalType(clang_getCursorResultType(c)).kind == CXType_LValueReference;
  l->body = &body;
  block_new(l, body.ir->line);
  for (size_t i = 0; i < kids.count; i++)
    if (kids.at[i].kind == CXCursor_ParmDecl)
      variable_new(l, kids.at[i]);
  if (block.kind == CXCursor_UnexposedStmt) {
    lower_coroutine(l, f, block);
    block = kids_of(l, block).at[0];
  }
  lower_statement(l, block);
  note_damage(l, f, body.ir, last_line(block));
  block_step(l, IR_RETURN, last_line(block), NULL);
  block_settle(l);
  f->body = body.ir;
  l->body = outer;
}

static bool body_in(struct lower *l, CXCursor c, CXCursor *body) {
  struct kids kids = kids_of(l, c);
  for (size_t i = 0; i < kids.count; i++)
    if (kids.at[i].kind == CXCursor_CompoundStmt || kids.at[i].kind == CXCursor_CXXTryStmt ||
        (kids.at[i].kind == CXCursor_UnexposedStmt && kids_of(l, kids.at[i]).count)) {
      *body = kids.at[i];
      return true;
    }
  return false;
}

struct ir_function *lower_lambda(struct lower *l, CXCursor c) {
  CXCursor body;
  bool is_new;
  unsigned begin, end;
  lower_extent(c, &begin, &end);
  struct ir_function *f = function_at(
      l, lower_say(l, "lambda@%s:%u:%u", lower_file(l, c), lower_line(c), begin), &is_new);
  f->name = f->qualified = f->symbol = "lambda";
  f->signature = lower_string(l, clang_getTypeSpelling(clang_getCursorType(c)));
  f->flags = IR_STATIC | IR_CXX | IR_LAMBDA;
  if (!f->body && body_in(l, c, &body))
    lower_body_of(l, f, c, body);
  return f;
}

/* Its class stands where the lambda does. */
struct ir_function *lower_called_lambda(struct lower *l, CXCursor method) {
  CXCursor of = clang_getCursorSemanticParent(method);
  unsigned begin;
  if (method.kind != CXCursor_CXXMethod ||
      !strstr(lower_string(l, clang_getTypeSpelling(clang_getCursorType(of))), "(lambda at "))
    return NULL;
  clang_getSpellingLocation(clang_getCursorLocation(of), NULL, NULL, NULL, &begin);
  return lower_named(l, lower_say(l, "lambda@%s:%u:%u", lower_file(l, of), lower_line(of), begin));
}

static bool is_function(enum CXCursorKind kind) {
  return kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate || is_member(kind);
}

/* A variable outside functions, for the functions that its initializer names. */
static void lower_table(struct lower *l, CXCursor variable) {
  struct lower_body body = {.choice = -1};
  body.ir = arena_get(l->arena, 1, sizeof *body.ir);
  l->body = &body;
  block_new(l, 0);
  CXCursor value = clang_Cursor_getVarDeclInitializer(variable);
  l->slot = lower_slot(l, variable);
  if (!clang_Cursor_isNull(value) && !clang_isInvalid(value.kind))
    lower_given(l, lower_value(l, value), clang_getCursorType(variable), variable, value);
  l->slot = NULL;
  l->body = NULL;
}

static enum CXChildVisitResult visit_top(CXCursor c, CXCursor parent, CXClientData data) {
  struct lower *l = data;
  CXCursor body;
  (void)parent;
  if (clang_Location_isInSystemHeader(clang_getCursorLocation(c)))
    return CXChildVisit_Continue;
  if (is_function(c.kind)) {
    if (clang_isCursorDefinition(c) && body_in(l, c, &body)) {
      struct ir_function *f = lower_function(l, c);
      note_declaration(l, f, c);
      if (!f->body)
        lower_body_of(l, f, c, body);
    }
    return CXChildVisit_Continue;
  }
  switch (c.kind) {
  case CXCursor_VarDecl:
    lower_table(l, c);
    return CXChildVisit_Continue;
  case CXCursor_Namespace:
  case CXCursor_LinkageSpec:
  case CXCursor_ClassDecl:
  case CXCursor_StructDecl:
  case CXCursor_ClassTemplate:
  case CXCursor_ClassTemplatePartialSpecialization:
  case CXCursor_UnexposedDecl:
    return CXChildVisit_Recurse;
  default:
    return CXChildVisit_Continue;
  }
}

void lower_unit(struct lower *l, CXTranslationUnit unit) {
  clang_visitChildren(clang_getTranslationUnitCursor(unit), visit_top, l);
}
