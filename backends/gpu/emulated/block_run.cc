// Threads that never wait are a loop. Others are fibers: a scheduler visits them in some order, runs those that are
// ready until they wait or end, and releases a warp's lanes when all lanes that an operation names have reached it, and
// the block when every thread is at the barrier. An iteration without progress is a deadlock, and is reported.
//
// Blocks run one after the other, or on several host threads, unless threads wait for what other blocks store: then a
// few blocks take turns, an iteration of their schedulers each, and the next one starts when one of them ends. As on a
// GPU, a block can wait for blocks that have started, and must not wait for others.
#include "backends/gpu/emulated/block_run.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/gpu/emulated/matrix_operations.h"
#include "backends/gpu/emulated/thread_stacks.h"
#include "base/stack_switch.h"

namespace hilo::gpu {
namespace {

constexpr int64_t kStackBytes = 32 << 10;
constexpr int64_t kStackAlignment = 4096;
constexpr int64_t kSharedSlack = 1024;  // for alignment
constexpr int64_t kResidentBlocks = 4;  // of a kernel whose blocks wait for each other

thread_local BlockRun* starting = nullptr;

int64_t StackBytes(const EmulatedKernelInfo& kernel) {
  return (kStackBytes + 2 * kernel.stack_bytes + kStackAlignment - 1) / kStackAlignment * kStackAlignment;
}

extern "C" {

void hilo_emulated_barrier(ThreadContext* thread, uint32_t site) {
  thread->state = ThreadState::kAtBarrier;
  thread->site = site;
  thread->run->Yield(thread);
}

void hilo_emulated_poll(ThreadContext* thread) {
  thread->state = ThreadState::kPolling;
  thread->run->Yield(thread);
}

uint32_t hilo_emulated_warp(ThreadContext* thread, uint32_t operation, uint32_t mask, uint32_t value, uint32_t operand,
                            uint32_t clamp, uint32_t site) {
  thread->state = ThreadState::kInWarpOperation;
  thread->operation = static_cast<WarpOperation>(operation);
  thread->mask = mask;
  thread->value = value;
  thread->operand = operand;
  thread->clamp = clamp;
  thread->site = site;
  thread->result = value;
  if ((mask >> thread->lane & 1) == 0) {
    thread->run->reports()->Add(
        "shuffle-mask", absl::StrCat(Who(*thread), " is not in the mask of its own warp operation (site ", site, ")"));
    thread->state = ThreadState::kReady;
    return value;
  }
  thread->run->Yield(thread);
  if (thread->operation == WarpOperation::kBarrier) ++thread->warp_epoch;
  return thread->result;
}

void hilo_emulated_matrix(ThreadContext* thread, uint32_t operation, uint32_t* words, uint32_t site) {
  thread->words = words;
  hilo_emulated_warp(thread, operation, ~0u, 0, 0, 0, site);
}

void* hilo_emulated_access(ThreadContext* thread, void* address, uint64_t bytes, uint32_t alignment, uint32_t kind,
                           uint32_t site) {
  return thread->run->checker()->Access(*thread, static_cast<uint8_t*>(address), static_cast<int64_t>(bytes), alignment,
                                        static_cast<AccessKind>(kind), site);
}

uint64_t hilo_emulated_range(ThreadContext* thread, void* address, uint64_t bytes, uint32_t kind, uint32_t site) {
  return thread->run->checker()->Range(*thread, static_cast<uint8_t*>(address), static_cast<int64_t>(bytes),
                                       static_cast<AccessKind>(kind), site);
}

void hilo_emulated_copy(ThreadContext* thread, void* shared, const void* global, uint32_t bytes, uint32_t from_global,
                        uint32_t site) {
  const AsyncCopy copy{static_cast<uint8_t*>(shared), static_cast<const uint8_t*>(global), bytes,
                       std::min(from_global, bytes), site};
  AccessChecker* const checker = thread->run->checker();
  if (checker == nullptr || checker->StartCopy(*thread, copy)) thread->copies->Start(copy);
}

void hilo_emulated_copy_commit(ThreadContext* thread) { thread->copies->Commit(); }

void hilo_emulated_copy_wait(ThreadContext* thread, int32_t pending) {
  AccessChecker* const checker = thread->run->checker();
  thread->copies->Wait(pending, [&](const AsyncCopy& copy) {
    if (checker != nullptr) checker->LandCopy(*thread, copy);
  });
}

}  // extern "C"

}  // namespace

std::vector<codegen::HostSymbol> ThreadSymbols() {
  return {{kBarrierFunction, reinterpret_cast<void*>(&hilo_emulated_barrier)},
          {kPollFunction, reinterpret_cast<void*>(&hilo_emulated_poll)},
          {kWarpFunction, reinterpret_cast<void*>(&hilo_emulated_warp)},
          {kMatrixFunction, reinterpret_cast<void*>(&hilo_emulated_matrix)},
          {kAccessFunction, reinterpret_cast<void*>(&hilo_emulated_access)},
          {kRangeFunction, reinterpret_cast<void*>(&hilo_emulated_range)},
          {kCopyFunction, reinterpret_cast<void*>(&hilo_emulated_copy)},
          {kCopyCommitFunction, reinterpret_cast<void*>(&hilo_emulated_copy_commit)},
          {kCopyWaitFunction, reinterpret_cast<void*>(&hilo_emulated_copy_wait)}};
}

BlockRun::BlockRun(const EmulatedLaunch& launch, AccessChecker* checker, AccessCounter* counter, LaunchReports* reports,
                   int64_t slot, int64_t slots)
    : launch_(launch),
      checker_(checker),
      counter_(counter),
      reports_(reports),
      thread_count_(launch.dimensions.block.count()),
      slot_(slot),
      slots_(slots),
      shared_bytes_(launch.kernel->shared_bytes + launch.dimensions.dynamic_shared_bytes),
      random_(launch.seed) {
  if (shared_bytes_ > 0) {
    shared_storage_.resize(shared_bytes_ + kSharedSlack);
    shared_ = reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(shared_storage_.data()) + kSharedSlack - 1) /
                                         kSharedSlack * kSharedSlack);
  }
  threads_.resize(launch.kernel->has_barriers ? thread_count_ : 1);
  copies_.resize(threads_.size());
  groups_.resize(threads_.size());
  group_reads_.resize((threads_.size() + kWarpSize - 1) / kWarpSize);
  order_.resize(thread_count_);
  std::iota(order_.begin(), order_.end(), 0u);
  if (launch.seed == 1) std::reverse(order_.begin(), order_.end());
  if (launch.seed >= 2) std::shuffle(order_.begin(), order_.end(), random_);
  for (size_t i = 0; i < threads_.size(); ++i) {
    ThreadContext& thread = threads_[i];
    std::memset(&thread, 0, sizeof(thread));
    const auto set = [](const Dim3& from, uint32_t* to) {
      to[0] = from.x;
      to[1] = from.y;
      to[2] = from.z;
    };
    set(launch.dimensions.block, thread.block_size);
    set(launch.dimensions.grid, thread.grid_size);
    thread.shared = shared_;
    thread.run = this;
    thread.copies = &copies_[i];
    thread.groups = &groups_[i];
    SetThread(static_cast<int64_t>(i), &thread);
  }
}

void BlockRun::SetThread(int64_t linear, ThreadContext* thread) const {
  const Dim3& block = launch_.dimensions.block;
  thread->linear = static_cast<uint32_t>(linear);
  thread->lane = thread->linear % kWarpSize;
  thread->thread[0] = thread->linear % block.x;
  thread->thread[1] = thread->linear / block.x % block.y;
  thread->thread[2] = thread->linear / block.x / block.y;
}

void BlockRun::SetBlock(int64_t block, ThreadContext* thread) const {
  const Dim3& grid = launch_.dimensions.grid;
  thread->block[0] = static_cast<uint32_t>(block % grid.x);
  thread->block[1] = static_cast<uint32_t>(block / grid.x % grid.y);
  thread->block[2] = static_cast<uint32_t>(block / grid.x / grid.y);
}

void BlockRun::Run(int64_t block) {
  Start(block);
  if (!launch_.kernel->has_barriers) return RunAlone();
  while (Step() != Progress::kEnded) {
  }
}

void BlockRun::RunAlone() {
  ThreadContext& thread = threads_[0];
  for (uint32_t linear : order_) {
    SetThread(linear, &thread);
    launch_.function(launch_.arguments.data(), &thread);
  }
}

void BlockRun::Entry() {
  BlockRun* const run = starting;
  ThreadContext* const thread = run->running_;
  run->launch_.function(run->launch_.arguments.data(), thread);
  if (!thread->copies->empty()) {
    run->reports_->Add("copy-unfinished",
                       absl::StrCat(Who(*thread), " ends without having waited for its asynchronous copies"));
    thread->copies->Clear();
  }
  if (thread->groups->is_pending()) {
    run->reports_->Add("multiply-unfinished",
                       absl::StrCat(Who(*thread), " ends without having waited for its warp group's multiplications"));
  }
  thread->state = ThreadState::kDone;
  run->Yield(thread);
}

void BlockRun::Yield(ThreadContext* thread) { SwitchStack(&thread->stack_pointer, scheduler_); }

bool BlockRun::StartThreads() {
  const int64_t bytes = StackBytes(*launch_.kernel);
  char* stacks = ThreadStacks(bytes * thread_count_ * slots_);
  if (stacks == nullptr) return false;
  stacks += bytes * thread_count_ * slot_;
  barriers_.Clear();
  for (int64_t i = 0; i < thread_count_; ++i) {
    ThreadContext& thread = threads_[i];
    thread.state = ThreadState::kReady;
    thread.warp_epoch = 0;
    copies_[i].Clear();  // of a block that a deadlock ended
    groups_[i] = {};
    group_reads_[i / kWarpSize].clear();
    // Stack tops that are a power of two apart would map to the same cache sets.
    char* const bottom = stacks + i * bytes;
    thread.stack_pointer = MakeStack(bottom, bottom + bytes - 64 - i * 320 % 8192, &Entry);
  }
  return true;
}

void BlockRun::Start(int64_t block) {
  block_ = block;
  if (checker_ != nullptr) checker_->BeginBlock(static_cast<uint32_t>(block), shared_, shared_bytes_, counter_);
  for (ThreadContext& thread : threads_) SetBlock(block, &thread);
  if (!launch_.kernel->has_barriers || StartThreads()) return;
  reports_->Add("launch", "the host has no memory for the threads of a block");
  for (ThreadContext& thread : threads_) thread.state = ThreadState::kDone;
}

BlockRun::Progress BlockRun::Step() {
  if (launch_.seed >= 2 && checker_ != nullptr) std::shuffle(order_.begin(), order_.end(), random_);
  BlockRun* const before = std::exchange(starting, this);
  const bool ran = RunReady();
  starting = before;
  const bool released = ReleaseBarrier();
  const auto count = [&](ThreadState state) {
    return std::count_if(threads_.begin(), threads_.end(), [&](const ThreadContext& t) { return t.state == state; });
  };
  const auto done = count(ThreadState::kDone);
  if (done == thread_count_) {
    if (const int64_t copies = barriers_.pending_copies(); copies > 0) {
      reports_->Add("copy-unfinished",
                    absl::StrCat("block ", block_, " ends without having waited for ", copies, " copies of tensors"));
    }
    return Progress::kEnded;
  }
  if (ran || released) return Progress::kRan;
  if (count(ThreadState::kPolling) > 0) return Progress::kWaits;
  const auto waiting = std::find_if(threads_.begin(), threads_.end(), [](const ThreadContext& thread) {
    return thread.state == ThreadState::kAtSharedBarrier;
  });
  reports_->Add("deadlock",
                absl::StrCat("block ", block_, ": of ", thread_count_, " threads ", count(ThreadState::kAtBarrier),
                             " wait at a barrier, ", done, " have ended, and the others are in warp operations",
                             waiting == threads_.end() ? "" : absl::StrCat("; ", barriers_.Waits(waiting->operand))));
  return Progress::kEnded;
}

// One iteration of the scheduler; returns whether any thread ran, other than to see that it still waits.
bool BlockRun::RunReady() {
  bool ran = false;
  for (uint32_t linear : order_) {
    ThreadContext& thread = threads_[linear];
    if (thread.state == ThreadState::kInWarpOperation) {
      thread.operation == WarpOperation::kMultiplyByGroup ? ReleaseGroup(thread) : ReleaseWarp(thread);
    }
    if (thread.state == ThreadState::kAtSharedBarrier && LeavesSharedBarrier(thread))
      thread.state = ThreadState::kReady;
    const bool polled = thread.state == ThreadState::kPolling;
    if (thread.state != ThreadState::kReady && !polled) continue;
    thread.state = ThreadState::kReady;
    running_ = &thread;
    SwitchStack(&scheduler_, thread.stack_pointer);
    ran |= !polled || thread.state != ThreadState::kPolling;
  }
  return ran;
}

void BlockRun::ReleaseWarp(ThreadContext& waiting) {
  ThreadContext* const warp = &waiting - waiting.lane;
  const int lanes = static_cast<int>(std::min<int64_t>(kWarpSize, thread_count_ - (warp - threads_.data())));
  uint32_t arrived = 0, ended = 0;
  for (int lane = 0; lane < lanes; ++lane) {
    const ThreadContext& other = warp[lane];
    const bool same =
        other.state == ThreadState::kInWarpOperation && other.mask == waiting.mask && other.site == waiting.site;
    arrived |= static_cast<uint32_t>(same) << lane;
    ended |= static_cast<uint32_t>(other.state == ThreadState::kDone) << lane;
  }
  const uint32_t members = lanes == kWarpSize ? waiting.mask : waiting.mask & ((1u << lanes) - 1);
  if ((members & ended) != 0) {
    reports_->Add(
        "shuffle-exited",
        absl::StrCat(Who(waiting), " waits in a warp operation for a lane that has ended (site ", waiting.site, ")"));
    waiting.state = ThreadState::kReady;
    return;
  }
  if ((arrived & members) != members) return;
  if (IsMatrixOperation(waiting.operation)) RunMatrix(warp, lanes);
  for (int lane = 0; lane < lanes; ++lane) {
    if (members >> lane & 1) warp[lane].result = WarpResult(warp, lane, members);
  }
  for (int lane = 0; lane < lanes; ++lane) {
    if (members >> lane & 1) warp[lane].state = ThreadState::kReady;
  }
}

void BlockRun::RunMatrix(ThreadContext* warp, int lanes) {
  if (lanes != kWarpSize) {
    return reports_->Add("matrix-lanes", absl::StrCat(Who(*warp), ": an operation on matrices in a warp of ", lanes,
                                                      " threads (site ", warp->site, ")"));
  }
  std::array<uint32_t*, kWarpSize> words;
  for (int lane = 0; lane < kWarpSize; ++lane) words[lane] = warp[lane].words;
  RunMatrixOperation(warp->operation, words);
}

uint32_t BlockRun::WarpResult(const ThreadContext* warp, int lane, uint32_t members) {
  const ThreadContext& self = warp[lane];
  const auto fold = [&](auto combine) {
    uint32_t result = 0;
    bool first = true;
    for (int other = 0; other < kWarpSize; ++other) {
      if ((members >> other & 1) == 0) continue;
      result = first ? warp[other].value : combine(result, warp[other].value);
      first = false;
    }
    return result;
  };
  const auto ballot = [&] {
    uint32_t votes = 0;
    for (int other = 0; other < kWarpSize; ++other) {
      if (members >> other & 1) votes |= static_cast<uint32_t>(warp[other].value != 0) << other;
    }
    return votes;
  };
  // As PTX defines shfl: the clamp's upper bits split the warp into segments, its lower ones bound the source lane.
  const int segment = self.clamp >> 8 & 31, bound = self.clamp & 31, first = lane & segment,
            last = first | (bound & ~segment), operand = static_cast<int>(self.operand & 31);
  int source = lane;
  bool valid = true;
  switch (self.operation) {
    case WarpOperation::kBarrier:
    case WarpOperation::kLoadMatrix:
    case WarpOperation::kLoadMatrixTransposed:
    case WarpOperation::kMultiplyBf16:
    case WarpOperation::kMultiplyF16:
    case WarpOperation::kMultiplyS8:
    case WarpOperation::kMultiplyU8:
    case WarpOperation::kMultiplyTf32:
    case WarpOperation::kMultiplyByGroup: return 0;
    case WarpOperation::kBallot: return ballot();
    case WarpOperation::kAll: return ballot() == members;
    case WarpOperation::kAny: return ballot() != 0;
    case WarpOperation::kAdd: return fold([](uint32_t a, uint32_t b) { return a + b; });
    case WarpOperation::kMin:
      return fold([](uint32_t a, uint32_t b) {
        return static_cast<uint32_t>(std::min(static_cast<int32_t>(a), static_cast<int32_t>(b)));
      });
    case WarpOperation::kMax:
      return fold([](uint32_t a, uint32_t b) {
        return static_cast<uint32_t>(std::max(static_cast<int32_t>(a), static_cast<int32_t>(b)));
      });
    case WarpOperation::kUnsignedMin: return fold([](uint32_t a, uint32_t b) { return std::min(a, b); });
    case WarpOperation::kUnsignedMax: return fold([](uint32_t a, uint32_t b) { return std::max(a, b); });
    case WarpOperation::kAnd: return fold([](uint32_t a, uint32_t b) { return a & b; });
    case WarpOperation::kOr: return fold([](uint32_t a, uint32_t b) { return a | b; });
    case WarpOperation::kXor: return fold([](uint32_t a, uint32_t b) { return a ^ b; });
    case WarpOperation::kMatch: {
      uint32_t equal = 0;
      for (int other = 0; other < kWarpSize; ++other) {
        if (members >> other & 1) equal |= static_cast<uint32_t>(warp[other].value == self.value) << other;
      }
      return equal;
    }
    case WarpOperation::kShuffleDown:
      source = lane + operand;
      valid = source <= last;
      break;
    case WarpOperation::kShuffleUp:
      source = lane - operand;
      valid = source >= last;
      break;
    case WarpOperation::kShuffleButterfly:
      source = lane ^ operand;
      valid = source <= last;
      break;
    case WarpOperation::kShuffleIndex:
      source = first | (operand & ~segment);
      valid = source <= last;
      break;
  }
  if (!valid) return self.value;
  if (source < 0 || source >= kWarpSize || (members >> source & 1) == 0) {
    reports_->Add("shuffle-lane", absl::StrCat(Who(self), " reads lane ", source,
                                               ", which takes no part in the shuffle (site ", self.site, ")"));
    return ~0u;
  }
  return warp[source].value;
}

// Releases the barrier if every thread that has not ended is at it.
bool BlockRun::ReleaseBarrier() {
  int64_t waiting = 0, done = 0;
  uint32_t site = 0;
  bool mixed = false;
  for (const ThreadContext& thread : threads_) {
    done += thread.state == ThreadState::kDone ? 1 : 0;
    if (thread.state != ThreadState::kAtBarrier) continue;
    mixed |= waiting > 0 && thread.site != site;
    site = thread.site;
    ++waiting;
  }
  if (waiting == 0 || waiting + done != thread_count_) return false;
  if (mixed)
    reports_->Add("barrier-divergent",
                  absl::StrCat("the threads of a block wait at different barriers, one of them site ", site));
  if (done > 0)
    reports_->Add("barrier-exited",
                  absl::StrCat(waiting, " threads of a block wait at a barrier, ", done, " have ended"));
  if (checker_ != nullptr) checker_->NextEpoch();
  for (ThreadContext& thread : threads_) {
    if (thread.state == ThreadState::kAtBarrier) thread.state = ThreadState::kReady;
  }
  return true;
}

namespace {

// Returns the block that is the `position`-th to start.
int64_t BlockAt(const EmulatedLaunch& launch, int64_t position) {
  return launch.seed == 1 ? launch.dimensions.grid.count() - 1 - position : position;
}

void RunInTurns(const EmulatedLaunch& launch, LaunchReports* reports, std::map<uint32_t, AccessCount>* counts) {
  const int64_t blocks = launch.dimensions.grid.count(), slots = std::min(blocks, kResidentBlocks);
  struct Slot {
    std::optional<AccessChecker> checker;
    AccessCounter counter;
    std::unique_ptr<BlockRun> run;
  };
  std::minstd_rand random(launch.seed);
  std::vector<Slot> all(slots);
  std::vector<Slot*> active;
  int64_t next = 0;
  for (int64_t i = 0; i < slots; ++i) {
    Slot& slot = all[i];
    if (launch.memory != nullptr) slot.checker.emplace(launch.memory, launch.slices, launch.number, reports);
    slot.run = std::make_unique<BlockRun>(launch, slot.checker.has_value() ? &*slot.checker : nullptr,
                                          launch.count_accesses ? &slot.counter : nullptr, reports, i, slots);
    slot.run->Start(BlockAt(launch, next++));
    active.push_back(&slot);
  }
  // A thread may go on after a step of its own that changed nothing, once: to find the next thing to wait for.
  for (int idle = 0; !active.empty() && idle < 2;) {
    if (launch.seed >= 2) std::shuffle(active.begin(), active.end(), random);
    ++idle;
    for (size_t i = 0; i < active.size();) {
      Slot& slot = *active[i];
      const BlockRun::Progress progress = slot.run->Step();
      if (progress != BlockRun::Progress::kWaits) idle = 0;
      if (progress == BlockRun::Progress::kEnded) {
        if (launch.count_accesses) slot.counter.FinishBlock(counts);
        if (next == blocks) {
          active.erase(active.begin() + static_cast<int64_t>(i));
          continue;
        }
        slot.run->Start(BlockAt(launch, next++));
      }
      ++i;
    }
  }
  if (!active.empty()) {
    reports->Add("deadlock", absl::StrCat(active.size(), " blocks wait for other blocks, ", blocks - next,
                                          " of which have not started"));
  }
}

}  // namespace

void RunLaunch(const EmulatedLaunch& launch, LaunchReports* reports, std::map<uint32_t, AccessCount>* counts) {
  if (launch.kernel->waits_for_blocks) return RunInTurns(launch, reports, counts);
  const int64_t blocks = launch.dimensions.grid.count();
  const auto number = [&](int64_t position) { return BlockAt(launch, position); };
  if (launch.memory != nullptr) {
    AccessChecker checker(launch.memory, launch.slices, launch.number, reports);
    AccessCounter counter;
    BlockRun counted(launch, &checker, launch.count_accesses ? &counter : nullptr, reports);
    BlockRun uncounted(launch, &checker, nullptr, reports);
    for (int64_t position = 0; position < blocks; ++position) {
      (position < launch.counted_blocks ? counted : uncounted).Run(number(position));
      if (launch.count_accesses && position < launch.counted_blocks) counter.FinishBlock(counts);
    }
    return;
  }
  const int64_t workers = launch.pool == nullptr ? 1 : std::min<int64_t>(blocks, launch.pool->num_threads());
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  const auto work = [&](int64_t) {
    LaunchReports found;
    BlockRun run(launch, nullptr, nullptr, &found);
    for (int64_t position; (position = next.fetch_add(1, std::memory_order_relaxed)) < blocks;)
      run.Run(number(position));
    std::lock_guard<std::mutex> lock(mutex);
    for (const EmulatedReport& report : found.all()) reports->Add(report.kind.c_str(), report.text);
  };
  if (workers > 1) {
    launch.pool->ParallelFor(workers, work);
  } else {
    work(0);
  }
}

}  // namespace hilo::gpu
