#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Checks what `steps` has copied: no future that was there before is missing.

    steps.py APROF DIRECTORY

Of each function what was created, and what is over, never falls from one copy to the next, and
nothing is counted twice: both rise to what they are at the end. Prints a line for each thing wrong;
exits 1 if there was one.
"""
import json
import os
import subprocess
import sys


def counts(copy):
    out = subprocess.run([sys.argv[1], "dump", "-o", "/dev/stdout", copy], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    found = {}
    for f in json.loads(out)["functions"]:
        found[f["name"], "created"] = f["created"]
        found[f["name"], "over"] = f["done"] + f["failed"] + f["cancelled"]
    return found


copies = sorted(name for name in os.listdir(sys.argv[2]) if name.isdigit())
seen = [counts(os.path.join(sys.argv[2], name)) for name in copies]
faults = 0
for number in range(1, len(seen)):
    for what, many in seen[number - 1].items():
        now, last = seen[number].get(what, 0), seen[-1].get(what, 0)
        if not many <= now <= last:
            print(f"{copies[number]}: {now} {' '.join(what)}, {many} before, {last} at the end")
            faults += 1
print(f"{len(seen)} changes of the profile")
sys.exit(1 if faults or len(seen) < 100 else 0)
