#!/usr/bin/env python3
"""Runs JAX's own detection of a Kubernetes cluster on the manifests of examples/kubernetes: kubernetes_test.py PLUGIN [UNITTEST-ARGUMENT...].

Needs jax, the client `kubernetes` and PyYAML; without them it is skipped. A server on loopback stands in for the cluster's API: it allows what the role allows, and answers as the
API would for pods of the manifests. Each pod is a process with the variables and names that Kubernetes gives it.
"""

import http.server
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import unittest
import urllib.parse

try:
    import jax, kubernetes, yaml
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

PLUGIN = os.path.abspath(sys.argv.pop(1))
SOURCES = pathlib.Path(__file__).resolve().parents[2]
MANIFESTS = SOURCES / "examples/kubernetes"

# In a pod: what the cluster mounts and resolves is replaced, JAX's detection and the client of the API are as they are.
POD = """
import json, os, socket, sys, unittest.mock
import kubernetes
names = json.loads(os.environ["TEST_NAMES"])
def load():
    kubernetes.client.Configuration.set_default(kubernetes.client.Configuration(host=os.environ["TEST_API"]))
def resolve(name):
    if name not in names: raise socket.gaierror(f"no such name: {name}")
    return names[name]
with unittest.mock.patch.object(kubernetes.config, "load_incluster_config", load), unittest.mock.patch.object(socket, "gethostbyname", resolve):
    from jax._src.clusters.k8s_cluster import K8sCluster
    K8sCluster._namespace = classmethod(lambda cls: "default")
    assert K8sCluster.is_env_present()
    address = K8sCluster.get_coordinator_address(5, None)
    print(json.dumps([address, K8sCluster.get_process_count(), K8sCluster.get_process_id()]))
    if len(sys.argv) > 1:  # what connects by the name is not Python; JAX asks the cluster for the rest
        import jax
        jax.distributed.initialize(f"{names[address.split(':')[0]]}:{sys.argv[1]}")
if len(sys.argv) > 1:
    import numpy as np
    from jax.sharding import NamedSharding, PartitionSpec
    sharding = NamedSharding(jax.make_mesh((jax.device_count(),), ("x",)), PartitionSpec("x"))
    ones = jax.make_array_from_callback((jax.device_count(),), sharding, lambda index: np.ones(1, np.float32))
    print(json.dumps([jax.default_backend(), float(jax.jit(lambda x: x.sum(), out_shardings=NamedSharding(sharding.mesh, PartitionSpec()))(ones))]))
"""


def documents(name):
    return list(yaml.safe_load_all((MANIFESTS / name).read_text()))


class Cluster:
    """The objects that a cluster makes of a Job, as far as JAX asks for them."""

    def __init__(self, name, job, subdomain, labels, services):
        assert job["completionMode"] == "Indexed" and job["completions"] == job["parallelism"]
        self.size = job["parallelism"]
        self.job = {"metadata": {"name": name, "labels": labels}, "spec": job}
        self.services = [{"metadata": service["metadata"], "spec": service["spec"]} for service in services]
        self.names = {f"{name}-{i}.{subdomain}": f"127.0.0.{i + 1}" for i in range(self.size)}
        self.names.update({f"{name}-{i}": f"127.0.0.{i + 1}" for i in range(self.size)})
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": "1", "controller": True}
        self.pods = [{"metadata": {"name": f"{name}-{i}-abcde", "labels": {"job-name": name}, "ownerReferences": [owner]},
                      "spec": {**job["template"]["spec"], "subdomain": subdomain}, "status": {"podIP": f"127.0.0.{i + 1}"}} for i in range(self.size)]
        role = next(one for one in documents("service_account.yaml") if one["kind"] == "Role")
        allowed = {(resource, verb) for rule in role["rules"] for resource in rule["resources"] for verb in rule["verbs"]}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(handler):
                url = urllib.parse.urlparse(handler.path)
                resource, *rest = url.path.split("/namespaces/default/")[1].split("/")
                status, answer = 200, None
                if (resource, "get" if rest else "list") not in allowed:
                    status, answer = 403, {"reason": "Forbidden"}
                elif resource == "pods":
                    address = urllib.parse.parse_qs(url.query)["fieldSelector"][0].removeprefix("status.podIP=")
                    answer = {"items": [pod for pod in self.pods if pod["status"]["podIP"] == address]}
                elif resource == "services":
                    answer = {"items": self.services}
                elif resource == "jobs" and rest == [name]:
                    answer = self.job
                else:
                    status, answer = 404, {"reason": "NotFound"}
                body = json.dumps(answer).encode()
                handler.send_response(status)
                handler.send_header("Content-Type", "application/json")
                handler.send_header("Content-Length", str(len(body)))
                handler.end_headers()
                handler.wfile.write(body)

            def log_message(handler, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def pod(self, index, *arguments, **variables):
        environment = {**os.environ, "KUBERNETES_SERVICE_HOST": "127.0.0.1", "HOSTNAME": f"{self.job['metadata']['name']}-{index}", "JOB_COMPLETION_INDEX": str(index),
                       "TEST_API": f"http://127.0.0.1:{self.server.server_port}", "TEST_NAMES": json.dumps(self.names), **variables}
        return subprocess.Popen([sys.executable, "-c", POD, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


class KubernetesTest(unittest.TestCase):
    def cluster(self, *arguments):
        cluster = Cluster(*arguments)
        self.addCleanup(cluster.server.server_close)
        self.addCleanup(cluster.server.shutdown)
        return cluster

    def jobset(self):
        jobset, = documents("jobset.yaml")
        workers, = jobset["spec"]["replicatedJobs"]
        self.assertEqual(workers["replicas"], 1)
        name = jobset["metadata"]["name"]
        return self.cluster(f"{name}-{workers['name']}-0", workers["template"]["spec"], name, {"jobset.sigs.k8s.io/jobset-name": name}, [])

    def job(self):
        service, job = documents("job.yaml")
        self.assertEqual(service["spec"]["selector"], {"job-name": job["metadata"]["name"]})
        subdomain = job["spec"]["template"]["spec"]["subdomain"]
        self.assertEqual(service["metadata"]["name"], subdomain)
        return self.cluster(job["metadata"]["name"], job["spec"], subdomain, job["metadata"]["labels"], [service])

    def check(self, cluster, coordinator):
        for index in (0, cluster.size - 1):
            with cluster.pod(index) as pod:
                out, error = pod.communicate(timeout=60)
            self.assertEqual(pod.returncode, 0, error)
            self.assertEqual(json.loads(out), [f"{coordinator}:55527", cluster.size, index])

    def test_jobset(self):
        self.check(self.jobset(), "train-workers-0-0.train")

    def test_job(self):
        self.check(self.job(), "train-0.train")

    def test_accounts_and_variables(self):
        kinds = {one["kind"]: one for one in documents("service_account.yaml")}
        for spec in (documents("jobset.yaml")[0]["spec"]["replicatedJobs"][0]["template"]["spec"], documents("job.yaml")[1]["spec"]):
            pod = spec["template"]["spec"]
            self.assertEqual(pod["serviceAccountName"], kinds["ServiceAccount"]["metadata"]["name"])
            self.assertIn({"name": "JAX_PLATFORMS", "value": "hilo"}, pod["containers"][0]["env"])

    def test_a_program_runs(self):
        cluster = self.jobset()
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        variables = {"JAX_PLATFORMS": "hilo", "HILO_PJRT_LIBRARY": PLUGIN, "HILO_CODE_CACHE_MB": "0", "PYTHONPATH": str(SOURCES / "python")}
        pods = [cluster.pod(index, str(port), **variables) for index in range(cluster.size)]
        for pod in pods:
            with pod:
                out, error = pod.communicate(timeout=120)
            self.assertEqual(pod.returncode, 0, error)
            self.assertEqual(json.loads(out.splitlines()[1]), ["hilo", float(cluster.size)])


if __name__ == "__main__":
    unittest.main()
