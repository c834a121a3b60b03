#include "hlo/import/stablehlo/captures.h"

#include "absl/container/flat_hash_set.h"
#include "base/errors.h"

namespace hilo::stablehlo {

const Operation* ConstantOf(const Value& value) {
  const Operation* op = value.defined_by;
  for (int casts = 0; casts < kMaxCasts && op != nullptr && op->name == "builtin.unrealized_conversion_cast" &&
                      op->operands.size() == 1;
       ++casts) {
    op = op->operands[0]->defined_by;
  }
  return op != nullptr && op->name == "stablehlo.constant" ? op : nullptr;
}

// A value used in a region is captured by every region from there out to the one that defines it.
absl::StatusOr<Captures> Captures::Of(const MlirModule& program) {
  constexpr size_t kMaxCaptures = 10'000'000;
  Captures captures;
  absl::flat_hash_set<std::pair<const Region*, const Value*>> seen;
  for (const Operation& op : program.operations()) {
    for (Value* value : op.operands) {
      if (value->region == op.region || ConstantOf(*value) != nullptr) continue;
      for (const Region* region = op.region; region != nullptr && region != value->region;
           region = region->parent == nullptr ? nullptr : region->parent->region) {
        if (!seen.emplace(region, value).second) break;
        captures.values_[region].push_back(value);
      }
      if (seen.size() > kMaxCaptures)
        return ResourceExhausted("regions that capture more than ", kMaxCaptures, " values");
    }
  }
  return captures;
}

absl::Span<Value* const> Captures::operator[](const Region* region) const {
  const auto found = values_.find(region);
  return found == values_.end() ? absl::Span<Value* const>() : absl::Span<Value* const>(found->second);
}

std::vector<Value*> Captures::OfAll(const Operation& op) const {
  std::vector<Value*> all;
  absl::flat_hash_set<const Value*> seen;
  for (const Region* region : op.regions) {
    for (Value* value : (*this)[region]) {
      if (seen.insert(value).second) all.push_back(value);
    }
  }
  return all;
}

}  // namespace hilo::stablehlo
