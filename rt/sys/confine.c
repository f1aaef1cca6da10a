/* SPDX-License-Identifier: MIT */
/*
 * Programs that give up system calls: a seccomp filter that comes while they run may
 * kill them for any call that only we make.
 *
 * Whether there is a filter can only be asked of the kernel, and the question must be
 * one that a filter lets through: /proc/self/status, opened when the runtime is
 * loaded, takes a read and an fstat, without which little of libc works. Programs that
 * have no way to a filter do not pay for the answer: it is for those that link statically,
 * have libseccomp, themselves call prctl or syscall, or a library of the system that does
 * so with the number of a filter; and for all that load modules while they run.
 *
 * From then on (rt.confined) nothing here enters the kernel: what is in memory goes on
 * being counted, new memory, threads and totals are refused. Before the first future
 * it means that there is no profile at all.
 */
#include <dlfcn.h>
#if defined __x86_64__
#include <emmintrin.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confine.h"

#include "raw.h"
#include "rt/rt.h"
#include "say.h"
#include "wait.h"

#define LATELY 2000000u /* ticks: about a millisecond */

static int status_fd = -1; /* of /proc/self/status; -1: it cannot be told */
static struct stat status_file;
static uint32_t confined_before; /* filters this process began with */
static bool orphan;              /* a child that has no profile of its own yet */

/* -- may it come to that? ---------------------------------------------------------- */

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

static const void *at_address(const struct dl_phdr_info *info, ElfW(Addr) address) {
  return (const void *)(address < info->dlpi_addr ? info->dlpi_addr + address : address);
}

static void read_dynamic(const struct dl_phdr_info *info, const ElfW(Dyn) *d,
                         struct dynamic *found) {
  for (; d->d_tag != DT_NULL; d++)
    switch (d->d_tag) {
    case DT_SYMTAB:
      found->symbols = at_address(info, d->d_un.d_ptr);
      break;
    case DT_STRTAB:
      found->strings = at_address(info, d->d_un.d_ptr);
      break;
    case DT_JMPREL:
      found->calls = at_address(info, d->d_un.d_ptr);
      break;
    case DT_PLTRELSZ:
      found->calls_size = d->d_un.d_val;
      break;
    case DT_RELA:
      found->others = at_address(info, d->d_un.d_ptr);
      break;
    case DT_RELASZ:
      found->others_size = d->d_un.d_val;
      break;
    default:
      break;
    }
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
  struct dynamic d = {0};
  read_dynamic(info, (const ElfW(Dyn) *)(info->dlpi_addr + dynamic->p_vaddr), &d);
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
  if (dladdr1((void *)confine_watch, &info, (void **)&own, RTLD_DL_LINKMAP) == 0 || own == NULL)
    return;
  const struct link_map *last = own;
  while (last->l_next != NULL)
    last = last->l_next;
  if (last == own || last->l_addr == getauxval(AT_BASE) ||
      (last->l_name != NULL && strstr(last->l_name, "/libc.so.") != NULL))
    last_module = last;
}

static void find_ways(void) {
  bool first = true;
  has_way = dl_iterate_phdr(visit, &first) != 0;
  if (!has_way)
    find_last_module();
}

/* One that is loaded later may do what it likes. */
static bool may_be_confined(void) {
  return has_way || last_module == NULL ||
         __atomic_load_n(&last_module->l_next, __ATOMIC_RELAXED) != NULL;
}

/* -- is there a filter? ------------------------------------------------------------ */

static void rewind_status(void) {
  raw_call(SYS_lseek, status_fd, 0, SEEK_SET, 0);
}

static uint32_t number_after(const char *text, const char *name) {
  const char *at = strstr(text, name);
  uint32_t number = 0;
  for (at += at != NULL ? strlen(name) : 0; at != NULL && *at >= '0' && *at <= '9'; at++)
    number = number * 10 + (uint32_t)(*at - '0');
  return number;
}

/* Mode and number, from where the file is read; false: that is its end. A user of a thousand
   groups has a long one, which is read in pieces that lie a little over each other. */
static bool filters_from(int fd, char *text, size_t room, uint32_t *filters) {
  enum { OVER = 64 };
  uint32_t mode = 0, count = 0;
  bool any = false;
  for (size_t kept = 0;; kept = OVER) {
    long n = raw_call(SYS_read, fd, (long)text + (long)kept, (long)(room - 1 - kept), 0);
    size_t length = kept + (n > 0 ? (size_t)n : 0);
    text[length] = '\0';
    any |= n > 0;
    uint32_t now = number_after(text, "\nSeccomp:\t");
    mode = now > mode ? now : mode;
    now = number_after(text, "\nSeccomp_filters:\t");
    count = now > count ? now : count;
    if (length < room - 1)
      break;
    memcpy(text, text + length - OVER, OVER);
  }
  *filters = mode + count * 4;
  return any;
}

/* Read with as few kinds of calls as can be. */
static uint32_t filters(void) {
  static char text[4096]; /* stacks may be small */
  uint32_t found;
  if (!filters_from(status_fd, text, sizeof text, &found)) { /* a handler jumped away before ... */
    rewind_status();                                         /* ... it was rewound */
    filters_from(status_fd, text, sizeof text, &found);
  }
  return found;
}

static uint32_t filters_of(const char *status) {
  char text[1024];
  uint32_t found = 0;
  int fd = sys_open(status, O_RDONLY | O_CLOEXEC, 0);
  if (fd >= 0) {
    filters_from(fd, text, sizeof text, &found);
    sys_close(fd);
  }
  return found;
}

/* Makes only calls that the loader has made before. */
bool confine_foreign(void) {
  uint32_t own = filters_of("/proc/self/status");
  return own != 0 && own != filters_of("/proc/1/status");
}

/* The program may have closed our file descriptor, and have a file of its own under that number. */
static bool still_ours(void) {
  struct stat st;
  return status_fd >= 0 && raw_fstat(status_fd, &st) == 0 && st.st_dev == status_file.st_dev &&
         st.st_ino == status_file.st_ino;
}

/* There is no profile, and will be none. The header may be that of a parent: its switch
   is not ours. */
static void refuse(void) {
  int32_t without = orphan ? RT_ON : RT_ATTACHED;
  if (!__atomic_compare_exchange_n(&rt.state, &without, RT_DEAD, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED) ||
      orphan)
    return;
  rt.header->enabled = 0;
  __atomic_store_n(&rt.confined, true, __ATOMIC_RELEASE); /* nor for the message */
  rt_say("this process is not profiled: it gave up system calls before its first future; "
         "an aprof_enable(1) before that makes the profile",
         "");
}

static void open_status(void) {
  int fd = sys_open("/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
  status_fd = fd >= 0 ? sys_fcntl(fd, F_DUPFD_CLOEXEC, 100) : -1;
  if (fd >= 0)
    sys_close(fd);
  if (status_fd >= 0 && raw_fstat(status_fd, &status_file) != 0)
    status_file.st_ino = 0;
}

static uint32_t looking; /* a thread has the descriptor and the buffer */
static __thread bool looking_here __attribute__((tls_model("initial-exec")));
static uint64_t looked_at; /* ticks */

void confine_forget(void) {
  looking = looking_here = false;
  looked_at = 0;
}

/* What the child inherited tells of its parent. */
static void in_child(void) {
  confine_forget();
  orphan = rt.state == RT_ON;
  if (rt.confined) {
    refuse();
    return;
  }
  int saved = errno;
  if (still_ours())
    sys_close(status_fd);
  open_status();
  errno = saved;
}

void confine_watch(void) {
  struct rlimit limit;
  if (sys_getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < 256)
    return; /* too few descriptors to keep one */
  int saved = errno;
  find_ways();
  open_status();
  confined_before = filters();
  rewind_status();
  pthread_atfork(NULL, NULL, in_child);
  errno = saved;
}

void confine_left(void) {
  if (!looking_here)
    return;
  looking_here = false;
  __atomic_store_n(&looking, 0, __ATOMIC_RELEASE);
}

static uint64_t ticks(void) {
#if defined __x86_64__ || defined __i386__
  return __builtin_ia32_rdtsc();
#else
  return looked_at + LATELY; /* never lately */
#endif
}

static SLOW bool look(void) {
  if (looking_here)
    return false; /* a handler, while its thread is about to know */
  /* Another thread is about to know; or was, when a handler jumped away from it. */
  for (int tries = 0; __atomic_exchange_n(&looking, 1, __ATOMIC_ACQUIRE); tries++) {
    if (tries == 2000)
      return __atomic_load_n(&rt.confined, __ATOMIC_ACQUIRE);
    wait_for_other((unsigned)tries, true);
  }
  looking_here = true;
  int saved = errno;
  bool confined = false;
  if (still_ours() && !(confined = filters() != confined_before))
    rewind_status();
  if (confined) {
    refuse();
    if (rt.state == RT_ON) /* for the reader */
      rt.header->confined = 1;
    __atomic_store_n(&rt.confined, true, __ATOMIC_RELEASE);
  }
  errno = saved;
  __atomic_store_n(&looked_at, ticks(), __ATOMIC_RELAXED);
  confine_left();
  return confined;
}

/* One event may take the lock ten times over, and asks once: a filter that came in between is
   another thread's, or a handler's, and might as well come right behind the answer. */
bool is_confined(void) {
  if (__atomic_load_n(&rt.confined, __ATOMIC_ACQUIRE))
    return true;
  struct thread *t = aprof_self;
  if (status_fd < 0 || t->filters == FILTERS_ASKED || !may_be_confined())
    return false;
  bool confined = look();
  if (t->filters == FILTERS_UNASKED)
    t->filters = FILTERS_ASKED;
  return confined;
}

bool was_confined_lately(void) {
  return ticks() - __atomic_load_n(&looked_at, __ATOMIC_RELAXED) < LATELY
             ? __atomic_load_n(&rt.confined, __ATOMIC_ACQUIRE)
             : is_confined();
}

void confine_opened(void) {
  orphan = false;
}
