#!/bin/bash
# SPDX-License-Identifier: MIT
# The sample of GCC's torture programs that make check runs: every 40th of the C
# ones, at each level and with each GCC, and of the C++ ones.
exec "$(dirname "$0")/run" --sample 40 gcc.c-torture/execute gcc.c-torture/compile \
  g++.dg/coroutines/torture g++.dg/eh
