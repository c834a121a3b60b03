#include "pjrt/xla_flags.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace hilo::pjrt {
namespace {

struct Flag {
  absl::string_view name;  // after xla_
  XlaFlagType type;
};

// Sorted. Of the flags for GPUs only those that occur in programs for every platform.
constexpr Flag kFlags[] = {
    {"backend_optimization_level", XlaFlagType::kInt},
    {"cpu_copy_insertion_use_region_analysis", XlaFlagType::kBool},
    {"cpu_emitter_verification_level", XlaFlagType::kInt},
    {"cpu_enable_concurrency_optimized_scheduler", XlaFlagType::kBool},
    {"cpu_enable_fast_math", XlaFlagType::kBool},
    {"cpu_enable_fast_min_max", XlaFlagType::kBool},
    {"cpu_enable_platform_dependent_math", XlaFlagType::kBool},
    {"cpu_fast_math_honor_division", XlaFlagType::kBool},
    {"cpu_fast_math_honor_functions", XlaFlagType::kBool},
    {"cpu_fast_math_honor_infs", XlaFlagType::kBool},
    {"cpu_fast_math_honor_nans", XlaFlagType::kBool},
    {"cpu_max_isa", XlaFlagType::kString},
    {"cpu_multi_thread_eigen", XlaFlagType::kBool},
    {"cpu_parallel_codegen_split_count", XlaFlagType::kInt},
    {"cpu_prefer_vector_width", XlaFlagType::kInt},
    {"cpu_strict_dot_conv_math", XlaFlagType::kBool},
    {"cpu_use_acl", XlaFlagType::kBool},
    {"cpu_use_fusion_emitters", XlaFlagType::kBool},
    {"cpu_use_onednn", XlaFlagType::kBool},
    {"cpu_use_thunk_runtime", XlaFlagType::kBool},
    {"cpu_use_xnnpack", XlaFlagType::kBool},
    {"detailed_logging", XlaFlagType::kBool},
    {"disable_all_hlo_passes", XlaFlagType::kBool},
    {"dump_compress_protos", XlaFlagType::kBool},
    {"dump_disable_metadata", XlaFlagType::kBool},
    {"dump_enable_mlir_pretty_form", XlaFlagType::kBool},
    {"dump_fusion_visualization", XlaFlagType::kBool},
    {"dump_hlo_as_dot", XlaFlagType::kBool},
    {"dump_hlo_as_html", XlaFlagType::kBool},
    {"dump_hlo_as_long_text", XlaFlagType::kBool},
    {"dump_hlo_as_proto", XlaFlagType::kBool},
    {"dump_hlo_as_text", XlaFlagType::kBool},
    {"dump_hlo_as_url", XlaFlagType::kBool},
    {"dump_hlo_module_re", XlaFlagType::kString},
    {"dump_hlo_pass_re", XlaFlagType::kString},
    {"dump_hlo_pipeline_re", XlaFlagType::kString},
    {"dump_hlo_snapshots", XlaFlagType::kBool},
    {"dump_include_timestamp", XlaFlagType::kBool},
    {"dump_large_constants", XlaFlagType::kBool},
    {"dump_latency_hiding_schedule", XlaFlagType::kBool},
    {"dump_max_hlo_modules", XlaFlagType::kInt},
    {"dump_module_metadata", XlaFlagType::kBool},
    {"eliminate_hlo_implicit_broadcast", XlaFlagType::kBool},
    {"embed_ir_in_executable", XlaFlagType::kBool},
    {"enable_dumping", XlaFlagType::kBool},
    {"force_host_platform_device_count", XlaFlagType::kInt},
    {"gpu_auto_spmd_partitioning_memory_budget_gb", XlaFlagType::kInt},
    {"gpu_auto_spmd_partitioning_memory_budget_ratio", XlaFlagType::kFloat},
    {"gpu_autotune_level", XlaFlagType::kInt},
    {"hlo_evaluator_use_fast_path", XlaFlagType::kBool},
    {"hlo_graph_addresses", XlaFlagType::kBool},
    {"hlo_graph_sharding_color", XlaFlagType::kBool},
    {"hlo_profile", XlaFlagType::kBool},
    {"keep_shardings_after_spmd", XlaFlagType::kBool},
    {"llvm_disable_expensive_passes", XlaFlagType::kBool},
    {"llvm_enable_alias_scope_metadata", XlaFlagType::kBool},
    {"llvm_enable_invariant_load_metadata", XlaFlagType::kBool},
    {"llvm_enable_noalias_metadata", XlaFlagType::kBool},
    {"reduce_window_rewrite_base_length", XlaFlagType::kInt},
    {"syntax_sugar_async_ops", XlaFlagType::kBool},
    {"test_all_input_layouts", XlaFlagType::kBool},
    {"test_all_output_layouts", XlaFlagType::kBool},
};

}  // namespace

XlaFlagType XlaFlagTypeOf(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, "xla_")) return XlaFlagType::kNone;
  const Flag* flag = std::lower_bound(std::begin(kFlags), std::end(kFlags), name,
                                      [](const Flag& row, absl::string_view sought) { return row.name < sought; });
  if (flag != std::end(kFlags) && flag->name == name) return flag->type;
  const bool has_other_values =
      name == "disable_hlo_passes" || name == "enable_hlo_passes_only" || name == "step_marker_location";
  return has_other_values || absl::StartsWith(name, "gpu_") || absl::StartsWith(name, "tpu_") ? XlaFlagType::kAny
                                                                                              : XlaFlagType::kNone;
}

}  // namespace hilo::pjrt
