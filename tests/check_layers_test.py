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


def check_tree(**files):
    """Runs check_layers over a tree of these files, "a/b.h" written a__b_h; returns its exit status and its output."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = name.replace("__", "/")
            path = path if path.endswith("exceptions") else ".".join(path.rsplit("_", 1))
            file = pathlib.Path(root) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
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
                self.assertEqual(check(path, include), (0, "check_layers: 1 files, 0 problems\n"))

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
            ("backends/cpu/compile/cpu_compiler.cc", '"backends/gpu/ptx/ptx.h"'),
            ("backends/llvm/jit/optimizer.cc", '"backends/registry.h"'),
            ("hlo/passes/fusion.h", "<llvm/IR/Module.h>"),
            ("tools/main.cc", '"llvm/Support/Error.h"'),
            ("runtime/device.cc", "<cuda_runtime.h>"),
        ]:
            with self.subTest(path=path, include=include):
                status, output = check(path, include)
                self.assertEqual(status, 1)
                self.assertIn(f"{path}:2: must not include", output)

    def test_pairs_form_no_cycle(self):
        tree = {"base__a_h": '#include "base/b.h"\n', "base__b_h": "", "base__b_cc": '#include "base/a.h"\n'}
        self.assertIn("pairs include each other: base/a -> base/b, base/b -> base/a", check_tree(**tree)[1])
        self.assertEqual(check_tree(**tree, tools__layer_exceptions="pair base/a base/b  # why\n")[0], 0)

    def test_folders_form_no_cycle(self):
        tree = {"hlo__ops__x__a_h": '#include "hlo/ops/y/b.h"\n', "hlo__ops__y__b_h": "",
                "hlo__ops__y__c_h": '#include "hlo/ops/x/d.h"\n', "hlo__ops__x__d_h": ""}
        self.assertIn("folders include each other: hlo/ops/x -> hlo/ops/y, hlo/ops/y -> hlo/ops/x",
                      check_tree(**tree)[1])
        self.assertEqual(check_tree(**tree, tools__layer_exceptions="folder hlo/ops/y hlo/ops/x\n")[0], 0)

    def test_private_headers(self):
        for comment, user, allowed in [("// Private to hlo/ops.", "hlo__ops__y__b_cc", True),
                                       ("// Private to hlo/ops.", "hlo__ir__b_cc", False),
                                       ("// Private to the family.", "hlo__ops__x__b_cc", True),
                                       ("// Private to the family.", "hlo__ops__y__b_cc", False),
                                       ("// Of two lines. Private\n// to hlo/ops/x.", "hlo__ops__y__b_cc", False),
                                       ("// Private to the family.", "tests__b_cc", True)]:
            with self.subTest(comment=comment, user=user):
                status, output = check_tree(**{"hlo__ops__x__a_h": comment + "\n", user: '#include "hlo/ops/x/a.h"\n'})
                self.assertEqual(status, 0 if allowed else 1)
                self.assertEqual("it is private to" in output, not allowed)

    def test_names_in_comments(self):
        good = ["See x/a.h.", "(a.h)", "hlo/x/a.h, b.cc", "<omp.h>", "llvm/IR/Module.h", "*_kernel.cc"]
        text = "".join(f'// {comment}\nconst char* s = "//";  // {comment}\n' for comment in good)
        self.assertEqual(check_tree(hlo__x__a_h="", hlo__ir__b_cc=text + 'const char* s = "// no.h";\n')[0], 0)
        bad = ["y/a.h", "a.cc", "cuda_paths.h"]
        status, output = check_tree(hlo__x__a_h="", hlo__ir__b_cc="".join(f'F("\\"");  // {name}\n' for name in bad))
        self.assertEqual(status, 1)
        for line, name in enumerate(bad, 1):
            self.assertIn(f"hlo/ir/b.cc:{line}: the comment names {name}, which does not exist\n", output)

    def test_names_behind_literals_and_in_blocks(self):
        text = "char q = '\"';  // one.h\nchar r = '\\'';  /* two.h\n * three.h */\n" \
               "int n = 1'000;  // four.h isn't there\n" \
               "const char* s = R\"x(\n// five.h /* six.h\n)x\";  // seven.h\n"
        output = check_tree(hlo__ir__b_cc=text)[1]
        for line, name in [(1, "one.h"), (2, "two.h"), (3, "three.h"), (4, "four.h"), (7, "seven.h")]:
            self.assertIn(f"hlo/ir/b.cc:{line}: the comment names {name}, which does not exist\n", output)
        self.assertNotIn("five.h", output)
        self.assertNotIn("six.h", output)

    def test_switches_over_opcodes(self):
        text = 'switch (x) {\n  case HloOpcode::kAdd: return "}";\n  default: return 0;  // }\n}\n'
        self.assertIn("1 switches over HloOpcode end in default:, 0 are allowed: hlo/ir/a.cc:1",
                      check_tree(hlo__ir__a_cc=text)[1])
        self.assertEqual(check_tree(hlo__ir__a_cc=text, tools__layer_exceptions="switches 1\n")[0], 0)
        self.assertIn("write that", check_tree(hlo__ir__a_cc=text, tools__layer_exceptions="switches 2\n")[1])
        inner = "switch (x) {\n  case HloOpcode::kAdd: switch (y) { default: return 1; }\n}\n"
        self.assertEqual(check_tree(hlo__ir__a_cc=inner)[0], 0)
        block = "/* switch (x) {\n case HloOpcode::kAdd: default: } */ char q = '\"';\n" + text
        self.assertIn("hlo/ir/a.cc:3", check_tree(hlo__ir__a_cc=block)[1])

    def test_exceptions_only_shrink(self):
        for line in ["pair base/a base/b", "folder hlo/ops/x hlo/ops/y", "private base/a.h shape/b.cc"]:
            with self.subTest(line=line):
                status, output = check_tree(base__a_h="", tools__layer_exceptions=line + "\n")
                self.assertEqual(status, 1)
                self.assertIn("remove the line", output)

    def test_an_empty_tree_is_an_error(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertEqual(subprocess.run([sys.executable, SCRIPT, root], capture_output=True).returncode, 1)


if __name__ == "__main__":
    unittest.main()
