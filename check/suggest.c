/* SPDX-License-Identifier: MIT */
/* Bindings from headers; see suggest.h. */
#include "suggest.h"

#include "parse.h"
#include "suggest-api.h"
#include "suggest-names.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- what a header declares ---------------------------------------------------------------- */

const char *suggest_text(struct library *l, CXString string) {
  return lower_string(&l->lower, string);
}

/* The pointer that a callback is, whatever typedefs are before it; invalid: it is none. */
CXType suggest_function(CXType type) {
  CXType all = clang_getCanonicalType(type);
  if (all.kind == CXType_Pointer)
    all = clang_getCanonicalType(clang_getPointeeType(all));
  if (all.kind != CXType_FunctionProto && all.kind != CXType_FunctionNoProto)
    all.kind = CXType_Invalid;
  return all;
}

static bool is_any_pointer(CXType type) {
  CXType all = clang_getCanonicalType(type);
  return all.kind == CXType_Pointer &&
         clang_getCanonicalType(clang_getPointeeType(all)).kind == CXType_Void;
}

bool suggest_is_object(CXType type) {
  CXType all = clang_getCanonicalType(type);
  return all.kind == CXType_Pointer &&
         clang_getCanonicalType(clang_getPointeeType(all)).kind == CXType_Record;
}

CXCursor suggest_object(CXType type) {
  return clang_getTypeDeclaration(
      clang_getCanonicalType(clang_getPointeeType(clang_getCanonicalType(type))));
}

/* Also where one of them is const. */
bool suggest_same(CXType a, CXType b) {
  if (suggest_is_object(a) && suggest_is_object(b))
    return clang_equalCursors(suggest_object(a), suggest_object(b));
  return clang_equalTypes(clang_getCanonicalType(a), clang_getCanonicalType(b));
}

static bool ends_in(const char *file, const char *header) {
  size_t length = strlen(file), tail = strlen(header);
  return length >= tail && !strcmp(file + length - tail, header) &&
         (length == tail || file[length - tail - 1] == '/');
}

/* In one of the headers, or in a folder of its name beside it: uv.h has uv/unix.h, glib.h
   glib/gmain.h, and gio/gio.h all of gio/. */
bool suggest_is_of(const struct library *l, const char *file) {
  for (size_t i = 0; i < l->headers; i++) {
    const char *header = l->header[i], *slash = strrchr(header, '/');
    const char *base = slash ? slash + 1 : header;
    int stem = (int)strcspn(base, ".");
    char *folder = print_string("/%.*s/", stem, base);
    bool is = ends_in(file, header) || strstr(file, folder);
    free(folder);
    if (is)
      return true;
  }
  return false;
}

static void note_parameters(struct library *l, struct api *f, CXCursor c) {
  f->count = clang_Cursor_getNumArguments(c);
  if (f->count > MOST)
    f->count = MOST;
  for (int i = 0; i < f->count; i++) {
    CXCursor argument = clang_Cursor_getArgument(c, (unsigned)i);
    f->kind[i] = clang_getCursorType(argument);
    f->type[i] = suggest_text(l, clang_getTypeSpelling(f->kind[i]));
    f->parameter[i] = suggest_text(l, clang_getCursorSpelling(argument));
  }
}

/* A callback that the call keeps, as far as names tell. */
static bool is_later(const struct api *f, int i) {
  if (suggest_function(f->kind[i]).kind == CXType_Invalid)
    return false;
  return has_word(f->type[i], words_once) ||
         (!has_word(f->type[i], words_at_once) && !has_word(f->parameter[i], words_at_once) &&
          (ends_in_word(f->name, words_async) ||
           (!has_word(f->name, words_visit) && !has_word(f->type[0], words_first))));
}

struct fields {
  CXCursor at[MOST];
  int count;
};

static enum CXVisitorResult add_field(CXCursor field, CXClientData data) {
  struct fields *f = data;
  f->at[f->count++] = field;
  return f->count < MOST ? CXVisit_Continue : CXVisit_Break;
}

static struct fields fields_of(CXType pointer) {
  struct fields f = {.count = 0};
  clang_Type_visitFields(clang_getPointeeType(clang_getCanonicalType(pointer)), add_field, &f);
  return f;
}

/* A member of an unnamed type has one of its own in each struct: its size has to do. */
static bool is_same_field(struct library *l, CXCursor a, CXCursor b) {
  CXType one = clang_getCanonicalType(clang_getCursorType(a)),
         other = clang_getCanonicalType(clang_getCursorType(b));
  bool unnamed = one.kind == CXType_Record && other.kind == CXType_Record;
  return !strcmp(suggest_text(l, clang_getCursorSpelling(a)),
                 suggest_text(l, clang_getCursorSpelling(b))) &&
         (unnamed ? clang_Type_getSizeOf(one) == clang_Type_getSizeOf(other)
                  : clang_equalTypes(one, other) != 0);
}

/* A struct that begins with all members of the other one, which is handed on in its place. */
static bool begins_as(struct library *l, CXType type, CXType other) {
  if (!suggest_is_object(type) || !suggest_is_object(other))
    return false;
  struct fields all = fields_of(type), first = fields_of(other);
  bool same = first.count > 1 && all.count >= first.count;
  for (int i = 0; same && i < first.count; i++)
    same = is_same_field(l, all.at[i], first.at[i]);
  return same;
}

/* The key: an object that the callback gets, too; else its data; else what is returned. */
static void find_key(struct library *l, struct api *f) {
  CXType callback = suggest_function(f->kind[f->callback]);
  int theirs = clang_getNumArgTypes(callback);
  for (int k = 0; k < theirs && f->key == NONE; k++)
    for (int i = 0; i < f->count && f->key == NONE; i++)
      if (suggest_is_object(f->kind[i]) &&
          suggest_same(f->kind[i], clang_getArgType(callback, (unsigned)k))) {
        f->key = i;
        f->callback_key = k;
      }
  if (f->key == NONE && theirs && f->count &&
      begins_as(l, f->kind[0], clang_getArgType(callback, 0)))
    f->key = 0;
  for (int k = 0; k < theirs && f->key == NONE && !f->by_result; k++)
    if (is_any_pointer(clang_getArgType(callback, (unsigned)k)))
      for (int i = f->count - 1; i >= 0 && f->key == NONE; i--)
        if (is_any_pointer(f->kind[i])) {
          f->key = f->data = i;
          f->callback_key = k;
        }
  f->by_result = f->key == NONE;
}

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data) {
  struct library *l = data;
  (void)parent;
  if (c.kind == CXCursor_LinkageSpec || c.kind == CXCursor_UnexposedDecl)
    return CXChildVisit_Recurse;
  if (c.kind != CXCursor_FunctionDecl || !suggest_is_of(l, lower_file(&l->lower, c)))
    return CXChildVisit_Continue;
  const char *name = suggest_text(l, clang_getCursorSpelling(c));
  for (size_t i = 0; i < l->count; i++)
    if (!strcmp(l->list[i].name, name))
      return CXChildVisit_Continue;
  l->list = ir_grow(l->list, l->count, sizeof *l->list);
  struct api *f = &l->list[l->count++];
  *f = (struct api){.at = c, .name = name, .callback = NONE, .key = NONE, .data = NONE};
  f->returns = suggest_text(l, clang_getTypeSpelling(clang_getCursorResultType(c)));
  note_parameters(l, f, c);
  for (int i = 0; i < f->count && f->callback == NONE; i++)
    if (is_later(f, i))
      f->callback = i;
  for (int i = 0; i < f->count && f->callback == NONE; i++)
    if (suggest_function(f->kind[i]).kind != CXType_Invalid &&
        use_of(&l->uses, USE_PASSED, f->name, i)) {
      f->callback = i;
      f->by_use = true;
    }
  if (f->callback != NONE)
    find_key(l, f);
  return CXChildVisit_Continue;
}

/* -- lines --------------------------------------------------------------------------------------
 */

/* What it returns is no name of a future: nothing, or whether it went well. */
static bool is_nameless(const struct api *f) {
  enum CXTypeKind kind = clang_getCanonicalType(clang_getCursorResultType(f->at)).kind;
  return f->key == NONE && (kind == CXType_Void || kind == CXType_Int);
}

static void write_create(struct library *l, const struct api *f) {
  bool once = has_word(f->name, words_async) || has_word(f->type[f->callback], words_once);
  bool often = !once && has_word(f->name, words_often), status = !strcmp(f->returns, "int");
  fprintf(l->out, "# %s: argument %d (%s) is called back", f->name, f->callback,
          f->type[f->callback]);
  if (f->key == NONE)
    fputs(". ? For which future, its own arguments do not tell: its run needs a key", l->out);
  else
    fprintf(l->out, " with %sargument %d (%s)", f->data == NONE ? "" : "its data, ", f->key,
            f->type[f->key]);
  fprintf(l->out, ". ? %s%s\n", often ? "Again and again, by its name" : "Once",
          status ? "; does 0 mean that it has begun" : "");
  const struct use *use = use_of(&l->uses, USE_PASSED, f->name, f->callback);
  if (use)
    fprintf(l->out, "# In use: '%s', at %s:%u.%s\n", use->other, use->file, use->line,
            f->by_use ? " ? By its name it is called back before the call returns; if not:" : "");
  fputs(f->by_use || is_nameless(f) ? "#   " : "", l->out);
  fprintf(l->out, "create call:%s key=", f->name);
  fprintf(l->out, f->key == NONE ? "ret" : "a%d", f->key);
  fprintf(l->out, " fn=a%d%s%s", f->callback, status ? " ok=ret==0" : "",
          often && f->key != NONE ? " rearm" : "");
  if (f->key != NONE)
    fprintf(l->out, " | run key=a%d %s", f->callback_key, often ? "multi" : "once");
  fputc('\n', l->out);
  l->creates++;
}

/* Something that a create of the library has as its key. */
static const struct api *made_by(const struct library *l, const struct api *f) {
  if (f->count == 0)
    return NULL;
  for (size_t i = 0; i < l->count; i++) {
    const struct api *maker = &l->list[i];
    if (maker->callback == NONE || maker == f)
      continue;
    CXType key =
        maker->key != NONE ? maker->kind[maker->key] : clang_getCursorResultType(maker->at);
    bool number = key.kind != CXType_Invalid && !suggest_is_object(key) && maker->key != NONE;
    if (!number && clang_getCanonicalType(key).kind != CXType_Void &&
        clang_getCanonicalType(key).kind != CXType_Int && !is_any_pointer(key) &&
        suggest_same(key, f->kind[0]))
      return maker;
  }
  return NULL;
}

/* The program gives it what a create of the library has returned, which is its key. */
static const struct use *given_result(const struct library *l, const struct api *f) {
  const struct use *use = use_of(&l->uses, USE_RESULT, f->name, 0);
  for (size_t i = 0; use && i < l->count; i++)
    if (!strcmp(l->list[i].name, use->other))
      return l->list[i].callback != NONE && l->list[i].key == NONE ? use : NULL;
  return NULL;
}

static void write_other(struct library *l, const struct api *f) {
  const struct api *maker = has_word(f->name, words_get) ? NULL : made_by(l, f);
  const struct use *use = maker ? NULL : given_result(l, f);
  bool ends = maker && f->count <= 2 && ends_in_word(f->name, words_end);
  bool wakes =
      maker && f->count <= 2 && !ends && f->callback == NONE && ends_in_word(f->name, words_wake);
  if (ends || wakes)
    fprintf(l->out,
            "# %s: its argument is of the type that is the key of %s.\n%s call:%s key=a0%s\n",
            f->name, maker->name, ends ? "end " : "wake", f->name,
            ends && has_word(f->name, words_cancel) ? " how=cancelled" : "");
  else if (use && ends_in_word(f->name, words_end))
    fprintf(l->out, "# %s: at %s:%u it is given what %s has returned.\nend call:%s key=a0\n",
            f->name, use->file, use->line, use->other, f->name);
  else if (f->callback == NONE && has_word(f->name, words_wait))
    fprintf(l->out,
            "# ? %s: waits, by its name. Of these one, if a future calls it:\n"
            "#   blocking call:%s\n#   await call:%s\n",
            f->name, f->name, f->name);
  else
    return;
  l->others++;
}

static void write_all(struct library *l) {
  fprintf(l->out, "# A start, from names and types alone. Lines with a question are to be decided "
                  "by who knows the\n"
                  "# library; take out what is called back before the call returns. "
                  "aprof-bindings(5) has the words.\n");
  for (size_t i = 0; i < l->headers; i++)
    fprintf(l->out, "header %s\n", l->header[i]);
  fputs("\n# ---- what is called back -----------------------------------------------------\n",
        l->out);
  for (size_t i = 0; i < l->count; i++)
    if (l->list[i].callback != NONE)
      write_create(l, &l->list[i]);
  for (size_t i = 0; i < l->count; i++)
    if (use_of(&l->uses, USE_CALL, l->list[i].name, -1)) {
      l->used++;
      suggest_members(l, &l->list[i]);
    }
  fputs("\n# ---- what ends, wakes and waits ------------------------------------------------\n",
        l->out);
  for (size_t i = 0; i < l->count; i++)
    write_other(l, &l->list[i]);
}

/* -- the run
 * --------------------------------------------------------------------------------------- */

/* A unit that includes them: its path, to be freed. */
static char *write_unit(const struct suggest_request *r) {
  const char *tmp = getenv("TMPDIR");
  char *path = print_string("%s/aprof-suggest.XXXXXX.c", tmp && *tmp ? tmp : "/tmp");
  int fd = mkstemps(path, 2);
  FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
  if (!out) {
    complain("no file can be made at %s: set TMPDIR to another folder", path);
    return NULL;
  }
  for (size_t i = 0; i < r->headers; i++) {
    char *real = access(r->header[i], R_OK) == 0 ? realpath(r->header[i], NULL) : NULL;
    fprintf(out, real ? "#include \"%s\"\n" : "#include <%s>\n", real ? real : r->header[i]);
    free(real);
  }
  return fclose(out) ? NULL : path;
}

static bool read_headers(struct library *l, const struct suggest_request *r, char *path) {
  struct units units = {.base = getcwd(NULL, 0)};
  bool failed = false;
  if (!units_of_files(&units, &path, 1, r->flag, r->flags))
    return false;
  l->lower = (struct lower){.arena = &l->arena, .shown = &units, .directory = units.base};
  char *text = parse_text(&units.unit[0], &l->lower.length, &failed);
  CXTranslationUnit tree = text ? parse_tree(&units.unit[0], text, l->lower.length) : NULL;
  l->lower.text = text;
  if (!tree)
    complain("`" APROF_CLANG "' cannot be run: install clang");
  else
    clang_visitChildren(clang_getTranslationUnitCursor(tree), visit, l);
  if (tree && !l->count)
    complain("%s %s: name it as #include does, and give flags behind -- as to a compiler (-I...)",
             r->header[0],
             failed ? "cannot be read whole, and no function is seen" : "declares no function");
  return tree && l->count;
}

bool suggest_run(const struct suggest_request *r, struct suggest_result *result) {
  struct library *l = allocate(1, sizeof *l);
  size_t length;
  char *path = write_unit(r);
  *result = (struct suggest_result){0};
  l->header = r->header;
  l->headers = r->headers;
  bool well = path && (!r->program || uses_read(&l->uses, r->program)) && read_headers(l, r, path);
  if (path)
    unlink(path);
  free(path);
  if (!well)
    return false;
  l->out = open_memstream(&result->text, &length);
  write_all(l);
  fclose(l->out);
  result->functions = l->count;
  result->creates = l->creates;
  result->others = l->others;
  result->used = l->used;
  return true;
}
