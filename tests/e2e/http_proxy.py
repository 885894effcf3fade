"""A plain-HTTP proxy in front of an API server, as `kubectl proxy` is: HTTP/1.1 towards its
clients, TLS and a client certificate towards the server. It can change what the server says."""
import http.client
import http.server
import ssl
import threading
import urllib.parse


class HttpProxy:
    def __init__(self, plane, user):
        plane.kubeconfig(user)
        self.context = ssl.create_default_context(cafile=plane.pki.path("ca.crt"))
        self.context.load_cert_chain(plane.pki.path(user + ".crt"), plane.pki.path(user + ".key"))
        self.api_port = plane.api_port
        # (path, query, line of a watch) -> what is sent instead; None: the stream ends there.
        self.change_line = lambda path, query, line: line
        # (path, query, body of any other answer) -> what is sent instead.
        self.change_body = lambda path, query, body: body
        self.authorizations = set()  # headers that clients sent
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def forward(self):
                proxy.forward(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = forward

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):
                pass  # a client that has gone

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def forward(self, handler):
        if "Authorization" in handler.headers:
            self.authorizations.add(handler.headers["Authorization"])
        length = int(handler.headers.get("Content-Length") or 0)
        body = handler.rfile.read(length) if length else None
        url = urllib.parse.urlsplit(handler.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        headers = {k: v for k, v in handler.headers.items()
                   if k in ("Accept", "Content-Type", "User-Agent")}
        upstream = http.client.HTTPSConnection("127.0.0.1", self.api_port, context=self.context)
        try:
            upstream.request(handler.command, handler.path, body, headers)
            answer = upstream.getresponse()
            if query.get("watch") == "true" and answer.status == 200:
                self.stream(handler, url.path, query, answer)
            else:
                self.whole(handler, url.path, query, answer)
        except OSError:
            handler.close_connection = True
        finally:
            upstream.close()

    def whole(self, handler, path, query, answer):
        text = self.change_body(path, query, answer.read())
        handler.send_response(answer.status)
        handler.send_header("Content-Type", answer.getheader("Content-Type") or "text/plain")
        if answer.getheader("Retry-After"):
            handler.send_header("Retry-After", answer.getheader("Retry-After"))
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)

    def stream(self, handler, path, query, answer):
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        while True:
            line = answer.readline()
            line = self.change_line(path, query, line) if line else None
            if not line:
                break
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            handler.wfile.flush()
        handler.wfile.write(b"0\r\n\r\n")

    def close(self):
        self.server.shutdown()
        self.server.server_close()
