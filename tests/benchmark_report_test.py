"""The tables, the chart and the gate of benchmarks/report.py: benchmark_report_test.py ROOT."""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "benchmarks"))

import report

RESULTS = [
    {"program": "ahead", "sides": {"Hilo": {"min": 10, "median": 11, "compile_ms": 5}, "old": {"min": 40, "median": 44, "compile_ms": 20}}},
    {"program": "behind", "sides": {"Hilo": {"min": 20, "median": 21, "compile_ms": 8}, "old": {"min": 10, "median": 12, "compile_ms": 4}}},
    {"program": "transfer", "sides": {"Hilo": {"min": 1, "median": 1, "compile_ms": None}, "old": {"error": "refused"}}},
]


class ReportTest(unittest.TestCase):
    def test_table_has_times_ratios_and_means(self):
        lines = report.table(RESULTS, ["old"]).splitlines()
        self.assertEqual(lines[2], "| ahead | 10 / 11 | 40 / 44 | 4.00 | 5 | 20 | 4.00 |")
        self.assertEqual(lines[4], "| transfer | 1 / 1 | failed |  |  |  |  |")
        self.assertEqual(lines[5], "| geometric mean |  |  | 1.41 |  |  | 1.41 |")

    def test_gate_names_rows_that_are_behind_without_a_reason(self):
        self.assertEqual(report.behind("hlo", RESULTS, ["old"], {}), ["behind: run 0.50 of old", "behind: compile 0.50 of old"])
        self.assertEqual(report.behind("hlo", RESULTS, ["old"], {("hlo", "behind", "run"): "why", ("hlo", "behind", "compile"): "why"}), [])

    def test_gate_names_failures_of_hilo(self):
        failed = [{"program": "p", "sides": {"Hilo": {"error": "refused"}, "old": {"min": 1, "median": 1, "compile_ms": 1}}}]
        self.assertEqual(report.behind("hlo", failed, ["old"], {}), ["p: refused"])

    def test_reasons_of_the_tree_are_of_existing_programs(self):
        for suite, program, _ in report.read_reasons(ROOT / "benchmarks" / "behind.txt"):
            sources = [ROOT / "benchmarks" / "inputs.py"] if suite == "hlo" else (ROOT / "benchmarks" / "suites").glob(f"{suite}*.py")
            self.assertRegex("".join(source.read_text() for source in sources), rf'(def {program}\(|"{program}":)')

    def test_reasons_of_another_form_are_refused(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("hlo conv_1d slow because\n")
            file.flush()
            with self.assertRaises(ValueError):
                report.read_reasons(file.name)

    def test_results_table_has_peaks_and_differences(self):
        sides = {"Hilo": {"min": 1, "median": 1, "peak_mb": 20}, "old": {"min": 1, "median": 1, "peak_mb": 50, "difference": 0.002}}
        line = report.results_table([{"program": "p", "sides": sides}], ["old"]).splitlines()[2]
        self.assertEqual(line, "| p | 20 | 50 | 2.50 | 2.0e-03 |")

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "this Python has no numpy, by which results are compared")
    def test_difference_is_relative_to_the_largest_element(self):
        import numpy as np
        nan, expected = float("nan"), {"a": [0.0, 100.0], "b": [1, 2], "c": [float("nan")]}
        with tempfile.TemporaryDirectory() as folder:
            def difference(**changes):
                np.savez(f"{folder}/ours.npz", **{**expected, **changes})
                np.savez(f"{folder}/theirs.npz", **expected)
                return report.difference(f"{folder}/ours.npz", f"{folder}/theirs.npz")
            self.assertEqual(difference(), 0)
            self.assertEqual(difference(a=[1.0, 100.0]), 0.01)
            self.assertEqual(difference(b=[1, 1]), 0.5)
            self.assertEqual(difference(a=[nan, 100.0]), float("inf"))
            self.assertEqual(difference(c=[0.0]), float("inf"))
            self.assertEqual(difference(b=[1, 2, 3]), float("inf"))
            self.assertEqual(difference(d=[1]), float("inf"))

    def test_chart_is_well_formed_with_a_bar_per_ratio(self):
        drawing = xml.dom.minidom.parseString(report.chart(RESULTS, ["old"], "title"))
        self.assertEqual(len(drawing.getElementsByTagName("title")), 2)

    def test_sections_are_added_once_and_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text("# Title\n")
            report.write_section(page, "hlo", "first")
            report.write_section(page, "calls", "other")
            report.write_section(page, "hlo", "second \\1")
            self.assertEqual(page.read_text(), "# Title\n\n<!-- begin hlo -->\nsecond \\1\n<!-- end hlo -->\n\n<!-- begin calls -->\nother\n<!-- end calls -->\n")

    def test_a_missing_module_is_named(self):
        for suite in ("hlo", "packages"):
            compare = [sys.executable, "-S", ROOT / "benchmarks/compare.py", suite, "--rival", "other=python3"]  # -S: without packages
            done = subprocess.run(compare, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"the suite {suite} needs numpy", done.stderr)


if __name__ == "__main__":
    unittest.main()
