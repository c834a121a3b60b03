#!/usr/bin/env python3
"""Checks `hilo launch`, and `hilo run` as one of several processes: launch_test.py HILO.

The replicated programs give the same bits over two and four processes as in one. What fails ends the job, and nothing is left of it.
"""

import glob
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import zipfile

from launch_programs import FOREVER

HILO = os.path.abspath(sys.argv.pop(1))
PROGRAMS = pathlib.Path(__file__).parent / "programs" / "replicated"

SUM = """
HloModule sum, replica_count=4
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main { x = f32[4] parameter(0)  ROOT y = f32[4] all-reduce(x), replica_groups={}, to_apply=add }
"""


def launch(processes, *program, environment=None, timeout=60):
    return subprocess.run([HILO, "launch", "-n", str(processes), *map(str, program)], capture_output=True, text=True,
                          timeout=timeout, env={**os.environ, **(environment or {})})


def arrays(pattern):
    """The members of archives, as they are in the files."""
    members = {}
    for path in sorted(glob.glob(str(pattern))):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                assert name not in members, name
                members[name] = archive.read(name)
    return members


class LaunchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.sum = self.folder / "sum.hlo"
        self.sum.write_text(SUM)
        self.forever = self.folder / "forever.hlo"
        self.forever.write_text(FOREVER)

    def check_same_bits(self, programs, numbers, *flags):
        for path in programs:
            command = [HILO, "run", path.with_suffix(".hlo"), f"--inputs={path}", *flags]
            one = self.folder / "one.npz"
            subprocess.run([*command, f"--outputs={one}"], check=True, capture_output=True, timeout=60)
            expected = arrays(one)
            devices = {name.split("_r")[1] for name in expected}
            for processes in numbers:
                if len(devices) % processes != 0:
                    continue
                with self.subTest(program=path.stem, processes=processes):
                    result = launch(processes, *command, f"--outputs={self.folder / 'several.npz'}")
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.assertEqual(arrays(self.folder / "several_p*.npz"), expected)
                    for written in self.folder.glob("several_p*.npz"):
                        written.unlink()

    def test_mpi_that_is_not_there(self):
        result = launch(2, HILO, "run", self.sum, "--input=random",
                        environment={"HILO_TRANSPORT": "mpi", "HILO_MPI_LIBRARY": "libnone.so.1"})
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("there is no MPI: looked for libnone.so.1", result.stderr)

    def test_programs_give_the_same_bits(self):
        # `hilo run` writes bf16, which one of them has, but does not read it back from there.
        programs = [path for path in sorted(PROGRAMS.glob("*.npz")) if path.stem != "types"]
        self.assertGreater(len(programs), 4)
        self.check_same_bits(programs, (2, 4))

    def test_emulated_gpus_give_the_same_bits(self):
        programs = [PROGRAMS / f"{name}.npz" for name in ("collectives", "ring_product", "sharded_rules", "tensor_parallel_step", "steps_until_small")]
        self.check_same_bits(programs, (2,), "--platform=cuda-emulated")

    def test_output_is_prefixed(self):
        result = launch(2, HILO, "run", self.sum, "--input={1,2,3,4}")
        self.assertEqual(result.returncode, 0, result.stderr)
        for rank, replica in ((0, 0), (0, 1), (1, 2), (1, 3)):
            self.assertRegex(result.stdout, rf"(?m)^\[{rank}\] out0_r{replica}: f32\[4\].* \{{4, 8, 12, 16\}}$")

    def test_over_tcp_with_a_token(self):
        # Each process gets what a launcher without a store gives.
        port = 20000 + os.getpid() % 10000
        script = f"export HILO_COORDINATOR=127.0.0.1:{port}; exec \"$@\""
        command = ["sh", "-c", script, "sh", HILO, "run", self.sum, "--input={1,2,3,4}"]
        result = launch(2, *command, environment={"HILO_JOB_TOKEN": "secret"})
        self.assertEqual(result.returncode, 0, result.stderr)
        environment = {key: value for key, value in os.environ.items() if key != "HILO_JOB_TOKEN"}
        without = subprocess.run([HILO, "launch", "-n", "2", *map(str, command)], capture_output=True, text=True, timeout=60, env=environment)
        self.assertNotEqual(without.returncode, 0)
        self.assertIn("HILO_JOB_TOKEN", without.stderr)

    def test_transports(self):
        for flags, expected in (((), "shared memory"), (("--transport=shm",), "shared memory"), (("--transport=tcp",), "TCP")):
            result = subprocess.run([HILO, "launch", "-n", "2", *flags, HILO, "devices", "--platform=cuda-emulated"], capture_output=True, text=True, timeout=60)
            self.assertEqual(result.returncode, 0, result.stderr)
            for rank in (0, 1):
                self.assertIn(f"[{rank}] process {rank} of 2: {expected}\n", result.stdout)
        unknown = subprocess.run([HILO, "launch", "-n", "2", "--transport=udp", "true"], capture_output=True, text=True)
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("expected auto, shm, tcp or mpi, got 'udp'", unknown.stderr)
        # One of two cannot insist on what the other does not want.
        result = launch(2, "sh", "-c", f'if [ "$HILO_RANK" = 1 ]; then export HILO_TRANSPORT=tcp; fi; exec "{HILO}" run "{self.sum}" "--input={{1,2,3,4}}" --deadline=20', environment={"HILO_TRANSPORT": "shm"})
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("process 0 shares no memory with process 1, but the transport is shm", result.stderr)

    def test_programs_give_the_same_bits_over_tcp(self):
        with unittest.mock.patch.dict(os.environ, HILO_TRANSPORT="tcp"):
            self.check_same_bits([PROGRAMS / "collectives.npz"], (2, 4))

    def test_devices_that_cannot_be_shared(self):
        result = launch(3, HILO, "run", self.sum, "--input={1,2,3,4}")
        self.assertEqual(result.returncode, 2)
        self.assertIn("4 devices (replicas times partitions), which cannot be shared equally by the 3 processes", result.stderr)

    def run_forever(self, script, *flags):
        """The ranks run without end but for one, which does what the script says."""
        start = time.monotonic()
        result = launch(4, "sh", "-c", f'if [ "$HILO_RANK" = 2 ]; then {script} fi; exec "{HILO}" run "{self.forever}" --input=1 --deadline=20 {" ".join(flags)}')
        self.assertLess(time.monotonic() - start, 15)
        self.assertEqual(list(pathlib.Path(tempfile.gettempdir()).glob("hilo_launch_*")), [])
        return result

    def test_a_rank_that_is_killed(self):
        result = self.run_forever('(sleep 1; kill -9 $$) &')
        self.assertEqual(result.returncode, 137, result.stderr)
        self.assertEqual(result.stderr.strip().splitlines()[-1], "hilo: rank 2 failed first: ended by signal 9 (Killed)")

    def test_an_emulated_gpu_whose_process_is_killed(self):
        result = self.run_forever('(sleep 1; kill -9 $$) &', "--platform=cuda-emulated")
        self.assertEqual(result.returncode, 137, result.stderr)
        self.assertIn("UNAVAILABLE", result.stderr)

    def test_a_rank_that_fails(self):
        result = self.run_forever("echo I failed >&2; exit 7;")
        self.assertEqual(result.returncode, 7, result.stderr)
        self.assertEqual(result.stderr.strip().splitlines()[-2:], ["[2] I failed", "hilo: rank 2 failed first: exit status 7"])

    def test_a_rank_with_another_program(self):
        result = self.run_forever(f'exec "{HILO}" run "{self.sum}" "--input={{1,2,3,4}}";')
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("disagree", result.stderr)
        self.assertIn("(number 1)", result.stderr)

    def script(self, text):
        path = self.folder / "script"
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return path

    def launch_with(self, flags, text):
        return subprocess.run([HILO, "launch", "-n", "3", *flags, self.script(text)], capture_output=True, text=True, timeout=60)

    def test_a_rank_that_is_started_again(self):
        fails_twice = f'echo once >> {self.folder}/lives$HILO_RANK; if [ "$HILO_RANK" = 1 ] && [ $(wc -l < {self.folder}/lives1) -lt 3 ]; then printf dies; kill -9 $$; fi; echo done'
        result = self.launch_with(["--restarts=2"], fails_twice)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.splitlines(), [f"hilo: rank 1: ended by signal 9 (Killed); started again, {n} of 2" for n in (1, 2)])
        self.assertEqual(sorted(result.stdout.splitlines()), ["[0] done", "[1] dies", "[1] dies", "[1] done", "[2] done"])
        (self.folder / "lives1").unlink()
        result = self.launch_with(["--restarts=1"], fails_twice)
        self.assertEqual(result.returncode, 137, result.stderr)
        self.assertEqual(result.stderr.splitlines()[-1], "hilo: rank 1 failed first: ended by signal 9 (Killed)")

    def test_a_rank_that_ends_later_than_those_that_lost_it(self):
        result = self.launch_with([], 'if [ "$HILO_RANK" = 1 ]; then sleep 0.3; exit 7; fi; echo UNAVAILABLE: process 1 has left >&2; exit 1')
        self.assertEqual(result.returncode, 7, result.stderr)
        self.assertEqual(result.stderr.splitlines()[-1], "hilo: rank 1 failed first: exit status 7")

    def test_a_rank_that_fails_beside_one_that_prints_without_a_pause(self):
        script = self.script('if [ "$HILO_RANK" = 1 ]; then sleep 0.5; exit 7; fi; exec yes')
        result = subprocess.run([HILO, "launch", "-n", "2", script], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(result.returncode, 7, result.stderr)

    def test_all_that_ranks_wrote_is_shown(self):
        result = self.launch_with([], "seq 12000")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(result.stdout.splitlines()), 36000)

    def test_the_others_go_on(self):
        result = self.launch_with(["--keep-going"], 'if [ "$HILO_RANK" = 1 ]; then exit 7; fi; sleep 2; echo done')
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.splitlines(), ["hilo: rank 1: exit status 7; the others go on"])
        self.assertEqual(sorted(result.stdout.splitlines()), ["[0] done", "[2] done"])
        result = self.launch_with(["--keep-going"], "exit $((HILO_RANK + 4))")
        self.assertIn(result.returncode, (4, 5, 6), result.stderr)

    def test_a_coordinator(self):
        coordinator = self.folder / "python"
        coordinator.write_text('#!/bin/sh\necho "$@"\nif [ "$5" = 13 ]; then exit 0; fi\nexec sleep 100')
        coordinator.chmod(0o755)
        start = time.monotonic()
        result = self.launch_with([f"--coordinator={coordinator}", "--heartbeat=9"], "sleep 1; echo $JAX_COORDINATOR_ADDRESS $JAX_COORDINATOR_BIND_ADDRESS")
        self.assertLess(time.monotonic() - start, 15)  # it ends with the others
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stdout.splitlines()
        said = [line for line in lines if line.startswith("[coordinator]")]
        self.assertEqual(len(said), 1, lines)
        self.assertRegex(said[0], r"-m jax_plugins.hilo.coordinator 127.0.0.1:\d+ 3 9$")
        address = said[0].split()[3]
        self.assertEqual(sorted(line for line in lines if line not in said), [f"[{rank}] {address} 127.0.0.1:0" for rank in range(3)])
        # The others end when it does, whatever the policy.
        result = self.launch_with([f"--coordinator={coordinator}", "--heartbeat=13", "--keep-going", "--restarts=2"], "exec sleep 100")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stderr.splitlines()[-1], "hilo: the coordinator failed first: exit status 0")
        alone = subprocess.run([HILO, "launch", "-n", "2", "--heartbeat=3", "true"], capture_output=True, text=True)
        self.assertEqual(alone.returncode, 2)
        self.assertIn("--heartbeat is that of the service of --coordinator", alone.stderr)

    def test_no_such_program(self):
        result = launch(2, "/nowhere/program")
        self.assertEqual(result.returncode, 127)
        self.assertIn("cannot run /nowhere/program", result.stderr)

    def test_wrong_flags(self):
        self.assertEqual(subprocess.run([HILO, "launch", "true"], capture_output=True).returncode, 2)
        self.assertEqual(subprocess.run([HILO, "launch", "-n", "2"], capture_output=True).returncode, 2)
        self.assertEqual(subprocess.run([HILO, "launch", "-n", "0", "true"], capture_output=True).returncode, 2)


if __name__ == "__main__":
    unittest.main()
