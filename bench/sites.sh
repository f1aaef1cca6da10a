#!/bin/bash
# SPDX-License-Identifier: MIT
# What a site costs a thread: some threads that use 10 000 sites each (sites.c), few times and
# often. Prints the memory of the profile per site and thread, and fails where histograms were
# lost, or that is more than 4 KB.
#
#   bench/sites.sh [THREADS]    from a build directory, or with APROF_BUILD. 64 take 1.5 GB
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../tests/lib.sh"
threads=${1:-4} sites=10000

check "compile" "${CC:-gcc}" -std=gnu11 -O0 -fplugin="$plugin" -I"$src/rt/include" "$here/sites.c" \
  -pthread -o "$work/sites"
for rounds in 1 8 40; do
  run() {
    APROF_RUNTIME=$build/rt/.libs/libaprof.so.0 APROF_OPTIONS=dir:$work,profile:memfd,signal:none,memory:3000M \
      "$work/sites" "$threads" "$rounds"
  }
  rm -f "$work"/sites.*.json
  check "run, each site $rounds times" run
  totals=$(echo "$work"/sites.*.json)
  read -r bytes lost < <(value "$totals" 't.health.memory_bytes, t.health.lost_histograms')
  each=$((bytes / (threads * sites)))
  equal "histograms lost" 0 "$lost"
  check "$each bytes per site and thread, each used $rounds times" test "$each" -le 4096
done
finish
