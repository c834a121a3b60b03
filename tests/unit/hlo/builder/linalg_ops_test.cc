#include <gtest/gtest.h>

#include "hilo/xla_builder.h"
#include "hlo/text/hlo_printer.h"

namespace hilo {
namespace {

Shape ResultOf(XlaBuilder& b, XlaOp op) {
  const auto shape = b.GetShape(op);
  EXPECT_TRUE(shape.ok()) << shape.status();
  return shape.ok() ? *shape : Shape();
}

TEST(LinalgOpsTest, Fft) {
  XlaBuilder b("fft");
  XlaOp x = Parameter(&b, 0, ShapeUtil::MakeShape(F32, {3, 4, 16}), "x");
  XlaOp spectrum = Fft(x, FftType::kRfft, {4, 16});
  EXPECT_EQ(ResultOf(b, spectrum).ToString(), "c64[3,4,9]");
  EXPECT_EQ(ResultOf(b, Fft(spectrum, FftType::kIrfft, {4, 17})).ToString(), "f32[3,4,17]");
  EXPECT_EQ(ResultOf(b, Fft(spectrum, FftType::kIfft, {9})).ToString(), "c64[3,4,9]");
  EXPECT_TRUE(b.Build().ok());
}

TEST(LinalgOpsTest, CholeskyAndTriangularSolve) {
  XlaBuilder b("solve");
  XlaOp a = Parameter(&b, 0, ShapeUtil::MakeShape(C64, {5, 4, 4}), "a");
  XlaOp y = Parameter(&b, 1, ShapeUtil::MakeShape(C64, {5, 4, 2}), "y");
  XlaOp l = Cholesky(a, true);
  EXPECT_EQ(ResultOf(b, l).ToString(), "c64[5,4,4]");
  XlaOp x = TriangularSolve(l, y, true, true, false, TransposeKind::kAdjoint);
  EXPECT_EQ(ResultOf(b, x).ToString(), "c64[5,4,2]");
  const auto computation = b.Build();
  ASSERT_TRUE(computation.ok());
  EXPECT_NE(PrintHloModule(*computation->module()).find("transpose_a=ADJOINT"), std::string::npos);
}

TEST(LinalgOpsTest, ErrorsAreKept) {
  XlaBuilder b("wrong");
  XlaOp a = Parameter(&b, 0, ShapeUtil::MakeShape(F32, {4, 3}), "a");
  EXPECT_FALSE(Cholesky(a, true).valid());
  EXPECT_FALSE(TriangularSolve(a, a, true, true, false, TransposeKind::kNoTranspose).valid());
  EXPECT_FALSE(Fft(a, FftType::kFft, {3}).valid());
  EXPECT_FALSE(Fft(XlaOp(), FftType::kFft, {3}).valid());
  EXPECT_FALSE(b.Build().ok());
}

}  // namespace
}  // namespace hilo
