#!/bin/bash
# SPDX-License-Identifier: MIT
# A minute of what tests/fuzz/run does for hours, from the same place each time.
src=$(cd "${top_srcdir:-${0%/*}/../..}" && pwd)
exec "$src/tests/fuzz/run" --seconds "${FUZZ_SECONDS:-12}" --seed 1 \
  --build "${top_builddir:-$PWD}/tests/fuzz"
