/* SPDX-License-Identifier: MIT */
/* Places; see place.h. */
#include "place.h"

#include "read/demangle.h"
#include "read/util.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

struct search {
  struct debug *debug;
  struct arena *arena;
  const char *file; /* or NULL: a function */
  uint64_t line;
  const char *function;
  bool listing; /* all lines of the function */
  bool any;     /* also where no statement begins: nothing else is there */
  struct places *found;
  struct where {
    Dwarf_Off of;       /* the function's DIE */
    bool empty;         /* no instruction of the line is there */
  } * where;            /* of each found */
  const void **inlined; /* functions of that name that were inlined: where their DIEs are */
  size_t inlineds;
  const char *matched; /* the first file that `file` means */
  const char *another; /* a second one */
  uint64_t above;      /* the nearest line below the one asked for that has code; 0: none */
};

static bool file_is(const char *path, const char *asked) {
  size_t length = strlen(path), end = strlen(asked);
  return length >= end && !strcmp(path + length - end, asked) &&
         (length == end || path[length - end - 1] == '/');
}

static const char *kept(struct search *s, const char *text) {
  return arena_text(s->arena, text);
}

/* Once each body, where it comes first; where only another line begins, if there is nothing else.
 */
static bool is_better(const struct probe_place *p, bool empty, const struct probe_place *than,
                      bool than_empty) {
  return empty != than_empty ? than_empty : p->address < than->address;
}

static void add(struct search *s, const struct probe_place *p, Dwarf_Off of, bool empty) {
  struct places *f = s->found;
  for (size_t i = 0; i < f->count; i++) {
    struct where *w = &s->where[i];
    if (!s->listing && of != 0 && w->of == of) {
      if (is_better(p, empty, &f->place[i], w->empty)) {
        f->place[i] = *p;
        w->empty = empty;
      }
      return;
    }
    if (f->place[i].address == p->address)
      return;
  }
  f->place = reallocate(f->place, f->count + 1, sizeof *f->place);
  s->where = reallocate(s->where, f->count + 1, sizeof *s->where);
  s->where[f->count] = (struct where){of, empty};
  f->place[f->count++] = *p;
}

/* Behind what a body begins with, where its arguments have their places. */
static Dwarf_Addr begins_at(Dwarf_Die *function, bool inlined) {
  Dwarf_Addr entry = 0, *points = NULL;
  /* Of one in several parts libdw looks at each of them; such code was optimised, and its arguments
     are there from the start. */
  bool whole = !inlined && !dwarf_entrypc(function, &entry);
  if (whole && dwarf_entry_breakpoints(function, &points) > 0)
    entry = points[0];
  else if (!debug_entry(function, &entry))
    entry = 0;
  free(points);
  return entry;
}

static void place_at(struct search *s, Dwarf_Die *unit, Dwarf_Addr pc, Dwarf_Addr bias,
                     struct probe_place *p, Dwarf_Off *of) {
  Dwarf_Die function;
  bool inlined = false;
  *p = (struct probe_place){.address = pc + bias};
  *of = 0;
  if (!debug_function_at(unit, pc, &function, &inlined))
    return;
  Dwarf_Addr low;
  *of = dwarf_dieoffset(&function);
  p->function = kept(s, dwarf_diename(&function));
  p->inlined = inlined;
  if (!inlined && debug_entry(&function, &low) && low == pc && (low = begins_at(&function, false)))
    p->address = low + bias;
}

/* Whether another line begins where that one does: optimised code keeps where a statement was, and
   not more. */
static bool is_empty(Dwarf_Lines *lines, size_t count, size_t row) {
  Dwarf_Addr here, next;
  int line, other;
  Dwarf_Line *this = dwarf_onesrcline(lines, row),
             *behind = row + 1 < count ? dwarf_onesrcline(lines, row + 1) : NULL;
  return behind && !dwarf_lineaddr(this, &here) && !dwarf_lineaddr(behind, &next) && here == next &&
         !dwarf_lineno(this, &line) && !dwarf_lineno(behind, &other) && line != other;
}

static bool lines_of_unit(Dwfl_Module *module, Dwarf_Die *unit, Dwarf_Addr bias, void *context) {
  struct search *s = context;
  Dwarf_Lines *lines;
  size_t count;
  (void)module;
  if (dwarf_getsrclines(unit, &lines, &count))
    return true;
  for (size_t i = 0; i < count; i++) {
    Dwarf_Line *row = dwarf_onesrcline(lines, i);
    int line = 0;
    bool begins = false, ends = false;
    Dwarf_Addr pc;
    const char *file = dwarf_linesrc(row, NULL, NULL);
    if (!file || dwarf_lineno(row, &line) || dwarf_linebeginstatement(row, &begins) ||
        (!begins && !s->any) || dwarf_lineendsequence(row, &ends) || ends ||
        !file_is(file, s->file) || dwarf_lineaddr(row, &pc))
      continue;
    if (!s->matched)
      s->matched = kept(s, file);
    else if (strcmp(s->matched, file) && !s->another)
      s->another = kept(s, file);
    if ((uint64_t)line > s->line && (s->above == 0 || (uint64_t)line < s->above))
      s->above = (uint64_t)line;
    if ((uint64_t)line != s->line)
      continue;
    struct probe_place p;
    Dwarf_Off of;
    place_at(s, unit, pc, bias, &p, &of);
    p.file = kept(s, file);
    p.line = s->line;
    add(s, &p, of, is_empty(lines, count, i));
  }
  return true;
}

/* -- functions --------------------------------------------------------------------- */

/* By its name, or that the linker knows it by, or as people write that. */
static bool is_called(Dwarf_Die *function, const char *asked) {
  const char *name = dwarf_diename(function);
  if (name && !strcmp(name, asked))
    return true;
  Dwarf_Attribute attribute;
  const char *linked =
      dwarf_formstring(dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute));
  return linked && demangle_is(linked, asked);
}

static void line_at(struct search *s, Dwarf_Die *unit, Dwarf_Addr pc, struct probe_place *p) {
  int line = 0;
  Dwarf_Line *row = dwarf_getsrc_die(unit, pc);
  if (row && !dwarf_lineno(row, &line)) {
    p->file = kept(s, dwarf_linesrc(row, NULL, NULL));
    p->line = (uint64_t)line;
  }
}

/* Each line of a body, once, where it comes first. */
static void list_rows(struct search *s, Dwarf_Die *unit, Dwarf_Addr bias, Dwarf_Die *body,
                      Dwarf_Lines *lines, size_t count) {
  for (size_t i = 0; i < count; i++) {
    Dwarf_Line *row = dwarf_onesrcline(lines, i);
    int line = 0;
    bool begins = false, ends = false;
    Dwarf_Addr pc;
    if (dwarf_lineaddr(row, &pc) || dwarf_haspc(body, pc) != 1 || dwarf_lineno(row, &line) ||
        dwarf_linebeginstatement(row, &begins) || (!begins && !s->any) ||
        dwarf_lineendsequence(row, &ends) || ends || line == 0)
      continue;
    struct probe_place p;
    Dwarf_Off of;
    place_at(s, unit, pc, bias, &p, &of);
    p.file = kept(s, dwarf_linesrc(row, NULL, NULL));
    p.line = (uint64_t)line;
    bool is_new = true;
    for (size_t j = 0; j < s->found->count; j++)
      is_new &= s->where[j].of != of || s->found->place[j].line != p.line;
    if (is_new)
      add(s, &p, of, false);
  }
}

static void list_body(struct search *s, Dwarf_Die *unit, Dwarf_Addr bias, Dwarf_Die *body) {
  Dwarf_Lines *lines;
  size_t count;
  if (dwarf_getsrclines(unit, &lines, &count))
    return;
  for (int any = 0; any < 2; any++) {
    s->any = any;
    list_rows(s, unit, bias, body, lines, count);
  }
}

struct function_search {
  struct search *s;
  Dwarf_Die *unit;
  Dwarf_Addr bias;
};

static void take_inlined(struct function_search *f, Dwarf_Die *instance) {
  struct search *s = f->s;
  Dwarf_Addr pc = begins_at(instance, true);
  if (pc == 0)
    return;
  if (s->listing) {
    list_body(s, f->unit, f->bias, instance);
    return;
  }
  struct probe_place p = {
      .address = pc + f->bias, .function = kept(s, dwarf_diename(instance)), .inlined = true};
  line_at(s, f->unit, pc, &p);
  add(s, &p, dwarf_dieoffset(instance), false);
}

static bool is_instance(const struct search *s, Dwarf_Die *die) {
  Dwarf_Attribute attribute;
  Dwarf_Die origin;
  if (!dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &attribute), &origin))
    return false;
  for (size_t i = 0; i < s->inlineds; i++)
    if (s->inlined[i] == origin.addr)
      return true;
  return false;
}

/* Into whichever bodies: of a program that was optimised as a whole those of other units, too. */
static void seek_instances(struct function_search *f, Dwarf_Die *in, int depth) {
  Dwarf_Die child;
  if (depth > 256 || dwarf_child(in, &child))
    return;
  do
    switch (dwarf_tag(&child)) {
    case DW_TAG_inlined_subroutine:
      if (is_instance(f->s, &child))
        take_inlined(f, &child);
      seek_instances(f, &child, depth + 1);
      break;
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_namespace:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
      seek_instances(f, &child, depth + 1);
      break;
    default:
      break;
    }
  while (!dwarf_siblingof(&child, &child));
}

static bool instances_of_unit(Dwfl_Module *module, Dwarf_Die *unit, Dwarf_Addr bias,
                              void *context) {
  struct function_search f = {context, unit, bias};
  (void)module;
  seek_instances(&f, unit, 0);
  return true;
}

static int take_function(Dwarf_Die *function, void *context) {
  struct function_search *f = context;
  struct search *s = f->s;
  Dwarf_Addr pc;
  if (!is_called(function, s->function))
    return DWARF_CB_OK;
  /* Where the program was optimised as a whole, what has no code may have been inlined. */
  if (dwarf_func_inline(function) ||
      (!debug_entry(function, &pc) && !dwarf_hasattr(function, DW_AT_declaration))) {
    s->inlined = reallocate(s->inlined, s->inlineds + 1, sizeof *s->inlined);
    s->inlined[s->inlineds++] = function->addr;
  }
  if (s->listing) {
    if (debug_entry(function, &pc))
      list_body(s, f->unit, f->bias, function);
    return DWARF_CB_OK;
  }
  if (debug_entry(function, &pc) && (pc = begins_at(function, false)) != 0) {
    struct probe_place p = {.address = pc + f->bias, .function = kept(s, dwarf_diename(function))};
    line_at(s, f->unit, pc, &p);
    add(s, &p, dwarf_dieoffset(function), false);
  }
  return DWARF_CB_OK;
}

static bool functions_of_unit(Dwfl_Module *module, Dwarf_Die *unit, Dwarf_Addr bias,
                              void *context) {
  struct function_search f = {context, unit, bias};
  (void)module;
  dwarf_getfuncs(unit, take_function, &f, 0);
  return true;
}

/* -- what was asked for ------------------------------------------------------------ */

static void find_function(struct search *s) {
  debug_units(s->debug, functions_of_unit, s);
  if (s->inlineds && !(s->listing && s->found->count))
    debug_units(s->debug, instances_of_unit, s);
  uint64_t address;
  if (s->found->count == 0 && !s->listing &&
      (address = debug_symbol(s->debug, s->function, true)) != 0) {
    struct probe_place p = {.address = address, .function = kept(s, s->function)};
    add(s, &p, 0, false);
  }
  s->found->entry = true;
}

static bool found_none(const struct search *s) {
  bool debug = debug_is_there(s->debug);
  if (!s->file)
    complain("there is no function '%s' in process %ld%s", s->function, s->debug->pid,
             debug ? "; aprof probe --list FUNCTION shows the lines of one"
                   : ", which has no debug information: compile with -g, or say where it is by "
                     "--debug DIR");
  else if (!debug)
    complain("process %ld has no debug information, so no lines: compile with -g, or say where it "
             "is by --debug DIR",
             s->debug->pid);
  else if (!s->matched)
    complain("process %ld has no code of a file '%s', as far as debug information tells: was it "
             "compiled with -g?",
             s->debug->pid, s->file);
  else if (s->above)
    complain("no code is at %s:%llu; the next line that has is %llu", s->file,
             (unsigned long long)s->line, (unsigned long long)s->above);
  else
    complain("no code is at %s:%llu, nor behind it", s->file, (unsigned long long)s->line);
  return false;
}

static bool asked_line(const char *asked, char **file, uint64_t *line) {
  const char *colon = strrchr(asked, ':');
  if (!colon || colon == asked || colon[-1] == ':' || !parse_number(colon + 1, line) || *line == 0)
    return false;
  *file = print_string("%.*s", (int)(colon - asked), asked);
  return true;
}

bool place_find(struct debug *d, struct arena *arena, const char *asked, struct places *found) {
  char *file = NULL;
  struct search s = {.debug = d, .arena = arena, .found = found};
  *found = (struct places){0};
  if (asked_line(asked, &file, &s.line)) {
    s.file = file;
    debug_units(d, lines_of_unit, &s);
    s.any = found->count == 0; /* in optimised templates of C++ the compiler marks no statements */
    if (s.any)
      debug_units(d, lines_of_unit, &s);
  } else {
    s.function = asked;
    find_function(&s);
  }
  bool ok = found->count != 0 || found_none(&s);
  if (ok && s.another && found->count > 1 && strcmp(s.matched, s.another)) {
    for (size_t i = 1; i < found->count && ok; i++)
      if (found->place[i].file && strcmp(found->place[i].file, found->place[0].file)) {
        complain("'%s' is more than one file: %s, %s; write more of its path", s.file,
                 found->place[0].file, found->place[i].file);
        ok = false;
      }
  }
  free(file);
  free(s.where);
  free(s.inlined);
  return ok;
}

static int by_line(const void *a, const void *b) {
  const struct probe_place *x = a, *y = b;
  int file = strcmp(x->file ? x->file : "", y->file ? y->file : "");
  if (file)
    return file;
  if (x->line != y->line)
    return x->line < y->line ? -1 : 1;
  return x->address < y->address ? -1 : x->address > y->address;
}

bool place_list(struct debug *d, struct arena *arena, const char *function, struct places *found) {
  struct search s = {
      .debug = d, .arena = arena, .found = found, .function = function, .listing = true};
  *found = (struct places){0};
  find_function(&s);
  bool ok = found->count != 0 || found_none(&s);
  qsort(found->place, found->count, sizeof *found->place, by_line);
  free(s.where);
  free(s.inlined);
  return ok;
}
