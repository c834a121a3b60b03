// Attention (hlo/analysis/attention.h) in one kernel, whose arrays of the size of the logits are never in memory.
//
// A block has some rows of queries, sixteen for each warp, and goes through the keys a strip at a time. Tensor cores
// multiply queries by keys; of each score, the lane that has it computes the logit, by whatever instructions lead
// there. A row's results are sums of exponentials times values, divided at the end by the sum of the exponentials.
// These are relative to the row's maximum so far: as it grows, both sums are scaled. A sink is added at the end. A row
// is spread over four lanes. Exponentials go from the fragments of results of the first product to those of the left
// side of the second without leaving the lane, rounded to the type of the values.
//
// With few rows, blocks share the keys: each has some rows and a part of the keys, and stores what is known of the rows
// then; another launch merges the parts (attention_parts.cc).
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "backends/gpu/emitters/attention/attention_gradient_emitter.h"
#include "backends/gpu/emitters/attention/attention_rows.h"
#include "backends/gpu/emitters/attention/score_kernel.h"
#include "backends/gpu/emitters/attention/strip_range.h"
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/products/dot_operand.h"
#include "backends/gpu/emitters/program_emitter.h"
#include "backends/gpu/match/attention_tile.h"
#include "backends/gpu/match/operands.h"
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

// Features with which the bounds of what a mask by position leaves fit into registers too, if these do not hold what is
// loaded of a strip: with 256 some are spilled.
constexpr int64_t kMaxMasked = 128;

// Returns the hyperbolic tangents, operands first, that the logits are element-wise functions of and that the machine
// may compute, as of a soft cap.
std::vector<const HloInstruction*> TangentsOf(const Attention& attention) {
  absl::flat_hash_set<const HloInstruction*> seen;
  std::vector<const HloInstruction*> work = {attention.logits}, tangents;
  while (!work.empty()) {
    const HloInstruction* member = work.back();
    work.pop_back();
    if (!IsElementwise(member->opcode()) || !absl::c_linear_search(attention.members, member) ||
        !seen.insert(member).second)
      continue;
    work.insert(work.end(), member->operands().begin(), member->operands().end());
  }
  for (const HloInstruction* member : attention.members) {
    if (member->opcode() == HloOpcode::kTanh && seen.contains(member) && member->shape().element_type() != F64)
      tangents.push_back(member);
  }
  return tangents;
}

class AttentionKernel : AttentionRows {
 public:
  // `partial`: of parts of the keys; null if there is one.
  AttentionKernel(KernelEmitter& k, const HloInstruction* instruction, const Attention& attention,
                  const PartialRows* partial)
      : AttentionRows(k, instruction, attention),
        partial_(partial),
        mask_(MaskOf(attention, *instruction->kernel())),
        position_(partial == nullptr || !tile_.copies_strips || features_ > kMaxMasked ? std::nullopt
                                                                                       : PositionMaskOf(attention)),
        tangents_(type_ == F32 ? std::vector<const HloInstruction*>() : TangentsOf(attention)) {}

  int64_t blocks() const { return batches() * CeilDiv(rows_, tile_.rows) * parts_; }

  absl::Status Emit() {
    ComputeIndices();
    const ProductSide queries = ProductSideOf(k_, sides_.queries), keys = CopiedSideOf(sides_.keys, tile_.key_group),
                      values = CopiedSideOf(sides_.values, tile_.value_group);
    HILO_RETURN_IF_ERROR(tile_.shares_queries() ? ShareQueries(queries) : LoadQueries(queries));
    StripLoader key_strip(k_, keys, multiplier_.LayoutOf(tile_.keys, padded_depth(), keys.depth_is_minor),
                          multiplier_.ToCells(),
                          {.threads = tile_.threads,
                           .positions = tile_.keys,
                           .strip = padded_depth(),
                           .depth = depth_,
                           .group = tile_.key_group,
                           .strips = tile_.copies_strips ? 2 : 1},
                          "keys");
    StripLoader value_strip(k_, values, multiplier_.LayoutOf(padded_features(), tile_.keys, values.depth_is_minor),
                            multiplier_.ToCells(),
                            {.threads = tile_.threads,
                             .positions = padded_features(),
                             .strip = tile_.keys,
                             .depth = keys_,
                             .group = tile_.value_group,
                             .strips = tile_.copies_strips ? 2 : 1},
                            "values");
    // Adds strip number `number` in shared memory, whose keys begin at `first`.
    const auto add = [&](llvm::Value* first, llvm::Value* number, const Carried& carried) -> absl::StatusOr<Carried> {
      Sums state = Start().Unpack(carried);
      HILO_ASSIGN_OR_RETURN(const std::vector<Fragment> logits, Logits(key_strip.StripOf(number), first));
      const std::vector<Fragment> exponentials = Exponentials(logits, &state);
      AddValues(value_strip.StripOf(number), exponentials, &state);
      return state.Pack();
    };
    const auto load = [&](llvm::Value* first, const Carried& carried) -> absl::StatusOr<Carried> {
      HILO_ASSIGN_OR_RETURN(const Carried of_keys, key_strip.Load(batch_, first, Int(0)));
      HILO_ASSIGN_OR_RETURN(const Carried of_values, value_strip.Load(product_batch_, Int(0), first));
      k_.Barrier();
      key_strip.Store(of_keys, Int(0));
      value_strip.Store(of_values, Int(0));
      k_.Barrier();
      return add(first, Int(0), carried);
    };
    const auto copy = [&](llvm::Value* first, llvm::Value* number) -> absl::Status {
      HILO_RETURN_IF_ERROR(key_strip.StartCopies(batch_, first, Int(0), number));
      return value_strip.StartCopies(product_batch_, Int(0), first, number);
    };
    const auto strips = [&](llvm::Value* begin, llvm::Value* end, const Carried& carried) {
      return tile_.copies_strips ? ForEachCopied(begin, end, tile_.keys, carried, copy, add)
                                 : codegen::EmitLoop(k_.context(), "keys", begin, end, tile_.keys, carried, load);
    };
    if (partial_ != nullptr) {
      const int64_t keys = AttentionTile::PartKeys(keys_, parts_, tile_.keys);
      llvm::Value *first = Times(part_, keys), *end = AtMost(Plus(first, keys), keys_);
      HILO_ASSIGN_OR_RETURN(const Carried sums, position_.has_value()
                                                    ? VisibleStrips(first, end, key_strip.StripOf(Int(0)), strips)
                                                    : strips(first, end, Start().Pack()));
      return StorePart(Start().Unpack(sums));
    }
    if (!mask_.has_value()) {
      HILO_ASSIGN_OR_RETURN(const Carried sums, strips(Int(0), Int(keys_), Start().Pack()));
      return StoreResults(Start().Unpack(sums));
    }
    // First the strips with keys that the mask leaves to some row of the block, then the others if they count.
    const int64_t inner = rows_ / attention_.logits->shape().dimensions(mask_->row_dimension);
    llvm::Value* visible =
        VisibleEnd(k_, *mask_, AtMost(Plus(first_line_, tile_.rows - 1), rows_ - 1), inner, tile_.keys, keys_);
    const bool has_window = mask_->first.has_value();
    llvm::Value* first = has_window ? VisibleBegin(k_, *mask_, first_line_, inner, tile_.keys, visible) : Int(0);
    llvm::Value* scratch = key_strip.StripOf(Int(0)).cells[0];
    const auto part = [&](llvm::Value* number, const Carried& carried) -> absl::StatusOr<Carried> {
      llvm::Value* is_first = b_.CreateICmpEQ(number, Int(0));
      const OwnLines maxima = Start().Unpack(carried).lines[kMaximum];
      llvm::Value* least = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::minimum, maxima[0], maxima[1]);
      k_.Barrier();  // after the last strip
      HILO_ASSIGN_OR_RETURN(llvm::Value * hidden, AreHidden(k_, *mask_, least, scratch, tile_.threads));
      llvm::Value* rest = b_.CreateSelect(hidden, visible, Int(keys_));
      llvm::Value *begin = b_.CreateSelect(is_first, first, visible), *end = b_.CreateSelect(is_first, visible, rest);
      if (has_window) {  // the last part are the strips before it
        llvm::Value* is_last = b_.CreateICmpEQ(number, Int(2));
        begin = b_.CreateSelect(is_last, Int(0), begin);
        end = b_.CreateSelect(is_last, b_.CreateSelect(hidden, Int(0), first), end);
      }
      return strips(begin, end, carried);
    };
    HILO_ASSIGN_OR_RETURN(const Carried sums, codegen::EmitLoop(k_.context(), "parts", Int(0), Int(has_window ? 3 : 2),
                                                                1, Start().Pack(), part));
    return StoreResults(Start().Unpack(sums));
  }

 private:
  // What is known of the lane's rows: the maximum of the logits, and the sum of the lane's exponentials.
  enum { kMaximum, kSum };

  // Returns the side of keys or values, with addresses if strips are copied.
  ProductSide CopiedSideOf(const DotSide& side, int64_t group) {
    return ProductSideOf(k_, side, tile_.copies_strips ? ArrayOfLines(side.operand, &instruction_, group) : nullptr);
  }

  // Computes the part, the batch and the rows of the thread, and all indices of logits and results but those of keys
  // and features.
  void ComputeIndices() {
    part_ = b_.CreateURem(k_.Block(), Int(parts_));
    // With a causal mask the last rows have the most keys: they begin first.
    SetLines(b_.CreateUDiv(k_.Block(), Int(parts_)), rows_, tile_.rows,
             /*last_first=*/mask_.has_value() && !mask_->first.has_value());
    for (int64_t i = 0; i < kOwnLines; ++i) logit_[i] = LogitsOf(batch_, line_[i]);
    // The product may have the batches in another order.
    product_batch_ = Int(0);
    for (size_t i = 0; i < sides_.weights.batch.size(); ++i) {
      llvm::Value* index = InWeights(logit_[0], sides_.weights.batch[i]).Value(k_.context());
      product_batch_ = b_.CreateAdd(b_.CreateMul(product_batch_, Int(sides_.weights.batch_sizes[i]), "", true, true),
                                    index, "", true, true);
    }
  }

  // Loads the factors of the queries, one piece of the depth after the other.
  absl::Status LoadQueries(const ProductSide& queries) {
    for (int64_t depth = 0; depth < padded_depth(); depth += kPiece) {
      ScoreMultiplier::Piece piece;
      for (int64_t half = 0; half < 2; ++half) {
        for (int64_t line = 0; line < kOwnLines; ++line) {
          HILO_ASSIGN_OR_RETURN(const Elements pair, QueryPair(queries, line_[line], depth + half * kColumns));
          for (int64_t i = 0; i < 2; ++i) piece[half][2 * line + i] = pair[i];
        }
      }
      queries_.push_back(multiplier_.FactorsOf(piece));
    }
    return absl::OkStatus();
  }

  // Returns the lane's two elements of a row from `depth` on: 0 beyond the depth.
  absl::StatusOr<Elements> QueryPair(const ProductSide& queries, llvm::Value* row, int64_t depth) {
    const bool are_inside = depth + kColumns <= depth_;
    llvm::Value* at = Plus(multiplier_.column(), depth);
    if (are_inside && queries.depth_is_minor && sides_.queries.contracting_sizes.back() % 2 == 0)
      return queries.elements(batch_, row, at, 2);
    const ElementValue zero = As(type_, Float(0));
    Elements pair;
    for (int64_t i = 0; i < 2; ++i) {
      if (depth + i >= depth_) {
        pair.push_back(zero);
        continue;
      }
      llvm::Value* own = Plus(at, i);
      HILO_ASSIGN_OR_RETURN(Elements one, queries.elements(batch_, row, AtMost(own, depth_ - 1), 1));
      if (!are_inside) one[0].re = b_.CreateSelect(b_.CreateICmpULT(own, Int(depth_)), one[0].re, zero.re);
      pair.push_back(one[0]);
    }
    return pair;
  }

  // Loads the block's queries into shared memory.
  absl::Status ShareQueries(const ProductSide& queries) {
    StripLoader loader(k_, queries, multiplier_.LayoutOf(tile_.rows, padded_depth(), /*depth_is_minor=*/true),
                       multiplier_.ToCells(),
                       {.threads = tile_.threads,
                        .positions = tile_.rows,
                        .strip = padded_depth(),
                        .depth = depth_,
                        .group = tile_.query_group},
                       "queries");
    HILO_ASSIGN_OR_RETURN(const Carried loaded, loader.Load(batch_, first_line_, Int(0)));
    loader.Store(loaded, Int(0));
    shared_queries_ = loader.StripOf(Int(0));
    return absl::OkStatus();
  }

  // Returns the logits of the strip's keys, which begin at `first`, as f32.
  absl::StatusOr<std::vector<Fragment>> Logits(const Strip& keys, llvm::Value* first) {
    std::vector<Fragment> fragments(tile_.keys / kColumns, Zeros());
    for (int64_t depth = 0; depth < padded_depth(); depth += kPiece) {
      const Carried queries =
          tile_.shares_queries() ? multiplier_.Load(shared_queries_, first_in_block_, depth) : queries_[depth / kPiece];
      for (size_t j = 0; j < fragments.size(); j += 2)
        multiplier_.Multiply({&queries, 1}, keys, static_cast<int64_t>(j) * kColumns, depth, &fragments[j]);
      Fence();
    }
    const PrimitiveType score_type = attention_.scores->shape().element_type(),
                        logit_type = attention_.logits->shape().element_type();
    llvm::Value* own = Plus(first, multiplier_.column());
    const bool whole = keys_ % tile_.keys == 0;
    const LaneIndex base = LaneIndex::Uniform(own, 2, keys_);
    for (size_t j = 0; j < fragments.size(); ++j) {
      for (int64_t i = 0; i < kOwn; ++i) {
        const int64_t offset = static_cast<int64_t>(j) * kColumns + i % 2;
        llvm::Value* is_key = whole ? nullptr : b_.CreateICmpULT(Plus(own, offset), Int(keys_));
        std::vector<LaneIndex> at = logit_[i / 2];
        at[attention_.key_dimension] = whole ? base.AddConstant(offset).WithRange({0, keys_ - 1})
                                             : LaneIndex::Uniform(AtMost(Plus(own, offset), keys_ - 1), 1, keys_);
        k_.SetValue(attention_.scores, As(score_type, fragments[j][i]));
        for (const HloInstruction* tangent : tangents_) {
          HILO_ASSIGN_OR_RETURN(const ElementValue x, k_.elements().Generate(tangent->operand(0), Index(at)));
          const PrimitiveType type = tangent->shape().element_type();
          k_.SetValue(tangent, As(type, Tanh(AsF32(type, x))));
        }
        HILO_ASSIGN_OR_RETURN(const ElementValue logit,
                              k_.elements().Generate(attention_.logits, Index(std::move(at))));
        llvm::Value* value = AsF32(logit_type, logit);
        fragments[j][i] =
            is_key == nullptr ? value : b_.CreateSelect(is_key, value, Float(-std::numeric_limits<double>::infinity()));
      }
    }
    return fragments;
  }

  // Ends a piece of the products: the assembler for sm_80 would read factors of later pieces into registers that lanes
  // which multiply do not have.
  void Fence() {
    if (multiplier_.by_threads()) k_.WarpBarrier();
  }

  // Returns the exponentials of logits relative to the rows' maxima, and adds them to the sums, once those are relative
  // to the new maxima. A row of -inf alone so far has exponentials of 0.
  std::vector<Fragment> Exponentials(const std::vector<Fragment>& logits, Sums* state) {
    const auto larger = [&](llvm::Value* x, llvm::Value* y) {
      return codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::maxnum, x, y);
    };
    std::vector<Fragment> exponentials(logits.size());
    for (int64_t r = 0; r < kOwnLines; ++r) {
      llvm::Value* maximum = state->lines[kMaximum][r];
      for (const Fragment& fragment : logits) {
        for (int64_t i = 2 * r; i < 2 * r + 2; ++i) maximum = larger(maximum, fragment[i]);
      }
      maximum = AcrossLine(maximum, larger);
      llvm::Value* lowest = Float(-std::numeric_limits<double>::infinity());
      llvm::Value* from = b_.CreateSelect(b_.CreateFCmpOEQ(maximum, lowest), Float(0), maximum);
      const auto relative = [&](llvm::Value* x) { return Exponential(b_.CreateFSub(x, from)); };
      llvm::Value* scale = relative(state->lines[kMaximum][r]);
      llvm::Value* sum = b_.CreateFMul(state->lines[kSum][r], scale);
      for (size_t j = 0; j < logits.size(); ++j) {
        for (int64_t i = 2 * r; i < 2 * r + 2; ++i) {
          exponentials[j][i] = relative(logits[j][i]);
          sum = b_.CreateFAdd(sum, exponentials[j][i]);
        }
      }
      for (Fragment& fragment : state->products[0]) {
        for (int64_t i = 2 * r; i < 2 * r + 2; ++i) fragment[i] = b_.CreateFMul(fragment[i], scale);
      }
      state->lines[kMaximum][r] = maximum;
      state->lines[kSum][r] = sum;
    }
    return exponentials;
  }

  void AddValues(const Strip& values, const std::vector<Fragment>& exponentials, Sums* state) {
    for (size_t j = 0; j < exponentials.size(); j += 2) {
      const Carried weights = Rounded(absl::MakeSpan(exponentials).subspan(j, 2));
      for (int64_t n = 0; n < padded_features(); n += kPiece)
        multiplier_.Multiply({&weights, 1}, values, n, static_cast<int64_t>(j) * kColumns,
                             &state->products[0][n / kColumns]);
      Fence();
    }
  }

  // Emits the strips from `begin` to `end` with keys that the mask by position leaves, then the others if they count:
  // unless the maxima of all rows are so large that exponentials of hidden logits are 0. Where all are hidden, the
  // maxima are those of the first strip of all keys, of which nothing is added.
  absl::StatusOr<Carried> VisibleStrips(
      llvm::Value* begin, llvm::Value* end, const Strip& scratch,
      absl::FunctionRef<absl::StatusOr<Carried>(llvm::Value*, llvm::Value*, const Carried&)> strips) {
    HILO_ASSIGN_OR_RETURN(const ElementValue position,
                          k_.elements().Generate(position_->position, Index(std::vector<LaneIndex>())));
    llvm::Value* visible = Plus(b_.CreateSExt(position.re, b_.getInt64Ty()), position_->offset + tile_.keys);
    visible = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, visible, Int(0));
    visible = Times(b_.CreateUDiv(visible, Int(tile_.keys)), tile_.keys);  // keys of whole strips
    const auto at_least = [&](llvm::Value* x, llvm::Value* y) {
      return codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::umax, x, y);
    };
    llvm::Value* middle = at_least(begin, codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::umin, visible, end));
    llvm::Value* probe = b_.CreateSelect(b_.CreateICmpEQ(middle, begin), Int(tile_.keys), Int(0));
    const CausalMask mask{.masked_value = position_->masked_value};
    enum { kProbe, kVisible, kHidden, kParts };
    const auto part = [&](llvm::Value* number, const Carried& carried) -> absl::StatusOr<Carried> {
      llvm::Value *is_visible = b_.CreateICmpEQ(number, Int(kVisible)),
                  *is_hidden = b_.CreateICmpEQ(number, Int(kHidden));
      Sums state = Start().Unpack(carried);
      const OwnLines maxima = state.lines[kMaximum];
      k_.Barrier();  // after the last strip
      llvm::Value* least = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::minimum, maxima[0], maxima[1]);
      HILO_ASSIGN_OR_RETURN(llvm::Value * hidden, AreHidden(k_, mask, least, scratch.cells[0], tile_.threads));
      const Carried begins = Start().Pack();
      Carried now = carried;
      for (size_t i = kOwnLines; i < now.size(); ++i) now[i] = b_.CreateSelect(is_visible, begins[i], now[i]);
      llvm::Value *from = b_.CreateSelect(is_visible, begin, b_.CreateSelect(is_hidden, middle, Int(0))),
                  *rest = b_.CreateSelect(hidden, middle, end),
                  *to = b_.CreateSelect(is_visible, middle, b_.CreateSelect(is_hidden, rest, probe));
      return strips(from, to, now);
    };
    return codegen::EmitLoop(k_.context(), "parts", Int(0), Int(kParts), 1, Start().Pack(), part);
  }

  // Returns the sum of the exponentials of own row `r`.
  llvm::Value* SumOf(const Sums& state, int64_t r) {
    return AcrossLine(state.lines[kSum][r], [&](llvm::Value* x, llvm::Value* y) { return b_.CreateFAdd(x, y); });
  }

  absl::Status StoreResults(const Sums& state) {
    for (int64_t r = 0; r < kOwnLines; ++r) {
      llvm::Value* sum = SumOf(state, r);
      const auto store = [&]() -> absl::Status {
        HILO_ASSIGN_OR_RETURN(llvm::Value * inverse, FactorOf(state.lines[kMaximum][r], sum, logit_[r]));
        for (int64_t n = 0; n < features_; n += kColumns) {
          llvm::Value* first = Plus(multiplier_.column(), n);
          const bool are_pairs = n + kColumns <= features_ && sides_.values.free_sizes.back() % 2 == 0;
          const auto pair = k_.Adjacent(first, sides_.values.free_sizes, are_pairs ? 2 : 1);
          for (int64_t i = 0; i < 2; ++i) {
            llvm::Value* feature = Plus(first, i);
            const auto store_one = [&]() -> absl::Status {
              return StoreResult(logit_[r], are_pairs ? pair[i] : k_.Delinearize(feature, sides_.values.free_sizes),
                                 b_.CreateFMul(state.products[0][n / kColumns][2 * r + i], inverse));
            };
            HILO_RETURN_IF_ERROR(n + kColumns <= features_
                                     ? store_one()
                                     : k_.If("feature", b_.CreateICmpULT(feature, Int(features_)), store_one));
          }
        }
        return absl::OkStatus();
      };
      HILO_RETURN_IF_ERROR(IfLine(r, store));
    }
    return absl::OkStatus();
  }

  // Returns the factor of a row's results, which are relative to `maximum`, and so is the sum without the sink.
  absl::StatusOr<llvm::Value*> FactorOf(llvm::Value* maximum, llvm::Value* sum, const std::vector<LaneIndex>& logits) {
    if (attention_.sink == nullptr) return b_.CreateFDiv(Float(1), sum);
    HILO_ASSIGN_OR_RETURN(llvm::Value * sink, SinkOf(logits));
    llvm::Value* larger = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::maxnum, maximum, sink);
    llvm::Value* lowest = Float(-std::numeric_limits<double>::infinity());
    llvm::Value* from = b_.CreateSelect(b_.CreateFCmpOEQ(larger, lowest), Float(0), larger);
    llvm::Value *scale = Exponential(b_.CreateFSub(maximum, from)), *of_sink = Exponential(b_.CreateFSub(sink, from));
    return b_.CreateFDiv(scale, b_.CreateFAdd(b_.CreateFMul(sum, scale), of_sink));
  }

  // Stores what is known of the rows in one part of the keys.
  absl::Status StorePart(const Sums& state) {
    for (int64_t r = 0; r < kOwnLines; ++r) {
      llvm::Value *sum = SumOf(state, r), *row = Plus(Times(batch_, rows_), line_[r]);
      const auto store = [&]() -> absl::Status {
        for (int64_t n = 0; n < padded_features(); n += kColumns) {
          const Fragment& own = state.products[0][n / kColumns];
          partial_->StorePair(k_, row, part_, Plus(multiplier_.column(), n), own[2 * r], own[2 * r + 1]);
        }
        return k_.If("first", b_.CreateICmpEQ(multiplier_.column(), Int(0)), [&] {
          partial_->Store(k_, row, part_, state.lines[kMaximum][r], sum);
          return absl::OkStatus();
        });
      };
      HILO_RETURN_IF_ERROR(IfLine(r, store));
    }
    return absl::OkStatus();
  }

  Sums Start() {
    const auto both = [](llvm::Value* x) { return OwnLines{x, x}; };
    return {.lines = {both(Float(-std::numeric_limits<double>::infinity())), both(Float(0))},
            .products = {std::vector<Fragment>(padded_features() / kColumns, Zeros())}};
  }

  const PartialRows* partial_;
  const std::optional<CausalMask> mask_;
  const std::optional<PositionMask> position_;
  const std::vector<const HloInstruction*> tangents_;  // that the machine computes
  llvm::Value* part_ = nullptr;
  llvm::Value* product_batch_ = nullptr;
  std::array<std::vector<LaneIndex>, kOwnLines> logit_;  // indices of the lane's rows, with 0 for the key
  Strip shared_queries_;
  std::vector<Carried> queries_;  // by piece of the depth
};

}  // namespace

absl::Status EmitAttention(ProgramEmitter& program, const HloInstruction* instruction) {
  const std::optional<Attention> attention = AttentionOf(*instruction);
  if (!attention.has_value()) return EmitScoreGrid(program, instruction);
  const AttentionSides sides = SidesOf(*attention);
  const KernelConfig& config = *instruction->kernel();
  std::optional<PartialRows> partial;
  if (config.parts > 1) {
    partial.emplace(program, Product(sides.queries.batch_sizes) * Product(sides.queries.free_sizes), config.parts,
                    AttentionTile::PaddedFeatures(Product(sides.values.free_sizes)));
  }
  {
    KernelEmitter k(&program, instruction,
                    partial.has_value() ? partial->Arguments(/*written=*/true) : std::vector<KernelArgument>());
    AttentionKernel kernel(k, instruction, *attention, partial.has_value() ? &*partial : nullptr);
    HILO_RETURN_IF_ERROR(kernel.Emit());
    HILO_RETURN_IF_ERROR(
        k.FinishAndLaunch(instruction, kernel.blocks(), static_cast<int>(AttentionTile::Of(config).threads)));
  }
  return partial.has_value() ? EmitAttentionParts(program, instruction, *attention, *partial) : absl::OkStatus();
}

}  // namespace hilo::gpu
