// Barriers in shared memory and copies of tensors in a block's run.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/gpu/emulated/block_run.h"

namespace hilo::gpu {
namespace {

constexpr int64_t kBarrierBytes = 8, kCopyAlignment = 128, kCopyChunk = 16;

extern "C" {

void hilo_emulated_shared_barrier(ThreadContext* thread, uint32_t step, uint32_t at, uint32_t value, uint32_t site) {
  thread->run->AtSharedBarrier(thread, static_cast<BarrierStep>(step), at, value, site);
}

void hilo_emulated_tensor_copy(ThreadContext* thread, uint32_t to, const TensorMap* map, const int32_t* coordinates,
                               uint32_t barrier, uint32_t site) {
  thread->run->CopyTensor(*thread, to, *map, coordinates, barrier, site);
}

}  // extern "C"

// Where swizzling moves a byte of shared memory.
int64_t Swizzled(int64_t at, int64_t swizzle) {
  return swizzle == 0 ? at : at ^ (at / 128 % (swizzle / kCopyChunk) * kCopyChunk);
}

}  // namespace

std::vector<codegen::HostSymbol> SharedBarrierSymbols() {
  return {{kSharedBarrierFunction, reinterpret_cast<void*>(&hilo_emulated_shared_barrier)},
          {kTensorCopyFunction, reinterpret_cast<void*>(&hilo_emulated_tensor_copy)}};
}

void BlockRun::AtSharedBarrier(ThreadContext* thread, BarrierStep step, int64_t at, uint32_t value, uint32_t site) {
  const bool is_init = step == BarrierStep::kInit;
  std::string fault;
  if (at + kBarrierBytes > shared_bytes_) {
    fault = absl::StrCat("a barrier at byte ", at, " of ", shared_bytes_, " shared bytes");
  } else {
    if (checker_ != nullptr) {
      checker_->Access(*thread, shared_ + at, kBarrierBytes, kBarrierBytes,
                       is_init ? AccessKind::kStore : AccessKind::kAtomic, site);
    }
    fault = is_init                        ? barriers_.Init(at, value)
            : step == BarrierStep::kArrive ? barriers_.Arrive(at, value)
                                           : barriers_.CheckWait(at);
  }
  if (!fault.empty())
    return reports_->Add("shared-barrier", absl::StrCat(Who(*thread), ": ", fault, " (site ", site, ")"));
  if (step != BarrierStep::kWait) return;
  thread->state = ThreadState::kAtSharedBarrier;
  thread->operand = static_cast<uint32_t>(at);
  thread->value = value;
  Yield(thread);
}

bool BlockRun::LeavesSharedBarrier(const ThreadContext& thread) {
  return barriers_.HasEnded(thread.operand, (thread.value & 1) != 0, [&](const TensorCopy& copy) { Land(copy); });
}

void BlockRun::CopyTensor(const ThreadContext& thread, int64_t to, const TensorMap& map, const int32_t* coordinates,
                          int64_t barrier, uint32_t site) {
  const auto fails = [&](const char* kind, const auto&... what) {
    reports_->Add(kind, absl::StrCat(Who(thread), " copies ", what..., " (site ", site, ")"));
  };
  if (const std::string fault = map.Fault(); !fault.empty()) return fails("tensor-map", "of a tensor with ", fault);
  if (to % kCopyAlignment != 0)
    return fails("misaligned", "a tensor to byte ", to, " of shared memory, expected a multiple of ", kCopyAlignment);
  if (map.swizzle != 0 && map.box[0] * map.element_bytes != map.swizzle)
    return fails("tensor-map", "lines of ", map.box[0] * map.element_bytes, " bytes with a swizzle of ", map.swizzle);
  if (to + map.BoxBytes() > shared_bytes_) {
    return fails("shared-out-of-bounds", map.BoxBytes(), " bytes to byte ", to, " of ", shared_bytes_, " shared bytes");
  }
  TensorCopy copy = CopyOf(map, coordinates, to);
  if (checker_ != nullptr) {
    for (const TensorCopy::Line& line : copy.lines) {
      if (line.bytes == 0) continue;
      auto* const from = const_cast<uint8_t*>(line.from);
      if (checker_->Range(thread, from, line.bytes, AccessKind::kLoad, site) == 0) return;
    }
    if (!checker_->BeginTensorCopy(thread, shared_ + to, copy.bytes(), site)) return;
  }
  if (const std::string fault = barriers_.Start(barrier, std::move(copy)); !fault.empty())
    fails("shared-barrier", "a tensor: ", fault);
}

void BlockRun::Land(const TensorCopy& copy) {
  int64_t at = copy.to;
  for (const TensorCopy::Line& line : copy.lines) {
    for (int64_t chunk = 0; chunk < copy.line_bytes; chunk += kCopyChunk) {
      uint8_t bytes[kCopyChunk] = {};
      const int64_t first = std::max(chunk, line.first), last = std::min(chunk + kCopyChunk, line.first + line.bytes);
      if (last > first)
        std::memcpy(bytes + (first - chunk), line.from + (first - line.first), static_cast<size_t>(last - first));
      std::memcpy(shared_ + Swizzled(at + chunk, copy.swizzle), bytes, kCopyChunk);
    }
    at += copy.line_bytes;
  }
  if (checker_ != nullptr) checker_->EndTensorCopy(shared_ + copy.to, copy.bytes());
}

}  // namespace hilo::gpu
