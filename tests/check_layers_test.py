#!/usr/bin/env python3
"""Plants includes into small trees and asks tools/check_layers what it thinks of them."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "tools" / "check_layers"


def check(path, include):
    """Runs check_layers over a tree of one file; returns its exit status and what it printed."""
    with tempfile.TemporaryDirectory() as root:
        file = pathlib.Path(root) / path
        file.parent.mkdir(parents=True)
        file.write_text(f"// A file.\n#include {include}\n")
        done = subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True)
        return done.returncode, done.stdout


class CheckLayersTest(unittest.TestCase):
    def test_allowed(self):
        for path, include in [
            ("shape/shape.cc", '"base/errors.h"'),
            ("shape/shape.cc", '"shape/number_text.h"'),
            ("shape/shape.cc", "<vector>"),
            ("hlo/ir/hlo_module.cc", '"hlo/ops/table/op.h"'),
            ("hlo/passes/expand/topk.cc", '"hilo/xla_builder.h"'),
            ("include/hilo/shape.h", '"hilo/primitive_type.h"'),
            ("include/hilo/client.h", '"absl/status/status.h"'),
            ("examples/embed/main.cc", '"hilo/client.h"'),
            ("examples/pjrt/main.c", '"pjrt/abi.h"'),
            ("backends/cpu/compile/cpu_compiler.cc", '"llvm/IR/Module.h"'),
            ("backends/registry.cc", '"backends/cpu/compile/cpu_compiler.h"'),
            ("backends/gpu/driver.cc", "<cuda.h>"),
            ("tests/unit/base/check_test.cc", '"base/check.h"'),
        ]:
            with self.subTest(path=path, include=include):
                self.assertEqual(check(path, include), (0, "check_layers: 1 files, 0 forbidden includes\n"))

    def test_forbidden(self):
        for path, include in [
            ("base/errors.h", '"shape/number_text.h"'),
            ("hlo/ops/linalg/dot.cc", '"hlo/ir/hlo_module.h"'),
            ("hlo/text/hlo_parser.cc", '"hlo/builder/add_op.h"'),
            ("hlo/text/hlo_parser.cc", '"hilo/xla_builder.h"'),
            ("shape/shape.cc", '"hilo/client.h"'),
            ("include/hilo/shape.h", '"hilo/client.h"'),
            ("include/hilo/client.h", '"runtime/compiler.h"'),
            ("include/hilo/unlisted.h", '"hilo/shape.h"'),
            ("examples/embed/main.cc", '"runtime/compiler.h"'),
            ("runtime/client.cc", '"backends/registry.h"'),
            ("backends/cpu/compile/cpu_compiler.cc", '"backends/gpu/compile/ptx.h"'),
            ("backends/llvm/jit/optimizer.cc", '"backends/registry.h"'),
            ("hlo/passes/fusion.h", "<llvm/IR/Module.h>"),
            ("tools/main.cc", '"llvm/Support/Error.h"'),
            ("runtime/device.cc", "<cuda_runtime.h>"),
        ]:
            with self.subTest(path=path, include=include):
                status, output = check(path, include)
                self.assertEqual(status, 1)
                self.assertIn(f"{path}:2: must not include", output)

    def test_an_empty_tree_is_an_error(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertEqual(subprocess.run([sys.executable, SCRIPT, root], capture_output=True).returncode, 1)


if __name__ == "__main__":
    unittest.main()
