// Elements that move.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "hlo/ops/movement/dimension_size_attributes.h"
#include "tests/fuzz/random_grower.h"

namespace hilo::fuzz {
namespace {

bool BroadcastOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) { return v.shape().IsArray() && v.shape().rank() < 4; });
  if (x == nullptr) return false;
  auto attributes = std::make_unique<BroadcastAttrs>();
  Dims dims;
  for (int64_t i = 0; i <= x->shape().rank(); ++i) {
    while (dims.size() < 4 && g.random.Chance(i == 0 ? 45 : 25)) dims.push_back(g.RandomSize());
    if (i == x->shape().rank()) break;
    attributes->dimensions.push_back(dims.size());
    dims.push_back(x->shape().dimensions(i));
  }
  if (Product(dims) > g.options.max_elements) return false;
  Shape shape = ShapeUtil::MakeShape(x->type(), dims);
  return g.Add(scope, HloOpcode::kBroadcast, {x->instruction}, std::move(attributes), {}, &shape);
}

bool ReshapeOp(Grower& g, Scope& scope) {
  const Value* x = g.PickArray(scope);
  if (x == nullptr) return false;
  int64_t rest = Product(DimsOf(x->shape()));
  Dims dims;
  if (rest == 0) {
    dims = DimsOf(x->shape());
    std::reverse(dims.begin(), dims.end());
  } else {
    static constexpr int64_t kFactors[] = {1, 2, 3, 4, 5, 7, 8, 10, 16, 17, 31, 33};
    while (dims.size() < 3 && g.random.Chance(70)) {
      const int64_t factor = g.random.Of(kFactors);
      if (rest % factor != 0) continue;
      dims.push_back(factor);
      rest /= factor;
    }
    if (rest > 1 || g.random.Chance(20)) dims.insert(dims.begin() + g.random.Below(dims.size() + 1), rest);
  }
  Shape shape = ShapeUtil::MakeShape(x->type(), dims);
  return g.Add(scope, HloOpcode::kReshape, {x->instruction}, nullptr, {}, &shape);
}

bool TransposeOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) { return v.shape().IsArray() && v.shape().rank() >= 2; });
  if (x == nullptr) return false;
  auto attributes = std::make_unique<TransposeAttrs>();
  attributes->dimensions = g.Permutation(x->shape().rank());
  return g.Add(scope, HloOpcode::kTranspose, {x->instruction}, std::move(attributes));
}

bool SliceOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) { return v.shape().IsArray() && v.shape().rank() >= 1; });
  if (x == nullptr) return false;
  auto attributes = std::make_unique<SliceAttrs>();
  for (int64_t size : x->shape().dimensions()) {
    SliceRange range{0, size, 1};
    if (g.random.Chance(70)) {
      range.start = g.random.Below(size + 1);
      range.limit = range.start + g.random.Below(size - range.start + 1);
      if (range.limit == range.start && size > 0 && g.random.Chance(95)) {
        range.start = g.random.Below(size);
        range.limit = size;
      }
      range.stride = g.random.Chance(40) ? 1 + g.random.Below(4) : 1;
    }
    attributes->slice.push_back(range);
  }
  return g.Add(scope, HloOpcode::kSlice, {x->instruction}, std::move(attributes));
}

bool PadOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) { return v.shape().IsArray() && v.shape().rank() >= 1; });
  if (x == nullptr) return false;
  auto attributes = std::make_unique<PadAttrs>();
  HloInstruction* operand = x->instruction;
  for (int64_t i = 0; i < operand->shape().rank(); ++i) {
    PaddingConfig::Dimension d;
    if (g.random.Chance(60))
      d = {g.random.Below(6) - 2, g.random.Below(6) - 2, g.random.Chance(30) ? g.random.Below(3) : 0};
    attributes->padding.dimensions.push_back(d);
  }
  return g.Add(scope, HloOpcode::kPad, {operand, g.Like(scope, {}, operand->shape().element_type())},
               std::move(attributes));
}

bool ConcatenateOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) { return v.shape().IsArray() && v.shape().rank() >= 1; });
  if (x == nullptr) return false;
  std::vector<HloInstruction*> operands = {x->instruction};
  const Shape shape = x->shape();
  const int64_t dimension = g.random.Below(shape.rank());
  for (int i = g.random.Below(4); i > 0; --i) {
    Dims dims = DimsOf(shape);
    if (g.random.Chance(50)) dims[dimension] = g.RandomSize();
    operands.push_back(g.Like(scope, dims, shape.element_type()));
  }
  auto attributes = std::make_unique<ConcatenateAttrs>();
  attributes->dimensions = {dimension};
  return g.Add(scope, HloOpcode::kConcatenate, operands, std::move(attributes));
}

bool ReverseOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) { return v.shape().IsArray() && v.shape().rank() >= 1; });
  if (x == nullptr) return false;
  auto attributes = std::make_unique<ReverseAttrs>();
  attributes->dimensions = g.Subset(x->shape().rank(), 1);
  return g.Add(scope, HloOpcode::kReverse, {x->instruction}, std::move(attributes));
}

bool DynamicSliceOp(Grower& g, Scope& scope, bool update) {
  const Value* x = g.PickArray(scope);
  if (x == nullptr) return false;
  HloInstruction* operand = x->instruction;
  const Shape shape = operand->shape();
  Dims sizes;
  for (int64_t size : shape.dimensions()) sizes.push_back(size == 0 ? 0 : 1 + g.random.Below(size));
  std::vector<HloInstruction*> operands = {operand};
  if (update) operands.push_back(g.Like(scope, sizes, shape.element_type()));
  const PrimitiveType index_type = g.RandomIntegerType();
  for (int64_t i = 0; i < shape.rank(); ++i) operands.push_back(g.Like(scope, {}, index_type, true));
  if (update) return g.Add(scope, HloOpcode::kDynamicUpdateSlice, operands);
  auto attributes = std::make_unique<DynamicSliceAttrs>();
  attributes->dynamic_slice_sizes = sizes;
  return g.Add(scope, HloOpcode::kDynamicSlice, operands, std::move(attributes));
}

// Dimensions of start indices: some batch dimensions, and the index vector's at `vector_dim` (or
// left out when it is 1).
Dims IndexDims(Grower& g, const Dims& batch, int64_t vector_size, int64_t* vector_dim) {
  Dims dims = batch;
  *vector_dim = g.random.Below(batch.size() + 1);
  if (vector_size == 1 && g.random.Chance(50)) {
    *vector_dim = batch.size();
    return dims;
  }
  dims.insert(dims.begin() + *vector_dim, vector_size);
  return dims;
}

Dims SmallDims(Grower& g) {
  Dims dims(g.random.Below(3));
  for (int64_t& d : dims) d = 1 + g.random.Below(6);
  return dims;
}

// `count` ascending places of windows + batch dimensions.
Dims PlacesAmong(Grower& g, int64_t windows, int64_t batch) {
  Dims places = g.Permutation(windows + batch);
  places.resize(windows);
  std::sort(places.begin(), places.end());
  return places;
}

// The index vectors of a gather or a scatter.
struct IndexVectors {
  Dims map;                         // the array's dimensions that they index
  Dims batching, indices_batching;  // of the array, ascending, and of the indices
  Dims batch;                       // sizes of the indices' dimensions but that of the vectors
  int64_t vector_dim = 0;
  HloInstruction* indices = nullptr;
};

// Arrays of index vectors whose elements are arrays of their own, some of them positions.
HloInstruction* ConcatenatedIndices(Grower& g, Scope& scope, const Dims& dims, int64_t vector_dim) {
  const PrimitiveType type = g.random.Chance(70) ? S32 : S64;
  Dims part = dims;
  part[vector_dim] = 1;
  const Shape shape = ShapeUtil::MakeShape(type, part);
  std::vector<HloInstruction*> parts;
  for (int64_t i = 0; i < dims[vector_dim]; ++i) {
    if (g.random.Chance(50)) {
      auto attributes = std::make_unique<IotaAttrs>();
      attributes->iota_dimension = g.random.Below(dims.size());
      const Value* iota = g.Add(scope, HloOpcode::kIota, {}, std::move(attributes), {}, &shape);
      parts.push_back(iota == nullptr ? nullptr : iota->instruction);
    } else {
      parts.push_back(g.Like(scope, part, type, true));
    }
  }
  auto attributes = std::make_unique<ConcatenateAttrs>();
  attributes->dimensions = {vector_dim};
  const Value* whole = g.Add(scope, HloOpcode::kConcatenate, parts, std::move(attributes));
  return whole == nullptr ? nullptr : whole->instruction;
}

IndexVectors RandomIndexVectors(Grower& g, Scope& scope, const Shape& shape) {
  IndexVectors vectors;
  const Dims order = g.Permutation(shape.rank());
  const int64_t batching = g.random.Chance(30) ? g.random.Below(std::min<int64_t>(shape.rank(), 3)) : 0;
  vectors.batching.assign(order.begin(), order.begin() + batching);
  std::sort(vectors.batching.begin(), vectors.batching.end());
  vectors.map.assign(order.begin() + batching, order.begin() + batching + 1 + g.random.Below(shape.rank() - batching));
  const Dims others = SmallDims(g);
  const Dims places = g.Permutation(batching + static_cast<int64_t>(others.size()));
  vectors.batch.resize(places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    const auto k = static_cast<int64_t>(i);
    vectors.batch[places[i]] = k < batching ? shape.dimensions(vectors.batching[i]) : others[i - batching];
  }
  const Dims dims = IndexDims(g, vectors.batch, static_cast<int64_t>(vectors.map.size()), &vectors.vector_dim);
  const bool has_vectors = dims.size() > vectors.batch.size();
  for (int64_t i = 0; i < batching; ++i)
    vectors.indices_batching.push_back(places[i] + (has_vectors && places[i] >= vectors.vector_dim ? 1 : 0));
  vectors.indices = has_vectors && Product(dims) <= g.options.max_elements && g.random.Chance(30)
                        ? ConcatenatedIndices(g, scope, dims, vectors.vector_dim)
                        : g.Like(scope, dims, g.RandomIntegerType(), true);
  return vectors;
}

const Value* PickIndexed(Grower& g, Scope& scope) {
  return g.Pick(scope, [](const Value& v) {
    return v.shape().IsArray() && v.shape().rank() >= 1 && !ShapeUtil::IsZeroElementArray(v.shape());
  });
}

bool Contains(const Dims& dims, int64_t d) { return std::find(dims.begin(), dims.end(), d) != dims.end(); }

bool GatherOp(Grower& g, Scope& scope) {
  const Value* x = PickIndexed(g, scope);
  if (x == nullptr) return false;
  HloInstruction* operand = x->instruction;
  const Shape shape = operand->shape();
  const IndexVectors vectors = RandomIndexVectors(g, scope, shape);
  auto attributes = std::make_unique<GatherAttrs>();
  attributes->start_index_map.assign(vectors.map.begin(), vectors.map.end());
  attributes->operand_batching_dims.assign(vectors.batching.begin(), vectors.batching.end());
  attributes->start_indices_batching_dims.assign(vectors.indices_batching.begin(), vectors.indices_batching.end());
  attributes->index_vector_dim = vectors.vector_dim;
  int64_t windows = 0;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (Contains(vectors.batching, i)) {
      attributes->slice_sizes.push_back(1);
    } else if (g.random.Chance(40)) {
      attributes->collapsed_slice_dims.push_back(i);
      attributes->slice_sizes.push_back(1);
    } else {
      attributes->slice_sizes.push_back(1 + g.random.Below(shape.dimensions(i)));
      ++windows;
    }
  }
  attributes->offset_dims = PlacesAmong(g, windows, static_cast<int64_t>(vectors.batch.size()));
  return g.Add(scope, HloOpcode::kGather, {operand, vectors.indices}, std::move(attributes));
}

// Of one array, or of two that are updated together.
bool ScatterOp(Grower& g, Scope& scope) {
  const Value* x = PickIndexed(g, scope);
  if (x == nullptr) return false;
  HloInstruction* operand = x->instruction;
  const Shape shape = operand->shape();
  const IndexVectors vectors = RandomIndexVectors(g, scope, shape);
  auto attributes = std::make_unique<ScatterAttrs>();
  attributes->scatter_dims_to_operand_dims.assign(vectors.map.begin(), vectors.map.end());
  attributes->input_batching_dims.assign(vectors.batching.begin(), vectors.batching.end());
  attributes->scatter_indices_batching_dims.assign(vectors.indices_batching.begin(), vectors.indices_batching.end());
  attributes->index_vector_dim = vectors.vector_dim;
  Dims window_sizes;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (Contains(vectors.batching, i)) continue;
    if (g.random.Chance(50)) {
      attributes->inserted_window_dims.push_back(i);
    } else {
      window_sizes.push_back(1 + g.random.Below(shape.dimensions(i)));
    }
  }
  const Dims& batch = vectors.batch;
  attributes->update_window_dims =
      PlacesAmong(g, static_cast<int64_t>(window_sizes.size()), static_cast<int64_t>(batch.size()));
  Dims update_dims(window_sizes.size() + batch.size(), -1);
  for (size_t i = 0; i < window_sizes.size(); ++i) update_dims[attributes->update_window_dims[i]] = window_sizes[i];
  size_t next = 0;
  for (int64_t& d : update_dims) {
    if (d < 0) d = batch[next++];
  }
  if (Product(update_dims) > g.options.max_elements) return false;
  const PrimitiveType type = shape.element_type();
  HloInstruction* updates = g.Like(scope, update_dims, type);
  if (!IsComplexType(type) && g.random.Chance(20)) {
    const PrimitiveType other = g.random.Chance(70) ? g.RandomIntegerType() : F32;
    HloInstruction* second = g.Like(scope, DimsOf(shape), other);
    HloInstruction* its_updates = g.Like(scope, update_dims, other);
    return g.TakeApart(scope,
                       g.Add(scope, HloOpcode::kScatter, {operand, second, vectors.indices, updates, its_updates},
                             std::move(attributes), {g.CombinerOfSeveral({type, other})}));
  }
  HloComputation* combine = g.Combiner(type, g.CombinerOpcode(type));
  if (g.random.Chance(30)) (void)combine->set_root_instruction(combine->parameter_instruction(1), true);
  return g.Add(scope, HloOpcode::kScatter, {operand, vectors.indices, updates}, std::move(attributes), {combine});
}

bool MakeDynamicSlice(Grower& g, Scope& scope) { return DynamicSliceOp(g, scope, false); }
bool MakeDynamicUpdate(Grower& g, Scope& scope) { return DynamicSliceOp(g, scope, true); }
// The same bytes as a list.
bool BitcastOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) { return v.shape().IsArray() && !IsSubByteType(v.type()); });
  if (x == nullptr) return false;
  const Shape shape = ShapeUtil::MakeShape(x->type(), {Product(DimsOf(x->shape()))});
  return g.Add(scope, HloOpcode::kBitcast, {x->instruction}, nullptr, {}, &shape);
}

// The bytes of an array in another layout, as the row-major array that they are.
bool BitcastOfLayoutOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(
      scope, [](const Value& v) { return v.shape().IsArray() && v.shape().rank() >= 2 && !IsSubByteType(v.type()); });
  if (x == nullptr) return false;
  Shape shape = x->shape();
  *shape.mutable_layout() = Layout(g.Permutation(shape.rank()));
  const Value* copy = g.Add(scope, HloOpcode::kCopy, {x->instruction}, nullptr, {}, &shape);
  if (copy == nullptr) return false;
  const Dims dims =
      g.random.Chance(50) ? Dims{Product(DimsOf(shape))} : Dims(shape.dimensions().rbegin(), shape.dimensions().rend());
  const Shape bytes = ShapeUtil::MakeShape(shape.element_type(), dims);
  return g.Add(scope, HloOpcode::kBitcast, {copy->instruction}, nullptr, {}, &bytes);
}

bool GetDimensionSizeOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) { return v.shape().IsArray() && v.shape().rank() >= 1; });
  if (x == nullptr) return false;
  auto attributes = std::make_unique<DimensionSizeAttrs>();
  attributes->dimensions = {g.random.Below(x->shape().rank())};
  return g.Add(scope, HloOpcode::kGetDimensionSize, {x->instruction}, std::move(attributes));
}

}  // namespace

absl::Span<const Kind> MovementKinds() {
  static constexpr Kind kKinds[] = {
      {6, &BroadcastOp},   {4, &ReshapeOp}, {5, &TransposeOp},       {4, &SliceOp},           {3, &PadOp},
      {3, &ConcatenateOp}, {2, &ReverseOp}, {3, &MakeDynamicSlice},  {3, &MakeDynamicUpdate}, {3, &GatherOp},
      {3, &ScatterOp},     {1, &BitcastOp}, {1, &BitcastOfLayoutOp}, {1, &GetDimensionSizeOp}};
  return kKinds;
}

}  // namespace hilo::fuzz
