/* SPDX-License-Identifier: MIT */
/* Callbacks that a program puts into members of a library's structs; see suggest-api.h. */
#include "suggest-api.h"

#include <string.h>

struct member {
  const char *name;
  CXType type;
};

static enum CXVisitorResult find_member(CXCursor field, CXClientData data) {
  struct member *m = data;
  CXString name = clang_getCursorSpelling(field);
  bool is = !strcmp(clang_getCString(name), m->name);
  clang_disposeString(name);
  if (is)
    m->type = clang_getCursorType(field);
  return is ? CXVisit_Break : CXVisit_Continue;
}

/* The argument that the callback gets, too, or the first object; and which of the callback's. */
static int key_beside(const struct api *f, int but, CXType callback, int *theirs) {
  int count = clang_getNumArgTypes(callback);
  for (*theirs = 0; *theirs < count; ++*theirs)
    for (int i = 0; i < f->count; i++)
      if (i != but && suggest_is_object(f->kind[i]) &&
          suggest_same(f->kind[i], clang_getArgType(callback, (unsigned)*theirs)))
        return i;
  return NONE;
}

static void write_member(struct library *l, const struct api *f, int at,
                         const struct member_use *use) {
  struct member m = {.name = use->member, .type = {.kind = CXType_Invalid}};
  CXType all = clang_getCanonicalType(f->kind[at]);
  clang_Type_visitFields(clang_getCanonicalType(clang_getPointeeType(all)), find_member, &m);
  CXType callback = suggest_function(m.type);
  if (callback.kind == CXType_Invalid)
    return;
  int theirs, key = key_beside(f, at, callback, &theirs);
  fprintf(l->out,
          "# %s: the program puts '%s' into %s.%s, to which argument %d points. ? Later, once\n",
          f->name, use->callback, use->type, use->member, at);
  fprintf(l->out, "create call:%s key=", f->name);
  if (key == NONE)
    fprintf(l->out, "ret fn=a%d->%s\n", at, use->member);
  else
    fprintf(l->out, "a%d fn=a%d->%s | run key=a%d once\n", key, at, use->member, theirs);
  l->creates++;
}

void suggest_members(struct library *l, const struct api *f) {
  for (int i = 0; i < f->count && f->callback == NONE; i++) {
    if (!suggest_is_object(f->kind[i]))
      continue;
    const char *type = suggest_text(l, clang_getCursorSpelling(suggest_object(f->kind[i])));
    const struct member_use *last = NULL;
    for (size_t k = 0; k < l->uses.members; k++) {
      const struct member_use *use = &l->uses.member[k];
      if (strcmp(use->type, type) || !suggest_is_of(l, use->header) ||
          (last && !strcmp(last->member, use->member)))
        continue;
      last = use;
      write_member(l, f, i, use);
    }
  }
}
