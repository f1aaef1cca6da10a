# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The programs of the hazard matrix, and the ways to build and link them. Sourced by
# run, which has set cc, cxx, here and work (tests/lib.sh).
#
#   absent            without the plugin: what all others must do like
#   with              with it; the runtime is loaded by the program itself
#   linked            -laprof
#   linked-static     libaprof.a, the rest shared
#   static            all of it static; static-pie: the same, position independent
#   static-bare       static, and no runtime in it
#   setuid            linked, and belongs to another user: AT_SECURE
#   tsan asan         with, and with sanitizers; absent-tsan, absent-asan: those alone

programs="plain stackful stackless libuv threads exceptions"
objects="main signals forks lives races exits files"
# Nothing refers to the runtime but weakly: the linker must be told to take it, as aprof.pc does.
shared=(-L"$build/rt/.libs" -Wl,-rpath,"$build/rt/.libs" -Wl,--no-as-needed -laprof)
archive=(-Wl,-u,__aprof_attach "$build/rt/.libs/libaprof.a")

# link_as FROM SUFFIX FLAGS...: the programs compiled as FROM, as PROGRAM-SUFFIX
link_as() {
  local from=$1 suffix=$2 p link
  shift 2
  for p in $programs; do
    case $p in exceptions) link=$cxx ;; *) link=$cc ;; esac
    # shellcheck disable=SC2046 # several words
    (cd "$work/$from" && "$link" "$p.o" $(printf '%s.o ' $objects) -o "$work/bin/$p-$suffix" \
      "$@" 2>"$work/link.log") || { cat "$work/link.log" && exit 1; }
  done
}

# build_as SUFFIX FLAGS...
build_as() {
  local suffix=$1 o flags dir=$work/$1
  shift
  flags="-O2 -g -Wall -Wextra -Werror $* -I$src/rt/include"
  mkdir -p "$dir"
  for o in $objects plain stackful stackless libuv threads; do
    echo "$cc -std=gnu11 $flags -c $here/$o.c -o $dir/$o.o"
  done >"$dir/commands"
  echo "$cxx $flags -c $here/exceptions.cc -o $dir/exceptions.o" >>"$dir/commands"
  echo "$cc -shared -fPIC $flags $here/module.c -o $work/bin/module-$suffix.so" >>"$dir/commands"
  xargs -P2 -d '\n' -n1 sh -c <"$dir/commands" || exit
}

# build_sanitized NAME FLAGS...: with the plugin and without
build_sanitized() {
  local name=$1
  shift
  build_as "absent-$name" "$@"
  link_as "absent-$name" "absent-$name" -pthread -luv -ldl "$@"
  build_as "$name" "-fplugin=$plugin" "$@"
  link_as "$name" "$name" -pthread -luv -ldl "$@"
}

# Another user's program runs with that user's rights.
make_setuid() {
  local p
  for p in $programs; do
    cp "$work/bin/$p-linked" "$work/bin/$p-setuid" && chown nobody "$work/bin/$p-setuid" &&
      chmod u+s "$work/bin/$p-setuid" || return
  done
}

build_programs() {
  "$cc" -O2 -Wall -Wextra -Werror "$here/stepper.c" -o "$work/bin/stepper" || exit
  "$cc" -O2 -Wall -Wextra -Werror -shared -fPIC "$here/keeper.c" -o "$work/bin/keeper.so" || exit
  build_as absent
  link_as absent absent -pthread -luv -ldl
  build_as with "-fplugin=$plugin"
  link_as with with -pthread -luv -ldl
  link_as with linked -pthread -luv -ldl "${shared[@]}"
  link_as with linked-static -pthread -luv -ldl "${archive[@]}"
  libuv=$("$cc" -print-file-name=libuv_a.a)
  link_as with static -static -pthread "$libuv" "${archive[@]}"
  link_as with static-pie -static-pie -pthread "$libuv" "${archive[@]}"
  link_as with static-bare -static -pthread "$libuv"
  "$cc" -O2 -shared -fPIC "-fplugin=$plugin" -I"$src/rt/include" "$here/module.c" \
    "${shared[@]}" -o "$work/bin/module-linked.so" || exit
  [ -n "$sample" ] || build_sanitized asan -fsanitize=address,undefined
  [ -n "$sample" ] || build_sanitized tsan -fsanitize=thread
}
