/* SPDX-License-Identifier: MIT */
/* Whose body the plugin has not seen; see coverage.h. */
#include "coverage.h"

#include "cli.h"
#include "read/index.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A symbol that somebody refers to. */
struct wanted {
  bool defined;  /* in a file that was named */
  bool imported; /* by a program or shared object that was */
};

static char *copy_of(const char *text) {
  return print_string("%s", text);
}

/* -- what the files define ------------------------------------------------- */

static void look_at(struct index *wanted, const char *name, const GElf_Sym *symbol, bool linked) {
  size_t length = strcspn(name, "@"); /* of a versioned one */
  struct wanted *w = (void *)index_get(wanted, print_string("%.*s", (int)length, name));
  if (!w)
    return;
  if (symbol->st_shndx != SHN_UNDEF)
    w->defined = true;
  else
    w->imported |= linked;
}

static void look_at_table(struct index *wanted, Elf *elf, Elf_Scn *section, bool linked) {
  GElf_Shdr header;
  if (!gelf_getshdr(section, &header) || !header.sh_entsize ||
      (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
    return;
  Elf_Data *data = elf_getdata(section, NULL);
  for (size_t i = 1; data && i < header.sh_size / header.sh_entsize; i++) {
    GElf_Sym symbol;
    const char *name =
        gelf_getsym(data, (int)i, &symbol) ? elf_strptr(elf, header.sh_link, symbol.st_name) : NULL;
    if (name)
      look_at(wanted, name, &symbol, linked);
  }
}

static void look_at_object(struct index *wanted, Elf *elf) {
  GElf_Ehdr header;
  if (!gelf_getehdr(elf, &header))
    return;
  for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s))
    look_at_table(wanted, elf, s, header.e_type != ET_REL);
}

static void look_at_file(struct index *wanted, const char *path) {
  int fd = open_regular(AT_FDCWD, path, O_RDONLY);
  Elf *file = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL), *member;
  if (file && elf_kind(file) == ELF_K_ELF)
    look_at_object(wanted, file);
  if (file && elf_kind(file) == ELF_K_AR) {
    Elf_Cmd command = ELF_C_READ;
    while ((member = elf_begin(fd, command, file)) != NULL) {
      if (elf_kind(member) == ELF_K_ELF)
        look_at_object(wanted, member);
      command = elf_next(member);
      elf_end(member);
    }
  }
  elf_end(file);
  if (fd >= 0)
    close(fd);
}

/* -- whom the library runs ------------------------------------------------------ */

/* The namespace of "... key=w:a0 ..." is `space`; none is one, too. */
static bool is_of_space(const char *line, const char *space) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  const char *key = strstr(line, " key=");
  if (!key)
    return false;
  key += strlen(" key=");
  size_t length = strspn(key, letters);
  length = key[length] == ':' ? length : 0;
  return strlen(space) == length && !strncmp(key, space, length);
}

/* A line "run icall:" that the library has where it was compiled with the plugin runs
   the futures of this namespace, whatever their callbacks are. */
static bool is_keyed(const struct coverage *c, const char *space) {
  for (size_t i = 0; i < c->of[COVERAGE_BINDING].count; i++) {
    const struct coverage_record *b = &c->of[COVERAGE_BINDING].record[i];
    const char *run = b->matches ? strstr(b->name, "run") : NULL;
    run = run ? run + strlen("run") : NULL;
    if (run && !strncmp(run + strspn(run, " "), "icall:", strlen("icall:")) &&
        is_of_space(run, space))
      return true;
  }
  return false;
}

/* -- the verdicts ---------------------------------------------------------- */

struct judgement {
  const struct coverage *coverage;
  struct index here; /* symbols of instrumented bodies */
  struct index told; /* ... of missing ones */
  enum coverage_verdict *verdict;
  struct wanted *wanted;
};

static const struct coverage_record *subject(const struct judgement *j, size_t i) {
  size_t declared = j->coverage->of[COVERAGE_DECLARED].count;
  return i < declared ? &j->coverage->of[COVERAGE_DECLARED].record[i]
                      : &j->coverage->of[COVERAGE_CALLBACK].record[i - declared];
}

/* What every unit's records tell. */
static enum coverage_verdict first_verdict(struct judgement *j, const struct coverage_record *r) {
  if (index_get(&j->here, copy_of(r->symbol)))
    return COVERAGE_HERE;
  if (r->space && is_keyed(j->coverage, r->space))
    return COVERAGE_KEYED;
  if (r->system)
    return COVERAGE_LIBRARY;
  return COVERAGE_MISSING;
}

/* A callback that nobody defines here, and that the linker left to others. */
static void find_imported(struct judgement *j, size_t count) {
  struct index wanted;
  size_t open = 0;
  index_new(&wanted, count);
  for (size_t i = 0; i < count; i++) {
    const struct coverage_record *r = subject(j, i);
    if (j->verdict[i] == COVERAGE_MISSING && r->space) {
      index_put(&wanted, copy_of(r->symbol), &j->wanted[i]);
      open++;
    }
  }
  for (size_t i = 0; open && i < j->coverage->paths; i++)
    look_at_file(&wanted, j->coverage->path[i]);
  for (size_t i = 0; i < count; i++) {
    const struct wanted *w = index_get(&wanted, copy_of(subject(j, i)->symbol));
    if (j->verdict[i] == COVERAGE_MISSING && w && w->imported && !w->defined)
      j->verdict[i] = COVERAGE_LIBRARY;
  }
  index_free(&wanted);
}

/* Declared in several headers, or given to several creates, it is missing once. */
static void tell_once(struct judgement *j, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const char *symbol = subject(j, i)->symbol;
    if (j->verdict[i] != COVERAGE_MISSING)
      continue;
    if (index_get(&j->told, copy_of(symbol)))
      j->verdict[i] = COVERAGE_AGAIN;
    else
      index_put(&j->told, copy_of(symbol), symbol);
  }
}

enum coverage_verdict *coverage_judge(const struct coverage *c) {
  size_t symbols = c->of[COVERAGE_SYMBOL].count;
  size_t count = c->of[COVERAGE_DECLARED].count + c->of[COVERAGE_CALLBACK].count;
  struct judgement j = {.coverage = c};
  j.verdict = allocate(count, sizeof *j.verdict);
  j.wanted = allocate(count, sizeof *j.wanted);
  index_new(&j.here, symbols);
  index_new(&j.told, count);
  for (size_t i = 0; i < symbols; i++) {
    const char *symbol = c->of[COVERAGE_SYMBOL].record[i].name;
    index_put(&j.here, copy_of(symbol), symbol);
  }
  for (size_t i = 0; i < count; i++)
    j.verdict[i] = first_verdict(&j, subject(&j, i));
  find_imported(&j, count);
  tell_once(&j, count);
  index_free(&j.here);
  index_free(&j.told);
  free(j.wanted);
  return j.verdict;
}
