// Attention (hlo/analysis/attention.h) in one kernel, whose arrays of the size of the logits are never in memory.
//
// A block has some rows of queries, sixteen for each warp, and goes through the keys a strip at a time. Tensor cores
// multiply queries by keys; of each score, the lane that has it computes the logit, by whatever instructions lead
// there. A row's results are sums of exponentials times values, divided at the end by the sum of the exponentials.
// These are relative to the row's maximum so far: as it grows, both sums are scaled. A row is spread over four lanes.
// Exponentials go from the fragments of results of the first product to those of the left side of the second without
// leaving the lane, rounded to the type of the values.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "backends/gpu/emitters/attention_gradient_emitter.h"
#include "backends/gpu/emitters/dot_operand.h"
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/program_emitter.h"
#include "backends/gpu/emitters/tensor_core.h"
#include "backends/gpu/match/attention_tile.h"
#include "backends/llvm/elements/element_convert.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "backends/llvm/nest/loop_elements.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/attention.h"
#include "hlo/analysis/attention_mask.h"
#include "hlo/analysis/loop_results.h"
#include "hlo/ops/table/op_attributes.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

constexpr int64_t kRows = TensorCore::kRows, kColumns = TensorCore::kColumns, kOwn = TensorCore::kOwn;
constexpr int64_t kOwnRows = 2;  // of a lane
constexpr int kRowLanes = 4;     // that share a row
// Exponentials of less than minus this are 0.
constexpr double kLeastDistance = 110;
constexpr double kLog2OfE = 1.4426950408889634;

class AttentionKernel {
 public:
  AttentionKernel(KernelEmitter& k, const HloInstruction* instruction, const Attention& attention)
      : k_(k),
        b_(k.b()),
        attention_(attention),
        tile_(AttentionTile::Of(*instruction->kernel())),
        results_(LoopResultsOf(*instruction)),
        sides_(SidesOf(attention)),
        type_(sides_.keys.operand->shape().element_type()),
        core_(k, type_),
        rows_(Product(sides_.queries.free_sizes)),
        keys_(Product(sides_.keys.free_sizes)),
        depth_(Product(sides_.keys.contracting_sizes)),
        features_(Product(sides_.values.free_sizes)),
        mask_(MaskOf(attention)) {}

  int64_t blocks() const { return Product(sides_.queries.batch_sizes) * CeilDiv(rows_, tile_.rows); }

  absl::Status Emit() {
    ComputeIndices();
    HILO_RETURN_IF_ERROR(LoadQueries());
    const ProductSide keys = ProductSideOf(k_, sides_.keys), values = ProductSideOf(k_, sides_.values);
    StripLoader key_strip(k_, keys, core_.LayoutOf(tile_.keys, padded_depth(), keys.depth_is_minor), ToCells(),
                          {.threads = tile_.threads,
                           .positions = tile_.keys,
                           .strip = padded_depth(),
                           .depth = depth_,
                           .group = tile_.key_group},
                          "keys");
    StripLoader value_strip(k_, values, core_.LayoutOf(padded_features(), tile_.keys, values.depth_is_minor), ToCells(),
                            {.threads = tile_.threads,
                             .positions = padded_features(),
                             .strip = tile_.keys,
                             .depth = keys_,
                             .group = tile_.value_group},
                            "values");
    const auto strip = [&](llvm::Value* first, const Carried& carried) -> absl::StatusOr<Carried> {
      HILO_ASSIGN_OR_RETURN(const Carried of_keys, key_strip.Load(batch_, first, Int(0)));
      HILO_ASSIGN_OR_RETURN(const Carried of_values, value_strip.Load(product_batch_, Int(0), first));
      k_.Barrier();
      key_strip.Store(of_keys, Int(0));
      value_strip.Store(of_values, Int(0));
      k_.Barrier();
      RowState state = StateOf(carried);
      HILO_ASSIGN_OR_RETURN(const std::vector<Fragment> logits, Logits(key_strip.StripOf(Int(0)), first));
      const std::vector<Fragment> exponentials = Exponentials(logits, &state);
      AddValues(value_strip.StripOf(Int(0)), exponentials, &state);
      return Pack(state);
    };
    const auto strips = [&](llvm::Value* begin, llvm::Value* end, const Carried& carried) {
      return codegen::EmitLoop(k_.context(), "keys", begin, end, tile_.keys, carried, strip);
    };
    if (!mask_.has_value()) {
      HILO_ASSIGN_OR_RETURN(const Carried sums, strips(Int(0), Int(keys_), Pack(Start())));
      return StoreResults(StateOf(sums));
    }
    // First the strips with keys that the mask leaves to some row of the block, then the others if they count.
    llvm::Value* visible = VisibleEnd();
    const auto part = [&](llvm::Value* number, const Carried& carried) -> absl::StatusOr<Carried> {
      llvm::Value* is_first = b_.CreateICmpEQ(number, Int(0));
      HILO_ASSIGN_OR_RETURN(llvm::Value * count, MaskedKeysCount(StateOf(carried)));
      llvm::Value* rest = b_.CreateSelect(count, Int(keys_), visible);
      return strips(b_.CreateSelect(is_first, Int(0), visible), b_.CreateSelect(is_first, visible, rest), carried);
    };
    HILO_ASSIGN_OR_RETURN(const Carried sums,
                          codegen::EmitLoop(k_.context(), "parts", Int(0), Int(2), 1, Pack(Start()), part));
    return StoreResults(StateOf(sums));
  }

 private:
  using Fragment = std::array<llvm::Value*, kOwn>;
  using OwnRows = std::array<llvm::Value*, kOwnRows>;

  // What is known of the lane's rows.
  struct RowState {
    OwnRows maximum, sum;        // of the logits; of the lane's exponentials
    std::vector<Fragment> sums;  // of values
  };

  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  llvm::Value* Plus(llvm::Value* x, int64_t y) { return b_.CreateAdd(x, Int(y), "", true, true); }
  llvm::Value* Float(double value) { return llvm::ConstantFP::get(b_.getFloatTy(), value); }
  int64_t padded_depth() const { return CeilDiv(depth_, core_.step()) * core_.step(); }
  int64_t padded_features() const { return CeilDiv(features_, kRows) * kRows; }
  StripLoader::ToCells ToCells() {
    return [this](const ElementValue& element) { return core_.ToCells(element); };
  }

  // Computes the batch and the rows of the thread, and all indices of logits and results but those of keys and
  // features.
  void ComputeIndices() {
    const int64_t tiles = CeilDiv(rows_, tile_.rows);
    batch_ = b_.CreateUDiv(k_.Block(), Int(tiles));
    llvm::Value* tile = b_.CreateURem(k_.Block(), Int(tiles));
    // With a mask the last rows have the most keys: they begin first.
    if (mask_.has_value()) tile = b_.CreateSub(Int(tiles - 1), tile, "", true, true);
    first_row_ = b_.CreateMul(tile, Int(tile_.rows), "", true, true);
    llvm::Value* warp = b_.CreateUDiv(k_.Thread(), Int(kWarp));
    llvm::Value* own = b_.CreateAdd(first_row_, b_.CreateMul(warp, Int(kRows), "", true, true), "", true, true);
    const std::vector<LaneIndex> batches = k_.Delinearize(batch_, sides_.queries.batch_sizes);
    for (int64_t i = 0; i < kOwnRows; ++i) {
      llvm::Value* row = Plus(b_.CreateAdd(own, core_.row(), "", true, true), i * kRows / kOwnRows);
      has_row_[i] = nullptr;
      if (rows_ % tile_.rows != 0) {
        has_row_[i] = b_.CreateICmpULT(row, Int(rows_));
        row = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::umin, row, Int(rows_ - 1));
      }
      row_[i] = row;
      const std::vector<LaneIndex> rows = k_.Delinearize(row, sides_.queries.free_sizes);
      logit_[i].assign(attention_.logits->shape().rank(), LaneIndex());
      size_t next = 0;
      const auto set = [&](const std::vector<LaneIndex>& indices) {
        for (const LaneIndex& index : indices) {
          const int64_t d = attention_.score_dimensions[next++];
          if (d >= 0) logit_[i][d] = index;
        }
      };
      const size_t keys = sides_.keys.free.size();
      set(batches);
      if (attention_.keys_operand == 0) next += keys;
      set(rows);
    }
    // The product may have the batches in another order.
    product_batch_ = Int(0);
    for (size_t i = 0; i < sides_.weights.batch.size(); ++i) {
      llvm::Value* index = InWeights(0, sides_.weights.batch[i]).Value(k_.context());
      product_batch_ = b_.CreateAdd(b_.CreateMul(product_batch_, Int(sides_.weights.batch_sizes[i]), "", true, true),
                                    index, "", true, true);
    }
  }

  // The rows of a block that ends at some index of the mask's dimension end there too if that is the outermost.
  std::optional<CausalMask> MaskOf(const Attention& attention) const {
    const std::optional<CausalMask> mask = CausalMaskOf(attention);
    if (!mask.has_value()) return std::nullopt;
    const size_t first = sides_.queries.batch.size() + (attention.keys_operand == 0 ? sides_.keys.free.size() : 0);
    for (size_t i = 0; i < sides_.queries.free.size(); ++i) {
      if (attention.score_dimensions[first + i] == mask->row_dimension) return mask;
      if (sides_.queries.free_sizes[i] != 1) return std::nullopt;
    }
    return std::nullopt;
  }

  // Returns the end of the strips that have keys which the mask leaves to the block.
  llvm::Value* VisibleEnd() {
    const int64_t inner = rows_ / attention_.logits->shape().dimensions(mask_->row_dimension);
    llvm::Value* last =
        codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::umin, Plus(first_row_, tile_.rows - 1), Int(rows_ - 1));
    llvm::Value* keys = Plus(b_.CreateUDiv(last, Int(inner)), mask_->offset + 1);
    keys = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::smax, keys, Int(0));
    keys = b_.CreateMul(b_.CreateUDiv(Plus(keys, tile_.keys - 1), Int(tile_.keys)), Int(tile_.keys), "", true, true);
    return codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::smin, keys, Int(keys_));
  }

  // Returns whether the exponentials of masked logits are more than 0 in some row of the block.
  absl::StatusOr<llvm::Value*> MaskedKeysCount(const RowState& state) {
    llvm::Value* least = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::minnum, state.maximum[0], state.maximum[1]);
    for (int lanes = kRowLanes; lanes < kWarp; lanes *= 2)
      least = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::minnum, least, k_.ShuffleAcross(least, lanes));
    const int64_t warps = tile_.threads / kWarp;
    llvm::Value* of_warps = k_.Shared(b_.getFloatTy(), warps, "maxima");
    HILO_RETURN_IF_ERROR(k_.If("lane", b_.CreateICmpEQ(core_.lane(), Int(0)), [&]() -> absl::Status {
      k_.StoreCell(of_warps, b_.CreateUDiv(k_.Thread(), Int(kWarp)), least);
      return absl::OkStatus();
    }));
    k_.Barrier();
    llvm::Value* counts = b_.getFalse();
    for (int64_t i = 0; i < warps; ++i) {
      llvm::Value* maximum = k_.LoadCell(of_warps, Int(i), b_.getFloatTy());
      counts = b_.CreateOr(counts, b_.CreateFCmpULT(maximum, Float(mask_->masked_value + kLeastDistance)));
    }
    k_.Barrier();
    return counts;
  }

  llvm::Value* Word(const ElementValue& low, const ElementValue& high) {
    llvm::Value* cells[] = {core_.ToCells(low)[0], core_.ToCells(high)[0]};
    llvm::Value* pair = llvm::PoisonValue::get(llvm::FixedVectorType::get(cells[0]->getType(), 2));
    for (uint64_t i = 0; i < 2; ++i) pair = b_.CreateInsertElement(pair, cells[i], i);
    return b_.CreateBitCast(pair, b_.getInt32Ty());
  }

  // Fragments of the left side: for each half of the depth the lane's two rows.
  absl::Status LoadQueries() {
    const ProductSide queries = ProductSideOf(k_, sides_.queries);
    for (int64_t depth = 0; depth < padded_depth(); depth += core_.step() / 2) {
      for (llvm::Value* row : row_) {
        if (depth >= depth_) {
          queries_.push_back(b_.getInt32(0));
          continue;
        }
        llvm::Value* at = Plus(core_.column(), depth);
        Elements pair;
        if (queries.depth_is_minor) {
          HILO_ASSIGN_OR_RETURN(pair, queries.elements(batch_, row, at, 2));
        } else {
          for (int64_t i = 0; i < 2; ++i) {
            HILO_ASSIGN_OR_RETURN(const Elements one, queries.elements(batch_, row, Plus(at, i), 1));
            pair.push_back(one[0]);
          }
        }
        queries_.push_back(Word(pair[0], pair[1]));
      }
    }
    return absl::OkStatus();
  }

  // Returns the logits of the strip's keys, which begin at `first`, as f32.
  absl::StatusOr<std::vector<Fragment>> Logits(const Strip& keys, llvm::Value* first) {
    std::vector<Fragment> fragments(tile_.keys / kColumns, {Float(0), Float(0), Float(0), Float(0)});
    for (int64_t depth = 0; depth < padded_depth(); depth += core_.step()) {
      const auto queries = absl::MakeSpan(queries_).subspan(depth / (core_.step() / 2) * kOwnRows, 2 * kOwnRows);
      for (size_t j = 0; j < fragments.size(); j += 2) {
        const Carried both = core_.Load(keys, Int(0), static_cast<int64_t>(j) * kColumns, depth, /*depth_first=*/true);
        core_.Multiply(queries, absl::MakeSpan(both).first(2), fragments[j].data());
        core_.Multiply(queries, absl::MakeSpan(both).last(2), fragments[j + 1].data());
      }
    }
    const PrimitiveType score_type = attention_.scores->shape().element_type(),
                        logit_type = attention_.logits->shape().element_type();
    llvm::Value* own = b_.CreateAdd(first, core_.column(), "", true, true);
    const bool whole = keys_ % tile_.keys == 0;
    const LaneIndex base = LaneIndex::Uniform(own, 2, keys_);
    for (size_t j = 0; j < fragments.size(); ++j) {
      for (int64_t i = 0; i < kOwn; ++i) {
        const int64_t offset = static_cast<int64_t>(j) * kColumns + i % 2;
        llvm::Value* is_key = whole ? nullptr : b_.CreateICmpULT(Plus(own, offset), Int(keys_));
        std::vector<LaneIndex> at = logit_[i / 2];
        at[attention_.key_dimension] =
            whole ? base.AddConstant(offset).WithRange({0, keys_ - 1})
                  : LaneIndex::Uniform(
                        codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::umin, Plus(own, offset), Int(keys_ - 1)), 1,
                        keys_);
        k_.SetValue(attention_.scores, codegen::EmitConvert(k_.context(), F32, score_type, {fragments[j][i]}));
        HILO_ASSIGN_OR_RETURN(const ElementValue logit,
                              k_.elements().Generate(attention_.logits, Index(std::move(at))));
        llvm::Value* value = codegen::EmitConvert(k_.context(), logit_type, F32, logit).re;
        fragments[j][i] =
            is_key == nullptr ? value : b_.CreateSelect(is_key, value, Float(-std::numeric_limits<double>::infinity()));
      }
    }
    return fragments;
  }

  llvm::Value* Exp2(llvm::Value* x) {
    return b_.CreateIntrinsic(b_.getFloatTy(), llvm::Intrinsic::nvvm_ex2_approx_f, {x});
  }

  // Returns the exponentials of logits relative to the rows' maxima, and adds them to the sums, once those are relative
  // to the new maxima. A row of -inf alone so far has exponentials of 0.
  std::vector<Fragment> Exponentials(const std::vector<Fragment>& logits, RowState* state) {
    std::vector<Fragment> exponentials(logits.size());
    for (int64_t r = 0; r < kOwnRows; ++r) {
      llvm::Value* maximum = state->maximum[r];
      for (const Fragment& fragment : logits) {
        for (int64_t i = 2 * r; i < 2 * r + 2; ++i)
          maximum = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::maxnum, maximum, fragment[i]);
      }
      for (int lanes = 1; lanes < kRowLanes; lanes *= 2)
        maximum = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::maxnum, maximum, k_.ShuffleAcross(maximum, lanes));
      llvm::Value* lowest = Float(-std::numeric_limits<double>::infinity());
      llvm::Value* from = b_.CreateSelect(b_.CreateFCmpOEQ(maximum, lowest), Float(0), maximum);
      const auto relative = [&](llvm::Value* x) {
        return Exp2(b_.CreateFMul(b_.CreateFSub(x, from), Float(kLog2OfE)));
      };
      llvm::Value* scale = relative(state->maximum[r]);
      llvm::Value* sum = b_.CreateFMul(state->sum[r], scale);
      for (size_t j = 0; j < logits.size(); ++j) {
        for (int64_t i = 2 * r; i < 2 * r + 2; ++i) {
          exponentials[j][i] = relative(logits[j][i]);
          sum = b_.CreateFAdd(sum, exponentials[j][i]);
        }
      }
      for (Fragment& fragment : state->sums) {
        for (int64_t i = 2 * r; i < 2 * r + 2; ++i) fragment[i] = b_.CreateFMul(fragment[i], scale);
      }
      state->maximum[r] = maximum;
      state->sum[r] = sum;
    }
    return exponentials;
  }

  void AddValues(const Strip& values, const std::vector<Fragment>& exponentials, RowState* state) {
    for (size_t j = 0; j < exponentials.size(); j += 2) {
      Carried weights;
      for (const Fragment* fragment : {&exponentials[j], &exponentials[j + 1]}) {
        for (int64_t i = 0; i < kOwn; i += 2)
          weights.push_back(Word(Rounded((*fragment)[i]), Rounded((*fragment)[i + 1])));
      }
      for (int64_t n = 0; n < padded_features(); n += 2 * kColumns) {
        const Carried both = core_.Load(values, Int(0), n, static_cast<int64_t>(j) * kColumns, /*depth_first=*/true);
        core_.Multiply(weights, absl::MakeSpan(both).first(2), state->sums[n / kColumns].data());
        core_.Multiply(weights, absl::MakeSpan(both).last(2), state->sums[n / kColumns + 1].data());
      }
    }
  }

  ElementValue Rounded(llvm::Value* x) { return codegen::EmitConvert(k_.context(), F32, type_, {x}); }

  absl::Status StoreResults(const RowState& state) {
    const HloInstruction* product = attention_.product;
    for (int64_t r = 0; r < kOwnRows; ++r) {
      llvm::Value* sum = state.sum[r];
      for (int lanes = 1; lanes < kRowLanes; lanes *= 2) sum = b_.CreateFAdd(sum, k_.ShuffleAcross(sum, lanes));
      llvm::Value* inverse = b_.CreateFDiv(Float(1), sum);
      std::vector<LaneIndex> batches, rows;
      for (int64_t d : sides_.weights.batch) batches.push_back(InWeights(r, d));
      for (int64_t d : sides_.weights.free) rows.push_back(InWeights(r, d));
      const auto store = [&]() -> absl::Status {
        for (int64_t n = 0; n < features_; n += kColumns) {
          const auto features = k_.Adjacent(Plus(core_.column(), n), sides_.values.free_sizes, 2);
          for (int64_t i = 0; i < 2; ++i) {
            std::vector<LaneIndex> at = batches;
            const auto add = [&](const std::vector<LaneIndex>& more) { at.insert(at.end(), more.begin(), more.end()); };
            if (attention_.weights_operand == 0) add(rows);
            add(features[i]);
            if (attention_.weights_operand == 1) add(rows);
            llvm::Value* result = b_.CreateFMul(state.sums[n / kColumns][2 * r + i], inverse);
            k_.SetValue(product, codegen::EmitConvert(k_.context(), F32, product->shape().element_type(), {result}));
            const Index index(InResult(std::move(at)));
            HILO_RETURN_IF_ERROR(EmitElements(k_, results_, {&index, 1}));
          }
        }
        return absl::OkStatus();
      };
      HILO_RETURN_IF_ERROR(has_row_[r] == nullptr ? store() : k_.If("row", has_row_[r], store));
    }
    return absl::OkStatus();
  }

  // Returns the index of own row `r` in a dimension of the weights.
  LaneIndex InWeights(int64_t r, int64_t dimension) const {
    const int64_t d = attention_.weight_dimensions[dimension];
    return d < 0 ? LaneIndex() : logit_[r][d];
  }

  // Returns the index in the result of an element of the product.
  std::vector<LaneIndex> InResult(std::vector<LaneIndex> in_product) const {
    if (attention_.result == attention_.product) return in_product;
    std::vector<LaneIndex> at;
    for (int64_t d : attention_.result->attrs<TransposeAttrs>().dimensions) at.push_back(in_product[d]);
    return at;
  }

  RowState Start() {
    RowState state;
    state.maximum.fill(Float(-std::numeric_limits<double>::infinity()));
    state.sum.fill(Float(0));
    state.sums.assign(padded_features() / kColumns, {Float(0), Float(0), Float(0), Float(0)});
    return state;
  }

  static Carried Pack(const RowState& state) {
    Carried carried(state.maximum.begin(), state.maximum.end());
    carried.insert(carried.end(), state.sum.begin(), state.sum.end());
    for (const Fragment& fragment : state.sums) carried.insert(carried.end(), fragment.begin(), fragment.end());
    return carried;
  }

  static RowState StateOf(const Carried& carried) {
    RowState state;
    const auto* next = carried.data();
    const auto take = [&](auto* values) {
      std::copy_n(next, values->size(), values->begin());
      next += values->size();
    };
    take(&state.maximum);
    take(&state.sum);
    state.sums.resize((carried.size() - 2 * kOwnRows) / kOwn);
    for (Fragment& fragment : state.sums) take(&fragment);
    return state;
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const Attention& attention_;
  const AttentionTile tile_;
  const LoopResults results_;
  const AttentionSides sides_;
  const PrimitiveType type_;
  TensorCore core_;
  const int64_t rows_, keys_, depth_, features_;
  const std::optional<CausalMask> mask_;
  llvm::Value *batch_ = nullptr, *product_batch_ = nullptr, *first_row_ = nullptr;  // of the block
  OwnRows row_, has_row_;                                                           // null: always
  std::array<std::vector<LaneIndex>, kOwnRows> logit_;  // indices of the lane's rows, with 0 for the key
  Carried queries_;
};

}  // namespace

absl::Status EmitAttention(ProgramEmitter& program, const HloInstruction* instruction) {
  const std::optional<Attention> attention = AttentionOf(*instruction);
  if (!attention.has_value()) return EmitScoreGrid(program, instruction);
  KernelEmitter k(&program, instruction);
  AttentionKernel kernel(k, instruction, *attention);
  HILO_RETURN_IF_ERROR(kernel.Emit());
  return k.FinishAndLaunch(instruction, kernel.blocks(),
                           static_cast<int>(AttentionTile::Of(*instruction->kernel()).threads));
}

}  // namespace hilo::gpu
