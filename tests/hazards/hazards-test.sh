#!/bin/bash
# SPDX-License-Identifier: MIT
# The sample of the hazard matrix that make check runs.
exec "$(dirname "$0")/run" --sample
