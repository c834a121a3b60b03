#!/usr/bin/env python3
"""The package hilo: hilo_test.py FOLDER, the one that holds the package. What needs NumPy, ml_dtypes or PyTorch runs where these are installed."""

import array
import gc
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, sys.argv.pop(1))
import hilo  # noqa: E402
from programs import ROOT, LINE, PAIR, REPLICAS, STABLEHLO, identity, aligned  # noqa: E402


class Compiling(unittest.TestCase):
    def test_formats_and_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "line.hlo"
            path.write_text(LINE)
            for source in (LINE, LINE.encode(), path, str(path)):
                self.assertEqual(hilo.compile(source)([1, 2, 3]).tolist(), [2, 4, 6])
            on_one_line = " ".join(LINE.split())
            self.assertEqual(hilo.compile(on_one_line)([1, 2, 3]).tolist(), [2, 4, 6])
            with self.assertRaises(FileNotFoundError):
                hilo.compile("missing.hlo")
            lowered = type("Lowered", (), {"as_text": lambda self: STABLEHLO})()
            for source in (STABLEHLO, lowered):
                self.assertEqual(hilo.compile(source)([1, 2]).tolist(), [2, 4])
            saved = pathlib.Path(folder) / "line.hilo"
            program = hilo.compile(LINE)
            program.save(saved)
            for source in (saved, program.serialize()):
                self.assertEqual(hilo.load(source)([1, 2, 3]).tolist(), [2, 4, 6])
            with self.assertRaisesRegex(ValueError, "was loaded has no text"):
                hilo.load(saved).text()
            saved.write_bytes(b"no executable")
            with self.assertRaises(hilo.Error) as caught:
                hilo.load(saved)
            self.assertEqual(caught.exception.__notes__, [f"in {saved}"])
            path.write_text(LINE.replace("f32[3] add", "f32[4] add"))
            with self.assertRaisesRegex(hilo.Error, r"line\.hlo:4:8: add: expected the shape f32\[3\](.|\n)*\^"):
                hilo.compile(path)

    def test_errors(self):
        with self.assertRaises(hilo.Error) as caught:
            hilo.compile("HloModule m\nENTRY main { x = f32[2] parameter(0)  ROOT y = f32[3] add(x, x) }\n")
        self.assertEqual(caught.exception.code, "INVALID_ARGUMENT")
        self.assertIn("^", str(caught.exception))
        with self.assertRaisesRegex(hilo.Error, "there is no option 'stric'; there are .*strict"):
            hilo.compile(LINE, stric=True)
        with self.assertRaisesRegex(hilo.Error, "tpu"):
            hilo.compile(LINE, "tpu")
        with self.assertRaisesRegex(hilo.Error, "serialized executable: expected"):
            hilo.load(b"no executable")
        with self.assertRaises(FileNotFoundError):
            hilo.compile("no such file")
        with self.assertRaisesRegex(hilo.Error, "is empty"):
            hilo.compile("")
        with self.assertRaisesRegex(TypeError, "expected a program as text, bytes or a path, got int"):
            hilo.compile(3)

    def test_errors_without_results(self):
        text = "module { func.func @main(%x: tensor<2xf32>) { check.expect_eq_const %x, dense<2.0> : tensor<2xf32> return } }"
        for platform in "cpu", "cuda-emulated":
            program = hilo.compile(text, platform=platform)
            program([2.0, 2.0])
            with self.assertRaisesRegex(hilo.Error, "2 of 2 elements"):
                program([3.0, 3.0])

    def test_descriptions(self):
        program = hilo.compile(PAIR)
        self.assertEqual(program.parameters, [("state{0}", "f32", (2, 3), False), ("state{1}", "s32", (), False)])
        self.assertEqual([value.name for value in program.results], ["out0", "out1"])
        self.assertEqual(program.cost().flops, 7)
        self.assertIn("HloModule pair", program.text("input"))
        self.assertIn("kernel=", program.text())
        self.assertIn("define", program.text("llvm"))
        with self.assertRaisesRegex(hilo.Error, "emits hlo, buffers, llvm, asm, object, header; got 'nothing'"):
            program.text("nothing")
        self.assertEqual(repr(program), "<hilo.Program (state{0}: f32[2,3], state{1}: s32[]) -> (out0: f32[2,3], out1: s32[]) on cpu>")
        self.assertRegex(hilo.__version__, r"^\d+\.\d+\.\d+$")
        for name in hilo.__all__:
            self.assertTrue(name == "__version__" or getattr(hilo, name).__doc__, name)

    def test_platforms_and_options(self):
        for platform in ("interpreter", "cpu", "cuda-emulated"):
            self.assertEqual(hilo.compile(LINE, platform)([1, 2, 3]).tolist(), [2, 4, 6], platform)
        self.assertEqual(hilo.compile(LINE, strict=True, disabled_passes=["simplify", "cse"], threads=1)([1, 2, 3]).tolist(), [2, 4, 6])


    def test_custom_calls(self):
        library = next((ROOT / "build" / "lib").glob("libhilo_plain_ffi_library.so"), None)
        if library is None:
            self.skipTest("the library of custom calls is not built")
        with self.assertRaisesRegex(hilo.Error, "nosuch.so") as error:
            hilo.load_custom_calls("nosuch.so")
        self.assertEqual(error.exception.code, "NOT_FOUND")
        for _ in range(2):  # a second time is no error
            hilo.load_custom_calls(library)
        program = hilo.compile("HloModule m\nENTRY e { x = f32[3] parameter(0)  ROOT y = f32[3] custom-call(x), custom_call_target=\"add_one\" }")
        self.assertEqual(program([1, 2, 3]).tolist(), [2, 3, 4])

    def test_options_with_nul(self):
        """C's texts would end there."""
        with self.assertRaisesRegex(ValueError, r"the option cache_dir: expected text without NUL, got 'a\\x00b'"):
            hilo.Client(cache_dir="a\0b")
        with self.assertRaisesRegex(ValueError, "without NUL"):
            hilo.compile(identity("f32[3]"), **{"file_name\0": "m"})
        with self.assertRaisesRegex(ValueError, r"a kind of text without NUL, got 'hlo\\x00zz'"):
            hilo.compile(identity("f32[3]")).text("hlo\0zz")

    def test_warnings_are_logged(self):
        with self.assertLogs("hilo", "WARNING") as log:
            client = hilo.Client(cache_dir="/dev/null/cache")
            for name in "abc":  # with the same reason: it is logged once
                client.compile(identity("f32[3]", name))
        self.assertEqual(len(log.output), 1, log.output)
        self.assertRegex(log.output[0], "the compiled program is not cached: .*/dev/null/cache")
        code = (f"import sys; sys.path.insert(0, {sys.path[0]!r}); import hilo; sys.argv = ['', {sys.path[0]!r}]\n"
                f"print(hilo.compile({LINE!r})([1, 2, 3]).tolist())")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env={**os.environ, "HILO_CODE_CACHE_MB": "many"})
        self.assertEqual(done.stdout, "[2.0, 4.0, 6.0]\n")
        self.assertIn("HILO_CODE_CACHE_MB: expected a number of megabytes, got 'many'", done.stderr)


class Running(unittest.TestCase):
    def test_results(self):
        y, m = hilo.compile(PAIR)([[1, 2, 3], [4, 5, 6]], 21)
        self.assertEqual((y.tolist(), y.shape, y.ndim, y.size, len(y)), ([[2, 4, 6], [8, 10, 12]], (2, 3), 2, 6, 2))
        self.assertEqual((int(m), float(m), bool(m), m.shape, m.element_type, m.device), (42, 42.0, True, (), "s32", 0))
        self.assertEqual(repr(m), "Array(s32[] 42)")
        self.assertEqual(repr(hilo.compile(identity("f32[100]"))(array.array("f", bytes(400)))), "Array(f32[100])")
        with self.assertRaises(TypeError):
            memoryview(y)[0, 0] = 1

    def test_element_types(self):
        for name, values in (("pred", [True, False]), ("s8", [-1, 2]), ("u64", [1, 2 ** 63]), ("f16", [1.5, -2]), ("f64", [0.1, 1e300])):
            program = hilo.compile(identity(f"{name}[2]"))
            self.assertEqual(program(values).tolist(), values)
            self.assertEqual(hilo.compile(identity(name + "[]"))(values[0]).item(), values[0])
            self.assertEqual(hilo.compile(identity(name + "[1,2]"))([values]).tolist(), [values])
            self.assertEqual(hilo.compile(identity(name + "[0]"))([]).tolist(), [])
        with self.assertRaisesRegex(TypeError, "expected numbers that are s8"):
            hilo.compile(identity("s8[1]"))([1000])

    def test_wrong_arguments(self):
        program = hilo.compile(LINE)
        for argument, message in (([1, 2], r"argument 0 \(x\): expected f32\[3\], got f32\[2\]"),
                                  (array.array("d", [1, 2, 3]), r"expected f32\[3\], got f64\[3\]"),
                                  ([[1], [2, 3]], "rows of different sizes"),
                                  (["a", "b", "c"], "expected numbers that are f32"),
                                  (object(), "expected an array of f32, got object"),
                                  (None, "got NoneType")):
            with self.assertRaisesRegex(TypeError, message):
                program(argument)
        for arguments in ((), (1, 2)):
            with self.assertRaisesRegex(TypeError, rf"expected 1 argument \(\w+\), got {len(arguments)}"):
                program(*arguments)
        with self.assertRaises(TypeError):
            program([1, 2, 3], devices=1)
        for options, message in (({"device": "a"}, "device: expected an integer, got 'a'"),
                                 ({"device": 2 ** 40}, "device: expected an integer, got 1099511627776"),
                                 ({"deadline": "soon"}, "deadline: expected seconds, got 'soon'"),
                                 ({"donate": 0}, "donate: expected a list of indices of arguments, got 0"),
                                 ({"donate": "x"}, "donate: expected a list of indices of arguments, got 'x'")):
            with self.assertRaisesRegex(TypeError, message):
                program([1, 2, 3], **options)
        with self.assertRaisesRegex(TypeError, "expected a list of arguments for each device, got int for device 1"):
            program.on_devices([[[1, 2, 3]], 2])
        with self.assertRaisesRegex(TypeError, "stage: expected a string, got int"):
            program.text(3)
        with self.assertRaisesRegex(TypeError, "expected an array, numbers or nested lists, got object"):
            program.client.array(object())
        with self.assertRaises(hilo.Error):
            program([1, 2, 3], device=7)
        with self.assertRaisesRegex(hilo.Error, "expected|shape"):
            program(hilo.compile(identity("f32[4]"))([1, 2, 3, 4]))
        with self.assertRaises(TypeError):
            hilo.Array().shape

    def test_memory_of_the_host(self):
        """Large aligned memory is used in place and released; other memory is copied."""
        size = 1 << 16
        program = hilo.compile(identity(f"f32[{size}]"))
        memory = aligned(size)
        memory[7] = 5
        self.assertEqual(memoryview(program(memory))[7], 5)
        data = bytearray(memoryview(memory).cast("B"))
        view = memoryview(data).cast("f")
        program(view)
        view.release()
        data.append(0)  # a lent buffer could not be resized
        client = hilo.Client()
        lent = client.array(memory, copy=False)
        memory[8] = 6
        self.assertEqual(memoryview(lent)[8], 6.0)
        copied = client.array(memory)
        memory[8] = 7
        self.assertEqual(memoryview(copied)[8], 6.0)
        program = client.compile(identity(f"f32[{size}]"))
        self.assertEqual(memoryview(program(lent))[8], 7.0)
        # Not contiguous, and of other alignments.
        view = memoryview(memory)[::2]
        self.assertEqual(hilo.compile(identity(f"f32[{size // 2}]"))(view).tolist()[4], 7.0)
        self.assertEqual(hilo.compile(identity(f"f32[{size - 1}]"))(memoryview(memory)[1:]).tolist()[7], 7.0)

    def test_memory_is_given_back(self):
        size = 1 << 16
        client = hilo.Client()
        program = client.compile(identity(f"f32[{size}]"))
        memory = aligned(size)
        for _ in range(50):
            program(program(memory))
        gc.collect()
        self.assertLess(client.memory().bytes_in_use, 4 * size)
        self.assertGreater(client.memory().peak_bytes, 0)

    def test_arrays(self):
        client = hilo.Client()
        x = client.array([[1, 2], [3, 4]], "s32")
        self.assertEqual((x.tolist(), x.element_type), ([[1, 2], [3, 4]], "s32"))
        self.assertEqual(client.compile(identity("s32[2,2]"))(x).tolist(), x.tolist())
        self.assertEqual(client.array(array.array("d", [1.5])).element_type, "f64")
        self.assertEqual(client.array(x).tolist(), x.tolist())
        with self.assertRaisesRegex(TypeError, "no arrays of Hilo's with elements of"):
            client.array(memoryview(b"ab").cast("c"))
        with self.assertRaisesRegex(TypeError, "need an element type"):
            client.array([1])
        with self.assertRaisesRegex(TypeError, "there is no element type 'f31'"):
            client.array([1], "f31")

    def test_donation(self):
        program = hilo.compile(LINE.replace("HloModule line", "HloModule line, input_output_alias={ {}: (0, {}, may-alias) }"))
        x = program([1, 2, 3])
        self.assertEqual(program(x, donate=[0]).tolist(), [4, 8, 12])
        with self.assertRaisesRegex(hilo.Error, "donated"):
            program(x)

    def test_layouts(self):
        column_major = "HloModule t, entry_computation_layout={(f32[2,3]{1,0})->f32[2,3]{0,1}}\nENTRY main { x = f32[2,3] parameter(0)  ROOT y = f32[2,3] copy(x) }\n"
        y = hilo.compile(column_major)([[1, 2, 3], [4, 5, 6]])
        self.assertEqual(memoryview(y).tolist(), [[1, 2, 3], [4, 5, 6]])

    def test_dynamic_dimensions(self):
        program = hilo.compile("HloModule d\nENTRY main { x = f32[<=5] parameter(0)  ROOT y = f32[<=5] add(x, x) }\n")
        self.assertTrue(program.parameters[0].dynamic)
        self.assertEqual(program([1, 2, 3]).tolist(), [2, 4, 6])
        self.assertEqual(program([1, 2, 3]).shape, (3,))
        with self.assertRaisesRegex(TypeError, r"expected f32\[<=5\], got f32\[6\]"):
            program([1] * 6)

    def test_devices(self):
        program = hilo.compile(REPLICAS, devices=2)
        self.assertEqual(program.device_count, 2)
        self.assertEqual([y.tolist() for y in program.on_devices([[[1, 2]], [[10, 20]]])], [[11, 22], [11, 22]])
        with self.assertRaisesRegex(TypeError, "use Program.on_devices"):
            program([1, 2])
        with self.assertRaisesRegex(TypeError, "expected that many lists of arguments, got 1"):
            program.on_devices([[[1, 2]]])
        client = hilo.Client(devices=2)
        self.assertEqual(client.compile(LINE)([1, 2, 3], device=1).device, 1)

    def test_dlpack(self):
        class Tensor:
            """Offers nothing but DLPack."""
            def __init__(self, owner):
                self.owner = owner
            def __dlpack__(self, **options):
                return self.owner.__dlpack__(**options)
        x = hilo.compile(identity("f32[65536]"))(aligned(65536))
        program = hilo.compile(identity("f32[65536]"))
        for _ in range(3):
            self.assertEqual(program(Tensor(x)).shape, (65536,))
        with self.assertRaisesRegex(TypeError, r"expected f32\[65536\], got f32\[3\]"):
            program(Tensor(hilo.compile(LINE)([1, 2, 3])))
        self.assertEqual(x.__dlpack_device__(), (1, 0))
        x.__dlpack__(), x.__dlpack__(max_version=(1, 0))  # deleted without having been taken
        with self.assertRaises(BufferError):
            x.__dlpack__(stream=1)

    def test_copies_by_dlpack(self):
        class Copied:
            """Hands out a copy of an array's, as NumPy and PyTorch ask for it."""
            def __init__(self, owner):
                self.owner = owner
            def __dlpack__(self, **options):
                return self.owner.__dlpack__(copy=True, **options)
        layout = "HloModule m, entry_computation_layout={(f32[2,3]{1,0})->f32[2,3]{0,1}}\nENTRY e { p = f32[2,3] parameter(0)\n ROOT x = f32[2,3] copy(p) }"
        back = "HloModule m\nENTRY e { p = bf16[4] parameter(0)\n ROOT x = f32[4] convert(p) }"
        narrow = hilo.compile("HloModule m\nENTRY e { p = f32[4] parameter(0)\n ROOT x = bf16[4] convert(p) }")([1, 2, 3, 4])
        self.assertEqual(hilo.compile(back)(Copied(narrow)).tolist(), [1, 2, 3, 4])
        columns = hilo.compile(layout)([[1, 2, 3], [4, 5, 6]])
        self.assertEqual(hilo.compile(identity("f32[2,3]"))(Copied(columns)).tolist(), [[1, 2, 3], [4, 5, 6]])
        for array in (narrow, columns, hilo.Client().array([], "f32")):
            array.__dlpack__(copy=True), array.__dlpack__(copy=True, max_version=(1, 0))  # deleted without having been taken
        with self.assertRaisesRegex(BufferError, "DLPack has no elements of type s4"):
            hilo.compile(back.replace("bf16", "u8").replace("f32", "s4"))(bytes(4)).__dlpack__(copy=True)

    def test_cost_of_a_call(self):
        """A call of a tiny program costs microseconds; ten times what was measured is a mistake."""
        program = hilo.compile(LINE)
        x = array.array("f", [1, 2, 3])
        best = min(self._time(program, x) for _ in range(20))
        print(f"a call of a tiny program: {best * 1e6:.2f} us")
        self.assertLess(best, 50e-6)

    @staticmethod
    def _time(program, x):
        start = time.perf_counter()
        for _ in range(1000):
            program(x)
        return (time.perf_counter() - start) / 1000


class ComplexNumbersAndTokens(unittest.TestCase):
    def test_complex_numbers_in_lists(self):
        for name in ("c64", "c128"):
            square, number = hilo.compile(identity(f"{name}[2,2]")), hilo.compile(identity(f"{name}[]"))
            self.assertEqual(square([[1, -2.5], [1j, 3 + 4j]]).tolist(), [[1, -2.5], [1j, 3 + 4j]])
            self.assertEqual(number(2j).item(), 2j)
            self.assertEqual(hilo.compile(identity(f"{name}[0]"))([]).tolist(), [])
            self.assertEqual(hilo.Client().array([[1j, 2], [3, 4]], name).tolist(), [[1j, 2], [3, 4]])
            for wrong in ([[1, 2], [1j, "3"]], [[1, 2], [1j, None]]):
                with self.assertRaisesRegex(TypeError, f"argument 0 .*: expected numbers that are {name}, got "):
                    square(wrong)
            with self.assertRaisesRegex(TypeError, rf"expected {name}\[2,2\], got {name}\[3\]"):
                square([1, 2, 1j])

    def test_tokens_have_no_elements(self):
        token = hilo.compile("ENTRY main { ROOT t = token[] after-all() }")()
        self.assertEqual(repr(token), "Array(token[])")
        for read in (token.tolist, lambda: token.dtype):
            with self.assertRaisesRegex(TypeError, "no elements of type token"):
                read()


@unittest.skipIf(importlib.util.find_spec("numpy") is None, "NumPy is not installed")
class WithNumpy(unittest.TestCase):
    def test_both_ways(self):
        import numpy as np
        for dtype, name in (("bool", "pred"), ("int8", "s8"), ("uint16", "u16"), ("int32", "s32"), ("uint64", "u64"), ("float16", "f16"), ("float32", "f32"),
                            ("float64", "f64"), ("complex64", "c64"), ("complex128", "c128"), ("int64", "s64"), ("longlong", "s64"), ("uint", "u64")):
            x = np.arange(6).reshape(2, 3).astype(dtype)
            y = hilo.compile(identity(f"{name}[2,3]"))(x)
            self.assertEqual(y.element_type, name)
            self.assertEqual(y.dtype, np.dtype(dtype))
            np.testing.assert_array_equal(np.asarray(y), x)
            self.assertEqual(y[1, 2], x[1, 2])
            np.testing.assert_array_equal(np.asarray(y, "float64" if "c" not in name else "complex128"), x)
            self.assertEqual(y.tolist(), x.tolist())
        for shape in ((), (0,), (3, 0, 2), (1, 1)):
            x = np.ones(shape, "f4")
            y = np.asarray(hilo.compile(identity(f"f32[{','.join(map(str, shape))}]"))(x))
            np.testing.assert_array_equal(y, x)
        x = np.arange(12, dtype="f4").reshape(3, 4)
        for view in (x.T, x[::-1], x[:, ::2], np.broadcast_to(x[0], (3, 4))):
            np.testing.assert_array_equal(np.asarray(hilo.compile(identity(f"f32[{view.shape[0]},{view.shape[1]}]"))(view)), view)
        with self.assertRaisesRegex(TypeError, "dimensions of f32 in this machine's byte order, got a buffer of 1 dimensions and format '>f'"):
            hilo.compile(identity("f32[3]"))(np.ones(3, ">f4"))
        for wrong in (np.array(["a", "b", "c"]), np.zeros(3, "M8[s]"), np.zeros(3, object)):
            with self.assertRaisesRegex(TypeError, r"argument 0 \(x\)"):
                hilo.compile(identity("f32[3]"))(wrong)
        with self.assertRaisesRegex(TypeError, r"argument 0 \(x\): expected numbers that are f16"):
            hilo.compile(identity("f16[1]"))([1e9])

    def test_no_copies(self):
        import numpy as np
        y = hilo.compile(LINE)([1, 2, 3])
        a, b, c = np.asarray(y), np.asarray(y), np.from_dlpack(y)
        self.assertEqual({array.__array_interface__["data"][0] for array in (a, b, c)}, {a.__array_interface__["data"][0]})
        self.assertFalse(a.flags.writeable)
        self.assertFalse(c.flags.writeable)
        copy = np.array(y, copy=True)
        self.assertTrue(copy.flags.writeable)
        del y
        gc.collect()
        self.assertEqual((a + c).tolist(), [4, 8, 12])
        transposed = "HloModule t, entry_computation_layout={(f32[2,3]{1,0})->f32[2,3]{0,1}}\nENTRY main { x = f32[2,3] parameter(0)  ROOT y = f32[2,3] copy(x) }\n"
        y = hilo.compile(transposed)([[1, 2, 3], [4, 5, 6]])
        self.assertEqual(np.asarray(y).tolist(), [[1, 2, 3], [4, 5, 6]])
        self.assertEqual(np.from_dlpack(y).tolist(), [[1, 2, 3], [4, 5, 6]])

    def test_client_arrays(self):
        import numpy as np
        x = hilo.Client().array(np.eye(2, dtype="f4"))
        self.assertEqual((x.element_type, x.tolist()), ("f32", [[1, 0], [0, 1]]))
        self.assertEqual(hilo.Client().array([1, 2], np.int16).element_type, "s16")

    @unittest.skipIf(importlib.util.find_spec("ml_dtypes") is None, "ml_dtypes is not installed")
    def test_types_of_ml_dtypes(self):
        import ml_dtypes
        import numpy as np
        for dtype, name in ((ml_dtypes.bfloat16, "bf16"), (ml_dtypes.float8_e4m3fn, "f8e4m3fn"), (ml_dtypes.float8_e5m2, "f8e5m2"), (ml_dtypes.int4, "s4")):
            x = np.array([[1, 2, 3], [-4, 5, 6]], dtype)
            y = hilo.compile(identity(f"{name}[2,3]"))(x)
            self.assertEqual((y.element_type, y.dtype), (name, np.dtype(dtype)))
            self.assertEqual(np.asarray(y).dtype, np.dtype(dtype))
            np.testing.assert_array_equal(np.asarray(y).astype("f4"), x.astype("f4"))
            np.testing.assert_array_equal(np.asarray(hilo.compile(identity(f"{name}[3,2]"))(x.T)).astype("f4"), x.T.astype("f4"))
            self.assertEqual(hilo.compile(identity(f"{name}[2]"))([1, 2]).tolist(), [1, 2])
        narrow = [-8, -1, 3]
        convert = hilo.compile("HloModule m\nENTRY e { p = s4[3] parameter(0)\n ROOT r = s32[3] convert(p) }")
        for x in (np.array(narrow, ml_dtypes.int4), narrow):
            self.assertEqual(convert(x).tolist(), narrow)
        self.assertEqual(hilo.Client().array(np.ones(2, ml_dtypes.bfloat16)).element_type, "bf16")
        if hasattr(ml_dtypes, "uint1"):  # since 0.6
            self.assertEqual(hilo.compile(identity("u1[3]"))([1, 0, 1]).tolist(), [1, 0, 1])
            self.assertEqual(hilo.compile(identity("s1[2]"))(np.array([0, -1], ml_dtypes.int1)).tolist(), [0, -1])


@unittest.skipIf(importlib.util.find_spec("torch") is None, "PyTorch is not installed")
class WithTorch(unittest.TestCase):
    def test_both_ways(self):
        import torch
        for dtype, name in ((torch.float32, "f32"), (torch.bfloat16, "bf16"), (torch.int64, "s64"), (torch.bool, "pred")):
            x = torch.ones(2, 3, dtype=dtype)
            y = torch.from_dlpack(hilo.compile(identity(f"{name}[2,3]"))(x))
            self.assertTrue(torch.equal(x, y))
        x = torch.arange(1 << 16, dtype=torch.float32).reshape(256, 256)
        self.assertTrue(torch.equal(torch.from_dlpack(hilo.compile(identity("f32[256,256]"))(x.T)), x.T))
        lent = hilo.Client().array(x, copy=False)
        self.assertEqual(lent._memory[0], x.data_ptr())


if __name__ == "__main__":
    unittest.main()
