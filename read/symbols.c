/* SPDX-License-Identifier: MIT */
/* Addresses to names; see symbols.h. */
#include "symbols.h"

#include "util.h"

#include <stdlib.h>
#include <string.h>

struct module {
  struct binary *binary; /* NULL: cannot be read, or is another build */
  bool tried;
};

struct symbols {
  const struct profile *profile;
  long pid;
  struct module *module; /* by number */
  uint32_t count;
};

struct symbols *symbols_new(const struct profile *p, long pid) {
  struct symbols *s = allocate(1, sizeof *s);
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
    binary_free(s->module[i].binary);
  free(s->module);
  free(s);
}

static struct binary *open_at(const struct aprof_module *m, const char *path) {
  uint32_t length = m->build_id_length;
  return binary_open(path, m->build_id, length > sizeof m->build_id ? sizeof m->build_id : length);
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
    module->binary = open_at(m, inside);
    free(inside);
  }
  if (!module->binary)
    module->binary = open_at(m, path);
  return module;
}

void symbols_find(struct symbols *s, uint64_t address, uint32_t number, struct symbol *result) {
  *result = (struct symbol){0};
  const struct aprof_module *m = profile_module(s->profile, number);
  if (!m || number >= s->count) {
    result->name = print_string("0x%llx", (unsigned long long)address);
    return;
  }
  struct module *module = open_module(s, m, number);
  if (module->binary)
    binary_find(module->binary, address - m->bias, result);
  if (!result->name) {
    const char *path = profile_string(s->profile, m->path);
    const char *base = path ? strrchr(path, '/') : NULL;
    result->name =
        print_string("%s+0x%llx", base ? base + 1 : "?", (unsigned long long)(address - m->bias));
  }
}
