/* SPDX-License-Identifier: MIT */
/* What is asked of the compiler and the processor: which way is likely, which stores stay in order,
   and words that other threads write, read in one instruction. */
#ifndef APROF_RT_COMPILER_H
#define APROF_RT_COMPILER_H

#include <stdint.h>

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define SLOW __attribute__((noinline, cold))
#define EXPORT __attribute__((visibility("default")))

#if defined __x86_64__ || defined __i386__
#define publish_fence() __asm__ volatile("" ::: "memory") /* stores stay in order */
#else
#define publish_fence() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif

/* Puts `next` there if *seen is what stands there, which it is in any case behind that; `order`: of
   one that does. */
#define swapped(at, seen, next, order)                                                             \
  __atomic_compare_exchange_n(at, seen, next, false, __ATOMIC_##order, __ATOMIC_RELAXED)

/* Read with acquire what other threads write, address and all in one instruction: for an
   atomic load GCC computes the address before, with instructions of its own. Of a word its upper
   half is compared; the lower one, read then, may belong to another upper one. */
#if defined __x86_64__ && defined __LP64__ && !defined __SANITIZE_THREAD__
static inline bool upper_is(const uint64_t *at, uint32_t upper) {
  bool is;
  const uint32_t *half = (const uint32_t *)(const void *)at + 1;
  __asm__ volatile("cmpl %2, %1" : "=@cce"(is) : "m"(*half), "r"(upper) : "memory");
  return is;
}
static inline uint32_t lower_read(const uint64_t *at) {
  uint32_t lower;
  __asm__ volatile("movl %1, %0" : "=r"(lower) : "m"(*at) : "memory");
  return lower;
}
static inline void *pointer_read(void *const *at) {
  void *pointer;
  __asm__ volatile("movq %1, %0" : "=r"(pointer) : "m"(*at) : "memory");
  return pointer;
}
/* One less, stored behind all that was stored before; nobody else writes it meanwhile. Was it 0? */
static inline bool byte_less(uint8_t *at) {
  bool none;
  __asm__ volatile("subb $1, %0" : "+m"(*at), "=@ccc"(none) : : "memory");
  return none;
}
#else
static inline bool upper_is(const uint64_t *at, uint32_t upper) {
  return __atomic_load_n(at, __ATOMIC_ACQUIRE) >> 32 == upper;
}
static inline uint32_t lower_read(const uint64_t *at) {
  return (uint32_t)__atomic_load_n(at, __ATOMIC_ACQUIRE);
}
static inline void *pointer_read(void *const *at) {
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}
static inline bool byte_less(uint8_t *at) {
  uint8_t before = *at;
  __atomic_store_n(at, (uint8_t)(before - 1), __ATOMIC_RELEASE);
  return before == 0;
}
#endif

/* The line of that address is asked for, to be written: one transfer between processors, where
   reading it first and then writing it takes two. GCC has that instruction for newer processors
   alone; where it is unknown it does nothing. */
static inline __attribute__((always_inline)) void nears_written(const void *at) {
#if defined __x86_64__
  __asm__ volatile("prefetchw %0" : : "m"(*(const char *)at));
#else
  __builtin_prefetch(at, 1);
#endif
}

/* Copies 16 bytes by two instructions: as a value of that size GCC would align the stack for it. */
static inline __attribute__((always_inline)) void copy_sixteen(void *to, const void *from) {
#if defined __x86_64__ && !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__
  struct sixteen {
    char bytes[16];
  } __attribute__((may_alias));
  __asm__("movups %1, %%xmm0\n\t"
          "movups %%xmm0, %0"
          : "=m"(*(struct sixteen *)to)
          : "m"(*(const struct sixteen *)from)
          : "xmm0");
#else
  __builtin_memcpy(to, from, 16);
#endif
}

/* Read anew: GCC would keep it, and what it computes of it, for what only a rare way needs. */
static inline __attribute__((always_inline)) uint32_t anew(const uint32_t *word) {
  return *(const volatile uint32_t *)word;
}

/* Marks a function that reads words which other threads may be writing, and says why that does no
   harm. ThreadSanitizer is not told of it: it would name it by stacks that it has often
   forgotten. */
#if defined __has_attribute
#if __has_attribute(no_sanitize_thread)
#define HINT __attribute__((no_sanitize_thread))
#endif
#endif
#ifndef HINT
#define HINT
#endif

/* What was written here before `given` is read behind `taken`, of the same address: through a word
   that a HINT reads, which ThreadSanitizer is not told of. */
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
static inline void ordered_given(void *what) {
  __tsan_release(what);
}
static inline void ordered_taken(void *what) {
  __tsan_acquire(what);
}
#else
static inline void ordered_given(const void *what) {
  (void)what;
}
static inline void ordered_taken(const void *what) {
  (void)what;
}
#endif

#endif
