#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damaged bindings and attributes through the compiler itself.

Takes lines of the grammar (bindings/, corpus/binding), changes them at random, and
writes them as a bindings file and as attributes of everything an attribute can be
written on; then compiles. The compiler must survive: status 0, or 1 with an error
that says something; no internal error, no signal, 10 s and 2 GB at most.

  mutate.py [--seconds N | --count N] [--seed S] [--found DIR]

What fails is kept in DIR: a source, its bindings and the command.
"""
import argparse
import glob
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
src = os.path.dirname(os.path.dirname(here))
build = os.environ.get("top_builddir", os.getcwd())

# Names in place of those of libraries, so that lines match something.
NAMES = ["start", "work", "later", "stop", "poll_all", "make", "cb_t", "task", "ops", "go",
         "state", "next", "id", "x", "nothing"]
PROGRAM = r"""
struct task { int state; unsigned id : 3; struct task *next; void *data; };
struct ops { struct { void (*go)(struct task *) @A@; int (*poll)(void); } in; void *x; };
typedef void cb_t(struct task *, long) @A@;
typedef int (*step_t)(struct task *, ...) @A@;
@A@ int start(struct task *t, cb_t *cb, void *arg);
@A@ static int work(struct task *t);
extern struct task *make(long size, int flags) @A@;
void later(struct task *t, step_t step @A@, unsigned ms) @A@;
void stop(struct task *);
int poll_all(int, void *, int);
_Complex double odd(struct task t, _Complex double d) @A@;
extern struct ops table[2];
static void done(struct task *t, long n) { t->state = (int)n; t->next = 0; }
static int step(struct task *t, ...) { return t->state == 3 ? 0 : work(t); }
static int work(struct task *t) {
  void inner(void) @A@;
  inner();
  switch (t->state) {
  case 0: t->state = 4; return 1;
  case 1: start(t, done, t->data); return 2;
  }
  table[t->id].in.go(t);
  stop(t->next);
  return t->state = poll_all(1, t, -1);
}
int use(int n) {
  struct task *t = make(n, 4), local = {0};
  later(t, step, 10u);
  work(&local);
  odd(local, 1.0);
  cb_t *f @A@ = done;
  f(t, n);
  step_t s = n ? step : 0;
  return s(t, 1, 2.0, local) + table[1].in.poll();
}
"""


def seeds():
    lines = []
    for path in sorted(glob.glob(src + "/bindings/*.aprof") + glob.glob(here + "/corpus/binding/*")):
        with open(path, errors="replace") as file:
            for line in file:
                line = re.sub(r"(^|\s)#.*", "", line).strip().lstrip("!")
                if line and not line.startswith("header"):
                    lines.append(line)
    return lines


WORDS = ["|", "run", "key=a0", "key=(a0,a1)", "key=ret", "key=self", "key=cur", "key=obj",
         "fn=a1", "fn=later", "ok=ret==0", "when=a0->state&1", "once", "once=a0==1", "multi",
         "pending=1", "polling=2", "ready", "rearm", "root", "names", "worker", "background",
         "due=a2:ms", "label=a0:str,a1", "label=a0:m", "token=a0", "token>a1",
         "value=ret:int", "tier=db", "for=a1", "hand", "span", "label", "request", "how=failed", "call:", "def:", "type:", "async", "create",
         "await", "idle", "blocking", "helper", "switch", "wake", "end", "\"int(void)\""]
BITS = ["a0", "a-1", "a9", "a99999999999", "ret", "->next", "->id", ".state", "*", "(", ")", ",",
        "&", "0", "-1", "0xffffffffffffffff", "9223372036854775808", "NULL", "owner(a0,task,next)",
        "make()", "/", "/.*/", "[", "{1,9}", "\"", "\\", "=", ":", "\xe9", "%s", "#", "'"]


def mutate(rng, line):
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 4])):
        words = line.split(" ")
        at = rng.randrange(len(words))
        kind = rng.randrange(7)
        if kind == 0:
            words[at] = rng.choice(WORDS)
        elif kind == 1:
            words.insert(at, rng.choice(WORDS))
        elif kind == 2 and len(words) > 1:
            del words[at]
        elif kind == 3:
            words[at] = re.sub(r"[A-Za-z_]\w{2,}$", lambda _: rng.choice(NAMES), words[at])
        elif kind == 4:
            cut = rng.randrange(len(words[at]) + 1)
            words[at] = words[at][:cut] + rng.choice(BITS) + words[at][cut:]
        elif kind == 5:
            words[at] = re.sub(r"a-?\d|ret|self|obj", lambda _: rng.choice(BITS), words[at], count=1)
        else:
            words[at] = re.sub(r":.*", lambda _: ":" + rng.choice(NAMES + ["task.state", "ops.in.go",
                               "ops.in.poll", "task.state=4", "/s.*/"]), words[at], count=1)
        line = " ".join(words)
    return line[:4000].replace("\n", " ")


def attribute(rng, line):
    line = re.sub(r"\b(call|def|type|icall|store):\S*", lambda m: rng.choice(["", m[0], "def:"]), line)
    text = line.replace("\\", "\\\\").replace('"', '\\"')
    return '__attribute__((aprof("%s")))' % text


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def fault(run):
    if run.returncode not in (0, 1):
        return "status %d" % run.returncode
    if b"internal compiler error" in run.stderr or b"confused by earlier" in run.stderr:
        return "internal error"
    if run.returncode == 1 and not re.search(rb"error: \S", run.stderr):
        return "no message"
    return None


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--count", type=int, default=None)
    options.add_argument("--seed", type=int, default=None)
    options.add_argument("--found", default=".")
    args = options.parse_args()
    seed = args.seed if args.seed is not None else int(time.time())
    rng = random.Random(seed)
    majors = os.environ.get("GCC_MAJORS", "").split()
    compilers = [c for m in majors for c in ("gcc-" + m, "g++-" + m)]
    if not majors:
        compilers = ["gcc"]
    lines = seeds()
    plugin = build + "/plugin/aprof.so"
    found = inputs = taken = 0
    end = time.monotonic() + args.seconds
    with tempfile.TemporaryDirectory() as work:
        os.environ["TMPDIR"] = work
        while (inputs < args.count if args.count else time.monotonic() < end) or inputs < len(compilers):
            source = re.sub("@A@", lambda _: attribute(rng, mutate(rng, rng.choice(lines)))
                            if rng.random() < 0.1 else "", PROGRAM)
            bindings = "\n".join(mutate(rng, rng.choice(lines)) for _ in range(rng.choice([0, 0, 1, 1, 2, 4])))
            compiler = compilers[inputs % len(compilers)]
            name = work + "/fuzzed." + ("cc" if "+" in compiler else "c")
            if name.endswith("cc"):
                source = source.replace("_Complex double d", "double _Complex d")
            with open(name, "w", encoding="latin-1") as file:
                file.write(source)
            with open(work + "/fuzzed.aprof", "w", encoding="latin-1") as file:
                file.write(bindings + "\n")
            command = [compiler, "-w", rng.choice(["-O0", "-O2"]), "-g", "-S", "-o", "/dev/null",
                       "-fpermissive" if "+" in compiler else "-std=gnu11", "-fplugin=" + plugin,
                       "-fplugin-arg-aprof-bindings=" + work + "/fuzzed.aprof", name]
            inputs += 1
            try:
                run = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                     timeout=10, preexec_fn=limits, env=dict(os.environ, LC_ALL="C"))
                wrong = fault(run)
                taken += run.returncode == 0
                said = run.stderr.decode("latin-1")
            except subprocess.TimeoutExpired:
                wrong, said = "over 10 s", ""
            if wrong:
                found += 1
                stem = "%s/compile-%d-%d" % (args.found, seed, inputs)
                os.makedirs(args.found, exist_ok=True)
                for suffix, text in ((os.path.splitext(name)[1], source), (".aprof", bindings),
                                     (".txt", "%s: %s\n%s" % (wrong, " ".join(command), said))):
                    with open(stem + suffix, "w", encoding="latin-1") as file:
                        file.write(text + "\n")
                print("%s: %s.txt\n%s" % (wrong, stem, said[-2000:]))
    print("%d inputs, %d of them compiled, %d failures (--seed %d)" % (inputs, taken, found, seed))
    return found != 0 or inputs == 0


if __name__ == "__main__":
    sys.exit(main())
