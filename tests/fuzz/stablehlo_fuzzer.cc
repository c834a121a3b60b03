// Any bytes through everything that reads StableHLO. What is accepted must print as text that parses.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/string_view.h"
#include "hlo/import/stablehlo/stablehlo_import.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto program = hilo::ImportStablehlo(bytes);
  if (!program.ok()) return 0;
  const std::string text = hilo::PrintHloModule(*program->module);
  if (!hilo::ParseHloModule(text).ok()) std::abort();
  return 0;
}
