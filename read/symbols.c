/* SPDX-License-Identifier: MIT */
/* Addresses to names; see symbols.h. */
#include "symbols.h"

#include "demangle.h"
#include "util.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct module {
  Dwfl *dwfl;
  Dwfl_Module *handle; /* NULL: cannot be read, or is another build */
  bool tried;
};

struct symbols {
  const struct profile *profile;
  long pid;
  struct module *module; /* by number */
  uint32_t count;
};

static char *no_debuginfo_path;

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &no_debuginfo_path,
};

struct symbols *symbols_new(const struct profile *p, long pid) {
  struct symbols *s = allocate(1, sizeof *s);
  /* Naming a function must not reach for the network. */
  unsetenv("DEBUGINFOD_URLS");
  s->profile = p;
  s->pid = pid;
  for (size_t i = 0; i < p->modules.count; i++) {
    uint32_t end = p->modules.run[i].first + p->modules.run[i].count;
    if (end > s->count)
      s->count = end;
  }
  s->module = allocate(s->count, sizeof *s->module);
  return s;
}

void symbols_free(struct symbols *s) {
  if (!s)
    return;
  for (uint32_t i = 0; i < s->count; i++)
    if (s->module[i].dwfl)
      dwfl_end(s->module[i].dwfl);
  free(s->module);
  free(s);
}

static bool same_build(Dwfl_Module *handle, const struct aprof_module *m) {
  const unsigned char *bits;
  GElf_Addr address;
  uint32_t length = m->build_id_length;
  if (length > sizeof m->build_id)
    length = sizeof m->build_id;
  if (length == 0)
    return true;
  int found = dwfl_module_build_id(handle, &bits, &address);
  return found >= (int)length && !memcmp(bits, m->build_id, length);
}

static bool open_at(struct module *module, const struct aprof_module *m, const char *path) {
  /* The path comes from the profile, and may be anything's. */
  int fd = open_regular(AT_FDCWD, path, O_RDONLY);
  if (fd < 0)
    return false;
  if (!(module->dwfl = dwfl_begin(&callbacks))) {
    close(fd);
    return false;
  }
  dwfl_report_begin(module->dwfl);
  module->handle = dwfl_report_offline(module->dwfl, path, path, fd);
  if (!module->handle)
    close(fd);
  dwfl_report_end(module->dwfl, NULL, NULL);
  if (module->handle && same_build(module->handle, m))
    return true;
  module->handle = NULL;
  dwfl_end(module->dwfl);
  module->dwfl = NULL;
  return false;
}

static struct module *open_module(struct symbols *s, const struct aprof_module *m,
                                  uint32_t number) {
  struct module *module = &s->module[number];
  const char *path = profile_string(s->profile, m->path);
  if (module->tried || s->pid < 0 || !path || path[0] != '/')
    return module;
  module->tried = true;
  if (s->pid) {
    char *inside = print_string("/proc/%ld/root%s", s->pid, path);
    bool opened = open_at(module, m, inside);
    free(inside);
    if (opened)
      return module;
  }
  open_at(module, m, path);
  return module;
}

/* Relative to the directory of compilation, as the compiler was told it. */
static const char *shorten(const char *file, Dwarf_Die *unit) {
  Dwarf_Attribute attribute;
  const char *directory =
      unit ? dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute)) : NULL;
  size_t length = directory ? strlen(directory) : 0;
  if (length > 1 && !strncmp(file, directory, length) && file[length] == '/')
    return file + length + 1;
  return file;
}

static void find_line(Dwfl_Module *handle, Dwarf_Addr address, struct symbol *result) {
  int line = 0;
  Dwarf_Addr bias;
  Dwfl_Line *row = dwfl_module_getsrc(handle, address);
  const char *file = row ? dwfl_lineinfo(row, NULL, &line, NULL, NULL, NULL) : NULL;
  if (!file)
    return;
  result->file = print_string("%s", shorten(file, dwfl_module_addrdie(handle, address, &bias)));
  result->line = line > 0 ? (uint32_t)line : 0;
}

/* Is the body of that symbol one that the plugin made note of? A line of the notes is of a body,
   or of another name of one, and ends in what the linker calls it. Of a weak symbol that may be
   another object's body, compiled without. See cli/coverage.h. */
static bool is_noted(Dwfl_Module *handle, const GElf_Sym *symbol, const char *name) {
  static const char *const bodies[] = {"function\t", "likely\t", "symbol\t"};
  GElf_Addr bias;
  Elf *elf = dwfl_module_getelf(handle, &bias);
  size_t names;
  bool noted = false;
  if (GELF_ST_BIND(symbol->st_info) != STB_GLOBAL || !elf || elf_getshdrstrndx(elf, &names))
    return false;
  char *ending = print_string("\t%.*s\n", (int)strcspn(name, "@"), name);
  for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) && !noted;) {
    GElf_Shdr header;
    const char *is = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
    Elf_Data *data = is && !strcmp(is, ".aprof.coverage") ? elf_getdata(section, NULL) : NULL;
    const char *text = data && data->d_buf ? data->d_buf : "", *end = text;
    end += data && data->d_buf ? data->d_size : 0;
    for (const char *at = text;
         !noted && (at = memmem(at, (size_t)(end - at), ending, strlen(ending))); at++) {
      const char *line = at;
      while (line > text && line[-1] != '\n' && line[-1] != '\0')
        line--;
      for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        noted |= !strncmp(line, bodies[i], strlen(bodies[i]));
    }
  }
  free(ending);
  return noted;
}

void symbols_find(struct symbols *s, uint64_t address, uint32_t number, struct symbol *result) {
  *result = (struct symbol){0};
  const struct aprof_module *m = profile_module(s->profile, number);
  if (!m || number >= s->count) {
    result->name = print_string("0x%llx", (unsigned long long)address);
    return;
  }
  struct module *module = open_module(s, m, number);
  if (module->handle) {
    GElf_Addr bias = 0;
    GElf_Off offset;
    GElf_Sym symbol;
    dwfl_module_getelf(module->handle, &bias);
    Dwarf_Addr at = address - m->bias + bias;
    const char *name = dwfl_module_addrinfo(module->handle, at, &offset, &symbol, NULL, NULL, NULL);
    find_line(module->handle, at, result);
    if (name && *name) {
      result->name = demangle(name);
      result->noted = offset == 0 && is_noted(module->handle, &symbol, name);
    }
  }
  if (!result->name) {
    const char *path = profile_string(s->profile, m->path);
    const char *base = path ? strrchr(path, '/') : NULL;
    result->name =
        print_string("%s+0x%llx", base ? base + 1 : "?", (unsigned long long)(address - m->bias));
  }
}
