// Element-wise evaluation in a few wide types. Private to hlo/ops.
//
// Hilo has 31 element types; evaluating 60 ops in each would be 1,800 loops. Integers of up to 32
// bits are widened to 64, whose results wrap back correctly when narrowed, and floats of up to 16
// bits to F32, after which every op rounds once. So kernels exist in seven types only. Operands are
// widened a block at a time; operands that are already wide are read in place.
#ifndef HILO_HLO_OPS_LINALG_WIDE_ELEMENTS_H_
#define HILO_HLO_OPS_LINALG_WIDE_ELEMENTS_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op.h"

namespace hilo {

// The type in which elements of type T are computed.
template <typename T>
constexpr auto WideTag() {
  constexpr PrimitiveType type = NativeToPrimitiveType<T>();
  if constexpr (type == PRED || type == F64 || is_complex<T>) {
    return NativeTag<T>{};
  } else if constexpr (type == F32 || is_small_float<T>) {
    return NativeTag<float>{};
  } else if constexpr (static_cast<int>(static_cast<T>(-1)) == -1 && type != U32 && type != U64) {
    return NativeTag<int64_t>{};
  } else {
    return NativeTag<uint64_t>{};
  }
}
template <typename T>
using WideOf = typename decltype(WideTag<T>())::type;

// Calls f(NativeTag<WideOf<T>>{}) with the C++ type T of `type`, an array type.
template <typename F>
auto WideTypeSwitch(PrimitiveType type, F&& f) {
  if (type == PRED) return f(NativeTag<bool>{});
  if (type == F64) return f(NativeTag<double>{});
  if (type == C64) return f(NativeTag<complex64>{});
  if (type == C128) return f(NativeTag<complex128>{});
  if (IsFloatingPointType(type)) return f(NativeTag<float>{});
  if (IsSignedIntegralType(type)) return f(NativeTag<int64_t>{});
  return f(NativeTag<uint64_t>{});
}

inline constexpr int64_t kWideBlock = 2048;  // elements

// Reads the elements of a literal as W, which must be the wide type of its element type; a scalar
// is repeated.
template <typename W>
class WideReader {
 public:
  WideReader(const Literal& literal, bool repeat_scalar = false)
      : data_(literal.untyped_data().data()), repeated_(repeat_scalar) {
    ArrayTypeSwitch(literal.shape().element_type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_same_v<WideOf<T>, W> && !std::is_same_v<T, W>) {
        load_ = [](const uint8_t* from, int64_t start, int64_t n, W* to) {
          const T* elements = reinterpret_cast<const T*>(from) + start;
          for (int64_t i = 0; i < n; ++i) to[i] = static_cast<W>(elements[i]);
        };
      }
    });
    if (repeated_ || load_ != nullptr) block_ = std::make_unique<W[]>(kWideBlock);
    if (repeated_) {
      if (load_ == nullptr) {
        block_[0] = *Elements();
      } else {
        load_(data_, 0, 1, block_.get());
      }
      std::fill_n(block_.get() + 1, kWideBlock - 1, block_[0]);
    }
  }

  // Elements [start, start + n); n is at most kWideBlock. Valid until the next call.
  const W* Block(int64_t start, int64_t n) {
    if (repeated_) return block_.get();
    if (load_ == nullptr) return Elements() + start;
    load_(data_, start, n, block_.get());
    return block_.get();
  }

 private:
  const W* Elements() const { return reinterpret_cast<const W*>(data_); }

  const uint8_t* data_;
  bool repeated_;
  void (*load_)(const uint8_t* from, int64_t start, int64_t n, W* to) = nullptr;
  std::unique_ptr<W[]> block_;
};

// Writes the elements of a literal as W.
template <typename W>
class WideWriter {
 public:
  explicit WideWriter(Literal* literal) : data_(literal->untyped_data().data()) {
    ArrayTypeSwitch(literal->shape().element_type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_same_v<WideOf<T>, W> && !std::is_same_v<T, W>) {
        store_ = [](const W* from, int64_t start, int64_t n, uint8_t* to) {
          T* elements = reinterpret_cast<T*>(to) + start;
          for (int64_t i = 0; i < n; ++i) elements[i] = static_cast<T>(from[i]);
        };
      }
    });
    if (store_ != nullptr) block_ = std::make_unique<W[]>(kWideBlock);
  }

  // Where to put the elements from `start` on; then Commit.
  W* Block(int64_t start) { return store_ == nullptr ? reinterpret_cast<W*>(data_) + start : block_.get(); }
  void Commit(int64_t start, int64_t n) {
    if (store_ != nullptr) store_(block_.get(), start, n, data_);
  }

 private:
  uint8_t* data_;
  void (*store_)(const W* from, int64_t start, int64_t n, uint8_t* to) = nullptr;
  std::unique_ptr<W[]> block_;
};

// Runs kernel(block of each operand..., block of the result, n) over all elements. Errors: those of
// the budget.
template <typename Kernel, typename Out, typename... In>
absl::Status ForEachBlock(const OpView& op, int64_t count, const Kernel& kernel, WideWriter<Out>&& out,
                          WideReader<In>&&... in) {
  for (int64_t start = 0; start < count; start += kWideBlock) {
    const int64_t n = std::min(kWideBlock, count - start);
    HILO_RETURN_IF_ERROR(op.Spend(n));
    kernel(in.Block(start, n)..., out.Block(start), n);
    out.Commit(start, n);
  }
  return absl::OkStatus();
}

}  // namespace hilo

#endif  // HILO_HLO_OPS_LINALG_WIDE_ELEMENTS_H_
