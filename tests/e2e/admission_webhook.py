"""An admission webhook in place of Volcano's: an HTTPS server on loopback, registered with the API server.

AdmissionWebhook answers what the scheduler's user writes to pods, bindings, PodGroups and queues, validating and
mutating, with failurePolicy Fail as Volcano's are registered. A test chooses how: allow(), slow(seconds), deny(),
down() (connections are refused), and with `only` for which objects.
"""
import base64
import http.server
import json
import socket
import ssl
import threading
import time

REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
NAME = "krafla-test-webhook"
RULES = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
          "resources": ["pods", "pods/status", "pods/binding"]},
         {"apiGroups": ["scheduling.volcano.sh"], "apiVersions": ["v1beta1"], "operations": ["CREATE", "UPDATE"],
          "resources": ["podgroups", "podgroups/status", "queues", "queues/status"]}]


class AdmissionWebhook:
    def __init__(self, plane, user="krafla"):
        self.plane, self.user = plane, user
        self.answered, self.denied = 0, 0
        self.lock = threading.Lock()
        self.seconds, self.denies, self.only = 0.0, False, lambda request: True
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        if "webhook" not in getattr(plane, "issued", ()):
            plane.pki.issue("webhook", "/CN=webhook",
                            "extendedKeyUsage=serverAuth\nsubjectAltName=IP:127.0.0.1\n")
            plane.issued = (*getattr(plane, "issued", ()), "webhook")
        self.server = None

    # ---- how it answers

    def allow(self):
        self.seconds, self.denies, self.only = 0.0, False, lambda request: True
        self.up()

    def slow(self, seconds, only=lambda request: True):
        self.seconds, self.denies, self.only = seconds, False, only
        self.up()

    def deny(self, only=lambda request: True):
        self.seconds, self.denies, self.only = 0.0, True, only
        self.up()

    def down(self):
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()
            self.server = None

    def up(self):
        if self.server is not None:
            return
        webhook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                body = json.dumps(webhook.answer(review, self.path)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                # Each request has a connection of its own: nothing is left open when the server goes.
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(body)
                self.close_connection = True

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            allow_reuse_address = True
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass  # the API server has given up waiting

        self.server = Server(("127.0.0.1", self.port), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.plane.pki.path("webhook.crt"), self.plane.pki.path("webhook.key"))
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def answer(self, review, path):
        request = review["request"]
        concerned = self.only(request)
        denied = self.denies and concerned
        if self.seconds and concerned:
            time.sleep(self.seconds)
        with self.lock:
            self.answered += 1
            self.denied += denied
        answer = {"uid": request["uid"], "allowed": not denied}
        if denied:
            answer["status"] = {"code": 403, "message": "the test refuses it"}
        elif path == "/mutate":
            answer["patchType"], answer["patch"] = "JSONPatch", base64.b64encode(b"[]").decode()
        return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": answer}

    # ---- registration

    def register(self, timeout_s=10):
        webhook = {"name": "all.krafla.test", "rules": RULES, "failurePolicy": "Fail", "sideEffects": "None",
                   "admissionReviewVersions": ["v1"], "timeoutSeconds": timeout_s,
                   # Only what the scheduler writes: kwok and the tests write too.
                   "matchConditions": [{"name": "ours", "expression": f"request.userInfo.username == '{self.user}'"}],
                   "clientConfig": {"caBundle": self.plane.pki.text("ca.crt")}}
        for kind, path in (("Validating", "validate"), ("Mutating", "mutate")):
            entry = dict(webhook, clientConfig=dict(webhook["clientConfig"],
                                                    url=f"https://127.0.0.1:{self.port}/{path}"))
            if kind == "Mutating":
                entry["reinvocationPolicy"] = "Never"
            self.plane.create(f"{REGISTRATION}/{kind.lower()}webhookconfigurations", {
                "apiVersion": "admissionregistration.k8s.io/v1", "kind": f"{kind}WebhookConfiguration",
                "metadata": {"name": NAME}, "webhooks": [entry]})

    def unregister(self):
        for kind in ("validating", "mutating"):
            self.plane.request("DELETE", f"{REGISTRATION}/{kind}webhookconfigurations/{NAME}")
        self.down()
