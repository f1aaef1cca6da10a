#!/usr/bin/python3
"""Checks the totals of a killed process against what it had counted itself.

    check.py TOTALS SEEN

Its counts may lack, or exceed, the event in flight of each thread; its equations hold
in any case (check-totals.py has those of one function; here are those across).
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
    counted = [words[word + 8 * i] for i in range(3)]
    found = functions[name][of] if name in functions else 0
    # An end under way has taken its future from the live and not yet counted it as done.
    least = sum(counted) - (health["torn_threads"] if of == "created" else 0)
    if not least <= found <= sum(counted) + len(threads):
        fault(f"{name}: {found} {of}, the program had seen {counted}")
if health["torn_threads"] > len(threads):
    fault(f"{health['torn_threads']} torn of {len(threads)} threads")
for count in ("lost_futures", "lost_events", "missed_events", "nested_events", "reused_keys"):
    if health[count]:
        fault(f"{count}: {health[count]}")
for f in totals["functions"]:
    most = 2 * len(threads)
    if f["name"] in ("request", "step"):
        most = 16
    if f["name"] != "keep" and f["live"] > most:
        fault(f"{f['name']}: {f['live']} live")
exec_of_functions = sum(f["exec_ns"] for f in totals["functions"])
exec_of_threads = sum(t["exec_ns"] for t in threads)
if exec_of_functions != exec_of_threads:
    fault(f"exec: {exec_of_functions} ns over functions, {exec_of_threads} over threads")
sys.exit(1 if faults else 0)
