// Any bytes through everything that reads HloModuleProto: an entry for libFuzzer.
//
//   clang++ -fsanitize=fuzzer,address ... tests/fuzz/hlo_proto_fuzzer.cc -lhilo;  ./fuzzer tests/programs/proto
//
// What is accepted must print as text that parses, and go through a proto of its own.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/string_view.h"
#include "hlo/import/hlo_proto.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  hilo::LooksLikeHloProto(bytes);
  const auto module = hilo::HloModuleFromProto(bytes);
  if (!module.ok()) return 0;
  const std::string text = hilo::PrintHloModule(**module);
  if (!hilo::ParseHloModule(text).ok()) std::abort();
  const auto written = hilo::HloModuleToProto(**module);
  if (!written.ok()) return 0;
  const auto again = hilo::HloModuleFromProto(*written);
  if (!again.ok()) std::abort();
  return 0;
}
