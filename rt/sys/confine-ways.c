/* SPDX-License-Identifier: MIT */
/*
 * Ways to a seccomp filter. Programs that have none do not pay for asking: only those do that
 * link statically, have libseccomp, themselves call prctl or syscall, or a library of the system
 * that does so with the number of a filter; and all that load modules while they run.
 */
#include <dlfcn.h>
#if defined __x86_64__
#include <emmintrin.h>
#endif
#include <link.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "confine.h"

#include "rt/rt.h"

enum way { WAY_PRCTL = 1, WAY_SYSCALL = 2, WAY_SECCOMP = 4 };

static unsigned way_of(const char *name) {
  return strcmp(name, "prctl") == 0         ? WAY_PRCTL
         : strcmp(name, "syscall") == 0     ? WAY_SYSCALL
         : strncmp(name, "seccomp", 7) == 0 ? WAY_SECCOMP
                                            : 0;
}

/* What the loader was told of a module. */
struct dynamic {
  const ElfW(Sym) *symbols;
  const char *strings;
  const ElfW(Rela) *calls, *others; /* relocations */
  size_t calls_size, others_size;   /* bytes */
};

/* 0: it has none. */
static const void *at_address(const struct dl_phdr_info *info, ElfW(Addr) address) {
  return (const void *)(address != 0 && address < info->dlpi_addr ? info->dlpi_addr + address
                                                                  : address);
}

static struct dynamic read_dynamic(const struct dl_phdr_info *info, const ElfW(Dyn) *d) {
  ElfW(Addr) value[DT_JMPREL + 1] = {0}; /* by tag */
  for (; d->d_tag != DT_NULL; d++)
    if (d->d_tag > 0 && d->d_tag <= DT_JMPREL)
      value[d->d_tag] = d->d_un.d_ptr;
  return (struct dynamic){.symbols = at_address(info, value[DT_SYMTAB]),
                          .strings = at_address(info, value[DT_STRTAB]),
                          .calls = at_address(info, value[DT_JMPREL]),
                          .others = at_address(info, value[DT_RELA]),
                          .calls_size = value[DT_PLTRELSZ],
                          .others_size = value[DT_RELASZ]};
}

/* Which ways the module has: a set. */
static unsigned refers(const struct dynamic *d, const ElfW(Rela) *all, size_t size) {
  unsigned ways = 0;
  for (size_t i = 0; all != NULL && i < size / sizeof *all; i++) {
    size_t symbol = sizeof(ElfW(Addr)) == 8 ? all[i].r_info >> 32 : all[i].r_info >> 8;
    if (symbol != 0)
      ways |= way_of(d->strings + d->symbols[symbol].st_name);
  }
  return ways;
}

static unsigned ways_of(const struct dl_phdr_info *info, const ElfW(Phdr) *dynamic) {
  struct dynamic d = read_dynamic(info, (const void *)(info->dlpi_addr + dynamic->p_vaddr));
  if (d.symbols == NULL || d.strings == NULL)
    return 0;
  return refers(&d, d.calls, d.calls_size) | refers(&d, d.others, d.others_size);
}

#if defined __x86_64__

/* Where in sixteen bytes begins mov $number, %edi (bf) or %eax (b8), of a number that has
   16 bits? A set. Many of these bytes are looked at, and before the program has begun. */
static unsigned moves_begin(const unsigned char *code) {
  __m128i none = _mm_setzero_si128(), at = _mm_loadu_si128((const __m128i *)code);
  __m128i third = _mm_loadu_si128((const __m128i *)(code + 3));
  __m128i fourth = _mm_loadu_si128((const __m128i *)(code + 4));
  __m128i move = _mm_or_si128(_mm_cmpeq_epi8(at, _mm_set1_epi8((char)0xbf)),
                              _mm_cmpeq_epi8(at, _mm_set1_epi8((char)0xb8)));
  __m128i small = _mm_cmpeq_epi8(_mm_or_si128(third, fourth), none);
  return (unsigned)_mm_movemask_epi8(_mm_and_si128(move, small));
}

static bool passes(const unsigned char *code, size_t size, unsigned ways) {
  for (size_t i = 0; i + 20 <= size; i += 16)
    for (unsigned set = moves_begin(code + i); set != 0; set &= set - 1) {
      const unsigned char *move = code + i + __builtin_ctz(set);
      unsigned number = move[1] | (unsigned)move[2] << 8;
      if ((ways & WAY_PRCTL) && number == PR_SET_SECCOMP && *move == 0xbf)
        return true;
      if ((ways & WAY_SYSCALL) && (number == SYS_seccomp || number == SYS_prctl))
        return true;
    }
  return false;
}

/* Many a library of the system calls prctl, for the name of a thread, or syscall. Few do so
   with the number of a filter, and that stands in their code. */
static bool sets_filters(const struct dl_phdr_info *info, unsigned ways) {
  if (ways & WAY_SECCOMP)
    return true;
  for (int i = 0; ways != 0 && i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    if (p->p_type == PT_LOAD && (p->p_flags & (PF_R | PF_X)) == (PF_R | PF_X) &&
        passes((const unsigned char *)(info->dlpi_addr + p->p_vaddr), p->p_filesz, ways))
      return true;
  }
  return false;
}

#else

static bool sets_filters(const struct dl_phdr_info *info, unsigned ways) {
  (void)info;
  return ways != 0;
}

#endif

static const ElfW(Phdr) *segment(const struct dl_phdr_info *info, uint32_t type) {
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == type)
      return &info->dlpi_phdr[i];
  return NULL;
}

static bool of_system(const char *name) {
  return strncmp(name, "/lib", 4) == 0 || strncmp(name, "/usr/lib", 8) == 0;
}

static int visit(struct dl_phdr_info *info, size_t size, void *data) {
  const char *name = info->dlpi_name != NULL ? info->dlpi_name : "";
  const ElfW(Phdr) *dynamic = segment(info, PT_DYNAMIC);
  bool *first = data;
  bool program = *first;
  (void)size;
  *first = false;
  if (program && (dynamic == NULL || segment(info, PT_INTERP) == NULL))
    return 1; /* static: nothing says what it calls */
  if (strstr(name, "libseccomp") != NULL)
    return 1;
  if (dynamic == NULL || strncmp(name, "linux-", 6) == 0 || strstr(name, "/libaprof.so") != NULL)
    return 0;
  unsigned ways = ways_of(info, dynamic);
  return of_system(name) ? sets_filters(info, ways) : ways != 0;
}

static bool has_way; /* a module of those that were there when the runtime was loaded */

/* The loader adds modules at the end of its list. This is the last one of it, if it stays for
   as long as this library: itself, the C library or the loader. NULL: another one. */
static const struct link_map *last_module;

static void find_last_module(void) {
  struct link_map *own = NULL;
  Dl_info info;
  if (dladdr1((void *)find_ways, &info, (void **)&own, RTLD_DL_LINKMAP) == 0 || own == NULL)
    return;
  const struct link_map *last = own;
  while (last->l_next != NULL)
    last = last->l_next;
  if (last == own || last->l_addr == getauxval(AT_BASE) ||
      (last->l_name != NULL && strstr(last->l_name, "/libc.so.") != NULL))
    last_module = last;
}

void find_ways(void) {
  bool first = true;
  has_way = dl_iterate_phdr(visit, &first) != 0;
  if (!has_way)
    find_last_module();
}

/* One that is loaded later may do what it likes. */
bool may_be_confined(void) {
  return has_way || last_module == NULL ||
         __atomic_load_n(&last_module->l_next, __ATOMIC_RELAXED) != NULL;
}
