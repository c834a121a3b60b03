#include "backends/interpreter/finite_check.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hlo/text/hlo_printer.h"
#include "shape/number_text.h"

namespace hilo {
namespace {

// The first elements that are not finite; -1: there is none.
struct NotFinite {
  int64_t nan = -1, infinity = -1;
};

NotFinite Find(const Literal& literal) {
  NotFinite found;
  if (!literal.shape().IsArray()) return found;
  ArrayTypeSwitch(literal.shape().element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto note = [&](double value, int64_t i) {
      if (std::isnan(value) && found.nan < 0) found.nan = i;
      if (std::isinf(value) && found.infinity < 0) found.infinity = i;
    };
    if constexpr (is_complex<T>) {
      for (int64_t i = 0; const T& element : literal.data<T>()) {
        note(element.real(), i);
        note(element.imag(), i++);
      }
    } else if constexpr (is_small_float<T> || std::is_floating_point_v<T>) {
      for (int64_t i = 0; const T& element : literal.data<T>()) note(static_cast<double>(element), i++);
    }
  });
  return found;
}

std::string ElementText(const Literal& literal, int64_t linear) {
  const PrimitiveType type = literal.shape().element_type();
  std::string text;
  AppendNumber(type, literal.untyped_data().data() + linear * PrimitiveTypeByteSize(type), &text);
  return text;
}

std::string IndexText(const Shape& shape, int64_t linear) {
  const Shape row_major(shape.element_type(), shape.dimensions());
  return absl::StrCat("{", absl::StrJoin(IndexUtil::LinearIndexToMultidimensionalIndex(row_major, linear), ","), "}");
}

// ", of 0 and -1": the operands' elements at the same index, if they have the same dimensions.
std::string OperandsAt(const HloInstruction& instruction, absl::Span<const HloEvaluator::Leaves* const> operands,
                       const Literal& value, int64_t linear) {
  if (!IsElementwise(instruction.opcode())) return "";
  std::vector<std::string> texts;
  for (const HloEvaluator::Leaves* operand : operands) {
    if (operand->size() != 1 || !ShapeUtil::SameDimensions((*operand)[0]->shape(), value.shape())) return "";
    texts.push_back(ElementText(*(*operand)[0], linear));
  }
  return texts.empty() ? "" : absl::StrCat(" of ", absl::StrJoin(texts, " and "));
}

std::string WhereFrom(const HloInstruction& instruction) {
  PrintOptions options = PrintOptions::Full();
  options.max_constant_elements = 8;
  options.layouts = false;
  std::string text = absl::StrCat("; in ", PrintHloInstruction(instruction, options), " of computation ",
                                  instruction.parent()->name());
  if (instruction.source_text_line() > 0) absl::StrAppend(&text, ", line ", instruction.source_text_line());
  return text;
}

}  // namespace

absl::Status CheckFinite(const HloInstruction& instruction, absl::Span<const HloEvaluator::Leaves* const> operands,
                         const HloEvaluator::Leaves& value) {
  if (instruction.opcode() == HloOpcode::kConstant || HasTrait(instruction.opcode(), kForwarding) ||
      HasTrait(instruction.opcode(), kControlFlow)) {
    return absl::OkStatus();
  }
  for (const auto& leaf : value) {
    const NotFinite made = Find(*leaf);
    if (made.nan < 0 && made.infinity < 0) continue;
    NotFinite given;
    for (const HloEvaluator::Leaves* operand : operands) {
      for (const auto& one : *operand) {
        const NotFinite found = Find(*one);
        given.nan = std::max(given.nan, found.nan);
        given.infinity = std::max(given.infinity, found.infinity);
      }
    }
    const bool is_nan = made.nan >= 0 && given.nan < 0;
    if (!is_nan && (made.infinity < 0 || given.infinity >= 0)) continue;
    const int64_t linear = is_nan ? made.nan : made.infinity;
    return FailedPrecondition(instruction.IsParameter() ? "argument " : "", instruction.name(),
                              instruction.IsParameter() ? " has " : " makes ", ElementText(*leaf, linear), " at ",
                              IndexText(leaf->shape(), linear), OperandsAt(instruction, operands, *leaf, linear),
                              WhereFrom(instruction));
  }
  return absl::OkStatus();
}

}  // namespace hilo
