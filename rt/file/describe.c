/* SPDX-License-Identifier: MIT */
/* What a process and its modules are; see describe.h. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "describe.h"

#include "rt/sys/vdso.h"

#ifndef APROF_VERSION
#define APROF_VERSION "?"
#endif

/* -- files --------------------------------------------------------------------- */

/* What may become part of a file's name, or of a line on a terminal. */
static void short_name(char *to, size_t room, const char *path, const char *otherwise) {
  const char *name = strrchr(path, '/');
  text_join(to, room, name != NULL ? name + 1 : otherwise, NULL);
  for (char *c = to; *c; c++)
    if (*c < ' ' || *c > '~')
      *c = '_';
}

static void name_program(char *to, size_t room) {
  static char exe[512];
  ssize_t length = sys_readlink("/proc/self/exe", exe, sizeof exe - 1);
  exe[length > 0 ? length : 0] = '\0';
  short_name(to, room, exe, "program");
}

void describe_module(const void *inside, char *name, size_t room) {
  Dl_info info;
  struct link_map *module = NULL;
  if (dladdr1(inside, &info, (void **)&module, RTLD_DL_LINKMAP) && module != NULL &&
      module->l_name[0] != '\0')
    short_name(name, room, module->l_name, module->l_name);
  else
    name_program(name, room);
}

/* -- build-ids ------------------------------------------------------------------- */

static uint32_t build_id_of_note(const char *note, const char *end, uint8_t id[BUILD_ID]) {
  while (note + sizeof(ElfW(Nhdr)) <= end) {
    const ElfW(Nhdr) *n = (const void *)note;
    const char *name = note + sizeof *n, *desc = name + ((n->n_namesz + 3) & ~3u);
    if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && memcmp(name, "GNU", 4) == 0 &&
        n->n_descsz <= BUILD_ID) {
      memcpy(id, desc, n->n_descsz);
      return n->n_descsz;
    }
    note = desc + ((n->n_descsz + 3) & ~3u);
  }
  return 0;
}

uint32_t describe_build_id(const struct dl_phdr_info *module, uint8_t id[BUILD_ID]) {
  uint32_t length = 0;
  for (int i = 0; i < module->dlpi_phnum && length == 0; i++) {
    const ElfW(Phdr) *ph = &module->dlpi_phdr[i];
    const char *note = (const char *)(module->dlpi_addr + ph->p_vaddr);
    if (ph->p_type == PT_NOTE)
      length = build_id_of_note(note, note + ph->p_memsz, id);
  }
  return length;
}

/* How far from its addresses in the file a program was loaded whose headers lie at `phdr`. Static
   ones that may lie anywhere have no PT_PHDR, but the file's head before the headers. */
static bool load_bias(const ElfW(Phdr) *phdr, int count, uintptr_t *bias) {
  for (int i = 0; i < count; i++)
    if (phdr[i].p_type == PT_PHDR) {
      *bias = (uintptr_t)phdr - phdr[i].p_vaddr;
      return true;
    }
  const ElfW(Ehdr) *head = (const void *)((uintptr_t)phdr - sizeof *head);
  if (count == 0 || (uintptr_t)head % 4096 != 0 || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
    return false;
  for (int i = 0; i < count; i++)
    if (phdr[i].p_type == PT_LOAD && phdr[i].p_offset == 0) {
      *bias = (uintptr_t)head - phdr[i].p_vaddr;
      return true;
    }
  return false;
}

/* By what the kernel says, not the loader, whose lock another thread may hold. */
static uint32_t build_id_of_program(uint8_t id[BUILD_ID]) {
  struct dl_phdr_info program = {.dlpi_phdr = (const void *)getauxval(AT_PHDR),
                                 .dlpi_phnum = (ElfW(Half))getauxval(AT_PHNUM)};
  uintptr_t bias;
  if (!load_bias(program.dlpi_phdr, program.dlpi_phnum, &bias))
    return 0;
  program.dlpi_addr = bias;
  return describe_build_id(&program, id);
}

/* -- where it runs ------------------------------------------------------------------ */

static char text[16384]; /* of one file after the other */

/* That it may run on, in its control group and by its affinity; 0: not known. */
static uint32_t processors(void) {
  static const char name[] = "\nCpus_allowed:\t";
  sys_read_file("/proc/self/status", text, sizeof text);
  const char *mask = strstr(text, name);
  uint32_t count = 0;
  for (mask += mask != NULL ? sizeof name - 1 : 0; mask != NULL && *mask > ' '; mask++) {
    uint32_t digit = *mask >= 'a' ? *mask - 'a' + 10u : *mask >= '0' ? *mask - '0' + 0u : 0;
    for (; digit != 0; digit &= digit - 1)
      count++;
  }
  return count;
}

#define CONTAINER_ID 64 /* hexadecimal digits */

/* The last word of that many digits before `end`. */
static const char *last_id(const char *from, const char *end) {
  const char *found = NULL;
  size_t digits = 0;
  for (const char *c = from; c <= end; c++) {
    bool digit = c < end && ((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'f'));
    if (!digit && digits == CONTAINER_ID)
      found = c - CONTAINER_ID;
    digits = digit ? digits + 1 : 0;
  }
  return found;
}

/* Docker, podman, containerd and CRI-O name a container's control group by its id; seen from
   inside, the group may have no name, but files that the engine wrote are mounted there. */
static const char *container_id(void) {
  size_t size = sys_read_file("/proc/self/cgroup", text, sizeof text);
  const char *id = last_id(text, text + size);
  if (id != NULL)
    return id;
  sys_read_file("/proc/self/mountinfo", text, sizeof text);
  const char *mount = strstr(text, " /etc/hostname "), *line = mount;
  while (line != NULL && line > text && line[-1] != '\n')
    line--;
  return mount != NULL ? last_id(line, mount) : NULL;
}

static void name_container(char *to, size_t room) {
  const char *id = container_id(), *kind = sys_getenv("container");
  if (id != NULL) {
    memcpy(to, id, CONTAINER_ID);
    to[CONTAINER_ID] = '\0';
  } else if (kind != NULL) { /* as systemd-nspawn and LXC say */
    text_join(to, room, kind, NULL);
  }
}

/* -- the process ----------------------------------------------------------------------- */

static uint64_t start_time(void) {
  sys_read_file("/proc/self/stat", text, sizeof text);
  char *p = strrchr(text, ')');
  for (int field = 2; p != NULL && field < 22; field++)
    p = strchr(p + 1, ' ');
  return p != NULL ? sys_strtoul(p, NULL, 10) : 0;
}

void describe_process(struct aprof_header *h) {
  h->pid = rt.pid;
  h->parent_pid = sys_getppid();
  h->start_time = start_time();
  h->started_at_ns = (int64_t)vdso_clock(CLOCK_REALTIME);
  sys_read_file("/proc/sys/kernel/random/boot_id", h->boot_id, sizeof h->boot_id);
  h->boot_id[36] = '\0';
  sys_gethostname(h->host, sizeof h->host - 1);
  size_t n = sys_read_file("/proc/self/cmdline", h->command, sizeof h->command);
  for (size_t i = 0; i + 1 < n; i++)
    if (h->command[i] == '\0')
      h->command[i] = ' ';
  memcpy(h->dir, rt.options.dir, sizeof h->dir);
  name_program(h->name, sizeof h->name);
  text_join(h->aprof, sizeof h->aprof, APROF_VERSION, NULL);
  h->build_id_length = build_id_of_program(h->build_id);
  h->processors = processors();
  name_container(h->container, sizeof h->container);
}
