#!/bin/bash
# SPDX-License-Identifier: MIT
# The documentation agrees with the sources: pages are clean, their examples
# compile, aprof-bindings(5) has every word of the parser, and the bindings file
# that the tutorial grows is the one that is there, and complete.
. "$(dirname "$0")/../lib.sh"

doc=$src/doc
bindings_page=$doc/aprof-bindings.5
cd "$work" || exit

if command -v groff >/dev/null; then
  for page in "$doc"/*.[1-9]; do
    [ "$(head -c 4 "$page")" != ".so " ] || continue # another name of a page
    groff -ww -man -Tutf8 "$page" 2>&1 >/dev/null | head -n 5 >warnings.txt
    equal "${page##*/}: no warning of groff" "" "$(cat warnings.txt)"
  done
else
  skip "pages are clean" "no groff"
fi

# The tables of commands and options, as --help prints them: each has its place in the pages.
for command in $("$aprof" --help | sed -n 's/^  \([a-z]\+\)  .*/\1/p'); do
  page=$doc/aprof-$command.1
  check "aprof(1): names $command" grep -qE "^\.BR? (.*[\" ])?$command([\" ]|\$)" "$doc/aprof.1"
  [ -e "$page" ] || page=$doc/aprof.1
  other=$(sed -n 's|^\.so man[0-9]/||p' "$page")
  page=$doc/${other:-${page##*/}}
  for option in $("$aprof" "$command" --help | sed -nE 's/^  .{4}(--[a-z-]+).*/\1/p'); do
    case $option in --help | --usage) continue ;; esac
    check "${page##*/}: $command has $option" grep -qF -- "${option//-/\\-}" "$page"
  done
done

# examples_of PAGE: its programs, as example-PAGE-N.c
examples_of() {
  awk -v name="example-${1##*/}" '
    /^\.EX/ { file = name "-" ++n ".c"; keep = 1; next }
    /^\.EE/ { keep = 0; close(file) }
    keep { gsub(/\\e/, "\\"); gsub(/\\-/, "-"); gsub(/\\\(dq/, "\""); print >file }' "$1"
}
for page in "$doc"/*.3; do
  examples_of "$page"
done
for major in $majors; do
  for example in $(grep -l '#include <aprof.h>' example-*.c); do
    for flag in -DWITHOUT "-fplugin=$plugin"; do
      check "$example: gcc-$major $flag" "$(gcc_of "$major")" -std=c11 -Wall -Wextra -Werror \
        -Wno-unused-function "$flag" -I"$src/rt/include" -c "$example" -o example.o
    done
  done
done

# The table of the grammar: each row stands in the page's grammar; the heads of the verbs have the
# words that go with them, and no others; the table of places has what goes with what.
"$aprof" bindings --words --json >words.json
sed -n '/^\.SS Lines/,/^\.SS Attributes/p' "$bindings_page" | tr -d '\\' >grammar.txt
while read -r kind name form bare; do
  case $kind,$form,$bare in
  word,none,*) found="\"$name\"" ;;
  word,*,true) found="\"$name\" \\[ \"=\"" ;;
  word,*) found="\"$name=\"" ;;
  *) found="\"$name\"" ;;
  esac
  found=${found/>=/>} # where a '>' stands, no '=' does
  check "aprof-bindings(5): the grammar has $kind $name" grep -q -- "$found" grammar.txt
done < <(value words.json '*((w.kind, w.name, w.form or "none", w.bare) for w in t.words)')
equal "aprof-bindings(5): the grammar has no other word" "" "$(awk '/^verb /{ on = 1 } /^duration/{ on = 0 } on' grammar.txt |
  grep -oE '"[a-z]+=?"' | tr -d '"=' | sort -u |
  grep -vxE "$(value words.json '"|".join(w.name for w in t.words)')|done|failed|cancelled|str|int")"

sed -n '/^\.SH PLACES/,/^\.in$/p' "$bindings_page" | sed 's/\\fB//g; s/\\fP//g' >places.txt
columns=$(sed -n 's/^ *\(call:.*\)/\1/p' places.txt | tr -d ':')
while read -r verb with; do
  cells=$(sed -nE "/^([a-z]+, )*$verb(,|\$| )/{ /yes/!n; p; }" places.txt | grep -oE '(yes|\.)' | xargs)
  wanted=
  for place in $columns; do
    case " $with " in *" $place "*) wanted+=" yes" ;; *) wanted+=" ." ;; esac
  done
  equal "aprof-bindings(5): the places of $verb" "${wanted# }" "$cells"
done < <(value words.json '*((w.name, w.goes_with) for w in where(t.words, kind="verb"))')

# Its examples are lines of the grammar.
awk '/^\.SH/ { keep = 0 } /^\.SH EXAMPLES/ { keep = 1 } /^\.EE/ { on = 0 } keep && on
  keep && /^\.EX/ { on = 1 }' "$bindings_page" | sed 's/\\-/-/g' >page.aprof
: >empty.c
check "aprof-bindings(5) has examples" test "$(wc -l <page.aprof)" -gt 40
for major in $majors; do
  check "aprof-bindings(5): gcc-$major reads its examples" "$(gcc_of "$major")" \
    "-fplugin=$plugin" "-fplugin-arg-aprof-bindings=./page.aprof" -S empty.c -o empty.s
done

# The tutorial's last word on each line of the file.
lines=$(grep -v '^#' "$src/examples/tiny-loop.aprof")
while read -r line; do
  check "the tutorial has: $line" grep -qxF -- "$line" "$doc/describe-your-library.md"
done <<<"$lines"

# The chapter on requests shows lines of the example that it grows.
for file in server.h tiers.aprof; do
  sed -n '/^```c$/,/^```$/p; /^    span /s/^    //p' "$doc/requests.md" | grep -E '^(APROF\("(create|end|label) key=(ret|a0)[" ]|span )' >shown.txt
  while read -r line; do
    check "doc/requests.md shows $file as it is: $line" grep -qF -- "$line" "$src/examples/http-server/$file"
  done < <(case $file in *.h) grep '^APROF' shown.txt ;; *) grep '^span' shown.txt ;; esac)
done
check "it shows some" test "$(wc -l <shown.txt)" -ge 6

# Its lines for C++20: a template, a generator, a method, one that is gone before its end.
sed -n '/^### Of C++20/,/^## /p' "$doc/describe-your-library.md" >part.md
grep -E '^(create|wake|end) ' part.md >coroutines.aprof
{
  printf '#include <coroutine>\n#include <deque>\n'
  sed -n '/^```cpp/,/^```$/p' part.md | grep '^inline'
  cat <<'CC'
static std::deque<void *> queue;
static void post(void *frame) {
  ready(frame);
  queue.push_back(frame);
}
struct task {
  struct promise_type {
    int value = 0;
    task get_return_object() {
      auto handle = std::coroutine_handle<promise_type>::from_promise(*this);
      made((void **)handle.address());
      return {handle};
    }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int n) {
      value = n;
      return {};
    }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
  task(std::coroutine_handle<promise_type> handle) : handle(handle) {}
  task(const task &) = delete;
  ~task() {
    gone(handle.address());
    handle.destroy();
  }
};
struct pause {
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> handle) { post(handle.address()); }
  void await_resume() {}
};
template <class T> task numbers(T n) {
  for (T i = 0; i < n; i++)
    co_yield i;
}
namespace shop {
struct cart {
  task total(int n) {
    auto each = numbers<long>(n);
    for (run_frame(each.handle.address()); !each.handle.done(); run_frame(each.handle.address()))
      co_await pause{};
  }
};
}
int main() {
  shop::cart cart;
  task two = cart.total(2), three = cart.total(3), never = cart.total(4);
  post(two.handle.address());
  post(three.handle.address());
  while (!queue.empty()) {
    void *frame = queue.front();
    queue.pop_front();
    run_frame(frame);
  }
}
CC
} >coroutines.cc
for major in $majors; do
  for level in -O0 -O2; do
    rm -rf out && mkdir out
    check "coroutines: g++-$major $level" "$(gcc_of "$major" | sed 's/gcc/g++/')" -std=c++20 -g $level \
      "-fplugin=$plugin" "-fplugin-arg-aprof-bindings=./coroutines.aprof" coroutines.cc -o coroutines
    APROF_OPTIONS=dir:out ./coroutines >output.txt 2>&1
    equal "coroutines: g++-$major $level, each has its name, its life and its slices" \
      '["numbers",2,2,0] ["shop::cart::total",3,3,7]' \
      "$(value out/*.json '*sorted(pick(g, "name created done slices") for g in t.functions)')"
    equal "coroutines: g++-$major $level, nothing missed" "0 0 0" \
      "$(value out/*.json '*pick(t.health, "missed_events reused_keys unmatched_awaits")')"
  done
done

for major in $majors; do
  rm -rf out && mkdir out
  check "tiny-loop: gcc-$major, no warning" "$(gcc_of "$major")" -std=gnu11 -O2 -Wall -Wextra -Wshadow \
    -Wstrict-prototypes -Wmissing-prototypes -Werror "-fplugin=$plugin" \
    "-fplugin-arg-aprof-bindings=$src/examples/tiny-loop.aprof" "$src/examples/tiny-loop.c" -o tiny-loop
  APROF_OPTIONS=dir:out ./tiny-loop >output.txt 2>&1
  check "tiny-loop: gcc-$major, the last upload arrives" grep -q 'has arrived' output.txt
  equal "tiny-loop: gcc-$major, nothing missed" "0 0 0" \
    "$(value out/tiny-loop.*.json '*pick(t.health, "missed_events reused_keys unmatched_awaits")')"
  equal "tiny-loop: gcc-$major, one sampler, cancelled after 12 runs" "1 1 12" \
    "$(value out/tiny-loop.*.json '*pick(f.on_sample, "created cancelled slices")')"
  equal "tiny-loop: gcc-$major, each average is smoothed" true \
    "$(value out/tiny-loop.*.json 'f.smooth.created == f.on_average.created')"
done

# README's recipe for tests: a program whose loop was held, to its end or in one process of several, fails it.
cat >held.c <<'END'
#include <aprof.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
APROF_ASYNC static void hold(long ms, int ends) {
  aprof_clock_advance(ms * 1000000);
  if (ends)
    exit(0);
}
int main(int argc, char **argv) {
  for (int i = 2; i < argc; i++)
    if (fork() == 0)
      return hold(atol(argv[i]), 0), 0;
  while (wait(NULL) > 0)
    ;
  return hold(labs(atol(argv[1])), atol(argv[1]) < 0), 0;
}
END
# Pages in Markdown lead to files that are there, and to headings of their own.
dangling() {
  local page=$1 link
  grep -oE '\]\([^)]+\)' "$page" | sed 's/^](//; s/)$//' | while read -r link; do
    case $link in
    http*) ;;
    \#*) grep -E '^#' "$page" | sed 's/^#* //' | tr 'A-Z ' 'a-z-' | tr -d '.,:`' | grep -qxF -- "${link#?}" || echo "$link" ;;
    *) [ -e "${page%/*}/${link%%#*}" ] || echo "$link" ;;
    esac
  done
}
for page in "$src/README.md" "$src/HACKING.md" "$src"/doc/*.md; do
  equal "${page#"$src/"}: no link leads nowhere" "" "$(dangling "$page")"
done

recipe=$(sed -n "s/^    jq -es '\(.*\)' server-test.*/\1/p" "$src/README.md")
check "README: has a recipe for tests" test -n "$recipe"
check "README: the recipe's program" "$(gcc_of "${majors##* }")" "-fplugin=$plugin" -I"$src/rt/include" held.c -o held
# holds EXPECTED MS...: whether the recipe lets a program pass that holds its loop so; -MS: to its end
holds() {
  local wanted=$1
  shift
  rm -rf out && mkdir out
  APROF_OPTIONS=dir:out,clock:virtual ./held "$@"
  equal "README: the recipe, holds of $* ms" "$wanted" "$(jq -es "$recipe" out/held.*.json)"
}
holds true 10
holds true -10
holds false 30
holds false -30
holds false 10 30 10
holds true 10 10
finish
