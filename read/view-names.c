/* SPDX-License-Identifier: MIT */
/* Names and places, as a view keeps them; see filling.h. */
#include "filling.h"

#include <aprof/abi.h>
#include <stdlib.h>

/* "file:line"; NULL where there is none */
static const char *place_of(struct view *v, const struct name *name) {
  if (!name->file || !name->line)
    return arena_text(&v->arena, name->file);
  char *place = print_string("%s:%u", name->file, name->line);
  const char *copy = arena_text(&v->arena, place);
  free(place);
  return copy;
}

const struct text *text_of(const struct filling *f, uint32_t index) {
  struct text *text = &f->text[index];
  if (!text->name) {
    const struct name *name = name_of(f, index);
    *text = (struct text){.name = arena_text(&f->v->arena, name->name),
                          .file = arena_text(&f->v->arena, name->file),
                          .function = arena_text(&f->v->arena, name->function),
                          .place = place_of(f->v, name)};
  }
  return text;
}

const char *kind_of(const struct name *name) {
  static const char *const kinds[] = {
      [APROF_SITE_AWAIT] = "await",   [APROF_SITE_CREATE] = "create",    [APROF_SITE_RUN] = "run",
      [APROF_SITE_RETURN] = "return", [APROF_SITE_CALL] = "call",        [APROF_SITE_IDLE] = "idle",
      [APROF_SITE_SWITCH] = "switch", [APROF_SITE_FUNCTION] = "function"};
  const char *kind = name->kind < sizeof kinds / sizeof *kinds ? kinds[name->kind] : NULL;
  return kind ? kind : "unknown";
}

void fill_slice(const struct filling *f, const char **between, const char **names, uint32_t from,
                uint32_t to) {
  between[0] = text_of(f, from)->place;
  between[1] = text_of(f, to)->place;
  names[0] = text_of(f, from)->name;
  names[1] = text_of(f, to)->name;
}
