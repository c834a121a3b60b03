#include "backends/gpu/emulated/shared_barriers.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace hilo::gpu {

TensorCopy CopyOf(const TensorMap& map, const int32_t* coordinates, int64_t to) {
  TensorCopy copy{.to = to, .line_bytes = map.box[0] * map.element_bytes, .swizzle = map.swizzle};
  const int64_t first = std::clamp<int64_t>(-int64_t{coordinates[0]}, 0, map.box[0]),
                last = std::clamp<int64_t>(map.sizes[0] - coordinates[0], first, map.box[0]);
  const int64_t lines = map.BoxBytes() / copy.line_bytes;
  for (int64_t line = 0; line < lines; ++line) {
    int64_t rest = line, offset = (coordinates[0] + first) * map.element_bytes;
    bool inside = last > first;
    for (int d = 1; d < map.dimensions; ++d) {
      const int64_t at = coordinates[d] + rest % map.box[d];
      rest /= map.box[d];
      inside &= at >= 0 && at < map.sizes[d];
      offset += at * map.strides[d];
    }
    copy.lines.push_back(inside ? TensorCopy::Line{static_cast<const uint8_t*>(map.address) + offset,
                                                   first * map.element_bytes, (last - first) * map.element_bytes}
                                : TensorCopy::Line{});
  }
  return copy;
}

std::string SharedBarriers::Init(int64_t at, int64_t threads) {
  if (at % 8 != 0) return absl::StrCat("a barrier at byte ", at, ", expected a multiple of 8");
  if (threads < 1 || threads >= 1 << 20)
    return absl::StrCat("a barrier of ", threads, " threads, expected 1 to 1048575");
  const auto [it, is_new] = barriers_.try_emplace(at);
  if (!is_new && !it->second.copies.empty()) return absl::StrCat("a barrier at byte ", at, " at which copies complete");
  it->second = {.threads = threads, .missing = threads};
  return "";
}

std::string SharedBarriers::Arrive(int64_t at, int64_t bytes) {
  const auto it = barriers_.find(at);
  if (it == barriers_.end()) return absl::StrCat("no barrier was initialized at byte ", at);
  Barrier& barrier = it->second;
  if (barrier.missing == 0)
    return absl::StrCat("more than the ", barrier.threads, " threads of the barrier at byte ", at,
                        " arrive in a phase");
  barrier.bytes += bytes;
  --barrier.missing;
  // Without copies nothing is left to wait for.
  if (barrier.missing == 0 && barrier.bytes == 0 && barrier.copies.empty()) End(barrier);
  return "";
}

std::string SharedBarriers::Start(int64_t at, TensorCopy copy) {
  const auto it = barriers_.find(at);
  if (it == barriers_.end()) return absl::StrCat("no barrier was initialized at byte ", at);
  it->second.bytes -= copy.bytes();
  it->second.copies.push_back(std::move(copy));
  return "";
}

std::string SharedBarriers::CheckWait(int64_t at) const {
  return barriers_.contains(at) ? "" : absl::StrCat("no barrier was initialized at byte ", at);
}

bool SharedBarriers::HasEnded(int64_t at, bool parity, Landed landed) {
  Barrier& barrier = barriers_.at(at);
  if (barrier.parity != parity) return true;
  if (barrier.missing != 0 || barrier.bytes != 0) return false;
  for (const TensorCopy& copy : std::exchange(barrier.copies, {})) landed(copy);
  End(barrier);
  return true;
}

void SharedBarriers::End(Barrier& barrier) {
  barrier.parity = !barrier.parity;
  barrier.missing = barrier.threads;
}

int64_t SharedBarriers::pending_copies() const {
  int64_t count = 0;
  for (const auto& [at, barrier] : barriers_) count += static_cast<int64_t>(barrier.copies.size());
  return count;
}

std::string SharedBarriers::Waits(int64_t at) const {
  const Barrier& barrier = barriers_.at(at);
  return absl::StrCat("the barrier at byte ", at, " waits for ", barrier.missing, " of ", barrier.threads, " threads",
                      barrier.bytes > 0 ? absl::StrCat(" and for ", barrier.bytes, " bytes that nothing copies")
                      : barrier.bytes < 0
                          ? absl::StrCat(", and ", -barrier.bytes, " bytes are copied that no thread announced")
                          : "");
}

}  // namespace hilo::gpu
