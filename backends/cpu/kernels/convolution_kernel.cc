// Convolution as register tiles: a tile of rows times vectors of results stays in registers during the loops over the
// window's taps and the input features. Each step loads what its row and its vector need and adds up their products, so
// that most operands come from registers:
//
//   for tap, feature:    y[v] = kernel, x[r] = input;    sum[r][v] += x[r] * y[v]
//
// The plan selects the dimensions of rows and lanes (convolution_plan.h), so the same code handles every order of
// dimensions, gradients with windows as large as images, and depthwise convolutions, in any type.
//
// Taps outside the input are skipped by the bounds of the loops over taps. Rows whose bounds differ from those of
// others are computed one at a time; if these would be too many, their tiles are specialized for their position: the
// taps along the rows are unrolled, each with the rows for which it is inside the input. Masks are used only for
// vectors whose lanes differ. The last block of lanes overlaps the one before.
#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cpu/functions/program_emitter.h"
#include "backends/cpu/kernels/code_size.h"
#include "backends/cpu/kernels/convolution_plan.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "hilo/status_macros.h"
#include "llvm/IR/InlineAsm.h"

namespace hilo::cpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

class PhaseEmitter {
 public:
  // `alike`: one phase, or several that AreAlike.
  PhaseEmitter(const HloInstruction* convolution, std::vector<ConvolutionPhase> alike, const ConvolutionPlan& plan,
               bool in_order)
      : convolution_(convolution),
        alike_(std::move(alike)),
        phase_(alike_[0]),
        type_(convolution->shape().element_type()),
        plan_(plan),
        units_(UnitsOf(phase_, plan)) {
    if (plan_.lanes >= 0) lanes_ = phase_.axes[plan_.lanes];
    if (plan_.tile >= 0) tile_ = phase_.axes[plan_.tile];
    if (lanes_.window >= 0 && !in_order) {
      // Masks of lanes are made outside of the loop over the features.
      std::stable_partition(phase_.taps.begin(), phase_.taps.end(),
                            [](const ConvolutionTap& tap) { return tap.window >= 0; });
    }
    block_ = int64_t{plan_.width} * plan_.vectors;
    positions_ = TiledPositions(phase_, tile_, plan_.placed);
  }

  // Of all phases.
  int64_t units() const { return static_cast<int64_t>(alike_.size()) * units_.count; }

  absl::Status Emit(FunctionEmitter& f, llvm::Value* begin, llvm::Value* end) {
    return ForEach(f, "units", begin, end, [&](llvm::Value* unit) -> absl::Status {
      codegen::RegionScope region(f.context());
      f.context().lanes = {.width = plan_.width};
      return EmitUnit(f, unit);
    });
  }

 private:
  // The position of a tile, and the results for which the current tap is inside the input.
  struct Tile {
    llvm::Value *lhs, *rhs, *out;     // positions of its first row and lane at the first tap
    llvm::Value* position = nullptr;  // window position of its first row
    int64_t known_position = -1;      // the same, if the rows differ in their bounds
    int rows = 1;
    bool clamped = false;             // its one row may reach outside
    bool masked = false;              // its lanes may reach outside
    int first_row = 0, last_row = 1;  // rows for which the tap is inside
    int64_t feature = 0;              // of the groups that are lanes
    // Lanes for which the tap is inside, one mask per vector, null for vectors that are always; empty: all.
    std::vector<llvm::Value*> lane_masks;
  };
  struct Bounds {
    llvm::Value *first, *last;
  };

  // --- one unit ---

  absl::Status EmitUnit(FunctionEmitter& f, llvm::Value* unit) {
    llvm::IRBuilder<>& b = f.b();
    std::vector<int64_t> sizes = units_.sizes;
    sizes.insert(sizes.begin(), static_cast<int64_t>(alike_.size()));
    std::vector<llvm::Value*> position;
    for (const LaneIndex& index : f.Delinearize(unit, sizes)) position.push_back(index.Base(f.context()));
    llvm::Value *number = position[0], *section = position[1], *block = position[2];
    position.erase(position.begin(), position.begin() + 3);
    if (units_.sizes[0] > 1)
      position[0] = b.CreateNSWAdd(b.CreateNSWMul(section, b.getInt64(units_.sizes[2])), position[0]);
    const auto of_phase = [&](auto value) { return OfPhase(b, number, value); };
    Tile tile{.lhs = of_phase([](const ConvolutionPhase& phase) { return phase.lhs; }),
              .rhs = of_phase([](const ConvolutionPhase& phase) { return phase.rhs; }),
              .out = of_phase([](const ConvolutionPhase& phase) { return phase.out; })};
    first_position_ =
        of_phase([&](const ConvolutionPhase& phase) { return TiledPositions(phase, tile_, plan_.placed).first; });
    offsets_.clear();
    for (size_t window = 0; window < phase_.reaches.size(); ++window) {
      offsets_.push_back(of_phase([&](const ConvolutionPhase& phase) { return phase.reaches[window].offset; }));
    }
    bounds_.assign(phase_.reaches.size(), {});
    const auto move = [&](llvm::Value* by, const ConvolutionAxis& axis, Tile* moved) {
      moved->lhs = Moved(b, moved->lhs, by, axis.lhs);
      moved->rhs = Moved(b, moved->rhs, by, axis.rhs);
      moved->out = Moved(b, moved->out, by, axis.out);
    };
    for (size_t a = 0; a < units_.outer.size(); ++a) {
      move(position[a], units_.outer[a], &tile);
      if (units_.outer[a].window >= 0) bounds_[units_.outer[a].window] = TapsAt(b, units_.outer[a].window, position[a]);
    }
    first_lane_ = b.CreateNSWMul(block, b.getInt64(block_));
    live_.clear();
    if (lanes_.count < block_) {
      for (int v = 0; v < plan_.vectors; ++v) {
        live_.push_back(LaneIndex::Strided(b.CreateNSWAdd(first_lane_, b.getInt64(v * plan_.width)), 1)
                            .InRange(f.context(), 0, lanes_.count));
      }
    } else if (lanes_.count % block_ != 0) {  // the last block overlaps the one before, and computes the same bits
      first_lane_ =
          codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smin, first_lane_, b.getInt64(lanes_.count - block_));
    }
    move(first_lane_, lanes_, &tile);
    llvm::Value* first_tile = b.CreateNSWMul(position.back(), b.getInt64(plan_.tiles_per_unit));
    llvm::Value* last_tile = codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smin,
                                                          b.CreateNSWAdd(first_tile, b.getInt64(plan_.tiles_per_unit)),
                                                          b.getInt64(units_.tiles));
    const auto tiles = [&](bool masked) {
      Tile here = tile;
      here.masked = masked;
      return EmitTiles(f, here, move, first_tile, last_tile);
    };
    if (lanes_.window < 0) return tiles(false);
    const ConvolutionReach::Range inside = PositionsInside(lanes_);
    const int64_t first = (inside.first + block_ - 1) / block_, last = inside.last / block_;
    if (first >= last) return tiles(true);
    llvm::Value* whole =
        b.CreateAnd(b.CreateICmpSGE(block, b.getInt64(first)), b.CreateICmpSLT(block, b.getInt64(last)));
    return Either(f, "inside", whole, [&] { return tiles(false); }, [&] { return tiles(true); });
  }

  template <typename True, typename False>
  static absl::Status Either(FunctionEmitter& f, absl::string_view name, llvm::Value* condition, True on_true,
                             False on_false) {
    const auto side = [](absl::Status status) -> absl::StatusOr<Carried> {
      if (!status.ok()) return status;
      return Carried();
    };
    return codegen::EmitBranches(
               f.context(), name, condition, [&] { return side(on_true()); }, [&] { return side(on_false()); })
        .status();
  }

  // Emits tiles [first, last). Rows before the first and after the last tile belong to those.
  template <typename Move>
  absl::Status EmitTiles(FunctionEmitter& f, const Tile& origin, const Move& move, llvm::Value* first,
                         llvm::Value* last) {
    llvm::IRBuilder<>& b = f.b();
    const int64_t tiled = positions_.last - positions_.first, rows = std::clamp<int64_t>(tiled, 1, plan_.rows);
    const auto emit = [&](llvm::Value* position, int64_t known_position, int64_t count, bool clamped) {
      Tile tile = origin;
      move(position, tile_, &tile);
      tile.position = position;
      tile.known_position = known_position;
      tile.rows = tile.last_row = static_cast<int>(count);
      tile.clamped = clamped;
      codegen::RegionScope region(f.context());
      return EmitTile(f, tile);
    };
    // Emits tiles with equal bounds; the others are specialized for their position. The last one overlaps the one
    // before.
    const ConvolutionReach::Range inside = plan_.placed ? PositionsInside(tile_) : positions_;
    // The last tile may begin earlier than where the one before ends.
    const bool is_last_placed = plan_.placed && positions_.first + tiled - rows < inside.first;
    const int64_t first_alike = is_last_placed ? units_.tiles
                                : plan_.placed ? std::min((inside.first + rows - 1) / rows, units_.tiles)
                                               : 0;
    const int64_t last_alike =
        inside.last == positions_.last ? units_.tiles : std::max(first_alike, (inside.last - positions_.first) / rows);
    const auto placed = [&](int64_t tile) {
      const int64_t position = std::min(tile * rows, tiled - rows);  // after the first
      llvm::Value* here =
          b.CreateAnd(b.CreateICmpSLE(first, b.getInt64(tile)), b.CreateICmpSGT(last, b.getInt64(tile)));
      return Either(
          f, "tile", here,
          [&] {
            return emit(b.CreateNSWAdd(first_position_, b.getInt64(position)),
                        plan_.placed ? positions_.first + position : -1, rows, false);
          },
          [] { return absl::OkStatus(); });
    };
    for (int64_t tile = 0; tile < first_alike; ++tile) HILO_RETURN_IF_ERROR(placed(tile));
    llvm::Value* from = codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smax, first, b.getInt64(first_alike));
    llvm::Value* to = codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smin, last, b.getInt64(last_alike));
    HILO_RETURN_IF_ERROR(ForEach(
        f, "tiles", from, to,
        [&](llvm::Value* tile) {
          llvm::Value* position = b.CreateNSWMul(tile, b.getInt64(rows));
          if (tiled % rows != 0) {
            position = codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smin, position, b.getInt64(tiled - rows));
          }
          return emit(b.CreateNSWAdd(position, first_position_), -1, rows, false);
        },
        1, plan_.tiles_per_unit));
    for (int64_t tile = last_alike; tile < units_.tiles; ++tile) HILO_RETURN_IF_ERROR(placed(tile));
    // Emits the rows before and after all tiles, one at a time.
    const int64_t singles = tile_.count - tiled;
    if (singles == 0) return absl::OkStatus();
    llvm::Value* in_front = first_position_;
    llvm::Value* begin = b.CreateSelect(b.CreateICmpEQ(first, b.getInt64(0)), b.getInt64(0), in_front);
    llvm::Value* end = b.CreateSelect(b.CreateICmpEQ(last, b.getInt64(units_.tiles)), b.getInt64(singles), in_front);
    return ForEach(
        f, "border", begin, end,
        [&](llvm::Value* single) {
          llvm::Value* behind = b.CreateNSWAdd(single, b.getInt64(tiled));
          return emit(b.CreateSelect(b.CreateICmpSLT(single, in_front), single, behind), -1, 1, true);
        },
        1, singles);
  }

  // --- one tile ---

  absl::Status EmitTile(FunctionEmitter& f, Tile tile) {
    codegen::EmitterContext& context = f.context();
    for (llvm::Value** position : {&tile.lhs, &tile.rhs, &tile.out}) *position = Opaque(f.b(), *position);
    Carried sums;
    const ElementValue zero = codegen::EmitZero(context, type_);
    for (int i = 0; i < tile.rows * plan_.vectors; ++i) Append(context.Splat(zero), &sums);
    HILO_ASSIGN_OR_RETURN(sums, EmitTaps(f, 0, tile, std::move(sums)));
    const codegen::IrArray array = f.ArrayOf(convolution_);
    context.lanes.first_lane_active = live_.empty();
    for (int v = 0; v < plan_.vectors; ++v) {
      if (!live_.empty()) context.lanes.mask = live_[v];
      const auto at = [&](int row) {
        return At(tile.out, lanes_.out, row * tile_.out + v * plan_.width * lanes_.out, convolution_->shape());
      };
      std::vector<ElementValue> of_rows;
      for (int r = 0; r < tile.rows; ++r) of_rows.push_back(ValueAt(sums, r, v));
      if (plan_.width > 1 && tile_.out == 1 && lanes_.out > 1 && tile.rows > 1) {
        array.StoreColumns(context, at(0), of_rows);
        continue;
      }
      for (int r = 0; r < tile.rows; ++r) array.Store(context, at(r), of_rows[r]);
    }
    return absl::OkStatus();
  }

  // The loops over taps [depth, end).
  absl::StatusOr<Carried> EmitTaps(FunctionEmitter& f, size_t depth, const Tile& tile, Carried sums) {
    if (depth == phase_.taps.size()) return EmitStep(f, tile, std::move(sums));
    llvm::IRBuilder<>& b = f.b();
    const ConvolutionTap& tap = phase_.taps[depth];
    const auto at = [&](llvm::Value* t) {
      Tile here = tile;
      here.lhs = Moved(b, tile.lhs, t, tap.lhs);
      here.rhs = Moved(b, tile.rhs, t, tap.rhs);
      if (!llvm::isa<llvm::Constant>(t) && depth + 1 < phase_.taps.size()) {  // the innermost loop is reduced
        here.lhs = Opaque(b, here.lhs);
        here.rhs = Opaque(b, here.rhs);
      }
      if (tap.window >= 0 && tap.window == lanes_.window && tile.masked)
        here.lane_masks = LanesInside(f, tap.window, t);
      return here;
    };
    if (lanes_.group > 1 && depth + 1 == phase_.taps.size()) {
      for (int64_t t = 0; t < tap.count; ++t) {
        Tile here = at(b.getInt64(static_cast<uint64_t>(t)));
        here.feature = t;
        HILO_ASSIGN_OR_RETURN(sums, EmitStep(f, here, std::move(sums)));
      }
      return sums;
    }
    Bounds bounds{b.getInt64(0), b.getInt64(tap.count)};
    if (tap.window >= 0 && tap.window == tile_.window) {
      if (tile.known_position >= 0) {
        for (int64_t t = 0; t < tap.count; ++t) {
          Tile here = at(b.getInt64(t));
          const auto is_met = [&](int row) {
            const ConvolutionReach::Range taps =
                phase_.reaches[tap.window].TapsAt(tile.known_position + row, tap.count);
            return taps.first <= t && t < taps.last;
          };
          // The rows for which a tap is inside are contiguous.
          while (here.first_row < here.last_row && !is_met(here.first_row)) ++here.first_row;
          while (here.first_row < here.last_row && !is_met(here.last_row - 1)) --here.last_row;
          if (here.first_row == here.last_row) continue;
          HILO_ASSIGN_OR_RETURN(sums, EmitTaps(f, depth + 1, here, std::move(sums)));
        }
        return sums;
      }
      if (tile.clamped) bounds = TapsAt(b, tap.window, tile.position);
    } else if (tap.window >= 0 && tap.window != lanes_.window) {
      bounds = bounds_[tap.window];
    }
    const auto* first = llvm::dyn_cast<llvm::ConstantInt>(bounds.first);
    const auto* last = llvm::dyn_cast<llvm::ConstantInt>(bounds.last);
    const bool known = first != nullptr && last != nullptr;
    if (known && first->getSExtValue() >= last->getSExtValue()) return sums;
    llvm::BasicBlock* latch = nullptr;
    const auto body = [&](llvm::Value* t, const Carried& now) -> absl::StatusOr<Carried> {
      HILO_ASSIGN_OR_RETURN(Carried next, EmitTaps(f, depth + 1, at(t), now));
      latch = b.GetInsertBlock();
      return next;
    };
    HILO_ASSIGN_OR_RETURN(sums, codegen::EmitLoop(f.context(), "taps", bounds.first, bounds.last, 1, std::move(sums),
                                                  body, known, tap.count));
    if (plan_.KeepsTapsRolled(tile.rows)) KeepRolled(latch);
    return sums;
  }

  static void KeepRolled(llvm::BasicBlock* latch) {
    llvm::Instruction* end = latch->getTerminator();
    if (end == nullptr) return;  // one iteration is no loop
    llvm::LLVMContext& context = latch->getContext();
    llvm::MDNode* disable = llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
    llvm::MDNode* loop = llvm::MDNode::getDistinct(context, {nullptr, disable});
    loop->replaceOperandWith(0, loop);
    end->setMetadata(llvm::LLVMContext::MD_loop, loop);
  }

  // Emits one product for each result for which the tap is inside. Of the rows and the vectors, the fewer are inner:
  // their operands stay in registers while those of the others are read one at a time, so a tile takes a register for
  // each sum, for each of the fewer, and one more.
  absl::StatusOr<Carried> EmitStep(FunctionEmitter& f, const Tile& tile, Carried sums) {
    codegen::EmitterContext& context = f.context();
    const int rows = tile.last_row - tile.first_row;
    const bool rows_inner = rows < plan_.vectors;
    Operand x{.operand = convolution_->operand(0), .position = tile.lhs, .row = tile_.lhs, .lane = lanes_.lhs};
    Operand y{.operand = convolution_->operand(1), .position = tile.rhs, .row = tile_.rhs, .lane = lanes_.rhs};
    for (int i = 0; i < rows * plan_.vectors; ++i) {
      const int r = tile.first_row + (rows_inner ? i % rows : i / plan_.vectors);
      const int v = rows_inner ? i / rows : i % plan_.vectors;
      HILO_ASSIGN_OR_RETURN(const ElementValue x_value, Load(f, tile, r, v, &x));
      HILO_ASSIGN_OR_RETURN(const ElementValue y_value, Load(f, tile, r, v, &y));
      const ElementValue sum = ValueAt(sums, r, v);
      HILO_ASSIGN_OR_RETURN(const ElementValue product,
                            codegen::EmitBinaryOp(context, HloOpcode::kMultiply, type_, x_value, y_value));
      HILO_ASSIGN_OR_RETURN(ElementValue next, codegen::EmitBinaryOp(context, HloOpcode::kAdd, type_, sum, product));
      next = context.Splat(next);
      llvm::Value* inside = MaskOf(tile, v);
      if (inside != nullptr && MasksSums(context)) next = codegen::EmitSelect(context, inside, next, sum);
      SetValueAt(next, r, v, &sums);
    }
    return sums;
  }

  // An array of which a step reads an element or a vector for each row and vector whose position differs.
  struct Operand {
    const HloInstruction* operand;
    llvm::Value* position;
    int64_t row, lane;  // strides
    std::map<std::pair<int, int>, ElementValue> loaded;
  };
  static llvm::Value* MaskOf(const Tile& tile, int vector) {
    return tile.lane_masks.empty() ? nullptr : tile.lane_masks[vector];
  }
  // Returns true if sums of lanes for which the tap is outside are kept by a mask, which is part of the instructions of
  // AVX-512. Otherwise both operands are zero there: not even an infinity changes the sum, and an operand's mask costs
  // one instruction for all its products.
  static bool MasksSums(const codegen::EmitterContext& context) { return context.target().has_avx512; }
  absl::StatusOr<ElementValue> Load(FunctionEmitter& f, const Tile& tile, int row, int vector, Operand* from) const {
    codegen::EmitterContext& context = f.context();
    llvm::Value* inside = MaskOf(tile, vector);
    const bool is_zeroed = inside != nullptr && from->lane == 0 && !MasksSums(context);
    const bool differs = from->lane != 0 || is_zeroed;
    const auto [at, is_new] = from->loaded.try_emplace({from->row != 0 ? row : 0, differs ? vector + 1 : 0});
    if (!is_new) return at->second;
    codegen::RegionScope region(context);
    llvm::Value* mask = from->lane == 0                       ? nullptr
                        : !tile.lane_masks.empty()            ? inside
                        : lanes_.window < 0 && !live_.empty() ? live_[vector]
                                                              : nullptr;
    context.lanes.mask = mask;
    context.lanes.first_lane_active = mask == nullptr;
    const int64_t offset = row * from->row + vector * plan_.width * from->lane;
    HILO_ASSIGN_OR_RETURN(at->second, f.elements().Generate(from->operand, At(from->position, from->lane, offset,
                                                                              from->operand->shape())));
    if (from->lane != 0 && from->operand == convolution_->operand(0) && lanes_.group > 1)
      at->second = OfFeature(context.b(), at->second, tile.feature);
    if (is_zeroed) {
      at->second = codegen::EmitSelect(context, inside, context.Splat(at->second),
                                       context.Splat(codegen::EmitZero(context, type_)));
    }
    return at->second;
  }

  // Returns for each lane the element that its group has of the feature.
  ElementValue OfFeature(llvm::IRBuilder<>& b, ElementValue elements, int64_t feature) const {
    std::vector<int> from;
    for (int64_t lane = 0; lane < plan_.width; ++lane)
      from.push_back(static_cast<int>(lane / lanes_.group * lanes_.group + feature));
    for (llvm::Value** part : {&elements.re, &elements.im}) {
      if (*part != nullptr) *part = b.CreateShuffleVector(*part, from);
    }
    return elements;
  }

  // --- positions ---

  // Returns what `value` returns for the phase of that number.
  template <typename Value>
  llvm::Value* OfPhase(llvm::IRBuilder<>& b, llvm::Value* number, Value value) const {
    const int64_t first = value(alike_[0]);
    llvm::Value* chosen = b.getInt64(first);
    for (size_t p = 1; p < alike_.size(); ++p) {
      const int64_t other = value(alike_[p]);
      if (other == first && llvm::isa<llvm::Constant>(chosen)) continue;
      chosen = b.CreateSelect(b.CreateICmpEQ(number, b.getInt64(static_cast<int64_t>(p))), b.getInt64(other), chosen);
    }
    return chosen;
  }

  // Returns the value as one that is opaque to LLVM. Strength reduction otherwise expands positions into their
  // terms over all outer loops, and combines them with those of every access of the loops over the taps: that is up to
  // half the time of a compilation.
  static llvm::Value* Opaque(llvm::IRBuilder<>& b, llvm::Value* value, llvm::StringRef constraints = "=r,0") {
    if (llvm::isa<llvm::Constant>(value)) return value;
    llvm::FunctionType* type = llvm::FunctionType::get(value->getType(), {value->getType()}, /*isVarArg=*/false);
    llvm::CallInst* same = b.CreateCall(llvm::InlineAsm::get(type, "", constraints, /*hasSideEffects=*/false), {value});
    same->setDoesNotAccessMemory();
    same->setDoesNotThrow();
    return same;
  }
  // position + by * stride.
  static llvm::Value* Moved(llvm::IRBuilder<>& b, llvm::Value* position, llvm::Value* by, int64_t stride) {
    if (stride == 0) return position;
    llvm::Value* distance = stride == 1 ? by : b.CreateMul(by, b.getInt64(stride));
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(position);
    return known != nullptr && known->isZero() ? distance : b.CreateAdd(position, distance);
  }
  static Index At(llvm::Value* position, int64_t lane_stride, int64_t offset, const Shape& shape) {
    return Index::FromLinear(LaneIndex::Strided(position, lane_stride).AddConstant(offset), shape.dimensions());
  }

  const ConvolutionTap& TapOf(int window) const { return hilo::cpu::TapOf(phase_, window); }
  ConvolutionReach::Range PositionsInside(const ConvolutionAxis& axis) const {
    return phase_.reaches[axis.window].PositionsInside(axis.count, TapOf(axis.window).count);
  }
  // ConvolutionReach::TapsAt for a position that is a run-time value.
  Bounds TapsAt(llvm::IRBuilder<>& b, int window, llvm::Value* position) const {
    const ConvolutionReach& reach = phase_.reaches[window];
    llvm::Value* at = Moved(b, offsets_[window], position, reach.stride);
    llvm::Value *zero = b.getInt64(0), *dilation = b.getInt64(reach.dilation), *round = b.getInt64(reach.dilation - 1);
    const auto quotient = [&](llvm::Value* distance) {
      llvm::Value* positive = codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smax, distance, zero);
      return reach.dilation == 1 ? positive : b.CreateUDiv(b.CreateAdd(positive, round), dilation);
    };
    llvm::Value* last = quotient(b.CreateSub(b.getInt64(reach.size), at));
    return {quotient(b.CreateNeg(at)),
            codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smin, last, b.getInt64(TapOf(window).count))};
  }
  std::vector<llvm::Value*> LanesInside(FunctionEmitter& f, int window, llvm::Value* t) const {
    llvm::IRBuilder<>& b = f.b();
    const ConvolutionReach& reach = phase_.reaches[window];
    llvm::Value* at = Moved(b, Moved(b, offsets_[window], first_lane_, reach.stride), t, reach.dilation);
    std::vector<llvm::Value*> lane_masks;
    const ConvolutionReach::Range whole = PositionsInside(lanes_);
    for (int v = 0; v < plan_.vectors; ++v) {
      const int64_t first = v * plan_.width, last = first + plan_.width;
      if (first >= whole.first && std::max(lanes_.count - block_, int64_t{0}) + last <= whole.last) {
        lane_masks.push_back(nullptr);  // wherever the block is
        continue;
      }
      llvm::Value* inside = LaneIndex::Strided(at, reach.stride)
                                .AddConstant(v * plan_.width * reach.stride)
                                .InRange(f.context(), 0, reach.size);
      lane_masks.push_back(InRegister(f.context(), f.context().Splat(inside)));
    }
    return lane_masks;
  }
  // Returns the mask, in a register of its own if the target has no registers for masks. LLVM otherwise compares again
  // wherever a mask is used, which is in the innermost loop.
  llvm::Value* InRegister(codegen::EmitterContext& context, llvm::Value* mask) const {
    constexpr int kRegisterBits = 256;
    const int bits = 8 * static_cast<int>(PrimitiveTypeByteSize(ComplexComponentType(type_)));
    if (context.target().has_avx512 || context.target().vector_bits < kRegisterBits ||
        plan_.width * bits != kRegisterBits)
      return mask;
    llvm::IRBuilder<>& b = context.b();
    llvm::Type* lanes = llvm::FixedVectorType::get(b.getIntNTy(bits), plan_.width);
    llvm::Value* wide = Opaque(b, b.CreateSExt(mask, lanes), "=x,0");
    return b.CreateICmpSLT(wide, llvm::Constant::getNullValue(lanes));
  }

  // --- sums as loop-carried values ---

  int parts() const { return IsComplexType(type_) ? 2 : 1; }
  size_t IndexOf(int row, int vector) const { return (static_cast<size_t>(row) * plan_.vectors + vector) * parts(); }
  void Append(const ElementValue& value, Carried* sums) const {
    sums->push_back(value.re);
    if (parts() == 2) sums->push_back(value.im);
  }
  ElementValue ValueAt(const Carried& sums, int row, int vector) const {
    const size_t i = IndexOf(row, vector);
    return {sums[i], parts() == 2 ? sums[i + 1] : nullptr};
  }
  void SetValueAt(const ElementValue& value, int row, int vector, Carried* sums) const {
    const size_t i = IndexOf(row, vector);
    (*sums)[i] = value.re;
    if (parts() == 2) (*sums)[i + 1] = value.im;
  }

  const HloInstruction* convolution_;
  std::vector<ConvolutionPhase> alike_;
  ConvolutionPhase phase_;  // the first
  PrimitiveType type_;
  ConvolutionPlan plan_;
  ConvolutionUnits units_;
  ConvolutionAxis lanes_, tile_;
  int64_t block_ = 1;
  ConvolutionReach::Range positions_{};  // that tiles cover, of the first phase

  // State of the unit that is being emitted, of its phase.
  llvm::Value* first_position_ = nullptr;  // that tiles cover
  std::vector<llvm::Value*> offsets_;      // ConvolutionReach::offset by window number
  std::vector<Bounds> bounds_;             // of the taps of each window that moves along an outer axis
  llvm::Value* first_lane_ = nullptr;
  std::vector<llvm::Value*> live_;  // existing lanes, one mask per vector; empty: all
};

// Phases that one loop computes: equal but for where they begin.
struct PhaseGroup {
  std::vector<ConvolutionPhase> phases;
  ConvolutionPlan plan;
};

std::vector<PhaseGroup> GroupsOf(const KernelParts& kernel, absl::Span<const ConvolutionPhase> phases) {
  std::vector<PhaseGroup> groups;
  for (size_t p = 0; p < phases.size(); ++p) {
    const ConvolutionPlan plan = ConvolutionPlan::FromTile(
        absl::MakeConstSpan(kernel.config.tile).subspan(p * ConvolutionPlan::kNumbers, ConvolutionPlan::kNumbers));
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const PhaseGroup& other) {
      return other.plan.ToTile() == plan.ToTile() && AreAlike(other.phases[0], phases[p], plan);
    });
    if (group != groups.end()) {
      group->phases.push_back(phases[p]);
    } else {
      groups.push_back({{phases[p]}, plan});
    }
  }
  return groups;
}

// Emits the units of the groups that are among [begin, end), of which those of the first group are the first. Returns
// the number of all their units.
absl::StatusOr<int64_t> EmitGroups(FunctionEmitter& f, const KernelParts& kernel, absl::Span<const PhaseGroup> groups,
                                   llvm::Value* begin, llvm::Value* end) {
  llvm::IRBuilder<>& b = f.b();
  int64_t first = 0;
  for (const PhaseGroup& group : groups) {
    PhaseEmitter emitter(kernel.instruction, group.phases, group.plan, f.context().numerics().strict);
    // The part of [begin, end) that belongs to the group.
    const auto mine = [&](llvm::Value* unit) {
      llvm::Value* from = codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smax,
                                                       b.CreateNSWSub(unit, b.getInt64(first)), b.getInt64(0));
      return codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smin, from, b.getInt64(emitter.units()));
    };
    llvm::Value *last = mine(end), *start = mine(begin);
    HILO_RETURN_IF_ERROR(emitter.Emit(f, start, last));
    first += emitter.units();
  }
  return first;
}

}  // namespace

absl::Status EmitConvolution(FunctionEmitter& f, const KernelParts& kernel) {
  const auto phases = PhasesOf(*kernel.instruction, f.context().numerics().strict, f.context().target().vector_bits);
  const std::vector<PhaseGroup> groups = GroupsOf(kernel, *phases);
  const absl::Span<const PhaseGroup> all = groups;
  const bool is_split = f.table() != nullptr && groups.size() > 1;
  const size_t half = is_split ? groups.size() / 2 : groups.size();
  HILO_ASSIGN_OR_RETURN(const int64_t before, EmitGroups(f, kernel, all.first(half), kernel.begin, kernel.end));
  if (!is_split) return absl::OkStatus();
  // The other half is a function of its own, which is compiled in parallel.
  ProgramEmitter& program = f.program();
  HILO_ASSIGN_OR_RETURN(llvm::Function * function,
                        program.NewFunction(absl::StrCat(kernel.instruction->name(), ".phases"),
                                            CodeSize(*kernel.instruction, /*by_elements=*/false), /*chunks=*/true));
  FunctionEmitter inner(&program, function, f.table());
  inner.BeginInstruction(kernel.instruction);
  HILO_RETURN_IF_ERROR(EmitGroups(inner, kernel, all.subspan(half), function->getArg(3), function->getArg(4)).status());
  inner.EndInstruction();
  inner.Return(0);
  llvm::IRBuilder<>& b = f.b();
  f.ReturnIfStopped(
      b.CreateCall(program.DeclareIn(f.function()->getParent(), function),
                   {f.run_context(), f.frame(), f.buffers(), b.CreateNSWSub(kernel.begin, b.getInt64(before)),
                    b.CreateNSWSub(kernel.end, b.getInt64(before))}));
  return absl::OkStatus();
}

}  // namespace hilo::cpu
