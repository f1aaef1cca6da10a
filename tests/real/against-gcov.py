#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs that totals count against calls that gcov counted, in the same process.

    against-gcov.py GCDA-DIR TOTALS...

GCDA-DIR holds the .gcda files that the program left, each beside its .gcno. For
every callback in the totals that gcov knows, the slices (runs that ended) must
be the calls, but for one whose last run was still going on when the program
ended. Prints a row for each function and what the totals say of their health;
exit status 1 if a row does not agree.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys

STATES = ("created", "done", "failed", "cancelled", "detached", "live", "slices")
NOTED = ("lost_futures", "lost_events", "missed_events", "reused_keys", "nested_events", "torn_threads")


def calls_of(directory):
    """How often gcov saw each function entered: {(file, function): calls}."""
    calls = collections.Counter()
    for data in sorted(pathlib.Path(directory).rglob("*.gcda")):
        shown = subprocess.run(["gcov", "--json-format", "--stdout", "-o", str(data.parent), str(data)],
                               capture_output=True, text=True, check=True, cwd=data.parent)
        for document in shown.stdout.splitlines():
            for file in json.loads(document)["files"]:
                for function in file["functions"]:
                    name = os.path.basename(file["file"]), function["name"]
                    calls[name] += function["execution_count"]
    return calls


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    calls = calls_of(os.path.abspath(sys.argv[1]))
    sums = collections.defaultdict(collections.Counter)
    health = collections.Counter()
    consistent = True
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            totals = json.load(file)
        consistent &= totals["health"]["consistent"]
        for name in NOTED:
            health[name] += totals["health"][name]
        for function in totals["functions"]:
            key = os.path.basename(function["file"] or "?"), function["name"]
            for state in STATES:
                sums[key][state] += function[state]
    wrong = 0
    print(f"{'function':<28} {'created':>9} {'done':>9} {'cancelled':>9} {'live':>5} {'runs':>9} {'gcov':>9}")
    for key, sum_ in sorted(sums.items()):
        seen = calls.get(key)
        alive = min(sum_["live"], 1)
        agrees = seen is None or sum_["slices"] <= seen <= sum_["slices"] + alive
        wrong += not agrees
        print(f"{key[1]:<28} {sum_['created']:>9} {sum_['done']:>9} {sum_['cancelled']:>9} "
              f"{sum_['live']:>5} {sum_['slices']:>9} {'-' if seen is None else seen:>9}"
              f"{'' if agrees else '  <-- differs'}")
    noted = {name: count for name, count in health.items() if count}
    print("health:", noted or "nothing lost", "" if consistent else "INCONSISTENT")
    return wrong > 0 or not consistent


if __name__ == "__main__":
    sys.exit(main())
