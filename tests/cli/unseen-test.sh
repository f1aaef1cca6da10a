#!/bin/bash
# SPDX-License-Identifier: MIT
# Callbacks that no event shows running: of objects without the plugin, the C library's, of modules
# that are loaded later, methods and lambdas. Whether they ran is not known and no number says so;
# but of a body that has events, and never ran, it is known.
. "${0%/*}/../lib.sh"

export NO_COLOR=1 APROF_COMMAND=$aprof
cd "$work" || exit 1
cat >arm.aprof <<'END'
create call:arm  key=a0 fn=a1 ready | run key=a0 once
END
cat >arm.h <<'END'
#ifdef __cplusplus
extern "C" {
#endif
typedef void callback(void *, int, int);
void arm(void *, callback *), turn(void);
callback foreign, waits, dropped;
callback *foreign_static(void), *release(void), *own_static(void), *methods(int), *own_methods(int);
#ifdef __cplusplus
}
struct Both {
  static void shared(void *p, int, int) { if (p) asm volatile(""); }
};
struct Own { static void method(void *, int, int); };
struct Foreign { static void method(void *, int, int); };
#endif
END
cat >loop.c <<'END'
#include "arm.h"
static struct { void *p; callback *f; } armed[64];
static int count, ran;
void arm(void *p, callback *f) { armed[count].p = p, armed[count++].f = f; }
/* All but those whose argument is odd. */
void turn(void) {
  for (; ran < count; ran++)
    if (!((unsigned long)armed[ran].p & 1))
      armed[ran].f(armed[ran].p, 0, 0);
}
END
cat >foreign.c <<'END'
#include "arm.h"
#include <stdlib.h>
static void in_foreign(void *p, int a, int b) { (void)p, (void)a, (void)b; }
void foreign(void *p, int a, int b) { (void)p, (void)a, (void)b; }
callback *foreign_static(void) { return in_foreign; }
callback *release(void) { return (callback *)free; }
END
cat >own.c <<'END'
#include "arm.h"
static void in_own(void *p, int a, int b) { (void)p, (void)a, (void)b; }
void waits(void *p, int a, int b) { (void)p, (void)a, (void)b; }
void dropped(void *p, int a, int b) { (void)p, (void)a, (void)b; }
callback *own_static(void) { return in_own; }
END
cat >methods.cc <<'END'
#include "arm.h"
void TYPE::method(void *p, int, int) { (void)p; }
extern "C" callback *METHODS(int which) {
  callback *lambda = [](void *p, int, int) { (void)p; };
  return which == 0 ? TYPE::method : which == 1 ? lambda : Both::shared;
}
END
cat >plugged.c <<'END'
void plugged(void *p, int a, int b) { (void)p, (void)a, (void)b; }
#ifdef SOLE
void sole(void *p, int a, int b) { (void)p, (void)a, (void)b; }
#endif
END
cat >main.c <<'END'
#include "arm.h"
#include <aprof.h>
#include <dlfcn.h>
#include <stdlib.h>
static char at[64][2] __attribute__((aligned(2)));
int main(void) {
  int i = 0;
  void *with = dlopen(WORK "/with.so", RTLD_NOW), *without = dlopen(WORK "/without.so", RTLD_NOW);
  arm(at[i++], foreign), arm(at[i++], foreign_static()), arm(at[i++], (callback *)dlsym(without, "plugged"));
  arm(malloc(8), release());
  arm(at[i++], methods(0)), arm(at[i++], methods(1)), arm(at[i++], methods(2));
  arm(at[i++] + 1, waits), arm(at[i++] + 1, own_static()), arm(at[i++] + 1, (callback *)dlsym(with, "sole"));
  arm(at[i++] + 1, (callback *)dlsym(with, "plugged")); /* of two by one name nobody knows which */
  arm(at[i++] + 1, own_methods(0)), arm(at[i++] + 1, own_methods(1));
  arm(at[i], dropped);
  aprof_clock_advance(1000000000);
  turn();
  arm(at[0], foreign); /* the address is used again */
  aprof_clock_advance(50000000000);
  return 0;
}
END

cat >state.py <<'END'
import json, re, sys
totals = json.load(open(sys.argv[1]))
for i, f in enumerate(totals["functions"]):
    times = (f["queued_ns"], f["exec_ns"], f["wall_ns"])
    unknown = [t is None for t in times]
    states = {l["state"] for l in totals["live"] if l["function_index"] == i}
    for p in totals["tree"]:
        if p["function_index"] == i and "function" in p:
            unknown += [p[n] is None for n in ("queued_ns", "exec_ns", "wall_ns")]
    name = re.sub(r"\(.*|@.*", "", re.sub(r".*(lambda|_FUN).*", "lambda", f["name"]))
    print(name, "seen" if f["instrumented"] else "unseen", f["created"], f["live"], times[0],
          *states or "-", "" if len(set(unknown)) == 1 else "and some paths")
END
cat >expected <<'END'
Both::shared unseen 1 1 None None 
Foreign::method unseen 1 1 None None 
Own::method seen 1 1 51000000000 queued 
dropped seen 1 0 1000000000 - 
foreign unseen 2 1 None None 
free unseen 1 1 None None 
in_foreign unseen 1 1 None None 
in_own unseen 1 1 None None 
lambda unseen 1 1 None None 
lambda unseen 1 1 None None 
plugged unseen 2 2 None None 
sole seen 1 1 51000000000 queued 
waits seen 1 1 51000000000 queued 
END

for major in $majors; do
  cc=$(gcc_of "$major") cxx=$(gcc_of "$major" | sed 's/gcc/g++/')
  on="-fplugin=$plugin -fplugin-arg-aprof-bindings=$work/arm.aprof -I$src/rt/include -DWORK=\"$work\""
  # shellcheck disable=SC2086 # lists of words
  {
    $cc -O1 -c loop.c foreign.c && $cc -O1 $on -c main.c own.c &&
      $cxx -O1 -c -DTYPE=Foreign -DMETHODS=methods methods.cc -o foreign-methods.o &&
      $cxx -O1 $on -c -DTYPE=Own -DMETHODS=own_methods methods.cc -o own-methods.o &&
      $cc -shared -fPIC plugged.c -o without.so &&
      $cc -shared -fPIC $on -include arm.h -DSOLE plugged.c -o with.so &&
      $cxx -rdynamic main.o own.o foreign.o loop.o foreign-methods.o own-methods.o -o program -ldl
  } 2>compiled || not_ok "gcc-$major: compiles" compiled
  rm -rf out && mkdir out
  check "gcc-$major: it runs" env APROF_OPTIONS="dir:$work/out,clock:virtual" ./program
  python3 state.py out/*.json >found
  check "gcc-$major: what ran unseen is not known, what never ran is" \
    diff <(sort expected) <(sort found)
  check "gcc-$major: the ledger" totals_close out/*.json
  "$aprof" report --all out/*.json | sed ':a;N;$!ba;s/\n    / /g' >report.txt
  for function in 'foreign' 'in_foreign' 'free'; do
    check "gcc-$major: nobody says that $function never ran" \
      grep -q "whether 1 \`$function\` future.* ever ran is not known" report.txt
  done
  check "gcc-$major: waits never did" grep -q '1 .waits. future has never run' report.txt
  equal "gcc-$major: the rows that say so" 9 \
    "$(grep -c 'no event of it was seen' report.txt)"
  check "gcc-$major: what lives is shown" "$aprof" ps --all --output ps.txt out/*.json
  check "gcc-$major: its states are told apart" \
    grep -q '13 live futures (3 queued, 10 not known)' <(tr -s '\n ' ' ' <ps.txt)
  equal "gcc-$major: its rows without a state" 10 "$(grep -c '^[^ ]*  *?  ' ps.txt)"
  "$aprof" ps --json out/*.json >ps.json
  equal "gcc-$major: for scripts" "3 10" "$(value ps.json 't.queued, t.unknown')"
  check "gcc-$major: as a page" "$aprof" html --output page.html out/*.json
  check "gcc-$major: perhaps it was over" grep -q 'or the callback was compiled' <(tr -s '\n ' ' ' <report.txt)
done
finish
