/* SPDX-License-Identifier: MIT */
/* Addresses to names; see native.h. */
#include "native.h"

#include "read/binary.h"
#include "read/index.h"
#include "read/names.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* A file that has code in the recording. */
struct file {
  const struct story_code *code; /* the first part of it */
  struct binary *binary;
  bool tried;
};

struct known {
  uint64_t address;
  uint32_t code; /* that it lies in */
  uint32_t count;
  struct native_frame *frame;
};

enum { INLINED = 16 };

struct native {
  const struct story *story;
  struct arena arena;
  struct file *file; /* by number of code: of that, or of an earlier one of the same file */
  struct known **slot;
  size_t slots, used;
  struct index functions;
  uint32_t functions_count;
};

struct native *native_new(const struct story *s) {
  struct native *n = allocate(1, sizeof *n);
  n->story = s;
  n->file = allocate(s->kernel.codes_count + 1u, sizeof *n->file);
  n->slots = 1024;
  n->slot = allocate(n->slots, sizeof *n->slot);
  index_new(&n->functions, s->kernel.addresses_count);
  return n;
}

void native_free(struct native *n) {
  if (!n)
    return;
  for (uint32_t i = 0; i < n->story->kernel.codes_count; i++)
    binary_free(n->file[i].binary);
  free(n->file);
  free(n->slot);
  index_free(&n->functions);
  arena_free(&n->arena);
  free(n);
}

uint32_t native_functions(const struct native *n) {
  return n->functions_count;
}

/* -- files ----------------------------------------------------------------------------- */

static bool is_same_file(const struct story_code *a, const struct story_code *b) {
  return a->build_id_length == b->build_id_length &&
         !memcmp(a->build_id, b->build_id, a->build_id_length) && !strcmp(a->path, b->path);
}

/* What it is now may be another build, and without a build-id nobody can tell. */
static struct binary *binary_in(struct native *n, uint32_t code) {
  const struct story_code *c = &n->story->kernel.codes[code];
  uint32_t first = 0;
  while (first < code && !is_same_file(&n->story->kernel.codes[first], c))
    first++;
  struct file *f = &n->file[first];
  if (!f->tried && c->build_id_length && c->path[0] == '/') {
    f->binary = binary_open(c->path, c->build_id, c->build_id_length);
    if (!f->binary)
      f->binary = binary_of_build(c->build_id, c->build_id_length, base_name(c->path));
  }
  f->tried = true;
  return f->binary;
}

/* The latest that was there at that time, else the first. */
static uint32_t code_at(const struct story *s, uint64_t address, uint64_t at) {
  uint32_t found = STORY_NONE;
  for (uint32_t i = 0; i < s->kernel.codes_count; i++) {
    const struct story_code *c = &s->kernel.codes[i];
    if (address >= c->start && address < c->end && (found == STORY_NONE || c->since <= at))
      found = i;
  }
  return found;
}

static bool is_program(const struct story *s, const struct story_code *c) {
  char text[2 * sizeof c->build_id + 1] = "";
  for (uint32_t i = 0; i < c->build_id_length; i++)
    snprintf(text + 2 * i, 3, "%02x", c->build_id[i]);
  size_t mine = strlen(text), its = s->build_id ? strlen(s->build_id) : 0;
  return mine && its && !strncmp(s->build_id, text, mine < its ? mine : its);
}

/* -- one address ----------------------------------------------------------------------- */

static void name_generated(const struct story *s, uint64_t address, struct native_frame *f) {
  f->whose = NATIVE_GENERATED;
  for (uint32_t i = s->kernel.named_count; i > 0 && !f->known; i--) {
    const struct story_named *n = &s->kernel.named[i - 1];
    if (address >= n->start && address < n->end) {
      f->name = n->name;
      f->known = true;
    }
  }
}

/* Takes the symbol's texts. */
static void take_symbol(struct native *n, struct symbol *symbol, struct native_frame *f) {
  if (symbol->name) {
    clean_text(symbol->name);
    f->name = arena_text(&n->arena, symbol->name);
    f->known = true;
  }
  if (symbol->file) {
    clean_text(symbol->file);
    f->file = arena_text(&n->arena, symbol->file);
    f->line = symbol->line;
  }
  free(symbol->name);
  free(symbol->file);
}

/* How many they are, the function's own the last. */
static uint32_t name_in_file(struct native *n, uint32_t code, uint64_t address,
                             struct native_frame *f) {
  const struct story_code *c = &n->story->kernel.codes[code];
  struct binary *b = binary_in(n, code);
  uint64_t at = b ? binary_loaded(b, address - c->start + c->offset) : 0;
  struct symbol symbol = {0}, inlined[INLINED];
  uint32_t count = at ? (uint32_t)binary_inlined(b, at, inlined, INLINED) : 0;
  for (uint32_t i = 0; i <= count; i++)
    f[i] =
        (struct native_frame){.name = base_name(c->path),
                              .whose = is_program(n->story, c) ? NATIVE_PROGRAM : NATIVE_LIBRARY};
  for (uint32_t i = 0; i < count; i++)
    take_symbol(n, &inlined[i], &f[i]);
  if (at)
    binary_find(b, at, &symbol);
  if (symbol.name && symbol.offset) {
    uint64_t entry = at - symbol.offset;
    free(symbol.name);
    free(symbol.file);
    binary_find(b, entry, &symbol);
  }
  take_symbol(n, &symbol, &f[count]);
  return count + 1;
}

/* Functions are the same where name and file are. */
static uint32_t number_of(struct native *n, const struct native_frame *f) {
  char *key = print_string("%d %s\n%s", f->whose, f->name, f->file ? f->file : "");
  const uint32_t *there = index_get(&n->functions, print_string("%s", key));
  if (there) {
    free(key);
    return *there;
  }
  uint32_t *made = arena_get(&n->arena, 1, sizeof *made);
  *made = n->functions_count++;
  index_put(&n->functions, key, made);
  return *made;
}

static void make_frames(struct native *n, struct known *of) {
  struct native_frame f[INLINED + 1] = {{.name = "(unknown)", .whose = NATIVE_UNKNOWN}};
  const struct story_code *c = of->code == STORY_NONE ? NULL : &n->story->kernel.codes[of->code];
  of->count = 1;
  if (c && (c->path[0] == '/' || c->path[0] == '['))
    of->count = name_in_file(n, of->code, of->address, f);
  else if (c)
    name_generated(n->story, of->address, f);
  if (f[0].whose == NATIVE_GENERATED && !f[0].known)
    f[0].name = "(generated)";
  for (uint32_t i = 0; i < of->count; i++)
    f[i].function = number_of(n, &f[i]);
  of->frame = arena_get(&n->arena, of->count, sizeof *of->frame);
  memcpy(of->frame, f, of->count * sizeof *f);
}

/* -- all of them ----------------------------------------------------------------------- */

static struct known **slot_of(struct known **list, size_t slots, uint64_t address, uint32_t code) {
  size_t at = (address * 0x9e3779b97f4a7c15u >> 32) & (slots - 1);
  while (list[at] && (list[at]->address != address || list[at]->code != code))
    at = (at + 1) & (slots - 1);
  return &list[at];
}

static void widen(struct native *n) {
  struct known **wider = allocate(2 * n->slots, sizeof *wider);
  for (size_t i = 0; i < n->slots; i++)
    if (n->slot[i])
      *slot_of(wider, 2 * n->slots, n->slot[i]->address, n->slot[i]->code) = n->slot[i];
  free(n->slot);
  n->slot = wider;
  n->slots *= 2;
}

const struct native_frame *native_frames(struct native *n, const struct story_sample *x,
                                         uint32_t number, uint32_t *count) {
  /* Where a caller goes on is behind its call, which may be the last of its function. */
  uint64_t address = n->story->kernel.addresses[x->frame + number] - (number > 0);
  uint32_t code = code_at(n->story, address, x->at);
  struct known *known = *slot_of(n->slot, n->slots, address, code);
  if (!known) {
    known = arena_get(&n->arena, 1, sizeof *known);
    *known = (struct known){.address = address, .code = code};
    make_frames(n, known);
    *slot_of(n->slot, n->slots, address, code) = known;
    if (2 * ++n->used > n->slots)
      widen(n);
  }
  *count = known->count;
  return known->frame;
}
