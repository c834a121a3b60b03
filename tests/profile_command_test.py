#!/usr/bin/env python3
"""Profiles of the program hilo, and what it tells other tools: profile_command_test.py HILO SOURCES"""

import gzip
import json
import os
import subprocess
import unittest

from command_test_case import CHAIN, LOGARITHMS, TRAIN, CommandTestCase, hilo

# Every form of a location; names are defined behind their uses, and one stands for itself.
LOCATIONS = """module @f {
  func.func public @main(%x: tensor<4096xf32> loc("x")) -> tensor<4096xf32> {
    %0 = stablehlo.sine %x : tensor<4096xf32> loc(#sin)
    %1 = "stablehlo.sort"(%0) <{dimension = 0 : i64}> ({ ^bb0(%a: tensor<f32> loc(unknown), %b: tensor<f32> loc(#self)):
      %less = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1> loc(#self)
      stablehlo.return %less : tensor<i1> loc(#sort) }) : (tensor<4096xf32>) -> tensor<4096xf32> loc(#sort)
    %2 = stablehlo.abs %1 : tensor<4096xf32> loc("alone")
    %3 = stablehlo.cosine %2 : tensor<4096xf32> loc(fused<"pass">["g.py":3:1, unknown])
    return %3 : tensor<4096xf32> loc(#unnamed)
  } loc(#caller)
} loc(#caller)
#caller = loc("f.py":40:2 to 41:9)
#line = loc("f.py":7:4 to :22)
#sin = loc("jit(f)/sin"(callsite("f"(#line) at #caller)))
#sort = loc(callsite("f.py":12:3 at callsite(#line at #caller)))
#self = loc("self"(#self))
"""


def message(data):
    """The fields of a protocol buffer: a list of integers or bytes by number."""
    fields, at = {}, 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        number, wire = divmod(varint(), 8)
        if wire == 0:
            value = varint()
        else:
            size = {1: 8, 2: None, 5: 4}[wire]
            size = varint() if size is None else size
            value = data[at:at + size]
            at += size
        fields.setdefault(number, []).append(value)
    return fields


class Profiles(CommandTestCase):
    def test_profile(self):
        done = hilo("profile", TRAIN, "--iterations=20", "--no-roofs")
        self.check(done, 0, r"^\S+: 20 runs of [\d.]+ [mu]s, [\d.]+ % of it in instructions\n +time a run +share +times +GB/s +GFLOP/s +roof +instruction\n")
        self.assertRegex(done.stdout, r"(?m)^ +[\d.]+ [mu]s +[\d.]+% +\d\S* +[\d.-]+ +[\d.-]+ +- +\S+")
        self.check(hilo("profile", self.file(CHAIN), "--iterations=3"), 0, r"3 runs of .* 100\.0 % (.|\n)*( \d+%| in caches)  a and 4 more \(sine\)\n")
        self.check(hilo("profile", self.file(CHAIN), "--platform=interpreter"), 2, "recorded on the platform cpu, not on interpreter", "stderr")
        self.check(hilo("profile", self.file(CHAIN), "--iterations=0"), 2, "--iterations", "stderr")

    def test_source_lines_of_stablehlo(self):
        module = self.file(LOCATIONS, "locations.mlir")
        self.check(hilo("profile", module, "--iterations=3", "--no-roofs"), 0, r"\(sort\)  f\.py:12\n")
        text = hilo("opt", module, "--passes=dce").stdout
        for pattern in (r'sine\(.*op_name="jit\(f\)/sin".*source_file="f\.py" source_line=7',
                        r'cosine\(.*source_file="g\.py" source_line=3', r'abs\(.*op_name="alone"(?!.*source_file)'):
            self.assertRegex(text, pattern)
        for old, new, error in (('at #caller', 'to #caller', "expected 'at'"), ('loc("alone")', 'loc(nowhere)', "expected a location"),
                                ('loc("alone")', 'loc("f":x)', r'bad\.mlir:7:')):
            self.check(hilo("opt", self.file(LOCATIONS.replace(old, new), "bad.mlir"), "--passes=dce"), 2, error, "stderr")

    def test_outputs_that_cannot_be_written(self):
        """The error comes before the work, not instead of its result."""
        module, missing = self.file(CHAIN), self.folder / "missing" / "file"
        for arguments in (["profile", "--trace"], ["profile", "--xspace"], ["bench", "--plot"], ["bench", "--benchmark-out"]):
            done = hilo(arguments[0], module, arguments[1], missing, "--no-roofs", "--iterations=1")
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (1, "", f"hilo: UNAVAILABLE: cannot write {missing}: No such file or directory\n"))
        self.check(hilo("run", module, "--input=random", f"--output=@{missing}"), 1, f"cannot write {missing}: No such file or directory\n", "stderr")
        self.check(hilo("compile", module, "-o", self.folder), 1, f"cannot write {self.folder}: Is a directory\n", "stderr")
        done = hilo("profile", module, "--trace", self.folder / "trace.json", "--no-roofs", "--iterations=0")
        self.check(done, 2, "--iterations", "stderr")
        self.assertFalse((self.folder / "trace.json").exists())

    def test_profile_of_loops(self):
        """The instructions of a long loop's body are listed, with their sources."""
        module = self.file(LOGARITHMS.replace("f32[2]", "f32[65536]").replace("constant({1, 1})", "broadcast(start), dimensions={}")
                           .replace("  ones =", "  start = f32[] constant(0.5)\n  ones ="))
        trace, space = self.folder / "trace.json", self.folder / "space.xplane.pb"
        self.check(hilo("profile", module, "--iterations=10", "--no-roofs", "--trace", trace, "--xspace", space), 0,
                   r"3 +[\d.]+ +[\d.]+ +- +\S+ .*loss\.py:12\n")
        done = hilo("profile", module, "--iterations=10", "--no-roofs", "--json")
        self.check(done, 0)
        profile = json.loads(done.stdout)
        self.assertEqual(profile["runs"], 10)
        self.assertGreater(sum(row["share"] for row in profile["instructions"]), 0.95, profile)
        body = profile["instructions"][0]
        self.assertEqual((body["executions"], body["source"], body["op_name"]), (30, "loss.py:12", "jit(loss)/log"))

        events = json.loads(trace.read_text())["traceEvents"]
        runs = [event for event in events if event.get("cat") == "program"]
        self.assertEqual(len(runs), 10)
        logs = [event for event in events if event.get("args", {}).get("source") == "loss.py:12"]
        self.assertEqual(len(logs), 30)
        self.assertTrue(all(any(run["ts"] <= log["ts"] and log["ts"] + log["dur"] <= run["ts"] + run["dur"] + 0.01 for run in runs) for log in logs))

        (plane,) = message(space.read_bytes())[1]
        plane = message(plane)
        self.assertEqual(plane[2], [b"/device:TPU:0 Hilo cpu"])
        lines = {message(line)[2][0]: message(line)[4] for line in plane[3]}
        self.assertEqual(len(lines[b"XLA Modules"]), 10)
        stat_names = {message(entry)[1][0]: message(message(entry)[2][0])[2][0] for entry in plane[5]}
        sources, symbols = {}, []
        for entry in plane[4]:
            metadata = message(message(entry)[2][0])
            for stat in map(message, metadata.get(5, [])):
                if stat_names[stat[1][0]] == b"source":
                    sources[metadata[1][0]] = stat[5][0]
                if stat_names[stat[1][0]] == b"symbol_id":
                    symbols.append(stat[4][0])
        self.assertEqual(symbols, list(range(1, len(symbols) + 1)))
        self.assertEqual(sum(sources.get(message(event)[1][0]) == b"loss.py:12" for event in lines[b"XLA Ops"]), 30)

    def test_profile_in_xprof(self):
        """xprof's own tables, where it is installed."""
        try:
            from xprof.convert import raw_to_tool_data
        except ImportError:
            self.skipTest("xprof is not installed")
        space = self.folder / "train.xplane.pb"
        self.check(hilo("profile", TRAIN, "--iterations=20", "--xspace", space), 0)
        tables = {}
        for tool in ("hlo_stats", "op_profile", "roofline_model", "trace_viewer@"):
            data, _ = raw_to_tool_data.xspace_to_tool_data([str(space)], tool, {})
            tables[tool] = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        columns = [column["id"] for column in tables["hlo_stats"]["cols"]]
        rows = [dict(zip(columns, (cell["v"] for cell in row["c"]))) for row in tables["hlo_stats"]["rows"]]
        self.assertGreater(len(rows), 3)
        self.assertTrue(any(row["occurrences"] == 20 and row["normalized_flop_rate"] > 0 and row["bound_by"] in ("Compute", "HBM") for row in rows), rows)
        self.assertTrue(tables["op_profile"]["byProgram"]["children"][0]["children"])
        self.assertGreater(len(tables["trace_viewer@"]["traceEvents"]), 60)
        # The tables have all that was measured, of a program of one step too.
        folder = self.folder / "one"  # xprof keeps files beside the profile
        folder.mkdir()
        one = self.file("HloModule one\nENTRY main { x = f32[1000,1000] parameter(0)  ROOT y = f32[1000,1000] tanh(x) }\n")
        self.check(hilo("profile", one, "--iterations=20", "--no-roofs", "--xspace", folder / "a.xplane.pb"), 0)
        data, _ = raw_to_tool_data.xspace_to_tool_data([str(folder / "a.xplane.pb")], "hlo_stats", {})
        self.assertIn(b'"y"', data if isinstance(data, bytes) else data.encode())

    def test_ranges_of_tools(self):
        """What NVTX and ITT show are the program and its steps. The libraries stand for those of the tools."""
        nvtx = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static int depth;
static void show(const char* what, const char* name) {
  FILE* f = fopen(getenv("RANGES"), "a");
  fprintf(f, "%s %*s%s\\n", what, depth, "", name);
  fclose(f);
}
static int push(const char* name) { show("nvtx", name); return depth++; }
static int pop(void) { return --depth; }
typedef void (*function)(void);
struct callbacks { size_t size; int (*table)(uint32_t, function***, unsigned*); };
int InitializeInjectionNvtx2(const void* (*get)(uint32_t)) {
  const struct callbacks* callbacks = get(1);
  function** table;
  unsigned size;
  if (get(77) != NULL || !callbacks->table(1, &table, &size) || callbacks->table(5, &table, &size) || size != 16 || table[16] != NULL) return 0;
  *table[9] = (function)push;
  *table[11] = (function)pop;
  return 1;
}
"""
        itt = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int depth;
static char domain[8];
struct id { unsigned long long d[3]; };
static void* domain_create(const char* name) { return strcpy(domain, name); }
static void* string_create(const char* text) { return (void*)text; }
static void task_begin(const void* of, struct id task, struct id parent, void* name) {
  FILE* f = fopen(getenv("RANGES"), "a");
  fprintf(f, "itt %s %*s%s\\n", (const char*)of, depth++, "", (const char*)name);
  fclose(f);
}
static void task_end(const void* of) { --depth; }
struct info { const char* name; void** function; void* a; void* b; int group; };
struct global { unsigned char magic[8]; unsigned long version[3]; long state[3]; char mutex[40]; void* library; void* handler; void* path; struct info* list; };
void __itt_api_init(struct global* global, int groups) {
  for (struct info* one = global->list; one->name; ++one) {
    if (!strcmp(one->name, "__itt_domain_create")) *one->function = domain_create;
    if (!strcmp(one->name, "__itt_string_handle_create")) *one->function = string_create;
    if (!strcmp(one->name, "__itt_task_begin")) *one->function = task_begin;
    if (!strcmp(one->name, "__itt_task_end")) *one->function = task_end;
  }
}
"""
        module = self.file(LOGARITHMS.replace("f32[2]", "f32[40000]").replace(
            "ones = f32[40000] constant({1, 1})", "f = f32[] constant(1)\n  ones = f32[40000] broadcast(f), dimensions={}"))
        log = self.folder / "ranges"
        libraries = {}
        for name, source in (("NVTX_INJECTION64_PATH", nvtx), ("INTEL_LIBITTNOTIFY64", itt)):
            libraries[name] = str(self.folder / f"{name}.so")
            subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", self.file(source, "tool.c"), "-o", libraries[name]], check=True)
        self.check(hilo("run", module, "--input=random", env={**os.environ, **libraries, "RANGES": str(log)}), 0)
        lines = log.read_text().splitlines()
        for tool in ("nvtx ", "itt Hilo "):
            shown = [line.removeprefix(tool) for line in lines if line.startswith(tool)]
            self.assertEqual(shown[0], "logarithms")
            self.assertEqual([line for line in shown if line.startswith("  ")], ["  l_fusion"] * 3, shown)  # in the loop, three times
            self.assertIn(" w", shown)
        broken = hilo("run", module, "--input=random", env={**os.environ, "NVTX_INJECTION64_PATH": "/nowhere.so", "INTEL_LIBITTNOTIFY64": libraries["NVTX_INJECTION64_PATH"]})
        self.check(broken, 0, "warning: the profiler's library of NVTX_INJECTION64_PATH cannot be loaded: /nowhere.so", "stderr")
        self.check(broken, 0, "INTEL_LIBITTNOTIFY64 does not take part", "stderr")


if __name__ == "__main__":
    unittest.main()
