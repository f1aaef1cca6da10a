// Records live and die with the code that refers to them.
#define A(text) __attribute__((aprof(text)))
A("await") void in_unused(int);
A("await") void in_inline(int);
A("await") void in_used(int);
A("await") void in_dead(int);
static A("async") __attribute__((unused)) void unused(int x) { in_unused(x); }
inline A("async") void inline_function(int x) { in_inline(x); }
A("async") void used(int x) {
  in_used(x);
  inline_function(x);
}
A("async") void dead(int x) { in_dead(x); }
void in_unused(int) {}
void in_inline(int) {}
void in_used(int) {}
void in_dead(int) {}
int main() { used(1); }
/* SPDX-License-Identifier: MIT */
