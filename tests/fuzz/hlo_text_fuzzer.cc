// Any bytes through the parser of HLO text. What it accepts must print as text that parses to the same print, and if it
// has a proto, come back from that as a module.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/string_view.h"
#include "hlo/import/hlo_proto.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"

namespace {

[[noreturn]] void Fail(const char* what, const std::string& text, const std::string& other) {
  std::fprintf(stderr, "%s\n--- text ---\n%s\n--- then ---\n%s\n", what, text.c_str(), other.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto module = hilo::ParseHloModule({reinterpret_cast<const char*>(data), size});
  if (!module.ok()) return 0;
  const std::string text = hilo::PrintHloModule(**module);
  const auto again = hilo::ParseHloModule(text);
  if (!again.ok()) Fail("a printed module is refused", text, again.status().ToString());
  const std::string text_again = hilo::PrintHloModule(**again);
  if (text_again != text) Fail("a printed module prints otherwise", text, text_again);
  const auto bytes = hilo::HloModuleToProto(**module);
  if (!bytes.ok()) return 0;
  const auto read = hilo::HloModuleFromProto(*bytes);
  if (!read.ok()) Fail("a module's proto is refused", text, read.status().ToString());
  return 0;
}
