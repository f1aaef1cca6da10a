/* SPDX-License-Identifier: MIT */
/* Programs on disk, by libdwfl; see binary.h. */
#include "binary.h"

#include "demangle.h"
#include "util.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct binary {
  Dwfl *dwfl;
  Dwfl_Module *handle;
};

static char *no_debuginfo_path;

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &no_debuginfo_path,
};

/* -- which it is ----------------------------------------------------------------------- */

static bool same_build(Dwfl_Module *handle, const uint8_t *build_id, size_t length) {
  const unsigned char *bits;
  GElf_Addr address;
  if (length == 0)
    return true;
  int found = dwfl_module_build_id(handle, &bits, &address);
  return found >= (int)length && !memcmp(bits, build_id, length);
}

struct binary *binary_open(const char *path, const uint8_t *build_id, size_t length) {
  /* The path comes from a profile, or a recording, and may be anything's. */
  int fd = open_regular(AT_FDCWD, path, O_RDONLY);
  if (fd < 0)
    return NULL;
  unsetenv("DEBUGINFOD_URLS"); /* naming a function must not reach for the network */
  struct binary *b = allocate(1, sizeof *b);
  if (!(b->dwfl = dwfl_begin(&callbacks))) {
    close(fd);
    free(b);
    return NULL;
  }
  dwfl_report_begin(b->dwfl);
  b->handle = dwfl_report_offline(b->dwfl, path, path, fd);
  if (!b->handle)
    close(fd);
  dwfl_report_end(b->dwfl, NULL, NULL);
  if (b->handle && same_build(b->handle, build_id, length))
    return b;
  binary_free(b);
  return NULL;
}

static const char *looked_in; /* or NULL */

void binary_look_in(const char *directory) {
  looked_in = directory;
}

/* Takes the path, of a file or of a link to one. */
static struct binary *open_link(char *link, const uint8_t *build_id, size_t length) {
  char *path = realpath(link, NULL);
  struct binary *b = path ? binary_open(path, build_id, length) : NULL;
  free(path);
  free(link);
  return b;
}

/* .build-id/ab/cdef...: a link to the file itself, or with .debug what was taken out of it. */
struct binary *binary_of_build(const uint8_t *build_id, size_t length, const char *name) {
  const char *const places[] = {looked_in, "/usr/lib/debug", "/usr/lib"};
  static const char *const endings[] = {"", ".debug"};
  struct binary *b = NULL;
  if (length < 2)
    return NULL;
  char *rest = allocate(length, 2);
  for (size_t i = 1; i < length; i++)
    sprintf(rest + 2 * (i - 1), "%02x", build_id[i]);
  if (looked_in)
    b = open_link(print_string("%s/%s", looked_in, name), build_id, length);
  for (size_t i = 0; i < 2 * sizeof places / sizeof *places && !b; i++)
    if (places[i / 2])
      b = open_link(
          print_string("%s/.build-id/%02x/%s%s", places[i / 2], build_id[0], rest, endings[i % 2]),
          build_id, length);
  free(rest);
  return b;
}

void binary_free(struct binary *b) {
  if (!b)
    return;
  dwfl_end(b->dwfl);
  free(b);
}

/* -- names ----------------------------------------------------------------------------- */

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

/* Where its declaration stands. */
static void find_declaration(Dwarf_Die *function, Dwarf_Die *unit, struct symbol *result) {
  const char *file = dwarf_decl_file(function);
  int line = 0;
  if (!file)
    return;
  result->file = print_string("%s", shorten(file, unit));
  result->line = !dwarf_decl_line(function, &line) && line > 0 ? (uint32_t)line : 0;
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

uint64_t binary_loaded(const struct binary *b, uint64_t offset) {
  GElf_Addr bias = 0;
  Elf *elf = dwfl_module_getelf(b->handle, &bias);
  size_t count = 0;
  if (!elf || elf_getphdrnum(elf, &count))
    return 0;
  for (size_t i = 0; i < count; i++) {
    GElf_Phdr part;
    if (gelf_getphdr(elf, (int)i, &part) && part.p_type == PT_LOAD && part.p_flags & PF_X &&
        offset >= part.p_offset && offset - part.p_offset < part.p_memsz)
      return offset - part.p_offset + part.p_vaddr;
  }
  return 0;
}

void binary_find(struct binary *b, uint64_t address, struct symbol *result) {
  GElf_Addr bias = 0;
  GElf_Off offset;
  GElf_Sym symbol;
  *result = (struct symbol){0};
  dwfl_module_getelf(b->handle, &bias);
  Dwarf_Addr at = address + bias;
  const char *name = dwfl_module_addrinfo(b->handle, at, &offset, &symbol, NULL, NULL, NULL);
  find_line(b->handle, at, result);
  if (name && *name) {
    char *bare = print_string("%.*s", (int)strcspn(name, "@"), name); /* without its version */
    result->name = demangle(bare);
    free(bare);
    result->offset = offset;
    result->noted = offset == 0 && is_noted(b->handle, &symbol, name);
  }
}

size_t binary_inlined(struct binary *b, uint64_t address, struct symbol *list, size_t most) {
  GElf_Addr bias = 0;
  Dwarf_Addr dwarf_bias = 0;
  Dwarf_Die *scope = NULL, *around = NULL;
  size_t found = 0;
  dwfl_module_getelf(b->handle, &bias);
  Dwarf_Die *unit = dwfl_module_addrdie(b->handle, address + bias, &dwarf_bias);
  int scopes = unit ? dwarf_getscopes(unit, address + bias - dwarf_bias, &scope) : 0;
  int all = scopes > 0 ? dwarf_getscopes_die(&scope[0], &around) : 0;
  for (int i = 0; i < all && found < most && dwarf_tag(&around[i]) != DW_TAG_subprogram; i++) {
    const char *name =
        dwarf_tag(&around[i]) == DW_TAG_inlined_subroutine ? dwarf_diename(&around[i]) : NULL;
    if (!name)
      continue;
    list[found] = (struct symbol){.name = print_string("%s", name)};
    find_declaration(&around[i], unit, &list[found++]);
  }
  free(around);
  free(scope);
  return found;
}
