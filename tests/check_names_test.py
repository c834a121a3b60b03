#!/usr/bin/env python3
"""Plants pairs of sources into small trees and asks tools/check_names what it thinks of them."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "tools" / "check_names"


def check(first, second, paths=("base/a.cc", "base/b.cc")):
    """Runs check_names over a tree of these two sources; returns its exit status and what it printed."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in zip(paths, (first, second)):
            file = pathlib.Path(root) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        done = subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True)
        return done.returncode, done.stdout


def unnamed(text):
    return "// A file.\nnamespace hilo {\nnamespace {\n\n" + text + "\n\n}  // namespace\n}  // namespace hilo\n"


class CheckNamesTest(unittest.TestCase):
    def test_same_names(self):
        for kind, name, first, second in [
            ("function", "F", "int F(int a) { return a; }", "double F(int b) {\n  return b;\n}"),
            ("function", "F", "void F(const std::vector<int>& a, int b = 1) {}", "void F(std::vector<int>, int);"),
            ("function", "F", "template <typename T>\nT F(T x) { return x; }", "template <typename T>\nT F(T x) { return -x; }"),
            ("function", "operator==", "bool operator==(A a, A b) { return true; }", "bool operator==(A c, A d) { return false; }"),
            ("constant", "kA", "constexpr int kA = 1;", "const char kA[] = {'{', '\"'};"),
            ("constant", "kB", "constexpr int kA = F<1, 2>(3, 4), kB = 2;", "constexpr std::chrono::seconds kB(1);"),
            ("type", "T", "struct T {\n  int x;\n};", "enum class T { kA };"),
            ("alias", "T", "using T = int;", "using T = long;"),
            ("alias", "T", "using a::T;", "using b::T;"),
            ("function", "T", "using T = int;", "int T() { return 0; }"),
            ("test", "Suite.Name", "TEST(Suite, Name) {}", "TEST_F(Suite, Name) {\n}"),
        ]:
            with self.subTest(first=first, second=second):
                status, text = check(unnamed(first), unnamed("int other;\n" + second))
                self.assertEqual(status, 1)
                self.assertIn(f"base/b.cc:6: {kind} {name} is defined in base/a.cc:5 as well\n", text)

    def test_outside_unnamed_namespaces(self):
        for name, text in [("kA", "constexpr int kA = 1;"), ("F", "static void F() {}"), ("A", "#define A 1")]:
            with self.subTest(text=text):
                self.assertIn(f" {name} is defined in base/a.cc:1 as well", check(text + "\n", text + "\n")[1])

    def test_allowed(self):
        for first, second in [
            ("int F(int a) { return a; }", "int F(double a) { return 0; }"),
            ("using T = int;", "using T = int;"),
            ("using a::T;", "using a::T;"),
            ("struct T;", "struct T {\n  void F();\n};"),
            ("void T::F() { int kA = 1; }", "void T::F() { int kA = 2; }"),
            ("// int kA = 1;", "int kA = 1;"),
            ('constexpr char kText[] = R"(\nint kA = 1;\n)";', "int kA = 1;"),
            ("#define A 1\n#undef A", "#define A 2\n#undef A"),
        ]:
            with self.subTest(first=first, second=second):
                self.assertEqual(check(unnamed(first), unnamed(second))[0], 0)

    def test_other_folders_and_kernels(self):
        text = unnamed("constexpr int kA = 1;")
        self.assertEqual(check(text, text, ("base/a.cc", "shape/a.cc"))[0], 0)
        self.assertEqual(check(text, text, ("backends/cpu/x_avx2.cc", "backends/cpu/x_avx512.cc"))[0], 0)
        self.assertEqual(check(text, text, ("backends/cpu/x.cc", "backends/cpu/y.cc"))[0], 1)


unittest.main()
