// Prints an HloModule as HLO text, in XLA's syntax.
#ifndef HILO_HLO_TEXT_HLO_PRINTER_H_
#define HILO_HLO_TEXT_HLO_PRINTER_H_

#include <cstdint>
#include <string>

#include "hlo/ir/hlo_module.h"

namespace hilo {

struct PrintOptions {
  bool metadata = true;        // metadata, tables of source locations
  bool operand_types = false;  // f32[2]{0} x rather than x
  bool percent = false;        // %x rather than x, and signatures of computations
  bool layouts = true;
  bool numbered_names =
      false;  // 0, 1 ... for names, in the order of the text: modules that differ in names alone have the same text
  int64_t max_constant_elements = -1;  // longer constants are elided as {...} (and then do not parse again); -1: never

  // For reading: no metadata, no layouts, long constants elided.
  static PrintOptions Short() { return {.metadata = false, .layouts = false, .max_constant_elements = 16}; }
  // Everything, as XLA's own dumps.
  static PrintOptions Full() { return {.operand_types = true, .percent = true}; }
};

// The order in which text lists the instructions: a module that was read as a schedule is in the order of addition,
// which is that schedule, until passes change it; otherwise HloModule::OrderOf.
std::vector<HloInstruction*> TextOrder(const HloComputation& computation);

// The module's text. Deterministic: callees before callers, operands before users, attributes in
// the order of their fields, numbers in the shortest form that reads back equal. With the default
// options it is canonical, and ParseHloModule(PrintHloModule(m)) is m again.
std::string PrintHloModule(const HloModule& module, const PrintOptions& options = {});
std::string PrintHloComputation(const HloComputation& computation, const PrintOptions& options = {});
// One line, without ROOT and line end.
std::string PrintHloInstruction(const HloInstruction& instruction, const PrintOptions& options = {});

}  // namespace hilo

#endif  // HILO_HLO_TEXT_HLO_PRINTER_H_
