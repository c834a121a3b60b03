#include "hlo/ops/semantics.h"
#include "hlo/ops/table/op_attributes.h"
#include "tests/unit/hlo/ops/inference_case.h"

namespace hilo {
namespace {

const std::vector<InferenceCase> kTranspose = {
    {"matrix", {"f32[2,<=3]"}, {{"dimensions", "{1,0}"}}, {}, "f32[<=3,2]"},
    {"scalar", {"f32[]"}, {{"dimensions", "{}"}}, {}, "f32[]"},
    {"transpose_c2",
     {"f32[2,3]"},
     {{"dimensions", "{0,0}"}},
     {},
     "error: transpose: dimensions = {0,0} is not a permutation of 0..1"},
};
HILO_INFERENCE_TESTS(TransposeTest, HloOpcode::kTranspose, kTranspose);

const std::vector<InferenceCase> kSlice = {
    {"whole_dimension_stays_dynamic", {"f32[<=4,<=4]"}, {{"slice", "{[0:4], [0:3]}"}}, {}, "f32[<=4,3]"},
    {"huge_stride", {"f32[4]"}, {{"slice", "{[0:4:9223372036854775807]}"}}, {}, "f32[1]"},
    {"empty", {"f32[4]"}, {{"slice", "{[4:4]}"}}, {}, "f32[0]"},
    {"slice_c4", {"f32[4]"}, {{"slice", "{[0:4:-9223372036854775808]}"}}, {}, "error: slice: strides[0]"},
};
HILO_INFERENCE_TESTS(SliceTest, HloOpcode::kSlice, kSlice);

const std::vector<InferenceCase> kPad = {
    {"dynamic", {"f32[<=3]", "f32[]"}, {{"padding", "1_0"}}, {}, "f32[<=4]"},
    {"no_attribute_for_rank_0", {"f32[]", "f32[]"}, {}, {}, "f32[]"},
    {"overflow",
     {"f32[3]", "f32[]"},
     {{"padding", "9223372036854775807_9223372036854775807"}},
     {},
     "error: pad: padding = 9223372036854775807_9223372036854775807 is too large for result dimension 0"},
    {"too_large", {"f32[3]", "f32[]"}, {{"padding", "9000000000000000000_0"}}, {}, "error: pad: "},
};
HILO_INFERENCE_TESTS(PadTest, HloOpcode::kPad, kPad);

const std::vector<InferenceCase> kConcatenate = {
    {"dynamic", {"f32[<=3,2]", "f32[1,<=2]"}, {{"dimensions", "{0}"}}, {}, "f32[<=4,<=2]"},
    {"concatenate_c4",
     {"f32[3]"},
     {{"dimensions", "{-1}"}},
     {},
     "error: concatenate: dimensions = {-1} is out of range"},
    {"overflow",
     {"pred[4000000000000000000]", "pred[4000000000000000000]", "pred[4000000000000000000]"},
     {{"dimensions", "{0}"}},
     {},
     "error: concatenate: the size of result dimension 0 overflows"},
};
HILO_INFERENCE_TESTS(ConcatenateTest, HloOpcode::kConcatenate, kConcatenate);

// Ops that return the stated shape need one.
const std::vector<InferenceCase> kReshape = {
    {"stated", {"f32[4]"}, {}, {}, "f32[2,2]", "f32[2,2]"},
    {"unstated", {"f32[4]"}, {}, {}, "error: reshape: the result shape must be stated"},
    {"invalid", {"f32[4]"}, {}, {}, "error: reshape: the result must be an array", "token[]"},
};
HILO_INFERENCE_TESTS(ReshapeTest, HloOpcode::kReshape, kReshape);

const std::vector<InferenceCase> kBitcastConvert = {
    {"wider", {"f16[10,2]"}, {}, {}, "f32[10]", "f32[10]"},
    {"narrower", {"f32[10]"}, {}, {}, "f16[10,2]", "f16[10,2]"},
    {"sub_byte", {"s4[3,16]"}, {}, {}, "u64[3]", "u64[3]"},
    {"bitcast_convert_c1", {"f16[]"}, {}, {}, "error: bitcast-convert: from 16 to 32 bits", "f32[]"},
    {"bitcast_convert_c2", {"c64[2]"}, {}, {}, "error: bitcast-convert: cannot convert between complex", "u64[2]"},
};
HILO_INFERENCE_TESTS(BitcastConvertTest, HloOpcode::kBitcastConvert, kBitcastConvert);

TEST(MovementTest, AttributesMustBeThere) {
  const Shape operand(F32, {4});
  const Shape* operands[] = {&operand};
  const absl::Status status = InferShape({.opcode = HloOpcode::kReverse, .operands = operands}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "reverse: needs its attributes");
}

}  // namespace
}  // namespace hilo
