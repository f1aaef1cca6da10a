/* SPDX-License-Identifier: MIT */
/* Cores; see core.h. */
#include "core.h"

#include "cli.h"
#include "find.h"
#include "read/names.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

struct core {
  int32_t pid;
  char name[17];    /* what the kernel calls it: of 15 letters at most */
  int64_t ended_ns; /* no later than this, by CLOCK_REALTIME: the core was written then */
  char *profile;    /* the file of one that it had mapped; or NULL */
};

bool core_is(const char *path) {
  Elf64_Ehdr header;
  int fd = open_regular(AT_FDCWD, path, O_RDONLY);
  bool core = fd >= 0 && pread(fd, &header, sizeof header, 0) == sizeof header &&
              !memcmp(header.e_ident, ELFMAG, SELFMAG) && header.e_type == ET_CORE;
  if (fd >= 0)
    close(fd);
  return core;
}

/* -- its notes ---------------------------------------------------------------- */

/* How many files, the size of a page, of each where it is mapped; then their names. */
static void read_files(struct core *core, const char *data, size_t size) {
  uint64_t count;
  if (core->profile || size < 2 * sizeof count)
    return;
  memcpy(&count, data, sizeof count);
  if (count > (size - 2 * sizeof count) / (3 * sizeof count))
    return;
  const char *name = data + (2 + 3 * count) * sizeof count, *end = data + size;
  while (!core->profile && name < end) {
    size_t length = strnlen(name, (size_t)(end - name));
    char *path = print_string("%.*s", (int)length, name);
    if (is_profile_name(path))
      core->profile = path;
    else
      free(path);
    name += length + 1;
  }
}

static void read_note(struct core *core, const GElf_Nhdr *note, const char *data) {
  if (note->n_type == NT_PRPSINFO && note->n_descsz >= sizeof(prpsinfo_t)) {
    prpsinfo_t info;
    memcpy(&info, data, sizeof info);
    core->pid = info.pr_pid;
    snprintf(core->name, sizeof core->name, "%.*s", (int)sizeof info.pr_fname, info.pr_fname);
    clean_text(core->name);
  } else if (note->n_type == NT_PRSTATUS && !core->pid && note->n_descsz >= sizeof(prstatus_t)) {
    prstatus_t status; /* of a thread; the first is the one that crashed */
    memcpy(&status, data, sizeof status);
    core->pid = status.pr_pid;
  } else if (note->n_type == NT_FILE)
    read_files(core, data, note->n_descsz);
}

static void read_segment(struct core *core, Elf *elf, const GElf_Phdr *segment) {
  Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)segment->p_offset, segment->p_filesz,
                                        segment->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
  GElf_Nhdr note;
  size_t name, content;
  for (size_t at = 0; data && (at = gelf_getnote(data, at, &note, &name, &content)) > 0;)
    if (note.n_namesz == sizeof "CORE" && !memcmp((char *)data->d_buf + name, "CORE", 5))
      read_note(core, &note, (const char *)data->d_buf + content);
}

/* False after a message. */
static bool core_read(const char *path, struct core *core) {
  struct stat st;
  size_t segments = 0;
  GElf_Phdr segment;
  int fd = open_regular(AT_FDCWD, path, O_RDONLY);
  elf_version(EV_CURRENT);
  Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
  *core = (struct core){.pid = 0};
  if (elf && fstat(fd, &st) == 0 && elf_getphdrnum(elf, &segments) == 0)
    core->ended_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
  for (size_t i = 0; i < segments; i++)
    if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_NOTE)
      read_segment(core, elf, &segment);
  elf_end(elf);
  if (fd >= 0)
    close(fd);
  if (core->pid <= 0)
    complain("%s is a core that does not say of which process", path);
  return core->pid > 0;
}

/* -- its profile -------------------------------------------------------------- */

struct search {
  const struct core *core;
  char *path;
  int64_t started; /* of the latest: a number comes back */
};

/* What it is called may differ: of a program, and of a thread of it. */
static void visit(const struct entry *entry, void *context) {
  struct search *search = context;
  struct found found;
  struct aprof_header header;
  enum profile_kind kind;
  if (find_unreadable(entry, &found, &kind)) {
    found_release(&found);
    return;
  }
  if (!find_entry(entry, false, &found))
    return;
  if (profile_read_header(found.fd, found.what, &header, true) && header.pid == search->core->pid &&
      header.started_at_ns <= search->core->ended_ns && header.started_at_ns > search->started) {
    free(search->path);
    search->path = print_string("%s", entry->path);
    search->started = header.started_at_ns;
  }
  found_release(&found);
}

/* The file that it had mapped, if that is still its. */
static void visit_mapped(struct search *search) {
  const char *path = search->core->profile;
  int fd = path ? open_regular(AT_FDCWD, path, O_RDONLY) : -1;
  if (fd < 0)
    return;
  close(fd);
  visit(&(struct entry){.directory = AT_FDCWD, .name = path, .path = path}, search);
}

char *core_profile(const char *path) {
  struct core core;
  if (!core_read(path, &core))
    return NULL;
  struct search search = {.core = &core, .started = INT64_MIN};
  visit_mapped(&search);
  if (!search.path)
    find_all(NULL, visit, NULL, &search);
  if (!search.path)
    complain("%s is of process %d (%s), of which no profile is left%s; `aprof run' makes totals of "
             "one that crashes: %s.%d.json",
             path, core.pid, core.name, core.profile ? "" : ", nor did it have a file of one",
             core.name, core.pid);
  free(core.profile);
  return search.path;
}
