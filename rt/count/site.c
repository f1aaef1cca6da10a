/* SPDX-License-Identifier: MIT */
/*
 * Numbers of sites. A site registers at its first event in this profile; its
 * strings are copied, so nothing dangles when its module is unloaded, and a
 * module loaded again finds the numbers it had.
 */
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "site.h"

#include "rt/file/arena.h"
#include "rt/file/describe.h"
#include "rt/file/map.h"
#include "rt/rt.h"
#include "rt/sys/confine.h"
#include "rt/sys/lock.h"

#define SITE_CHUNK 512u
#define SITE_CHUNKS 4096u
#define MODULES 256u

static struct aprof_psite *chunks[SITE_CHUNKS];
static uint32_t *table; /* open addressing, numbers; grows by doubling */
static uint32_t table_size, table_used;
static struct aprof_module *modules;
static uint32_t modules_count;

/* From addresses of functions: to their numbers, and to those of the functions that create
   lines have named with them. */
static struct map addresses, told;

static uint32_t creating[64]; /* namespaces of create lines, open addressing; a full
                                 table forgets the rest */

void site_reset(void) {
  memset(chunks, 0, sizeof chunks);
  memset(creating, 0, sizeof creating);
  rt.creating = 0;
  table = NULL;
  table_size = table_used = 0;
  modules = NULL;
  modules_count = 0;
  addresses = told = (struct map){NULL};
}

struct aprof_psite *site_record(uint32_t id) {
  return &chunks[id / SITE_CHUNK][id % SITE_CHUNK];
}

static uint32_t hash_word(uint64_t word) {
  word *= 0x9e3779b97f4a7c15ull;
  return (uint32_t)(word >> 32);
}

static uint32_t hash_psite(const struct aprof_psite *p) {
  if (p->address != 0)
    return hash_word(p->address);
  uint32_t h = hash_word((uint64_t)p->line << 32 | p->column) ^ p->kind * 0x9e3779b9u;
  for (const char *c = p->name ? at_offset(p->name) : ""; *c; c++)
    h = (h ^ (unsigned char)*c) * 16777619u;
  return h;
}

static bool text_equal(uint32_t a, uint32_t b) {
  return a == b || (a != 0 && b != 0 && strcmp(at_offset(a), at_offset(b)) == 0);
}

/* Of two lines of bindings for one call, one may mean waiting for new work. A function is
   one, whatever its units know of how it is run. */
static bool psite_equal(const struct aprof_psite *a, const struct aprof_psite *b) {
  /* Others may mark it as found meanwhile. */
  uint32_t differ = __atomic_load_n(&a->flags, __ATOMIC_RELAXED) ^ b->flags;
  return a->kind == b->kind && a->line == b->line && a->column == b->column &&
         a->address == b->address && text_equal(a->name, b->name) && text_equal(a->file, b->file) &&
         (a->kind == APROF_SITE_FUNCTION || !(differ & APROF_BACKGROUND));
}

static bool table_grow(void) {
  uint32_t size = table_size ? table_size * 2 : 1024;
  uint32_t *grown = arena_chunk(APROF_CHUNK_PRIVATE, 0, 0, size, sizeof *grown);
  if (grown == NULL)
    return false;
  for (uint32_t i = 0; i < table_size; i++)
    if (table[i] != 0) {
      uint32_t slot = hash_psite(site_record(table[i])) & (size - 1);
      while (grown[slot] != 0)
        slot = (slot + 1) & (size - 1);
      grown[slot] = table[i];
    }
  table = grown;
  table_size = size;
  return true;
}

/* A number for what `wanted` describes; 0 without memory. rt.lock held. */
static uint32_t intern(const struct aprof_psite *wanted) {
  if (table_used * 4 >= table_size * 3 && !table_grow())
    return 0;
  uint32_t slot = hash_psite(wanted) & (table_size - 1);
  for (; table[slot] != 0; slot = (slot + 1) & (table_size - 1))
    if (psite_equal(site_record(table[slot]), wanted))
      return table[slot];
  uint32_t id = rt.header->sites + 1, chunk = id / SITE_CHUNK;
  if (chunk >= SITE_CHUNKS)
    return 0;
  if (chunks[chunk] == NULL) {
    chunks[chunk] =
        arena_chunk(APROF_CHUNK_SITES, 0, chunk * SITE_CHUNK, SITE_CHUNK, sizeof **chunks);
    if (chunks[chunk] == NULL)
      return 0;
  }
  struct aprof_psite *p = &chunks[chunk][id % SITE_CHUNK];
  uint8_t kind = wanted->kind;
  *p = *wanted;
  p->kind = 0;
  publish_fence();
  p->kind = kind;
  __atomic_store_n(&rt.header->sites, id, __ATOMIC_RELEASE);
  table[slot] = id;
  table_used++;
  return id;
}

static uint32_t *creating_slot(uint32_t ns) {
  for (uint32_t i = 0; i < 64; i++) {
    uint32_t *slot = &creating[(ns + i) % 64];
    if (*slot == 0 || *slot == ns + 1)
      return slot;
  }
  return NULL;
}

bool site_creates(uint32_t ns) {
  uint32_t *slot = creating_slot(ns);
  return slot != NULL && *slot != 0;
}

/* The number of a tier's name, from 1 on; "(other)" where there is no room. rt.lock held. */
static uint32_t tier_number(const char *name) {
  uint32_t *names = rt.header->tier_names, n = 1;
  for (; n < APROF_TIERS - 1 && names[n] != 0; n++)
    if (strcmp(at_offset(names[n]), name) == 0)
      return n;
  if (n == APROF_TIERS - 1) {
    if (names[n] == 0)
      names[n] = arena_string("(other)");
    return n;
  }
  __atomic_store_n(&names[n], arena_string(name), __ATOMIC_RELEASE);
  return names[n] != 0 ? n : 0;
}

uint32_t site_register_slow(struct aprof_site *site) {
  rt_lock();
  if (site->instance == rt.instance) { /* another thread was faster */
    rt_unlock();
    return site->id;
  }
  if (site->kind == APROF_SITE_CREATE && !(site->flags & APROF_KEYLESS)) {
    uint32_t *slot = creating_slot(site->ns);
    if (slot != NULL)
      *slot = site->ns + 1;
    __atomic_fetch_or(&rt.creating, CREATING_BIT(site->ns), __ATOMIC_RELAXED);
  }
  struct aprof_psite wanted = {
      .name = arena_string(site->name),
      .file = arena_string(site->file),
      .function = arena_string(site->function),
      .line = site->line,
      .column = site->column,
      .kind = site->kind,
      .model = site->model,
      .flags = site->flags & ~APROF_PSITE_FOUND,
      /* with no requests to book it under it only costs */
      .tier = site->tier != NULL && rt.options.requests != 0 ? tier_number(site->tier) : 0};
  uint32_t id = intern(&wanted);
  site->id = id;
  if (site->kind == APROF_SITE_SPAN || site->kind == APROF_SITE_TIER)
    site->reserved = id != 0 ? (uintptr_t)site_record(id) : 0; /* what an event asks there */
  __atomic_store_n(&site->instance, rt.instance, __ATOMIC_RELEASE);
  rt_unlock();
  return id;
}

uint32_t site_in_background(uint32_t place) {
  struct aprof_psite wanted = *site_record(place);
  wanted.flags |= APROF_BACKGROUND;
  rt_lock();
  uint32_t id = intern(&wanted);
  rt_unlock();
  return id != 0 ? id : place;
}

void site_found_slow(struct aprof_site *site) {
  uint32_t id = site_id(site);
  if (id != 0)
    __atomic_fetch_or(&site_record(id)->flags, APROF_PSITE_FOUND, __ATOMIC_RELAXED);
  if (site->kind != APROF_SITE_WAKE || !(site->flags & APROF_HAND)) /* those are no fast events */
    site->reserved = rt.instance;
}

/* -- functions known by address only ------------------------------------------ */

struct module_search {
  uint64_t address;
  struct dl_phdr_info found;
  uint64_t low, high;
};

static int module_visit(struct dl_phdr_info *info, size_t size, void *data) {
  struct module_search *s = data;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
    uint64_t low = info->dlpi_addr + ph->p_vaddr;
    if (ph->p_type != PT_LOAD || s->address < low || s->address >= low + ph->p_memsz)
      continue;
    s->found = *info;
    s->low = low;
    s->high = low + ph->p_memsz;
    return 1;
  }
  return 0;
}

/* The number of the module that holds an address; 0 if none does. */
static uint32_t module_of(const struct module_search *s) {
  if (s->high == 0)
    return 0;
  for (uint32_t i = 0; i < modules_count; i++)
    if (modules[i].bias == s->found.dlpi_addr && s->address >= modules[i].low &&
        s->address < modules[i].high)
      return i + 1;
  if (modules == NULL) {
    modules = arena_chunk(APROF_CHUNK_MODULES, 0, 1, MODULES, sizeof *modules);
    if (modules == NULL)
      return 0;
  }
  if (modules_count == MODULES)
    return 0;
  struct aprof_module *m = &modules[modules_count];
  m->bias = s->found.dlpi_addr;
  m->low = s->low;
  m->high = s->high;
  static char exe[1024]; /* the first future may be on a small stack */
  const char *path = s->found.dlpi_name;
  if (path == NULL || *path == '\0') { /* the program itself */
    ssize_t length = is_confined() ? 0 : sys_readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[length > 0 ? length : 0] = '\0';
    path = exe;
  }
  m->path = arena_string(path);
  m->build_id_length = describe_build_id(&s->found, m->build_id);
  rt.header->modules = ++modules_count;
  return modules_count;
}

static uint32_t found(const struct map *map, uint64_t address) {
  return likely(__atomic_load_n(&map->directory, __ATOMIC_ACQUIRE) != NULL) ? map_find(map, address)
                                                                            : 0;
}

/* rt.lock held. Without memory it is not kept. */
static bool keep(struct map *map, uint64_t address, uint32_t id) {
  return (map->directory != NULL || map_start(map)) && map_add(map, address, id);
}

static SLOW uint32_t address_new(uint64_t address, uint8_t model) {
  struct aprof_psite wanted = {.kind = APROF_SITE_FUNCTION, .model = model, .address = address};
  struct module_search search = {.address = address};
  dl_iterate_phdr(module_visit, &search); /* takes the loader's lock: not under ours */
  rt_lock();
  uint32_t id = found(&addresses, address);
  if (id == 0) {
    wanted.module = module_of(&search);
    wanted.alias = found(&told, address);
    id = intern(&wanted);
    if (id != 0)
      keep(&addresses, address, id);
  }
  rt_unlock();
  return id;
}

uint32_t site_of_address(const void *function, uint8_t model) {
  uint32_t id = found(&addresses, (uintptr_t)function);
  return likely(id != 0) ? id : address_new((uintptr_t)function, model);
}

void site_told(struct aprof_site *function, const void *address) {
  uint64_t key = (uintptr_t)address;
  if (likely(found(&told, key) != 0))
    return;
  uint32_t id = site_id(function), dynamic;
  rt_lock();
  if (id != 0 && found(&told, key) == 0 && keep(&told, key, id) &&
      (dynamic = found(&addresses, key)) != 0)
    site_alias_slow(dynamic, function);
  rt_unlock();
}

uint32_t site_alias_slow(uint32_t dynamic, struct aprof_site *site) {
  uint32_t id = site_id(site);
  struct aprof_psite *p = site_record(dynamic);
  if (p->address != 0 && p->alias == 0)
    __atomic_store_n(&p->alias, id, __ATOMIC_RELAXED);
  return id;
}
