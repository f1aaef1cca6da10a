#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damaged profiles, dead and live: what `aprof dump` makes of one, `aprof report` takes.

  damage.py [--count N] [--seed S] [--keep DIR] APROF FILE|PID...

Of each target N copies have a few numbers changed (of a live process, given by its PID, the profile
itself, which is mended afterwards). Then a dump that ends with 0 has written totals that a report
takes, and the report of the profile is printed, too; any other ends with 1 and one line, and has
written nothing. None is ended by a signal, takes over LIMIT bytes of memory or SECONDS. The same S
makes the same damage. Cases that fail stay in DIR.
"""
import argparse, glob, os, random, resource, shutil, subprocess, sys, tempfile

SECONDS, LIMIT = 20, 2 << 30
EXTREMES = (0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 2**64 - 1, 2**63, 2**63 - 1, 2**62, 4096, 2**32)


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))


def aprof(arguments):
    try:
        done = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS,
                              preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return "took too long", b""
    return done.returncode, done.stderr


def damage(good, rng):
    """Pairs of offset and bytes: mostly where something is written, and next to it."""
    words = [at for at in range(0, len(good) - 8, 8) if good[at:at + 8] != bytes(8)]
    changes = []
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        at = rng.choice(words) + 8 * rng.choice((0, 0, 0, 0, -1, 1, 2))
        width = rng.choice((8, 8, 4, 4, 2, 1))
        at = max(0, min(at + rng.randrange(8 // width) * width, len(good) - width))
        value = int.from_bytes(good[at:at + width], "little")
        how = rng.randrange(5)
        if how == 0:
            value ^= 1 << rng.randrange(8 * width)
        elif how == 1:
            value = rng.choice(EXTREMES)
        elif how == 2:
            value += rng.choice((-1, 1, 8, 64, -8))
        elif how == 3:
            value = rng.getrandbits(8 * width)
        else:
            other = rng.choice(words)
            value = int.from_bytes(good[other:other + width], "little")
        changes.append((at, (value % (1 << 8 * width)).to_bytes(width, "little")))
    return changes


def write(path, changes):
    with open(path, "r+b", buffering=0) as file:
        for at, new in changes:
            file.seek(at)
            file.write(new)


def fault(command, target, out):
    """What is wrong with what the command does; None: nothing. And whether there were totals."""
    if os.path.exists(out):
        os.unlink(out)
    status, said = aprof([command, "dump", "-o", out, target])
    if status == 0:
        reported, why = aprof([command, "report", out])
        if reported != 0:
            return "dump ends with 0, its report with %s: %s" % (reported, why.decode(errors="replace")), True
        if target.isdigit():
            return None, True
        reported, why = aprof([command, "report", target])
        return (reported != 0 and "dump ends with 0, the profile's report with %s: %s" %
                (reported, why.decode(errors="replace")) or None), True
    if status != 1:
        return "dump ends with %s: %s" % (status, said.decode(errors="replace")), False
    if os.path.exists(out):
        return "dump ends with 1 and writes totals", False
    if said.count(b"\n") != 1 or not said.startswith(b"aprof: "):
        return "dump ends with 1 and says %r" % said, False
    return None, False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", default=".")
    parser.add_argument("aprof")
    parser.add_argument("target", nargs="+")
    args = parser.parse_args()
    failed = made = 0
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "totals.json")
        for target in args.target:
            path, live = target, target.isdigit()
            if live:
                path = next(filter(lambda p: p.endswith(".aprof"),
                                   map(os.readlink, glob.glob("/proc/%s/fd/*" % target))))
            with open(path, "rb") as file:
                good = file.read()
            good = good.rstrip(b"\0")
            copy = path if live else os.path.join(scratch, "damaged.aprof")
            rng = random.Random("%d %s" % (args.seed, os.path.basename(target) if not live else "live"))
            for number in range(args.count):
                changes = damage(good, rng)
                if not live:
                    with open(copy, "wb") as file:
                        file.write(good)
                        file.truncate(os.path.getsize(path))
                write(copy, changes)
                wrong, totals = fault(args.aprof, target if live else copy, out)
                made += totals
                if wrong:
                    failed += 1
                    kept = os.path.join(args.keep, "%s-%d-%d.aprof" % (os.path.basename(target), args.seed, number))
                    shutil.copy(copy, kept)
                    print("%s: %s" % (kept, wrong.strip()))
                if live:
                    write(copy, [(at, good[at:at + len(new)]) for at, new in changes])
    print("%d damaged profiles, totals of %d, %d wrong" % (args.count * len(args.target), made, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
