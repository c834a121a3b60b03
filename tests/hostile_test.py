#!/usr/bin/env python3
"""What is wrong, cut off, huge or missing is an error with words for the program `hilo`: hostile_test.py HILO [SANITIZERS].

No input may end the program with a signal, make it say that it has a bug, or let it succeed without having written its results.
"""

import os
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile
import unittest

HILO = os.path.abspath(sys.argv.pop(1))
SANITIZED = bool(sys.argv[1:] and sys.argv.pop(1))  # their shadow memory leaves no room for a limit

DOUBLE = "HloModule m\nENTRY main {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] add(x, x)\n}\n"
STABLEHLO = """module @m {
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""
ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n"


def iota(shape):
    return f"HloModule m\nENTRY main {{ ROOT x = {shape} iota(), iota_dimension=0 }}\n"


def constant(shape, value):
    return f"HloModule m\nENTRY main {{ ROOT x = {shape} constant({value}) }}\n"


def entry(body, before=""):
    return f"HloModule m\n{before}ENTRY main {{\n{body}\n}}\n"


# What is read as HLO, and what the error says.
MODULES = {
    "": "is empty",
    "HloModule m": "expected an ENTRY computation; got none",
    "HloModule m\0\nENTRY main { ROOT x = f32[] parameter(0) }": "binary file of no known kind",
    # Sizes.
    iota("f32[4294967296,4294967296,4]"): "has more than 2^62 bytes",
    iota("f32[9223372036854775807]"): "has more than 2^62 bytes",
    iota("f32[9223372036854775808]"): "expected an integer of 64 bits",
    iota("f32[-1]"): "expected sizes of at least 0, got -1 in dimension 0",
    iota("f32[0,9223372036854775807]"): "has more than 2^62 bytes",
    iota("f32[4294967296,4294967296,0]"): "has more than 2^62 bytes",
    iota("f32[1099511627776]"): "cannot allocate 4398046511104 bytes",
    entry("p = f32[4] parameter(0)\nz = f32[] constant(0)\nROOT x = f32[4] pad(p, z), padding=9223372036854775807_9223372036854775807"): "pad",
    entry("p = f32[4] parameter(0)\nz = f32[] constant(0)\n"
          "ROOT x = f32[1] reduce-window(p, z), window={size=9223372036854775807 rhs_dilate=4611686018427387904}, to_apply=add", ADD):
        "the window's extent in dimension 0 is too large",
    entry("ROOT x = f32[] parameter(2147483648)"): "expected a parameter number from 0 to 99999; got 2147483648",
    "HloModule m, replica_count=2147483648\nENTRY main { ROOT x = f32[] parameter(0) }": "expected a replica count from 1 to 2147483647",
    "HloModule m, replica_count=2147483647, num_partitions=2147483647\nENTRY main { ROOT x = f32[] parameter(0) }":
        "at most 262144 of both together",
    # Names.
    entry("x = f32[] parameter(0)\nx = f32[] parameter(1)"): "instruction x is defined twice",
    entry("ROOT x = f32[] parameter(0)", "c { ROOT a = f32[] parameter(0) }\n" * 2): "computation c is defined twice",
    entry("a = f32[] add(b, b)\nROOT b = f32[] add(a, a)"): "operand b is not defined before this place",
    entry("ROOT a = f32[] add(a, a)"): "operand a is not defined before this place",
    entry("x = f32[] parameter(0)\nROOT y = f32[] call(x), to_apply=c", "c { p = f32[] parameter(0)\nROOT a = f32[] call(p), to_apply=c }\n"):
        "computation c calls itself",
    entry("x = f32[] parameter(0)\nROOT y = f32[] call(x), to_apply=main"): "the entry computation may not be called",
    entry("x = f32[] parameter(0)") + "ENTRY other { ROOT x = f32[] parameter(0) }": "expected one ENTRY computation",
    entry("ROOT x = f32[] parameter(0)\nROOT y = f32[] add(x, x)"): "expected one ROOT",
    entry("ROOT x = f32[] parameter(3)"): "parameter 0 is missing",
    entry("x = s32[] parameter(0)\nROOT y = s32[] while(x), condition=c, body=b",
          "c { p = s32[] parameter(0)\nROOT t = s32[] add(p, p) }\nb { ROOT p = s32[] parameter(0) }\n"):
        "while: condition must return pred[], but returns s32[]",
    # Numbers.
    constant("f32[]", "1e400"): "value 1e400 is out of the range of f32",
    constant("f32[]", "0x"): "expected a value of f32, got '0x'",
    constant("f32[]", "1e"): "expected a value of f32, got '1e'",
    constant("f32[]", "--1"): "expected a value of f32",
    constant("f32[]", "infinity"): "expected a value of f32, got 'infinity'",
    constant("f32[]", "1_000"): "expected nothing after the literal",
    constant("f32[]", "\u0663"): "expected a value of f32",
    constant("s8[]", "300"): "value 300 is out of the range of s8",
    constant("s4[]", "9"): "value 9 is out of the range of s4",
    constant("u64[]", "18446744073709551616"): "out of the range of u64",
    constant("f32[2]", "{1,2,3}"): "expected '}' after 2 items of dimension 0",
    constant("f32[2,2]", "{{1,2},{3}}"): "expected item 1 of 2 in dimension 1",
    # Bytes that are no UTF-8 stand where a name ends.
    entry("ROOT x\udcff\udcfe = f32[] parameter(0)"): "expected '=' after an instruction's name; got '\\377'",
}

# Flags for a program of one argument, and what the error says.
FLAGS = {
    "--input=random --replicas=2147483648": "at most 1024 devices",
    "--input=random --partitions=9223372036854775807": "at most 1024 devices",
    "--input=random --replicas=0": "expected a whole number from 1 on, got '0'",
    "--input=random --replicas=1e9": "expected a whole number from 1 on, got '1e9'",
    "--input=random --threads=100000": "to 4096, got 100000",
    "--input=random --threads=9999999999999999999": "expected a whole number from 1 on",
    "--input=random --deadline=nan": "expected a number of seconds, got 'nan'",
    "--input=random --deadline=-1": "expected a number of seconds, got '-1'",
    "--input=random --platform=nosuch": "there is no platform 'nosuch'",
    "--input=random --cpu=nosuch": "expected the name of a processor",
    "--input=random --disable-passes=nosuch": "there is no pass 'nosuch'",
    "--input=random --outputs=/nonexistent/x.npz": "cannot write /nonexistent/x.npz: No such file",
    "--input=random --outputs=/dev/full": "cannot write /dev/full: No space left",
    "--input=random --output=@/dev/full": "cannot write /dev/full: No space left",
    "--input=random --dump=/proc/x": "cannot make the dump folder /proc/x",
    "--input=random --ffi-library=/etc/passwd": "cannot load the library of custom calls",
    "--input=random --infeed=/nonexistent": "cannot open /nonexistent",
    "--input=random --nosuch": "unknown flag --nosuch",
    "--input=random --input=random": "got 2 inputs for 1 parameters",
    "": "arg0 is missing",
    "--input": "--input needs a value",
    "--input=@/nonexistent": "cannot open /nonexistent",
    "--input=@/tmp": "cannot read /tmp: Is a directory",
    "--input={1,2,3": "expected item 3 of 4",
    "--input=f32[5]{1,2,3,4,5}": "f32[5]",
    "--inputs=/nonexistent.npz": "cannot open /nonexistent.npz",
    "--inputs=/dev/zero": "/dev/zero is no ordinary file and holds more than 1073741824 bytes",
}


def limited(*limit):
    return lambda: resource.setrlimit(*limit)


class HostileTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.double = self.write("double.hlo", DOUBLE)

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(errors="surrogateescape"))
        return path

    def hilo(self, *arguments, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 60, "text": True, **options}
        return subprocess.run([HILO, *map(str, arguments)], **options)

    def expect_error(self, words, *arguments, **options):
        done = self.hilo(*arguments, **options)
        self.assertIn(done.returncode, (1, 2), done.stderr)
        self.assertIn(words, done.stderr)
        self.assertNotIn("INTERNAL", done.stderr)

    def test_modules(self):
        for text, words in MODULES.items():
            with self.subTest(text=text[:200]):
                self.expect_error(words, "run", self.write("m.hlo", text), *(["--input=random"] if "parameter(" in text else []))

    def test_flags(self):
        for flags, words in FLAGS.items():
            with self.subTest(flags=flags):
                self.expect_error(words, "run", self.double, *flags.split())

    def test_commands(self):
        for arguments, words in {
            ("nosuch",): "there is no command 'nosuch'",
            ("",): "there is no command ''",
            ("run",): "expected one module file, got 0",
            ("run", "/tmp"): "cannot read /tmp: Is a directory",
            ("run", "/nonexistent.hlo"): "cannot open /nonexistent.hlo",
            ("compile", self.double, "--emit=nosuch"): "not 'nosuch'",
            ("compile", self.double, "-o", "/dev/full"): "cannot write /dev/full",
            ("opt", self.double, "--passes=nosuch"): "there is no pass 'nosuch'",
            ("opt", self.double, "--stage=nosuch"): "there is no stage 'nosuch'",
            ("launch", "-n", "0", "true"): "expected a whole number from 1 on",
            ("launch", "-n", "2147483648", "true"): "at most 1024 processes",
            ("launch", "-n", "2"): "give the program to run",
            ("bench", self.double, "--iterations=0"): "expected a whole number from 1 on",
        }.items():
            with self.subTest(arguments=arguments):
                self.expect_error(words, *arguments)

    def test_files_that_end_early(self):
        compiled, proto, arrays, array = (self.folder / name for name in ("a.hilo", "a.pb", "a.npz", "a.npy"))
        self.assertEqual(self.hilo("compile", self.double, "-o", compiled).returncode, 0)
        with open(proto, "wb") as file:
            self.assertEqual(self.hilo("opt", self.double, "--stage=input", "--format=proto", stdout=file).returncode, 0)
        for flag in (f"--outputs={arrays}", f"--output=@{array}"):
            self.assertEqual(self.hilo("run", self.double, "--input=random", flag).returncode, 0)
        for whole in (compiled, proto, self.write("a.mlir", STABLEHLO), self.write("b.hlo", DOUBLE)):
            self.assertEqual(self.hilo("run", whole, "--input=random").returncode, 0, whole)
            content = whole.read_bytes()
            for size in (0, 1, 4, 8, len(content) // 2, len(content.rstrip()) - 1):
                with self.subTest(file=whole.name, size=size):
                    self.expect_error("INVALID_ARGUMENT", "run", self.write("cut" + whole.suffix, content[:size]), "--input=random")
        for whole, flag in ((arrays, "--inputs="), (array, "--input=@")):
            content = whole.read_bytes()
            for size in (0, 1, 4, 8, len(content) // 2, len(content) - 1):
                with self.subTest(file=whole.name, size=size):
                    self.expect_error("INVALID_ARGUMENT", "run", self.double, f"{flag}{self.write('cut' + whole.suffix, content[:size])}")

    def test_headers_of_arrays(self):
        for header, words in {
            "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296,4294967296), }": "has more than 2^62 bytes",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-4,), }": "expected sizes of at least 0, got -4",
            "{'descr': '|O', 'fortran_order': False, 'shape': (4,), }": "expected elements of a number type",
            "{'descr': '<f4', 'fortran_order': True, 'shape': (4,), }": "expected 16 bytes for f32[4], got 0",
            "(" * 60000: "expected '{'",
        }.items():
            with self.subTest(header=header[:80]):
                text = header.encode()
                path = self.write("h.npy", b"\x93NUMPY\x01\0" + struct.pack("<H", len(text)) + text)
                self.expect_error(words, "run", self.double, f"--input=@{path}")

    def test_output_that_nobody_takes(self):
        for arguments in (("run", self.double, "--input=random"), ("opt", self.double, "--stage=fused"), ("compile", self.double, "--emit=asm"),
                          ("run", "--help"), ("--version",), ("bench", self.double, "--iterations=1", "--no-roofs")):
            with self.subTest(arguments=arguments), open("/dev/full", "wb") as full:
                self.expect_error("cannot write to standard output", *arguments, stdout=full)
            with self.subTest(arguments=arguments, to="a pipe that is closed"):
                reader, writer = os.pipe()
                os.close(reader)
                with os.fdopen(writer, "wb") as pipe:
                    self.expect_error("cannot write to standard output", *arguments, stdout=pipe)

    def test_limits_of_the_system(self):
        double = ("run", self.double, "--input=random")
        no_files = limited(resource.RLIMIT_FSIZE, (0, 0))
        self.expect_error("File too large", *double, f"--outputs={self.folder / 'o.npz'}", preexec_fn=no_files)
        done = self.hilo(*double, f"--cache-dir={self.folder / 'cache'}", preexec_fn=no_files)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: the compiled program is not cached", done.stderr)
        if SANITIZED:
            return
        for limit in ((resource.RLIMIT_NPROC, (1, 1)), (resource.RLIMIT_NOFILE, (6, 6)), (resource.RLIMIT_STACK, (1 << 18, 1 << 18))):
            done = self.hilo(*double, "--threads=4", preexec_fn=limited(*limit))
            self.assertEqual(done.returncode, 0, done.stderr)
        big = self.write("big.hlo", entry("x = f32[300000000] parameter(0)\nROOT y = f32[300000000] add(x, x)"))
        self.expect_error("RESOURCE_EXHAUSTED", "run", big, "--input=random", preexec_fn=limited(resource.RLIMIT_AS, (1 << 30, 1 << 30)))

    def test_children_of_a_launcher_have_the_signals_that_programs_expect(self):
        done = self.hilo("launch", "-n", "1", "--", "sh", "-c", "grep SigIgn /proc/self/status")
        self.assertEqual(done.returncode, 0, done.stderr)
        ignored = int(done.stdout.split()[-1], 16)
        self.assertEqual(ignored & (1 << 12 | 1 << 24), 0, done.stdout)  # SIGPIPE, SIGXFSZ


if __name__ == "__main__":
    unittest.main()
