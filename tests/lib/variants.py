#!/usr/bin/python3 -B
# SPDX-License-Identifier: MIT
"""Totals made from those of a true run, a.json here: bad.json with hostile names, more.json with
more time (of what: more.txt), none.json with none, many.json with 20 000 paths."""
import copy, json, sys
t = json.load(open("a.json"))
def write(name, t): json.dump(t, open(name, "w"))
def number(n): return n if isinstance(n, int) else 0

bad = copy.deepcopy(t)
names = ["</title></svg><script>alert(1)</script>", "]]><!--&lt;\u0001\u202e\ufffe\x1b[2J\"'",
         "a" * 5000, "\U0001f600 \u5904\u7406 & co", "x\" onload=\"alert(1)"]
for i, f in enumerate(bad["functions"]):
    f["name"] = names[i % len(names)]
    f["file"] = names[(i + 1) % len(names)]
for i, p in enumerate(bad["tree"]):
    if "callee" in p:
        p["callee"] = names[i % len(names)]
    else:
        p["function"] = bad["functions"][p["function_index"]]["name"]
bad["process"]["name"] = names[0]
write("bad.json", bad)

# The path with the most exec has twice of it, and its function as much more.
more = copy.deepcopy(t)
p = max((p for p in more["tree"] if p.get("exec_ns")), key=lambda p: p["exec_ns"])
f = more["functions"][p["function_index"]]
extra = p["exec_ns"]
for o in (p, f):
    o["exec_ns"] += extra
    o["wall_ns"] += extra
up = p["parent"]
by_id = {p["id"]: p for p in more["tree"]}
while up is not None:
    o = by_id[up]
    o["children_exec_ns"] += extra
    more["functions"][o["function_index"]]["children_exec_ns"] += extra
    up = o["parent"]
thread = max(more["threads"], key=lambda x: x["exec_ns"])
thread["exec_ns"] += extra
thread["elapsed_ns"] += extra
for l in more["loop"]:
    if l["block"] == thread["block"]:
        l["elapsed_ns"] = thread["elapsed_ns"]
write("more.json", more)
print(f["name"], extra, file=open("more.txt", "w"))

none = copy.deepcopy(t)
for key in ("functions", "tree", "threads", "loop", "live", "misses", "findings"):
    none[key] = []
write("none.json", none)

many = copy.deepcopy(none)
f = next(f for f in t["functions"] if f["awaits"])
path = next(p for p in t["tree"] if "await" not in p)
zero = lambda o: {k: 0 if isinstance(v, int) and not isinstance(v, bool) else v for k, v in o.items()}
exec_ns = 0
many["functions"] = []
for i in range(200):
    g = zero(copy.deepcopy(f))
    g.update(name="handle_request_%d" % i, line=i + 1, file="server/module.c", awaits=[], wakers=[],
             blocking=[], process=0 if f["process"] is not None else None)
    many["functions"].append(g)
for i in range(20000):
    p = zero(copy.deepcopy(path))
    own = 1000 * (1 + i * 7919 % 1000)
    p.update(id=i + 1, parent=None if i < 50 else i * 2654435761 % (i // 2) + 1,
             function_index=i % 200, function="handle_request_%d" % (i % 200),
             created=1, done=1, exec_ns=own, wall_ns=own)
    many["tree"].append(p)
    g = many["functions"][i % 200]
    for k, v in (("created", 1), ("done", 1), ("exec_ns", own), ("wall_ns", own)):
        g[k] += v
    exec_ns += own
for p in reversed(many["tree"]):
    if p["parent"]:
        q = many["tree"][p["parent"] - 1]
        q["children_exec_ns"] += p["exec_ns"] + p["children_exec_ns"]
for p in many["tree"]:
    many["functions"][p["function_index"]]["children_exec_ns"] += p["children_exec_ns"]
th = zero(copy.deepcopy(thread))
th.update(tid=thread["tid"], exec_ns=exec_ns, elapsed_ns=exec_ns, shed=None)
many["threads"] = [th]
write("many.json", many)
