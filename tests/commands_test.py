#!/usr/bin/env python3
"""Commands of the program hilo that look into modules: commands_test.py HILO SOURCES"""

import os
import pty
import re
import shutil
import signal
import subprocess
import time
import unittest
import xml.dom.minidom

from command_test_case import CHAIN, HILO, LOGARITHMS, SOURCES, TRAIN, CommandTestCase, hilo

# Fusion keeps the digits that bf16 has not, so that results are nearer to the exact ones than the interpreter's.
WIDER = """HloModule wider
ENTRY main {
  x = f32[64] parameter(0)
  b = bf16[64] convert(x)
  d = bf16[64] multiply(b, b)
  e = f32[64] convert(d)
  w = f32[64] convert(b)
  v = f32[64] multiply(w, w)
  ROOT r = f32[64] subtract(e, v)
}
"""
# Squares of integers up to 16 have the digits of bf16, those of 17 have not.
SQUARES = """HloModule squares
ENTRY main {
  x = s32[64] parameter(0)
  y = f32[64] parameter(1)
  b = bf16[64] convert(x)
  d = bf16[64] multiply(b, b)
  e = f32[64] convert(d)
  w = f32[64] convert(b)
  v = f32[64] multiply(w, w)
  s = f32[64] subtract(e, v)
  t = f32[64] tanh(y)
  ROOT a = f32[64] add(s, t)
}
"""
# Sizes that depend on each other: a product of two, a slice's, padding's and a constant's.
SIZES = """HloModule sizes
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[64,4] parameter(0)
  y = f32[4,128] parameter(1)
  c = f32[4,2] constant({{1, 2}, {3, 4}, {5, 6}, {7, 8}})
  z = f32[] constant(0)
  u = f32[64,2] dot(x, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  d = f32[64,128] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  r = f32[64,2,64] reshape(d)
  t = f32[64,64,2] transpose(r), dimensions={0,2,1}
  q = f32[64,40,2] slice(t), slice={[0:64], [16:56], [0:2]}
  s = f32[64,2] reduce(q, z), dimensions={1}, to_apply=add
  v = f32[64,2] add(s, u)
  ROOT p = f32[66,2] pad(v, z), padding=0_2x0_0
}
"""
MAXIMUM = """HloModule maximum
larger { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] maximum(a, b) }
ENTRY main {
  x = f32[3] parameter(0)
  least = f32[] constant(-inf)
  m = f32[] reduce(x, least), dimensions={0}, to_apply=larger
  infinities = f32[3] broadcast(least), dimensions={}
  yes = pred[3] compare(x, x), direction=EQ
  ROOT s = f32[3] select(yes, x, infinities)
}
"""


def on_terminal(arguments, stopped_seconds=0):
    """The exit code, and what the program shows on a terminal. It is stopped for some time after 0.2 s."""
    master, slave = pty.openpty()
    done = subprocess.Popen([HILO, *arguments], stdout=slave, stderr=slave)
    os.close(slave)
    if stopped_seconds:
        time.sleep(0.2)
        done.send_signal(signal.SIGSTOP)
        time.sleep(stopped_seconds)
        done.send_signal(signal.SIGCONT)
    shown = b""
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
    os.close(master)
    return done.wait(), shown


INFEED = """HloModule reads
ENTRY main {
  t = token[] after-all()
  i = (f32[2], token[]) infeed(t)
  ROOT x = f32[2] get-tuple-element(i), index=0
}
"""


class Commands(CommandTestCase):
    # --- verify ---

    def test_verify(self):
        done = hilo("verify", TRAIN, "--platform=interpreter,cpu")
        self.check(done, 0, r"out0 f32\[\] +cpu +(equal|\d+ ulps, \S+ relative, 1 of 1 elements; worst element)")
        self.assertEqual(len(done.stdout.splitlines()), 20)
        done = hilo("verify", self.file(CHAIN), "--input={1,2,3,4,5,6,7,8}")
        self.check(done, 0, "cuda-emulated")
        self.assertIn(" cpu ", done.stdout)
        self.check(hilo("verify", self.file(CHAIN), "--platform=interpreter,interpreter"), 0, r"(?s)equal.*equal")

    def test_verify_reports_differences(self):
        done = hilo("verify", SOURCES / "examples/digits/forward.hlo", "--platform=interpreter,cpu", "--ulps=0")
        self.check(done, 1, r"out0 f32\[64,10\] +cpu +DIFFERS: \d+ ulps")
        self.assertIn("1 of 1 results differ from those of interpreter by more than the tolerance", done.stderr)
        self.check(hilo("verify", SOURCES / "examples/digits/forward.hlo", "--platform=interpreter,cpu", "--relative=1e-4"), 0)
        # Random numbers differ from platform to platform.
        rng = self.file("HloModule r\nENTRY main { a = f32[] constant(0)  b = f32[] constant(1)  ROOT r = f32[64] rng(a, b), distribution=rng_uniform }\n")
        done = hilo("verify", rng, "--platform=interpreter,cpu", "--instructions")
        self.check(done, 1, "DIFFERS")
        self.assertRegex(done.stdout, r"the first instruction that is wrong on cpu, given its operands:\n  \S+ = f32\[64\] rng\(")

    def test_verify_instructions(self):
        done = hilo("verify", TRAIN, "--platform=interpreter,cpu", "--instructions")
        self.check(done, 0, r"\d\d\d of \d\d\d instructions of the entry evaluated by themselves, none is wrong; the largest errors:\n  \S+ = f32")

    def test_verify_mistakes(self):
        module = self.file(CHAIN)
        self.check(hilo("verify", module, "--platform=cpu"), 2, "expected two or more", "stderr")
        self.check(hilo("verify", module, "--platform=cpu,tpu"), 2, "tpu", "stderr")
        self.check(hilo("verify", module, "--ulps=-1"), 2, "--ulps: expected a whole number from 0 on", "stderr")
        self.check(hilo("verify", self.file(CHAIN.replace("f32[8] tanh", "f32[9] tanh"))), 2, r"module\.hlo:7:3: (.|\n)*\^", "stderr")

    def test_programs_that_read_an_infeed(self):
        """Only hilo run has something to feed them; without it they would wait for ever."""
        module = self.file(INFEED)
        for command in ("run", "bench", "profile", "verify"):
            self.check(hilo(command, module), 2, "reads an infeed, which hilo run takes from --infeed=FILE.npz", "stderr")

    # --- check-nans ---

    def test_check_nans(self):
        module = self.file(LOGARITHMS)
        done = hilo("run", module, "--input={20,2.5}", "--check-nans")
        self.check(done, 1, r"FAILED_PRECONDITION: l makes -?nan at \{1\} of -0\.59453\d+; in %l = f32\[2\] log\(f32\[2\] %y\).*source_file=\"loss.py\" "
                            r"source_line=12.* of computation body, line 10", "stderr")
        self.check(hilo("run", module, "--input={20,1e9}", "--check-nans"), 1, r"l makes -?nan at \{0\} of -0\.3", "stderr")
        self.check(hilo("run", module, "--input={1,20}", "--check-nans"), 1, r"l makes -inf at \{0\} of 0", "stderr")
        self.check(hilo("run", module, "--input={nan,20}", "--check-nans"), 1, r"argument x(\.1)? has nan at \{0\}", "stderr")
        self.check(hilo("run", module, "--input={20,20}"), 0, "nan")
        # Infinities of constants, and what passes them on, are no mistakes.
        self.check(hilo("run", self.file(MAXIMUM), "--input={1,2,3}", "--check-nans"), 0, r"\{1, 2, 3\}")
        self.check(hilo("run", module, "--input=random", "--check-nans", "--platform=cpu"), 2, "runs on the interpreter", "stderr")

    def test_wrong_flags(self):
        """Each is refused before any work."""
        module = self.file(CHAIN)
        for arguments, words in (
            (("run", module, "--input=random", "--arch=sm_90"), "--arch is for --platform=cuda and cuda-emulated"),
            (("bench", module, "--platform=cpu,gpu"), "there is no platform 'gpu'"),
            (("minimise", module, "--fails-on=gpu"), "there is no platform 'gpu'"),
            (("bisect", module, "--fails-on=gpu"), "there is no platform 'gpu'"),
            (("launch", "-n", "0", "true"), "hilo: INVALID_ARGUMENT: -n: expected a whole number from 1 on, got '0'"),
            (("compile", module, "--emit=hlo,ptx"), "the cpu platform emits hlo, buffers, llvm, asm, object, header, so, wasm; got 'ptx'"),
            (("compile", module, "--emit=object,header"), "--emit names 2 kinds, but object is no text: emit it by itself"),
            (("compile", module, "--platform=interpreter", "--emit=so"), "the interpreter platform emits hlo, buffers; got 'so'"),
            (("rnu", module), "there is no command 'rnu'; did you mean run?"),
            (("run", module, "--platfrom=cpu"), "unknown flag --platfrom; did you mean --platform?"),
            (("run", self.folder), f"cannot read {self.folder}: Is a directory"),
            (("run", module, "--input={1,2,3,4,5,6,7,x}"), "expected a value of f32, got 'x' at offset 15; in --input for arg0, f32[8]"),
            (("verify", module, "--platform="), "--platform: expected two or more, separated by commas, got ''"),
        ):
            done = hilo(*arguments)
            self.check(done, 2, re.escape(words), "stderr")
            self.assertEqual(done.stdout, "", arguments)

    def test_output_takes_one_array(self):
        """Which the program's shape tells before the run."""
        done = hilo("run", self.file(CHAIN), "--input=random", f"--output=@{self.folder / 'x.npy'}")
        self.check(done, 2, "--output writes one array, but the result has 2; use --outputs=OUT.npz", "stderr")
        self.assertNotIn("run ", done.stderr)
        one = self.file("HloModule one\nENTRY main { ROOT x = f32[2] parameter(0) }\n")
        self.check(hilo("run", one, "--input={1,2}", f"--output=@{self.folder / 'x.npy'}"), 0, "run ", "stderr")

    def test_missing_inputs(self):
        """They are reported before the compilation."""
        dump, missing = self.folder / "dump", self.folder / "missing"
        for arguments, words in (
            ((), "the program needs arguments, and arg0 is missing; give --inputs=FILE.npz, or --input=VALUE for each of\n  arg0: f32[8]  (x)"),
            (("--input=random", "--input=random"), "got 2 inputs for 1 parameters"),
            ((f"--inputs={missing}",), f"cannot open {missing}: No such file or directory"),
            ((f"--input=@{missing}",), f"cannot open {missing}: No such file or directory"),
        ):
            self.check(hilo("run", self.file(CHAIN), f"--dump={dump}", *arguments), 2, re.escape(words), "stderr")
            self.assertFalse(dump.exists())

    def test_objects_on_the_standard_output(self):
        """To the byte what -o writes."""
        module, path = self.file(CHAIN), self.folder / "x.o"
        self.check(hilo("compile", module, "--emit=object", "-o", path), 0)
        printed = subprocess.run([HILO, "compile", module, "--emit=object"], capture_output=True, timeout=60).stdout
        self.assertEqual(printed, path.read_bytes())
        dashed = subprocess.run([HILO, "compile", module, "--emit=object", "-o", "-"], capture_output=True, cwd=self.folder, timeout=60).stdout
        self.assertEqual(printed, dashed)

    # --- timing, progress ---

    def test_timing(self):
        for arguments in (("compile", TRAIN, "-o", self.folder / "x.hilo"), ("compile", TRAIN, "--emit=asm", "-o", self.folder / "x.s")):
            other = 100
            for _ in range(3):  # a busy machine may stop a process anywhere
                done = hilo(*arguments, "--timing")
                self.check(done, 0, r"pass simplify +[\d.]+ ms", "stderr")
                shares = [float(share) for share in re.findall(r"^  (?! ).* ([\d.]+) %", done.stderr, re.M)]
                self.assertAlmostEqual(sum(shares[:-1]), 100, delta=1.5)
                self.assertEqual(shares[-1], 100)
                other = min(other, float(re.search(r"other .* ([\d.]+) %", done.stderr)[1]))
            self.assertLess(other, 12, done.stderr)
        self.check(hilo("run", self.file(CHAIN), "--input=random", "--timing"), 0, r"code link", "stderr")

    def test_progress(self):
        """On a terminal, after two seconds; not elsewhere."""
        lines = ["HloModule long", "ENTRY main {", "  v0 = f32[64] parameter(0)"]
        lines += [f"  v{i} = f32[64] sort(v{i - 1}), dimensions={{0}}, to_apply=less{i}" for i in range(1, 500)]
        text = "\n".join([lines[0]] + [f"less{i} {{ a = f32[] parameter(0)  b = f32[] parameter(1)  s = f32[] sine(a)  t = f32[] constant({i})  "
                                       f"u = f32[] multiply(b, t)  ROOT c = pred[] compare(s, u), direction=LT }}" for i in range(1, 500)] + lines[1:] + ["}"])
        module = self.file(text)
        # However fast the machine, the compilation lasts more than two seconds.
        code, shown = on_terminal(["compile", module, "-o", self.folder / "x.hilo"], stopped_seconds=2.2)
        self.assertEqual(code, 0, shown)
        self.assertRegex(shown, rb"\r\x1b\[Kcompiling for \d+\.\d s: \w+ [\w -]+")
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown[-80:])

    def test_progress_of_a_run(self):
        """A run of at least three seconds, stopped or not."""
        module = self.file("""HloModule long
body { s = (u64[], u64[]) parameter(0)  i = u64[] get-tuple-element(s), index=0  x = u64[] get-tuple-element(s), index=1
  one = u64[] constant(1)  next = u64[] add(i, one)  y = u64[] multiply(x, x)  z = u64[] add(y, i)  d = u64[] divide(z, next)
  ROOT t = (u64[], u64[]) tuple(next, d) }
condition { s = (u64[], u64[]) parameter(0)  i = u64[] get-tuple-element(s), index=0  n = u64[] constant(40000000000)
  ROOT c = pred[] compare(i, n), direction=LT }
ENTRY main { x = u64[] parameter(0)  zero = u64[] constant(0)  t = (u64[], u64[]) tuple(zero, x)
  ROOT w = (u64[], u64[]) while(t), condition=condition, body=body }
""")
        code, shown = on_terminal(["run", module, "--input=3", "--deadline=3"])
        self.assertEqual(code, 1, shown)
        self.assertRegex(shown, rb"\r\x1b\[Krunning for 2\.\d s")
        self.assertIn(b"\r\x1b[Khilo: DEADLINE_EXCEEDED", shown)

    # --- graph ---

    def test_graph(self):
        page, picture, dot = (self.folder / name for name in ("g.html", "g.svg", "g.dot"))
        for path in (page, picture, dot):
            self.check(hilo("graph", TRAIN, "-o", path), 0)
        document = xml.dom.minidom.parseString(picture.read_text())
        texts = [text.firstChild.data for text in document.getElementsByTagName("text") if text.firstChild]
        self.assertTrue(any(re.fullmatch(r"[\d.]+ [nu]s, [\d.]+ (B|KiB)", text) for text in texts), texts[:40])
        self.assertTrue(any(text.startswith("fusion f32") for text in texts))
        # No boxes overlap.
        boxes = []
        for node in document.getElementsByTagName("g"):
            if node.getAttribute("class") == "node":
                x, y = map(float, re.findall(r"[-\d.]+", node.getAttribute("transform")))
                rectangle = node.getElementsByTagName("rect")[0]
                boxes.append((x, y, x + float(rectangle.getAttribute("width")), y + float(rectangle.getAttribute("height"))))
        self.assertGreater(len(boxes), 20)
        for i, a in enumerate(boxes):
            for b in boxes[:i]:
                self.assertTrue(a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3], (a, b))
        text = page.read_text()
        self.assertNotIn("http", text.replace("http://www.w3.org/2000/svg", ""), "the page needs no network")
        self.assertIn("id=\"query\"", text)
        self.assertRegex(dot.read_text(), r"n0_\d+ -> n0_\d+;")
        # The loop's computations are drawn too, and the input is drawn as it is.
        self.check(hilo("graph", self.file(LOGARITHMS), "--input", "-o", picture), 0)
        self.assertRegex(picture.read_text(), r">condition</text>(.|\n)*>body</text>")
        self.check(hilo("graph", TRAIN, "-o", "g.png"), 2, "ends in .html, .svg or .dot", "stderr")

    def test_graph_of_many(self):
        lines = ["HloModule many", "ENTRY main {", "  v0 = f32[4] parameter(0)", "  v1 = f32[4] sine(v0)"]
        lines += [f"  v{i} = f32[4] add(v{i - 1}, v{i // 2})" for i in range(2, 10000)]
        module = self.file("\n".join(lines + ["}"]).replace("  v9999 =", "  ROOT v9999 ="))
        self.check(hilo("graph", module, "--input", "-o", self.folder / "g.html"), 0)

    # --- minimise, bisect ---

    def test_minimise(self):
        module, small = self.file(CHAIN), self.folder / "small.hlo"
        done = hilo("minimise", module, "--check=grep -q tanh", "-o", small)
        self.check(done, 0, "1 of 6 instructions are left", "stderr")
        self.assertRegex(small.read_text(), r"ROOT d = f32\[1\]\S* tanh\(cut\)")
        # In a loop, from the check's own output, and on standard output.
        done = hilo("minimise", self.file(LOGARITHMS), "--check=grep -q 'log(' {}")
        self.check(done, 0, r"ROOT \S+ = f32\[1\]\S* log\(")
        self.assertNotIn("while", done.stdout)
        done = hilo("minimise", self.file(CHAIN), "--check=grep -q tanh", "--tries=1")
        self.check(done, 0, "which were all that --tries allows", "stderr")

    def test_minimise_what_fails_on_a_platform(self):
        rng = CHAIN.replace("  e = f32[8] cosine(d)", "  l = f32[] constant(0)  h = f32[] constant(1)\n  n = f32[8] rng(l, h), distribution=rng_uniform\n"
                            "  e = f32[8] add(d, n)")
        done = hilo("minimise", self.file(rng), "--fails-on=cpu")
        self.check(done, 0, r"ROOT n = f32\[1\]\S* rng\(")
        self.assertRegex(done.stderr, "the failure: exit code 1: FAILED_PRECONDITION")
        self.assertNotIn("tanh", done.stdout)

        done = hilo("minimise", self.file(WIDER))
        self.check(done, 0, r"ROOT r = f32\[\d+\]\S* subtract\(e, v\)")
        self.assertRegex(done.stderr, "5 of 6 instructions are left")

    def test_failures_of_given_inputs(self):
        module = self.file(SQUARES)
        inputs = ["--input={" + ",".join(["17"] * 4 + ["1"] * 60) + "}", "--input=random"]
        self.check(hilo("minimise", module), 2, "does not fail on cpu", "stderr")
        done = hilo("minimise", module, *inputs)
        self.check(done, 0, r"ROOT s = f32\[\d+\]\S* subtract\(e, v\)")
        self.assertNotIn("[64]", done.stdout)
        self.check(hilo("bisect", module, *inputs), 0, "the failure goes away without fuse\n")
        self.check(hilo("bisect", module), 2, "does not fail on cpu", "stderr")
        self.check(hilo("minimise", module, inputs[0]), 2, "arg1 is missing", "stderr")
        self.check(hilo("minimise", module, *inputs, "--check=true {}"), 2, "--inputs and --input are for --fails-on", "stderr")

    def test_minimise_makes_shapes_smaller(self):
        module = self.file(SIZES)
        done = hilo("minimise", module, "--check=grep -q 'pad(' {} && grep -q ' slice(' {} && grep -q 'constant({ {' {}")
        self.check(done, 0, r"slice\(cut\), slice=\{\[0:1\], \[0:1\], \[0:1\]\}")
        self.assertIn("f32[1,1] constant({ { 1 } })", done.stdout)
        self.assertRegex(done.stdout, r"ROOT p = f32\[1,1\]\S* pad\(")
        # As small as the failure allows: here the slice begins at 16.
        done = hilo("minimise", module, "--check=grep -q 'slice=.*\\[16:' {}")
        self.check(done, 0, r"slice\(\S+\), slice=\{\[0:17\], \[16:17\], \[0:1\]\}")

    def test_minimise_mistakes(self):
        module = self.file(CHAIN)
        self.check(hilo("minimise", module), 2, "does not fail on cpu", "stderr")
        self.check(hilo("minimise", module, "--check=false"), 2, "fails on the module itself, where it must succeed: exit code 1\n", "stderr")
        self.check(hilo("minimise", module, "--check=nosuch"), 2, "it must succeed: exit code 127: .*nosuch.* not found\n", "stderr")
        self.check(hilo("minimise", module, "--check=true", "--fails-on=cpu"), 2, "not both", "stderr")
        for command in ("minimise", "bisect"):
            self.check(hilo(command, self.file(INFEED)), 2, "hilo verify refuses the module, which is no failure of cpu: .* reads an infeed", "stderr")
        done = hilo("minimise", module, "--check=true {}; sleep 30", "--seconds-a-try=0.2", "--tries=3")
        self.check(done, 0, "the failure: no end within 0.2 seconds", "stderr")

    def test_minimise_without_a_folder_for_temporary_files(self):
        done = hilo("minimise", self.file(CHAIN), "--check=true {}", env={**os.environ, "TMPDIR": "/no/such"})
        self.check(done, 1, "cannot make a folder for temporary files in /no/such: No such file or directory; the variable TMPDIR", "stderr")

    def test_number_of_threads_of_the_environment(self):
        for value in ("many", "-1", "9999"):
            done = hilo("bench", self.file(CHAIN), env={**os.environ, "HILO_NUM_THREADS": value})
            self.check(done, 2, rf"HILO_NUM_THREADS: expected a number from 0 \(one per processor\) to 4096, got {value}", "stderr")

    def test_bisect(self):
        # What fails whatever the passes do.
        rng = self.file("HloModule r\nENTRY main { a = f32[] constant(0)  b = f32[] constant(1)  ROOT r = f32[64] rng(a, b), distribution=rng_uniform }\n")
        self.check(hilo("bisect", rng), 0, "the failure needs none of the passes that can be left out: .*simplify")
        for platform in ("cpu", "cuda-emulated"):
            done = hilo("bisect", self.file(WIDER), f"--fails-on={platform}")
            self.check(done, 0, r"the failure goes away without fuse\nand these passes alone bring it\n")
        sorted_rng = self.file(
            "HloModule r\nless { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT }\n"
            "ENTRY main { a = f32[] constant(0)  b = f32[] constant(1)  r = f32[64] rng(a, b), distribution=rng_uniform\n"
            "  ROOT s = f32[64] sort(r), dimensions={0}, to_apply=less }\n")
        self.check(hilo("bisect", sorted_rng, "--fails-on=cuda-emulated"), 0, "can be left out: .*combine-collectives, .*fuse-gemm")
        self.check(hilo("bisect", self.file(CHAIN)), 2, "does not fail on cpu", "stderr")

    # --- diff ---

    def test_diff(self):
        a, b = self.file(CHAIN), self.file(CHAIN.replace("tanh(c)", "exponential(c)").replace("a =", "z =").replace("(a, x)", "(z, x)"), "b.hlo")
        self.check(hilo("diff", a, a), 0, "equal, names aside")
        self.check(hilo("diff", a, self.file(re.sub(r"\b([a-e])\b", r"\1\1", CHAIN), "c.hlo")), 0, "equal, names aside")
        done = hilo("diff", a, b)
        self.check(done, 1, r"(?m)^- d = f32\[8\](\{0\})? tanh\(")
        self.assertRegex(done.stdout, r"(?m)^\+ d = f32\[8\](\{0\})? exponential\(")
        self.assertRegex(done.stdout, r"(?m)^- e = .*cosine")  # its operand is another operation
        self.assertEqual(len(re.findall(r"(?m)^[-+]", done.stdout)), 4, done.stdout)
        done = hilo("diff", self.file(LOGARITHMS), self.file(LOGARITHMS.replace("constant(3)", "constant(4)"), "d.hlo"))
        self.check(done, 1, r"(?s)^condition\n.*- n = s32\[\] constant\(3\)\n\+ n = s32\[\] constant\(4\)")
        self.check(hilo("diff", a), 2, "expected two module files, got 1", "stderr")

    def test_library_of_products_is_opened_by_the_first(self):
        if "libdnnl" in subprocess.run(["ldd", HILO], capture_output=True, text=True).stdout:
            self.skipTest("oneDNN is linked")
        if "libdnnl" not in hilo("doctor").stdout:
            self.skipTest("there is no oneDNN")

        def opens(op):  # of sizes whose products are the library's on all processors
            module = self.file(f"HloModule m\nENTRY main {{ x = f32[600,600] parameter(0)  y = f32[600,600] parameter(1)  ROOT r = f32[600,600] {op} }}\n")
            done = hilo("run", module, "--input=random", "--input=random", env={**os.environ, "LD_DEBUG": "files"})
            self.check(done, 0)
            return "file=libdnnl.so" in done.stderr

        self.assertFalse(opens("add(x, y)"))
        self.assertTrue(opens("dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"))

    # --- doctor, completion, man ---

    def test_doctor(self):
        done = hilo("doctor")
        self.check(done, 0, r"(?s)hilo \d.*ok +interpreter.*ok +cpu.*Nothing is wrong")
        for name, value in (("HILO_PJRT_LIBRARY", "/no/such/file"), ("HILO_NUM_THREADS", "many"), ("HILO_BACKEND", "tpu")):
            done = hilo("doctor", env={**os.environ, name: value})
            self.check(done, 1, rf"WRONG +{name}={value}.*\n +to mend it: unset {name}")
        cache = self.folder / "cache"
        cache.mkdir()
        if os.geteuid() != 0:  # who may write everywhere
            cache.chmod(0o500)
            self.check(hilo("doctor", env={**os.environ, "HILO_CACHE_DIR": str(cache)}), 1, "chmod u")

    def test_completion(self):
        commands = re.findall(r"^  (\w+) ", hilo("--help").stdout, re.M)
        for shell in ("bash", "zsh", "fish"):
            done = hilo("completion", shell)
            self.check(done, 0)
            for command in commands:
                self.assertRegex(done.stdout, rf"\b{command}\b")
            self.assertIn("disable-passes", done.stdout)
            if shutil.which(shell):
                self.assertEqual(subprocess.run([shell, "-n", self.file(done.stdout, "completion")]).returncode, 0, shell)
        script = hilo("completion", "bash").stdout + """
complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hilo 2>/dev/null; echo "${COMPREPLY[*]}"; }
complete_words hilo ver
complete_words hilo run --inp
complete_words hilo run m.hlo --platform = cuda-e
complete_words hilo completion --he
"""
        if shutil.which("bash"):
            done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True)
            self.assertEqual(done.stdout.splitlines(), ["verify", "--inputs= --input=", "cuda-emulated", "--help"], done.stderr)
        self.check(hilo("completion", "tcsh"), 2, "expected one of the shells", "stderr")

    def test_man(self):
        page = hilo("man").stdout
        self.assertTrue(page.startswith(".TH HILO 1"))
        self.assertRegex(page, r"\.B \\-\\-platform=NAME")
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-ww", "-Tascii"], input=page, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_help(self):
        """Each command of the overview has examples, whose flags exist."""
        overview = hilo("--help").stdout
        self.assertLess(len(overview.splitlines()), 25)
        for command in re.findall(r"^  (\w+) ", overview, re.M):
            text = hilo(command, "--help").stdout
            self.assertIn("Examples:", text, command)
            self.assertLessEqual(max(len(line) for line in text.split("Examples:")[0].splitlines()), 100, command)
            known = set(re.findall(r"^  (--?[\w-]+)", text, re.M))
            for example in [] if command == "launch" else re.findall(rf"^  hilo {command} (.*)$", text, re.M):
                for flag in re.findall(r"(?:^| )(--?[a-zA-Z][\w-]*)", re.split("[|;&]", re.sub("'.*?'", "", example))[0]):
                    self.assertIn(flag, known, f"{command}: {example}")


if __name__ == "__main__":
    unittest.main()
