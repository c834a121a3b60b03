// The arguments of the programs in this folder: --name=value, --name, and words.
#ifndef HILO_TESTS_FUZZ_FLAGS_H_
#define HILO_TESTS_FUZZ_FLAGS_H_

#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace hilo::fuzz {

class Flags {
 public:
  explicit Flags(std::string usage) : usage_(std::move(usage)) {}

  template <typename Integer>
  void Number(std::string name, Integer* value) {
    Add(std::move(name), [value](absl::string_view text) { return absl::SimpleAtoi(text, value); });
  }
  void Text(std::string name, std::string* value) {
    Add(std::move(name), [value](absl::string_view text) {
      *value = std::string(text);
      return true;
    });
  }
  void Switch(std::string name, bool* value) { switches_.emplace_back(std::move(name), value); }
  void Words(std::vector<std::string>* words) { words_ = words; }

  // False, and the usage on stderr, if an argument is none of these.
  bool Parse(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      if (Take(argv[i])) continue;
      std::fprintf(stderr, "%s: what is %s?\nusage: %s\n", argv[0], argv[i], usage_.c_str());
      return false;
    }
    return true;
  }

 private:
  using Setter = std::function<bool(absl::string_view)>;
  void Add(std::string name, Setter set) { values_.emplace_back(name + "=", std::move(set)); }
  bool Take(absl::string_view word) {
    if (!absl::StartsWith(word, "--")) {
      if (words_ != nullptr) words_->emplace_back(word);
      return words_ != nullptr;
    }
    for (const auto& [name, value] : switches_) {
      if (word == name) return *value = true;
    }
    for (const auto& [prefix, set] : values_) {
      if (absl::ConsumePrefix(&word, prefix)) return set(word);
    }
    return false;
  }

  std::string usage_;
  std::vector<std::pair<std::string, Setter>> values_;
  std::vector<std::pair<std::string, bool*>> switches_;
  std::vector<std::string>* words_ = nullptr;
};

}  // namespace hilo::fuzz

#endif  // HILO_TESTS_FUZZ_FLAGS_H_
