#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many aprof serve that are none: agents.py COUNT TOTALS... prints a list for `aprof serve --from',
and answers as that many hosts, each with one process of these totals. They are told one after the other,
as time goes on, and the last one from then on; nothing is packed. /most of any: how many were asked at once."""
import json
import re
import socketserver
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler

count, files, began = int(sys.argv[1]), sys.argv[2:], time.monotonic()
now, most, lock = 0, 0, threading.Lock()
STEP = 10  # s that each totals are told
# What makes a process another one.
parts = [re.split(rb'("pid": ?)\d+', open(file, "rb").read(), maxsplit=1) for file in files]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        global now, most
        with lock:
            now += self.path != "/most"
            most = max(most, now)
        try:
            self.answer()
        finally:
            with lock:
                now -= self.path != "/most"

    def answer(self):
        number = self.server.number
        if self.path.startswith("/api/processes"):
            one = {"pid": 1000 + number, "host": f"host{number}"}
            body = [json.dumps({"schema": "aprof.list/1", "host": f"host{number}", "profiles": [one]}).encode()]
        elif self.path == "/most":
            body = [b"%d" % most]
        else:
            at = min(int((time.monotonic() - began) / STEP), len(parts) - 1)
            before, name, behind = parts[at]
            body = [before + name + str(1000 + number).encode(), behind]
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(sum(map(len, body))))
        self.end_headers()
        try:
            for part in body:
                self.wfile.write(part)
        except ConnectionError:  # it was too slow
            self.close_connection = True

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 16

    def handle_error(self, *_):
        pass  # who asked has gone


for number in range(count):
    server = Server(("127.0.0.1", 0), Handler)
    server.number = number
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"host{number}=http://127.0.0.1:{server.server_address[1]} zone={'ab'[number % 2]}", flush=True)
print("# all of them", flush=True)
threading.Event().wait()
