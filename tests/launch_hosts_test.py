#!/usr/bin/env python3
"""Checks `hilo launch --hosts`: launch_hosts_test.py HILO [UNITTEST-ARGUMENT...].

What stands in for ssh is a script: its hosts are names for this machine or, where the tests may make them, network namespaces that are joined
by a line with a delay and losses.
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from launch_programs import FOREVER
from network_line import Hosts, may_make_namespaces

HILO = os.path.abspath(sys.argv.pop(1))
HOSTS = ("127.0.0.1", "127.0.0.2")  # both are this machine

SUM = """
HloModule sum, replica_count=4
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main { x = f32[50000] parameter(0)  y = f32[50000] all-reduce(x), replica_groups={}, to_apply=add
  i = f32[50000] iota(), iota_dimension=0  z = f32[] constant(0)  p = f32[50000] multiply(y, i)  ROOT s = f32[] reduce(p, z), dimensions={0}, to_apply=add }
"""


class HostsTestCase(unittest.TestCase):
    # As ssh does, it gives its arguments to a shell, without the variables of its caller, and knows some hosts only.
    SSH = """#!/bin/sh
host=$1; shift
case $host in
  127.0.0.*|user@127.0.0.1) exec env -i PATH="$PATH" HOME="$HOME" sh -c "$*" ;;
  silent) exec sleep 100 ;;
  *) echo "ssh: no host $host" >&2; exit 255 ;;
esac
"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.ssh = self.script("ssh", self.SSH)
        self.sum = self.folder / "sum.hlo"
        self.sum.write_text(SUM)
        self.forever = self.folder / "forever.hlo"
        self.forever.write_text(FOREVER)

    def script(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def command(self, hosts, *rest):
        return [HILO, "launch", f"--hosts={hosts}", f"--ssh={self.ssh}", *map(str, rest)]

    def launch(self, hosts, *rest, **options):
        return subprocess.run(self.command(hosts, *rest), **{"capture_output": True, "text": True, "timeout": 90, "cwd": self.folder, **options})

    def check_nothing_is_left(self, word):
        for _ in range(100):
            left = [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if word in self.text_of(path)]
            if not left:
                return
            time.sleep(0.05)
        self.fail(f"{word} is left: {left}")

    @staticmethod
    def text_of(path):
        try:
            return path.read_text(errors="replace")
        except OSError:
            return ""


class LaunchHostsTest(HostsTestCase):
    def test_ranks_and_variables(self):
        result = self.launch("127.0.0.1:2,127.0.0.2,user@127.0.0.1", "sh", "-c",
                             "echo $HILO_RANK of $HILO_WORLD_SIZE, $HILO_LOCAL_RANK at $HILO_COORDINATOR $JAX_COORDINATOR_ADDRESS in $PWD, ${#HILO_JOB_TOKEN}, $HILO_SECRET$0",
                             env={**os.environ, "HILO_SECRET": "secret"})
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = sorted(result.stdout.splitlines())
        for rank, (line, local) in enumerate(zip(lines, (0, 1, 0, 0))):
            self.assertRegex(line, rf"^\[{rank}\] {rank} of 4, {local} at 127.0.0.1:(\d+) 127.0.0.1:\d+ in {self.folder}, 32, sh$")
        self.assertEqual(len(lines), 4)

    def test_words_arrive_as_they_are(self):
        words = ["", " a  b ", "it's", '"$HOME" `x` $(x)', "back\\slash\\n", "two\nlines\n", "*", "-n", "!x", "ü\t;|&<>"]
        path = self.folder / "words.txt"
        result = self.launch("127.0.0.1", *[f"--env=WORD_{i}={word}" for i, word in enumerate(words)], sys.executable, "-c",
                             f"import os, sys; open({str(path)!r}, 'w').write(repr((sys.argv[1:], [os.environ[f'WORD_{{i}}'] for i in range({len(words)})])))", *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(path.read_text(), repr((words, words)))
        # A word that is longer than a pipe by default.
        result = self.launch("127.0.0.1", "sh", "-c", "echo ${#1}", "sh", "a" * 100_000)
        self.assertEqual(result.stdout, "[0] 100000\n", result.stderr)

    def test_variables_that_are_passed_on(self):
        result = self.launch("127.0.0.1", "--env=GIVEN", "--env=OTHER=a=b", "sh", "-c", "echo $GIVEN $OTHER $NOT_GIVEN", env={**os.environ, "GIVEN": "here", "NOT_GIVEN": "no"})
        self.assertEqual(result.stdout, "[0] here a=b\n", result.stderr)
        here = subprocess.run([HILO, "launch", "-n", "1", "--env=OTHER=a", "sh", "-c", "echo $OTHER"], capture_output=True, text=True)
        self.assertEqual(here.stdout, "[0] a\n", here.stderr)

    def test_secrets_are_not_in_command_lines(self):
        result = self.launch("127.0.0.1", "--env=PASSWORD=hidden", "sh", "-c", "cat /proc/*/cmdline | tr '\\0' ' '; echo", env={**os.environ, "HILO_JOB_TOKEN": "hidden" + "token"})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("hiddentoken", result.stdout)

    def test_programs_run_together(self):
        result = self.launch("127.0.0.1:2,127.0.0.2:2", HILO, "run", self.sum, "--input=random")
        self.assertEqual(result.returncode, 0, result.stderr)
        sums = {line.split(": ", 1)[1] for line in result.stdout.splitlines()}
        self.assertEqual((len(result.stdout.splitlines()), len(sums)), (4, 1), result.stdout)

    def test_host_file(self):
        hosts = self.folder / "hosts"
        hosts.write_text("# of the test\n127.0.0.1 slots=2\n\n127.0.0.2:2  # two\n127.0.0.1\n")
        command = [HILO, "launch", f"--hostfile={hosts}", "sh", "-c", "echo $HILO_RANK $HILO_LOCAL_RANK"]
        result = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, env={**os.environ, "HILO_SSH": str(self.ssh)})
        self.assertEqual(sorted(result.stdout.splitlines()), [f"[{rank}] {rank} {local}" for rank, local in enumerate((0, 1, 0, 1, 2))], result.stderr)
        hosts.write_text("a\nb two\n")
        result = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"expected HOST or HOST:PROCESSES, got 'b two'; in .*, line 2")

    def test_more_than_begin_at_once(self):
        result = self.launch("127.0.0.1:11,127.0.0.2:5", "sh", "-c", "echo $HILO_RANK")
        self.assertEqual(sorted(result.stdout.splitlines()), sorted(f"[{rank}] {rank}" for rank in range(16)), result.stderr)

    def check_failure(self, result, status, last):
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stderr.splitlines()[-len(last):], last)

    def test_a_host_that_is_not_there(self):
        result = self.launch("127.0.0.1,nowhere", "sleep", "12301")
        self.check_failure(result, 255, ["[1] ssh: no host nowhere", f"hilo: rank 1 on nowhere failed first: not started: {self.ssh}: exit status 255"])
        self.check_nothing_is_left("12301")

    def test_no_ssh(self):
        result = self.launch("127.0.0.1", "--ssh=/nowhere/ssh", "true")
        self.check_failure(result, 127, ["[0] hilo: cannot run /nowhere/ssh: No such file or directory",
                                         "hilo: rank 0 on 127.0.0.1 failed first: not started: /nowhere/ssh: exit status 127"])

    def test_a_host_that_does_not_answer(self):
        start = time.monotonic()
        result = self.launch("127.0.0.1,silent", "--start-deadline=1", "sleep", "12302")
        self.assertLess(time.monotonic() - start, 20)
        self.check_failure(result, 255, ["hilo: rank 1 on silent failed first: not started: no answer in 1s"])
        self.check_nothing_is_left("12302")

    def test_no_such_program(self):
        result = self.launch("127.0.0.1", "/nowhere/program")
        self.assertEqual(result.returncode, 127)
        self.assertRegex(result.stderr, r"\[0\] .*/nowhere/program.*\nhilo: rank 0 on 127.0.0.1 failed first: exit status 127\n$")

    def test_no_such_folder(self):
        result = self.launch("127.0.0.1", "--folder=/nowhere", "true")
        self.assertRegex(result.stderr, r"cd: .*/nowhere.*\nhilo: rank 0 on 127.0.0.1 failed first: not started: ")

    def test_no_coordinator(self):
        # Process 0 never serves the store.
        script = f'if [ "$HILO_RANK" = 0 ]; then exec sleep 12303; fi; exec "{HILO}" run "{self.sum}" --input=random'
        result = self.launch("127.0.0.1:2,127.0.0.2:2", "--address=127.0.0.1:1", "sh", "-c", script)
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"UNAVAILABLE: .*cannot connect to 127.0.0.1:1: Connection refused; at the coordinator 127.0.0.1:1\nhilo: rank [123] on 127.0.0.[12] failed first: exit status 1\n$")
        self.check_nothing_is_left("12303")

    def test_a_process_that_is_killed(self):
        script = f'if [ "$HILO_RANK" = 2 ]; then (sleep 1; kill -9 $$) & fi; exec "{HILO}" run "{self.forever}" --input=1 --deadline=20'
        result = self.launch("127.0.0.1:2,127.0.0.2:2", "sh", "-c", script)
        self.check_failure(result, 137, ["hilo: rank 2 on 127.0.0.2 failed first: ended by signal 9 (Killed)"])
        self.check_nothing_is_left(str(self.forever))

    def test_a_process_that_is_started_again(self):
        script = f'echo once >> {self.folder}/lives$HILO_RANK; if [ "$HILO_RANK" = 1 ] && [ $(wc -l < {self.folder}/lives1) -lt 3 ]; then kill -9 $$; fi; echo done'
        result = self.launch("127.0.0.1,127.0.0.2", "--restarts=2", "sh", "-c", script)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.count("hilo: rank 1 on 127.0.0.2: ended by signal 9 (Killed); started again"), 2, result.stderr)

    def run_and(self, end, script, *flags):
        """Starts two processes, does `end` to the launcher when both run, and returns what it says."""
        with subprocess.Popen(self.command("127.0.0.1,127.0.0.2", *flags, "sh", "-c", script), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder) as job:
            for _ in range(2):
                self.assertIn("ready", job.stdout.readline())
            end(job)
            out, error = job.communicate(timeout=30)
        return job.returncode, out, error

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            name = signal.Signals(number).name[3:]
            status, out, _ = self.run_and(lambda job: job.send_signal(number), f"trap 'echo got {name}; exit 3' {name}; echo ready; while :; do sleep 0.1; done")
            self.assertEqual((status, sorted(out.splitlines())), (3, [f"[{rank}] got {name}" for rank in (0, 1)]))

    def test_what_ignores_signals_is_killed(self):
        status, _, _ = self.run_and(lambda job: job.terminate(), "trap '' TERM; echo ready; while :; do sleep 0.1; done; exit 12304")
        self.assertEqual(status, 128 + signal.SIGKILL)
        self.check_nothing_is_left("12304")

    def test_nothing_survives_the_launcher(self):
        self.run_and(lambda job: job.kill(), "echo ready; sleep 12305")
        self.check_nothing_is_left("12305")

    def test_nothing_survives_its_process(self):
        result = self.launch("127.0.0.1", "sh", "-c", "sleep 12306 & echo ends")
        self.assertEqual(result.stdout, "[0] ends\n", result.stderr)
        self.check_nothing_is_left("12306")

    def test_a_coordination_service(self):
        python = self.script("python", '#!/bin/sh\necho "$@" for $HOME; exec sleep 12307')
        result = self.launch("127.0.0.2,127.0.0.1", f"--coordinator={python}", "--address=127.0.0.2:23456", "sh", "-c", "sleep 1; echo $JAX_COORDINATOR_ADDRESS $JAX_COORDINATOR_BIND_ADDRESS")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(sorted(result.stdout.splitlines()), ["[0] 127.0.0.2:23457 127.0.0.1:0", "[1] 127.0.0.2:23457 127.0.0.1:0",
                                                              f"[coordinator] -m jax_plugins.hilo.coordinator 127.0.0.2:23457 2 100 for {os.environ['HOME']}"])
        self.check_nothing_is_left("12307")

    def test_wrong_flags(self):
        for flags, expected in ((["--hosts=a,,b"], "expected HOST or HOST:PROCESSES, got ''"), (["--hosts=a:0"], "got 'a:0'"), (["--hosts=a:x"], "got 'a:x'"),
                                (["--hosts=-oProxyCommand=x"], "got '-oProxyCommand=x'"), (["--hosts=a", "-n", "3"], "-n 3, but the hosts are to have 1"),
                                (["--hosts=a", "--hostfile=b"], "not both"), (["--hostfile=/nowhere/hosts"], "cannot read the host file"), (["-n", "2", "--ssh=x"], "--ssh is for --hosts"),
                                (["--hosts=a:1024,b"], "at most 1024"), (["--hosts=a", "--env=1X=2"], "expected NAME or NAME=VALUE"), (["--hosts=a", "--env=HILO_NO_SUCH"], "no such variable"),
                                (["--hosts=a", "--address=a:65535"], "the next port is JAX's"), (["--hosts=a", "--ssh="], "expected a command")):
            with self.subTest(flags=flags):
                result = subprocess.run([HILO, "launch", *flags, "true"], capture_output=True, text=True, timeout=20)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(expected, result.stderr)


@unittest.skipUnless(may_make_namespaces(), "network namespaces need root, ip and /dev/net/tun")
class NamespacesTest(HostsTestCase):
    """Two hosts with addresses of their own. What is sent takes 5 ms, and 2 of 100 packets are lost."""

    SSH = """#!/bin/sh
case $1 in 10.213.7.1) name=NAME_A ;; *) name=NAME_B ;; esac
shift
exec ip netns exec $name env -i PATH="$PATH" HOME="$HOME" sh -c "$*"
"""

    def setUp(self):
        super().setUp()
        hosts = Hosts(0.005, 0.02)
        self.script("ssh", self.SSH.replace("NAME_A", hosts.names[0]).replace("NAME_B", hosts.names[1]))
        hosts.__enter__()
        self.addCleanup(hosts.__exit__)
        self.line = hosts.line

    def test_a_line_with_delay_and_losses(self):
        result = self.launch("10.213.7.1:2,10.213.7.2:2", "--transport=tcp", HILO, "run", self.sum, "--input=random")
        self.assertEqual(result.returncode, 0, result.stderr)
        one = subprocess.run([HILO, "run", self.sum, "--input=random"], capture_output=True, text=True, timeout=60)
        self.assertEqual(sorted(line.split("] ", 1)[1] for line in result.stdout.splitlines()), sorted(one.stdout.splitlines()))

    def test_a_process_that_dies_far_away(self):
        script = f'if [ "$HILO_RANK" = 2 ]; then (sleep 1; kill -9 $$) & fi; exec "{HILO}" run "{self.forever}" --input=1 --deadline=20'
        result = self.launch("10.213.7.1:2,10.213.7.2:2", "--transport=tcp", "sh", "-c", script)
        self.assertEqual(result.returncode, 137, result.stderr)
        self.assertEqual(result.stderr.splitlines()[-1], "hilo: rank 2 on 10.213.7.2 failed first: ended by signal 9 (Killed)")

    def test_a_line_that_is_cut(self):
        self.line.packets = 1000  # some 100 of them until all are connected
        result = self.launch("10.213.7.1:2,10.213.7.2:2", "--transport=tcp", HILO, "run", self.forever, "--input=1", "--deadline=5")
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"DEADLINE_EXCEEDED: .*all-reduce.* \(number \d+\).*ranks?")
        self.check_nothing_is_left(str(self.forever))


if __name__ == "__main__":
    unittest.main()
