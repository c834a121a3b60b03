"""Which files and sockets `hilo run` opens: files_test.py HILO. A module cannot name files, and no socket listens unless requested.

strace writes down the calls; without it the test says so and passes.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HILO = pathlib.Path(sys.argv[1]).resolve()
# What a process of this system reads without being told to: its program and libraries, and what the system says of the machine.
SYSTEM = ("/lib/", "/lib64/", "/usr/lib/", "/usr/local/", "/etc/", "/proc/", "/sys/", "/dev/", "/opt/", "/usr/share/")

# Every place where text could be taken for the name of a file.
HOSTILE = """HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}
ENTRY main {
  x = f32[4] parameter(0), metadata={op_name="/etc/passwd" source_file="/etc/shadow" source_line=1}
  ROOT y = f32[4] custom-call(x), custom_call_target="/etc/hostname", backend_config="file:///etc/group", frontend_attributes={path="/etc/hosts"}
}
"""
HARMLESS = """HloModule m
ENTRY main { x = f32[4] parameter(0), metadata={op_name="/etc/passwd" source_file="/etc/shadow" source_line=1}  ROOT y = f32[4] add(x, x) }
"""


def check(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def trace(folder, arguments):
    """The exit status, the paths that were opened (whether or not they are there), and the calls that make sockets."""
    log = folder / "calls"
    done = subprocess.run(["strace", "-f", "-qq", "-s", "4096", "-o", log, "-e", "trace=open,openat,openat2,creat,socket,bind,listen,connect,accept,accept4", HILO, *arguments],
                          capture_output=True, text=True, cwd=folder)
    calls = log.read_text() if log.exists() else ""
    paths = {match.group(1) for match in re.finditer(r'(?:open|openat|openat2|creat)\((?:AT_FDCWD, |\d+(?:<[^>]*>)?, )?"([^"]*)"', calls)}
    sockets = [line for line in calls.splitlines() if re.search(r"\b(socket|bind|listen|connect|accept4?)\(", line)]
    return done, paths, sockets


def main():
    strace = shutil.which("strace")
    if strace is None or subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True).returncode != 0:
        print("not tested: strace is not here, or may not look at processes")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for text, platform, status in ((HARMLESS, "cpu", 0), (HARMLESS, "interpreter", 0), (HARMLESS, "cuda-emulated", 0), (HOSTILE, "cpu", 2)):
            (folder / "m.hlo").write_text(text)
            done, paths, sockets = trace(folder, ["run", "m.hlo", "--input={1,2,3,4}", f"--platform={platform}"])
            check(done.returncode == status, f"{platform}: expected exit status {status}, got {done.returncode}: {done.stderr}")
            check("m.hlo" in paths, f"{platform}: the module is opened: {sorted(paths)}")
            named = {"/etc/passwd", "/etc/shadow", "/etc/hostname", "/etc/group", "/etc/hosts"} & paths
            check(not named, f"{platform}: what a module names is opened: {named}")
            own = {str(HILO.parent), str(HILO.parent.parent)}
            library = re.compile(r"(.*/)?lib[^/]*\.so[.\d]*")  # the loader looks for them in many places
            strange = {p for p in paths if p != "m.hlo" and not f"{p}/".startswith(SYSTEM) and not any(p.startswith(o) for o in own) and not library.fullmatch(p)}
            check(not strange, f"{platform}: files that were not named are opened: {sorted(strange)}")
            check(not sockets, f"{platform}: sockets are made: {sockets[:5]}")

        # Processes of one job on one machine listen at the loopback interface alone.
        (folder / "m.hlo").write_text("""HloModule m, replica_count=2
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main { x = f32[] parameter(0)  ROOT y = f32[] all-reduce(x), replica_groups={}, to_apply=f }
""")
        done, _, sockets = trace(folder, ["launch", "-n", "2", str(HILO), "run", "m.hlo", "--input=1", "--replicas=2"])
        check(done.returncode == 0, done.stderr)
        bound = [line for line in sockets if "bind(" in line and "AF_UNIX" not in line and "AF_NETLINK" not in line]
        check(bound, "the two processes listen")
        check(all("127.0.0.1" in line or "::1" in line for line in bound), f"at other interfaces than loopback: {bound}")


main()
