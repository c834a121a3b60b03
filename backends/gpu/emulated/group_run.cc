// The multiplications of warp groups in a block's run.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/gpu/emulated/block_run.h"
#include "backends/gpu/emulated/group_multiply.h"

namespace hilo::gpu {
namespace {

extern "C" {

void hilo_emulated_group_multiply(ThreadContext* thread, uint32_t multiplication, uint32_t* words, uint32_t site) {
  if (!thread->groups->Start()) {
    thread->run->reports()->Add(
        "multiply-unfenced",
        absl::StrCat(Who(*thread), " multiplies without a wgmma.fence after its accesses to registers (site ", site,
                     ")"));
  }
  thread->state = ThreadState::kInWarpOperation;
  thread->operation = WarpOperation::kMultiplyByGroup;
  thread->operand = multiplication;
  thread->words = words;
  thread->site = site;
  thread->run->Yield(thread);
}

void hilo_emulated_group_step(ThreadContext* thread, uint32_t step, uint32_t pending, uint32_t site) {
  switch (static_cast<GroupStep>(step)) {
    case GroupStep::kFence: return thread->groups->Fence();
    case GroupStep::kCommit: return thread->groups->Commit();
    case GroupStep::kWait: break;
  }
  if (!thread->groups->Wait(pending)) {
    thread->run->reports()->Add("multiply-uncommitted",
                                absl::StrCat(Who(*thread),
                                             " waits for multiplications that no wgmma.commit_group made "
                                             "a group of (site ",
                                             site, ")"));
  }
  thread->run->EndGroupReads(*thread);
}

void hilo_emulated_proxy_fence(ThreadContext* thread) {
  AccessChecker* const checker = thread->run->checker();
  if (checker != nullptr) checker->ProxyFence(*thread);
}

}  // extern "C"

}  // namespace

std::vector<codegen::HostSymbol> GroupSymbols() {
  return {{kGroupMultiplyFunction, reinterpret_cast<void*>(&hilo_emulated_group_multiply)},
          {kGroupStepFunction, reinterpret_cast<void*>(&hilo_emulated_group_step)},
          {kProxyFenceFunction, reinterpret_cast<void*>(&hilo_emulated_proxy_fence)}};
}

void BlockRun::EndGroupReads(const ThreadContext& thread) {
  if (checker_ == nullptr || thread.lane != 0) return;
  std::vector<GroupRead>& reads = group_reads_[thread.linear / kWarpSize];
  const auto kept = std::remove_if(reads.begin(), reads.end(), [&](const GroupRead& read) {
    if (read.group >= thread.groups->finished()) return false;
    checker_->EndGroupRead(read.address, read.bytes);
    return true;
  });
  reads.erase(kept, reads.end());
}

void BlockRun::ReleaseGroup(ThreadContext& waiting) {
  const int64_t first = waiting.linear / kGroupThreads * kGroupThreads;
  const auto fails = [&](const char* kind, const auto&... why) {
    reports_->Add(kind, absl::StrCat(Who(waiting), why..., " (site ", waiting.site, ")"));
    waiting.state = ThreadState::kReady;
  };
  if (first + kGroupThreads > thread_count_)
    return fails("group-threads", " multiplies in a warp group of ", thread_count_ - first, " threads");
  ThreadContext* const group = &threads_[first];
  bool arrived = true;
  for (int i = 0; i < kGroupThreads; ++i) {
    const ThreadContext& other = group[i];
    if (other.state == ThreadState::kDone)
      return fails("group-exited", " multiplies in a warp group of which thread ", first + i, " has ended");
    arrived &= other.state == ThreadState::kInWarpOperation && other.operation == waiting.operation &&
               other.site == waiting.site;
  }
  if (!arrived) return;
  bool same = true;
  for (int i = 1; i < kGroupThreads; ++i)
    same &= std::memcmp(group[i].words, group->words, kDescriptorWords * sizeof(uint32_t)) == 0;
  if (same) {
    MultiplyGroup(group);
  } else {
    fails("group-divergent", "'s warp group multiplies with different descriptors");
  }
  for (int i = 0; i < kGroupThreads; ++i) group[i].state = ThreadState::kReady;
}

// The product is computed at once; that the bytes stay as they are until it is waited for is checked.
void BlockRun::MultiplyGroup(ThreadContext* group) {
  const GroupMultiplication multiplication = GroupMultiplication::Decode(group->operand);
  uint64_t descriptors[2];
  std::memcpy(descriptors, group->words, sizeof(descriptors));
  bool valid = true;
  for (int side = 0; side < 2; ++side) {
    const std::string fault =
        SharedMatrix::Decode(descriptors[side])
            .Fault(side == 0 ? multiplication.lhs_transposed : multiplication.rhs_transposed, multiplication.type);
    if (fault.empty()) continue;
    valid = false;
    reports_->Add("matrix-descriptor",
                  absl::StrCat(Who(*group), " multiplies by a descriptor with ", fault, " (site ", group->site, ")"));
  }
  if (!valid) return;
  ForEachRead(multiplication, descriptors[0], descriptors[1], [&](int64_t offset, int64_t bytes) {
    if (offset + bytes > shared_bytes_) {
      if (valid) {
        reports_->Add("shared-out-of-bounds",
                      absl::StrCat(Who(*group), " multiplies ", bytes, " bytes at offset ", offset, " of ",
                                   shared_bytes_, " shared bytes (site ", group->site, ")"));
      }
      valid = false;
      return;
    }
    if (checker_ == nullptr || !checker_->BeginGroupRead(*group, shared_ + offset, bytes, group->site)) return;
    for (int warp = 0; warp < kGroupThreads / kWarpSize; ++warp) {
      const ThreadContext& first = group[warp * kWarpSize];
      group_reads_[first.linear / kWarpSize].push_back({first.groups->group(), shared_ + offset, bytes});
    }
  });
  if (!valid) return;
  std::array<uint32_t*, kGroupThreads> words;
  for (int i = 0; i < kGroupThreads; ++i) words[i] = group[i].words;
  MultiplyByGroup(multiplication, shared_, words);
}

}  // namespace hilo::gpu
