// Select-and-scatter: for each window in order, a search for the chosen element and one update in place.
//
// Dimensions in which the window is one element wide and has stride 1 never overlap: they are the independent parts,
// and the minor-most dimension carries the lanes if it is one of them (channels, say). Every lane then selects its own
// position, and the update is a gather and a scatter whose lanes cannot conflict. In the other dimensions each window's
// bounds are clipped to the array before the search, which therefore needs no tests.
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/select_and_scatter.h"
#include "backends/cpu/kernels/sums.h"
#include "backends/llvm/elements/scalar_computation.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

struct SelectAndScatter {
  const HloInstruction* instruction;
  Shape operand, source;
  std::vector<Window::Dimension> window;
  std::vector<int64_t> parts, mixed;  // dimension numbers, ascending; the lanes' dimension is in neither
  std::vector<int64_t> part_sizes, mixed_sizes, mixed_source_sizes;
  bool lanes = false;  // along the minor-most dimension
  int width = 1;

  const HloComputation& select() const { return *instruction->called_computation(0); }
  const HloComputation& scatter() const { return *instruction->called_computation(1); }
  PrimitiveType type() const { return operand.element_type(); }
  int64_t row() const { return operand.dimensions(operand.rank() - 1); }
};

SelectAndScatter Describe(const HloInstruction* instruction, int width) {
  SelectAndScatter s{.instruction = instruction,
                     .operand = instruction->operand(0)->shape(),
                     .source = instruction->operand(1)->shape()};
  s.window = instruction->attrs<SelectAndScatterAttrs>().window.dimensions;
  const int64_t last = s.operand.rank() - 1;
  s.width = width;
  s.lanes = width > 1;
  for (int64_t d = 0; d < s.operand.rank(); ++d) {
    if (s.lanes && d == last) continue;
    if (IsTrivial(s.window[d])) {
      s.parts.push_back(d);
      s.part_sizes.push_back(s.operand.dimensions(d));
    } else {
      s.mixed.push_back(d);
      s.mixed_sizes.push_back(s.operand.dimensions(d));
      s.mixed_source_sizes.push_back(s.source.dimensions(d));
    }
  }
  return s;
}

// Returns the index in operand or source, given the indices of the parts' and the mixed dimensions, and the lanes'.
Index At(const SelectAndScatter& s, const std::vector<LaneIndex>& part, const std::vector<LaneIndex>& mixed,
         const LaneIndex& lane) {
  std::vector<LaneIndex> index(s.operand.rank());
  for (size_t i = 0; i < part.size(); ++i) index[s.parts[i]] = part[i];
  for (size_t i = 0; i < mixed.size(); ++i) index[s.mixed[i]] = mixed[i];
  if (s.lanes) index.back() = lane;
  return Index(std::move(index));
}

// Positions [low, high) of the window that are inside the array, in one dimension.
struct Bounds {
  llvm::Value *start, *low, *high;
};

Bounds BoundsOf(llvm::IRBuilder<>& b, const Window::Dimension& w, int64_t size, llvm::Value* out) {
  llvm::Value* start = b.CreateNSWSub(b.CreateNSWMul(out, b.getInt64(w.stride)), b.getInt64(w.padding_low));
  const int64_t last = (size - 1) * w.base_dilation;
  // ceil(-start / dilation) and floor((last - start) / dilation) + 1; numerators are made positive first.
  llvm::Value* before = b.CreateBinaryIntrinsic(
      llvm::Intrinsic::smax, b.CreateNSWSub(b.getInt64(w.window_dilation - 1), start), b.getInt64(0));
  llvm::Value* behind = b.CreateBinaryIntrinsic(
      llvm::Intrinsic::smax, b.CreateNSWSub(b.getInt64(last + w.window_dilation), start), b.getInt64(0));
  llvm::Value* high = b.CreateUDiv(behind, b.getInt64(w.window_dilation));
  return {start, b.CreateUDiv(before, b.getInt64(w.window_dilation)),
          b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, high, b.getInt64(w.size))};
}

class WindowEmitter {
 public:
  WindowEmitter(FunctionEmitter& f, const SelectAndScatter& s, const std::vector<LaneIndex>& part,
                const std::vector<LaneIndex>& out, const LaneIndex& lane)
      : f_(f), b_(f.b()), s_(s), part_(part), out_(out), lane_(lane) {
    for (size_t i = 0; i < s.mixed.size(); ++i) {
      bounds_.push_back(BoundsOf(b_, s.window[s.mixed[i]], s.mixed_sizes[i], out[i].Base(f.context())));
      holes_ |= s.window[s.mixed[i]].base_dilation > 1;
    }
    position_type_ = ShapeUtil::ElementsIn(s.operand) > INT32_MAX ? b_.getInt64Ty() : b_.getInt32Ty();
  }

  absl::Status Emit() {
    llvm::Value* covers = b_.getTrue();
    for (const Bounds& bounds : bounds_) covers = b_.CreateAnd(covers, b_.CreateICmpSLT(bounds.low, bounds.high));
    auto search = [&]() -> absl::StatusOr<Carried> {
      // Without holes every search finds an element; the start value is then overwritten.
      Carried state = PackLanes(f_, {codegen::EmitZero(f_.context(), s_.type())});
      state.push_back(f_.context().Splat(llvm::ConstantInt::get(position_type_, 0)));
      state.push_back(b_.getFalse());
      HILO_ASSIGN_OR_RETURN(state, Search({}, std::move(state)));
      llvm::Value* position = state[state.size() - 2];
      if (!holes_) return Update(position);
      return codegen::EmitBranches(
          f_.context(), "chosen", state.back(), [&] { return Update(position); },
          []() -> absl::StatusOr<Carried> { return Carried(); });
    };
    return codegen::EmitBranches(f_.context(), "window", covers, search,
                                 []() -> absl::StatusOr<Carried> { return Carried(); })
        .status();
  }

 private:
  // Loops over dimensions [window_index.size(), mixed.size()) of the window. The state: the selected value, its
  // row-major index, whether there is one.
  absl::StatusOr<Carried> Search(std::vector<LaneIndex> window_index, Carried state) {
    const size_t k = window_index.size();
    if (k == s_.mixed.size()) return Candidate(window_index, state);
    const Window::Dimension& w = s_.window[s_.mixed[k]];
    const int64_t size = s_.mixed_sizes[k];
    window_index.emplace_back();
    return codegen::EmitLoop(
        f_.context(), "search", bounds_[k].low, bounds_[k].high, 1, std::move(state),
        [&](llvm::Value* i, const Carried& now) -> absl::StatusOr<Carried> {
          llvm::Value* at = b_.CreateNSWAdd(bounds_[k].start, b_.CreateNSWMul(i, b_.getInt64(w.window_dilation)));
          if (w.base_dilation == 1) {
            window_index.back() = LaneIndex::Uniform(at, 1, size);
            return Search(window_index, now);
          }
          window_index.back() = LaneIndex::Uniform(b_.CreateUDiv(at, b_.getInt64(w.base_dilation)), 1, size);
          llvm::Value* hit = b_.CreateICmpEQ(b_.CreateURem(at, b_.getInt64(w.base_dilation)), b_.getInt64(0));
          return codegen::EmitBranches(
              f_.context(), "hole", hit, [&] { return Search(window_index, now); },
              [&]() -> absl::StatusOr<Carried> { return now; });
        },
        /*at_least_once=*/true, w.size);
  }

  absl::StatusOr<Carried> Candidate(const std::vector<LaneIndex>& window_index, const Carried& state) {
    const Index index = At(s_, part_, window_index, lane_);
    HILO_ASSIGN_OR_RETURN(ElementValue candidate, f_.elements().Generate(s_.instruction->operand(0), index));
    const ElementValue chosen = UnpackLanes(state, {candidate})[0];
    HILO_ASSIGN_OR_RETURN(Elements keeps, codegen::EmitComputation(f_.context(), s_.select(), {chosen, candidate}));
    llvm::Value* any = state.back();
    llvm::Value* keep = f_.context().Splat(keeps[0].re);
    keep = b_.CreateAnd(keep, f_.context().Splat(any));
    // The index of lane 0; the lanes' offsets are added at the end.
    std::vector<LaneIndex> first = index.Dims(f_.context());
    if (s_.lanes) first.back() = LaneIndex::Constant(0);
    llvm::Value* position =
        b_.CreateTrunc(Index(first).Linear(f_.context(), s_.operand.dimensions()).Base(f_.context()), position_type_);
    Carried next = PackLanes(f_, {codegen::EmitSelect(f_.context(), keep, chosen, candidate)});
    next.push_back(b_.CreateSelect(keep, state[state.size() - 2], f_.context().Splat(position)));
    next.push_back(b_.getTrue());
    return next;
  }

  absl::StatusOr<Carried> Update(llvm::Value* position) {
    codegen::EmitterContext& context = f_.context();
    llvm::Type* wide =
        s_.lanes ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(b_.getInt64Ty(), s_.width)) : b_.getInt64Ty();
    position = b_.CreateZExtOrTrunc(position, wide);
    if (s_.lanes) position = b_.CreateAdd(position, lane_.Value(context));
    const Index at =
        Index::FromLinear(LaneIndex::Arbitrary(position, ShapeUtil::ElementsIn(s_.operand)), s_.operand.dimensions());
    const codegen::IrArray result = f_.ArrayOf(s_.instruction);
    HILO_ASSIGN_OR_RETURN(ElementValue source,
                          f_.elements().Generate(s_.instruction->operand(1), At(s_, part_, out_, lane_)));
    HILO_ASSIGN_OR_RETURN(Elements sum,
                          codegen::EmitComputation(context, s_.scatter(), {result.Load(context, at), source}));
    result.Store(context, at, context.Splat(sum[0]));
    return Carried();
  }

  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  const SelectAndScatter& s_;
  const std::vector<LaneIndex>& part_;
  const std::vector<LaneIndex>& out_;
  const LaneIndex& lane_;
  std::vector<Bounds> bounds_;
  bool holes_ = false;
  llvm::Type* position_type_;
};

// Emits body(lane) for the lanes' dimension, or once.
absl::Status ForEachLane(FunctionEmitter& f, const SelectAndScatter& s,
                         absl::FunctionRef<absl::Status(const LaneIndex&)> body) {
  if (!s.lanes) return body(LaneIndex());
  return ForEachVector(f, "lanes", s.row(), s.width, body);
}

absl::Status EmitPart(FunctionEmitter& f, const SelectAndScatter& s, llvm::Value* unit) {
  llvm::IRBuilder<>& b = f.b();
  const std::vector<LaneIndex> part = f.Delinearize(unit, s.part_sizes);
  const codegen::IrArray result = f.ArrayOf(s.instruction);
  HILO_ASSIGN_OR_RETURN(ElementValue init, f.elements().Generate(s.instruction->operand(2), Index()));
  HILO_RETURN_IF_ERROR(ForEach(f, "fill", b.getInt64(0), b.getInt64(Product(s.mixed_sizes)), [&](llvm::Value* i) {
    const std::vector<LaneIndex> at = f.Delinearize(i, s.mixed_sizes);
    return ForEachLane(f, s, [&](const LaneIndex& lane) {
      result.Store(f.context(), At(s, part, at, lane), f.context().Splat(init));
      return absl::OkStatus();
    });
  }));
  return ForEach(f, "windows", b.getInt64(0), b.getInt64(Product(s.mixed_source_sizes)), [&](llvm::Value* i) {
    const std::vector<LaneIndex> out = f.Delinearize(i, s.mixed_source_sizes);
    return ForEachLane(f, s, [&](const LaneIndex& lane) { return WindowEmitter(f, s, part, out, lane).Emit(); });
  });
}

}  // namespace

absl::Status EmitSelectAndScatter(FunctionEmitter& f, const KernelParts& kernel) {
  const SelectAndScatter s = Describe(kernel.instruction, static_cast<int>(kernel.config.width));
  HILO_RETURN_IF_ERROR(f.LoadScalarOperands(s.instruction));
  return ForEach(f, "parts", kernel.begin, kernel.end, [&](llvm::Value* unit) { return EmitPart(f, s, unit); });
}

}  // namespace hilo::cpu
