/* SPDX-License-Identifier: MIT */
/*
 * Memory and strings without libc: the same functions under names of our own.
 *
 * Why: a program may define memset or strcmp itself, and have its body run in the middle
 * of an event. Sanitizers do define them: ThreadSanitizer knows nothing of our locks and
 * would report races to the program, and a handler that interrupts an event must find this
 * library interrupted (nested.c). The names hold for calls that the compiler makes up, too.
 * Cost: slow paths only. Async-signal-safe. Include it before any use; rt.h does.
 */
#ifndef APROF_BYTES_H
#define APROF_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define OWN(name) __asm__("__aprof_own_" #name) __attribute__((visibility("hidden")))

void *memcpy(void *restrict to, const void *restrict from, size_t n) OWN(memcpy);
void *memmove(void *to, const void *from, size_t n) OWN(memmove);
void *memset(void *to, int byte, size_t n) OWN(memset);
int memcmp(const void *a, const void *b, size_t n) OWN(memcmp);
size_t strlen(const char *s) OWN(strlen);
int strcmp(const char *a, const char *b) OWN(strcmp);
int strncmp(const char *a, const char *b, size_t n) OWN(strncmp);
char *strcpy(char *restrict to, const char *restrict from) OWN(strcpy);

/* Headers have these as macros, or in two forms. */
char *own_strchr(const char *s, int c) __attribute__((visibility("hidden")));
char *own_strrchr(const char *s, int c) __attribute__((visibility("hidden")));
char *own_strstr(const char *s, const char *wanted) __attribute__((visibility("hidden")));

#undef OWN
#undef strchr
#undef strrchr
#undef strstr
#define strchr own_strchr
#define strrchr own_strrchr
#define strstr own_strstr

/* All of these texts, up to a NULL, one behind the other. False: cut short, no room. Instead
   of printf, which takes more of a small stack than is there. */
bool text_join(char *to, size_t room, ...) __attribute__((visibility("hidden"), sentinel));
/* In decimal, at most 20 digits; returns `to`. */
char *text_number(char *to, uint64_t value) __attribute__((visibility("hidden")));

#endif
