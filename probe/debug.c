/* SPDX-License-Identifier: MIT */
/* Modules of a live process; see debug.h. */
#include "debug.h"

#include "perf.h"
#include "read/demangle.h"
#include "read/util.h"

#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long asked_pid; /* of the process that is opened: libdwfl has no place for it */
static char *more_debuginfo;

/* As the process sees the path, which may be in a container, and whose file may have been replaced
   since. */
static int find_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                    char **found, Elf **elf) {
  Dwarf_Addr start = 0, end = 0;
  (void)user;
  (void)elf;
  if (name[0] != '/')
    return -1;
  dwfl_module_info(module, NULL, &start, &end, NULL, NULL, NULL, NULL);
  char *inside = print_string("/proc/%ld/root%s", asked_pid, name);
  int fd = open_regular(AT_FDCWD, inside, O_RDONLY | O_CLOEXEC); /* a pipe would hold us */
  free(inside);
  (void)base;
  if (fd >= 0)
    *found = print_string("%s", name);
  return fd;
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .debuginfo_path = &more_debuginfo,
};

struct debug_symbol {
  char *name;
  bool code;
  uint64_t address;
};

static void forget(struct debug *d) {
  for (size_t i = 0; i < d->symbols; i++)
    free(d->symbol[i].name);
  for (size_t i = 0; i < d->owners; i++)
    free(d->owner[i].name);
  free(d->symbol);
  free(d->type);
  free(d->owner);
  d->owner = NULL;
  d->owners = 0;
  d->symbol = NULL;
  d->type = NULL;
  d->symbols = d->types = 0;
}

bool debug_refresh(struct debug *d) {
  forget(d);
  asked_pid = d->pid;
  dwfl_report_begin_add(d->dwfl);
  int failed = dwfl_linux_proc_report(d->dwfl, (pid_t)d->pid);
  dwfl_report_end(d->dwfl, NULL, NULL);
  return failed == 0;
}

/* What would let us read it, behind a refusal. */
static const char *who_may(int error, long pid) {
  if (error != EACCES && error != EPERM)
    return "";
  struct perf_facts facts = perf_facts(error, pid, "");
  return facts.closed ? "; it is not dumpable: it has changed its user, or asked for that "
                        "(PR_SET_DUMPABLE); ask as root"
                      : "; ask as its user, or as root";
}

bool debug_open(struct debug *d, long pid, const char *directory) {
  unsetenv("DEBUGINFOD_URLS"); /* to look at a program must not reach for the network */
  more_debuginfo = NULL;
  if (directory) {
    /* A relative one would be looked for beside each of the program's files. */
    char *whole = realpath(directory, NULL);
    if (!whole) {
      complain("cannot look for debug information in %s: %s", directory, strerror(errno));
      return false;
    }
    more_debuginfo = print_string("-:.debug:%s:/usr/lib/debug", whole);
    free(whole);
  }
  *d = (struct debug){.dwfl = dwfl_begin(&callbacks), .pid = pid};
  asked_pid = pid;
  if (!d->dwfl) {
    complain("cannot read debug information: %s", dwfl_errmsg(-1));
    return false;
  }
  dwfl_report_begin(d->dwfl);
  int failed = dwfl_linux_proc_report(d->dwfl, (pid_t)pid);
  dwfl_report_end(d->dwfl, NULL, NULL);
  if (failed == 0)
    return true;
  complain("cannot read what process %ld is made of: %s%s", pid,
           failed > 0 ? strerror(failed) : dwfl_errmsg(-1), who_may(failed, pid));
  debug_close(d);
  return false;
}

void debug_close(struct debug *d) {
  forget(d);
  if (d->dwfl)
    dwfl_end(d->dwfl);
  free(more_debuginfo);
  more_debuginfo = NULL;
  d->dwfl = NULL;
}

/* -- units ------------------------------------------------------------------------- */

/* Where it is only the skeleton of one, the unit itself, which lies in a file of its own (.dwo). */
static void whole_unit(Dwarf_Die *unit) {
  Dwarf_Die whole;
  uint8_t kind;
  Dwarf_Half version;
  if (!dwarf_cu_info(unit->cu, &version, &kind, NULL, &whole, NULL, NULL, NULL) &&
      kind == DW_UT_skeleton && whole.cu)
    *unit = whole;
}

Dwarf_Die *debug_unit_at(struct debug *d, Dwarf_Addr address, Dwfl_Module **module, Dwarf_Die *room,
                         Dwarf_Addr *bias) {
  *module = dwfl_addrmodule(d->dwfl, address);
  const Dwarf_Die *unit = *module ? dwfl_module_addrdie(*module, address, bias) : NULL;
  if (!unit)
    return NULL;
  *room = *unit;
  whole_unit(room);
  return room;
}

struct walk {
  debug_visit *visit;
  void *context;
};

static int walk_module(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr start,
                       void *context) {
  struct walk *w = context;
  Dwarf_Addr bias;
  (void)user;
  (void)name;
  (void)start;
  for (Dwarf_Die *unit = NULL; (unit = dwfl_module_nextcu(module, unit, &bias)) != NULL;) {
    Dwarf_Die whole = *unit;
    whole_unit(&whole);
    if (!w->visit(module, &whole, bias, w->context))
      return DWARF_CB_ABORT;
  }
  return DWARF_CB_OK;
}

void debug_units(struct debug *d, debug_visit *visit, void *context) {
  struct walk w = {visit, context};
  dwfl_getmodules(d->dwfl, walk_module, &w, 0);
}

static bool any_unit(Dwfl_Module *module, Dwarf_Die *unit, Dwarf_Addr bias, void *context) {
  (void)module;
  (void)unit;
  (void)bias;
  *(bool *)context = true;
  return false;
}

bool debug_is_there(struct debug *d) {
  bool there = false;
  debug_units(d, any_unit, &there);
  return there;
}

/* -- functions --------------------------------------------------------------------- */

/* The child of `die` whose code has `pc`, however deep in what has no code of its own. */
static bool child_with(Dwarf_Die *die, Dwarf_Addr pc, Dwarf_Die *found) {
  Dwarf_Die child;
  if (dwarf_child(die, &child))
    return false;
  do {
    switch (dwarf_tag(&child)) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
      if (dwarf_haspc(&child, pc) == 1) {
        *found = child;
        return true;
      }
      break;
    case DW_TAG_namespace:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
      if (child_with(&child, pc, found))
        return true;
      break;
    default:
      break;
    }
  } while (!dwarf_siblingof(&child, &child));
  return false;
}

bool debug_body_at(Dwarf_Die *unit, Dwarf_Addr pc, Dwarf_Die *body) {
  return child_with(unit, pc, body) && dwarf_tag(body) == DW_TAG_subprogram;
}

bool debug_function_at(Dwarf_Die *unit, Dwarf_Addr pc, Dwarf_Die *function, bool *inlined) {
  Dwarf_Die at, inner;
  if (!debug_body_at(unit, pc, function))
    return false;
  *inlined = false;
  for (at = *function; child_with(&at, pc, &inner); at = inner)
    if (dwarf_tag(&inner) == DW_TAG_inlined_subroutine) {
      *function = inner;
      *inlined = true;
    }
  return true;
}

bool debug_entry(Dwarf_Die *body, Dwarf_Addr *entry) {
  Dwarf_Addr base, end;
  return !dwarf_entrypc(body, entry) || dwarf_ranges(body, 0, &base, entry, &end) > 0;
}

enum { NESTED_MOST = 64 };

static bool own_variable(Dwarf_Die *scope, const char *name, Dwarf_Die *variable) {
  Dwarf_Die child;
  if (dwarf_child(scope, &child))
    return false;
  do {
    int tag = dwarf_tag(&child);
    const char *called =
        tag == DW_TAG_variable || tag == DW_TAG_formal_parameter ? dwarf_diename(&child) : NULL;
    if (called && !strcmp(called, name)) {
      *variable = child;
      return true;
    }
  } while (!dwarf_siblingof(&child, &child));
  return false;
}

static bool is_body(Dwarf_Die *scope) {
  int tag = dwarf_tag(scope);
  return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

bool debug_variable_at(Dwarf_Die *unit, Dwarf_Addr pc, const char *name, const char *function,
                       Dwarf_Die *variable) {
  Dwarf_Die scope[NESTED_MOST];
  size_t count = 0, body = SIZE_MAX;
  if (!debug_body_at(unit, pc, &scope[count++]))
    return false;
  while (count < NESTED_MOST && child_with(&scope[count - 1], pc, &scope[count]))
    count++;
  for (size_t i = 0; i < count; i++) {
    const char *called = is_body(&scope[i]) ? dwarf_diename(&scope[i]) : NULL;
    if (is_body(&scope[i]) && (!function || (called && !strcmp(called, function))))
      body = i;
  }
  if (body == SIZE_MAX)
    return false; /* nothing is left of the body that was inlined here */
  size_t end = body + 1;
  while (end < count && !is_body(&scope[end]))
    end++;
  while (end > body)
    if (own_variable(&scope[--end], name, variable))
      return true;
  return false;
}

/* -- names of other units ------------------------------------------------------------ */

struct owner_search {
  debug_has *has;
  void *context;
  struct debug_owner owner;
};

static bool seek_owner(Dwfl_Module *module, Dwarf_Die *unit, Dwarf_Addr bias, void *context) {
  struct owner_search *s = context;
  s->owner.module = module;
  s->owner.unit = *unit;
  s->owner.bias = bias;
  s->owner.is = s->has(&s->owner, s->context);
  return !s->owner.is;
}

const struct debug_owner *debug_owner_of(struct debug *d, const char *name, debug_has *has,
                                         void *context) {
  for (size_t i = 0; i < d->owners; i++)
    if (!strcmp(d->owner[i].name, name))
      return &d->owner[i];
  struct owner_search s = {.has = has, .context = context};
  s.owner.name = print_string("%s", name);
  debug_units(d, seek_owner, &s);
  d->owner = reallocate(d->owner, d->owners + 1, sizeof *d->owner);
  d->owner[d->owners] = s.owner;
  return &d->owner[d->owners++];
}

/* -- types ------------------------------------------------------------------------- */

struct debug_type {
  const void *declared; /* where the declaration stands */
  Dwarf_Die found;
  bool is;
};

/* "shop::item", from the outside in: the names of what is around a declaration, and its own. */
enum { SCOPES_MOST = 16 };
struct wanted_type {
  const char *name[SCOPES_MOST];
  int count, tag;
  Dwarf_Die found;
  bool is;
};

static bool is_scope(Dwarf_Die *die) {
  int tag = dwarf_tag(die);
  return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type;
}

static bool seek_in(Dwarf_Die *in, int at, struct wanted_type *w) {
  Dwarf_Die child;
  bool last = at + 1 == w->count;
  if (dwarf_child(in, &child))
    return false;
  do {
    if (last ? dwarf_tag(&child) != w->tag : !is_scope(&child))
      continue;
    const char *name = dwarf_diename(&child);
    if (!name || strcmp(name, w->name[at]) != 0)
      continue;
    if (!last && seek_in(&child, at + 1, w))
      return true;
    if (last && !dwarf_hasattr(&child, DW_AT_declaration)) {
      w->found = child;
      return true;
    }
  } while (!dwarf_siblingof(&child, &child));
  return false;
}

static bool seek_type(Dwfl_Module *module, Dwarf_Die *unit, Dwarf_Addr bias, void *context) {
  struct wanted_type *w = context;
  (void)module;
  (void)bias;
  w->is = seek_in(unit, 0, w);
  return !w->is;
}

static bool want(struct wanted_type *w, Dwarf_Die *declared) {
  Dwarf_Die *scope = NULL;
  int scopes = dwarf_getscopes_die(declared, &scope);
  w->tag = dwarf_tag(declared);
  for (int i = scopes; i > 1 && w->count < SCOPES_MOST - 1; i--)
    if (is_scope(&scope[i - 1]) && dwarf_diename(&scope[i - 1]))
      w->name[w->count++] = dwarf_diename(&scope[i - 1]);
  free(scope);
  w->name[w->count] = dwarf_diename(declared);
  return w->name[w->count++] != NULL;
}

bool debug_type(struct debug *d, Dwarf_Die *declared, Dwarf_Die *found) {
  for (size_t i = 0; i < d->types; i++)
    if (d->type[i].declared == declared->addr) {
      *found = d->type[i].found;
      return d->type[i].is;
    }
  struct wanted_type w = {0};
  if (want(&w, declared))
    debug_units(d, seek_type, &w);
  d->type = reallocate(d->type, d->types + 1, sizeof *d->type);
  d->type[d->types++] = (struct debug_type){declared->addr, w.found, w.is};
  *found = w.found;
  return w.is;
}

/* -- symbols ----------------------------------------------------------------------- */

struct sought {
  const char *name;
  bool code;
  uint64_t address;
};

/* As the linker has it; of C++ also as people write it. */
static bool is_named(const char *symbol, const char *name) {
  return strstr(name, "::") ? demangle_is(symbol, name) : !strcmp(symbol, name);
}

static int seek_symbol(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr start,
                       void *context) {
  struct sought *s = context;
  (void)user;
  (void)name;
  (void)start;
  int symbols = dwfl_module_getsymtab(module);
  for (int i = 1; i < symbols; i++) {
    GElf_Sym symbol;
    GElf_Addr address;
    const char *called = dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);
    int type = GELF_ST_TYPE(symbol.st_info);
    bool fits = s->code ? type == STT_FUNC || type == STT_GNU_IFUNC : type == STT_OBJECT;
    if (called && fits && (s->code || GELF_ST_BIND(symbol.st_info) != STB_LOCAL) &&
        symbol.st_shndx != SHN_UNDEF && is_named(called, s->name)) {
      s->address = address;
      return DWARF_CB_ABORT;
    }
  }
  return DWARF_CB_OK;
}

uint64_t debug_symbol(struct debug *d, const char *name, bool code) {
  for (size_t i = 0; i < d->symbols; i++)
    if (d->symbol[i].code == code && !strcmp(d->symbol[i].name, name))
      return d->symbol[i].address;
  struct sought s = {name, code, 0};
  dwfl_getmodules(d->dwfl, seek_symbol, &s, 0);
  d->symbol = reallocate(d->symbol, d->symbols + 1, sizeof *d->symbol);
  d->symbol[d->symbols++] = (struct debug_symbol){print_string("%s", name), code, s.address};
  return s.address;
}
