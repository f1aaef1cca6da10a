/* SPDX-License-Identifier: MIT */
/* Sites by name; see names.h. */
#include "names.h"

#include "symbols.h"
#include "util.h"

#include <aprof/abi.h>
#include <stdlib.h>
#include <string.h>

enum { ALIAS_HOPS = 8 };

/* Characters that show nothing and change how others are shown: the direction of what follows,
   where lines end, joiners, tags. */
static bool is_format(const unsigned char *s, size_t length) {
  static const struct {
    uint32_t from, to;
  } ranges[] = {{0xc2ad, 0xc2ad},     {0xd89c, 0xd89c},        {0xe2808b, 0xe2808f},
                {0xe280a8, 0xe280ae}, {0xe281a0, 0xe281af},    {0xefbbbf, 0xefbbbf},
                {0xefbfb9, 0xefbfbb}, {0xf3a08080, 0xf3a081bf}};
  uint32_t bytes = 0; /* of the sequence, in order */
  for (size_t i = 0; i < length; i++)
    bytes = bytes << 8 | s[i];
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    if (bytes >= ranges[i].from && bytes <= ranges[i].to)
      return true;
  return false;
}

/* Length of the well-formed printable UTF-8 sequence at `s`, or 0. */
static size_t sequence_length(const unsigned char *s) {
  if (s[0] < 0x80)
    return s[0] >= 0x20 && s[0] != 0x7f;
  size_t length = s[0] >= 0xf0 && s[0] < 0xf5   ? 4
                  : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                  : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                                                : 0;
  for (size_t i = 1; i < length; i++)
    if ((s[i] & 0xc0) != 0x80)
      return 0;
  bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
  bool surrogate = s[0] == 0xed && s[1] >= 0xa0;
  bool beyond = s[0] == 0xf4 && s[1] >= 0x90;
  bool control = s[0] == 0xc2 && s[1] < 0xa0;
  return overlong || surrogate || beyond || control || !length || is_format(s, length) ? 0 : length;
}

void clean_text(char *text) {
  unsigned char *s = (unsigned char *)text;
  while (*s) {
    size_t length = sequence_length(s);
    if (length)
      s += length;
    else
      *s++ = '?';
  }
}

static const char *clean_string(struct profile *p, uint32_t reference) {
  const char *text = profile_string(p, reference);
  if (!text || !*text)
    return NULL;
  clean_text((char *)p->data + (text - (const char *)p->data));
  return text;
}

static uint64_t mix(uint64_t hash, const char *text) {
  for (; text && *text; text++)
    hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
  return hash * 0x9e3779b97f4a7c15u ^ hash >> 29;
}

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && !strcmp(a, b));
}

/* A line may mean waiting for new work in one case and not in another. */
static bool same_place(const struct name *a, const struct name *b) {
  return a->kind == b->kind && a->line == b->line && same_text(a->name, b->name) &&
         same_text(a->file, b->file) &&
         (a->kind == APROF_SITE_FUNCTION || !((a->flags ^ b->flags) & APROF_BACKGROUND));
}

/* Totals say the line of a place: calls of one name on one line are one there, and in
   whatever is compared with other totals. A function is told from its neighbours. */
static uint32_t telling_column(const struct name *name) {
  return name->kind == APROF_SITE_FUNCTION ? name->column : 0;
}

/* The entry for `name` at `column`: where it is, or the free one where it belongs. */
static struct name_slot *look_up(struct names *n, const struct name *name, uint32_t column) {
  uint64_t hash = mix(mix(14695981039346656037u + name->kind + ((uint64_t)name->line << 8) +
                              ((uint64_t)column << 40),
                          name->name),
                      name->file);
  uint32_t mask = n->slots - 1, at = (uint32_t)(hash >> 20) & mask;
  while (n->slot[at].index != 0 &&
         (n->slot[at].column != column || !same_place(&n->name[n->slot[at].index], name)))
    at = (at + 1) & mask;
  return &n->slot[at];
}

/* Index of the site equal to `name`, added if it is new. A function has a second
   entry without column, where one that is known by its address finds it. */
static uint32_t intern(struct names *n, const struct name *name) {
  uint32_t column = telling_column(name);
  struct name_slot *slot = look_up(n, name, column);
  if (slot->index) {
    struct name *known = &n->name[slot->index];
    known->flags |= name->flags;
    known->noted &= name->noted || !name->by_address; /* of another module, perhaps */
    if (!known->model)
      known->model = name->model;
    return slot->index;
  }
  uint32_t index = n->count++;
  n->name[index] = *name;
  *slot = (struct name_slot){.index = index, .column = column};
  if (column) {
    slot = look_up(n, name, 0);
    if (!slot->index)
      *slot = (struct name_slot){.index = index, .column = 0};
  }
  return index;
}

static void keep_text(struct names *n, char *text) {
  n->text = reallocate(n->text, n->texts + 1, sizeof *n->text);
  n->text[n->texts++] = text;
}

static uint32_t follow_aliases(const struct profile *p, uint32_t number) {
  for (int hop = 0; hop < ALIAS_HOPS; hop++) {
    const struct aprof_psite *site = profile_site(p, number);
    if (!site || !site->alias || !profile_site(p, site->alias))
      break;
    number = site->alias;
  }
  return number;
}

static void name_by_address(struct names *n, struct symbols *symbols,
                            const struct aprof_psite *site, struct name *name) {
  struct symbol symbol;
  symbols_find(symbols, site->address, site->module, &symbol);
  clean_text(symbol.name);
  keep_text(n, symbol.name);
  if (symbol.file) {
    clean_text(symbol.file);
    keep_text(n, symbol.file);
  }
  name->name = symbol.name;
  name->file = symbol.file;
  name->line = symbol.line;
  name->by_address = true;
  name->noted = symbol.noted;
}

static void add_site(struct names *n, struct profile *p, struct symbols *symbols, uint32_t number) {
  const struct aprof_psite *site = profile_site(p, number);
  struct name name = {
      .name = clean_string(p, site->name),
      .file = clean_string(p, site->file),
      .function = clean_string(p, site->function),
      .line = site->line,
      .column = site->column,
      .kind = site->kind,
      .model = site->model,
      .flags = site->flags,
  };
  if (symbols)
    name_by_address(n, symbols, site, &name);
  n->of[number] = name.name ? intern(n, &name) : NAME_UNKNOWN;
}

static bool is_by_address(const struct aprof_psite *site) {
  return !site->name && site->address;
}

struct names *names_new(struct profile *p, long pid) {
  struct names *n = allocate(1, sizeof *n);
  uint32_t nameless = 0;
  n->of_count = profile_site_end(p);
  n->of = allocate(n->of_count, sizeof *n->of);
  n->name = allocate((size_t)n->of_count + 2, sizeof *n->name);
  n->slots = 16;
  while (n->slots < 4 * (n->of_count + 2))
    n->slots *= 2;
  n->slot = allocate(n->slots, sizeof *n->slot);
  n->name[NAME_UNKNOWN] = (struct name){.name = "(unknown)"};
  n->name[NAME_OTHER] = (struct name){.name = "(other)"};
  n->count = 2;
  for (uint32_t i = 1; i < n->of_count; i++) {
    const struct aprof_psite *site = profile_site(p, i);
    if (!site || !site->kind || site->alias)
      continue;
    if (is_by_address(site))
      nameless++;
    else
      add_site(n, p, NULL, i);
  }
  if (nameless) {
    struct symbols *symbols = symbols_new(p, pid);
    for (uint32_t i = 1; i < n->of_count; i++) {
      const struct aprof_psite *site = profile_site(p, i);
      if (site && site->kind && !site->alias && is_by_address(site))
        add_site(n, p, symbols, i);
    }
    symbols_free(symbols);
  }
  for (uint32_t i = 1; i < n->of_count; i++) {
    const struct aprof_psite *site = profile_site(p, i);
    if (site && site->alias)
      n->of[i] = n->of[follow_aliases(p, i)];
  }
  return n;
}

void names_free(struct names *n) {
  if (!n)
    return;
  for (size_t i = 0; i < n->texts; i++)
    free(n->text[i]);
  free(n->text);
  free(n->slot);
  free(n->of);
  free(n->name);
  free(n);
}
