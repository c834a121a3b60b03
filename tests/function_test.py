#!/usr/bin/env python3
"""Programs as functions in C: function_test.py HILO SOURCES

Objects and headers of many modules are linked by the system's C compiler into one program, whose results are those of
the same modules compiled by the JIT.
"""

import concurrent.futures
import ctypes
import io
import math
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

HILO, SOURCES = os.path.abspath(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1))
OPS = ("atan2 cholesky clamp concatenate convert convolution cosine cumsum dot dynamic-update-slice erf fft gather log pad power reduce reduce-window "
       "remainder scatter select-and-scatter sine slice sort tan topk transpose triangular-solve while conditional call").split()
NPY = {"f32": "<f4", "f64": "<f8", "s8": "|i1", "s16": "<i2", "s32": "<i4", "s64": "<i8", "u8": "|u1", "u16": "<u2", "u32": "<u4",
       "u64": "<u8", "pred": "|b1", "c64": "<c8", "c128": "<c16"}
# What an object may ask of other libraries.
LIBM = re.compile(r"mem(cpy|move|set)|(sin|cos|tan)[fl]?|pow|fmodf?|(fma|floor|ceil|trunc|round|rint|roundeven)f?")
DRIVER = """#include <stdio.h>
#include <stdlib.h>
%s
static void* memory(size_t size) {
  void* at = aligned_alloc(64, (size + 64) / 64 * 64);
  if (at == NULL) abort();
  return at;
}
static void* input(FILE* file, size_t size) {
  void* at = memory(size);
  if (fread(at, 1, size, file) != size) abort();
  return at;
}
int main(void) {
%s  return 0;
}
"""


def hilo(*arguments):
    return subprocess.run([HILO, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def npy(data):
    """The type, the shape and the bytes of an array."""
    size, start = struct.unpack_from("<H" if data[6] == 1 else "<I", data, 8)[0], 10 if data[6] == 1 else 12
    header = eval(data[start:start + size])
    return header["descr"], header["shape"], data[start + size:]


def random_npy(kind, dimensions, seed):
    generator, count = random.Random(seed), 1
    for dimension in dimensions:
        count *= dimension
    code = {"<f4": "f", "<f8": "d", "|i1": "b", "<i2": "h", "<i4": "i", "<i8": "q", "|u1": "B", "<u2": "H", "<u4": "I", "<u8": "Q", "|b1": "?",
            "<c8": "ff", "<c16": "dd"}[NPY[kind]]
    values = [generator.uniform(0.1, 3) if code[0] in "fd" else generator.randrange(2 if code == "?" else 5) for _ in range(count * len(code))]
    data = struct.pack("<" + code[0] * len(values), *values)
    header = repr({"descr": NPY[kind], "fortran_order": False, "shape": tuple(dimensions)}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def programs():
    """The modules of tests/programs and their arguments."""
    paths = sorted((SOURCES / "tests/programs").glob("*.hlo"))
    return [(path, path.with_suffix(".npz")) for path in paths if path.with_suffix(".npz").exists()]


def first_module(op):
    """The first module of tests/ops/OP.hlo, or ""."""
    path = SOURCES / f"tests/ops/{op}.hlo"
    found = re.search(r"^HloModule .*?(?=^// ----|\Z)", path.read_text() if path.exists() else "", re.M | re.S)
    return found[0] if found else ""


class Function:
    """A module's object and header, and what the JIT computes."""

    def __init__(self, path, folder, number, archive=None, cpu=""):
        self.name, self.object, self.header = f"f{number}", folder / f"f{number}.o", folder / f"f{number}.h"
        self.error = None
        for kind, to in (("object", self.object), ("header", self.header)):
            done = hilo("compile", path, f"--emit={kind}", f"--function={self.name}", f"--cpu={cpu}", "-o", to)
            if done.returncode != 0:
                self.error = done.stderr
                return
        text = self.header.read_text()
        arrays = re.findall(r"^    (const )?(\w+)\* ((?:arg|out)\d+),  /\* (\w+)\[([\d,]*)\](?:\{([\d,]*)\})? \*/$", text, re.M)
        self.inputs = [array for array in arrays if array[2].startswith("arg")]
        self.outputs = [array for array in arrays if array[2].startswith("out")]
        if any(array[5] and array[5].split(",") != sorted(array[5].split(","), key=int, reverse=True) for array in arrays):
            self.error = "layouts"
            return
        given = {}
        if archive is not None:
            with zipfile.ZipFile(archive) as file:
                given = {f"{array[2]}.npy": file.read(f"{array[2]}.npy") for array in self.inputs}
        else:
            if any(array[3] not in NPY for array in arrays):
                self.error = "types"
                return
            for i, (_, _, name, kind, dimensions, _) in enumerate(self.inputs):
                given[f"{name}.npy"] = random_npy(kind, [int(d) for d in dimensions.split(",") if d], i)
        wanted, made = folder / f"f{number}.npz", folder / f"f{number}_out.npz"
        with zipfile.ZipFile(wanted, "w") as file:
            for name, data in given.items():
                file.writestr(name, data)
        done = hilo("run", path, "--inputs", wanted, "--outputs", made)
        if " has no arg" in done.stderr:  # one without elements, of which the header does not speak
            self.error = "types"
            return
        if done.returncode != 0:
            raise AssertionError(f"{path}: {done.stderr}")
        (folder / f"{self.name}.in").write_bytes(b"".join(npy(data)[2] for data in given.values()))
        self.sizes = [len(npy(data)[2]) for data in given.values()]
        with zipfile.ZipFile(made) as file:
            self.expected = [npy(file.read(f"{array[2]}.npy")) for array in self.outputs]
        self.path = path

    def calls_library(self):
        """Whether the JIT's products or transforms are those of a library, which adds up in another order."""
        return bool(re.search("kind=(library-dot|runtime-call)", hilo("compile", self.path, "--emit=hlo").stdout))

    def call(self):
        lines = [f'  {{\n    FILE* in = fopen("{self.name}.in", "rb");\n    FILE* out = fopen("{self.name}.out", "wb");']
        arguments = []
        for i, size in enumerate(self.sizes):
            lines.append(f"    void* arg{i} = input(in, {size});")
            arguments.append(f"arg{i}")
        for i, (_, _, data) in enumerate(self.expected):
            lines.append(f"    void* out{i} = memory({len(data)});")
            arguments.append(f"out{i}")
        macro = self.name.upper()
        lines.append(f"    {self.name}({', '.join(arguments + [f'memory({macro}_SCRATCH_BYTES)'])});")
        lines += [f"    fwrite(out{i}, 1, {len(data)}, out);" for i, (_, _, data) in enumerate(self.expected)]
        return "\n".join(lines) + "\n    fclose(in);\n    fclose(out);\n  }\n"


# The largest difference relative to the largest magnitude; types that are not here are equal.
TOLERANCES = {"<f4": ("f", 1e-5), "<f8": ("d", 1e-11), "<c8": ("f", 1e-5), "<c16": ("d", 1e-11)}


def near(a, b, kind):
    if a == b or kind not in TOLERANCES:
        return a == b
    code, tolerance = TOLERANCES[kind]
    x, y = (struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data) for data in (a, b))
    scale = max((abs(value) for value in y if math.isfinite(value)), default=0)
    return all(one == other or abs(one - other) <= tolerance * scale or one != one and other != other for one, other in zip(x, y))


class Functions(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def file(self, text, name):
        path = self.folder / name
        path.write_text(text)
        return path

    def cc(self, *arguments):
        done = subprocess.run(["cc", *map(str, arguments)], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_results_are_those_of_the_jit(self):
        modules = programs() + [(self.file(text, f"{op}.hlo"), None) for op in OPS if (text := first_module(op))]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            functions = list(pool.map(lambda item: Function(item[1][0], self.folder, item[0], item[1][1]), enumerate(modules)))
        for function, (path, _) in zip(functions, modules):
            if function.error not in (None, "layouts", "types"):
                self.assertRegex(function.error, r"UNIMPLEMENTED: a function without Hilo's runtime cannot have the kernel [\w-]+, which calls its library; in %", path)
        tried = [function for function in functions if function.error is None]
        self.assertGreaterEqual(len(tried), 36, [(str(path.name), function.error) for function, (path, _) in zip(functions, modules) if function.error])
        self.file(DRIVER % ("\n".join(f'#include "{function.name}.h"' for function in tried), "".join(map(Function.call, tried))), "main.c")
        self.cc("-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic-errors", "main.c", *(function.object for function in tried), "-lm", "-o", "main")
        subprocess.run(["./main"], cwd=self.folder, check=True, timeout=60)
        names = {function.name: path.name for function, (path, _) in zip(functions, modules)}
        for function in tried:
            made = io.BytesIO((self.folder / f"{function.name}.out").read_bytes())
            for i, (kind, _, expected) in enumerate(function.expected):
                result = made.read(len(expected))
                same = result == expected or function.calls_library() and near(result, expected, kind)
                self.assertTrue(same, f"{names[function.name]}: result {i} ({kind}) is not that of the JIT")
            symbols = subprocess.run(["nm", function.object], capture_output=True, text=True, check=True).stdout
            undefined = re.findall(r" U (\S+)", symbols)
            self.assertFalse([name for name in undefined if not LIBM.fullmatch(name) and name != "_GLOBAL_OFFSET_TABLE_"], names[function.name])
            self.assertEqual(re.findall(r" [A-TV-Z] (\S+)", symbols), [function.name])

    def test_levels(self):
        """One object for several levels; that of each level is called too, where this machine has it."""
        path = SOURCES / "tests/programs/mlp_adam_step.hlo"
        levels = ["x86-64-v2", "x86-64-v3", "x86-64-v4"]
        for kind, name in (("object", "step.o"), ("header", "step.h")):
            done = hilo("compile", path, f"--emit={kind}", "--function=step", "--cpu=" + ",".join(levels), "-o", self.folder / name)
            self.assertEqual(done.returncode, 0, done.stderr)
        header = (self.folder / "step.h").read_text()
        self.assertIn("for x86-64-v2, x86-64-v3, x86-64-v4.", header)
        code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", self.folder / "step.o"], capture_output=True, text=True, check=True).stdout
        for register in ("%xmm", "%ymm", "%k1"):
            self.assertTrue(register in code, register)
        symbols = {level: "step." + level.replace("-", "_") for level in levels}
        exported = [f"--globalize-symbol={symbol}" for symbol in symbols.values()]
        subprocess.run(["objcopy", *exported, "step.o", "all.o"], cwd=self.folder, check=True)
        arrays = re.findall(r"^    (const )?(\w+\*) (?:arg|out)(\d+),", header, re.M)
        with zipfile.ZipFile(path.with_suffix(".npz")) as file:
            given = [npy(file.read(f"arg{array[2]}.npy"))[2] for array in arrays if array[0]]
        (self.folder / "step.in").write_bytes(b"".join(given))
        signature = ", ".join("const void*" if array[0] else "void*" for array in arrays) + ", void*"
        flags = pathlib.Path("/proc/cpuinfo").read_text().split("flags", 1)[-1].split("\n", 1)[0].split()
        present = [level for level, flag in zip(levels, ("sse4_2", "avx2", "avx512vl")) if flag in flags]
        body = ['  FILE* in = fopen("step.in", "rb");\n  FILE* out = fopen("step.out", "wb");\n  void* scratch = memory(STEP_SCRATCH_BYTES);\n']
        arguments = []
        sizes = [len(data) for data in given]
        made = self.folder / "made.npz"
        self.assertEqual(hilo("run", path, "--inputs", path.with_suffix(".npz"), "--outputs", made).returncode, 0)
        with zipfile.ZipFile(made) as file:
            results = [npy(file.read(f"out{i}.npy")) for i in range(len(arrays) - len(given))]
        for i, size in enumerate(sizes + [len(result[2]) for result in results]):
            body.append(f"  void* a{i} = {'input(in, ' if i < len(given) else 'memory('}{size});\n")
            arguments.append(f"a{i}")
        declarations = []
        for i, level in enumerate(["", *present]):
            name = f"level{i}" if level else "step"
            if level:
                declarations.append(f'void {name}({signature}) __asm__("{symbols[level]}");')
            body.append(f"  {name}({', '.join(arguments)}, scratch);\n")
            body += [f"  fwrite(a{len(given) + j}, 1, {len(result[2])}, out);\n" for j, result in enumerate(results)]
        body.append("  fclose(in);\n  fclose(out);\n")
        self.file(DRIVER % ('#include "step.h"\n' + "\n".join(declarations), "".join(body)), "main.c")
        self.cc("-std=c11", "-Wall", "-Wextra", "-Werror", "main.c", "all.o", "-lm", "-o", "main")
        subprocess.run(["./main"], cwd=self.folder, check=True, timeout=60)
        written = io.BytesIO((self.folder / "step.out").read_bytes())
        called = [[written.read(len(result[2])) for result in results] for _ in ["", *present]]
        for values in called:
            for value, (kind, _, expected) in zip(values, results):
                self.assertTrue(near(value, expected, kind))
        self.assertEqual(called[0], called[-1])  # the highest level is the one that is chosen
        for given in ("x86-64-v3,x86-64-v2", "x86-64-v2,znver4"):
            done = hilo("compile", path, "--emit=object", f"--cpu={given}", "-o", self.folder / "x.o")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"in this order, got {given}", done.stderr)

    def test_header(self):
        module = self.file("""HloModule two-results
ENTRY main {
  x = f32[3,2] parameter(0)
  p = pred[] parameter(1)
  z = bf16[4]{0} parameter(2)
  n = f32[3,2] negate(x)
  ROOT r = (f32[3,2]{0,1}, pred[], bf16[4]) tuple(n, p, z)
}
""", "m.hlo")
        done = hilo("compile", module, "--emit=header")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("#define TWO_RESULTS_SCRATCH_BYTES ", done.stdout)
        self.assertIn("""void two_results(
    const float* arg0,  /* f32[3,2]{1,0} */
    const uint8_t* arg1,  /* pred[] */
    const uint16_t* arg2,  /* bf16[4]{0} */
    float* out0,  /* f32[3,2]{0,1} */
    uint8_t* out1,  /* pred[] */
    uint16_t* out2,  /* bf16[4]{0} */
    void* scratch);
""", done.stdout)

    def test_shared_library(self):
        module = self.file("""HloModule step
ENTRY main {
  x = f32[3] parameter(0)
  s = f32[3] sine(x)
  ROOT y = f32[3] add(s, x)
}
""", "m.hlo")
        library = self.folder / "step.so"
        done = hilo("compile", module, "--emit=so", "-o", library)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        buffer = ctypes.create_string_buffer(64 * 1024)
        start = (ctypes.addressof(buffer) + 63) // 64 * 64
        values = (ctypes.c_float * 35).from_address(start)  # the argument, the result at 16 and scratch memory from 32 on
        values[0:3] = [0, 1, 2]
        ctypes.CDLL(str(library)).step(ctypes.c_void_p(start), ctypes.c_void_p(start + 64), ctypes.c_void_p(start + 128))
        for result, x in zip(values[16:19], (0, 1, 2)):
            self.assertAlmostEqual(result, math.sin(x) + x, delta=1e-6)
        dynamic = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
        self.assertEqual(re.findall(r" [A-Za-z] (\S+)", dynamic), ["step"])

    def test_errors_of_linking(self):
        module = self.file("HloModule step\nENTRY main { x = f32[3] parameter(0)  ROOT y = f32[3] add(x, x) }\n", "m.hlo")
        to, empty = self.folder / "x", self.folder / "empty"
        empty.mkdir()
        for arguments, path, words in (
            (["--emit=so"], empty, "there is no cc or gcc or clang in the folders of PATH; install one (Debian: gcc)"),
            (["--emit=wasm"], empty, "there is no wasm-ld or wasm-ld-19 in the folders of PATH"),
            (["--emit=so", "--cpu=wasm32"], empty, "the code is for WebAssembly; give --emit=wasm"),
            (["--emit=wasm", "--cpu=native"], empty, "; give --emit=so, or another --cpu"),
            (["--emit=so", "--function=a b"], os.environ["PATH"], "--function: expected a name in C, of letters, digits and _, got 'a b'"),
            (["--emit=object", "--function=double"], os.environ["PATH"], "--function: 'double' is a name that C or its library has"),
            (["--emit=object", "--function=uint8_t"], os.environ["PATH"], "--function: 'uint8_t' is a name that C or its library has"),
            (["--emit=object", "--function=_Bool"], os.environ["PATH"], "--function: '_Bool' is a name that C or its library has"),
            (["--emit=object", "--function=_start"], os.environ["PATH"], "--function: '_start' is a name that C or its library has"),
            (["--emit=object", "--function=fmod"], os.environ["PATH"], "--function: 'fmod' is a name that C or its library has"),
        ):
            done = subprocess.run([HILO, "compile", module, *arguments, "-o", to], capture_output=True, text=True, env={**os.environ, "PATH": str(path)})
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)
            self.assertFalse(to.exists())
        (empty / "cc").write_text("#!/bin/sh\necho it is broken\nexit 3\n")
        (empty / "cc").chmod(0o755)
        done = subprocess.run([HILO, "compile", module, "--emit=so", "-o", to], capture_output=True, text=True, env={**os.environ, "PATH": str(empty)})
        self.assertEqual(done.returncode, 1)
        self.assertIn("/cc failed:\nit is broken", done.stderr)

    def test_module_whose_name_is_reserved(self):
        for name in ("double", "main", "fmod"):
            module = self.file(f"HloModule {name}\nENTRY main {{ x = f64[] parameter(0)  ROOT y = f64[] remainder(x, x) }}\n", "m.hlo")
            self.assertEqual(hilo("compile", module, "--emit=object", "-o", self.folder / "m.o").returncode, 0)
            self.assertEqual(hilo("compile", module, "--emit=header", "-o", self.folder / "m.h").returncode, 0)
            self.file(f'#include "m.h"\nint main(void) {{ return {name}_ == 0; }}\n', "reserved.c")
            self.cc("-std=c11", "reserved.c", "m.o", "-lm", "-o", "reserved")

    def test_what_needs_the_runtime_is_named(self):
        state = self.file("HloModule s\nENTRY main { ROOT y = u64[2] rng-get-and-update-state(), delta=1 }\n", "s.hlo")
        done = hilo("compile", state, "--emit=object", "-o", self.folder / "s.o")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"cannot have the kernel runtime-call, which calls its library; in %?y")
        self.assertFalse((self.folder / "s.o").exists())


if __name__ == "__main__":
    unittest.main()
