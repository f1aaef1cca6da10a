#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Other parties to a request, which nobody profiles: they only hand the traceparent on.

hop.py PORT           between the example's front and its backend at PORT: prints its own port
hop.py --ask PORT TP  a client of the front, which sends the header TP
"""

import http.client
import secrets
import socket
import sys


def ask(port, token):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/quota", headers={"traceparent": token, "Connection": "close"})
    print(connection.getresponse().read().decode())


def answer(client, port):
    """One question: its number, and its token with a span of our own."""
    number, _, token = client.makefile().readline().strip().partition(" ")
    version, trace, _, flags = token.split("-")
    token = "-".join((version, trace, secrets.token_hex(8), flags))
    with socket.create_connection(("127.0.0.1", port)) as backend:
        backend.sendall(f"{number} {token}\n".encode())
        client.sendall(backend.makefile().readline().encode())


def main(arguments):
    if arguments[0] == "--ask":
        ask(int(arguments[1]), arguments[2])
        return
    with socket.create_server(("127.0.0.1", 0)) as server:
        print(server.getsockname()[1], flush=True)
        while True:
            client, _ = server.accept()
            with client:
                answer(client, int(arguments[0]))


main(sys.argv[1:])
