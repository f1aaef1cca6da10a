#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients that no browser is: serve-clients.py WHAT PORT [N].

crowd    N connections that ask for half a request, and others that read nothing of their answer;
         meanwhile a proper one is answered. Prints what it got.
garbage  N requests that are none; each is answered with a status from 400 on, or not at all.
falls    scrapes until standard input ends; prints each counter that fell."""
import random
import re
import socket
import sys
import threading
import urllib.request

what, port = sys.argv[1], int(sys.argv[2])
count = int(sys.argv[3]) if len(sys.argv) > 3 else 0
OPEN = {"Accept": "application/openmetrics-text; version=1.0.0"}


def connect():
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def scrape():
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers=OPEN)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.status, answer.read().decode()


def crowd():
    held = []
    for i in range(count):
        s = connect()
        if i % 2:
            s.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        else:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            s.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        held.append(s)
    status, text = scrape()
    print(len(held), "held", status, text.endswith("# EOF\n"))


def garbage():
    odd = random.Random(1)
    pieces = [b"GET ", b"POST ", b"/metrics", b"/", b" HTTP/1.1\r\n", b"\r\n", b"Host: 127.0.0.1\r\n", b"Host: \r\n",
              b"Content-Length: 99999999999999999999\r\n", b"Content-Length: -1\r\n", b"Cookie: aprof-1=;;=\r\n",
              b"Transfer-Encoding: chunked\r\n", b"zz\r\n", b"\0\xff", b"A" * 40000, b"?" + b"%" * 50, b"Origin: null\r\n",
              b"Authorization: Bearer \r\n", b"X: " + b"y" * 3000 + b"\r\n"]
    worst = 0
    for i in range(count):
        parts = [odd.choice(pieces) for _ in range(odd.randrange(1, 9))]
        with connect() as s:
            try:
                s.sendall(b"".join(parts) + b"\r\n\r\n")
                s.settimeout(0.3)  # many are still waited for when they end
                answer = s.recv(4096)
            except OSError:
                continue
        status = re.match(rb"HTTP/1.[01] (\d+) ", answer)
        if answer and not status:
            print("no status:", answer[:60])
        # what has all parts in their order is a request
        worst = max(worst, int(status.group(1)) if status else 0)
    print("worst", worst, "then", scrape()[0])


def falls():
    end = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), end.set()), daemon=True).start()
    last, scrapes = {}, 0
    while scrapes < 10 or not end.wait(0.05):
        for line in scrape()[1].splitlines():
            series, _, value = line.rpartition(" ")
            if re.match(r"[a-z_]+_(total|bucket|count|sum)\{", series):
                if float(value) < last.get(series, 0):
                    print(series, "fell from", last[series], "to", value)
                last[series] = float(value)
        scrapes += 1
    print("over" if last else "nothing was scraped")


{"crowd": crowd, "garbage": garbage, "falls": falls}[what]()
