#!/bin/bash
# SPDX-License-Identifier: MIT
# aprof coverage of callbacks that one unit gives to a create and another one defines: by
# name, an asm name, a weakref, a choice, a field, a wrapper; and what no unit defines.
. "${0%/*}/../lib.sh"

export NO_COLOR=1
cd "$work" || exit 1
cat >given.aprof <<'END'
create call:arm      key=a0 fn=a1 | run key=a0 once
create call:arm_both key=b:a0 fn=a1,a2 | run key=b:a0 once
create call:watch    key=(a0->handler,a0) fn=a0->handler | run key=(self,a0) once
create call:drive    key=d:a0 fn=a1 | run key=d:a0 once
run    icall:driven.step key=d:obj once
END
cat >given.h <<'END'
#ifdef __cplusplus
extern "C" {
#endif
struct watch { void (*handler)(void *); };
struct driven { void (*step)(struct driven *); };
void arm(void *, void (*)(void *)), watch(struct watch *);
void arm_both(void *, void (*)(void *), void (*)(void *, int));
void drive(struct driven *, void (*)(struct driven *)), stepped(struct driven *);
void named(void *), chosen(void *), stored(void *), wrapped(void *), first(void *);
void second(void *, int), behind(void *), through_alias(void *);
void renamed(void *) __asm__("another_name");
#ifdef __cplusplus
}
#endif
END
cat >given.c <<'END'
#include "given.h"
#include <stdlib.h>
extern void from_library(void *);
static void stand_in(void *) __attribute__((weakref("behind")));
static void at_home(void *p) { (void)p; }
static void arm_later(void *p, void (*f)(void *)) { arm(p, f); }
int main(int argc, char **argv) {
  static struct watch w = {stored};
  static struct driven d;
  arm(argv, named);
  arm(argv, argc > 1 ? chosen : at_home);
  watch(&w);
  arm_later(argv, wrapped);
  arm_both(argv, first, second);
  arm(argv, stand_in), arm(argv, renamed), arm(argv, through_alias);
  arm(argv, free), arm(argv, from_library);
  drive(&d, stepped);
  return 0;
}
END
cat >bodies.c <<'END'
#include "given.h"
static void body(void *p) { (void)p; }
void named(void *p) { (void)p; }
void chosen(void *p) { (void)p; }
void stored(void *p) { (void)p; }
void wrapped(void *p) { (void)p; }
void first(void *p) { (void)p; }
void second(void *p, int i) { (void)p, (void)i; }
void behind(void *p) { (void)p; }
void renamed(void *p) { (void)p; }
void through_alias(void *) __attribute__((alias("body")));
void stepped(struct driven *d) { (void)d; }
#ifdef USED
void use(struct driven *);
void use(struct driven *p) {
  static struct watch w = {stored};
  watch(&w);
  arm(p, named), arm(p, chosen), arm(p, wrapped), arm(p, behind), arm(p, renamed);
  arm(p, through_alias), arm_both(p, first, second);
  p->step(p);
}
#endif
END
cat >lib.c <<'END'
#include "given.h"
void from_library(void *);
void arm(void *p, void (*f)(void *)) { (void)p, (void)f; }
void arm_both(void *p, void (*f)(void *), void (*g)(void *, int)) { (void)p, (void)f, (void)g; }
void watch(struct watch *w) { (void)w; }
void drive(struct driven *d, void (*f)(struct driven *)) { d->step = f; }
void from_library(void *p) { (void)p; }
END
cat >given.cc <<'END'
#include "given.h"
namespace ns {
void over(void *), over(void *, int);
}
int main(int, char **argv) {
  arm(argv, ns::over), arm(argv, named);
  arm(argv, [](void *p) { (void)p; });
}
END
cat >overloads.cc <<'END'
#include "given.h"
namespace ns {
#ifdef WHOLE
void over(void *) {}
#else
__attribute__((aprof("async"))) void over(void *, int) {}
#endif
}
#ifdef WHOLE
void use(void *p) { arm(p, ns::over), arm(p, named); }
#endif
extern "C" void named(void *) {}
END
cat >static.c <<'END'
extern void arm(void *, void (*)(void *));
static void named(void *p) { (void)p; }
void use(void *p);
void use(void *p) { arm(p, named); }
END

cat >typed.c <<'END'
#include "given.h"
#ifdef GIVES
int main(void) {
  static struct driven d;
  drive(&d, stepped);
  return 0;
}
#else
void no_callback(struct driven *);
void no_callback(struct driven *d) { (void)d; }
void stepped(struct driven *d) { no_callback(d); }
#endif
END

# missing FILE...: names of the callbacks without a body, in one line
missing() {
  "$aprof" coverage --json "$@" |
    value - '*sorted({c.name for c in where(t.callbacks, body="missing")})'
}

# programs CC OPTIONS...: of one unit that gives, and others that define
programs() {
  local cc=$1
  shift
  "$cc" "$@" -fPIC -shared lib.c -o libgiven.so && "$cc" "$@" "${flags[@]}" -c given.c -o given.o &&
    "$cc" "$@" -c bodies.c -o bare.o && "$cc" "$@" "${flags[@]}" -DUSED -c bodies.c -o bodies.o &&
    "$cc" "$@" given.o bare.o ./libgiven.so -o without &&
    "$cc" "$@" given.o bodies.o ./libgiven.so -o with
}

# check_callbacks CC OPTIONS...
check_callbacks() {
  local name="$*"
  programs "$@" || exit 1
  equal "$name: callbacks without events" \
    "chosen first named renamed second stand_in stepped stored through_alias wrapped" \
    "$(missing without)"
  refuse "$name: --strict, callbacks without events" "$aprof" coverage --strict without
  "$aprof" coverage without >without.txt
  contains "$name: the place, and what it is given to" "given.c:10  named  given to arm" without.txt
  contains "$name: by a wrapper, where it is named" "given.c:13  wrapped  given to arm" without.txt
  contains "$name: by a field, where that gets it" "given.c:8  stored  given to watch" without.txt
  contains "$name: they are async functions" "1 of 11 async functions instrumented" without.txt
  check "$name: --strict, callbacks with events, or a library's" "$aprof" coverage --strict with
  "$aprof" coverage with >with.txt
  contains "$name: another library's is named" "given.c:16  from_library  given to arm" with.txt
  contains "$name: the system's is named" "given.c:16  free  given to arm" with.txt
  equal "$name: with the library it is missing" from_library "$(missing with libgiven.so)"
  [[ $name == *flto ]] || # whose notes are in the program only
    equal "$name: with objects alone it is missing" from_library "$(missing given.o bodies.o)"
  strip with without
  check "$name: --strict, stripped" "$aprof" coverage --strict with
  refuse "$name: --strict, stripped, without events" "$aprof" coverage --strict without
}

for major in $majors; do
  cc=gcc-$major
  flags=("-fplugin=$plugin" -fplugin-arg-aprof-bindings=given.aprof -fplugin-arg-aprof-autoload=no)
  check_callbacks "$cc"
  check_callbacks "$cc" -O2
  check_callbacks "$cc" -O2 -flto
  "$cc" "${flags[@]}" -c given.c -o given.o && "$cc" "${flags[@]}" -c static.c -o static.o || exit 1
  contains "$cc: a static function of that name is another" " named " \
    <(missing given.o static.o)
  "$cc" "${flags[@]}" -DGIVES -c typed.c -o gives.o &&
    "$cc" "${flags[@]}" -c typed.c -o takes.o || exit 1
  equal "$cc: of a parameter's type, and given elsewhere: an async function" "stepped" \
    "$("$aprof" coverage --json gives.o takes.o | value - '*(g.name for g in t.functions)')"
  equal "$cc: and not missing" "" "$(missing gives.o takes.o)"
  "g++-$major" "${flags[@]}" -c given.cc -o given.o &&
    "g++-$major" "${flags[@]}" -c overloads.cc -o part.o &&
    "g++-$major" "${flags[@]}" -DWHOLE -c overloads.cc -o whole.o || exit 1
  equal "g++-$major: another overload is another function" "named ns::over" \
    "$(missing given.o part.o)"
  equal "g++-$major: the one that is meant" "" "$(missing given.o whole.o)"
done
finish
