#include "capi/option_reader.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/errors.h"

namespace hilo::capi {

OptionReader::OptionReader(const HiloOption* options, size_t num_options) {
  if (num_options > 0 && options == nullptr)
    status_ = InvalidArgument("`options` is NULL, and there are ", num_options);
  for (size_t i = 0; i < num_options && status_.ok(); ++i) {
    if (options[i].name == nullptr || options[i].value == nullptr) {
      status_ = InvalidArgument("option ", i, " has no ", options[i].name == nullptr ? "name" : "value");
    } else if (!given_.emplace(options[i].name, options[i].value).second) {
      status_ = InvalidArgument("the option ", options[i].name, " is given twice");
    }
  }
}

const std::string* OptionReader::Take(const std::string& name) {
  known_.push_back(name);
  const auto found = given_.find(name);
  return found == given_.end() ? nullptr : &found->second;
}

void OptionReader::Fail(const std::string& name, absl::string_view expected, absl::string_view value) {
  if (status_.ok()) status_ = InvalidArgument("the option ", name, ": expected ", expected, ", got '", value, "'");
}

void OptionReader::TakeText(const std::string& name, std::string* value) {
  if (const std::string* text = Take(name)) *value = *text;
}

void OptionReader::TakeText(const std::string& name, std::optional<std::string>* value) {
  if (const std::string* text = Take(name)) *value = *text;
}

void OptionReader::TakeList(const std::string& name, std::vector<std::string>* value) {
  if (const std::string* text = Take(name)) *value = absl::StrSplit(*text, ',', absl::SkipWhitespace());
}

void OptionReader::TakeSwitch(const std::string& name, bool* value) {
  const std::string* text = Take(name);
  if (text == nullptr) return;
  if (*text != "true" && *text != "false") Fail(name, "true or false", *text);
  *value = *text == "true";
}

void OptionReader::TakeSeconds(const std::string& name, absl::Duration* value) {
  const std::string* text = Take(name);
  if (text == nullptr) return;
  double seconds = 0;
  if (!absl::SimpleAtod(*text, &seconds) || !(seconds >= 0)) return Fail(name, "a number of seconds", *text);
  *value = absl::Seconds(seconds);
}

void OptionReader::ReadInteger(const std::string& name, int64_t least, int64_t most, int64_t* value) {
  const std::string* text = Take(name);
  if (text == nullptr) return;
  int64_t number = 0;
  if (!absl::SimpleAtoi(*text, &number) || number < least || number > most)
    return Fail(name, absl::StrCat("an integer from ", least, " to ", most), *text);
  *value = number;
}

absl::Status OptionReader::Finish() {
  for (const auto& [name, value] : given_) {
    if (status_.ok() && std::find(known_.begin(), known_.end(), name) == known_.end())
      status_ = InvalidArgument("there is no option '", name, "'; there are ", absl::StrJoin(known_, ", "));
  }
  return status_;
}

}  // namespace hilo::capi
