/* Lines between a star and a name, `T *coroutine_fn f(void)`: the function's, not those of what
   it returns. stars-cxx.cc has the same as C++. */
#include <stdio.h>

#define coroutine_fn __attribute__((aprof("async")))
#define awaits __attribute__((aprof("await")))
#ifdef __cplusplus
#define EXPORT extern "C" __attribute__((noinline))
#else
#define EXPORT __attribute__((noinline))
#endif

struct state {
  int n;
};
typedef void plain(int);
static struct state the_state;
static int the_int;

/* -- declared so, defined without */
EXPORT struct state *coroutine_fn declared(void);
struct state *declared(void) {
  printf("declared\n");
  return &the_state;
}
/* -- defined so, in all the places of a qualifier */
static struct state *coroutine_fn __attribute__((noinline)) defined(int n) {
  the_state.n = n;
  return &the_state;
}
EXPORT const char *coroutine_fn qualified(void) { return "qualified"; }
EXPORT struct state **coroutine_fn two_stars(struct state **of) { return of; }
EXPORT int coroutine_fn no_star(void) { return the_int; }
static int *coroutine_fn of_no_use(int *p);
/* -- what is returned is a pointer to a function, and is not what is meant */
static void not_meant(int n) { printf("not meant %d\n", n); }
EXPORT plain *coroutine_fn returns_function(void) { return not_meant; }
EXPORT void (*coroutine_fn spelled_out(void))(int) { return not_meant; }

/* -- pointers to functions, their types, parameters, fields and tables */
static int *as_variable(void) { return &the_int; }
static int *as_typedef(void) { return &the_int; }
static int *as_parameter(void) { return &the_int; }
static int *as_field(void) { return &the_int; }
static int *in_table(void) { return &the_int; }
static int *coroutine_fn (*variable)(void) = as_variable;
typedef int *coroutine_fn entry(void);
static int *parameter(int *coroutine_fn (*f)(void), entry *g) { return g == as_typedef ? f() : NULL; }
static int *decays(int *coroutine_fn f(void)) { return f(); }
static struct {
  int *coroutine_fn (*field)(void);
} object = {as_field};
static int *coroutine_fn (*table[1])(void) = {in_table};

/* -- lines about calls */
EXPORT struct state *awaits waited(void) { return &the_state; }
static struct state *awaits (*through)(void) = waited;

static int *of_no_use(int *p) { return p; }

EXPORT coroutine_fn void all(void) {
  struct state *state = declared(), *other = defined(3);
  printf("%s %d\n", qualified(), *two_stars(&state) == other);
  printf("%d %d\n", no_star(), *of_no_use(&the_int));
  returns_function()(1);
  spelled_out()(2);
  printf("%d %d %d\n", *variable(), *parameter(as_parameter, as_typedef), *decays(as_parameter));
  printf("%d %d\n", *object.field(), *table[0]());
  printf("%d\n", waited()->n + through()->n);
}

int main(void) {
  all();
  return 0;
}
/* SPDX-License-Identifier: MIT */
