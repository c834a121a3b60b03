#!/usr/bin/env python3
"""What is wrong, cut off, huge or missing is an error with words for the program `hilo`: hostile_test.py HILO [SANITIZERS].

No input may end the program with a signal, make it say that it has a bug, or let it succeed without having written its results.
"""

import os
import pathlib
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

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
    entry("a = f32[] add(b, b)\nROOT b = f32[] add(a, a)"): "operand b is not defined before its use",
    entry("ROOT a = f32[] add(a, a)"): "operand a is not defined before its use",
    entry("x = f32[] parameter(0)\nROOT y = f32[] call(x), to_apply=c", "c { p = f32[] parameter(0)\nROOT a = f32[] call(p), to_apply=c }\n"):
        "computation c calls itself",
    entry("x = f32[] parameter(0)\nROOT y = f32[] call(x), to_apply=f", "f { p = f32[] parameter(0)\nROOT a = f32[] call(p), to_apply=g }\n"
          "g { p = f32[] parameter(0)\nROOT a = f32[] map(p), dimensions={}, to_apply=f }\n"):
        "computation f calls itself, directly or through others",
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
    # Numbers of devices.
    **{entry(f"p = f32[4] parameter(0)\nROOT r = f32[4] all-reduce(p), replica_groups={groups}, to_apply=add", ADD): words for groups, words in {
        "{{0,2147483648}}": "replica_groups of 2 ids must hold 0 to 1, but hold 2147483648",
        "{{-1}}": "must hold 0 to 0, but hold -1",
        "{{0,0}}": "hold id 0 twice",
        "{{},{}}": "holds an empty group",
        "[2147483648,2147483648]<=[4611686018427387904]": "are more than 262144 ids",
        "[1,2147483648]<=[2147483648]": "are more than 262144 ids",
        "[0,0]<=[0]": "size 0 of a dimension must be positive",
        "[2,2]<=[5]": "[2,2] holds 4 ids, but 5 are given",
        "[2,2]<=[2,2]T(0,0)": "T(0,0) must be a permutation of the 2 dimensions",
    }.items()},
    **{entry(f"p = f32[4] parameter(0)\nROOT r = f32[4] collective-permute(p), source_target_pairs={pairs}"): words for pairs, words in {
        "{{0,9223372036854775808}}": "expected a 64-bit integer",
        "{{0,-5}}": "hold the negative id -5",
        "{{0,1},{0,2}}": "name source 0 twice",
        "{{0,1,2}}": "expected pairs {source,target}",
        "{{2147483648,4294967296}}": "names id 4294967296",
    }.items()},
    # Layouts.
    **{entry(f"p = f32[2,3]{layout} parameter(0)\nROOT r = f32[2,3] add(p, p)"): words for layout, words in {
        "{1,1}": "to be a permutation of 0 to 1, got {1,1}",
        "{-1,0}": "to be a permutation of 0 to 1, got {-1,0}",
        "{0}": "expected 2 dimensions in minor_to_major, got 1",
        "{1,0:T(0,0)}": "expected positive tile sizes, got 0",
        "{1,0:T(-8,128)}": "expected positive tile sizes, got -8",
        "{1,0:S(99999999999999999999)}": "expected an integer of 64 bits",
    }.items()},
    # Nesting, and cycles.
    entry("ROOT p = " + "(" * 100000 + "f32[]" + ")" * 100000 + " parameter(0)"): "tuples are nested deeper than 64 levels",
    entry("ROOT c = f32[1,1] constant(" + "{" * 100000 + "1" + "}" * 100000 + ")"): "expected a value of f32",
    entry("x = f32[] parameter(0)\nROOT r = f32[] add(x, x), control-predecessors={r}"): "needs its own result",
    entry("x = f32[] parameter(0)\na = f32[] add(x, x), control-predecessors={b}\nb = f32[] add(x, x), control-predecessors={a}\nROOT r = f32[] add(a, b)"):
        "needs its own result, through its operands or control predecessors",
    entry("p = f32[4] parameter(0)\nROOT r = f32[4] map(p), dimensions={0}, to_apply=f", "f { a = f32[] parameter(0)\nROOT r = f32[] map(a), dimensions={}, to_apply=f }\n"):
        "computation f calls itself",
    entry("i = s32[] parameter(0)\nROOT r = f32[] conditional(i), branch_computations={}"): "needs at least one branch",
    # Dimensions, indices and counts of attributes.
    **{entry(f"a = f32[4] parameter(0)\nROOT r = {op}", ADD): words for op, words in {
        "f32[1] reshape(a)": "has 4 elements, but the result f32[1] has 1",
        "f32[4] slice(a), slice={[0:4:0]}": "slice",
        "f32[4] transpose(a), dimensions={7}": "transpose",
        "f32[4,4] broadcast(a), dimensions={5}": "broadcast",
        "f32[] get-tuple-element(a), index=9223372036854775807": "get-tuple-element",
        "(f32[1], s32[1]) topk(a), k=-1, largest=true": "k = -1 must lie between 0",
        "(f32[1], s32[1]) topk(a), k=9223372036854775807, largest=true": "k = 9223372036854775807 must lie between 0",
        "f32[4] reduce-precision(a), exponent_bits=0, mantissa_bits=9": "exponent_bits = 0 must be at least 1",
        "f32[4] reduce-precision(a), exponent_bits=2147483648, mantissa_bits=-3": "mantissa_bits = -3 is negative",
        "c64[4] fft(a), fft_type=FFT, fft_length={9223372036854775807}": "fft",
        "f32[4] scatter(a, a, a), update_window_dims={7}, inserted_window_dims={9}, scatter_dims_to_operand_dims={99}, index_vector_dim=0, to_apply=add": "scatter",
        "f32[4] batch-norm-inference(a, a, a, a, a), epsilon=1e999, feature_index=0": "1e999",
        "f32[4] batch-norm-inference(a, a, a, a, a), epsilon=1, feature_index=-1": "feature_index = -1 is not a dimension",
        "f32[4] sort(a), dimensions={-1}, to_apply=add": "sort",
        "f32[4] rng-get-and-update-state(), delta=1": "rng-get-and-update-state",
        "f32[4] dynamic-update-slice(a, a, a)": "dynamic-update-slice",
    }.items()},
    # The header.
    "HloModule m, input_output_alias={ {9223372036854775807}: (9223372036854775807, {-1}, may-alias) }\nENTRY main { ROOT x = f32[] parameter(0) }":
        "expected a parameter number below 1; got 9223372036854775807",
    "HloModule m, is_scheduled=true, is_scheduled=false\nENTRY main { ROOT x = f32[] parameter(0) }": "attribute is_scheduled is given twice",
    "HloModule m, num_partitions=4\nENTRY main { ROOT x = f32[4] parameter(0), sharding={devices=[4]0,0,0,0} }": "expected each of the devices 0 to 3 once",
    "HloModule m, num_partitions=4\nENTRY main { ROOT x = f32[4] parameter(0), sharding={devices=[1000000000]<=[1000000000]} }": "expected at most 65536 devices",
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
    "--input=random --nosuch": "unknown flag --nosuch; --help lists the flags",
    "--input=random --platfrom=cpu": "unknown flag --platfrom; did you mean --platform?",
    "--input=random -platform=cpu": "unknown flag -platform; did you mean --platform?",
    "--input=random --platform=cudaemulated": "did you mean cuda-emulated?",
    "--input=random --strict=yes": "--strict is a switch and takes no value",
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

    def test_programs_that_never_end(self):
        # No loop: each computation calls the one before twice.
        calls = "".join(f"c{i + 1} {{ p = f32[] parameter(0)\na = f32[] call(p), to_apply=c{i}\nROOT b = f32[] call(a), to_apply=c{i} }}\n" for i in range(63))
        doubling = self.write("doubling.hlo", entry("x = f32[] parameter(0)\nROOT y = f32[] call(x), to_apply=c63",
                                                    "c0 { p = f32[] parameter(0)\nROOT a = f32[] add(p, p) }\n" + calls))
        for platform in ("cpu", "interpreter"):
            self.expect_error("DEADLINE_EXCEEDED", "run", doubling, "--input=random", "--deadline=0.2", f"--platform={platform}", timeout=30)

    def test_a_long_chain_that_partitions_divide(self):
        chain = "".join(f"b{i + 1} = f32[8] broadcast(b{i}), dimensions={{0}}\n" for i in range(60000))
        module = self.write("chain.hlo", "HloModule m, num_partitions=2\nENTRY main {\n"
                            "x = f32[8] parameter(0), sharding={devices=[2]<=[2]}\nc = f32[8] parameter(1), sharding={replicated}\n"
                            "b0 = f32[8] negate(c)\n" + chain + "ROOT r = f32[8] add(x, b60000)\n}\n")
        for platform in ("cpu", "interpreter"):
            done = self.hilo("run", module, "--input={1,2,3,4}", "--input={1,2,3,4,5,6,7,9}", "--partitions=2",
                             f"--platform={platform}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("out0_r1: f32[8] {0, 0, 0, 0, -4, -4, -4, -5}", done.stdout)

    def test_flags(self):
        for flags, words in FLAGS.items():
            with self.subTest(flags=flags):
                self.expect_error(words, "run", self.double, *flags.split())

    def test_help(self):
        overview = self.hilo("--help").stdout
        commands = [line.split()[0] for line in overview.splitlines() if line.startswith("  ")]
        self.assertIn("run", commands)
        for command in commands:
            with self.subTest(command=command):
                done = self.hilo(command, "--help")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(done.stdout, self.hilo("help", command).stdout)
                for words in (f"Usage: hilo {command} ", "  --help ", "Examples:", f"  hilo {command} "):
                    self.assertIn(words, done.stdout)

    def test_commands(self):
        for arguments, words in {
            ("nosuch",): "there is no command 'nosuch'",
            ("",): "there is no command ''",
            ("benhc",): "there is no command 'benhc'; did you mean bench?",
            ("devices", "cuda"): "hilo devices takes flags only, got 'cuda'",
            ("opt", self.double, "--passes=simplfy"): "did you mean simplify?",
            ("opt", self.double, "--stage=laid-out"): "did you mean laidout?",
            ("run",): "expected one module file, got 0",
            ("run", "/nonexistent.hlo", "--output=x.npy"): "--output: expected @FILE.npy, got 'x.npy'",
            ("graph", self.double): "-o: expected a file that ends in .html, .svg or .dot, got none",
            ("run", "/tmp"): "cannot read /tmp: Is a directory",
            ("run", "/nonexistent.hlo"): "cannot open /nonexistent.hlo",
            ("compile", self.double, "--emit=nosuch"): "got 'nosuch'",
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
                    cut = self.write("cut" + whole.suffix, content[:size])
                    self.expect_error("INVALID_ARGUMENT", "run", cut, "--input=random")
                    self.expect_error(cut.name, "run", cut, "--input=random")
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

    def test_names_in_an_archive(self):
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"
        array = b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header + struct.pack("<4f", 1, 2, 3, 4)
        archive = self.folder / "named.npz"
        for names, words in ((["x", "y"], "has no arg0, but x, y; the parameters are"), ([], "has no arg0, but no arrays;"),
                             ([f"n{i}" for i in range(11)], "n8, n9, ...;")):
            with zipfile.ZipFile(archive, "w") as file:
                for name in names:
                    file.writestr(f"{name}.npy", array)
            self.expect_error(words, "run", self.double, f"--inputs={archive}")

    def test_byte_order_marks(self):
        for name, text in (("a.hlo", DOUBLE), ("a.mlir", STABLEHLO)):
            done = self.hilo("run", self.write(name, b"\xef\xbb\xbf" + text.encode()), "--input={1,2,3,4}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("{2, 4, 6, 8}", done.stdout)
        self.expect_error("is empty", "run", self.write("b.hlo", b"\xef\xbb\xbf"))

    def test_output_without_a_reader(self):
        for arguments in (("run", self.double, "--input=random"), ("opt", self.double, "--stage=fused"), ("compile", self.double, "--emit=asm"),
                          ("run", "--help"), ("--version",), ("bench", self.double, "--iterations=1", "--no-roofs")):
            with self.subTest(arguments=arguments), open("/dev/full", "wb") as full:
                self.expect_error("cannot write to standard output", *arguments, stdout=full)
            with self.subTest(arguments=arguments, to="a pipe that is closed"):
                reader, writer = os.pipe()
                os.close(reader)
                with os.fdopen(writer, "wb") as pipe:
                    done = self.hilo(*arguments, stdout=pipe)
                # As other programs do after `| head`: no words of it, and the exit code of the signal.
                self.assertEqual(done.returncode, 128 + signal.SIGPIPE, done.stderr)
                self.assertNotIn("hilo:", done.stderr)

    def test_limits_of_the_system(self):
        double = ("run", self.double, "--input=random")
        no_files = limited(resource.RLIMIT_FSIZE, (0, 0))
        self.expect_error("File too large", *double, f"--outputs={self.folder / 'o.npz'}", preexec_fn=no_files)
        done = self.hilo(*double, f"--dump={self.folder / 'dump'}", preexec_fn=no_files)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("warning: the dump is incomplete"), 1, done.stderr)
        self.assertIn("File too large", done.stderr)
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
