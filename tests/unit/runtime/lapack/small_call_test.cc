// Calls prepared beforehand against the handlers that read their frame: the same bits. What only the handlers can say
// stays with them. Skipped where there is no LAPACK library, which the handlers ask for.
#include "runtime/lapack/small_call.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "hilo/primitive_type.h"
#include "runtime/lapack/lapack_library.h"
#include "runtime/lapack/lapack_targets.h"
#include "runtime/lapack/small_matrices.h"

namespace hilo::lapack {
namespace {

const Target& FindTarget(const std::string& name) {
  for (const Target& target : Targets()) {
    if (target.name == name) return target;
  }
  ADD_FAILURE() << "there is no target " << name;
  return Targets()[0];
}

std::vector<ffi::NamedAttribute> Letters(const std::vector<std::pair<std::string, char>>& letters) {
  std::vector<ffi::NamedAttribute> attributes;
  for (const auto& [name, letter] : letters) {
    attributes.push_back({name, {ffi::Attribute::Kind::kScalar, U8, {static_cast<uint8_t>(letter)}, {}}});
  }
  return attributes;
}

std::vector<Shape> Leaves(const Shape& shape) {
  if (!shape.IsTuple()) return {shape};
  return {shape.tuple_shapes().begin(), shape.tuple_shapes().end()};
}

// Memory of arrays, and what the two ways to call want of it.
struct Arrays {
  std::vector<Shape> shapes;
  std::vector<std::vector<uint8_t>> memory;
  explicit Arrays(std::vector<Shape> of) : shapes(std::move(of)) {
    for (const Shape& shape : shapes) memory.emplace_back(ShapeUtil::ByteSizeOf(shape) + 8);
  }
  template <typename T>
  void Fill(std::mt19937& generator) {
    for (size_t i = 0; i < shapes.size(); ++i) {
      T* data = reinterpret_cast<T*>(memory[i].data());
      const int64_t rows = shapes[i].dimensions(0), count = ShapeUtil::ElementsIn(shapes[i]);
      for (int64_t k = 0; k < count; ++k)
        data[k] = static_cast<T>(std::normal_distribution<double>()(generator) + (k % (rows + 1) == 0 ? 4 : 0));
    }
  }
  std::vector<Array> Views() {
    std::vector<Array> views;
    for (size_t i = 0; i < shapes.size(); ++i)
      views.push_back({shapes[i].element_type(), shapes[i].dimensions(), memory[i].data()});
    return views;
  }
  std::vector<uint8_t*> Pointers() {
    std::vector<uint8_t*> pointers;
    for (auto& bytes : memory) pointers.push_back(bytes.data());
    return pointers;
  }
};

template <typename T>
void ExpectSame(const std::string& name, std::vector<Shape> operands, const Shape& result,
                const std::vector<std::pair<std::string, char>>& letters) {
  SCOPED_TRACE(name + " of " + operands[0].ToString());
  std::mt19937 generator(7);
  Arrays in(operands), out(Leaves(result)), wanted(Leaves(result));
  in.Fill<T>(generator);
  const Target& target = FindTarget(name);
  const auto call =
      SmallCall::Of(target.handler, {.present = true, .operands = operands, .result = result}, Letters(letters));
  ASSERT_TRUE(call.has_value());
  std::vector<const uint8_t*> from;
  for (uint8_t* pointer : in.Pointers()) from.push_back(pointer);
  call->Run(from, out.Pointers());
  std::vector<std::pair<absl::string_view, int64_t>> codes;
  for (const auto& [key, letter] : letters) codes.emplace_back(key, letter);
  const absl::Status status = target.function({.operands = in.Views(), .results = wanted.Views(), .attributes = codes});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(out.memory, wanted.memory);
}

template <typename T>
void ExpectAllSame(const std::string& letter) {
  if (Library<T>() == nullptr) GTEST_SKIP() << "no LAPACK library";
  const PrimitiveType type = NativeToPrimitiveType<T>();
  const auto matrix = [&](int64_t m, int64_t n) { return ShapeUtil::MakeShape(type, {m, n}); };
  const Shape info = ShapeUtil::MakeShape(S32, {});
  for (int64_t m = 1; m <= kSmallMatrix; ++m) {
    for (const char* uplo : {"L", "U"}) {
      ExpectSame<T>("lapack_" + letter + "potrf_ffi", {matrix(m, m)}, ShapeUtil::MakeTupleShape({matrix(m, m), info}),
                    {{"uplo", uplo[0]}});
    }
    for (int64_t n = 1; n <= kSmallMatrix; ++n) {
      ExpectSame<T>("lapack_" + letter + "getrf_ffi", {matrix(m, n)},
                    ShapeUtil::MakeTupleShape({matrix(m, n), ShapeUtil::MakeShape(S32, {std::min(m, n)}), info}), {});
      for (int choice = 0; choice < 16; ++choice) {
        const bool left = choice & 1;
        ExpectSame<T>("lapack_" + letter + "trsm_ffi", {matrix(left ? m : n, left ? m : n), matrix(m, n)}, matrix(m, n),
                      {{"side", left ? 'L' : 'R'},
                       {"uplo", choice & 2 ? 'L' : 'U'},
                       {"trans_x", choice & 4 ? 'N' : 'T'},
                       {"diag", choice & 8 ? 'N' : 'U'}});
      }
    }
  }
}

TEST(SmallCallTest, ReturnsWhatTheHandlersReturnInF32) { ExpectAllSame<float>("s"); }
TEST(SmallCallTest, ReturnsWhatTheHandlersReturnInF64) { ExpectAllSame<double>("d"); }

TEST(SmallCallTest, LeavesTheRestToTheHandlers) {
  const auto of = [](const std::string& name, std::vector<Shape> operands, Shape result,
                     const std::vector<std::pair<std::string, char>>& letters) {
    return SmallCall::Of(FindTarget(name).handler,
                         {.present = true, .operands = std::move(operands), .result = std::move(result)},
                         Letters(letters))
        .has_value();
  };
  const Shape info = ShapeUtil::MakeShape(S32, {});
  const auto factor = [&](const std::string& name, const Shape& a, const Shape& result, int64_t pivots) {
    return of(name, {a}, ShapeUtil::MakeTupleShape({result, ShapeUtil::MakeShape(S32, {pivots}), info}), {});
  };
  const Shape a = ShapeUtil::MakeShape(F32, {3, 3});
  EXPECT_TRUE(factor("lapack_sgetrf_ffi", a, a, 3));
  EXPECT_FALSE(factor("lapack_sgetrf_ffi", a, a, 2)) << "the wrong number of pivots";
  EXPECT_FALSE(factor("lapack_dgetrf_ffi", a, a, 3)) << "another type";
  EXPECT_FALSE(factor("lapack_sgeqrf_ffi", a, a, 3)) << "another routine";
  EXPECT_FALSE(factor("lapack_sgetrf_ffi", a, ShapeUtil::MakeShape(F32, {3, 4}), 3)) << "another result";
  const Shape large = ShapeUtil::MakeShape(F32, {9, 9}), batch = ShapeUtil::MakeShape(F32, {2, 3, 3});
  EXPECT_FALSE(factor("lapack_sgetrf_ffi", large, large, 9));
  EXPECT_FALSE(factor("lapack_sgetrf_ffi", batch, batch, 3));
  const Shape result = ShapeUtil::MakeTupleShape({a, info});
  EXPECT_TRUE(of("lapack_spotrf_ffi", {a}, result, {{"uplo", 'U'}}));
  EXPECT_FALSE(of("lapack_spotrf_ffi", {a}, result, {{"uplo", 'X'}}));
  EXPECT_FALSE(of("lapack_spotrf_ffi", {a}, result, {}));
  EXPECT_FALSE(of("lapack_strsm_ffi", {a, a}, a, {{"side", 'L'}, {"uplo", 'L'}, {"trans_x", 'N'}}));
  EXPECT_FALSE(SmallCall::Of(nullptr, {.present = true, .operands = {a}, .result = a}, {}).has_value());
}

}  // namespace
}  // namespace hilo::lapack
