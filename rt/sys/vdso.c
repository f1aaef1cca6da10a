/* SPDX-License-Identifier: MIT */
/*
 * The kernel's clocks, asked of the kernel itself: by the code that it maps into each
 * process, else by a system call.
 *
 * Not through the C library: a program may run with another clock_gettime in its place,
 * preloaded, to live in another year, to pass tests faster or to have time stand still.
 * What is measured here is the time that really passed.
 */
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "vdso.h"

#include "rt/rt.h"

#if defined __aarch64__
#define NAME "__kernel_clock_gettime"
#else
#define NAME "__vdso_clock_gettime"
#endif

typedef int clock_function(clockid_t, struct timespec *);

static clock_function *mapped; /* NULL: none, or not looked for yet */
static uintptr_t image_start, image_size;

/* Only where the kernel's timespec is that of the C library. */
#define SAME_TIMESPEC (sizeof(long) == 8)

/* The image is a page or two, and put together by one script for all machines: the names
   lie right behind the symbols. */
static void *find_symbol(const char *image, const char *name) {
  const ElfW(Ehdr) *file = (const void *)image;
  const ElfW(Phdr) *p = (const void *)(image + file->e_phoff);
  const ElfW(Dyn) *d = NULL;
  const char *base = NULL, *strings = NULL;
  const ElfW(Sym) *symbols = NULL;
  for (int i = 0; i < file->e_phnum; i++)
    if (p[i].p_type == PT_LOAD && base == NULL) {
      base = image + p[i].p_offset - p[i].p_vaddr;
      image_start = (uintptr_t)base + p[i].p_vaddr;
      image_size = p[i].p_memsz;
    }
  for (int i = 0; i < file->e_phnum && base != NULL; i++)
    if (p[i].p_type == PT_DYNAMIC)
      d = (const void *)(base + p[i].p_vaddr);
  for (; d != NULL && d->d_tag != DT_NULL; d++) {
    if (d->d_tag == DT_STRTAB)
      strings = base + d->d_un.d_ptr;
    if (d->d_tag == DT_SYMTAB)
      symbols = (const void *)(base + d->d_un.d_ptr);
  }
  if (symbols == NULL || strings == NULL)
    return NULL;
  for (const ElfW(Sym) *s = symbols; (const char *)(s + 1) <= strings; s++)
    if (s->st_shndx != SHN_UNDEF && strcmp(strings + s->st_name, name) == 0)
      return (void *)(uintptr_t)(base + s->st_value);
  return NULL;
}

void vdso_find(void) {
  const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
  if (SAME_TIMESPEC && image != NULL && memcmp(image, ELFMAG, SELFMAG) == 0)
    mapped = (clock_function *)find_symbol(image, NAME);
}

bool vdso_is_at(uintptr_t code) {
  return code - image_start < image_size;
}

uint64_t vdso_clock(clockid_t clock) {
  struct timespec now = {0, 0};
  if (mapped != NULL && mapped(clock, &now) == 0)
    ; /* without a system call */
  else if (SAME_TIMESPEC)
    sys_call(SYS_clock_gettime, clock, &now);
  else
    clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
