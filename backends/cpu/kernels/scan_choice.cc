// Chooses among the loops of a prefix scan; other reduce-windows are loops over their results.
//
// *Columns*: the dimension is not the minor-most; the lanes are adjacent columns, whose running values are kept in
// registers, or in a block of the stack if there are more. *Row*: it is the minor-most, and the computation is one
// operation that may be reordered; a vector is scanned by halving. *Rows*: otherwise several rows are interleaved, as
// each is a chain of dependent steps; *lanes* are rows if a step is expensive. Rows that are a power of two apart map
// to the same cache sets: in 8192 rows of 1024 floats, interleaving took 68 ms where one by one takes 1.8.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/cpu/kernels/choice_families.h"
#include "backends/llvm/elements/scalar_computation.h"
#include "hlo/analysis/hero.h"
#include "hlo/analysis/prefix_scan.h"
#include "hlo/analysis/reduction_op.h"

namespace hilo::cpu {
namespace {

using codegen::NumericOptions;
using codegen::TargetTraits;

// Vectors of columns whose running values stay in registers, and columns per part beyond that.
constexpr int64_t kRegisterVectors = 4;
constexpr int64_t kBlock = 512;
// Rows that are interleaved.
constexpr int64_t kRows = 8;
// Instructions of a step that costs more than strided reads of rows.
constexpr int64_t kCheapStep = 8;

// Returns true if `computation` is one op of its parameters that is not associative, such as a difference. Those of
// several operations are taken to be associative (docs/numerics.md).
bool IsNotAssociative(const HloComputation& computation) {
  const HloInstruction& root = *computation.root_instruction();
  return root.operand_count() == 2 && root.operand(0)->IsParameter() && root.operand(1)->IsParameter() &&
         !HasTrait(root.opcode(), kAssociative);
}

// Returns true if the numeric options allow the scan: from the front it combines as separate windows do, from the back
// in a different order.
bool MayScan(const PrefixScan& scan, const NumericOptions& numerics) {
  return !scan.from_back || MayReorder(*scan.hero, numerics.strict) ||
         (!numerics.strict && !IsNotAssociative(scan.computation()));
}

KernelConfig ChooseScan(const PrefixScan& scan, const TargetTraits& target, const NumericOptions& numerics) {
  int width = 1;
  if (codegen::CanEmitComputation(scan.computation())) {
    width = FullWidth(target, scan.types);
  }
  if (scan.inner > 1) {
    while (width > 1 && width >= 2 * scan.inner) width /= 2;
    const bool registers = scan.inner <= kRegisterVectors * width;
    KernelConfig config{.kind = KernelKind::kPrefixScanColumns, .width = width, .parts = scan.outer};
    config.why = "a dimension that is not the minor-most is scanned";
    if (!registers) {
      config.tile = {kBlock};
      config.parts *= CeilDiv(scan.inner, kBlock);
    }
    return config;
  }
  if (scan.opcode.has_value() && width > 1 && scan.size >= 2 * width && MayReorder(*scan.hero, numerics.strict) &&
      IdentityOf(*scan.opcode, scan.types[0]).has_value()) {
    return {.kind = KernelKind::kPrefixScanRow,
            .width = width,
            .parts = scan.outer,
            .why = "the minor dimension is scanned by one associative op"};
  }
  if (width > 1 && scan.computation().instruction_count() > kCheapStep && scan.outer > 1) {
    while (width >= 2 * scan.outer) width /= 2;
    return {.kind = KernelKind::kPrefixScanLanes,
            .width = width,
            .parts = CeilDiv(scan.outer, width),
            .why = "a step costs more than strided reads of rows"};
  }
  const int64_t rows = std::min(kRows, scan.outer);
  return {.kind = KernelKind::kPrefixScanRows,
          .tile = {rows},
          .parts = CeilDiv(scan.outer, rows),
          .why = "dependent steps: rows are interleaved"};
}

}  // namespace

absl::StatusOr<KernelConfig> ChooseReduceWindow(const HloInstruction& instruction, const TargetTraits& target,
                                                const NumericOptions& numerics) {
  const std::optional<PrefixScan> scan = PrefixScanOf(instruction);
  // The elements of short windows are added up in lanes that are the rows.
  if (scan.has_value() && scan->inner == 1 && scan->opcode.has_value() &&
      scan->size <= codegen::kLargestShuffledStride &&
      NarrowArrayWidth({HeroOf(&instruction)}, instruction.shape(), target) > 1)
    return ChooseLoop(instruction, target);
  if (scan.has_value() && MayScan(*scan, numerics)) return ChooseScan(*scan, target, numerics);
  return ChooseLoop(instruction, target);
}

}  // namespace hilo::cpu
