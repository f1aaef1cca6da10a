# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the measuring scripts of bench/ share; source it first. They are called by
# scripts/bench, which hands over in the environment where the build is and how long to
# measure, and work alone too, from a build directory or with APROF_BUILD.
#
# shellcheck disable=SC2034 # used by those who source it
# Sets: src, build (absolute), work (a scratch directory that goes at the end), plugin,
# runtime, cc, quick (1: everything once and short, figures that show no more than that it
# works).
set -eu
bench_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
src=$(cd "$bench_dir/.." && pwd)
build=$(cd "${APROF_BUILD:-$PWD}" && pwd)
plugin=$build/plugin/aprof.so
runtime=$build/rt/.libs/libaprof.so.0
cc=${CC:-gcc}
quick=${APROF_BENCH_QUICK:-}
for needed in "$plugin" "$runtime"; do
  [ -e "$needed" ] || {
    echo "bench: no $needed: run it in a build directory, after make, or set APROF_BUILD" >&2
    exit 2
  }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/aprof-bench.XXXXXX")
started= # processes of ours, by id
cleanup() {
  # shellcheck disable=SC2086 # a list
  [ -z "$started" ] || kill $started 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

# Percent of all processors' time that went to other programs, and to other machines on the
# same one, in a second in which nothing of ours runs.
busy() {
  awk 'FNR == 1 { for (i = 2; i <= 9; i++) all += (NR == 1 ? -1 : 1) * $i
                  idle += (NR == 1 ? -1 : 1) * ($5 + $6) }
    END { printf "%.0f", all ? 100 - 100 * idle / all : 0 }' "$work/stat" /proc/stat
}
head -n 1 /proc/stat >"$work/stat"
sleep 1
busy_before=$(busy)

# Where figures were taken; and what they are not worth where others wanted the processors.
machine() {
  echo "- $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) processors," \
    "$busy_before % busy before"
  echo "- Linux $(uname -r | sed 's/[^0-9.].*//'), $("$cc" --version | head -1), $(date -u +%F)"
  [ "$busy_before" -le 25 ] || {
    echo "- Others wanted the processors too: latencies and requests/s say nothing. Medians of short"
    echo "  batches, CPU time where it goes as fast as it can, and instructions hold."
  }
}

say() { echo "$*" >&2; }

# fetch_source PACKAGE CACHE: Debian's source of it, in CACHE from then on, where CACHE has
# none yet; sets `tree` to its directory. Debian's lists of sources are seldom enabled, so
# with one of its own, from where this machine has its packages. False, and the log shown, if
# there is none to be had.
fetch_source() {
  local apt=$work/apt log=$work/fetch.log
  tree=$(find "$2" -maxdepth 1 -type d -name "$1-*" 2>/dev/null)
  [ -z "$tree" ] || return 0
  mkdir -p "$apt/lists/partial" "$2"
  # shellcheck disable=SC1091,SC2016 # says which Debian this is; apt-get's own variables
  apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    grep " $(. /etc/os-release && echo "$VERSION_CODENAME") main$" | sort -u >"$apt/sources.list"
  set -- "$1" "$2" -q -o Dir::Etc::sourcelist="$apt/sources.list" \
    -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$apt/lists" -o APT::Sandbox::User=root
  (cd "$2" && apt-get "${@:3}" update && apt-get "${@:3}" source "$1") >"$log" 2>&1
  tree=$(find "$2" -maxdepth 1 -type d -name "$1-*")
  [ -n "$tree" ] || { tail -n 1 "$log" >&2; return 1; }
}

# Samples are lines "VARIANT<tab>ROW<tab>VALUE[<tab>SECOND]", one per round.

median='function median(list, n,    i, j, v) {
  for (i = 2; i <= n; i++) {
    v = list[i]
    for (j = i - 1; j > 0 && list[j] > v; j--) list[j + 1] = list[j]
    list[j + 1] = v
  }
  return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}'

# changes ROW VARIANTS [OF] <samples: what each variant adds to "plain", in percent of it or of
# OF: the median of the rounds, each compared within itself, for its variants had the same
# neighbours.
changes() {
  awk -F '\t' -v row="$1" -v variants="$2" -v each="${3:-}" "$median"'
    $2 == row { n = ++count[$1]; value[$1, n] = $3 }
    END {
      for (k = 1; k <= split(variants, v, " "); k++) {
        for (i = 1; i <= n; i++) {
          more = value[v[k], i] - value["plain", i]
          change[i] = 100 * more / (each != "" ? each : value["plain", i])
        }
        printf "%s%s %+.2f %%", (k > 1 ? ", " : ""), v[k], median(change, n)
      }
    }'
}

# matrix FORMAT ROWS COLUMNS <samples: a table, of medians over the rounds. ROWS and COLUMNS
# are lines "NAME<tab>LABEL"; the label of the first row heads the first column. FORMAT
# is awk's printf of VALUE's median and SECOND's; behind it stands half of the span from
# the least to the greatest of the rounds, in percent.
matrix() {
  awk -F '\t' -v format="$1" -v rows="$2" -v columns="$3" "$median"'
    { id = $1 FS $2; n = ++count[id]; value[id, n] = $3; second[id, n] = $4 }
    function cell(k,    n, i, v, s, m, text) {
      n = count[k]
      if (!n) return "-"
      for (i = 1; i <= n; i++) { v[i] = value[k, i] + 0; s[i] = second[k, i] + 0 }
      m = median(v, n)
      text = sprintf(format, m, median(s, n))
      if (n > 1 && m > 0) text = text sprintf(" ±%.0f %%", 50 * (v[n] - v[1]) / m)
      return text
    }
    END {
      nr = split(rows, row, "\n"); nc = split(columns, column, "\n")
      split(row[1], head, "\t")
      line = "| " head[2]; rule = "|---"
      for (c = 1; c <= nc; c++) {
        split(column[c], l, "\t")
        line = line " | " l[2]
        rule = rule "|---"
      }
      print line " |"; print rule "|"
      for (r = 2; r <= nr; r++) {
        split(row[r], l, "\t")
        line = "| " l[2]
        for (c = 1; c <= nc; c++) {
          split(column[c], k, "\t")
          line = line " | " cell(k[1] FS l[1])
        }
        print line " |"
      }
    }'
}
