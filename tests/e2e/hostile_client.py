#!/usr/bin/env python3
"""A hostile HTTP client for tests: attacks one port of this machine for a bounded time.

usage: hostile_client.py ATTACK PORT SECONDS SEED HOST
Prints one JSON object with what it did: connections, bytes sent and received, answers by status.
HOST is an address of this machine; at most CONNECTIONS connections at once; ends by itself.
"""
import collections
import errno
import json
import os
import random
import select
import socket
import sys
import time

CONNECTIONS = 2000
BLOCK = b"x" * 65536
GET_JOBS = b"GET /api/v1/jobs HTTP/1.1\r\nHost: x\r\n\r\n"


class Peer:
    """One connection: bytes still to be sent, and when it sends more."""

    def __init__(self, host, port, source=None, receive_bytes=None):
        self.socket = socket.socket()
        self.socket.setblocking(False)
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        if source:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.socket.bind((source, 0))
        self.error = self.socket.connect_ex((host, port))
        self.pending = b""
        self.next_at = 0.0
        self.begun = time.monotonic()


class Attack:
    connections = 200
    sources = 1        # so many addresses of 127.0.0.0/8, on loopback
    reads = True       # takes what the server sends
    receive_bytes = None
    every_s = 0.0      # between two pieces
    lasts_s = None     # of a connection; None: until the server ends it

    def __init__(self, host, port, seed):
        self.host = host
        self.port = port
        self.random = random.Random(seed)
        self.count = collections.Counter()
        self.opened = 0

    def first(self):
        """What a connection sends first."""
        return b""

    def more(self):
        """What it sends every `every_s` seconds once that is sent; empty: nothing."""
        return b""

    def open(self):
        source = None
        if self.sources > 1 and self.host.startswith("127."):
            source = f"127.0.0.{2 + self.opened % self.sources}"
        self.opened += 1
        peer = Peer(self.host, self.port, source, self.receive_bytes)
        if peer.error not in (0, errno.EINPROGRESS):
            self.count[f"connect: {errno.errorcode.get(peer.error)}"] += 1
            peer.socket.close()
            return None
        peer.pending = self.first()
        self.count["connections"] += 1
        return peer

    def run(self, seconds):
        end = time.monotonic() + seconds
        poller = select.epoll()
        peers = {}

        def close(peer):
            peers.pop(peer.socket.fileno(), None)
            poller.unregister(peer.socket)
            peer.socket.close()

        while time.monotonic() < end:
            for _ in range(min(200, self.connections - len(peers))):
                peer = self.open()
                if peer is None:
                    break
                peers[peer.socket.fileno()] = peer
                poller.register(peer.socket, select.EPOLLOUT | select.EPOLLIN)
            for fd, events in poller.poll(0.01, 256):
                peer = peers.get(fd)
                if peer is not None and not self.turn(peer, events, poller):
                    close(peer)
            now = time.monotonic()
            for peer in list(peers.values()):
                if self.lasts_s is not None and now > peer.begun + self.lasts_s:
                    close(peer)
                elif not peer.pending and self.every_s and now >= peer.next_at:
                    peer.pending = self.more()
                    peer.next_at = now + self.every_s
                    if peer.pending:
                        poller.modify(peer.socket, select.EPOLLOUT | select.EPOLLIN)
        for peer in list(peers.values()):
            close(peer)
        return dict(self.count)

    def turn(self, peer, events, poller):
        try:
            if events & select.EPOLLIN and self.reads:
                got = peer.socket.recv(65536)
                if not got:
                    return False
                self.count["received"] += len(got)
                if got.startswith(b"HTTP/1.1 "):
                    self.count[got[9:12].decode()] += 1
            if events & (select.EPOLLERR | select.EPOLLHUP):
                return False
            if events & select.EPOLLOUT:
                if peer.pending:
                    sent = peer.socket.send(peer.pending)
                    self.count["sent"] += sent
                    peer.pending = peer.pending[sent:]
                if not peer.pending and not self.every_s:
                    peer.pending = self.more()
                if not peer.pending:
                    poller.modify(peer.socket, select.EPOLLIN if self.reads else 0)
        except BlockingIOError:
            pass
        except OSError:
            self.count["reset"] += 1
            return False
        return True


class SlowHeaders(Attack):
    """A byte of a header every now and then."""
    every_s = 0.5

    def first(self):
        return b"GET /metrics HTTP/1.1\r\nX-Slow: "

    def more(self):
        return b"a"


class EndlessLine(Attack):
    """A header line that never ends."""
    connections = 20

    def first(self):
        return b"GET /metrics HTTP/1.1\r\nX-Long: "

    def more(self):
        return BLOCK


class EndlessTarget(EndlessLine):
    """A request line that never ends."""

    def first(self):
        return b"GET /"


class ChunkedBody(Attack):
    """A body in chunks, without an end."""
    connections = 20

    def first(self):
        method = self.random.choice([b"POST", b"GET", b"PUT"])
        path = self.random.choice([b"/healthz", b"/metrics", b"/api/v1/explain"])
        return method + b" " + path + b" HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"

    def more(self):
        return b"10000\r\n" + BLOCK + b"\r\n"


class GzipBody(Attack):
    """A body that says it is compressed, and large."""
    connections = 20

    def first(self):
        return (b"POST /api/v1/explain HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\n"
                b"Content-Length: 4000000000\r\n\r\n\x1f\x8b\x08\x00" + BLOCK)

    def more(self):
        return BLOCK


class ManyConnections(Attack):
    """As many connections as can be, from many addresses; those that are dropped come again."""
    connections = CONNECTIONS
    sources = 20


class ManyOfOnePeer(Attack):
    connections = CONNECTIONS


class Pipelining(Attack):
    """Hundreds of requests at once, again and again."""
    connections = 50

    def first(self):
        pages = [b"/metrics", b"/api/v1/jobs", b"/api/v1/queues", b"/livez", b"/nowhere"]
        return b"".join(b"GET " + self.random.choice(pages) + b" HTTP/1.1\r\nHost: x\r\n\r\n"
                        for _ in range(500))

    more = first


class Malformed(Attack):
    """Bytes that are no request, and requests with a few bytes changed."""
    connections = 50

    def first(self):
        if self.random.random() < 0.5:
            return self.random.randbytes(self.random.randint(1, 4096))
        request = bytearray(b"GET /api/v1/jobs?limit=1 HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n"
                            b"Content-Length: 0\r\n\r\n" * 3)
        for _ in range(self.random.randint(1, 5)):
            request[self.random.randrange(len(request))] = self.random.randrange(256)
        return bytes(request)

    lasts_s = 0.5


class SlowReaders(Attack):
    """Ask for large pages and take nothing."""
    connections = 300
    sources = 10
    reads = False
    receive_bytes = 2048

    def first(self):
        return b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" + GET_JOBS * 20


class TlsHandshakes(Attack):
    """Begin a TLS handshake and leave it there, or send what is none."""
    connections = 200
    sources = 5
    lasts_s = 1.0

    def first(self):
        if self.random.random() < 0.5:
            return b"\x16\x03\x01\x02\x00\x01" + self.random.randbytes(self.random.randint(0, 600))
        return b"\x16\x03\x01"


class Explanations(Attack):
    """Ask for many explanations at once; some leave before the answer."""
    connections = 100

    def first(self):
        return (b"GET /api/v1/explain?kind=job&name=team-a/huge HTTP/1.1\r\nHost: x\r\n"
                b"Connection: close\r\n\r\n")

    def open(self):
        self.lasts_s = self.random.choice([0.05, 1.0, 20.0])
        return super().open()


ATTACKS = {attack.__name__: attack for attack in (
    SlowHeaders, EndlessLine, EndlessTarget, ChunkedBody, GzipBody, ManyConnections, ManyOfOnePeer,
    Pipelining, Malformed, SlowReaders, TlsHandshakes, Explanations)}


def main():
    if len(sys.argv) != 6 or sys.argv[1] not in ATTACKS:
        sys.exit(__doc__ + "Attacks: " + ", ".join(ATTACKS))
    os.nice(10)  # what is measured is the server, not the contest for the processor
    attack = ATTACKS[sys.argv[1]](sys.argv[5], int(sys.argv[2]), int(sys.argv[4]))
    print(json.dumps(attack.run(float(sys.argv[3]))))


if __name__ == "__main__":
    main()
