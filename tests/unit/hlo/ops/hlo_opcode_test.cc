#include "hlo/ops/table/hlo_opcode.h"

#include "gtest/gtest.h"
#include "hlo/ops/table/op.h"

namespace hilo {
namespace {

TEST(HloOpcodeTest, NamesAreUniqueAndFound) {
  for (int i = 0; i < kHloOpcodeCount; ++i) {
    const HloOpcode opcode = static_cast<HloOpcode>(i);
    EXPECT_EQ(HloOpcodeFromString(HloOpcodeString(opcode)), opcode) << HloOpcodeString(opcode);
  }
  EXPECT_EQ(HloOpcodeFromString("Add"), std::nullopt);
  EXPECT_EQ(HloOpcodeFromString(""), std::nullopt);
}

TEST(HloOpcodeTest, Facts) {
  EXPECT_EQ(OpcodeInfo(HloOpcode::kTan).family, HloFamily::kUnary);
  EXPECT_EQ(OpcodeInfo(HloOpcode::kConcatenate).arity, kVariadic);
  EXPECT_EQ(OpcodeInfo(HloOpcode::kWhile).called, "condition,body");
  EXPECT_TRUE(IsElementwise(HloOpcode::kAdd) && IsElementwise(HloOpcode::kSelect));
  EXPECT_FALSE(IsElementwise(HloOpcode::kTranspose));
  EXPECT_TRUE(HasTrait(HloOpcode::kAdd, kCommutative));
  EXPECT_FALSE(HasTrait(HloOpcode::kSubtract, kCommutative));
  EXPECT_TRUE(HasTrait(HloOpcode::kPad, kMovement));
  EXPECT_TRUE(HasTrait(HloOpcode::kOutfeed, kSideEffect));
  EXPECT_FALSE(HasTrait(HloOpcode::kWhile, kSideEffect));
}

TEST(HloOpcodeTest, TypeClasses_CoverEveryArrayTypeOnce) {
  for (int i = 0; i < kPrimitiveTypeCount; ++i) {
    const PrimitiveType type = static_cast<PrimitiveType>(i);
    int classes = 0;
    for (TypeClass c : {kBool, kSignedInt, kUnsignedInt, kFloat, kComplex}) classes += InTypeClass(type, c);
    EXPECT_EQ(classes, IsArrayType(type) ? 1 : 0) << PrimitiveTypeName(type);
  }
}

}  // namespace
}  // namespace hilo
