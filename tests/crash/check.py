#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Checks the totals of a killed process against what it had counted itself.

    check.py TOTALS SEEN

Its counts may have what the event in flight of each thread is about, or not yet: nothing that
was recorded before is missing. Its equations hold in any case (tests/lib/ledger.py has those of one function; here are those across).
Prints a line for each thing wrong; exits 1 if there was one.
"""
import json
import struct
import sys

faults = 0


def fault(what):
    global faults
    faults += 1
    print(f"{sys.argv[1]}: {what}")


with open(sys.argv[1], encoding="utf-8") as file:
    totals = json.load(file)
with open(sys.argv[2], "rb") as file:
    words = struct.unpack("512Q", file.read(4096))
WORDS = 32  # of each thread: struct seen of target.c
BODIES = ("leaf", "call", "run", "step", "request") + tuple(f"path{i}" for i in range(6))
NONE = dict.fromkeys(("created", "done", "live"), 0)
functions = {f["name"]: f for f in totals["functions"]}
threads = totals["threads"]
health = totals["health"]
for name, of, word in (
    ("call", "done", 0),
    ("run", "done", 1),
    ("keep", "created", 2),
    ("keep", "done", 3),
    ("request", "done", 4),
):
    counted = [words[word + WORDS * i] for i in range(3)]
    found = functions.get(name, NONE)[of]
    if not sum(counted) <= found <= sum(counted) + len(threads):
        fault(f"{name}: {found} {of}, the program had seen {counted}")
# Bodies count themselves, inside: who calls as well as who is called.
for number, name in enumerate(BODIES):
    entered, left = (sum(words[5 + at + number + WORDS * i] for i in range(3))
                     for at in (0, len(BODIES)))
    f = functions.get(name, NONE)
    if not entered <= f["created"] <= entered + len(threads):
        fault(f"{name}: {f['created']} created, {entered} entered")
    if not left - len(threads) <= f["done"] <= left:
        fault(f"{name}: {f['done']} done, {left} left")
    if f["live"] != f["created"] - f["done"]:
        fault(f"{name}: {f['live']} live of {f['created']}, {f['done']} of them done")
if health["torn_threads"] > len(threads):
    fault(f"{health['torn_threads']} torn of {len(threads)} threads")
for count in ("lost_futures", "lost_events", "missed_events", "nested_events", "reused_keys"):
    if health[count]:
        fault(f"{count}: {health[count]}")
for name in functions:
    if name not in BODIES + ("keep",):
        fault(f"{name} is no function of the program")
exec_of_functions = sum(f["exec_ns"] for f in totals["functions"])
exec_of_threads = sum(t["exec_ns"] for t in threads)
if exec_of_functions != exec_of_threads:
    fault(f"exec: {exec_of_functions} ns over functions, {exec_of_threads} over threads")
sys.exit(1 if faults else 0)
