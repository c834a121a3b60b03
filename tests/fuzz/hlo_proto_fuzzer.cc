// Any bytes through everything that reads HloModuleProto. What is accepted must print as text that parses, and go
// through a proto of its own.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/string_view.h"
#include "hlo/import/hlo_proto.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"

namespace {

void Expect(const absl::Status& status, const char* what, const std::string& text) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s: %s\n%s\n", what, status.ToString().c_str(), text.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  hilo::LooksLikeHloProto(bytes);
  const auto module = hilo::HloModuleFromProto(bytes);
  if (!module.ok()) return 0;
  const std::string text = hilo::PrintHloModule(**module);
  Expect(hilo::ParseHloModule(text).status(), "the text of a module is refused", text);
  const auto written = hilo::HloModuleToProto(**module);
  if (!written.ok()) return 0;
  Expect(hilo::HloModuleFromProto(*written).status(), "the proto of a module is refused", text);
  return 0;
}
