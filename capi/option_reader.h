// Reads the options of the C interface. Private to capi.
#ifndef HILO_CAPI_OPTION_READER_H_
#define HILO_CAPI_OPTION_READER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "hilo-c/hilo.h"

namespace hilo::capi {

// Each Take reads one option, if it is given, into *value, and makes it known. Finish returns the first error.
class OptionReader {
 public:
  OptionReader(const HiloOption* options, size_t num_options);

  void TakeText(const std::string& name, std::string* value);
  void TakeText(const std::string& name, std::optional<std::string>* value);
  void TakeList(const std::string& name, std::vector<std::string>* value);
  void TakeSwitch(const std::string& name, bool* value);
  void TakeSeconds(const std::string& name, absl::Duration* value);
  template <typename Integer>
  void TakeInteger(const std::string& name, int64_t least, int64_t most, Integer* value) {
    int64_t number = *value;
    ReadInteger(name, least, most, &number);
    *value = static_cast<Integer>(number);
  }
  // Errors: InvalidArgument for values that do not fit, names that are given twice, and unknown names, listing the
  // known ones.
  absl::Status Finish();

 private:
  const std::string* Take(const std::string& name);
  void ReadInteger(const std::string& name, int64_t least, int64_t most, int64_t* value);
  void Fail(const std::string& name, absl::string_view expected, absl::string_view value);

  std::map<std::string, std::string> given_;
  std::vector<std::string> known_;
  absl::Status status_;
};

}  // namespace hilo::capi

#endif  // HILO_CAPI_OPTION_READER_H_
