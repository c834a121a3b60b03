// Operations of the dialect sdy in StableHLO's text.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/import/stablehlo/stablehlo_import.h"
#include "hlo/text/hlo_printer.h"

namespace hilo {
namespace {

TEST(StablehloShardingsTest, OperationsOfShardings) {
  const auto text = [](absl::string_view shardings) {
    return absl::StrCat(R"(module {
  sdy.mesh @m = <["a"=1]>
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    sdy.sharding_group %x group_id=3 : tensor<4xf32>
    %b = sdy.propagation_barrier %x allowed_direction=FORWARD : tensor<4xf32>
    %c = sdy.named_computation<"part">(%b))",
                        shardings, R"( (%y: tensor<4xf32>) {
      %z = stablehlo.negate %y : tensor<4xf32>
      sdy.return %z : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %c : tensor<4xf32>
  }
})");
  };
  for (const absl::string_view shardings : {"", R"( in_shardings=[<@m, [{"a"}]>] out_shardings=[<@m, [{}]>])"}) {
    const auto program = ImportStablehlo(text(shardings));
    ASSERT_TRUE(program.ok()) << program.status();
    const std::string hlo = PrintHloModule(*program->module);
    EXPECT_TRUE(absl::StrContains(hlo, R"(xla.sdy.sharding_group_id="3")")) << hlo;
    EXPECT_TRUE(absl::StrContains(hlo, R"(xla.sdy.allowed_direction="1 : i32")")) << hlo;
    EXPECT_TRUE(absl::StrContains(hlo, "negate")) << hlo;
  }
}

// Collectives of the dialect sdy change the sharding of a value alone, in both forms of the text.
TEST(StablehloShardingsTest, CollectivesOfShardings) {
  const auto sharding = [](absl::string_view operation) {
    const auto program = ImportStablehlo(
        absl::StrCat(R"(module {
  sdy.mesh @m = <["x"=2, "y"=2]>
  func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %y = )",
                     operation, " : ", operation[0] == '"' ? "(tensor<8x8xf32>) -> " : "", R"(tensor<8x8xf32>
    return %y : tensor<8x8xf32>
  }
})"));
    return program.ok() ? PrintHloModule(*program->module) : std::string(program.status().message());
  };
  for (const absl::string_view operation : {
           R"(sdy.all_gather [{"x"}, {}] %x out_sharding=<@m, [{}, {"y"}]>)",
           R"(sdy.all_slice [{}, {"y"}] %x out_sharding=<@m, [{}, {"y"}]>)",
           R"(sdy.all_to_all [{"y"}: 0->1] %x out_sharding=<@m, [{}, {"y"}]>)",
           R"(sdy.all_reduce {"x":(1)2} %x out_sharding=<@m, [{}, {"y"}]>)",
           R"(sdy.reduce_scatter [{}, {"y"}] %x out_sharding=<@m, [{}, {"y"}]>)",
           R"(sdy.collective_permute %x out_sharding=<@m, [{}, {"y"}]>)",
           R"("sdy.all_gather"(%x) <{gathering_axes = #sdy<list_of_axis_ref_lists[{"x"}, {}]>,
              out_sharding = #sdy.sharding<@m, [{}, {"y"}]>}>)",
           R"("sdy.all_to_all"(%x) <{params = #sdy<all_to_all_param_list[{"y"}: 0->1]>,
              out_sharding = #sdy.sharding<@m, [{}, {"y"}]>}>)",
           R"("sdy.all_reduce"(%x) <{reduction_axes = #sdy<axis_ref_list{"x"}>, reduction_op = 0 : i32,
              out_sharding = #sdy.sharding<@m, [{}, {"y"}]>}>)",
       }) {
    const std::string hlo = sharding(operation);
    EXPECT_TRUE(absl::StrContains(hlo, R"(custom_call_target="Sharding", sharding={devices=[1,2,2]0,2,1,3)")) << hlo;
  }
}

}  // namespace
}  // namespace hilo
