// Measures the largest error of every element-wise function in every floating-point type on every platform, and holds
// it against docs/numerics.md.
//
//   hilo_accuracy docs/numerics.md [--samples=N] [--functions=tan,tanh] [--update]
//
// F16 and BF16 take all their 65,536 numbers as (first) arguments; the other types take N samples. The two tables of
// the document, whose cells are the bounds in units of the last place, are what a run compares with: an error above its
// cell ends the program with 1 and names the argument. --update writes the measured errors, rounded up to a tenth, in
// place of the cells.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/errors.h"
#include "hilo/client.h"
#include "hilo/status_macros.h"
#include "tests/accuracy/functions.h"

namespace hilo::accuracy {
namespace {

// No bound may be above these.
constexpr double kLimit = 4, kComplexLimit = 5;
constexpr int64_t kChunk = 1 << 16;

// The CPU's column is the worse of this machine's instructions and of those that every x86-64 has, which lack fused
// multiply-add.
struct Target {
  const char* platform;
  const char* cpu;
};
constexpr Target kTargets[] = {{"interpreter", ""}, {"cpu", ""}, {"cpu", "x86-64"}};

struct Worst {
  double ulps = 0;
  std::string where;
};
// By function, then by column: "interpreter f32".
using Errors = std::map<std::string, std::map<std::string, Worst>>;

struct Options {
  std::string document;
  int64_t samples = 1000000;
  std::vector<std::string> functions;
  bool update = false;
};

class Measurer {
 public:
  static absl::StatusOr<Measurer> Create() {
    Measurer measurer;
    for (const char* platform : {"interpreter", "cpu"}) {
      HILO_ASSIGN_OR_RETURN(measurer.clients_[platform], Client::Create({.platform = platform}));
    }
    return measurer;
  }

  // Measures `function` on x (and y), of type T, against the values in long double.
  template <typename T>
  absl::Status Measure(const Function& function, const std::vector<T>& x, const std::vector<T>& y,
                       std::map<std::string, Worst>* row) {
    constexpr PrimitiveType kType = NativeToPrimitiveType<T>();
    const std::string type(PrimitiveTypeName(kType));
    const int64_t size = std::min<int64_t>(kChunk, static_cast<int64_t>(x.size()));
    std::vector<std::unique_ptr<Executable>> programs;
    for (const Target& target : kTargets) {
      const bool magnitude = is_complex<T> && absl::string_view(function.name) == "abs";
      const std::string result(PrimitiveTypeName(magnitude ? ComplexComponentType(kType) : kType));
      const std::string text = absl::StrFormat(
          "HloModule accuracy\nENTRY main {\n  x = %s[%d] parameter(0)\n%s  ROOT r = %s[%d] %s(x%s)\n}\n", type, size,
          function.arity == 2 ? absl::StrFormat("  y = %s[%d] parameter(1)\n", type, size) : "", result, size,
          function.name, function.arity == 2 ? ", y" : "");
      CompileOptions options;
      options.cpu = target.cpu;
      HILO_ASSIGN_OR_RETURN(programs.emplace_back(), clients_[target.platform]->CompileHloText(text, options));
    }
    for (int64_t begin = 0; begin + size <= static_cast<int64_t>(x.size()); begin += size) {
      const auto part_x = absl::MakeConstSpan(x).subspan(begin, size),
                 part_y = absl::MakeConstSpan(y.empty() ? x : y).subspan(begin, size);
      const auto exact = Exact(function, part_x, part_y);
      const Literal first = LiteralUtil::CreateR1<T>(part_x), second = LiteralUtil::CreateR1<T>(part_y);
      for (size_t t = 0; t < programs.size(); ++t) {
        std::vector<const Literal*> arguments = {&first};
        if (function.arity == 2) arguments.push_back(&second);
        HILO_ASSIGN_OR_RETURN(const Literal result, programs[t]->ExecuteLiterals(arguments));
        Compare(function, kType, exact, part_x, part_y, result, kTargets[t],
                &(*row)[absl::StrCat(kTargets[t].platform, " ", type)]);
      }
    }
    return absl::OkStatus();
  }

 private:
  template <typename T>
  static auto Widen(T value) {
    if constexpr (is_complex<T>) {
      return WideComplex(value.real(), value.imag());
    } else if constexpr (sizeof(T) < 4) {
      return static_cast<Wide>(static_cast<float>(value));
    } else {
      return static_cast<Wide>(value);
    }
  }

  template <typename T>
  static auto Exact(const Function& function, absl::Span<const T> x, absl::Span<const T> y) {
    std::vector<decltype(Widen(T()))> exact(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      if constexpr (is_complex<T>) {
        exact[i] = function.exact_complex(Widen(x[i]), Widen(y[i]));
      } else {
        exact[i] = function.exact(Widen(x[i]), Widen(y[i]));
      }
    }
    return exact;
  }

  static std::string Text(Wide value) {
    return absl::StrFormat("%.17g (%a)", static_cast<double>(value), static_cast<double>(value));
  }
  static std::string Text(WideComplex value) {
    return absl::StrCat("(", Text(value.real()), ", ", Text(value.imag()), ")");
  }

  template <typename T, typename W>
  static void Compare(const Function& function, PrimitiveType type, const std::vector<W>& exact, absl::Span<const T> x,
                      absl::Span<const T> y, const Literal& result, const Target& target, Worst* worst) {
    const Precision precision = PrecisionOf(type);
    const bool real_result = is_complex<T> && !IsComplexType(result.shape().element_type());
    for (size_t i = 0; i < x.size(); ++i) {
      W got;
      if constexpr (is_complex<T>) {
        got = real_result ? W(result.data<typename T::value_type>()[i]) : Widen(result.data<T>()[i]);
      } else {
        got = Widen(result.data<T>()[i]);
      }
      const double ulps = UlpError(precision, got, exact[i]);
      if (ulps <= worst->ulps) continue;
      *worst = {ulps, absl::StrCat(Text(Widen(x[i])), function.arity == 2 ? absl::StrCat(", ", Text(Widen(y[i]))) : "",
                                   " gave ", Text(got), " on ", target.platform, " ", target.cpu, ", exactly ",
                                   Text(exact[i]))};
    }
  }

  std::map<std::string, std::unique_ptr<Client>> clients_;
};

// All numbers of a type of 16 bits. Second arguments run through all of them too, in another order.
template <typename T>
std::vector<T> AllNumbers(uint32_t step, uint32_t start) {
  std::vector<T> values;
  for (uint32_t bits = 0; bits < 65536; ++bits)
    values.push_back(T::FromBits(static_cast<uint16_t>(bits * step + start)));
  return values;
}

absl::StatusOr<Errors> MeasureAll(const Options& options) {
  HILO_ASSIGN_OR_RETURN(Measurer measurer, Measurer::Create());
  const auto f32 = Arguments<float>(options.samples);
  const auto f64 = Arguments<double>(options.samples);
  const auto f32_second = SecondArguments(f32);
  const auto f64_second = SecondArguments(f64);
  const auto c64 = ComplexArguments<float>(options.samples / 4, 3),
             c64_second = ComplexArguments<float>(options.samples / 4, 4);
  const auto c128 = ComplexArguments<double>(options.samples / 4, 5),
             c128_second = ComplexArguments<double>(options.samples / 4, 6);
  Errors errors;
  for (const Function& function : Functions()) {
    if (!options.functions.empty() &&
        std::find(options.functions.begin(), options.functions.end(), function.name) == options.functions.end())
      continue;
    std::map<std::string, Worst>* row = &errors[function.name];
    const int pairs = function.arity == 2 ? 4 : 1;
    for (int i = 0; i < pairs; ++i) {
      const uint32_t step = 2 * 7919 * i + 40503, start = 12345 * i;
      HILO_RETURN_IF_ERROR(measurer.Measure(function, AllNumbers<half>(1, 0), AllNumbers<half>(step, start), row));
      HILO_RETURN_IF_ERROR(
          measurer.Measure(function, AllNumbers<bfloat16>(1, 0), AllNumbers<bfloat16>(step, start), row));
    }
    HILO_RETURN_IF_ERROR(measurer.Measure(function, f32, f32_second, row));
    HILO_RETURN_IF_ERROR(measurer.Measure(function, f64, f64_second, row));
    if (function.exact_complex == nullptr) continue;
    HILO_RETURN_IF_ERROR(measurer.Measure(function, c64, c64_second, row));
    HILO_RETURN_IF_ERROR(measurer.Measure(function, c128, c128_second, row));
  }
  return errors;
}

std::string Cell(double ulps) {
  return std::isinf(ulps) ? "wrong" : ulps == 0 ? "0" : absl::StrFormat("%.1f", std::ceil(ulps * 10) / 10);
}

bool IsComplexColumn(absl::string_view column) {
  return absl::EndsWith(column, "c64") || absl::EndsWith(column, "c128");
}

// Walks the tables of the document: a header line that begins with "| function |" names the columns ("cpu f32"), each
// row a function. Returns the document with the measured errors for cells; adds what lies above its cell to `failures`,
// and what has no cell.
std::string CompareWithDocument(const std::string& document, const Errors& errors, std::vector<std::string>* failures) {
  std::vector<std::string> columns, lines;
  std::map<std::string, std::map<std::string, Worst>> left = errors;
  for (absl::string_view line : absl::StrSplit(document, '\n')) {
    std::vector<std::string> cells = absl::StrSplit(line, '|');
    for (std::string& cell : cells) cell = std::string(absl::StripAsciiWhitespace(cell));
    if (cells.size() < 3) {
      columns.clear();
    } else if (cells[1] == "function") {
      columns = cells;
    } else if (!columns.empty() && cells.size() == columns.size() && errors.count(cells[1]) > 0) {
      std::map<std::string, Worst>& row = left[cells[1]];
      for (size_t i = 2; i + 1 < cells.size(); ++i) {
        auto it = row.find(columns[i]);
        if (it == row.end()) continue;
        double bound = -1;
        if (!absl::SimpleAtod(cells[i], &bound) || bound > (IsComplexColumn(columns[i]) ? kComplexLimit : kLimit) ||
            it->second.ulps > bound) {
          failures->push_back(absl::StrFormat("%s, %s: %.3f ULP, the bound is '%s': %s", cells[1], columns[i],
                                              it->second.ulps, cells[i], it->second.where));
        }
        cells[i] = Cell(it->second.ulps);
        row.erase(it);
      }
      lines.push_back(
          absl::StrCat("| ", absl::StrJoin(absl::MakeConstSpan(cells).subspan(1, cells.size() - 2), " | "), " |"));
      continue;
    }
    lines.emplace_back(line);
  }
  for (const auto& [function, row] : left) {
    for (const auto& [column, worst] : row)
      failures->push_back(absl::StrCat(function, ", ", column, ": the document has no cell for it"));
  }
  return absl::StrJoin(lines, "\n");
}

absl::StatusOr<Options> ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    absl::string_view argument = argv[i];
    if (argument == "--update") {
      options.update = true;
    } else if (absl::ConsumePrefix(&argument, "--samples=")) {
      if (!absl::SimpleAtoi(argument, &options.samples) || options.samples < 1)
        return InvalidArgument("--samples takes a number above 0, got ", argument);
    } else if (absl::ConsumePrefix(&argument, "--functions=")) {
      options.functions = absl::StrSplit(argument, ',');
    } else if (!absl::StartsWith(argument, "--") && options.document.empty()) {
      options.document = std::string(argument);
    } else {
      return InvalidArgument("expected a document, --samples=N, --functions=A,B or --update, got ", argument);
    }
  }
  if (options.document.empty()) return InvalidArgument("expected the document with the bounds, docs/numerics.md");
  options.samples = (options.samples + kChunk - 1) / kChunk * kChunk;
  return options;
}

absl::StatusOr<bool> Run(int argc, char** argv) {
  HILO_ASSIGN_OR_RETURN(const Options options, ParseOptions(argc, argv));
  std::ifstream in(options.document);
  if (!in) return InvalidArgument("cannot read ", options.document);
  std::stringstream document;
  document << in.rdbuf();
  HILO_ASSIGN_OR_RETURN(const Errors errors, MeasureAll(options));
  std::vector<std::string> failures;
  const std::string updated = CompareWithDocument(document.str(), errors, &failures);
  if (options.update) std::ofstream(options.document) << updated;
  for (const std::string& failure : failures) printf("%s\n", failure.c_str());
  return failures.empty() || options.update;
}

}  // namespace
}  // namespace hilo::accuracy

int main(int argc, char** argv) {
  const absl::StatusOr<bool> within = hilo::accuracy::Run(argc, argv);
  if (!within.ok()) fprintf(stderr, "%s\n", within.status().ToString().c_str());
  return within.ok() && *within ? 0 : 1;
}
