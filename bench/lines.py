#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the cache lines that events touch, by a memory trace of valgrind's lackey.

    lines.py PROGRAM TRACE REGIONS SYMBOLS

TRACE is what `valgrind --tool=lackey --trace-mem=yes PROGRAM` printed, REGIONS what PROGRAM did
(bench/regions.c), SYMBOLS the names of the runtime's functions. Between two calls of mark() the
program is in a loop around one event, whose turns begin where one function is called. A turn's
lines of each kind are counted; printed is for each event and kind the median of its turns. Each
region and each function is taken to begin at a line, so that it does not matter where the linker
has put it.
"""

import bisect
import collections
import statistics
import subprocess
import sys

# In the order of main() in instructions.c: the event, and what each turn of its loop calls.
EVENTS = [("pair", "rest"), ("key", "turn"), ("call", "leaf"), ("stack-life", "coroutine"),
          ("key-life", "request"), ("woken-life", "watch"), ("stopped-life", "watch"),
          ("span", "plain_span"), ("member-call", "leaf"), ("tier", "look_up"),
          ("member-life", "starts"), ("request", "serve")]
LINE = 64


def functions(program, wanted):
    """Start, end and name of the wanted functions, by address; address by name of all."""
    found, start_of = [], {}
    names = subprocess.run(["nm", "-S", "--defined-only", program], check=True,
                           capture_output=True, text=True).stdout
    for row in names.splitlines():
        fields = row.split()
        if len(fields) == 4 and fields[2] in "tTwW":
            start, size, name = int(fields[0], 16), int(fields[1], 16), fields[3]
            start_of[name] = start
            if name in wanted:
                found.append((start, start + size, name))
    return sorted(found), start_of


def regions(path):
    rows = [line.split() for line in open(path, encoding="utf-8") if line.startswith("region ")]
    return [(row[1], int(row[2], 16), int(row[3], 16)) for row in rows]


class Whose:
    """Which line of which kind an address belongs to; None: the program's."""

    def __init__(self, code, data):
        self.code, self.data, self.known = code, data, {}
        self.starts = [start for start, _, _ in code]

    def code_line(self, address):
        at = bisect.bisect_right(self.starts, address) - 1
        if at < 0 or address >= self.code[at][1]:
            return None
        return "code", self.starts[at] + (address - self.starts[at]) // LINE * LINE

    def data_line(self, address):
        for kind, begin, end in self.data:
            if begin <= address < end:
                return kind, begin + (address - begin) // LINE * LINE
        return None

    def lines(self, letter, address, size):
        """Those of one access."""
        find = self.code_line if letter == "I" else self.data_line
        for byte in {address, address + size - 1}:
            key = letter == "I", byte
            if key not in self.known:
                self.known[key] = find(byte)
            if self.known[key] is not None:
                yield self.known[key]


def turns(trace, mark, starts):
    """The accesses of each turn: number of the span between marks, and a list."""
    span, turn, before = 0, None, -1
    for row in trace:
        if row[2:3] != " " and row[0:1] != "I":
            continue
        letter = row[1] if row[0] == " " else "I"
        try:
            where, size = row[3:].split(",")
            address, size = int(where, 16), int(size)
        except ValueError:
            continue
        if letter == "I" and address == mark:
            span, turn = span + 1, None
        elif letter == "I" and span % 3 == 2 and address == starts.get(span // 3):
            if turn is not None:
                yield span // 3, turn
            turn = []
        if turn is not None:
            turn.append((letter, address, size))


def main():
    program, trace, where, symbols = sys.argv[1:]
    wanted = set(open(symbols, encoding="utf-8").read().split())
    code, start_of = functions(program, wanted)
    whose = Whose(code, regions(where))
    starts = {i: start_of[name] for i, (_, name) in enumerate(EVENTS)}
    counts = collections.defaultdict(list)
    with open(trace, encoding="utf-8", errors="replace") as rows:
        for event, accesses in turns(rows, start_of["mark"], starts):
            lines = {line for access in accesses for line in whose.lines(*access)}
            counts[event].append(collections.Counter(kind for kind, _ in lines))
    for event, (name, _) in enumerate(EVENTS):
        kinds = sorted({kind for count in counts[event] for kind in count})
        median = {kind: statistics.median_low(count[kind] for count in counts[event])
                  for kind in kinds}
        data = [sum(count.values()) - count["code"] for count in counts[event]]
        print(name, "data", statistics.median_low(data) if data else 0)
        for kind in kinds:
            if median[kind]:
                print(name, kind, median[kind])


main()
