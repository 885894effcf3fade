"""A real control plane on loopback for tests: etcd, kube-apiserver, kwok, and a small client.

No kube-controller-manager runs, so the admission plugins that wait for its work are off. Every
process is remembered by its id and ended by it. Nothing outside of the given folder is written.
"""
import base64
import json
import os
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))


def own_address():
    """An address of this machine that is not loopback; None: it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("198.51.100.1", 9))  # sends nothing
            address = s.getsockname()[0]
        except OSError:
            return None
    return None if address.startswith("127.") else address


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def openssl(*args):
    done = subprocess.run(["openssl", *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {' '.join(args)}: {done.stdout.decode()}")


class Pki:
    """One authority; a certificate for the server and one per user."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder)
        self.new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        openssl("req", "-x509", *self.new_key, "-keyout", self.path("ca.key"), "-out",
                self.path("ca.crt"), "-days", "30", "-subj", "/CN=test-ca",
                "-addext", "basicConstraints=critical,CA:TRUE",
                "-addext", "keyUsage=critical,keyCertSign,cRLSign,digitalSignature")
        self.issue("server", "/CN=kube-apiserver", "extendedKeyUsage=serverAuth\n"
                   "subjectAltName=IP:127.0.0.1,IP:10.0.0.1,DNS:localhost,DNS:kubernetes\n")
        openssl("genrsa", "-out", self.path("sa.key"), "2048")
        openssl("rsa", "-in", self.path("sa.key"), "-pubout", "-out", self.path("sa.pub"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def issue(self, name, subject, extensions="extendedKeyUsage=clientAuth\n"):
        openssl("req", "-new", *self.new_key, "-keyout", self.path(name + ".key"), "-out",
                self.path(name + ".csr"), "-subj", subject)
        with open(self.path(name + ".ext"), "w") as f:
            f.write(extensions)
        openssl("x509", "-req", "-in", self.path(name + ".csr"), "-CA", self.path("ca.crt"),
                "-CAkey", self.path("ca.key"), "-CAcreateserial", "-days", "30",
                "-extfile", self.path(name + ".ext"), "-out", self.path(name + ".crt"))

    def text(self, name):
        with open(self.path(name), "rb") as f:
            return base64.b64encode(f.read()).decode()


class ControlPlane:
    # What the audit log tells of: everything our user does, also as a service account.
    audit_rules = [{"level": "Metadata", "users": [
        "krafla", "system:serviceaccount:volcano-system:krafla"]}, {"level": "None"}]

    def __init__(self, programs, folder, audit=False):
        self.programs = programs
        self.folder = folder
        self.processes = {}
        self.audit_log = os.path.join(folder, "audit.log") if audit else None
        os.makedirs(folder, exist_ok=True)
        self.pki = Pki(os.path.join(folder, "pki"))
        self.pki.issue("admin", "/O=system:masters/CN=admin")
        self.etcd_port, self.peer_port, self.api_port, self.kwok_port = (free_port()
                                                                         for _ in range(4))
        self.url = f"https://127.0.0.1:{self.api_port}"
        self.context = None

    def spawn(self, name, argv, env=None):
        with open(os.path.join(self.folder, name + ".log"), "ab") as log:
            self.processes[name] = subprocess.Popen(
                argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
                cwd=self.folder, env=dict(os.environ, **(env or {})))

    def start_etcd(self):
        client = f"http://127.0.0.1:{self.etcd_port}"
        peer = f"http://127.0.0.1:{self.peer_port}"
        self.spawn("etcd", [
            os.path.join(self.programs, "etcd"), "--name=e", f"--data-dir={self.folder}/etcd",
            "--log-level=warn", "--unsafe-no-fsync", f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}", f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=e={peer}"])

    def start_api_server(self, extra=()):
        p = self.pki.path
        argv = [
            os.path.join(self.programs, "kube-apiserver"),
            f"--etcd-servers=http://127.0.0.1:{self.etcd_port}", "--bind-address=127.0.0.1",
            f"--secure-port={self.api_port}", "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.0.0.0/24",
            f"--client-ca-file={p('ca.crt')}", f"--tls-cert-file={p('server.crt')}",
            f"--tls-private-key-file={p('server.key')}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={p('sa.pub')}",
            f"--service-account-signing-key-file={p('sa.key')}", "--authorization-mode=RBAC",
            "--allow-privileged=true", "--enable-priority-and-fairness=false",
            "--max-requests-inflight=4000", "--max-mutating-requests-inflight=2000",
            "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition", "-v=1", *extra]
        if self.audit_log:
            policy = os.path.join(self.folder, "audit-policy.json")
            with open(policy, "w") as f:
                json.dump({"apiVersion": "audit.k8s.io/v1", "kind": "Policy",
                           "omitStages": ["RequestReceived"],
                           "rules": self.audit_rules}, f)
            argv += [f"--audit-policy-file={policy}", f"--audit-log-path={self.audit_log}"]
        self.spawn("kube-apiserver", argv)
        self.wait_until_ready()

    def wait_until_ready(self, patience_s=180):
        deadline = time.time() + patience_s
        while True:
            try:
                if self.request("GET", "/readyz", raw=True) == "ok":
                    return
            except OSError:
                pass
            if self.processes["kube-apiserver"].poll() is not None or time.time() > deadline:
                raise RuntimeError(f"the API server does not start: see {self.folder}")
            time.sleep(0.1)

    def start_kwok(self):
        self.spawn("kwok", [
            os.path.join(self.programs, "kwok"), f"--kubeconfig={self.kubeconfig('admin')}",
            f"--config={os.path.join(self.programs, 'kwok-stages.yaml')}",
            "--manage-all-nodes=true", "--node-ip=127.0.0.1", "--cidr=10.64.0.0/10",
            f"--server-address=127.0.0.1:{self.kwok_port}", "--node-lease-duration-seconds=40"],
            env={"HOME": self.folder})

    def up(self):
        self.start_etcd()
        self.start_api_server()
        self.start_kwok()
        return self

    def stop(self, name, number=signal.SIGTERM):
        process = self.processes.pop(name, None)
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(number)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
        process.wait()

    def down(self):
        for name in ("kwok", "kube-apiserver", "etcd"):
            self.stop(name)

    def kubeconfig(self, user, cluster=None, credentials=None, group=None):
        """A kubeconfig for a user; made when first asked for."""
        path = os.path.join(self.folder, f"{user}.conf")
        if os.path.exists(path) and not cluster and not credentials:
            return path
        if not os.path.exists(self.pki.path(user + ".crt")):
            self.pki.issue(user, f"/O={group}/CN={user}" if group else f"/CN={user}")
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": user}}],
            "clusters": [{"name": "c", "cluster": {
                "server": self.url, "certificate-authority-data": self.pki.text("ca.crt"),
                **(cluster or {})}}],
            "users": [{"name": user, "user": credentials or {
                "client-certificate-data": self.pki.text(user + ".crt"),
                "client-key-data": self.pki.text(user + ".key")}}]}
        with open(path, "w") as f:
            json.dump(config, f)
        os.chmod(path, 0o600)
        return path

    # ---- as admin

    def request(self, method, path, body=None, content_type="application/json", raw=False,
                accept="application/json"):
        if self.context is None:
            self.context = ssl.create_default_context(cafile=self.pki.path("ca.crt"))
            self.context.load_cert_chain(self.pki.path("admin.crt"), self.pki.path("admin.key"))
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, data=data, method=method,
                                         headers={"Content-Type": content_type, "Accept": accept})
        for attempt in range(100):
            try:
                with urllib.request.urlopen(request, context=self.context, timeout=20) as answer:
                    text = answer.read().decode()
                return text if raw else json.loads(text)
            except urllib.error.HTTPError as error:
                # A kind that was defined a moment ago is not served yet.
                if error.code != 429 or attempt == 99:
                    raise
            time.sleep(0.1)

    def kubectl(self, *args, input_text=None, check=True):
        done = subprocess.run(
            [os.path.join(self.programs, "kubectl"), f"--kubeconfig={self.kubeconfig('admin')}",
             *args], input=input_text, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if check and done.returncode != 0:
            raise RuntimeError(f"kubectl {' '.join(args)}: {done.stderr}")
        return done.stdout

    def apply(self, *objects):
        self.kubectl("apply", "--server-side", "-f", "-",
                     input_text="\n---\n".join(json.dumps(o) for o in objects))

    def create(self, path, body):
        return self.request("POST", path, body)

    def get(self, path, accept="application/json"):
        try:
            return self.request("GET", path, accept=accept)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise
