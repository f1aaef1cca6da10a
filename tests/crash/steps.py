#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Checks what `steps` has copied: no future that was there before is missing.

    steps.py COUNTS DIRECTORY

Of each function what was created, and what is over, never falls from one copy to the next, and
nothing is counted twice: both rise to what they are at the end. COUNTS (counts.c) reads them.
Prints a line for each thing wrong; exits 1 if there was one.
"""
import os
import subprocess
import sys

os.chdir(sys.argv[2])
copies = sorted(name for name in os.listdir() if name.isdigit())
seen = {copy: {} for copy in copies}
read = subprocess.run([sys.argv[1], *copies], stdout=subprocess.PIPE, text=True)
for line in read.stdout.splitlines() if read.returncode == 0 else ():
    copy, created, over, name = line.split(" ", 3)
    seen[copy][name, "created"] = int(created)
    seen[copy][name, "over"] = int(over)
faults = 0
for before, copy in zip(copies, copies[1:]):
    for what, many in seen[before].items():
        now, last = seen[copy].get(what, 0), seen[copies[-1]].get(what, 0)
        if not many <= now <= last:
            print(f"{copy}: {now} {' '.join(what)}, {many} before, {last} at the end")
            faults += 1
if read.returncode != 0:
    print(read.stdout[-1000:])
print(f"{len(copies)} changes of the profile")
sys.exit(1 if faults or read.returncode != 0 or len(copies) < 100 or not all(seen.values()) else 0)
