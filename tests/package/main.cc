// Reads a module and prints it: what an embedder's first program needs of the headers and of the library's symbols.
#include <cstdio>

#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"

int main() {
  const auto module = hilo::ParseHloModule(
      "HloModule square\n"
      "ENTRY main {\n"
      "  x = f32[3] parameter(0)\n"
      "  ROOT y = f32[3] multiply(x, x)\n"
      "}\n");
  if (!module.ok()) {
    std::fprintf(stderr, "%s\n", module.status().ToString().c_str());
    return 1;
  }
  std::puts(hilo::PrintHloModule(**module).c_str());
  return hilo::ParseHloModule("HloModule nothing").ok() ? 1 : 0;
}
