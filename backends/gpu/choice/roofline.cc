#include "backends/gpu/choice/roofline.h"

#include <algorithm>
#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/gpu/choice/kernel_choice.h"
#include "backends/gpu/match/attention_tile.h"
#include "backends/gpu/match/gemm_match.h"
#include "backends/gpu/match/grid_mask.h"
#include "backends/gpu/match/grid_tile.h"
#include "backends/gpu/match/product_match.h"
#include "backends/gpu/match/radix_tile.h"
#include "backends/gpu/match/scatter_match.h"
#include "backends/gpu/match/sort_match.h"
#include "base/math.h"
#include "hlo/analysis/attention_mask.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/analysis/hero.h"
#include "hlo/analysis/one_pass_reduction.h"
#include "hlo/analysis/row_group.h"
#include "hlo/ir/kernel_config.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

constexpr GpuMachine kMachine;
constexpr double kLibraryPart = 0.7, kOwnPart = 0.35, kPipelinePart = 0.5, kThreadPart = 0.5;
// Of a multiprocessor, in a cycle: bytes of shared memory, and multiplications of 16 bits by tensor cores.
constexpr double kSharedBytesPerCycle = 128, kProducts = 2048;
constexpr double kFactorBytes = 2;

// Of the data sheet, in flops per nanosecond; a complex multiplication is four.
double TensorCorePeak(PrimitiveType type) {
  if (IsComplexType(type)) return TensorCorePeak(ComplexComponentType(type)) / 4;
  if (type == F64) return 67e3;
  const int bytes = PrimitiveTypeByteSize(type);
  return bytes == 1 ? 1979e3 : bytes == 2 ? 989e3 : 495e3;
}

bool IsProduct(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kDot || instruction.opcode() == HloOpcode::kConvolution ||
         instruction.opcode() == HloOpcode::kRaggedDot;
}

double FlopsOf(const HloInstruction& product) {
  return product.opcode() == HloOpcode::kDot           ? DotFlops(product)
         : product.opcode() == HloOpcode::kConvolution ? ConvolutionFlops(product)
                                                       : WorkOf(product).flops;
}

ProductUnit UnitOf(const KernelConfig& config) {
  if (config.kind == KernelKind::kLibraryDot || config.kind == KernelKind::kLibraryConvolution)
    return ProductUnit::kLibrary;
  const bool tiled = config.kind == KernelKind::kAttention || config.kind == KernelKind::kTiledDot ||
                     config.kind == KernelKind::kTiledConvolution || config.kind == KernelKind::kTiledRaggedDot;
  if (!tiled || config.width == 1) return ProductUnit::kThreads;
  if (config.kind != KernelKind::kAttention && ProductTile::Of(config).by_warp_groups) return ProductUnit::kWarpGroups;
  const bool copies = config.kind == KernelKind::kAttention ? AttentionTile::CopiesStrips(config)
                                                            : ProductTile::Of(config).copied_strips > 0;
  return copies ? ProductUnit::kOwnPipeline : ProductUnit::kOwnTensorCores;
}

// Returns the part of the multiprocessors that have a tile of the product, or of its depth.
double FilledPart(const HloInstruction& product, const KernelConfig& config) {
  if (config.kind != KernelKind::kTiledDot || product.opcode() != HloOpcode::kDot) return 1;
  const DotSide lhs = LhsOf(product), rhs = RhsOf(product);
  const ProductTile tile = ProductTile::Of(config);
  const int64_t blocks = config.parts * Product(lhs.batch_sizes) * CeilDiv(Product(lhs.free_sizes), tile.rows) *
                         CeilDiv(Product(rhs.free_sizes), tile.columns);
  return std::min(1.0, static_cast<double>(blocks) / static_cast<double>(kMachine.multiprocessors)) *
         (tile.by_warp_groups ? WarpGroupPart(tile) : 1);
}

// Exponentials of attention are the machine's; those of f32 are corrected. With 16 bits hyperbolic tangents are, too.
constexpr double kExponentialInstructions = 4, kCorrectedInstructions = 8, kTangentInstructions = 10;

// Of an element whose moments are computed in runs: a sum, a difference and its square, and a part of a merge.
constexpr double kMomentInstructions = 7;

double InstructionsOf(const HloInstruction& member) {
  if (IsMomentsOfElements(member))
    return kMomentInstructions * static_cast<double>(ShapeUtil::ElementsIn(member.operand(0)->shape()));
  return WorkOf(member).instructions;
}
// Of a member of attention whose products have factors of type `factors`.
double InstructionsInAttention(const HloInstruction& member, PrimitiveType factors) {
  if (member.opcode() == HloOpcode::kTanh && factors != F32)
    return kTangentInstructions * static_cast<double>(ShapeUtil::ElementsIn(member.shape()));
  if (member.opcode() != HloOpcode::kExp) return InstructionsOf(member);
  return (factors == F32 ? kCorrectedInstructions : kExponentialInstructions) *
         static_cast<double>(ShapeUtil::ElementsIn(member.shape()));
}

PrimitiveType FactorsOf(const HloInstruction& product) { return product.operand(0)->shape().element_type(); }

double ProductNs(const HloInstruction& product, ProductUnit unit) {
  double flops_per_ns = ProductFlopsPerNs(FactorsOf(product), unit);
  // Libraries want factors of one type, or 8-bit floats: threads multiply others.
  const PrimitiveType left = FactorsOf(product), right = product.operand(1)->shape().element_type();
  const auto is_f8 = [](PrimitiveType type) { return type == F8E4M3FN || type == F8E5M2; };
  if (unit == ProductUnit::kLibrary && product.opcode() == HloOpcode::kDot && left != right &&
      !(is_f8(left) && is_f8(right)))
    return FlopsOf(product) / ProductFlopsPerNs(F32, ProductUnit::kThreads);
  // Tensor cores would round the factors.
  if (unit == ProductUnit::kLibrary && product.opcode() == HloOpcode::kDot && FactorsOf(product) == F32 &&
      !AllowsTf32(product.attrs<DotAttrs>()))
    flops_per_ns = ProductFlopsPerNs(F32, ProductUnit::kThreads) * kLibraryPart / kThreadPart;
  return FlopsOf(product) / flops_per_ns;
}

double BytesOf(const HloInstruction& array) { return static_cast<double>(ShapeUtil::ByteSizeOf(array.shape())); }

// Returns the part of `rows` x `keys` scores whose key is at most the row plus `offset`.
double PartUpTo(int64_t offset, int64_t rows, int64_t keys) {
  // Rows before `some` have no keys, those from `all` on all of them; row r has r + offset + 1 in between.
  const int64_t some = std::clamp<int64_t>(-offset, 0, rows), all = std::clamp<int64_t>(keys - offset - 1, some, rows);
  const double between = static_cast<double>(all - some) * static_cast<double>(some + all + 2 * offset + 1) / 2;
  return (between + static_cast<double>((rows - all) * keys)) / static_cast<double>(rows * keys);
}

// Returns the part of `rows` x `keys` scores that a causal mask leaves.
double VisiblePart(const CausalMask& mask, int64_t rows, int64_t keys) {
  const double before = mask.first.has_value() ? PartUpTo(*mask.first - 1, rows, keys) : 0;
  return std::max(PartUpTo(mask.offset, rows, keys) - before, 0.0);
}

// Lines of a grid that a block has where there are many; scores of a block of a library.
constexpr int64_t kGridBlockLines = 64, kLibraryBlockScores = 128 * 128;

// Returns the part of the multiprocessors that have lines of a kernel's grid, of those that a product of the library
// would fill with its scores.
double FilledPart(const ScoreGrid& grid) {
  if (!grid.batch_sums.empty()) return 1;  // batches are in parts
  const GridSide own = OtherSide(grid.summed.at(grid.products.empty() ? grid.reductions[0] : grid.products[0]));
  const int64_t batches = grid.SizeOf(GridSide::kBatch), blocks = batches * CeilDiv(grid.SizeOf(own), kGridBlockLines),
                of_library =
                    batches * grid.SizeOf(GridSide::kLeft) * grid.SizeOf(GridSide::kRight) / kLibraryBlockScores;
  return std::min(1.0, static_cast<double>(blocks) /
                           static_cast<double>(std::clamp<int64_t>(of_library, 1, kMachine.multiprocessors)));
}

// A kernel computes a member once in each pass that needs it.
double ScoreGridArithmeticNs(const ScoreGrid& grid, ProductUnit unit) {
  const PrimitiveType factors = FactorsOf(*grid.scores[0]);
  double ns = 0, part = 1;
  const auto add = [&](const std::vector<const HloInstruction*>& members) {
    for (const HloInstruction* member : members) {
      ns += part * (IsProduct(*member) ? ProductNs(*member, unit)
                                       : InstructionsInAttention(*member, factors) / kMachine.instructions_per_ns);
    }
  };
  for (const GridPass& pass : PassesOf(grid)) {
    const std::optional<GridMask> mask = MaskOf(grid, pass);
    part = mask.has_value()
               ? VisiblePart(mask->mask, grid.axes[mask->row_axis].size, grid.SizeOf(OtherSide(mask->rows)))
               : 1;
    add(pass.members);
    add(pass.reductions);
    add(pass.products);
    add(pass.batch_sums);
  }
  return ns / FilledPart(grid);
}

// Returns the part of the scores that the kernel computes.
double VisiblePart(const Attention& attention, const KernelConfig& config) {
  const std::optional<CausalMask> mask = MaskOf(attention, config);
  if (!mask.has_value()) return 1;
  return VisiblePart(*mask, attention.logits->shape().dimensions(mask->row_dimension),
                     attention.logits->shape().dimensions(attention.key_dimension));
}

constexpr int64_t kAttentionWarpRows = 16;  // of attention

// Of all members, and of what they are fused with. The results are divided, rather than the exponentials.
double AttentionArithmeticNs(const Attention& attention, absl::Span<const HloInstruction* const> members,
                             const KernelConfig& config) {
  const HloInstruction* weights = attention.product->operand(attention.weights_operand);
  while (weights->opcode() == HloOpcode::kConvert || weights->opcode() == HloOpcode::kReshape)
    weights = weights->operand(0);
  const PrimitiveType factors = FactorsOf(*attention.scores);
  // Of rows that a warp multiplies but does not have, too.
  const int64_t rows = std::max<int64_t>(Product(SidesOf(attention).queries.free_sizes), 1);
  const double padding =
      static_cast<double>(CeilDiv(rows, kAttentionWarpRows) * kAttentionWarpRows) / static_cast<double>(rows);
  double ns = 0;
  for (const HloInstruction* member : members) {
    if (IsProduct(*member)) {
      ns += padding * ProductNs(*member, UnitOf(config));
    } else if (member != weights) {
      ns += InstructionsInAttention(*member, factors) / kMachine.instructions_per_ns;
    }
  }
  return ns * VisiblePart(attention, config);
}

// Adds what parts of the keys cost: their sums are written, and another launch reads them.
void AddAttentionParts(const Attention& attention, const KernelConfig& config, Roofline* roofline) {
  if (config.parts == 1) return;
  const AttentionSides sides = SidesOf(attention);
  const int64_t rows = Product(sides.queries.batch_sizes) * Product(sides.queries.free_sizes),
                of_row = AttentionTile::PaddedFeatures(Product(sides.values.free_sizes)) + 2;
  const double bytes = static_cast<double>(2 * config.parts * rows * of_row) * sizeof(float);
  roofline->bytes += bytes;
  roofline->memory_ns += bytes / kMachine.bytes_per_ns;
  roofline->launch_ns += kMachine.launch_ns;
}

// Adds what is written and read by another launch, if parts of the results' sums, of four bytes or eight, are computed
// on their own.
void AddPartialSums(int64_t parts, const HloInstruction& result, Roofline* roofline) {
  if (parts == 1) return;
  const int64_t sum_bytes = std::max(4, PrimitiveTypeByteSize(result.shape().element_type()));
  const double sums = static_cast<double>(2 * parts * ShapeUtil::ElementsIn(result.shape()) * sum_bytes);
  roofline->bytes += sums;
  roofline->memory_ns += sums / kMachine.bytes_per_ns;
  roofline->launch_ns += kMachine.launch_ns;
}

// Kernels that make the factors of products of the scores.
struct RowKernels {
  int64_t count = 1;
  double bytes = 0, instructions = 0;
};

// Returns the time of products of a library, and of the kernels of the rows.
double InPartsNs(absl::Span<const HloInstruction* const> scores, absl::Span<const HloInstruction* const> products,
                 const RowKernels& rows) {
  double ns = static_cast<double>(rows.count) * kMachine.launch_ns;
  for (const auto& group : {scores, products}) {
    for (const HloInstruction* product : group) {
      const double bytes = BytesOf(*product->operand(0)) + BytesOf(*product->operand(1)) + BytesOf(*product);
      ns += kMachine.launch_ns + std::max(bytes / kMachine.bytes_per_ns, ProductNs(*product, ProductUnit::kLibrary));
    }
  }
  return ns + std::max(rows.bytes / kMachine.bytes_per_ns, rows.instructions / kMachine.instructions_per_ns);
}

// Returns the rows' kernels, which make the products' factors: one for each set of scores that some of them are
// computed from, as those of a gradient wait for the products of the forward pass.
RowKernels RowKernelsOf(const ScoreGrid& grid) {
  // By member, the scores that it is computed from, in their order.
  absl::flat_hash_map<const HloInstruction*, std::vector<const HloInstruction*>> sources;
  for (const HloInstruction* member : grid.members) {
    absl::flat_hash_set<const HloInstruction*> own;
    if (member->opcode() == HloOpcode::kDot) own.insert(member);
    for (const HloInstruction* operand : member->operands()) {
      const auto known = sources.find(operand);
      if (known != sources.end()) own.insert(known->second.begin(), known->second.end());
    }
    for (const HloInstruction* score : grid.scores) {
      if (own.contains(score)) sources[member].push_back(score);
    }
  }
  absl::flat_hash_set<const HloInstruction*> factors, read;
  absl::flat_hash_set<std::vector<const HloInstruction*>> kernels;
  RowKernels rows;
  const auto add_kernel = [&](const std::vector<const HloInstruction*>& scores) {
    if (!kernels.insert(scores).second) return;
    for (const HloInstruction* score : scores) {
      rows.bytes += BytesOf(*score);
      read.insert(score);
    }
  };
  for (const HloInstruction* product : grid.products) {
    const HloInstruction* factor = product->operand(grid.grid_operands.at(product));
    if (!factors.insert(factor).second) continue;
    rows.bytes += BytesOf(*factor);
    add_kernel(sources[factor]);
  }
  for (const HloInstruction* score : grid.scores) {
    if (!read.contains(score)) rows.bytes += BytesOf(*score);
  }
  rows.count = std::max<int64_t>(1, std::ssize(kernels));
  for (const HloInstruction* member : grid.members)
    rows.instructions += IsProduct(*member) ? 0 : InstructionsOf(*member);
  return rows;
}

// Of an element in a pass of a sort by digits; of a thread that counts its digit.
constexpr double kRadixInstructions = 60, kCountInstructions = 4;

// The launches of a sort, the bytes that they move, and their instructions.
struct SortPasses {
  double launches = 1, bytes = 0, instructions = 0;
};
SortPasses PassesOf(const HloInstruction& sort, const KernelConfig& config) {
  if (config.kind == KernelKind::kRadixSort) {
    // A launch clears the words of look-back, which each pass writes twice and reads; one counts digits of the keys.
    const std::optional<KeySort> keys = KeySortOf(sort);
    const auto passes = static_cast<double>(config.tile[1]);
    SortPasses all{.launches = 2 + passes,
                   .instructions = (kRadixInstructions + kCountInstructions) * passes *
                                   static_cast<double>(ShapeUtil::ElementsIn(sort.operand(0)->shape()))};
    if (!keys.has_value()) return all;
    all.bytes = (1 + 3 * passes) *
                static_cast<double>(keys->lists() * RadixTiles(*keys) * kRadixDigits * RadixWordBytes(*keys));
    for (int64_t i = 0; i < keys->count; ++i) {
      const double bytes = BytesOf(*sort.operand(i)), is_key = i == keys->key_array ? 1 : 0;
      const bool moves = keys->Moves(i, /*is_last=*/false), moves_last = keys->Moves(i, /*is_last=*/true);
      all.bytes += bytes * (is_key + 2 * ((passes - 1) * moves + moves_last));
      // The key is read where it moves no more; what is generated is not read at first.
      if (is_key > 0 && !moves_last) all.bytes += bytes;
      if (keys->Generates(i) && (passes > 1 ? moves : moves_last)) all.bytes -= bytes;
    }
    return all;
  }
  // Each launch moves all arrays.
  SortPasses passes{.instructions = WorkOf(sort).instructions};
  const int64_t length = sort.operand(0)->shape().dimensions(sort.attrs<SortAttrs>().dimensions[0]);
  for (int64_t run = config.tile[1]; run < length; run *= 2) ++passes.launches;
  passes.bytes = passes.launches * WorkOf(sort).bytes();
  return passes;
}

// Adds what parts of reductions and scans cost.
void AddParts(const HloInstruction& instruction, Roofline* roofline) {
  const KernelConfig& config = *instruction.kernel();
  if (config.parts == 1) return;
  double bytes = 0;
  switch (config.kind) {
    case KernelKind::kBlockRows:
    case KernelKind::kBlockRowsInOrder:
    case KernelKind::kColumns:
      // Sums of parts are written, and read by another launch.
      for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(instruction.shape()))
        bytes += static_cast<double>(2 * config.parts * ShapeUtil::ElementsIn(*leaf.shape) *
                                     std::max(4, PrimitiveTypeByteSize(leaf.shape->element_type())));
      break;
    case KernelKind::kRegisterRows:
      // Values of columns are written, and read by another launch.
      for (const HloInstruction* root : instruction.called_computation()->root_instruction()->operands()) {
        if (root->opcode() == HloOpcode::kReduce && !RowSpaceOf(*root).has_value())
          bytes += static_cast<double>(2 * config.parts * ShapeUtil::ElementsIn(root->shape()) *
                                       std::max(4, PrimitiveTypeByteSize(root->shape().element_type())));
      }
      break;
    case KernelKind::kPrefixScanColumns:
    case KernelKind::kPrefixScanLines: break;  // a launch clears what blocks share
    default: return;
  }
  roofline->bytes += bytes;
  roofline->memory_ns += bytes / kMachine.bytes_per_ns;
  roofline->launch_ns += kMachine.launch_ns;
}

}  // namespace

double ProductFlopsPerNs(PrimitiveType type, ProductUnit unit) {
  if (unit == ProductUnit::kThreads) {
    const double peak = 2 * kMachine.instructions_per_ns * kThreadPart;
    return ComplexComponentType(type) == F64 ? peak / 2 : peak;
  }
  const bool is_fast = unit == ProductUnit::kLibrary || unit == ProductUnit::kWarpGroups;
  const double part = is_fast ? kLibraryPart : unit == ProductUnit::kOwnPipeline ? kPipelinePart : kOwnPart;
  return TensorCorePeak(type) * part;
}

double WarpGroupPart(const ProductTile& tile) {
  const auto rows = static_cast<double>(tile.rows), columns = static_cast<double>(tile.columns),
             groups = rows / static_cast<double>(tile.own_rows);
  // Of one index of the depth.
  const double bytes = kFactorBytes * (rows + groups * columns + (rows + columns)), cycles = rows * columns / kProducts;
  return std::min(1.0, kSharedBytesPerCycle * cycles / bytes);
}

double Roofline::ns() const { return launch_ns + std::max(memory_ns, arithmetic_ns); }

const char* Roofline::bound() const {
  if (launch_ns > std::max(memory_ns, arithmetic_ns)) return "launch";
  return memory_ns >= arithmetic_ns ? "memory" : "arithmetic";
}

Roofline RooflineOf(const HloInstruction& instruction) {
  const Work work = WorkOf(instruction);
  Roofline roofline{.bytes = work.bytes(),
                    .flops = work.flops,
                    .memory_ns = work.bytes() / kMachine.bytes_per_ns,
                    .launch_ns = kMachine.launch_ns};
  double instructions = work.instructions;  // of threads, without products
  const KernelConfig& config = *instruction.kernel();
  if (config.kind == KernelKind::kGenerated) return {};
  const HloInstruction& hero = *HeroOf(&instruction);
  instructions += InstructionsOf(hero) - WorkOf(hero).instructions;
  if (instruction.opcode() == HloOpcode::kSort) return SortRoofline(instruction, config);
  if (config.kind == KernelKind::kRegisterRows) {
    const std::optional<RowPlan> plan = RowPlanOf(&instruction);
    if (plan.has_value() && plan->IsStreamed()) return StreamedRowsRoofline(instruction, *plan);
  }
  AddParts(instruction, &roofline);
  if (config.kind == KernelKind::kScatterSorted && config.tile[1] > 1) {
    // Tiles of updates leave a window each to another launch.
    for (int64_t left = ScatterOf(instruction).BatchSizes()[0]; left > config.tile[1];
         left = CeilDiv(left, config.tile[1]))
      roofline.launch_ns += kMachine.launch_ns;
  }
  const auto add = [&](const HloInstruction& product) {
    roofline.arithmetic_ns += ProductNs(product, UnitOf(config)) / FilledPart(product, config);
    if (config.kind == KernelKind::kTiledDot) AddPartialSums(config.parts, product, &roofline);
  };
  if (IsProduct(instruction)) {
    add(instruction);
    instructions = 0;
  } else if (instruction.opcode() == HloOpcode::kFusion) {
    const auto members = instruction.called_computation()->instructions();
    const bool has_product = absl::c_any_of(members, [](const HloInstruction* member) { return IsProduct(*member); });
    const bool is_attention = config.kind == KernelKind::kAttention;
    const std::optional<Attention> attention = is_attention ? AttentionOf(instruction) : std::nullopt;
    const std::optional<ScoreGrid> grid =
        is_attention && !attention.has_value() ? ScoreGridOfFusion(instruction) : std::nullopt;
    if (has_product) instructions = 0;
    if (attention.has_value()) {
      const std::vector<const HloInstruction*> all(members.begin(), members.end());
      roofline.arithmetic_ns += AttentionArithmeticNs(*attention, all, config);
      AddAttentionParts(*attention, config, &roofline);
    } else if (grid.has_value()) {
      roofline.arithmetic_ns += ScoreGridArithmeticNs(
          *grid, GridTile::Of(config).copies_strips ? ProductUnit::kOwnPipeline : ProductUnit::kOwnTensorCores);
      for (const HloInstruction* sum : grid->batch_sums) AddPartialSums(config.parts, *sum, &roofline);
      for (const HloInstruction* member : members)
        instructions += grid->Has(member) || IsProduct(*member) ? 0 : InstructionsOf(*member);
    } else if (has_product) {
      for (const HloInstruction* member : members) {
        if (IsProduct(*member)) {
          add(*member);
        } else {
          instructions += InstructionsOf(*member);
        }
      }
    }
  }
  roofline.arithmetic_ns += instructions / kMachine.instructions_per_ns;
  return roofline;
}

Roofline SortRoofline(const HloInstruction& sort, const KernelConfig& config) {
  const SortPasses passes = PassesOf(sort, config);
  return {.bytes = passes.bytes,
          .flops = WorkOf(sort).flops,
          .memory_ns = passes.bytes / kMachine.bytes_per_ns,
          .arithmetic_ns = passes.instructions / kMachine.instructions_per_ns,
          .launch_ns = passes.launches * kMachine.launch_ns};
}

Roofline StreamedRowsRoofline(const HloInstruction& instruction, const RowPlan& plan) {
  const Work work = WorkOf(instruction);
  Roofline roofline{.bytes = work.bytes(), .flops = work.flops, .launch_ns = kMachine.launch_ns};
  double cache_bytes = work.bytes_written, instructions = 0;
  const auto add_pass = [&](std::vector<const HloInstruction*> wanted) {
    absl::flat_hash_set<const HloInstruction*> computed;
    while (!wanted.empty()) {
      const HloInstruction* member = wanted.back();
      wanted.pop_back();
      if (!plan.space.IsFull(member->shape()) || !computed.insert(member).second) continue;
      if (member->IsParameter() || !member->parent()->IsFusion()) {
        cache_bytes += BytesOf(*member);
      } else {
        instructions += InstructionsOf(*member);
        wanted.insert(wanted.end(), member->operands().begin(), member->operands().end());
      }
    }
  };
  for (const std::vector<const HloInstruction*>& level : plan.levels) {
    std::vector<const HloInstruction*> terms;
    for (const HloInstruction* reduce : level) {
      terms.push_back(reduce->operand(0));
      instructions += InstructionsOf(*reduce);
    }
    add_pass(std::move(terms));
  }
  add_pass(plan.roots);
  // A multiprocessor without a row does nothing.
  const double filled =
      std::min(1.0, static_cast<double>(plan.space.rows) / static_cast<double>(kMachine.multiprocessors));
  roofline.memory_ns =
      std::max(roofline.bytes / kMachine.bytes_per_ns, cache_bytes / (filled * kMachine.cache_bytes_per_ns));
  roofline.arithmetic_ns = instructions / (filled * kMachine.instructions_per_ns);
  return roofline;
}

Roofline AttentionRoofline(const Attention& attention, const KernelConfig& config) {
  const absl::flat_hash_set<const HloInstruction*> members(attention.members.begin(), attention.members.end());
  absl::flat_hash_set<const HloInstruction*> read;
  for (const HloInstruction* member : attention.members) {
    for (const HloInstruction* operand : member->operands()) {
      if (!members.contains(operand) && !IsFreeToRepeat(*operand)) read.insert(operand);
    }
  }
  Roofline roofline{.bytes = BytesOf(*attention.result),
                    .arithmetic_ns = AttentionArithmeticNs(attention, attention.members, config),
                    .launch_ns = kMachine.launch_ns};
  for (const HloInstruction* array : read) roofline.bytes += BytesOf(*array);
  roofline.memory_ns = roofline.bytes / kMachine.bytes_per_ns;
  AddAttentionParts(attention, config, &roofline);
  return roofline;
}

double AttentionInPartsNs(const Attention& attention) {
  RowKernels rows{.bytes =
                      BytesOf(*attention.scores) + BytesOf(*attention.product->operand(attention.weights_operand))};
  for (const HloInstruction* member : attention.members)
    rows.instructions += IsProduct(*member) ? 0 : InstructionsOf(*member);
  return InPartsNs({&attention.scores, 1}, {&attention.product, 1}, rows);
}

Roofline ScoreGridRoofline(const ScoreGrid& grid, bool copies_strips) {
  const ProductUnit unit = copies_strips ? ProductUnit::kOwnPipeline : ProductUnit::kOwnTensorCores;
  Roofline roofline{.arithmetic_ns = ScoreGridArithmeticNs(grid, unit), .launch_ns = kMachine.launch_ns};
  for (const HloInstruction* score : grid.scores) {
    for (const HloInstruction* operand : score->operands()) roofline.bytes += BytesOf(*operand);
  }
  for (const HloInstruction* product : grid.products)
    roofline.bytes += BytesOf(*ProductOperand(grid, product).operand) + BytesOf(*product);
  for (const HloInstruction* sum : grid.batch_sums) roofline.bytes += BytesOf(*sum);
  roofline.memory_ns = roofline.bytes / kMachine.bytes_per_ns;
  return roofline;
}

double ScoreGridInPartsNs(const ScoreGrid& grid) {
  const std::vector<const HloInstruction*> scores(grid.scores.begin(), grid.scores.end()),
      products(grid.products.begin(), grid.products.end());
  double sums_ns = 0;
  // The kernels of the rows store two arrays, of which a sum's terms are products, and the sum reads them.
  for (const HloInstruction* sum : grid.batch_sums)
    sums_ns += kMachine.launch_ns + (4 * BytesOf(*sum->operand(0)) + BytesOf(*sum)) / kMachine.bytes_per_ns;
  // Reductions along the other side read the scores again.
  const auto is_along = [&](GridSide side) {
    return absl::c_any_of(grid.reductions, [&](const HloInstruction* x) { return grid.summed.at(x) == side; });
  };
  if (is_along(GridSide::kLeft) && is_along(GridSide::kRight))
    sums_ns += kMachine.launch_ns + BytesOf(*grid.scores[0]) / kMachine.bytes_per_ns;
  return sums_ns + InPartsNs(scores, products, RowKernelsOf(grid));
}

std::string RooflineText(const HloModule& module) {
  std::string text;
  for (const HloComputation* computation : module.computations()) {
    if (computation->IsFusion()) continue;
    std::string lines;
    const KernelConfig* launched = nullptr;  // before, if this one may be in its kernel
    for (const HloInstruction* instruction : module.OrderOf(*computation)) {
      if (instruction->kernel() == nullptr || HasTrait(instruction->opcode(), kControlFlow)) continue;
      Roofline roofline = RooflineOf(*instruction);
      const KernelConfig& config = *instruction->kernel();
      if (launched != nullptr && AreOneKernel(*launched, config)) roofline.launch_ns = 0;
      launched = &config;
      absl::StrAppendFormat(&lines, "  %s: kind=%s bytes=%.0f flops=%.0f bound=%s time=%.2fus\n", instruction->name(),
                            KernelKindString(instruction->kernel()->kind), roofline.bytes, roofline.flops,
                            roofline.bound(), roofline.ns() / 1e3);
    }
    if (!lines.empty()) absl::StrAppend(&text, computation->name(), ":\n", lines);
  }
  return text;
}

}  // namespace hilo::gpu
