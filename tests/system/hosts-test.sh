#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that are at home elsewhere: behind a runtime that has to be the first, with a library of
# their own preloaded, where somebody else has the place of profiles, several at once.
. "$(dirname "$0")/../lib.sh"

cat >"$work/program.c" <<'C'
/*  [exec PROGRAM ARGUMENTS...]   makes a future, unless it becomes that program first
    kill                          after it SIGKILL ends it
    signal                        gets SIGUSR1 before any future, and makes one later
    forked                        so does a child, whose parent has had one
    none                          makes none at all */
#include <aprof.h>
#include <sys/wait.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
APROF_ASYNC static __attribute__((noinline)) int work(int n) { return n + 1; }
static void asks(void) { /* and waits for the totals */
  char path[64];
  snprintf(path, sizeof path, "out/program.%d.1.json", (int)getpid());
  raise(SIGUSR1);
  for (int i = 0; i < 1000 && access(path, F_OK) != 0; i++)
    usleep(10000);
}
int main(int count, char **arguments) {
  if (count > 2 && strcmp(arguments[1], "exec") == 0)
    return execv(arguments[2], arguments + 2);
  const char *how = count > 1 ? arguments[1] : "";
  if (strcmp(how, "none") == 0)
    return 3;
  if (strcmp(how, "forked") == 0 && work(1) && fork() != 0) {
    int status = 0;
    wait(&status);
    return WEXITSTATUS(status);
  }
  if (strcmp(how, "signal") == 0 || strcmp(how, "forked") == 0)
    asks();
  int result = work(2);
  if (strcmp(how, "kill") == 0)
    raise(SIGKILL);
  return result;
}
C
cd "$work" || exit 1
export NO_COLOR=1
unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND LD_PRELOAD
cc=$(gcc_of "$(gcc -dumpversion | cut -d. -f1)")
with=(-O1 -g "-fplugin=$plugin" -I"$src/rt/include" program.c)
check "a program" "$cc" "${with[@]}" -o program

# one HOW COMMAND...: its status is the program's, 3, and there are totals of one future
one() {
  local how=$1
  shift
  rm -rf out
  "$aprof" run -o out -- "$@" >said 2>&1
  equal "$how" "3 1" "$? $(value out/*.json f.work.done)"
}
one "a program" ./program
one "... that has become another" ./program exec ./program

# -- runtimes that come first --------------------------------------------------------------------
for kind in address thread undefined leak; do
  "$cc" "${with[@]}" "-fsanitize=$kind" -o "$kind" 2>said && "./$kind" >said 2>&1
  if [ $? -ne 3 ]; then
    skip "-fsanitize=$kind" "there is none"
    continue
  fi
  one "-fsanitize=$kind" "./$kind"
  one "... as a child's program" ./program exec "./$kind"
  one "... of a shell" sh -c "./$kind; exit \$?"
done
if command -v clang >clang.path; then
  echo 'int main(void) { return 5; }' >plain.c
  if clang -fsanitize=address -shared-libasan plain.c -o plain 2>said &&
    LD_LIBRARY_PATH=$(dirname "$(clang -print-file-name=libclang_rt.asan-x86_64.so)") ./plain; [ $? -eq 5 ]; then
    LD_LIBRARY_PATH=$(dirname "$(clang -print-file-name=libclang_rt.asan-x86_64.so)") \
      "$aprof" run -- ./plain >said 2>&1
    equal "another compiler's, which comes first, too" 5 $?
  fi
fi
libasan=$("$cc" -print-file-name=libasan.so)
if [ -e "$libasan" ]; then
  one "a runtime that the program has preloaded" \
    env "LD_PRELOAD=$(readlink -f "$libasan")" ASAN_OPTIONS=detect_leaks=0 ./program
fi
echo 'int puts(const char *text) { return *text; }' >own.c
"$cc" -shared -fPIC -w own.c -o own.so
LD_PRELOAD=$PWD/own.so one "a library that is preloaded" ./program
equal "LD_PRELOAD is the program's own" "$PWD/own.so" \
  "$(LD_PRELOAD=$PWD/own.so "$aprof" run -- printenv LD_PRELOAD)"

# -- a signal before the first future ------------------------------------------------------------
# signal HOW WHERE COMMAND...: the status, and how many futures each of the totals has, in order
signal() {
  local wanted=$1 how=$2 told
  shift 2
  rm -rf out && mkdir out
  APROF_OPTIONS=dir:$PWD/out "$@" >said 2>&1
  told=$?
  all() { [ "$(find out -name '*.json' | wc -l)" -ge "$(wc -w <<<"$wanted")" ]; }
  until_true all # those of a signal may come later
  equal "$how" "3 $wanted" \
    "$told $(value out/*.json 't.process.reason + "=" + str(total(t.functions, "created"))' | sort | xargs)"
}
runtime=$build/rt/.libs/libaprof.so.0
APROF_RUNTIME=$runtime signal "exit=1 signal=0" "SIGUSR1 before the first future" ./program signal
signal "exit=1 signal=0" "... under aprof run" "$aprof" run -- ./program signal
APROF_RUNTIME=$runtime signal "exit=1 exit=1 signal=0" "... of a forked child" ./program forked
"$aprof" report out/*.1.json >report 2>&1
contains "totals of no future have a report" "0 futures, 0 live" report
{ APROF_RUNTIME=/nonexistent ./program signal; } 2>said
equal "without a runtime it is as ever" 138 $?
(trap "" USR1 && APROF_RUNTIME=$runtime signal "exit=1" "a signal that is ignored stays so" ./program signal)
profiles=$(mktemp -d /dev/shm/aprof-hosts.XXXXXX)
APROF_RUNTIME=$runtime APROF_OPTIONS=profile:$profiles/none ./program none
refuse "no signal, no future: no footprint" test -e "$profiles/none"
rmdir "$profiles"

# -- what cannot look for the runtime --------------------------------------------------------------
check "a program without the search" "$cc" "${with[@]}" -fplugin-arg-aprof-autoload=no -o alone
"$aprof" run -o none -- ./alone
equal "runs, and is not profiled" "3 0" "$? $(find none -name '*.json' | wc -l)"
"$aprof" run --preload -o alone.out -- ./alone
equal "... but with --preload" "3 1" "$? $(find alone.out -name '*.json' | wc -l)"

# -- what a run finds ------------------------------------------------------------------------------
mkdir sub
"$aprof" run --report -- sh -c 'cd sub; exec ../program' >said 2>&1
check "totals of a child elsewhere are found" grep -q "1 future" said
"$aprof" run --report -- ./nowhere >said 2>&1
equal "what cannot run made no future: that is not said" "aprof: cannot run ./nowhere: No such file or directory" \
  "$(cat said)"

# As somebody who tidies up does.
cat >tidy.sh <<'S'
directory=${APROF_OPTIONS##*profile:}
rm -r "$directory"
S
"$aprof" run -- bash tidy.sh 2>said
equal "a directory of profiles that somebody removed" "0 1" "$? $(grep -c "whose were written is not known" said)"
"$aprof" run -o out -- bash -c '. ./tidy.sh; exec ./program' 2>said
equal "... before the first future" "3 1" "$? $(grep -c "whose were written is not known" said)"

# The outer run is over, and its directory gone, before the inner ones begin.
cat >outer.sh <<S
for i in 1 2 3; do (sleep 0.3; "$aprof" run -o out -- ./program kill 2>>inner.said) & done
S
rm -rf out
"$aprof" run -- bash outer.sh
for _ in $(seq 100); do [ "$(find out -name '*.json' 2>/dev/null | wc -l)" -eq 3 ] || sleep 0.1; done
equal "runs that outlive the one around them" "3 3" "$(find out -name '*.json' | wc -l) $(grep -c "aprof: totals: " inner.said)"

# -- no future: why ------------------------------------------------------------------------------
cat >library.h <<'C'
typedef void (*handler)(const char *path, void *data);
void library_add_handler(const char *path, handler function, void *data);
void library_run(void);
C
cat >library.c <<'C'
#include "library.h"
static handler given;
static void *with;
void library_add_handler(const char *path, handler function, void *data) {
  given = path ? function : 0;
  with = data;
}
void library_run(void) { given("/", with); }
C
cat >user.c <<'C'
#include "library.h"
static void server_callback(const char *path, void *data) { *(int *)data += *path == '/'; }
int main(void) {
  int calls = 0;
  library_add_handler("/", server_callback, &calls);
  library_run();
  return calls - 1;
}
C
echo 'int main(void) { return 0; }' >plain.c
"$cc" -shared -fPIC library.c -o liblibrary.so
for options in "-O0" "-O2 -g" "-O2 -flto"; do
  # shellcheck disable=SC2086
  "$cc" $options "-fplugin=$plugin" user.c -o user -L. -llibrary -Wl,-rpath,"$PWD"
  "$aprof" run --report -- ./user 2>said
  contains "$options: the plugin was there, and found nothing" "./user has the plugin in 1 unit and no async function" said
  contains "... whom it may mean" "\`server_callback' to library_add_handler (user.c:5)" said
  contains "... what to write" "\`async def:server_callback'" said
done
"$aprof" coverage user >said
contains "coverage has it, too" "user.c:5  server_callback  to library_add_handler" said
cat >table.c <<'C'
#include "library.h"
static void on_row(const char *path, void *data) { *(int *)data += *path == '/'; }
static void on_field(const char *path, void *data) { *(int *)data += *path == '/'; }
struct rows { const char *path; handler function; };
static const struct rows rows[] = {{"/", on_row}, {"/a", on_row}};
struct rows later;
void library_add_rows(const struct rows *);
int main(void) {
  int calls = 0;
  later.function = on_field;
  for (int i = 0; i < 2; i++)
    library_add_handler(rows[i].path, rows[i].function, &calls);
  library_run();
  library_add_handler("/", later.function, &calls);
  library_run();
  return calls - 2;
}
C
"$cc" -O2 "-fplugin=$plugin" table.c -o table -L. -llibrary -Wl,-rpath,"$PWD"
"$aprof" run --report -- ./table 2>said
contains "callbacks in a table" "\`on_row' to variable rows (table.c:5)" said
contains "... and in a field" "\`on_field' to variable function (table.c:10)" said
echo 'async def:server_callback' >user.aprof
"$cc" "-fplugin=$plugin" -fplugin-arg-aprof-bindings=user.aprof user.c -o user -L. -llibrary -Wl,-rpath,"$PWD"
"$aprof" run --report -- ./user >said 2>&1
contains "... by which there is one" "1 future, 0 live" said
"$cc" -g "-fplugin=$plugin" plain.c -o plain
"$aprof" run --report -- ./plain 2>said
contains "compiled with the plugin, by its debug information" "./plain was compiled with the plugin" said
"$cc" plain.c -o plain
"$aprof" run --report -- ./plain 2>said
contains "compiled without" "./plain itself carries no notes of the plugin" said
"$aprof" run --report -- ./program none 2>said
contains "async functions that were not called" "of the 1 async function of ./program none was called" said
"$aprof" run --report --options exit:no -- ./program 2>said
contains "no totals were asked for" "exit:no in APROF_OPTIONS" said
# shellcheck disable=SC2046
check "linked with the runtime, where only what is needed is" \
  "$cc" "${with[@]}" -o linked -Wl,--as-needed $("$aprof" cflags --libs)
cp "$build/rt/.libs/libaprof.so.0" other.so
for preload in '' --preload; do
  # shellcheck disable=SC2086
  LD_DEBUG=files "$aprof" run --runtime "$work/other.so" $preload -o out -- ./linked none >/dev/null 2>said
  equal "--runtime ${preload:-alone}: which one it has" "${preload:+$work/other.so}" \
    "$(sed -n "s,.*calling init: \($work/other.so\)$,\1,p" said)"
done

if [ "$(stat -f -c %T .)" != tmpfs ]; then
  "$aprof" run --report --options profile:elsewhere -o out -- ./program 2>said
  contains "profiles cannot be where they should: why" ": it is not in memory (tmpfs); they go to memory" said
  refuse "... and not that there was no future" grep -q "no totals" said
else
  skip "profiles cannot be where they should" "all is in memory here"
fi

# -- clang -----------------------------------------------------------------------------------------
if command -v clang >clang.path; then
  refuse "clang does not compile with it" clang "-fplugin=$plugin" -fplugin-arg-aprof-verbose -c plain.c -o plain.o
  contains "... and says what to do" "aprof.so is a plugin for GCC, and clang does not profile by it: compile with gcc" \
    check.out
  cat >annotated.c <<'C'
#include <aprof.h>
#define coroutine_fn APROF_ASYNC
struct ops { void (*submit)(int) APROF("create key=a0"); };
void *coroutine_fn ask(void);
void behind(void) APROF("await names");
typedef void step(int) APROF("run key=a0");
void through(struct ops *, APROF("await worker") void (*given)(int));
static APROF_AWAIT void (*held)(int);
APROF_ASYNC void *ask(void) { held(1); return 0; }
C
  for language in c c++; do
    check "clang, $language: annotations for who asks" clang -x $language -Wall -Wextra -Werror \
      -DAPROF_ANNOTATE -I"$src/rt/include" -Xclang -ast-dump -fno-color-diagnostics -fsyntax-only annotated.c
    equal "... each on what it declares" "FieldDecl aprof:create key=a0
FunctionDecl aprof:async
FunctionDecl aprof:await names
TypedefDecl aprof:run key=a0
ParmVarDecl aprof:await worker
VarDecl aprof:await
FunctionDecl aprof:async" "$(awk '/Decl 0x/ { sub(/.*-/, ""); declared = $1 }
        /AnnotateAttr/ && !/Inherited/ { gsub(/.*"aprof|"$/, ""); print declared " aprof" $0 }' check.out)"
    clang -x $language -I"$src/rt/include" -E -P annotated.c >expanded.txt
    equal "... and nothing in a program that is compiled" 0 "$(grep -cE 'annotate|aprof:' expanded.txt)"
  done
else
  skip "clang takes the plugin" "there is no clang"
fi

# -- somebody else has the place -------------------------------------------------------------------
cat >taken.sh <<'S'
mount -t tmpfs none /dev/shm || exit 77
me=$(id -u)
mkdir /dev/shm/aprof-$me
chmod 777 /dev/shm/aprof-$me
"$aprof" run -o taken -- ./program kill 2>taken.said
echo "$?" >taken.status
{ APROF_RUNTIME=$build/rt/.libs/libaprof.so.0 ./program kill; } 2>alone.said
"$aprof" list >taken.list 2>&1
rm -rf /dev/shm/aprof-$me /dev/shm/aprof-$me.*
mount -o remount,ro /dev/shm
"$aprof" run -o unmade -- ./program 2>unmade.said
mount -o remount,rw /dev/shm
touch /dev/shm/aprof-$me
for i in 1 2 3; do
  rm -rf /dev/shm/aprof-$me.$i
  touch /dev/shm/aprof-$me.$i
done
"$aprof" run -o full -- ./program 2>full.said
APROF_RUNTIME=$build/rt/.libs/libaprof.so.0 ./program 2>memory.said
S
unset XDG_RUNTIME_DIR
export aprof build
if unshare -m true 2>/dev/null && { unshare -m bash taken.sh; [ $? -ne 77 ]; }; then
  equal "the place of profiles is open to others: the run's own status" 137 "$(cat taken.status)"
  contains "... it is said, with what to do" "others may write to it; have it removed" taken.said
  equal "... and a kill leaves totals" recovered "$(value taken/*.json t.process.reason)"
  contains "... a profile, where no run looks" "/dev/shm/aprof-$(id -u).1/program-" taken.list
  contains "no place can be made: why" "Read-only file system; name a directory" unmade.said
  equal "no place is left: one line of the run" 1 "$(grep -c "no place for profiles" full.said)"
  contains "... says what that means" "lost if a process is killed" full.said
  contains "... and the program's own line says it" "(nothing of it is left after a kill)" memory.said
else
  skip "somebody else has the place of profiles" "no mount namespace here"
fi
finish
