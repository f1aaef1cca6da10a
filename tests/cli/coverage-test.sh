#!/bin/bash
# SPDX-License-Identifier: MIT
# aprof coverage of what the plugin really leaves in a program, with each compiler.
. "${0%/*}/../lib.sh"

export NO_COLOR=1
cd "$work" || exit 1
cat >my.aprof <<'END'
await call:co_wait
await call:co_wiat
END
cat >main.c <<'END'
extern void co_wait(void);
__attribute__((aprof("async"))) void other(void);
__attribute__((aprof("async"))) void task(void) { co_wait(); other(); }
void plain(void) { co_wait(); }
int main(void) { task(); plain(); return 0; }
END
cat >resumed.aprof <<'END'
await  call:co_wait
run    def:co_resume   key=a0
END
cat >resumed.c <<'END'
extern void co_wait(void);
void co_resume(void *co) { (void)co; }
void plain(void) { co_wait(); }
void co_wait(void) {}
int main(void) { co_resume(0); return 0; }
END
# ... also where the run stands behind its create.
cat >behind.aprof <<'END'
await  call:co_wait
create call:co_start key=a0 | run icall:co.entry key=obj once
END
cat >behind.c <<'END'
struct co { void (*entry)(struct co *); };
extern void co_wait(void);
void plain(struct co *co) { (void)co; co_wait(); }
void co_wait(void) {}
void co_start(struct co *co) { co->entry = plain; }
void co_resume(struct co *co) { co->entry(co); }
int main(void) { struct co co; co_start(&co); co_resume(&co); return 0; }
END
cat >other.c <<'END'
void co_wait(void) {}
__attribute__((aprof("async"))) void other(void) { co_wait(); }
END

# A watcher's callback takes the watcher; one that takes something else is left alone, where the line looks
# behind the argument before it knows whose run it is.
cat >watcher.aprof <<'END'
create call:start key=a0 fn=a0->cb | run key=a0 when=a0->active==0 once
END
cat >watcher.c <<'END'
struct watcher { int active; void (*cb)(struct watcher *); };
static void on_own(struct watcher *w) { (void)w; }
static void on_cast(void *session) { (void)session; }
__attribute__((noinline)) void start(struct watcher *w) { w->cb(w); }
int main(void) {
  struct watcher one = {0, on_own}, other = {0, 0};
  other.cb = (void (*)(struct watcher *))on_cast;
  start(&one);
  start(&other);
  return 0;
}
END

# Spans: of bodies and calls; two on a line are two.
echo 'span call:step' >spans.aprof
cat >spans.c <<'END'
__attribute__((noinline)) static void step(int n) { (void)n; }
static void parse(void) { step(1), step(2); }
int main(void) { parse(); return 0; }
END

for major in $majors; do
  cc=gcc-$major
  flags=("-fplugin=$plugin" -fplugin-arg-aprof-bindings=my.aprof -fplugin-arg-aprof-autoload=no)
  "$cc" "${flags[@]}" -c main.c -o main.o || exit 1
  "$cc" "${flags[@]}" -c other.c -o other.o || exit 1
  "$cc" -Wno-attributes -c other.c -o bare.o || exit 1
  "$cc" main.o bare.o -o partly && "$cc" main.o other.o -o wholly || exit 1
  "$aprof" coverage partly >partly.txt
  contains "$cc: one function is missing" "1 of 2 async functions instrumented" partly.txt
  contains "$cc: which, and where it is declared" "main.c:2  other" partly.txt
  contains "$cc: an await outside any" "main.c:4  co_wait  in plain" partly.txt
  contains "$cc: a line that matched nothing" "my.aprof:2  await call:co_wiat" partly.txt
  "$aprof" coverage wholly >wholly.txt
  contains "$cc: none is missing" "2 of 2 async functions instrumented" wholly.txt
  contains "$cc: awaits of both units" "2 awaits, in 2 units" wholly.txt
  refuse "$cc: --strict" "$aprof" coverage --strict wholly
  "$cc" "-fplugin=$plugin" -fplugin-arg-aprof-bindings=spans.aprof \
    "-fplugin-arg-aprof-spans=/^parse$/" "-fplugin-arg-aprof-spans=/^nobody$/" \
    -fplugin-arg-aprof-autoload=no spans.c -o spans || exit 1
  "$aprof" coverage spans >spans.txt
  contains "$cc: spans" "0 async functions, 0 awaits, 3 spans, in 1 unit" spans.txt
  contains "$cc: an option that matched nothing" "fplugin-arg-aprof-spans:2  span def:/^nobody\$/" spans.txt
  equal "$cc: spans, in JSON" '[["spans.c:2","parse"],["spans.c:2","step"],["spans.c:2","step"]]' \
    "$("$aprof" coverage --json spans | value - '[[s.at, s.name] for s in t.spans]')"
  "$cc" "-fplugin=$plugin" -fplugin-arg-aprof-bindings=resumed.aprof \
    -fplugin-arg-aprof-autoload=no resumed.c -o resumed || exit 1
  check "$cc: --strict, futures are resumed by key" "$aprof" coverage --strict resumed
  "$aprof" coverage resumed >resumed.txt
  contains "$cc: what they may call is listed" "resumed.c:3  co_wait  in plain" resumed.txt
  contains "$cc: and is not amiss" "nothing amiss" resumed.txt
  "$cc" "-fplugin=$plugin" -fplugin-arg-aprof-bindings=behind.aprof \
    -fplugin-arg-aprof-autoload=no behind.c -o behind || exit 1
  check "$cc: --strict, futures are resumed by a run behind its create" "$aprof" coverage --strict behind
  equal "$cc: each of both counts its matches" "create 1 run 1" "$("$aprof" coverage --json behind |
    value - '*(word for b in t.bindings if "icall" in b.text for word in (b.text.split()[0], b.matches))')"
  "$aprof" coverage --json other.o >other.json
  equal "$cc: nothing is outside or missing in the other unit" "0 0" \
    "$(value other.json 'len(t.outside), len(t.declared)')"
  "$cc" -O2 -Wno-cast-function-type "-fplugin=$plugin" -fplugin-arg-aprof-bindings=watcher.aprof \
    -fplugin-arg-aprof-autoload=no watcher.c -o watcher || exit 1
  equal "$cc: a callback that was cast and left alone is named, the other is not" "on_cast" \
    "$("$aprof" coverage --json watcher | value - '*(c.name for c in t.callbacks)')"
done
finish
