"""Who may read the pages from another machine: TLS, tokens, roles, on a real API server."""
import collections
import json
import os
import re
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.request

from cluster_test_case import ClusterTestCase, eventually
from control_plane import free_port, own_address
from tcp_proxy import TcpProxy

RBAC = "rbac.authorization.k8s.io"
NAMESPACE = "team-b"


class PageAccess(ClusterTestCase):
    def setUp(self):
        super().setUp()
        self.address = own_address()
        if self.address is None:
            self.skipTest("this machine has loopback addresses only")

    def service_account(self, name, role=None):
        """Its token, good for an hour."""
        self.plane.apply({"apiVersion": "v1", "kind": "ServiceAccount",
                          "metadata": {"name": name, "namespace": NAMESPACE}})
        if role:
            self.plane.apply({
                "apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding",
                "metadata": {"name": f"{name}-{role}"},
                "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
                "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE}]})
        answer = self.plane.create(
            f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{name}/token",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
             "spec": {"expirationSeconds": 3600}})
        return answer["status"]["token"]

    def serve(self, *flags, **kw):
        self.node("n1")
        self.port = free_port()
        scheduler = self.scheduler(flags=(f"--listen-address=:{self.port}", *flags), **kw)
        self.fingerprint = eventually("it listens", lambda: re.search(
            "sha256=(\\S+)", scheduler.log())).group(1)
        return scheduler

    def get(self, path, token=None, scheme="https", host=None, header=None):
        """Status, body and headers."""
        request = urllib.request.Request(f"{scheme}://{host or self.address}:{self.port}{path}")
        if token or header:
            request.add_header("Authorization", header or f"Bearer {token}")
        unverified = ssl._create_unverified_context()
        try:
            with urllib.request.urlopen(request, timeout=15, context=unverified) as answer:
                return answer.status, answer.read().decode(), answer.headers
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(), error.headers

    def metric(self, name):
        _, text, _ = self.get("/metrics", host="127.0.0.1", scheme="http")
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                   if line.startswith((name + " ", name + "{")))

    def krafla(self, *arguments, **variables):
        done = subprocess.run([os.environ["KRAFLA"], *arguments], text=True,
                              env={**os.environ, **variables},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.returncode, done.stdout, done.stderr

    def resident_bytes(self, scheduler):
        with open(f"/proc/{scheduler.process.pid}/statm") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def reviews(self):
        return [entry["objectRef"]["resource"] for entry in self.audit_entries()
                if entry.get("objectRef", {}).get("resource", "").endswith("reviews")]

    def test_a_scrape_needs_tls_a_token_and_the_role(self):
        reader = self.service_account("prometheus", "krafla-metrics-reader")
        other = self.service_account("visitor")
        scheduler = self.serve()
        status, text, _ = self.get("/metrics", reader)
        self.assertEqual(status, 200, text)
        self.assertIn("krafla_cycles_total", text)
        self.assertEqual(self.reviews(), ["tokenreviews", "subjectaccessreviews"])
        for _ in range(5):
            self.assertEqual(self.get("/metrics", reader)[0], 200)
        self.assertEqual(len(self.reviews()), 2, "the answers are cached")

        status, text, headers = self.get("/metrics")
        self.assertEqual((status, headers["WWW-Authenticate"]), (401, 'Bearer realm="krafla"'))
        self.assertIn("a bearer token is needed", text)
        status, _, headers = self.get("/metrics", reader[:-5] + "AAAAA")
        self.assertEqual((status, headers["WWW-Authenticate"]),
                         (401, 'Bearer realm="krafla", error="invalid_token"'))
        self.assertEqual(self.get("/metrics", header="Basic YTpi")[0], 401)
        status, text, _ = self.get("/metrics", other)
        self.assertEqual(status, 403)
        self.assertIn('"system:serviceaccount:team-b:visitor" may not read /metrics', text)
        self.assertIn("krafla-metrics-reader", text)
        status, text, _ = self.get("/metrics", reader, scheme="http")
        self.assertEqual(status, 403)
        self.assertIn("plain HTTP is answered on loopback only", text)
        # Loopback needs none of it, and health nothing anywhere.
        self.assertEqual(self.get("/metrics", scheme="http", host="127.0.0.1")[0], 200)
        self.assertEqual(scheduler.page("/livez")[0], 200)
        self.assertEqual(self.metric('krafla_page_requests_total{page="metrics",result="forbidden"}'),
                         1)
        self.assertGreaterEqual(
            self.metric('krafla_page_requests_total{page="metrics",result="unauthenticated"}'), 3)
        for secret in (reader, other):
            self.assertNotIn(secret, scheduler.log())
            self.assertNotIn(secret.split(".")[2], scheduler.log())

    def test_the_api_is_not_open_to_every_user_by_system_discovery(self):
        reader = self.service_account("operator", "krafla-api-reader")
        metrics = self.service_account("prometheus", "krafla-metrics-reader")
        self.serve()
        may = self.plane.kubectl("auth", "can-i", "get", "/api/v1/jobs",
                                 f"--as=system:serviceaccount:{NAMESPACE}:prometheus",
                                 "--as-group=system:authenticated")
        self.assertEqual(may.strip(), "yes", "why the role names /krafla/api/v1")
        for page in ("/api/v1/jobs", "/api/v1/explain?kind=queue&name=default", "/api/v1"):
            status, text, _ = self.get(page, metrics)
            self.assertEqual(status, 403, page)
            self.assertIn("krafla-api-reader", json.loads(text)["error"])
            self.assertEqual(self.get(page)[0], 401, page)
        self.assertEqual(self.get("/api/v1/jobs", reader)[0], 200)
        self.assertEqual(json.loads(self.get("/api/v1/queues", reader)[1])["leftOut"], 0)
        self.assertEqual(self.get("/metrics", reader)[0], 403)

    def test_a_role_that_is_taken_away_ends_with_the_cache(self):
        reader = self.service_account("leaves", "krafla-metrics-reader")
        self.serve()
        self.assertEqual(self.get("/metrics", reader)[0], 200)
        self.plane.request(
            "DELETE", f"/apis/{RBAC}/v1/clusterrolebindings/leaves-krafla-metrics-reader")
        eventually("403", lambda: self.get("/metrics", reader)[0] == 403, patience_s=15)
        self.plane.request(
            "DELETE", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/leaves")
        eventually("401", lambda: self.get("/metrics", reader)[0] == 401, patience_s=25)

    def test_metrics_may_be_anonymous_and_the_api_may_not(self):
        scheduler = self.serve("--allow-anonymous-metrics")
        for scheme in ("http", "https"):
            status, text, _ = self.get("/metrics", scheme=scheme)
            self.assertEqual(status, 200, scheme)
            self.assertIn("krafla_cycles_total", text)
        self.assertEqual(self.get("/api/v1/jobs")[0], 401)
        self.assertEqual(self.get("/api/v1/jobs", scheme="http")[0], 403)
        self.assertEqual(self.reviews(), [])
        self.assertIn("--allow-anonymous-metrics", scheduler.log())

    def test_an_outage_of_the_api_server_is_503_and_delays_no_other_caller(self):
        reader = self.service_account("prometheus", "krafla-metrics-reader")
        proxy = TcpProxy(self.plane.api_port)
        self.plane.kubeconfig("krafla")
        conf = self.plane.kubeconfig("krafla-reviews", cluster={
            "server": f"https://127.0.0.1:{proxy.port}"}, credentials={
                "client-certificate-data": self.plane.pki.text("krafla.crt"),
                "client-key-data": self.plane.pki.text("krafla.key")})
        scheduler = self.serve(kubeconfig=conf)
        self.assertEqual(self.get("/metrics", reader)[0], 200)
        proxy.stalled = True
        begun = time.time()
        self.assertEqual(self.get("/metrics", reader)[0], 200, "from the cache")
        self.assertLess(time.time() - begun, 2)
        status, text, headers = self.get("/api/v1/jobs", reader)
        self.assertEqual((status, headers["Retry-After"]), (503, "2"), text)
        self.assertLess(time.time() - begun, 8)
        begun = time.time()
        self.assertEqual(self.get("/metrics", scheme="http", host="127.0.0.1")[0], 200)
        self.assertLess(time.time() - begun, 2)
        self.assertIn("callers of the pages cannot be checked, they get 503", scheduler.log())
        self.assertNotIn(reader, scheduler.log())
        proxy.stalled = False
        eventually("it works again", lambda: self.get("/metrics", reader)[0] == 200)
        proxy.close()

    def test_made_up_tokens_do_not_burden_the_api_server(self):
        reader = self.service_account("prometheus", "krafla-metrics-reader")
        scheduler = self.serve()
        self.assertEqual(self.get("/metrics", reader)[0], 200)
        before = [self.service_account("prometheus") for _ in range(8)]
        for token in before:
            self.assertEqual(self.get("/metrics", token)[0], 200)
        time.sleep(11)  # the verdicts are not cached any longer
        first = len(self.reviews())
        memory = self.resident_bytes(scheduler)
        answers = collections.Counter()

        def knock(number):
            for i in range(40):
                answers[self.get("/metrics", f"made-up-{number}-{i}-" + "x" * 4000)[0]] += 1
        begun = time.time()
        threads = [threading.Thread(target=knock, args=(n,)) for n in range(16)]
        for thread in threads:
            thread.start()
        eventually("callers are refused", lambda: answers[503] > 0)
        for token in before:
            self.assertEqual(self.get("/metrics", token)[0], 200, "a scrape during the flood")
        self.assertTrue(any(thread.is_alive() for thread in threads))
        while any(thread.is_alive() for thread in threads):
            self.assertEqual(scheduler.page("/livez")[0], 200)
            self.assertEqual(self.get("/metrics", scheme="http", host="127.0.0.1")[0], 200)
            time.sleep(0.2)
        seconds = time.time() - begun
        self.assertEqual(sum(answers.values()), 640)
        self.assertEqual(set(answers) - {401, 503}, set(), answers)
        reviews = len(self.reviews()) - first
        self.assertLessEqual(reviews, 40 + 20 * (seconds + 1), f"{seconds} s")
        self.assertLess(self.resident_bytes(scheduler) - memory, 20 << 20)
        eventually("a good token is checked", lambda: self.get("/metrics", reader)[0] == 200,
                   patience_s=5)
        print(f"640 made-up tokens in {seconds:.1f} s: {dict(answers)}, {reviews} reviews, "
              f"{(self.resident_bytes(scheduler) - memory) >> 10} KiB more")

    def test_a_missing_role_of_ours_is_503_and_named(self):
        reader = self.service_account("prometheus", "krafla-metrics-reader")
        self.plane.apply({
            "apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": "stranger"},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "system:basic-user"},
            "subjects": [{"kind": "User", "name": "stranger", "apiGroup": RBAC}]})
        scheduler = self.serve(kubeconfig=self.plane.kubeconfig("stranger"), ready=False)
        eventually("it listens", lambda: scheduler.page("/livez")[0] == 200)
        self.assertEqual(self.get("/metrics", reader)[0], 503)
        self.assertIn('asked="create tokenreviews" error="403 tokenreviews.authentication.k8s.io '
                      'is forbidden', scheduler.log())

    def test_explain_sends_a_token_and_trusts_one_certificate(self):
        reader = self.service_account("operator", "krafla-api-reader")
        other = self.service_account("visitor")
        self.serve()
        url = f"https://{self.address}:{self.port}"
        nothing = {"KUBECONFIG": "", "HOME": self.plane.folder}
        ask = ("explain", "queue", "default", "--server", url)
        pinned = (*ask, "--server-fingerprint", self.fingerprint)

        def file(name, text):
            path = os.path.join(self.plane.folder, name)
            with open(path, "w") as f:
                f.write(text)
            return path
        good = file("good.token", reader + "\n")
        code, text, problem = self.krafla(*pinned, "--token-file", good, **nothing)
        self.assertEqual((code, problem), (0, ""), text)
        self.assertIn("default", text)
        # A kubeconfig's token is sent when the server wants one.
        conf = self.plane.kubeconfig("operator", credentials={"token": reader})
        for where in ({"KUBECONFIG": conf, "HOME": self.plane.folder}, nothing):
            more = () if where is not nothing else ("--kubeconfig", conf)
            code, text, problem = self.krafla(*pinned, *more, **where)
            self.assertEqual((code, problem), (0, ""), text)

        code, _, problem = self.krafla(*ask, "--token-file", good, **nothing)
        self.assertEqual(code, 2)
        self.assertIn("--server-fingerprint", problem)
        wrong = ":".join(["00"] * 32)
        code, _, problem = self.krafla(*ask, "--server-fingerprint", wrong, "--token-file", good)
        self.assertEqual(code, 2)
        self.assertIn(f"its SHA-256 is {self.fingerprint}, not {wrong}", problem)

        code, _, problem = self.krafla(*pinned, **nothing)
        self.assertEqual(code, 2)
        self.assertIn("a bearer token is needed", problem)
        self.assertIn("no token was sent", problem)
        self.assertIn("--token-file", problem)
        bad = file("bad.token", reader[:-5] + "AAAAA")
        code, _, problem = self.krafla(*pinned, "--token-file", bad, **nothing)
        self.assertEqual(code, 2)
        self.assertIn("does not accept this token", problem)
        self.assertIn(bad, problem)
        role = file("role.token", other)
        code, _, problem = self.krafla(*pinned, "--token-file", role, **nothing)
        self.assertEqual(code, 2)
        self.assertIn("krafla-api-reader", problem)
        for token in (reader, other):
            self.assertNotIn(token, problem)
        code, _, problem = self.krafla(
            "explain", "queue", "default", "--server", f"http://{self.address}:{self.port}",
            "--token-file", good, **nothing)
        self.assertEqual(code, 2)
        self.assertIn("--token-file: error: only for an https:// server", problem)
