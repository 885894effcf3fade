"""A TCP proxy that can stall, cut and reset what goes through it."""
import select
import socket
import struct
import threading
import time


class TcpProxy:
    def __init__(self, target_port):
        self.target_port = target_port
        self.stalled = False
        self.refusing = False
        self.pairs = []
        self.lock = threading.Lock()
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(64)
        self.port = self.listener.getsockname()[1]
        self.closing = False
        self.connected_at = time.time()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while not self.closing:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if self.refusing:
                client.close()
                continue
            self.connected_at = time.time()
            server = socket.create_connection(("127.0.0.1", self.target_port))
            with self.lock:
                self.pairs.append((client, server))
            threading.Thread(target=self.carry, args=(client, server), daemon=True).start()

    def carry(self, client, server):
        """Bytes in both directions, unless stalled: then they stay where they are."""
        try:
            while True:
                if self.stalled:
                    threading.Event().wait(0.05)
                    continue
                ready, _, _ = select.select([client, server], [], [], 0.2)
                for side in ready:
                    data = side.recv(65536)
                    if not data:
                        return
                    (server if side is client else client).sendall(data)
        except (OSError, ValueError):
            pass
        finally:
            for side in (client, server):
                side.close()

    def quiet_for(self, seconds):
        """Nobody has connected for so long."""
        return time.time() - self.connected_at > seconds

    def cut(self, reset=False):
        """Ends every connection; with `reset` in the rude way."""
        with self.lock:
            pairs, self.pairs = self.pairs, []
        for pair in pairs:
            for side in pair:
                try:
                    if reset:
                        side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                        struct.pack("ii", 1, 0))
                    else:
                        side.shutdown(socket.SHUT_RDWR)
                    side.close()
                except OSError:
                    pass

    def close(self):
        self.closing = True
        self.listener.close()
        self.cut()
