// Attributes of the random number ops.
#ifndef HILO_HLO_OPS_RANDOM_RANDOM_ATTRIBUTES_H_
#define HILO_HLO_OPS_RANDOM_RANDOM_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "hilo/xla_data.h"
#include "hlo/ops/table/attributes.h"

namespace hilo {

enum class RandomDistribution { kInvalid, kUniform, kNormal };
template <>
struct EnumNames<RandomDistribution> {
  static constexpr absl::string_view names[] = {"rng_invalid", "rng_uniform", "rng_normal"};
};
struct RngAttrs : Attributes<RngAttrs> {
  RandomDistribution distribution = RandomDistribution::kInvalid;
  static constexpr auto Fields() { return std::make_tuple(Field("distribution", &RngAttrs::distribution)); }
};

template <>
struct EnumNames<RandomAlgorithm> {
  static constexpr absl::string_view names[] = {"rng_default", "rng_three_fry", "rng_philox"};
};
struct RngBitGeneratorAttrs : Attributes<RngBitGeneratorAttrs> {
  RandomAlgorithm algorithm = RandomAlgorithm::kDefault;
  static constexpr auto Fields() { return std::make_tuple(Field("algorithm", &RngBitGeneratorAttrs::algorithm)); }
};

struct RngGetAndUpdateStateAttrs : Attributes<RngGetAndUpdateStateAttrs> {
  int64_t delta = 0;
  static constexpr auto Fields() { return std::make_tuple(Field("delta", &RngGetAndUpdateStateAttrs::delta)); }
};

}  // namespace hilo

#endif  // HILO_HLO_OPS_RANDOM_RANDOM_ATTRIBUTES_H_
