#!/bin/bash
# Some kills of the crash drill; tests/crash/run has any number.
exec "$(dirname "$0")/run" --count 96
