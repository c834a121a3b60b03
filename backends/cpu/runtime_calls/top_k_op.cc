// Selects the k largest of a row in one pass. Elements become keys, integers in the requested order. Keys above the
// k-th largest so far are candidates; whenever there are twice as many as requested, all but the k largest are dropped
// and the threshold rises. Most blocks of a long row contain no key above the threshold, which a few vector
// instructions detect. An equal key that comes later is never above it, so the first of equal elements are kept. If few
// are requested, the candidates are these alone, in order.
#include "backends/cpu/runtime_calls/top_k_op.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "backends/cpu/runtime/parallel_parts.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/table/total_order.h"

namespace hilo::cpu {
namespace {

constexpr int64_t kBlock = 64;
// The most elements for which insertion into an ordered list is used. Measured: two of each row of f32[4096,64] 1118 ->
// 372 us.
constexpr int64_t kFewSelected = 16;

// The type of the keys of T: 32 bits where they suffice.
template <typename T>
using KeyOf = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

// Signed numbers in the order of the elements; floats in total order (total_order.h).
template <typename T>
inline KeyOf<T> MakeKey(const T& element) {
  constexpr PrimitiveType type = NativeToPrimitiveType<T>();
  using Key = KeyOf<T>;
  if constexpr (std::is_floating_point_v<T>) {
    Key bits;
    std::memcpy(&bits, &element, sizeof(T));
    return bits ^ ((bits >> (8 * sizeof(T) - 1)) & std::numeric_limits<Key>::max());
  } else if constexpr (is_small_float<T>) {
    constexpr int32_t sign = 1 << (T::format.exponent_bits + T::format.mantissa_bits);
    const int32_t bits = element.bits;
    if (NanIsFirst(type) && bits == sign) return -sign - 1;
    return type == F8E8M0FNU || (bits & sign) == 0 ? bits : -(bits & (sign - 1)) - 1;
  } else if constexpr (is_small_int<T>) {
    return element.value;
  } else if constexpr (is_complex<T>) {
    return 0;  // rejected by inference
  } else if constexpr (std::is_unsigned_v<T> && sizeof(T) >= 4) {
    return static_cast<Key>(element ^ (T{1} << (8 * sizeof(T) - 1)));
  } else {
    return element;
  }
}

template <typename T>
class Selector {
 public:
  using Key = KeyOf<T>;
  Selector(int64_t size, int64_t k, bool largest)
      : size_(size), k_(k), flip_(largest ? 0 : ~Key{0}), capacity_(std::min(size, 2 * k + kBlock)) {
    candidates_.reserve(capacity_ + kBlock);
  }

  void Select(const T* row, T* values, int32_t* indices) {
    candidates_.clear();
    bar_ = std::numeric_limits<Key>::min();
    has_bar_ = false;
    for (int64_t start = 0; start < size_; start += kBlock) {
      const int64_t count = std::min(kBlock, size_ - start);
      Key keys[kBlock];
      if (count == kBlock) {
        for (int64_t i = 0; i < kBlock; ++i) keys[i] = MakeKey(row[start + i]) ^ flip_;
      } else {
        for (int64_t i = 0; i < count; ++i) keys[i] = MakeKey(row[start + i]) ^ flip_;
      }
      if (has_bar_ && count == kBlock && !AnyAbove(keys)) continue;
      if (k_ <= kFewSelected) {
        Insert(keys, start, count);
      } else {
        Collect(keys, start, count);
      }
    }
    if (k_ > kFewSelected) {
      RaiseBar();
      std::sort(candidates_.begin(), candidates_.end(), Before);
    }
    for (int64_t i = 0; i < k_; ++i) {
      indices[i] = candidates_[i].index;
      values[i] = row[indices[i]];
    }
  }

 private:
  struct Candidate {
    Key key = 0;
    int32_t index = 0;
  };
  static bool Before(const Candidate& a, const Candidate& b) {
    return a.key != b.key ? a.key > b.key : a.index < b.index;
  }

  bool AnyAbove(const Key* keys) const {
    Key above = 0;
    for (int64_t i = 0; i < kBlock; ++i) above |= keys[i] > bar_ ? 1 : 0;
    return above != 0;
  }

  // The candidates are in order, and at most k.
  void Insert(const Key* keys, int64_t start, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      if (has_bar_ && keys[i] <= bar_) continue;
      if (!has_bar_) candidates_.emplace_back();
      int64_t at = static_cast<int64_t>(candidates_.size()) - 1;
      for (; at > 0 && candidates_[at - 1].key < keys[i]; --at) candidates_[at] = candidates_[at - 1];
      candidates_[at] = {keys[i], static_cast<int32_t>(start + i)};
      has_bar_ = static_cast<int64_t>(candidates_.size()) == k_;
      bar_ = candidates_.back().key;
    }
  }

  void Collect(const Key* keys, int64_t start, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      if (!has_bar_ || keys[i] > bar_) candidates_.push_back({keys[i], static_cast<int32_t>(start + i)});
    }
    if (static_cast<int64_t>(candidates_.size()) >= capacity_) RaiseBar();
  }

  // Keeps the first k candidates, and raises the threshold.
  void RaiseBar() {
    if (static_cast<int64_t>(candidates_.size()) <= k_) return;
    std::nth_element(candidates_.begin(), candidates_.begin() + (k_ - 1), candidates_.end(), Before);
    candidates_.resize(k_);
    bar_ = candidates_[k_ - 1].key;
    has_bar_ = true;
  }

  int64_t size_, k_;
  Key flip_;  // reverses the order
  int64_t capacity_;
  std::vector<Candidate> candidates_;
  Key bar_ = 0;
  bool has_bar_ = false;
};

class TopKOp : public RuntimeCall {
 public:
  TopKOp(PrimitiveType type, int64_t rows, int64_t size, int64_t k, bool largest)
      : type_(type), rows_(rows), size_(size), k_(k), largest_(largest) {}

  absl::Status Run(const RunContext& run, const RuntimeCallArrays& arrays) const override {
    if (k_ == 0 || rows_ == 0) return absl::OkStatus();
    absl::Status status;
    ArrayTypeSwitch(type_, [&](auto tag) { status = RunOn<typename decltype(tag)::type>(run, arrays); });
    return status;
  }

 private:
  template <typename T>
  absl::Status RunOn(const RunContext& run, const RuntimeCallArrays& arrays) const {
    const T* operand = reinterpret_cast<const T*>(arrays.operands[0]);
    T* values = reinterpret_cast<T*>(arrays.results[0]);
    int32_t* indices = reinterpret_cast<int32_t*>(arrays.results[1]);
    constexpr double kNanosecondsPerElement = 1.2;
    return ForParts({run.thread_pool, run.cancellation}, rows_, kNanosecondsPerElement * static_cast<double>(size_),
                    [&](int64_t begin, int64_t end) -> absl::Status {
                      Selector<T> selector(size_, k_, largest_);
                      for (int64_t row = begin; row < end; ++row) {
                        if (run.cancellation != nullptr) HILO_RETURN_IF_ERROR(run.cancellation->status());
                        selector.Select(operand + row * size_, values + row * k_, indices + row * k_);
                      }
                      return absl::OkStatus();
                    });
  }

  PrimitiveType type_;
  int64_t rows_, size_, k_;
  bool largest_;
};

}  // namespace

bool SelectsFew(const HloInstruction& top_k) {
  const int64_t size = top_k.operand(0)->shape().dimensions().back();
  return size <= 1024 || top_k.attrs<TopKAttrs>().k <= size / 4;
}

absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeTopKOp(const HloInstruction& instruction, const CompileOptions&) {
  const Shape& shape = instruction.operand(0)->shape();
  const auto& attributes = instruction.attrs<TopKAttrs>();
  const int64_t size = shape.dimensions().back();
  const int64_t rows = size == 0 ? 0 : ShapeUtil::ElementsIn(shape) / size;
  return std::make_unique<TopKOp>(shape.element_type(), rows, size, attributes.k, attributes.largest);
}

}  // namespace hilo::cpu
