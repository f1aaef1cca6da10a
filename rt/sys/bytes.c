/* SPDX-License-Identifier: MIT */
/* Memory and strings without libc; see bytes.h. */
#include "bytes.h"

#include <stdarg.h>

/* Else the compiler would see memset in the loop of memset. */
#pragma GCC optimize("no-tree-loop-distribute-patterns")

void *memcpy(void *restrict to, const void *restrict from, size_t n) {
  void *result = to;
#if defined __x86_64__
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
#else
  for (size_t i = 0; i < n; i++)
    ((char *)to)[i] = ((const char *)from)[i];
#endif
  return result;
}

void *memmove(void *to, const void *from, size_t n) {
  char *t = to;
  const char *f = from;
  if (t < f)
    for (size_t i = 0; i < n; i++)
      t[i] = f[i];
  else
    while (n-- > 0)
      t[n] = f[n];
  return to;
}

void *memset(void *to, int byte, size_t n) {
  void *result = to;
#if defined __x86_64__
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(byte) : "memory");
#else
  for (size_t i = 0; i < n; i++)
    ((char *)to)[i] = (char)byte;
#endif
  return result;
}

int memcmp(const void *a, const void *b, size_t n) {
  const unsigned char *x = a, *y = b;
  for (size_t i = 0; i < n; i++)
    if (x[i] != y[i])
      return x[i] - y[i];
  return 0;
}

size_t strlen(const char *s) {
  size_t n = 0;
  while (s[n] != '\0')
    n++;
  return n;
}

int strncmp(const char *a, const char *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (a[i] != b[i] || a[i] == '\0')
      return (unsigned char)a[i] - (unsigned char)b[i];
  return 0;
}

int strcmp(const char *a, const char *b) {
  size_t i = 0;
  while (a[i] == b[i] && a[i] != '\0')
    i++;
  return (unsigned char)a[i] - (unsigned char)b[i];
}

char *strcpy(char *restrict to, const char *restrict from) {
  return memcpy(to, from, strlen(from) + 1);
}

char *strchr(const char *s, int c) {
  for (; *s != (char)c; s++)
    if (*s == '\0')
      return NULL;
  return (char *)s;
}

char *strrchr(const char *s, int c) {
  const char *last = NULL;
  for (; (s = strchr(s, c)) != NULL; s++)
    last = s;
  return (char *)last;
}

char *strstr(const char *s, const char *wanted) {
  for (size_t n = strlen(wanted); *s != '\0'; s++)
    if (*s == *wanted && strncmp(s, wanted, n) == 0)
      return (char *)s;
  return NULL;
}

bool text_join(char *to, size_t room, ...) {
  va_list texts;
  const char *text;
  size_t at = 0;
  va_start(texts, room);
  while ((text = va_arg(texts, const char *)) != NULL)
    for (; *text != '\0' && at < room; text++)
      to[at++] = *text;
  va_end(texts);
  to[at < room ? at : room - 1] = '\0';
  return at < room;
}

char *text_number(char *to, uint64_t value) {
  char digits[20], *at = to;
  int n = 0;
  do
    digits[n++] = (char)('0' + value % 10);
  while ((value /= 10) != 0);
  while (n > 0)
    *at++ = digits[--n];
  *at = '\0';
  return to;
}
