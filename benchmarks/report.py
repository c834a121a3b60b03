"""Tables, charts and the gate of benchmarks/compare.py.

A result is {"program": name, "sides": {side: {"min": us, "median": us, "compile_ms": ms or None} or {"error": text}}}; the first side is
Hilo. A ratio is a rival's time over Hilo's: above 1 Hilo is faster.
"""

import math
import pathlib
import re

COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e")


def number(value):
    return f"{value:.4g}" if value < 1000 else f"{value:.0f}"


def ratio(result, rival, key):
    """The rival's time over Hilo's; None where one of the two has none."""
    hilo, other = result["sides"]["Hilo"].get(key), result["sides"][rival].get(key)
    return other / hilo if hilo and other else None


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def table(results, rivals):
    """Markdown: times of each side, least / median of a call in microseconds, compilation in milliseconds, and the ratios of the least."""
    header = ["program", "Hilo, us", *(f"{rival}, us" for rival in rivals), *(f"over {rival}" for rival in rivals), "compile Hilo, ms",
              *(f"{rival}, ms" for rival in rivals), *(f"over {rival}" for rival in rivals)]
    lines = ["| " + " | ".join(header) + " |", "|---|" + "--:|" * (len(header) - 1)]
    for result in results:
        cells = [result["program"]]
        for side in ("Hilo", *rivals):
            times = result["sides"][side]
            cells.append("failed" if "error" in times else f"{number(times['min'])} / {number(times['median'])}")
        cells += [cell(ratio(result, rival, "min")) for rival in rivals]
        cells += [number(result["sides"][side].get("compile_ms") or 0) if result["sides"][side].get("compile_ms") else "" for side in ("Hilo", *rivals)]
        cells += [cell(ratio(result, rival, "compile_ms")) for rival in rivals]
        lines.append("| " + " | ".join(cells) + " |")
    means = ["geometric mean", *[""] * (1 + len(rivals))]
    means += [cell(geometric_mean(known(results, rival, "min"))) for rival in rivals] + [""] * (1 + len(rivals))
    means += [cell(geometric_mean(known(results, rival, "compile_ms"))) for rival in rivals]
    return "\n".join([*lines, "| " + " | ".join(means) + " |"])


def results_table(results, rivals):
    """Markdown: peaks of memory of making, compiling and running, their ratios, and the largest difference of results."""
    header = ["program", "Hilo, MB", *(f"{rival}, MB" for rival in rivals), *(f"over {rival}" for rival in rivals), *(f"difference to {rival}" for rival in rivals)]
    lines = ["| " + " | ".join(header) + " |", "|---|" + "--:|" * (len(header) - 1)]
    for result in results:
        sides = result["sides"]
        peaks = ["" if sides[side].get("peak_mb") is None else number(sides[side]["peak_mb"]) for side in ("Hilo", *rivals)]
        differences = ["" if "difference" not in sides[rival] else f"{sides[rival]['difference']:.1e}" for rival in rivals]
        lines.append("| " + " | ".join([result["program"], *peaks, *(cell(ratio(result, rival, "peak_mb")) for rival in rivals), *differences]) + " |")
    return "\n".join(lines)


def difference(ours, theirs):
    """The largest difference between arrays of two npz files, relative to the array's largest finite element; infinite where one is not finite
    and the other is, or where their shapes differ."""
    import numpy as np
    largest = 0.0
    with np.load(ours) as first, np.load(theirs) as second:
        for name in sorted({*first.files, *second.files}):
            if name not in first.files or name not in second.files or first[name].shape != second[name].shape:
                return math.inf
            a, b = (array.astype(np.complex128 if np.iscomplexobj(array) else np.float64) for array in (first[name], second[name]))
            finite = np.isfinite(b)
            if not np.array_equal(np.isfinite(a), finite):
                return math.inf
            if finite.any():
                scale = np.abs(b[finite]).max() or 1.0
                largest = max(largest, float(np.abs(a[finite] - b[finite]).max() / scale))
    return largest


def cell(value):
    return "" if value is None else f"{value:.2f}"


def known(results, rival, key):
    return [value for value in (ratio(result, rival, key) for result in results) if value is not None]


def chart(results, rivals, title):
    """An SVG of the ratios of runs on a logarithmic axis: a row per program, a bar per rival, from 1 to the ratio."""
    values = [value for rival in rivals for value in known(results, rival, "min")]
    low, high = min([0.5, *values]), max([2.0, *values])
    low, high = 2.0 ** math.floor(math.log2(low)), 2.0 ** math.ceil(math.log2(high))
    bar, left, width = 7, 230, 560
    row = bar * len(rivals) + 5
    height = 58 + row * len(results)
    x = lambda value: left + width * (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 60}" height="{height}" font-family="sans-serif" font-size="10">',
             '<rect width="100%" height="100%" fill="white"/>', f'<text x="8" y="16" font-size="13">{title}</text>']
    for i, rival in enumerate(rivals):
        parts.append(f'<rect x="{left + 150 * i}" y="24" width="9" height="9" fill="{COLOURS[i % len(COLOURS)]}"/><text x="{left + 13 + 150 * i}" y="32">{rival}</text>')
    tick = low
    while tick <= high:
        parts.append(f'<line x1="{x(tick):.1f}" y1="50" x2="{x(tick):.1f}" y2="{height}" stroke="{"#000" if tick == 1 else "#ddd"}"/>'
                     f'<text x="{x(tick):.1f}" y="47" text-anchor="middle">{tick:g}</text>')
        tick *= 2
    for i, result in enumerate(results):
        top = 54 + row * i
        parts.append(f'<text x="{left - 6}" y="{top + row / 2 + 2}" text-anchor="end">{result["program"]}</text>')
        for j, rival in enumerate(rivals):
            value = ratio(result, rival, "min")
            if value is None:
                continue
            ends = sorted((x(1), x(value)))
            parts.append(f'<rect x="{ends[0]:.1f}" y="{top + bar * j}" width="{max(ends[1] - ends[0], 1):.1f}" height="{bar - 1}" '
                         f'fill="{COLOURS[j % len(COLOURS)]}"><title>{result["program"]}, {rival}: {value:.2f}</title></rect>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def read_reasons(path):
    """The rows that may be behind, and why: lines "SUITE PROGRAM run|compile reason"."""
    reasons = {}
    for line in pathlib.Path(path).read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        suite, program, what, reason = line.split(None, 3)
        if what not in ("run", "compile"):
            raise ValueError(f"{path}: expected run or compile, got {what}, in: {line}")
        reasons[suite, program, what] = reason
    return reasons


def behind(suite, results, rivals, reasons):
    """The rows in which Hilo is slower than a rival, or failed, without a reason: texts."""
    found = []
    for result in results:
        if "error" in result["sides"]["Hilo"]:
            found.append(f"{result['program']}: {result['sides']['Hilo']['error']}")
        for rival in rivals:
            for what, key in (("run", "min"), ("compile", "compile_ms")):
                value = ratio(result, rival, key)
                if value is not None and value < 1 and (suite, result["program"], what) not in reasons:
                    found.append(f"{result['program']}: {what} {value:.2f} of {rival}")
    return found


def write_section(page, name, text):
    """Replaces the text between <!-- begin NAME --> and <!-- end NAME --> of a page, or adds both at its end."""
    page = pathlib.Path(page)
    content = page.read_text() if page.exists() else ""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    section = f"{begin}\n{text}\n{end}"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    content = pattern.sub(lambda _: section, content) if pattern.search(content) else f"{content.rstrip()}\n\n{section}\n"
    page.write_text(content)
