#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Loads a memcached with commands of its text protocol and asks for its statistics.

    memcached-load.py PORT CONNECTIONS BATCHES

Each connection sends BATCHES batches of 1 to 8 commands and reads all answers
of one before the next. Prints what was sent, by command, and what memcached
counted; then tells it to shut down (it must have been started with -A).
"""
import collections
import random
import socket
import sys
import threading

COUNTED = ("cmd_", "delete_", "incr_", "touch_", "total_connections", "curr_connections")


def command(chance):
    """A random command: (its name, its bytes)."""
    key = f"k{chance.randint(0, 999)}"
    kind = chance.choices(("get", "set", "delete", "incr", "touch"), (60, 20, 7, 7, 6))[0]
    more = {"get": "", "set": f" 0 0 100\r\n{'x' * 100}", "delete": "", "incr": " 1", "touch": " 100"}[kind]
    return kind, f"{kind} {key}{more}\r\n".encode()


def client(port, seed, batches, sent):
    chance = random.Random(seed)
    with socket.create_connection(("127.0.0.1", port)) as connection, connection.makefile("rb") as answers:
        for _ in range(batches):
            batch = [command(chance) for _ in range(chance.randint(1, 8))]
            connection.sendall(b"".join(text for _, text in batch))
            for kind, _ in batch:
                sent[kind] += 1
                if answers.readline().startswith(b"VALUE"):
                    answers.readline()
                    answers.readline()


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    port, connections, batches = map(int, sys.argv[1:])
    sent = [collections.Counter() for _ in range(connections)]
    threads = [threading.Thread(target=client, args=(port, seed, batches, sent[seed]))
               for seed in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("sent:", dict(sum(sent, collections.Counter())))
    with socket.create_connection(("127.0.0.1", port)) as connection, connection.makefile("r") as answers:
        connection.sendall(b"stats\r\n")
        for line in iter(answers.readline, "END\n"):
            if line.startswith(tuple(f"STAT {name}" for name in COUNTED)):
                print(line, end="")
        connection.sendall(b"shutdown\r\n")


if __name__ == "__main__":
    main()
