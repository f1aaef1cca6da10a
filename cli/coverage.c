/* SPDX-License-Identifier: MIT */
/* What the plugin saw, read from ELF files; see coverage.h. */
#include "coverage.h"

#include "cli.h"
#include "read/index.h"
#include "read/names.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECTION ".aprof.coverage"

/* -- records --------------------------------------------------------------- */

static void add(struct coverage *c, enum coverage_kind kind, struct coverage_record record) {
  if (c->of[kind].count == c->of[kind].room) {
    c->of[kind].room = c->of[kind].room ? c->of[kind].room * 2 : 64;
    c->of[kind].record =
        reallocate(c->of[kind].record, c->of[kind].room, sizeof *c->of[kind].record);
  }
  record.order = c->of[kind].count;
  c->of[kind].record[c->of[kind].count++] = record;
}

/* The next field of a line; the last one takes the rest. */
static char *field(char **line, bool last) {
  char *text = *line, *tab = text && !last ? strchr(text, '\t') : NULL;
  if (tab)
    *tab = 0;
  *line = tab ? tab + 1 : NULL;
  if (text)
    clean_text(text);
  return text;
}

static void add_binding(struct coverage *c, const char *place, char *rest) {
  uint64_t matches;
  const char *count = field(&rest, false), *text = field(&rest, true);
  if (place && count && parse_number(count, &matches))
    add(c, COVERAGE_BINDING,
        (struct coverage_record){.place = place, .name = text ? text : "", .matches = matches});
}

static void add_symbol(struct coverage *c, const char *place, const char *symbol) {
  if (*symbol)
    add(c, COVERAGE_SYMBOL, (struct coverage_record){.place = place, .name = symbol});
}

static void add_named(struct coverage *c, enum coverage_kind kind, struct coverage_record r,
                      char *rest) {
  const char *next = field(&rest, false);
  if (kind == COVERAGE_UNIT || kind == COVERAGE_AWAIT || kind == COVERAGE_OUTSIDE ||
      kind == COVERAGE_CALLBACK)
    r.in = next;
  else
    r.symbol = next ? next : r.name;
  if (kind == COVERAGE_FUNCTION || kind == COVERAGE_LIKELY)
    add_symbol(c, r.place, r.symbol);
  if (kind == COVERAGE_FUNCTION)
    r.symbol = NULL; /* a template's instances are one function */
  if (kind == COVERAGE_CALLBACK) {
    const char *symbol = field(&rest, false), *space = field(&rest, false);
    r.symbol = symbol ? symbol : r.name;
    r.space = space ? space : "";
    next = field(&rest, false);
    r.system = next && !strcmp(next, "system");
  }
  add(c, kind, r);
}

static void add_line(struct coverage *c, char *line) {
  static const char *const kinds[] = {"unit",    "function", "await",
                                      "outside", "declared", "callback"};
  const char *kind = field(&line, false), *place = field(&line, false);
  if (!strcmp(kind, "binding")) {
    add_binding(c, place, line);
    return;
  }
  const char *name = place ? field(&line, false) : NULL;
  if (name && !strcmp(kind, "likely"))
    add_named(c, COVERAGE_LIKELY, (struct coverage_record){.place = place, .name = name}, line);
  if (name && !strcmp(kind, "passed"))
    add(c, COVERAGE_PASSED,
        (struct coverage_record){.place = place, .name = name, .in = field(&line, false)});
  if (name && !strcmp(kind, "span"))
    add(c, COVERAGE_SPAN, (struct coverage_record){.place = place, .name = name});
  if (name && !strcmp(kind, "symbol"))
    add_symbol(c, place, name);
  for (int i = 0; i < COVERAGE_BINDING; i++)
    if (!strcmp(kind, kinds[i]) && place && (name || i == COVERAGE_UNIT))
      add_named(c, (enum coverage_kind)i,
                (struct coverage_record){.place = place, .name = name ? name : ""}, line);
}

static int by_text(const void *a, const void *b) {
  const struct coverage_record *x = a, *y = b;
  int order = strverscmp(x->place, y->place);
  if (!order)
    order = strcmp(x->name, y->name);
  if (!order)
    order = strcmp(x->in ? x->in : "", y->in ? y->in : "");
  if (!order)
    order = strcmp(x->symbol ? x->symbol : "", y->symbol ? y->symbol : "");
  if (!order && x->occurrence != y->occurrence)
    order = x->occurrence < y->occurrence ? -1 : 1;
  return order;
}

static int by_text_and_order(const void *a, const void *b) {
  const struct coverage_record *x = a, *y = b;
  int order = by_text(a, b);
  return order ? order : x->order < y->order ? -1 : x->order > y->order;
}

/* Numbers what a unit says twice, so that it stays two. */
static void number_alike(struct coverage_record *record, size_t count) {
  qsort(record, count, sizeof *record, by_text_and_order);
  for (size_t i = 1; i < count; i++)
    if (!by_text(&record[i], &(struct coverage_record){.place = record[i - 1].place,
                                                       .name = record[i - 1].name,
                                                       .in = record[i - 1].in}))
      record[i].occurrence = record[i - 1].occurrence + 1;
}

static void end_unit(struct coverage *c, size_t *first) {
  for (int kind = 0; kind < COVERAGE_KINDS; kind++) {
    bool numbered = kind == COVERAGE_AWAIT || kind == COVERAGE_OUTSIDE || kind == COVERAGE_SPAN;
    if (numbered && c->of[kind].count > first[kind])
      number_alike(c->of[kind].record + first[kind], c->of[kind].count - first[kind]);
    first[kind] = c->of[kind].count;
  }
}

void coverage_add(struct coverage *c, const char *text, size_t length) {
  size_t first[COVERAGE_KINDS];
  char *copy = allocate(length + 1, 1);
  memcpy(copy, text, length);
  c->text = reallocate(c->text, c->texts + 1, sizeof *c->text);
  c->text[c->texts++] = copy;
  for (int kind = 0; kind < COVERAGE_KINDS; kind++)
    first[kind] = c->of[kind].count;
  for (size_t i = 0; i < length; i++)
    if (!copy[i])
      copy[i] = '\n';
  for (char *line = copy, *end; line && *line; line = end) {
    end = strchr(line, '\n');
    if (end)
      *end++ = 0;
    if (!strncmp(line, "unit\t", 5))
      end_unit(c, first);
    if (*line)
      add_line(c, line);
  }
  end_unit(c, first);
}

/* What has a callback's type, and is one. */
static void add_likely(struct coverage *c) {
  struct index given;
  size_t callbacks = c->of[COVERAGE_CALLBACK].count;
  index_new(&given, callbacks);
  for (size_t i = 0; i < callbacks; i++) {
    const char *symbol = c->of[COVERAGE_CALLBACK].record[i].symbol;
    index_put(&given, print_string("%s", symbol), symbol);
  }
  for (size_t i = 0; i < c->of[COVERAGE_LIKELY].count; i++) {
    const struct coverage_record *r = &c->of[COVERAGE_LIKELY].record[i];
    if (index_get(&given, print_string("%s", r->symbol)))
      add(c, COVERAGE_FUNCTION, (struct coverage_record){.place = r->place, .name = r->name});
  }
  index_free(&given);
}

void coverage_finish(struct coverage *c) {
  add_likely(c);
  for (int kind = 0; kind < COVERAGE_KINDS; kind++) {
    struct coverage_record *record = c->of[kind].record;
    size_t kept = 0;
    if (c->of[kind].count)
      qsort(record, c->of[kind].count, sizeof *record, by_text_and_order);
    for (size_t i = 0; i < c->of[kind].count; i++)
      if (kept && !by_text(&record[kept - 1], &record[i]))
        record[kept - 1].matches += record[i].matches;
      else
        record[kept++] = record[i];
    c->of[kind].count = kept;
  }
}

void coverage_release(struct coverage *c) {
  for (int kind = 0; kind < COVERAGE_KINDS; kind++)
    free(c->of[kind].record);
  for (size_t i = 0; i < c->texts; i++)
    free(c->text[i]);
  free(c->text);
  free(c->path);
  free(c->without);
}

/* -- files ----------------------------------------------------------------- */

/* "GNU C17 ... -fplugin=aprof.so ...", of which each text ends in a NUL. */
static bool is_built(const char *text, size_t size) {
  static const char option[] = "-fplugin=";
  for (const char *end = text + size;
       (text = memmem(text, (size_t)(end - text), option, sizeof option - 1)); text++)
    if (memmem(text, strnlen(text, (size_t)(end - text)), "aprof", 5))
      return true;
  return false;
}

/* True where the object has the section. */
static bool read_object(struct coverage *c, Elf *elf) {
  size_t names;
  bool found = false;
  if (elf_getshdrstrndx(elf, &names))
    return false;
  for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    Elf_Data *data = NULL;
    if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
      continue;
    const char *name = elf_strptr(elf, names, header.sh_name);
    bool notes = name && !strcmp(name, SECTION);
    if (!notes && (!name || strcmp(name, ".debug_str")))
      continue;
    if ((header.sh_flags & SHF_COMPRESSED) && elf_compress(section, 0, 0) < 0)
      continue;
    found |= notes;
    while ((data = elf_getdata(section, data)) != NULL)
      if (notes && data->d_buf && data->d_size)
        coverage_add(c, data->d_buf, data->d_size);
      else if (data->d_buf && data->d_size) /* how a unit was compiled, if it says so */
        c->built |= is_built(data->d_buf, data->d_size);
  }
  return found;
}

static bool read_members(struct coverage *c, int fd, Elf *archive, bool *found) {
  Elf_Cmd command = ELF_C_READ;
  Elf *elf;
  bool any = false;
  while ((elf = elf_begin(fd, command, archive)) != NULL) {
    if (elf_kind(elf) == ELF_K_ELF) {
      any = true;
      *found |= read_object(c, elf);
    }
    command = elf_next(elf);
    elf_end(elf);
  }
  return any;
}

static const char *read_notes(struct coverage *c, const char *path) {
  int fd = open_regular(AT_FDCWD, path, O_RDONLY);
  if (fd < 0)
    return open_fault(errno);
  elf_version(EV_CURRENT);
  Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
  bool found = false, known = false;
  if (elf && elf_kind(elf) == ELF_K_ELF) {
    known = true;
    found = read_object(c, elf);
  } else if (elf && elf_kind(elf) == ELF_K_AR)
    known = read_members(c, fd, elf, &found);
  if (elf)
    elf_end(elf);
  close(fd);
  if (!known)
    return "it is no program, object or archive (ELF); give what the linker made";
  c->files++;
  c->path = reallocate(c->path, c->paths + 1, sizeof *c->path);
  c->path[c->paths++] = path;
  if (!found) {
    c->without = reallocate(c->without, c->withouts + 1, sizeof *c->without);
    c->without[c->withouts++] = path;
  }
  return NULL;
}

bool coverage_read(struct coverage *c, const char *path) {
  const char *fault = read_notes(c, path);
  if (fault)
    complain("cannot read %s: %s", path, fault);
  return !fault;
}

bool coverage_try(struct coverage *c, const char *path) {
  return !read_notes(c, path);
}
