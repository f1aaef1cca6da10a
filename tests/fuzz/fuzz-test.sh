#!/bin/bash
# SPDX-License-Identifier: MIT
# A minute of what tests/fuzz/run does for hours: the same inputs each time, so that what
# fails here fails again.
src=$(cd "${top_srcdir:-${0%/*}/../..}" && pwd)
build=${top_builddir:-$PWD}/tests/fuzz
rm -rf "$build/learnt"
# Most of that is to compile, so it is for so few inputs done as fast as it can be.
FUZZ_OPTIMIZE=-O0 exec "$src/tests/fuzz/run" --count "${FUZZ_COUNT:-2000}" --seed 1 --build "$build"
