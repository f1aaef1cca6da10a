/* What the plugin says it saw: bodies, awaits, what is defined elsewhere. */
#define A(text) __attribute__((aprof(text)))

A("async") extern int elsewhere(int);
A("async") extern void *thread(void *);
A("async") extern int unused(int);
A("await") extern int get(int);
extern int go(void *(*)(void *));
int out(void);

A("async") int here(int x) {
  go(thread);
  return elsewhere(get(x));
}
int out(void) { return get(1); }
/* SPDX-License-Identifier: MIT */
