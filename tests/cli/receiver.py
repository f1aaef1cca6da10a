#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server for what is pushed: receiver.py DIR ANSWER... prints its port, and answers each POST with
the next of ANSWER (the last for all others): STATUS, STATUS:RETRY-AFTER or STATUS=BODY. It writes
each body as DIR/N, and a line to DIR/log: N STATUS PATH CONTENT-TYPE LENGTH X-TOKEN."""
import http.server
import os
import sys
import urllib.parse

folder, answers = sys.argv[1], sys.argv[2:]
os.makedirs(folder, exist_ok=True)
count = 0


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        global count
        count += 1
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(f"{folder}/{count}", "wb") as out:
            out.write(body)
        status, _, answer = answers[min(count, len(answers)) - 1].partition("=")
        status, _, after = status.partition(":")
        with open(f"{folder}/log", "a") as log:
            print(count, status, self.path, self.headers["Content-Type"].replace(" ", ""), len(body),
                  self.headers.get("X-Token", "-"), file=log)
        answer = urllib.parse.unquote_to_bytes(answer)
        self.send_response(int(status))
        if after:
            self.send_header("Retry-After", after)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
    print(server.server_address[1], flush=True)
    server.serve_forever()
