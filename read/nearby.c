/* SPDX-License-Identifier: MIT */
/* The function at an address, by the symbols as they lie in the file; see nearby.h. */
#include "nearby.h"

#include "nearby-bytes.h"

bool nearby_native(Elf *elf) {
  static const union {
    uint16_t word;
    unsigned char first;
  } order = {1};
  const char *ident = elf ? elf_getident(elf, NULL) : NULL;
  GElf_Ehdr header;
  return ident && ident[EI_CLASS] == ELFCLASS64 && order.first && ident[EI_DATA] == ELFDATA2LSB &&
         gelf_getehdr(elf, &header) && (header.e_type == ET_DYN || header.e_type == ET_EXEC);
}

static int rank(const Elf64_Sym *s) {
  switch (ELF64_ST_BIND(s->st_info)) {
  case STB_GLOBAL:
    return 3;
  case STB_WEAK:
    return 2;
  case STB_LOCAL:
    return 1;
  default:
    return 0;
  }
}

/* As libdwfl has it: the nearer one; of two that begin there the shorter one; a global one rather
   than a weak one. */
static bool is_better(const Elf64_Sym *s, const Elf64_Sym *best) {
  if (!best || best->st_value < s->st_value || rank(best) < rank(s))
    return true;
  return best->st_value == s->st_value && best->st_size > s->st_size && rank(best) <= rank(s);
}

struct symbol_table {
  const Elf64_Sym *of;
  size_t count, first_global;
  struct bytes names;
};

static bool find_symbols(Elf *elf, struct symbol_table *t) {
  for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
      continue;
    Elf_Data *data = elf_getdata(section, NULL);
    Elf_Scn *texts = elf_getscn(elf, header.sh_link);
    Elf_Data *names = texts ? elf_getdata(texts, NULL) : NULL;
    if (!data || !data->d_buf || data->d_type != ELF_T_SYM || !names || !names->d_buf)
      return false;
    *t = (struct symbol_table){
        .of = data->d_buf,
        .count = data->d_size / sizeof(Elf64_Sym),
        .first_global = header.sh_info,
        .names = {.at = names->d_buf, .end = (const unsigned char *)names->d_buf + names->d_size}};
    return t->first_global <= t->count;
  }
  return false;
}

/* Those without a size, and numbers that are no addresses, are libdwfl's. False: there is one. */
static bool look_among(const struct symbol_table *t, size_t from, size_t to, uint64_t address,
                       const Elf64_Sym **best) {
  for (size_t i = from; i < to; i++) {
    const Elf64_Sym *s = &t->of[i];
    unsigned type = ELF64_ST_TYPE(s->st_info);
    if (s->st_value > address || address - s->st_value >= s->st_size || s->st_shndx == SHN_UNDEF ||
        type == STT_SECTION || type == STT_FILE || type == STT_TLS)
      continue;
    if (s->st_shndx >= SHN_LORESERVE)
      return false;
    const char *name = text_at(t->names, s->st_name);
    if (name && *name && is_better(s, *best))
      *best = s;
  }
  return true;
}

const char *nearby_name(Elf *elf, uint64_t address, GElf_Sym *symbol) {
  struct symbol_table t;
  const Elf64_Sym *best = NULL;
  if (!nearby_native(elf) || !find_symbols(elf, &t) ||
      !look_among(&t, t.first_global, t.count, address, &best) ||
      (!best && !look_among(&t, 1, t.first_global, address, &best)) || !best)
    return NULL;
  *symbol = (GElf_Sym){.st_name = best->st_name,
                       .st_info = best->st_info,
                       .st_other = best->st_other,
                       .st_shndx = best->st_shndx,
                       .st_value = best->st_value,
                       .st_size = best->st_size};
  return text_at(t.names, best->st_name);
}
