/* A bindings file with mistakes: file.aprof. */
int lib_call(int);
int f(void) { return lib_call(1); }
/* | run about a function that is passed as it is, and one that is cast. */
typedef void (*callback)(int);
void pass(callback);
void pass_any(void (*)());
static void plain(int x) { (void)x; }
static void less(void) {}
static void any(int x) { (void)x; }
void passes(void) {
  pass(plain);
  pass((callback)less);
  pass_any(any);
}
/* SPDX-License-Identifier: MIT */
