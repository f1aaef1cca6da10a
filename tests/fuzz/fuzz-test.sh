#!/bin/bash
# SPDX-License-Identifier: MIT
# A minute of what tests/fuzz/run does for hours: the same inputs each time, so that what
# fails here fails again.
src=$(cd "${top_srcdir:-${0%/*}/../..}" && pwd)
build=${top_builddir:-$PWD}/tests/fuzz
rm -rf "$build/learnt"
exec "$src/tests/fuzz/run" --count "${FUZZ_COUNT:-3000}" --seed 1 --build "$build"
