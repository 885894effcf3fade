"""Looking into a running scheduler: the HTTP API, explain --server, records and replays."""
import glob
import gzip
import json
import os
import signal
import subprocess
import urllib.error
import urllib.request

from cluster_test_case import CONFIG, ClusterTestCase, eventually
from control_plane import free_port


class SeeingIn(ClusterTestCase):
    def api(self, scheduler, page, status=200):
        code, text = scheduler.page("/api/v1/" + page, scheduler.metrics_port)
        self.assertEqual(code, status, text)
        return json.loads(text)

    def krafla(self, *arguments):
        done = subprocess.run([os.environ["KRAFLA"], *arguments], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.returncode, done.stdout, done.stderr

    def contest(self, scheduler):
        """A low job runs, a high one takes its place, a third waits."""
        self.job("low", 4, min_member=1, priority="low")
        self.wait_running(4, prefix="low")
        self.job("high", 2, priority="high")
        self.wait_bound(2, prefix="high")
        self.job("huge", 1, cpu="100")
        eventually("the third is known", lambda: any(
            job["name"] == "huge" and job["pods"]["waiting"] == 1 for job in self.api(scheduler, "jobs")["jobs"]))

    def start(self, *flags):
        self.node("n1", cpu="4500m")
        self.priority_class("low", 10)
        self.priority_class("high", 1000)
        return self.scheduler(flags=flags)

    def test_pages_show_queues_jobs_evictions_and_cycles(self):
        scheduler = self.start()
        self.contest(scheduler)
        queues = {q["name"]: q for q in self.api(scheduler, "queues")["queues"]}
        self.assertEqual(queues["default"]["state"], "Open")
        self.assertGreaterEqual(queues["default"]["pods"]["placed"], 2)
        jobs = {j["name"]: j for j in self.api(scheduler, "jobs?namespace=team-a")["jobs"]}
        self.assertEqual(sorted(jobs), ["high", "huge", "low"])
        self.assertEqual(jobs["high"]["waitsFor"], None)
        self.assertIn("not enough room on n1", jobs["huge"]["waitsFor"])
        self.assertEqual(jobs["huge"]["pods"]["waiting"], 1)
        self.assertEqual(self.api(scheduler, "jobs?namespace=team-b")["jobs"], [])
        self.assertEqual(len(self.api(scheduler, "jobs?limit=1")["jobs"]), 1)
        self.assertEqual(self.api(scheduler, "jobs?limit=1")["leftOut"], 2)
        evictions = self.api(scheduler, "evictions")["evictions"]
        self.assertEqual({e["action"] for e in evictions}, {"preempt"})
        self.assertTrue(all(e["for"].startswith("team-a/high-") for e in evictions))
        self.assertTrue(all(e["pod"].startswith("team-a/low-") for e in evictions))
        self.assertIn("priority", evictions[0]["allowedBy"])
        cycles = self.api(scheduler, "cycles")["cycles"]
        self.assertGreaterEqual(sum(c["binds"] for c in cycles), 6)
        self.assertIn("allocate", [step["name"] for step in cycles[0]["steps"]])
        self.assertEqual(self.api(scheduler, "zones")["zones"], [])

    def test_dashboards_for_volcano_find_their_metrics(self):
        scheduler = self.start()
        self.queue("bounded", weight=1, capability={"cpu": "2", "nvidia.com/gpu": "1"})
        self.contest(scheduler)
        self.job("inside", 1, cpu="100m", queue="bounded")
        self.wait_bound(1, prefix="inside")
        amounts = [f"queue_{what}_{unit}" for unit in ("milli_cpu", "memory_bytes",
                                                       "scalar_resources")
                   for what in ("allocated", "capacity", "deserved", "inqueue", "real_capacity",
                                "request") if (what, unit) != ("inqueue", "scalar_resources")]
        names = amounts + [
            "action_scheduling_latency_milliseconds_count", "e2e_job_scheduling_duration",
            "e2e_job_scheduling_last_time", "e2e_job_scheduling_latency_milliseconds_count",
            "e2e_job_scheduling_start_time", "e2e_scheduling_latency_milliseconds_count",
            "eviction_transactions_total", "job_retry_counts", "job_share", "namespace_share",
            "namespace_weight", "plugin_scheduling_latency_milliseconds_count",
            "namespace_weighted_share", "open_session_duration_milliseconds_count",
            "pod_preemption_victims", "queue_overused", "queue_share", "queue_weight",
            "schedule_attempts_total", "scheduling_stage_duration_milliseconds_count",
            "task_scheduling_latency_milliseconds_count", "total_preemption_attempts",
            "unschedule_job_count", "unschedule_task_count"]

        def missing():
            _, text = scheduler.page("/metrics", scheduler.metrics_port)
            return [name for name in names
                    if f"\nvolcano_{name} " not in text and f"\nvolcano_{name}{{" not in text]
        eventually("every name is there", lambda: not missing() or None)
        self.assertEqual(missing(), [])
        self.assertGreater(scheduler.metric('volcano_job_share{job_id="low",job_ns="team-a"}'), 0)
        _, text = scheduler.page("/metrics", scheduler.metrics_port)
        for name in ("krafla_watch_lag_seconds{kind=\"pods\"}", "krafla_cooldowns_active",
                     "krafla_state_bytes", "krafla_state_gaps_total 0"):
            self.assertIn(name, text)

    def test_wrong_requests_are_told_apart(self):
        scheduler = self.start()
        self.assertIn("/api/v1/jobs", self.api(scheduler, "job", 404)["pages"])
        self.assertIn("did you mean", self.api(scheduler, "jobs?namespce=a", 400)["error"])
        self.assertIn("limit", self.api(scheduler, "jobs?limit=x", 400)["error"])
        self.assertIn("kind", self.api(scheduler, "explain?kind=node&name=n1", 400)["error"])
        request = urllib.request.Request(
            f"http://127.0.0.1:{scheduler.metrics_port}/api/v1/jobs", method="DELETE")
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=5)
        self.assertEqual(refused.exception.code, 405)
        self.assertEqual(refused.exception.headers["Allow"], "GET, HEAD")
        head = urllib.request.Request(
            f"http://127.0.0.1:{scheduler.metrics_port}/api/v1/jobs", method="HEAD")
        with urllib.request.urlopen(head, timeout=5) as answer:
            self.assertEqual((answer.status, answer.read()), (200, b""))
        # Health has a server of its own, without the API.
        self.assertEqual(scheduler.page("/api/v1/jobs")[0], 404)

    def test_explain_asks_the_running_scheduler(self):
        scheduler = self.start()
        self.contest(scheduler)
        url = f"http://127.0.0.1:{scheduler.metrics_port}"
        code, text, problem = self.krafla("explain", "job", "team-a/huge", "--server", url)
        self.assertEqual((code, problem), (0, ""), text)
        self.assertIn("team-a/huge waits", text)
        code, text, _ = self.krafla("explain", "job", "team-a/huge", "--server", url, "-o", "json")
        self.assertEqual(code, 0)
        self.assertEqual(json.loads(text)["name"], "team-a/huge")
        code, text, _ = self.krafla("explain", "queue", "default", "--server", url)
        self.assertEqual(code, 0)
        code, _, problem = self.krafla("explain", "job", "team-a/hug", "--server", url)
        self.assertEqual(code, 2)
        self.assertIn('did you mean "team-a/huge"?', problem)
        # The health server is none of ours, as far as explanations go.
        code, _, problem = self.krafla("explain", "job", "x", "--server",
                                       f"127.0.0.1:{scheduler.health_port}")
        self.assertEqual(code, 2)
        self.assertIn("does not answer as krafla serve does", problem)
        code, _, problem = self.krafla("explain", "job", "x", "--server",
                                       f"http://127.0.0.1:{free_port()}")
        self.assertEqual(code, 2)
        self.assertIn("cannot be reached", problem)

    def test_a_scheduler_that_is_not_ready_says_so(self):
        path = self.plane.kubeconfig("lost", cluster={"server": "https://127.0.0.1:1"})
        scheduler = self.scheduler(kubeconfig=path, ready=False)
        eventually("alive", lambda: scheduler.page("/healthz")[0] == 200)
        self.assertIn("not ready", self.api(scheduler, "jobs", 503)["error"])
        code, _, problem = self.krafla("explain", "job", "x", "--server",
                                       f"http://127.0.0.1:{scheduler.metrics_port}")
        self.assertEqual(code, 2)
        self.assertIn("not ready", problem)

    def folder(self, name):
        return os.path.join(self.plane.folder, f"record-{self.id().rsplit('.', 1)[1]}-{name}")

    def test_a_record_is_replayed_to_the_same_decisions(self):
        folder = self.folder("a")
        scheduler = self.start(f"--record={folder}")
        self.contest(scheduler)
        # A pod that is a group of its own, with something nobody must see.
        self.pod("bare", cpu="100m", containers=[
            {"name": "c", "image": "none", "env": [{"name": "TOKEN", "value": "s3cret"}],
             "resources": {"requests": {"cpu": "100m"}}}])
        self.wait_bound(1, prefix="bare")
        scheduler.write_config(CONFIG.replace("preempt, ", ""))
        eventually("reloaded", lambda: scheduler.metric("krafla_config_reloads_total") >= 1)
        self.job("last", 1, cpu="100m")
        self.wait_bound(1, prefix="last")
        self.assertEqual(scheduler.stop(), 0)
        for path in glob.glob(folder + "/*.gz"):
            with gzip.open(path, "rt") as f:
                self.assertNotIn("s3cret", f.read())
        code, text, problem = self.krafla("run", "--replay", folder)
        self.assertEqual((code, problem), (0, ""), text)
        self.assertIn("as recorded", text)
        for what in ("bind team-a/high-0 to n1 by", "evict team-a/low-", "bind team-a/bare to n1",
                     "bind team-a/last-0 to n1", "phase team-a/high Pending -> Inqueue"):
            self.assertIn(what, text)
        code, text, _ = self.krafla("run", "--replay", glob.glob(folder + "/*.gz")[0], "-o", "json")
        self.assertEqual((code, json.loads(text)["equal"]), (0, True))

    def test_a_record_of_a_killed_scheduler_is_replayed_as_far_as_it_goes(self):
        folder = self.folder("a")
        scheduler = self.start(f"--record={folder}", "--record-limit=8Mi")
        self.contest(scheduler)

        def decided():
            code, text, _ = self.krafla("run", "--replay", folder)
            return code == 0 and "evict team-a/low-" in text and text
        # Also while it is written.
        self.assertIn("the end of the segment is missing", eventually("it is on disk", decided))
        scheduler.stop(signal.SIGKILL)
        self.assertIn("as recorded", decided())
        # The next one goes on beside it.
        scheduler.start()
        scheduler.wait_until_ready()
        self.job("next", 1, cpu="100m")
        self.wait_bound(1, prefix="next")
        self.assertEqual(scheduler.stop(), 0)
        self.assertEqual(len(glob.glob(folder + "/*.gz")), 2)
        code, text, _ = self.krafla("run", "--replay", folder)
        self.assertEqual(code, 0, text)
        self.assertIn("bind team-a/next-0", text)

    def test_two_do_not_record_into_one_folder(self):
        folder = self.folder("a")
        first = self.start(f"--record={folder}")
        second = self.scheduler(flags=(f"--record={folder}",), ready=False)
        self.assertEqual(second.process.wait(20), 2)
        self.assertIn(f"--record: error: {folder} is in use", second.log())
        # The lock does not outlive its process, whatever became of it.
        first.stop(signal.SIGKILL)
        second.start()
        second.wait_until_ready()
        self.assertEqual(second.stop(), 0)

    def test_what_is_no_record_is_said(self):
        empty = self.folder("empty")
        os.makedirs(empty, exist_ok=True)
        code, _, problem = self.krafla("run", "--replay", empty)
        self.assertEqual(code, 2)
        self.assertIn("holds no segment", problem)
        self.assertEqual(self.krafla("run", "--replay", empty + "/none")[0], 2)
        code, _, problem = self.krafla("run", "--replay", empty, "--cluster", "x.yaml")
        self.assertEqual(code, 2)
        self.assertIn("not together with --replay", problem)
