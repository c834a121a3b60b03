#include "tools/flags.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::tools {
namespace {

// Letters to insert, delete, change, or swap with their neighbour.
size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j - 1] + (a[i - 1] != b[j - 1]), row[j] + 1, next[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before.swap(row);
    row.swap(next);
  }
  return row[b.size()];
}

std::string Dashed(const std::string& name) { return absl::StrCat(name.size() == 1 ? "-" : "--", name); }

// `written`: with its dashes.
absl::Status UnknownFlag(absl::Span<const FlagSpec> specs, const std::string& written, const std::string& name) {
  std::vector<std::string> known;
  for (const FlagSpec& spec : specs) {
    if (spec.name == name) return InvalidArgument("unknown flag ", written, "; did you mean ", Dashed(name), "?");
    known.push_back(Dashed(spec.name));
  }
  const std::string nearest = DidYouMean(absl::StrCat("--", name), known);
  return InvalidArgument("unknown flag ", written, nearest.empty() ? "; --help lists the flags" : nearest);
}

}  // namespace

std::string DidYouMean(const std::string& word, absl::Span<const std::string> known) {
  std::string nearest;
  if (word.size() > 100) return nearest;
  size_t least = std::min<size_t>(4, word.size() / 2 + 1);  // at this distance words are no longer alike
  for (const std::string& one : known) {
    const size_t distance = EditDistance(word, one);
    if (distance == 0) return "";
    if (distance < least) {
      least = distance;
      nearest = one;
    }
  }
  return nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?");
}

absl::StatusOr<Flags> Flags::Parse(absl::Span<const FlagSpec> specs, absl::Span<const std::string> arguments,
                                   bool program_follows) {
  Flags flags;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      flags.positional_.insert(flags.positional_.end(), arguments.begin() + i + 1, arguments.end());
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      if (program_follows) {
        flags.positional_.assign(arguments.begin() + i, arguments.end());
        break;
      }
      flags.positional_.push_back(argument);
      continue;
    }
    const size_t dashes = argument[1] == '-' ? 2 : 1;
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(dashes, equals == std::string::npos ? equals : equals - dashes);
    const auto spec = std::find_if(specs.begin(), specs.end(), [&](const FlagSpec& one) { return one.name == name; });
    if (spec == specs.end() || (dashes == 1) != (name.size() == 1)) {
      return UnknownFlag(specs, argument.substr(0, equals), name);
    }
    std::string value;
    if (spec->value.empty()) {
      if (equals != std::string::npos) return InvalidArgument(Dashed(name), " is a switch and takes no value");
    } else if (equals != std::string::npos) {
      value = argument.substr(equals + 1);
    } else {
      if (i + 1 == arguments.size()) return InvalidArgument(Dashed(name), " needs a value: ", spec->value);
      value = arguments[++i];
    }
    if (spec->is_output && value == "-") value = "/dev/stdout";
    flags.values_[name].push_back(value);
  }
  return flags;
}

const std::vector<std::string>& Flags::All(const std::string& name) const {
  static const std::vector<std::string> none;
  const auto found = values_.find(name);
  return found == values_.end() ? none : found->second;
}

std::string Flags::Get(const std::string& name, const std::string& otherwise) const {
  const std::vector<std::string>& all = All(name);
  return all.empty() ? otherwise : all.back();
}

std::vector<std::string> Flags::List(const std::string& name) const {
  std::vector<std::string> list;
  for (absl::string_view one : absl::StrSplit(Get(name), ',', absl::SkipWhitespace())) list.emplace_back(one);
  return list;
}

absl::StatusOr<int64_t> Flags::Integer(const std::string& name, int64_t otherwise, int64_t least) const {
  if (!Has(name)) return otherwise;
  int64_t value;
  if (absl::SimpleAtoi(Get(name), &value) && value >= least) return value;
  return InvalidArgument(Dashed(name), ": expected a whole number from ", least, " on, got '", Get(name), "'");
}

absl::StatusOr<double> Flags::Number(const std::string& name, double otherwise) const {
  if (!Has(name)) return otherwise;
  double value;
  if (absl::SimpleAtod(Get(name), &value) && value >= 0) return value;
  return InvalidArgument("--", name, ": expected a number from 0 on, got '", Get(name), "'");
}

absl::StatusOr<double> Flags::Seconds(const std::string& name, double otherwise) const {
  if (!Has(name)) return otherwise;
  double value;
  if (absl::SimpleAtod(Get(name), &value) && value >= 0) return value;
  return InvalidArgument("--", name, ": expected a number of seconds, got '", Get(name), "'");
}

}  // namespace hilo::tools
