"""Times the start of several processes that sum an array once, far from each other or not.

    python3 benchmarks/start_processes.py build/bin/hilo [--processes 2,8,16,32,64] [--delay 0,20] [--runs 3]

Half of the processes are in each of two network namespaces, which are joined by a line that delivers every packet after so many milliseconds (tests/network_line.py; needs root). The first process serves the store. The time is that from the start
of the first process to the end of the last one, the least of some runs.
"""

import argparse
import os
import pathlib
import secrets
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
from network_line import Hosts  # noqa: E402

SUM = """
HloModule sum, replica_count={}
add {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }}
ENTRY main {{ x = f32[4] parameter(0)  ROOT y = f32[4] all-reduce(x), replica_groups={{}}, to_apply=add }}
"""


def run(hilo, processes, hosts, program):
    """The seconds of one run."""
    shared = {"PATH": os.environ["PATH"], "HILO_WORLD_SIZE": str(processes), "HILO_COORDINATOR": f"{hosts.ADDRESSES[0]}:{20000 + secrets.randbelow(9999)}", "HILO_JOB_TOKEN": secrets.token_hex(16),
              "HILO_CODE_CACHE_MB": "0", "HILO_TRANSPORT": "tcp"}
    start = time.monotonic()
    running = [subprocess.Popen(["ip", "netns", "exec", hosts.names[rank * 2 // processes], hilo, "run", program, "--input={1,2,3,4}"], env={**shared, "HILO_RANK": str(rank)}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
               for rank in range(processes)]
    for process in running:
        _, error = process.communicate(timeout=120)
        if process.returncode != 0:
            sys.exit(error)
    return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hilo")
    parser.add_argument("--processes", default="2,8,16,32,64")
    parser.add_argument("--delay", default="0,20", help="milliseconds, one way")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    for delay in map(float, arguments.delay.split(",")):
        with Hosts(delay / 1000, 0) as hosts, tempfile.TemporaryDirectory() as folder:
            for processes in map(int, arguments.processes.split(",")):
                program = pathlib.Path(folder) / "sum.hlo"
                program.write_text(SUM.format(processes))
                least = min(run(arguments.hilo, processes, hosts, program) for _ in range(arguments.runs))
                print(f"{processes:3} processes, {delay:g} ms each way: {least:.2f} s", flush=True)


if __name__ == "__main__":
    main()
