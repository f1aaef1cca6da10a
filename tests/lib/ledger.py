# SPDX-License-Identifier: MIT
"""Checks totals (totals.py close): against the JSON schema, and by the ledger's equations.

Prints a line for each thing wrong. The equations are those of aprof-totals(5), to the nanosecond.
"""
import os

import jsonschema

from totals import load

SCHEMA = os.path.join(os.path.dirname(__file__), "../../doc/aprof.totals-2.schema.json")
faults = 0
ahead = False  # histograms may be: other threads were at work while they were copied


def fault(where, what):
    global faults
    faults += 1
    print(f"{where}: {what}")


def equal(where, what, left, right):
    if left != right:
        fault(where, f"{what}: {left} is not {right}")


def histogram(where, name, h, count):
    if h is None:
        return
    kept = sum(c for _, c in h["buckets"])
    if not (ahead and kept >= count):
        equal(where, f"counts of {name}", kept, count)
    lowers = [lower for lower, _ in h["buckets"]]
    if lowers != sorted(set(lowers)):
        fault(where, f"buckets of {name} do not rise")
    points = [h[p] for p in ("p50", "p90", "p95", "p99", "p999", "max")]
    if points != sorted(points):
        fault(where, f"percentiles of {name} do not rise: {points}")


def waits_for(a):
    if a["background"]:
        return "new_work"
    return "child" if a["kind"] in ("call", "run", "function") else "outside"


def function(where, f, paths, exact):
    ended = f["done"] + f["failed"] + f["cancelled"]
    equal(where, "created", f["created"], ended + f["detached"] + f["live"])
    if f["wall_ns"] is None:
        equal(where, "not known", (f["queued_ns"], f["exec_ns"], f["instrumented"]),
              (None, None, False))
    else:
        equal(where, "wall", f["wall_ns"], f["queued_ns"] + f["exec_ns"] + f["waiting_ns"])
    equal(where, "waiting", f["waiting_ns"], sum(a["waiting_ns"] + a["open_ns"] for a in f["awaits"]))
    for name in ("created", "done", "live", "slices", "exec_ns", "queued_ns", "waiting_ns",
                 "wall_ns"):
        equal(where, f"{name} over its paths", f[name] or 0, sum(p[name] or 0 for p in paths))
    spans = [p for p in paths if p.get("kind") == "span"]
    equal(where, "children_exec_ns over its paths without its spans", f["children_exec_ns"] or 0,
          sum(p["children_exec_ns"] or 0 for p in paths if p not in spans)
          - sum(p["exec_ns"] or 0 for p in spans))
    exact = exact and not f["shed"]
    if exact:
        histogram(where, "exec", f["exec"], ended)
        histogram(where, "wall", f["wall"], ended)
        histogram(where, "slice", f["slice"], f["slices"])
    late = f["lateness"] or {"count": 0, "total_ns": 0}
    equal(where, "lateness", (late["count"], late["total_ns"]),
          (sum(w["count"] for w in f["wakers"] if w["clock"]),
           sum(w["queued_ns"] for w in f["wakers"] if w["clock"])))
    if sum(w["queued_ns"] for w in f["wakers"]) > (f["queued_ns"] or 0):
        fault(where, "more queued after wakers than in all")
    for a in f["awaits"]:
        place = f"{where} at {a['file']}:{a['line']}"
        if a["immediate"] > a["count"]:
            fault(place, "more immediate than in all")
        equal(place, "waiting, open and all", a["all_ns"], a["waiting_ns"] + a["open_ns"])
        equal(place, "what it waits for", a["waits_for"], waits_for(a))
        if exact:
            histogram(place, "waiting", a["waiting"], a["count"] - a["immediate"])


def check(path, schema):
    try:
        totals = load(path)
    except (OSError, ValueError) as error:
        fault(path, error)
        return
    for error in jsonschema.Draft7Validator(schema).iter_errors(totals):
        fault(path, f"{'/'.join(map(str, error.path))}: {error.message[:200]}")
        return
    health = totals["health"]
    # Without memory a histogram is not kept; those of a busy process are copied last.
    global ahead
    ahead = totals["process"]["reason"] == "exit" and len(totals["threads"]) > 1
    exact = health["consistent"] and not health["lost_histograms"] and not health["torn_threads"]
    exact = exact and totals["process"]["reason"] not in ("request", "signal")
    functions, tree = totals["functions"], totals["tree"]
    if (totals["process"]["measured_ns"] or 0) > totals["process"]["elapsed_ns"]:
        fault(path, "more measured than there was")
    for live in totals["live"]:
        if live["due_in_ns"] and live["state"] != "waiting":
            fault(path, f"{live['function']} is due, and does not wait")
    for thread in totals["threads"]:
        equal(f"{path}: thread {thread['tid']}", "elapsed", thread["elapsed_ns"],
              thread["exec_ns"] + thread["idle_ns"] + thread["other_ns"])
    threads = {(thread["process"], thread["block"]): thread for thread in totals["threads"]}
    for loop in totals["loop"]:
        thread = threads[loop["process"], loop["block"]]
        where = f"{path}: loop of {loop['tid']}"
        equal(where, "elapsed", loop["elapsed_ns"], thread["elapsed_ns"])
        if thread["idle_ns"]:
            equal(where, "busy", loop["busy_ns"], thread["elapsed_ns"] - thread["idle_ns"])
            if abs(loop["busy"] * loop["elapsed_ns"] - loop["busy_ns"]) > 1e-4 * loop["elapsed_ns"]:
                fault(where, "the share that it is busy is another")
        else:
            equal(where, "busy without a poller", (loop["busy_ns"], loop["busy"]), (None, None))
    equal(path, "longest hold of all loops", max((x["hold_max_ns"] or 0 for x in totals["loop"]),
          default=0), max((f["slice_max_ns"] or 0 for f in functions), default=0))
    # The cost of an event is rounded to a ns there, the share to 0.0001 %.
    for where, x in [("all", health)] + [(t["tid"], t) for t in totals["threads"]]:
        of = [x] if x is not health else totals["threads"]
        if x["overhead_percent"] is None:
            continue
        known = [t for t in totals["threads"] if t["overhead_percent"] is not None] if x is health else of
        worked = sum(thread["worked_ns"] for thread in known)
        loops = sum(thread["cost_ns"] for thread in known)
        equal(path, f"cost of {where}", x["cost_ns"], sum(thread["cost_ns"] for thread in of))
        if abs(x["overhead_percent"] / 100 * worked - loops) > 1e-6 * worked + 1:
            fault(path, f"overhead of {where}: {x['overhead_percent']} %")
        alike = not totals["governed"] and totals["process"]["reason"] != "merged"
        if alike and x["cost_ns"] < x["events"] * (health["event_cost_least_ns"] - 1):
            fault(path, f"cost of {where} is less than that of its events")
    for thread in totals["threads"]:
        shed = thread["shed"]
        equal(path, "governed threads", shed is None, totals["governed"] is None)
        if shed and totals["process"]["epoch"] < 3:
            equal(path, "events over the steps", sum(s["events"] for s in shed["steps"]),
                  thread["events"])
    placed = {}
    if any(m["kind"] in ("await", "end", "wake", "switch", "before") for m in totals["misses"]):
        fault(path, "what may be all right is a miss")
    for miss in totals["misses"]:
        placed[miss["kind"]] = placed.get(miss["kind"], 0) + miss["count"]
    missed = sum(placed.get(k, 0) for k in ("run", "busy", "resume", "leave", "unseen", "current",
                                            "broken"))
    if missed > health["missed_events"] or placed.get("reused", 0) > health["reused_keys"]:
        fault(path, f"more misses than missed events: {placed}")
    for name in ("missed_events", "reused_keys"):
        equal(path, name, health[name], sum(thread[name] for thread in totals["threads"]))
    for i, f in enumerate(functions):
        paths = [n for n in tree if n["function_index"] == i and "function" in n]
        function(f"{path}: {f['name']}", f, paths, exact)
    by_id = {n["id"]: n for n in tree}
    beneath = dict.fromkeys(by_id, 0)
    for n in sorted(tree, key=lambda n: -n["id"]):
        if n["parent"] is None:
            continue
        if n["parent"] not in by_id or n["parent"] >= n["id"]:
            fault(path, f"path {n['id']} has no parent before it")
        elif "function" in n:
            beneath[n["parent"]] += beneath[n["id"]] + (n["exec_ns"] or 0)
    for n in tree:
        if "function" in n:
            equal(f"{path}: path {n['id']}", "children_exec", n["children_exec_ns"],
                  beneath[n["id"]])
    equal(path, "exec of functions and threads", sum(f["exec_ns"] or 0 for f in functions),
          sum(t["exec_ns"] for t in totals["threads"]))
    equal(path, "live futures", sum(f["live"] for f in functions),
          sum(e["count"] for e in totals["live"]))


def check_all(paths):
    """Checks each file; 1 if anything is wrong, else 0."""
    schema = load(SCHEMA)
    for path in paths:
        check(path, schema)
    return 1 if faults else 0
