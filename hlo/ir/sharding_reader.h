// Reads HLO's notation of shardings, and what Shardy's has in common with it. Private to hlo/ir.
#ifndef HILO_HLO_IR_SHARDING_READER_H_
#define HILO_HLO_IR_SHARDING_READER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/tile_assignment.h"
#include "hlo/ops/table/attribute_reader.h"

namespace hilo {

constexpr int64_t kMaxShardedDevices = 1 << 16;

absl::StatusOr<int64_t> ReadNumber(AttributeReader& reader);
// "a,b,c" between `open` and `close`.
absl::StatusOr<std::vector<int64_t>> ReadNumbers(AttributeReader& reader, char open, char close);
// "[4,2]T(1,0)": 0, 1 ... as an array of these dimensions, transposed, read row by row.
absl::StatusOr<std::vector<int64_t>> ReadIotaDevices(AttributeReader& reader);
// {op_type="sdy::reduction_op" op_name="MAX"}, or a list of such, sets the reduction; other metadata is skipped.
absl::Status ReadShardingMetadata(AttributeReader& reader, TileAssignment* tiles);

// The product of `sizes`. Errors: InvalidArgument unless they are positive and make at most kMaxShardedDevices.
absl::StatusOr<int64_t> DeviceCount(const std::vector<int64_t>& sizes);
// The digits of `number` in `sizes`, the last one the fastest.
std::vector<int64_t> Digits(int64_t number, const std::vector<int64_t>& sizes);

// Behind "{mesh" up to the closing brace: ['x'=2,'y'=4], device_ids=([4,2]T(1,0)), [{'x'}, {'y':(1)2, ?}],
// replicated={'y':(2)2}}.
absl::StatusOr<StatedSharding> ReadMeshSharding(AttributeReader& reader);

}  // namespace hilo

#endif  // HILO_HLO_IR_SHARDING_READER_H_
