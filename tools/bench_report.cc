#include "tools/bench_report.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "base/json.h"
#include "hilo/version.h"

namespace hilo::tools {
namespace {

std::string OptionalNumber(const std::optional<double>& number) {
  return number.has_value() ? absl::StrFormat("%.6g", *number) : "null";
}

// "3.2 ms", "45 us".
std::string Time(double ms) {
  if (ms >= 1000) return absl::StrFormat("%.3g s", ms * 1e-3);
  if (ms >= 1) return absl::StrFormat("%.3g ms", ms);
  if (ms >= 1e-3) return absl::StrFormat("%.3g us", ms * 1e3);
  return absl::StrFormat("%.3g ns", ms * 1e6);
}

constexpr absl::string_view kEmulationNote =
    "the device is emulated: its times are of this host and say nothing of a GPU";

std::string Html(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
}

// --- the kernels ---
using Row = std::vector<std::string>;

// Lines as in "add: registers=24 occupancy=64/64" as a table with a head; what has another form comes after it, a line
// of one cell.
std::vector<Row> KernelTable(const std::vector<std::string>& lines) {
  Row head{"kernel"};
  std::vector<Row> rows, rest;
  for (const std::string& line : lines) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.size() < 2 || !absl::EndsWith(words[0], ":") || !absl::StrContains(words[1], '=')) {
      rest.push_back({line});
      continue;
    }
    Row& row = rows.emplace_back();
    row.emplace_back(absl::StripSuffix(words[0], ":"));
    for (size_t i = 1; i < words.size(); ++i) {
      const std::pair<std::string, std::string> parts = absl::StrSplit(words[i], absl::MaxSplits('=', 1));
      const size_t column = std::find(head.begin(), head.end(), parts.first) - head.begin();
      if (column == head.size()) head.push_back(parts.first);
      row.resize(std::max(row.size(), column + 1));
      row[column] = parts.second;
    }
  }
  if (!rows.empty()) rows.insert(rows.begin(), head);
  for (Row& row : rows) row.resize(head.size());
  rows.insert(rows.end(), rest.begin(), rest.end());
  return rows;
}

std::string KernelText(const std::vector<std::string>& lines) {
  const std::vector<Row> rows = KernelTable(lines);
  std::vector<size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; row.size() > 1 && i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    absl::StrAppend(&text, "    ", row[0]);
    for (size_t i = 1; i < row.size(); ++i)
      absl::StrAppend(&text, std::string((i == 1 ? widths[0] - row[0].size() : 0) + 2 + widths[i] - row[i].size(), ' '),
                      row[i]);
    absl::StrAppend(&text, "\n");
  }
  return text;
}

std::string KernelHtml(const std::vector<std::string>& lines) {
  std::string html = "<table class=\"kernels\">\n";
  for (const Row& row : KernelTable(lines)) {
    absl::StrAppend(&html, "<tr>");
    for (const std::string& cell : row)
      absl::StrAppend(&html, row.size() == 1 ? "<td colspan=\"12\">" : "<td>",
                      Html(absl::StrReplaceAll(cell, {{"_", " "}})), "</td>");
    absl::StrAppend(&html, "</tr>\n");
  }
  return html + "</table>\n";
}

// --- the plot ---
constexpr double kLeft = 190, kWidth = 640, kRow = 22, kTop = 34;
constexpr absl::string_view kColors[] = {"#3366aa", "#dd7733", "#339966", "#aa3366", "#777777"};

// A logarithmic scale of milliseconds that begins and ends at powers of ten.
struct TimeScale {
  double first, last;  // exponents
  double X(double ms) const {
    return kLeft + kWidth * (std::log10(std::max(ms, std::pow(10, first))) - first) / (last - first);
  }
};

TimeScale ScaleOf(absl::Span<const Measurement* const> group) {
  double least = HUGE_VAL, most = 0;
  for (const Measurement* m : group) {
    for (double ms : {m->compile_ms, m->to_device_ms, m->from_device_ms, m->run_ms.front(), m->run_ms.back()}) {
      if (ms > 0) least = std::min(least, ms);
      most = std::max(most, ms);
    }
  }
  TimeScale scale{std::floor(std::log10(least)), std::ceil(std::log10(most))};
  if (scale.last <= scale.first) scale.last = scale.first + 1;
  return scale;
}

void AppendLabel(double x, double y, absl::string_view anchor, absl::string_view text, std::string* svg) {
  absl::StrAppendFormat(svg, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, Html(text));
}

// One platform's bar in one row; runs are a band from the minimum to the 99th percentile with a mark at the median.
void AppendBar(const TimeScale& scale, double y, double height, double ms, absl::string_view color, std::string* svg) {
  absl::StrAppendFormat(svg, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", kLeft, y,
                        scale.X(ms) - kLeft, height, color);
  AppendLabel(scale.X(ms) + 5, y + height - 4, "start", Time(ms), svg);
}
void AppendBand(const TimeScale& scale, double y, double height, const Measurement& m, absl::string_view color,
                std::string* svg) {
  const double from = scale.X(m.run_ms.front()), to = scale.X(m.Quantile(0.99));
  absl::StrAppendFormat(svg, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", kLeft, y,
                        from - kLeft, height, color);
  absl::StrAppendFormat(svg,
                        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" opacity=\"0.45\"/>\n",
                        from, y, std::max(to - from, 1.0), height, color);
  absl::StrAppendFormat(svg, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"black\"/>\n",
                        scale.X(m.Quantile(0.5)), scale.X(m.Quantile(0.5)), y, y + height);
  AppendLabel(to + 5, y + height - 4, "start", Time(m.Quantile(0.5)), svg);
}

std::string Plot(absl::Span<const Measurement* const> group) {
  constexpr absl::string_view kRows[] = {"compile", "arguments to device", "run: min, median, p99", "results to host"};
  const TimeScale scale = ScaleOf(group);
  const double row_height = kRow * static_cast<double>(group.size()) + 14, height = kTop + row_height * 4 + 10;
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n",
      kLeft + kWidth + 90, height);
  for (double e = scale.first; e <= scale.last; ++e) {
    const double x = scale.X(std::pow(10, e));
    absl::StrAppendFormat(&svg, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n", x, x,
                          kTop - 8, height - 10);
    AppendLabel(x, kTop - 14, "middle", Time(std::pow(10, e)), &svg);
  }
  for (int row = 0; row < 4; ++row) {
    const double top = kTop + row_height * row;
    AppendLabel(kLeft - 10, top + row_height / 2, "end", kRows[row], &svg);
    for (size_t i = 0; i < group.size(); ++i) {
      const Measurement& m = *group[i];
      const absl::string_view color = kColors[i % std::size(kColors)];
      const double y = top + kRow * static_cast<double>(i);
      if (row == 2) {
        AppendBand(scale, y, kRow - 4, m, color, &svg);
      } else {
        AppendBar(scale, y, kRow - 4,
                  row == 0   ? m.compile_ms
                  : row == 1 ? m.to_device_ms
                             : m.from_device_ms,
                  color, &svg);
      }
    }
  }
  return svg + "</svg>\n";
}

std::string HtmlTable(absl::Span<const Measurement* const> group) {
  std::string html =
      "<table><tr><th></th><th>platform</th><th>min</th><th>median</th><th>p90</th><th>p99</th><th>GFLOP/s</th><th>GB/"
      "s</th><th>of roof</th></tr>\n";
  for (size_t i = 0; i < group.size(); ++i) {
    const Measurement& m = *group[i];
    const auto number = [](const std::optional<double>& x) {
      return x.has_value() ? absl::StrFormat("%.3g", *x) : std::string("-");
    };
    absl::StrAppend(&html, "<tr><td style=\"background:", kColors[i % std::size(kColors)], "\">&nbsp;</td><td>",
                    Html(m.platform), "</td>");
    for (double q : {0.0, 0.5, 0.9, 0.99})
      absl::StrAppend(&html, "<td>", Time(q == 0 ? m.run_ms.front() : m.Quantile(q)), "</td>");
    const bool says_nothing = IsEmulated(m.platform);
    absl::StrAppend(&html, "<td>", says_nothing ? "-" : number(m.Gigaflops()), "</td><td>",
                    says_nothing ? "-" : number(m.GigabytesPerSecond()), "</td><td>",
                    m.RoofFraction().has_value() ? m.roofs->FractionText(m.GigabytesPerSecond(), *m.Gigaflops()) : "-",
                    "</td></tr>\n");
  }
  absl::StrAppend(&html, "</table>\n");
  for (const Measurement* m : group) {
    if (m->roofs.has_value())
      absl::StrAppendFormat(&html, "<p>Roofs of %s, measured with f32: %.4g GFLOP/s, %.4g GB/s.</p>\n",
                            Html(m->platform), m->roofs->gigaflops, m->roofs->gigabytes_per_second);
    if (IsEmulated(m->platform))
      absl::StrAppend(&html, "<p>", Html(m->platform), ": ", kEmulationNote, ".</p>\n", KernelHtml(m->kernels));
  }
  return html;
}

}  // namespace

std::string ReportText(const Measurement& m) {
  std::string text =
      absl::StrFormat("%s on %s: compile %s; run min %s, median %s, p90 %s, p99 %s (%d runs)\n", m.program, m.platform,
                      Time(m.compile_ms), Time(m.run_ms.front()), Time(m.Quantile(0.5)), Time(m.Quantile(0.9)),
                      Time(m.Quantile(0.99)), m.run_ms.size());
  absl::StrAppendFormat(&text, "  arguments %.4g MB to the device in %s; results %.4g MB back in %s\n",
                        m.argument_bytes * 1e-6, Time(m.to_device_ms), m.result_bytes * 1e-6, Time(m.from_device_ms));
  if (IsEmulated(m.platform)) {
    absl::StrAppend(&text, "  ", kEmulationNote, "\n");
    if (m.flops.has_value()) {
      absl::StrAppendFormat(&text, "  %.4g MFLOP, %.4g MB of arguments and results\n", *m.flops * 1e-6,
                            (m.argument_bytes + m.result_bytes) * 1e-6);
    }
    return text + KernelText(m.kernels);
  }
  if (m.flops.has_value()) {
    absl::StrAppendFormat(&text, "  %.4g GFLOP/s and %.4g GB/s of arguments and results", *m.Gigaflops(),
                          m.GigabytesPerSecond());
    if (m.roofs.has_value()) {
      absl::StrAppendFormat(&text, "; roofs of f32 %.4g and %.4g: ", m.roofs->gigaflops, m.roofs->gigabytes_per_second);
      if (m.roofs->AreInCaches(m.GigabytesPerSecond(), *m.Gigaflops())) {
        absl::StrAppend(&text, "the arrays stay in caches");
      } else {
        absl::StrAppendFormat(&text, "the run takes %.3g times what the nearer roof allows",
                              1 / std::max(*m.RoofFraction(), 1e-9));
      }
    }
    text += "\n";
  }
  return text;
}

std::string ReportJsonLine(const Measurement& m) {
  std::string json = absl::StrFormat(
      "{\"module\": %s, \"platform\": %s, \"iterations\": %d, \"compile_ms\": %.4g, \"estimated_ms\": %.6g, "
      "\"run_ms\": {\"min\": %.6g, \"median\": %.6g, \"p90\": %.6g, \"p99\": %.6g}, "
      "\"to_device_ms\": %.6g, \"from_device_ms\": %.6g, \"argument_bytes\": %.0f, \"result_bytes\": %.0f, \"flops\": "
      "%s, \"gflop_per_s\": %s, "
      "\"gb_per_s\": %.6g, \"roof_gflop_per_s\": %s, \"roof_gb_per_s\": %s, \"of_roof\": %s, \"emulated\": %s",
      JsonQuoted(m.program), JsonQuoted(m.platform), m.run_ms.size(), m.compile_ms, m.estimated_ms, m.run_ms.front(),
      m.Quantile(0.5), m.Quantile(0.9), m.Quantile(0.99), m.to_device_ms, m.from_device_ms, m.argument_bytes,
      m.result_bytes, OptionalNumber(m.flops), OptionalNumber(m.Gigaflops()), m.GigabytesPerSecond(),
      OptionalNumber(m.roofs.has_value() ? std::optional(m.roofs->gigaflops) : std::nullopt),
      OptionalNumber(m.roofs.has_value() ? std::optional(m.roofs->gigabytes_per_second) : std::nullopt),
      OptionalNumber(m.RoofFraction()), IsEmulated(m.platform) ? "true" : "false");
  if (IsEmulated(m.platform)) {
    absl::StrAppend(
        &json, ", \"kernels\": [",
        absl::StrJoin(m.kernels, ", ", [](std::string* out, const std::string& k) { *out += JsonQuoted(k); }), "]");
  }
  return json + "}\n";
}

std::string ReportGoogleBenchmark(absl::Span<const Measurement> all) {
  std::string json = absl::StrFormat(
      "{\n  \"context\": {\"date\": %s, \"executable\": \"hilo bench\", \"num_cpus\": %d, \"library_version\": %s},\n  "
      "\"benchmarks\": [\n",
      JsonQuoted(absl::FormatTime(absl::Now())), std::thread::hardware_concurrency(), JsonQuoted(Version()));
  std::vector<std::string> rows;
  for (const Measurement& m : all) {
    const std::string name = absl::StrCat(m.program, "/", m.platform);
    const auto add = [&](absl::string_view suffix, absl::string_view aggregate, double ms) {
      const std::string kind =
          aggregate.empty() ? "\"run_type\": \"iteration\""
                            : absl::StrCat("\"run_type\": \"aggregate\", \"aggregate_name\": ", JsonQuoted(aggregate));
      rows.push_back(
          absl::StrFormat("    {\"name\": %s, \"run_name\": %s, %s, \"repetitions\": 1, \"threads\": 1, "
                          "\"iterations\": %d, \"real_time\": %.6g, "
                          "\"cpu_time\": %.6g, \"time_unit\": \"ms\"}",
                          JsonQuoted(absl::StrCat(name, suffix)), JsonQuoted(name), kind, m.run_ms.size(), ms,
                          aggregate.empty() ? m.cpu_ms : ms));
    };
    add("", "", m.MeanMs());
    add("_min", "min", m.run_ms.front());
    add("_median", "median", m.Quantile(0.5));
    add("_p90", "p90", m.Quantile(0.9));
    add("_p99", "p99", m.Quantile(0.99));
    add("_compile", "compile", m.compile_ms);
    add("_to_device", "to_device", m.to_device_ms);
    add("_from_device", "from_device", m.from_device_ms);
  }
  return absl::StrCat(json, absl::StrJoin(rows, ",\n"), "\n  ]\n}\n");
}

std::string ReportHtml(absl::Span<const Measurement> all) {
  std::string html =
      "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>hilo "
      "bench</title>\n<style>body{font-family:sans-serif;margin:2em}"
      "td,th{padding:2px 10px;text-align:right}.kernels td:first-child{text-align:left}"
      ".kernels tr:first-child{font-weight:bold}.kernels "
      "tr:nth-child(even){background:#f4f4f4}</style></head><body>\n<h1>hilo bench</h1>\n";
  for (size_t i = 0; i < all.size();) {
    std::vector<const Measurement*> group;
    for (; i < all.size() && (group.empty() || all[i].program == group[0]->program); ++i) group.push_back(&all[i]);
    absl::StrAppend(&html, "<h2>", Html(group[0]->program), "</h2>\n", Plot(group), HtmlTable(group));
  }
  return html + "</body></html>\n";
}

}  // namespace hilo::tools
