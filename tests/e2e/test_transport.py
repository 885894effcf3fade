"""How the scheduler reaches its API server: through plain HTTP on loopback, with credentials of a
plugin that hangs, and past answers that cannot be read."""
import json
import os
import re
import signal
import subprocess
import time
import unittest

from cluster_test_case import ClusterTestCase, eventually
from http_proxy import HttpProxy

KINDS = 11


class Transport(ClusterTestCase):
    def by_http(self, name, url):
        return self.plane.kubeconfig(name, cluster={
            "server": url, "certificate-authority-data": ""}, credentials={"token": "secret"})

    def test_kubectl_proxy_serves_all_watches_and_writes(self):
        plane = self.plane
        plane.kubeconfig("krafla")
        log_path = os.path.join(plane.folder, "kubectl-proxy.log")
        with open(log_path, "wb") as log:
            proxy = subprocess.Popen(
                [os.path.join(plane.programs, "kubectl"), "proxy", "--port=0",
                 f"--kubeconfig={plane.kubeconfig('krafla')}"],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        try:
            def port():
                with open(log_path) as f:
                    return re.search(r"127\.0\.0\.1:(\d+)", f.read())
            found = eventually("kubectl proxy listens", port)
            self.node("n1", cpu="40", memory="64Gi")
            scheduler = self.scheduler(
                kubeconfig=self.by_http("by-kubectl-proxy", f"http://127.0.0.1:{found.group(1)}"))
            self.assertEqual(scheduler.log().count(" listed kind="), KINDS)
            for i in range(3):
                self.job(f"g{i}", 10)
            self.assert_all_is_well(30)
            self.assertEqual(scheduler.stop(), 0)
        finally:
            proxy.terminate()
            proxy.wait()

    def test_answers_that_cannot_be_read_are_one_log_line_and_nothing_is_lost(self):
        self.node("n1", cpu="80", memory="64Gi")
        proxy = HttpProxy(self.plane, "krafla")
        scheduler = self.scheduler(kubeconfig=self.by_http("by-http", proxy.url))
        self.assertEqual(proxy.authorizations, set(), "credentials over plain HTTP")
        bound = 0
        lines = 0

        def breaks(name, change):
            """The event of a pod of this name is changed, once."""
            nonlocal bound, lines
            changed = []

            def change_line(path, query, line):
                if path == "/api/v1/pods" and f'"{name}'.encode() in line and not changed:
                    changed.append(line)
                    return change(line)
                return line
            proxy.change_line = change_line
            self.job(name, 2)
            bound += 2
            self.wait_bound(2, prefix=name, patience_s=30)
            self.assertTrue(changed, name)

        def logged(pattern):
            nonlocal lines
            found = [line for line in scheduler.log().splitlines() if re.search(pattern, line)]
            self.assertEqual(len(found), 1, found)

        breaks("nonsense", lambda line: line[:200] + b"\n")
        logged(r"watch cannot be read; listing again kind=Pod object=team-a/nonsense-\d error=")
        # Further ones within a minute are no further lines.
        breaks("error", lambda line: b'{"type":"ERROR","object":["odd"]}\n')
        breaks("binary", lambda line: b"\x00\xff\xfe\n")
        breaks("unnamed", lambda line: re.sub(rb'"name":"unnamed-\d",', b"", line, count=1))
        breaks("cut", lambda line: None)
        logged(r"watch cannot be read; listing again kind=Pod ")

        def large(line):
            event = json.loads(line)
            event["object"]["metadata"].setdefault("annotations", {})["x"] = "y" * (3 << 20)
            return json.dumps(event).encode() + b"\n"
        breaks("large", large)
        logged(r"object is unusually large kind=Pod object=team-a/large-\d bytes=31\d\d\d\d\d")
        self.assert_all_is_well(bound)
        self.assertIsNone(scheduler.process.poll())
        self.assertEqual(scheduler.stop(), 0)
        proxy.close()

    def test_a_list_page_that_is_cut_off_is_read_again(self):
        self.node("n1", cpu="40", memory="64Gi")
        proxy = HttpProxy(self.plane, "krafla")
        self.job("before", 4)
        cut = []

        # As a server without watch-list, so that pages are read.
        def change_line(path, query, line):
            return line

        def change_body(path, query, body):
            if path == "/api/v1/pods" and "limit" in query and len(cut) < 2:
                cut.append(len(body))
                return body[:len(body) // 2]
            return body
        proxy.change_line, proxy.change_body = change_line, change_body
        proxy_forward = proxy.forward

        def without_watch_list(handler):
            if "sendInitialEvents" in handler.path:
                text = b'{"kind":"Status","code":400,"message":"no watch-list here"}'
                handler.send_response(400)
                handler.send_header("Content-Length", str(len(text)))
                handler.end_headers()
                handler.wfile.write(text)
                return
            proxy_forward(handler)
        proxy.forward = without_watch_list
        scheduler = self.scheduler(kubeconfig=self.by_http("by-http-pages", proxy.url))
        self.job("after", 4)
        self.assert_all_is_well(8)
        self.assertEqual(len(cut), 2)
        found = [line for line in scheduler.log().splitlines() if "list cannot be read" in line]
        self.assertEqual(len(found), 1, found)
        self.assertIn("list cannot be read; listing again kind=Pod error=", found[0])
        proxy.close()

    def test_a_denied_write_is_named_with_verb_and_resource_until_it_is_allowed(self):
        plane = self.plane
        roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
        role = plane.get(f"{roles}/krafla")
        good = role["rules"]
        name = "krafla-without-podgroup-writes"
        rules = []
        for rule in good:
            if any(r.startswith("podgroups") for r in rule.get("resources", [])):
                rule = dict(rule, verbs=[v for v in rule["verbs"] if v in ("get", "list", "watch")])
            rules.append(rule)
        plane.apply(
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
             "metadata": {"name": name}, "rules": [r for r in rules if r["verbs"]]},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
             "metadata": {"name": name},
             "subjects": [{"kind": "User", "name": name, "apiGroup": "rbac.authorization.k8s.io"}],
             "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                         "name": name}})
        self.node("n1", cpu="2")
        scheduler = self.scheduler(kubeconfig=plane.kubeconfig(name))
        self.job("big", 4)  # waits, so that there is a condition to write
        denied = "API server denies a required permission; retrying"
        eventually("it is logged", lambda: denied in scheduler.log())
        time.sleep(3)
        found = [line for line in scheduler.log().splitlines() if "API server denies" in line]
        self.assertEqual(len(found), 1, found)
        self.assertRegex(found[0], r" verb=(patch|update) resource=podgroups ")
        self.assertIn(f'User \\"{name}\\" cannot ', found[0])
        plane.apply({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                     "metadata": {"name": name}, "rules": good})
        self.job("bigger", 5)
        eventually("it is over", lambda:
                   "API server grants the required permissions now" in scheduler.log(), 90)

    # ---- exec plugins

    def plugin(self, name, script):
        """A kubeconfig whose user has its certificate from a script. The script finds the
        credential, which is good for five seconds, in $CREDENTIAL."""
        plane = self.plane
        plane.kubeconfig("krafla")
        folder = os.path.join(plane.folder, name)
        os.makedirs(folder)

        def text(part):
            with open(plane.pki.path(part)) as f:
                return f.read()
        with open(os.path.join(folder, "credential.json"), "w") as f:
            json.dump({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
                       "status": {"clientCertificateData": text("krafla.crt"),
                                  "clientKeyData": text("krafla.key"),
                                  "expirationTimestamp": "EXPIRES"}}, f)
        path = os.path.join(folder, "plugin.sh")
        with open(path, "w") as f:
            f.write("#!/bin/sh\ncd " + folder + "\necho run >> runs\n"
                    "give() { sed \"s/EXPIRES/$(date -u -d '+8 seconds' +%Y-%m-%dT%H:%M:%SZ)/\" "
                    "credential.json; }\n" + script)
        os.chmod(path, 0o755)
        conf = plane.kubeconfig(name, credentials={"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "command": path,
            "interactiveMode": "Never"}})
        return folder, conf

    def runs(self, folder):
        try:
            with open(os.path.join(folder, "runs")) as f:
                return len(f.readlines())
        except FileNotFoundError:
            return 0

    def stops_within_10s(self, scheduler):
        begin = time.time()
        scheduler.stop(signal.SIGTERM)
        self.assertLess(time.time() - begin, 10)

    def process_is_gone(self, path):
        with open(path) as f:
            pid = int(f.read())
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        with open(f"/proc/{pid}/stat") as f:
            return ") Z " in f.read()

    def test_a_plugin_is_run_again_before_its_credential_expires(self):
        self.node("n1", cpu="40", memory="64Gi")
        folder, conf = self.plugin("plugin-good", "give\n")
        scheduler = self.scheduler(kubeconfig=conf)
        self.job("g0", 3)
        self.wait_bound(3)
        eventually("it is run again", lambda: self.runs(folder) >= 3, 30)
        self.job("g1", 3)
        self.assert_all_is_well(6)
        self.assertNotIn("credentials", scheduler.log())

    def test_a_plugin_that_hangs_delays_nothing_while_its_credential_is_good_nor_the_end(self):
        self.node("n1", cpu="40", memory="64Gi")
        folder, conf = self.plugin("plugin-hangs", """
if [ -e hang ]; then
  trap '' TERM INT HUP
  sleep 600 & echo $! > grandchild
  touch hangs
  exec >&-
  sleep 600
fi
give
""")
        scheduler = self.scheduler(kubeconfig=conf, flags=("--leader-elect=true",))
        self.job("g0", 3)
        self.wait_bound(3)
        with open(os.path.join(folder, "hang"), "w"):
            pass
        eventually("it hangs", lambda: os.path.exists(os.path.join(folder, "hangs")), 30)
        begin = time.time()
        self.job("g1", 3)
        self.wait_bound(6, patience_s=3)
        self.assertLess(time.time() - begin, 3)
        # Beyond the expiry nothing can be sent; the pages are served all the same.
        time.sleep(6)
        self.assertEqual(scheduler.page("/healthz")[0], 200)
        self.job("g2", 3)
        self.stays("nothing is bound", lambda: len(self.bound()) == 6, 1)
        self.stops_within_10s(scheduler)
        self.assertTrue(self.process_is_gone(os.path.join(folder, "grandchild")))

    def test_a_plugin_that_hangs_from_the_start_delays_no_end(self):
        folder, conf = self.plugin("plugin-never", """
trap '' TERM INT HUP
sleep 600 & echo $! > grandchild
sleep 600
""")
        scheduler = self.scheduler(kubeconfig=conf, ready=False, flags=("--leader-elect=true",))
        eventually("it runs", lambda: os.path.exists(os.path.join(folder, "grandchild")))
        eventually("alive", lambda: scheduler.page("/healthz")[0] == 200)
        self.stops_within_10s(scheduler)
        self.assertTrue(self.process_is_gone(os.path.join(folder, "grandchild")))

    def test_a_plugin_that_prints_nonsense_is_one_log_line(self):
        _, conf = self.plugin("plugin-nonsense", "echo secret-token\n")
        scheduler = self.scheduler(kubeconfig=conf, ready=False)
        eventually("it is logged", lambda: "no credentials" in scheduler.log())
        time.sleep(8)
        found = [line for line in scheduler.log().splitlines() if "exec plugin" in line]
        self.assertEqual(len(found), 1, found)
        self.assertIn("gave no credential: expected an ExecCredential of client.authentication.k8s.io/v1 on its "
                      "standard output, got text that is not a JSON object", found[0])
        self.assertNotIn("secret-token", scheduler.log())
        self.stops_within_10s(scheduler)


if __name__ == "__main__":
    unittest.main()
