#!/bin/bash
# SPDX-License-Identifier: MIT
# Each source says its licence, as COPYING has it: the plugin's GPL-3.0-or-later, all else MIT. In
# its first lines, or, where a test or a page names lines by number, in its last one.
. "$(dirname "$0")/../lib.sh"

cd "$src" || exit 1
tag='SPDX-License''-Identifier:'

# What is built, configured or was found by a fuzzer is no source.
if [ -e .git ]; then git ls-files; else find . -type f | sed 's|^\./||'; fi |
  grep -vE '^(build[^/]*|autom4te\.cache|tests/fuzz/corpus)/|^(aclocal|m4/l[t~i].*)\.m4$' >"$work/files"
grep -E '\.(c|h|cc|sh|py|lua|go|js|mjs|css|am|ac|m4|mk|aprof)$' "$work/files" >"$work/sources"
while read -r file; do
  case ${file##*/} in
  *.*) ;;
  *) [ "$(head -c 2 "$file" | tr -d '\0')" != '#!' ] || echo "$file" ;;
  esac
done <"$work/files" >>"$work/sources"

: >"$work/odd"
while read -r file; do
  case $file in
  plugin/*) licence=GPL-3.0-or-later ;;
  *) licence=MIT ;;
  esac
  { head -n 3 "$file"; tail -n 1 "$file"; } | grep -qE "$tag $licence( |\$)" ||
    echo "$file: no line $tag $licence" >>"$work/odd"
done <"$work/sources"
check "there are sources" test "$(wc -l <"$work/sources")" -gt 400
if [ -s "$work/odd" ]; then not_ok "each says its licence" "$work/odd"; else ok "each says its licence"; fi

for licence in GPL-3.0-or-later MIT; do
  contains "COPYING names $licence" "LICENSES/$licence.txt" COPYING
  check "the text of $licence is there" test -s "LICENSES/$licence.txt"
done
if [ -e /usr/share/common-licenses/GPL-3 ]; then
  check "that of the GPL word by word" cmp LICENSES/GPL-3.0-or-later.txt /usr/share/common-licenses/GPL-3
fi
finish
