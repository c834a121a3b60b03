#!/usr/bin/env python3
"""Programs as functions for other machines: cross_function_test.py HILO SOURCES

Objects for WebAssembly are linked and run by wasmtime, those for AArch64 are linked and run by unicorn, an emulator of
processors. Their results are those of the same modules compiled by the JIT, up to rounding. Needs these two packages and
lld; whatever is absent is skipped.
"""

import ctypes
import ctypes.util
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

from function_test import HILO, OPS, SOURCES, Function, first_module, hilo, near, programs

try:
    import wasmtime
except ImportError:
    wasmtime = None
try:
    import unicorn
    from unicorn import arm64_const
except ImportError:
    unicorn = None

LIBM = ctypes.CDLL(ctypes.util.find_library("m"))


def tool(name):
    """A tool of LLVM, of whatever version there is."""
    found = [path for version in ("", "-19", "-14") if (path := shutil.which(name + version))]
    return found[0] if found else None


def math_function(name, single):
    function = getattr(LIBM, name)
    function.restype = ctypes.c_float if single else ctypes.c_double
    return lambda *arguments: function(*map(function.restype, arguments))


def link(linker, object_file, *arguments):
    done = subprocess.run([tool(linker), *arguments, str(object_file), "-o", f"{object_file}.linked"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return pathlib.Path(f"{object_file}.linked").read_bytes()


class WebAssembly:
    """An instance of a linked module, whose memory grows by what is asked of it."""

    def __init__(self, object_file, function):
        code = link("wasm-ld", object_file, "--no-entry", f"--export={function}", "--allow-undefined")
        engine = wasmtime.Engine()
        self.store = wasmtime.Store(engine)
        module = wasmtime.Module(engine, code)
        imports = []
        for wanted in module.imports:
            assert wanted.module == "env", wanted.module
            single = wanted.type.results[0] == wasmtime.ValType.f32()
            imports.append(wasmtime.Func(self.store, wanted.type, math_function(wanted.name, single)))
        exports = wasmtime.Instance(self.store, module, imports).exports(self.store)
        self.memory, self.function = exports["memory"], exports[function]

    def allocate(self, size):
        page = 1 << 16
        return self.memory.grow(self.store, size // page + 1) * page

    def write(self, address, data):
        self.memory.write(self.store, data, address)

    def read(self, address, size):
        return bytes(self.memory.read(self.store, address, address + size))

    def call(self, arguments):
        self.function(self.store, *arguments)


class Aarch64:
    """A processor whose memory holds the linked code, a stack, and arrays. A call of libm leads to a page of traps."""

    BASE, TRAPS, STACK, ARRAYS = 0x400000, 0x8000000, 0x9000000, 0x10000000
    STACK_BYTES = 1 << 20
    # All others are functions of floating-point numbers.
    MEMORY = ("memcpy", "memmove", "memset")

    def __init__(self, object_file, function):
        symbols = subprocess.run(["nm", str(object_file)], capture_output=True, text=True, check=True).stdout
        self.names = [name for name in re.findall(r" U (\S+)", symbols) if name != "_GLOBAL_OFFSET_TABLE_"]
        defined = [f"--defsym={name}={self.TRAPS + 4 * i:#x}" for i, name in enumerate(self.names)]
        code = link("ld.lld", object_file, "-m", "aarch64linux", "--static", f"--image-base={self.BASE:#x}", f"--entry={function}", *defined)
        self.machine = unicorn.Uc(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM)
        self.machine.mem_map(self.BASE, 16 << 20)
        self.machine.mem_map(self.TRAPS, 1 << 12)
        self.machine.mem_map(self.STACK, self.STACK_BYTES)
        self.next = self.ARRAYS
        self.entry, header, headers = struct.unpack_from("<Q", code, 24)[0], struct.unpack_from("<Q", code, 32)[0], struct.unpack_from("<H", code, 56)[0]
        for i in range(headers):
            kind, _, offset, address, _, size = struct.unpack_from("<IIQQQQ", code, header + 56 * i)
            if kind == 1:
                self.machine.mem_write(address, code[offset:offset + size])
        ret = struct.pack("<I", 0xd65f03c0)
        self.machine.mem_write(self.TRAPS, ret * (len(self.names) + 1))
        self.machine.hook_add(unicorn.UC_HOOK_CODE, self.trap, begin=self.TRAPS, end=self.TRAPS + 4 * max(len(self.names), 1) - 1)

    def register(self, name):
        return getattr(arm64_const, f"UC_ARM64_REG_{name}")

    def trap(self, machine, address, size, _):
        name = self.names[(address - self.TRAPS) // 4]
        if name in self.MEMORY:
            to, value, count = (machine.reg_read(self.register(f"X{i}")) for i in range(3))
            machine.mem_write(to, bytes([value & 255]) * count if name == "memset" else bytes(machine.mem_read(value, count)))
            return
        single = name.endswith("f")
        code, bits, register = ("<f", "<I", "S") if single else ("<d", "<Q", "D")
        function = math_function(name, single)
        arguments = 2 if name in ("pow", "fmod", "fmodf") else 1
        values = [struct.unpack(code, struct.pack(bits, machine.reg_read(self.register(f"{register}{i}"))))[0] for i in range(arguments)]
        machine.reg_write(self.register(f"{register}0"), struct.unpack(bits, struct.pack(code, function(*values)))[0])

    def allocate(self, size):
        address, self.next = self.next, self.next + (size + 0x1fff) // 0x1000 * 0x1000
        self.machine.mem_map(address, self.next - address)
        return address

    def write(self, address, data):
        self.machine.mem_write(address, data)

    def read(self, address, size):
        return bytes(self.machine.mem_read(address, size))

    def call(self, arguments):
        stacked = arguments[8:]
        stack = self.STACK + self.STACK_BYTES - (8 * len(stacked) + 15) // 16 * 16
        self.machine.mem_write(stack, struct.pack(f"<{len(stacked)}Q", *stacked))
        for i, argument in enumerate(arguments[:8]):
            self.machine.reg_write(self.register(f"X{i}"), argument)
        end = self.TRAPS + 0xff0
        self.machine.reg_write(arm64_const.UC_ARM64_REG_SP, stack)
        self.machine.reg_write(arm64_const.UC_ARM64_REG_LR, end)
        self.machine.emu_start(self.entry, end, timeout=30_000_000)
        assert self.machine.reg_read(arm64_const.UC_ARM64_REG_PC) == end, "the function does not return"


class CrossFunctions(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def check(self, cpu, machine, least):
        modules = programs()
        for op in OPS:
            path = self.folder / f"{op}.hlo"
            if text := first_module(op):
                path.write_text(text)
                modules.append((path, None))
        tried, different = 0, []
        for i, (path, archive) in enumerate(modules):
            function = Function(path, self.folder, i, archive, cpu)
            if function.error is not None:
                continue
            tried += 1
            made = machine(function.object, function.name)
            given = (self.folder / f"{function.name}.in").read_bytes()
            arguments = []
            for size in function.sizes:
                arguments.append(made.allocate(size))
                made.write(arguments[-1], given[:size])
                given = given[size:]
            results = [made.allocate(len(data)) for _, _, data in function.expected]
            scratch = int(re.search(r"_SCRATCH_BYTES (\d+)", function.header.read_text())[1])
            made.call(arguments + results + [made.allocate(scratch)])
            for j, (kind, _, expected) in enumerate(function.expected):
                if not near(made.read(results[j], len(expected)), expected, kind):
                    different.append(f"{path.name}: result {j} ({kind})")
        self.assertEqual(different, [])
        self.assertGreaterEqual(tried, least)

    @unittest.skipUnless(wasmtime, "Python's package wasmtime is absent")
    @unittest.skipUnless(tool("wasm-ld"), "LLVM's linker wasm-ld is absent")
    def test_wasm32(self):
        self.check("wasm32", WebAssembly, 36)

    @unittest.skipUnless(wasmtime, "Python's package wasmtime is absent")
    @unittest.skipUnless(tool("wasm-ld"), "LLVM's linker wasm-ld is absent")
    def test_linked_wasm32(self):
        """What --emit=wasm links exports the function, its memory and where that is free."""
        path, to = self.folder / "m.hlo", self.folder / "m.wasm"
        path.write_text("HloModule twice\nENTRY main { x = f32[2] parameter(0)  ROOT y = f32[2] add(x, x) }\n")
        done = hilo("compile", path, "--emit=wasm", "-o", to)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        engine = wasmtime.Engine()
        store = wasmtime.Store(engine)
        exports = wasmtime.Instance(store, wasmtime.Module(engine, to.read_bytes()), []).exports(store)
        memory, free = exports["memory"], exports["__heap_base"].value(store)
        start = (free + 63) // 64 * 64
        memory.grow(store, 1)
        memory.write(store, struct.pack("<2f", 1.5, -2), start)
        exports["twice"](store, start, start + 64, start + 128)
        self.assertEqual(struct.unpack("<2f", memory.read(store, start + 64, start + 72)), (3, -4))

    @unittest.skipUnless(unicorn, "Python's package unicorn is absent")
    @unittest.skipUnless(tool("ld.lld"), "LLVM's linker ld.lld is absent")
    def test_aarch64(self):
        self.check("aarch64", Aarch64, 36)

    def test_names(self):
        module = SOURCES / "tests/programs/mlp_adam_step.hlo"
        for cpu, expected in (("neoverse-n1", r"fmla\tv\d+\.4s"), ("wasm32", r"f32x4\.mul")):
            done = hilo("compile", module, "--emit=asm", f"--cpu={cpu}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, expected)
        done = hilo("compile", module, "--emit=object", "--cpu=neoverse-n9", "-o", self.folder / "x.o")
        self.assertEqual(done.returncode, 2)
        self.assertIn("aarch64, neoverse-n1 or wasm32; came 'neoverse-n9'", done.stderr)


if __name__ == "__main__":
    unittest.main()
