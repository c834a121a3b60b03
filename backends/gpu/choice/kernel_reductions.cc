// The choice of kernels for reductions and prefix scans (reduce_emitter.cc, row_emitter.cc, prefix_scan_emitter.cc).
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/gpu/choice/kernel_families.h"
#include "backends/gpu/choice/roofline.h"
#include "backends/gpu/match/launch_sizes.h"
#include "backends/gpu/match/operands.h"
#include "backends/gpu/match/row_plan.h"
#include "base/math.h"
#include "hlo/analysis/prefix_scan.h"
#include "hlo/analysis/reduction.h"
#include "hlo/analysis/reduction_op.h"

namespace hilo::gpu {
namespace {

// Shorter reductions are serial: lanes would combine for longer than they add up.
constexpr int64_t kShort = 8;
// Longer rows have a block each: 32 elements for each lane of a warp.
constexpr int64_t kWarpRow = 1024;
// Elements of a row that a thread holds for one reduction, which a loop reads as fast.
constexpr int64_t kMaxOfReduction = 16;
// Of what a block reads of its row: those of a block a multiprocessor fit into the second cache, of 40 MB or more.
constexpr int64_t kMaxStreamedBytes = 256 << 10;
// The minimum size of a part of a row: eight elements for each thread of its block. Of a column: four for each of eight
// strips, so that loads outnumber the steps of the combination.
constexpr int64_t kMinPart = 2048, kMinColumnPart = 32;
// Threads of a block that are adjacent over columns, where there are strips: a warp reads whole lines.
constexpr int64_t kColumnLanes = kWarp;

// Rows of a part, of which each leaves a value for each column; and where they are few for a device.
constexpr int64_t kWantedPartRows = 32, kMinPartRows = 8;
constexpr int64_t kMultiprocessors = GpuMachine().multiprocessors;

// Lines of a scan up to this length have one warp each.
constexpr int64_t kWarpLine = 1024;
// The bytes that a thread has of a part of a line, in registers, and its most groups of adjacent elements.
constexpr int64_t kLinePartBytes = 64, kLinePartGroups = 16;
// Columns from this length on are in parts, if there are too few for a device.
constexpr int64_t kColumnScanParts = 64;
// The steps that a thread has of a part of columns, in registers, and its most adjacent columns: each column of a part
// costs a word of 8 bytes, so that parts must be long.
constexpr int64_t kColumnScanSteps = 8, kColumnScanGroup = 4;

int64_t LanesFor(int64_t columns) {
  int64_t lanes = 1;
  while (lanes < kWarp && 2 * lanes <= columns) lanes *= 2;
  return lanes;
}

KernelConfig ChooseWarpRows(const Reduction& r, CombinationOrder order, int64_t group) {
  const std::string why = absl::StrCat("rows of ", r.columns, " elements, at most ", kWarpRow);
  if (order == CombinationOrder::kAny)
    return {
        .kind = KernelKind::kWarpRows, .width = group, .tile = {kBlockSize, LanesFor(r.columns / group)}, .why = why};
  return {.kind = KernelKind::kWarpRowsInOrder, .tile = {kBlockSize, LanesFor(r.columns)}, .why = why};
}

KernelConfig ChooseBlockRows(const Reduction& r, CombinationOrder order, int64_t group) {
  // As many parts as the device can run blocks; each of whole iterations of its block.
  const int64_t wanted = std::max<int64_t>(1, std::min(kWantedThreads / kBlockSize / r.rows, r.columns / kMinPart));
  const int64_t iteration = kBlockSize * group;
  const int64_t part = CeilDiv(CeilDiv(r.columns, wanted), iteration) * iteration;
  const int64_t parts = CeilDiv(r.columns, part);
  return {.kind = order == CombinationOrder::kAny ? KernelKind::kBlockRows : KernelKind::kBlockRowsInOrder,
          .width = order == CombinationOrder::kAny ? group : 1,
          .tile = {kBlockSize, part, LanesFor(parts)},
          .parts = parts,
          .why = absl::StrCat("rows of more than ", kWarpRow, " elements")};
}

KernelConfig ChooseColumns(const Reduction& r, int64_t group) {
  const int64_t groups = r.rows / group;
  int64_t lanes = kColumnLanes;
  while (lanes / 2 >= groups) lanes /= 2;
  // One strip is enough where there are columns for all threads.
  int64_t strips = kBlockSize / lanes;
  if (groups >= kWantedThreads) lanes = kBlockSize, strips = 1;
  while (strips > r.columns) strips /= 2;
  const int64_t column_blocks = CeilDiv(groups, lanes), block = std::max<int64_t>(kWarp, lanes * strips);
  const int64_t wanted = std::max<int64_t>(
      1, std::min(kWantedThreads / kBlockSize / column_blocks, r.columns / (strips * kMinColumnPart / 8)));
  const int64_t part = CeilDiv(r.columns, wanted);
  return {.kind = KernelKind::kColumns,
          .width = group,
          .tile = {block, lanes, part},
          .parts = CeilDiv(r.columns, part),
          .why = "adjacent results have adjacent elements"};
}

// Returns the number of blocks that go through the rows, where there are reductions across them: a block for each
// multiprocessor or two, but parts of so many rows that what they leave of the columns is little beside the rows.
int64_t RowPartsOf(const RowPlan& plan) {
  const int64_t all = CeilDiv(plan.space.rows, plan.BlockRows());
  const int64_t wanted = std::clamp(plan.space.rows / kWantedPartRows,
                                    std::min(kMultiprocessors, plan.space.rows / kMinPartRows), 2 * kMultiprocessors);
  return std::min(all, wanted);
}

KernelConfig ChooseScanLines(const PrefixScan& s, int64_t group, int64_t bytes) {
  const int64_t groups = s.size / group;
  int64_t threads = 1, part = s.size;
  while (threads < kWarp && threads < groups) threads *= 2;
  if (s.size > kWarpLine) {
    threads = kBlockSize;
    const int64_t own = threads * group * std::min(kLinePartBytes / (group * bytes), kLinePartGroups);
    // Lines that are too few for a device have several blocks each.
    if (2 * s.outer <= kWantedThreads / kBlockSize && s.size >= 2 * own) part = own;
  }
  return {.kind = KernelKind::kPrefixScanLines,
          .width = group,
          .tile = {kBlockSize, threads, part},
          .parts = CeilDiv(s.size, part),
          .why = "the elements of a line are adjacent"};
}

KernelConfig ChooseScanColumns(const PrefixScan& s, int64_t group) {
  KernelConfig config{.kind = KernelKind::kPrefixScanColumns,
                      .width = group,
                      .tile = {kBlockSize},
                      .why = "adjacent lines have adjacent elements"};
  if (s.size >= kColumnScanParts && 2 * s.outer * s.inner / group <= kWantedThreads) {
    config.width = std::min(group, kColumnScanGroup);
    const int64_t lanes = LanesFor(s.inner / config.width);
    config.tile = {kBlockSize, lanes, kColumnScanSteps};
    config.parts = CeilDiv(s.size, kBlockSize / lanes * kColumnScanSteps);
  }
  return config;
}

}  // namespace

std::optional<KernelConfig> ChooseRegisterRows(const HloInstruction& instruction, const KernelFacts& facts) {
  const std::optional<RowPlan> plan = PlanRows(&instruction, facts.strict);
  if (!plan.has_value()) return std::nullopt;
  return KernelConfig{.kind = KernelKind::kRegisterRows,
                      .width = plan->group,
                      .tile = {plan->block, plan->threads, plan->groups},
                      .parts = plan->columns.empty() ? 1 : RowPartsOf(*plan),
                      .why = absl::StrCat("rows of ", plan->space.columns, " elements fit into registers")};
}

std::optional<KernelConfig> ChooseStreamedRows(const HloInstruction& instruction, const KernelFacts& facts) {
  const std::optional<RowPlan> plan = PlanStreamedRows(&instruction, facts.strict);
  if (!plan.has_value()) return std::nullopt;
  int64_t row_bytes = 0;
  for (const HloInstruction* operand : instruction.operands()) {
    if (plan->space.IsFull(operand->shape()))
      row_bytes += plan->space.columns * PrimitiveTypeByteSize(operand->shape().element_type());
  }
  if (row_bytes == 0 || row_bytes > kMaxStreamedBytes) return std::nullopt;
  // Kernels for the reductions, of which two levels may be one (one-pass-reductions), and for the results: they compute
  // the same, on all multiprocessors.
  const GpuMachine machine;
  const Roofline roofline = StreamedRowsRoofline(instruction, *plan);
  const auto launches = static_cast<double>(std::max<size_t>(plan->levels.size(), 2));
  const double read_again = (launches - 1) * static_cast<double>(plan->space.rows * row_bytes),
               filled = std::min(1.0, static_cast<double>(plan->space.rows) / kMultiprocessors),
               apart_ns =
                   std::max((roofline.bytes + read_again) / machine.bytes_per_ns, roofline.arithmetic_ns * filled) +
                   launches * machine.launch_ns;
  if (roofline.ns() > apart_ns) return std::nullopt;
  return KernelConfig{.kind = KernelKind::kRegisterRows,
                      .width = plan->group,
                      .tile = {plan->block, plan->threads, plan->groups},
                      .why = absl::StrCat("rows of ", plan->space.columns, " elements fit into the second cache")};
}

absl::StatusOr<KernelConfig> ChooseReduction(const HloInstruction& instruction, const KernelFacts& facts) {
  const Reduction r = ReductionOf(instruction);
  const CombinationOrder order = r.OrderOf(facts.strict);
  if (order == CombinationOrder::kSerial) return ChooseLoop(instruction, facts, "the computation may not be reordered");
  if (r.rows == 0 || r.columns < kShort)
    return ChooseLoop(instruction, facts, absl::StrCat("sums of fewer than ", kShort, " elements"));
  // Rows in registers, unless they are so few that their parts need blocks of their own.
  if (kWantedThreads / kBlockSize / r.rows < 2 || r.columns < 2 * kMinPart) {
    std::optional<KernelConfig> rows = ChooseRegisterRows(instruction, facts);
    if (rows.has_value() && rows->width * rows->tile[2] <= kMaxOfReduction) return *std::move(rows);
  }
  // A reduction of what others leave, all in one kernel.
  if (std::optional<KernelConfig> rows = ChooseStreamedRows(instruction, facts);
      rows.has_value() && PlanStreamedRows(&instruction, facts.strict)->levels.size() > 1)
    return *std::move(rows);
  const int64_t group = GroupOf(WidestOperandBytes(instruction), r.input.dimensions().back());
  if (r.ReducesMinor())
    return r.columns <= kWarpRow ? ChooseWarpRows(r, order, group) : ChooseBlockRows(r, order, group);
  return order == CombinationOrder::kAny ? ChooseColumns(r, group)
                                         : ChooseLoop(instruction, facts, "columns may not be interleaved");
}

absl::StatusOr<KernelConfig> ChooseReduceWindow(const HloInstruction& instruction, const KernelFacts& facts) {
  const std::optional<PrefixScan> s = PrefixScanOf(instruction);
  if (!s.has_value()) return ChooseLoop(instruction, facts, "the windows are no prefix scan");
  if (MayReorder(*s->hero, facts.strict)) {
    int64_t widest = 1;
    for (PrimitiveType type : s->types) widest = std::max<int64_t>(widest, PrimitiveTypeByteSize(type));
    const int64_t group = GroupOf(widest, s->dimensions.back());
    return s->inner == 1 ? ChooseScanLines(*s, group, widest) : ChooseScanColumns(*s, group);
  }
  // From the back, the order of a window is not that of the scan.
  if (s->from_back) return ChooseLoop(instruction, facts, "the computation may not be reordered");
  return KernelConfig{
      .kind = KernelKind::kPrefixScanInOrder, .tile = {kBlockSize}, .why = "the computation may not be reordered"};
}

}  // namespace hilo::gpu
