#!/usr/bin/python3 -BS
# SPDX-License-Identifier: MIT
"""Reads totals for tests, and what else aprof writes as JSON. No test has a reader of its own.

    totals.py value FILE... EXPRESSION     prints the expression's values, for each file
    totals.py edit FILE STATEMENTS         prints the JSON that the statements make of the file
    totals.py close FILE...                checks totals: schema and equations (ledger.py)
    totals.py conform FILE...              checks JSON against the schema that it names, which must
                                           have each of its members
    totals.py serve SOCKET PID             does these for who asks there (ask.c), until PID has ended:
                                           most of what one of them takes is to start Python

FILE may be -, standard input. Expressions and statements are Python's. In them `t` is the
document, whose members are attributes too (t.health.lost_events), `f` its functions by name
(f.handle_upload.done): a name that no function has, or several have, is an error; and `file` is
what the file is called. Beside these:

    where(rows, **members)   the rows whose members are these: where(t.live, state="waiting")
    one(rows, **members)     the only such row, an error if there are none or more:
                             one(f.handle_upload.awaits, line=61)
    by(rows, member)         the rows by that member, as `f` has functions by name
    pick(row, "names")       these members of it, in order
    total(rows, "name")      the sum of this member over the rows; null adds nothing

Values stand on one line, a tuple on a line of its own. Text is printed as it is, all else as JSON.
An error is printed where the values would be, and ends with 1: no comparison takes it for "".

In Python for two reasons: JSON's integers stay exact (jq has doubles, and so loses nanoseconds
since 1970), and the schema's checker is Python's, so that no second language reads totals.
"""
import functools
import json
import os
import select
import signal
import site
import socket
import sys
import traceback


class Members(dict):
    """A JSON object, whose members are attributes as well."""

    def __getattr__(self, name):
        return self[name]

    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__


class Rows(Members):
    """Rows by a member; asking for one that is none or several is an error."""

    def __getitem__(self, key):
        rows = self.get(key, ())
        if len(rows) != 1:
            raise LookupError(f"{len(rows)} rows for {key}, of {', '.join(map(str, self))}")
        return rows[0]


def load(file):
    """The document in the file of this name, or of - in standard input."""
    if file == "-":
        return json.load(sys.stdin, object_hook=Members)
    with open(file, encoding="utf-8") as stream:
        return json.load(stream, object_hook=Members)


def by(rows, member):
    found = Rows()
    for row in rows:
        found.setdefault(row[member], []).append(row)
    return found


def where(rows, **members):
    return [row for row in rows if all(row[name] == value for name, value in members.items())]


def one(rows, **members):
    found = where(rows, **members)
    if len(found) != 1:
        raise LookupError(f"{len(found)} rows with {members}, of {len(rows)}")
    return found[0]


def pick(row, names):
    return [row[name] for name in names.split()]


def total(rows, name):
    return sum(row[name] or 0 for row in rows)


def names_in(file):
    """What expressions know."""
    document = load(file)
    names = {"t": document, "file": file, "by": by, "where": where, "one": one, "pick": pick, "total": total}
    functions = document.get("functions", ()) if isinstance(document, dict) else ()
    if all("name" in function for function in functions):
        names["f"] = by(functions, "name")
    return names


def text(value):
    if isinstance(value, tuple):
        return " ".join(map(text, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def show(values):
    line = [text(value) for value in values if not isinstance(value, tuple)]
    if line:
        print(*line)
    for value in values:
        if isinstance(value, tuple):
            print(text(value))


def schema_of(file):
    return load(os.path.join(os.path.dirname(__file__), "../../doc", file))


def meant(schema, document):
    """The schema with what it refers to, here or in another one, in its place; and objects that are
    all of several as one."""
    if isinstance(schema, list):
        return [meant(part, document) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        file, _, path = schema["$ref"].partition("#/")
        document = schema_of(file) if file else document
        return meant(functools.reduce(dict.get, path.split("/") if path else [], document), document)
    parts = {name: meant(part, document) for name, part in schema.items()}
    for part in parts.pop("allOf", ()):
        parts["type"] = part["type"]
        parts["properties"] = {**parts.get("properties", {}), **part["properties"]}
        parts["required"] = parts.get("required", []) + part["required"]
    return parts


def closed(schema):
    """The schema, which lets members be added, without that."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {name: closed(part) for name, part in schema.items()}
    if isinstance(parts.get("properties"), dict) and "type" in parts:
        parts.setdefault("additionalProperties", False)
    return parts


def conform(files):
    """Prints what in the files is not as their schemas say; 1 if anything is."""
    import jsonschema
    faults = 0
    for file in files:
        document = load(file)
        name = document["schema"].replace("/", "-") + ".schema.json"
        schema = closed(meant(schema_of(name), schema_of(name)))
        for error in jsonschema.Draft7Validator(schema).iter_errors(document):
            print(f"{file}: {'/'.join(map(str, error.path))}: {error.message[:200]}")
            faults += 1
    return 1 if faults else 0


@functools.lru_cache
def ledger():
    site.main()  # the checker of schemas is a package: looking for those takes its time
    import ledger as found
    return found


def answer(asked, message, files):
    """Does what a message asks, as the process that sent it would."""
    for number, file in enumerate(files):
        os.dup2(file, number)
    status = 1
    try:
        directory, *arguments = message.decode(errors="surrogateescape").split("\0")[:-1]
        os.chdir(directory)
        status = main(arguments)
        sys.stdout.flush()
    except BaseException:  # whatever it is: the test fails, and shows it
        traceback.print_exc()
    asked.send(bytes([status]))
    os._exit(status)


def serve(path, pid):
    """Each who asks is answered by a process of its own, which has all in memory already."""
    ended = os.pidfd_open(pid)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(f"{path}.{os.getpid()}")
    listening.listen(64)
    os.rename(f"{path}.{os.getpid()}", path)
    if os.fork():
        os._exit(0)  # who waits for its children does not wait for this one
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    for number in map(int, os.listdir("/proc/self/fd")):
        if number > 2 and number not in (ended, listening.fileno()):
            try:
                os.close(number)
            except OSError:  # that of the listing
                pass
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while ended not in select.select([ended, listening], [], [])[0]:
        asked, _ = listening.accept()
        message, files, _, _ = socket.recv_fds(asked, 1 << 20, 3)
        if b"\0close\0" in message or b"\0conform\0" in message:
            ledger()
        if not os.fork():
            answer(asked, message, files)
        for file in files:
            os.close(file)
        asked.close()


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in ("value", "edit", "close", "conform", "serve"):
        sys.exit(__doc__)
    form, *files = arguments
    if form == "serve":
        return serve(files[0], int(files[1]))
    if form == "conform":
        ledger()
        return conform(files)
    if form == "close":
        return ledger().check_all(files)
    code = files.pop()
    for file in files:
        try:
            names = names_in(file)
            if form == "value":
                show(eval(f"[{code}\n]", names))
            else:
                exec(code, names)
                json.dump(names["t"], sys.stdout)
        except Exception as error:  # whatever it is: the test fails, and shows it
            print(f"{file}: {type(error).__name__}: {error}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
