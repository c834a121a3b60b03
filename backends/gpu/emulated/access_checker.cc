#include "backends/gpu/emulated/access_checker.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace hilo::gpu {
namespace {

constexpr size_t kMaxOfAKind = 4;
// Addresses this far around the block's shared memory are reported as out-of-bounds accesses to it.
constexpr int64_t kSharedMargin = 65536;
constexpr int64_t kSector = 32, kBankBytes = 4;
constexpr int kBanks = 32;
constexpr uint16_t kGroupWarps = 4;

const char* Verb(AccessKind kind) { return kind == AccessKind::kLoad ? "reads" : "writes"; }

std::string Other(uint32_t block, uint32_t thread) {
  if (thread == GlobalShadow::kMany) return "several threads read";
  return absl::StrCat("thread ", thread - 1,
                      block == GlobalShadow::kMany ? std::string() : absl::StrCat(" of block ", block), " touched");
}

int64_t Sectors(const uint64_t* address, uint32_t lanes, int64_t bytes) {
  std::vector<uint64_t> sectors;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    for (uint64_t sector = address[lane] / kSector; sector <= (address[lane] + bytes - 1) / kSector; ++sector)
      sectors.push_back(sector);
  }
  std::sort(sectors.begin(), sectors.end());
  return std::unique(sectors.begin(), sectors.end()) - sectors.begin();
}

// Wide accesses are served a half or a quarter of the warp at a time; for each, a bank serves one word per pass.
void CountPasses(const uint64_t* address, uint32_t lanes, int64_t bytes, AccessCount* count) {
  const int together = bytes <= kBankBytes ? kWarpSize : std::max<int>(1, 128 / bytes);
  for (int first = 0; first < kWarpSize; first += together) {
    std::vector<uint64_t> words[kBanks];
    bool any = false;
    for (int lane = first; lane < std::min(first + together, kWarpSize); ++lane) {
      if ((lanes >> lane & 1) == 0) continue;
      any = true;
      for (uint64_t word = address[lane] / kBankBytes; word <= (address[lane] + bytes - 1) / kBankBytes; ++word) {
        std::vector<uint64_t>& bank = words[word % kBanks];
        if (std::find(bank.begin(), bank.end(), word) == bank.end()) bank.push_back(word);
      }
    }
    size_t most = 0;
    for (const std::vector<uint64_t>& bank : words) most = std::max(most, bank.size());
    count->units += static_cast<int64_t>(most);
    count->ideal += any ? 1 : 0;
  }
}

AccessCount::Kind CountKind(AccessKind kind) {
  switch (kind) {
    case AccessKind::kLoad: return AccessCount::Kind::kLoad;
    case AccessKind::kStore: return AccessCount::Kind::kStore;
    case AccessKind::kAtomic: return AccessCount::Kind::kAtomic;
  }
  return AccessCount::Kind::kLoad;
}

}  // namespace

void LaunchReports::Add(const char* kind, std::string text) {
  const auto same = [&](const EmulatedReport& report) { return report.kind == kind; };
  if (static_cast<size_t>(std::count_if(all_.begin(), all_.end(), same)) < kMaxOfAKind)
    all_.push_back({kind, std::move(text)});
}

std::string Who(const ThreadContext& thread) {
  return absl::StrCat("block (", thread.block[0], ",", thread.block[1], ",", thread.block[2], ") thread (",
                      thread.thread[0], ",", thread.thread[1], ",", thread.thread[2], ")");
}

void AccessCounter::Note(const ThreadContext& thread, uint64_t address, int64_t bytes, AccessKind kind, uint32_t site,
                         bool shared) {
  const uint32_t instance = access_counts_[{site, thread.linear}]++;
  Request& request = requests_[{site, thread.linear / kWarpSize, instance}];
  request.address[thread.lane] = address;
  request.lanes |= 1u << thread.lane;
  request.bytes = bytes;
  request.kind = kind;
  request.shared = shared;
}

void AccessCounter::FinishBlock(std::map<uint32_t, AccessCount>* counts) {
  for (const auto& [key, request] : requests_) {
    AccessCount& count = (*counts)[std::get<0>(key)];
    count.site = std::get<0>(key);
    count.kind = CountKind(request.kind);
    count.shared = request.shared;
    count.bytes = request.bytes;
    ++count.requests;
    count.threads += __builtin_popcount(request.lanes);
    if (request.shared) {
      CountPasses(request.address, request.lanes, request.bytes, &count);
    } else {
      count.units += Sectors(request.address, request.lanes, request.bytes);
      count.ideal += (__builtin_popcount(request.lanes) * request.bytes + kSector - 1) / kSector;
    }
  }
  requests_.clear();
  access_counts_.clear();
}

void AccessChecker::BeginBlock(uint32_t block, uint8_t* shared, int64_t shared_bytes, AccessCounter* counter) {
  block_ = block;
  epoch_ = 1;
  shared_ = shared;
  shared_bytes_ = shared_bytes;
  shadow_.assign(shared_bytes, {});
  fences_.clear();
  if (shared_bytes > 0) std::memset(shared, 0xff, shared_bytes);
  counter_ = counter;
}

bool AccessChecker::SameWarp(const ThreadContext& thread, uint32_t other) {
  return other != GlobalShadow::kMany && (other - 1) / kWarpSize == thread.linear / kWarpSize;
}

bool AccessChecker::Ordered(const ThreadContext& thread, uint32_t other, uint32_t epoch, uint32_t warp_epoch,
                            bool by_warp) const {
  const uint32_t self = thread.linear + 1;
  if (other == 0 || (other == self && !by_warp) || epoch != epoch_) return true;
  return SameWarp(thread, other) && warp_epoch != thread.warp_epoch;
}

bool AccessChecker::IsAligned(const ThreadContext& thread, const uint8_t* address, int64_t bytes, uint32_t alignment,
                              uint32_t site) {
  if (reinterpret_cast<uintptr_t>(address) % alignment == 0) return true;
  reports_.Add("misaligned", absl::StrCat(Who(thread), ": an access of ", bytes, " bytes wants an alignment of ",
                                          alignment, " (site ", site, ")"));
  return false;
}

void* AccessChecker::Access(const ThreadContext& thread, uint8_t* address, int64_t bytes, uint32_t alignment,
                            AccessKind kind, uint32_t site) {
  if (!IsAligned(thread, address, bytes, alignment, site)) return harmless_;
  if (!IsInBounds(thread, address, bytes, kind, site))
    return bytes <= static_cast<int64_t>(sizeof(harmless_)) ? harmless_ : address;
  return address;
}

bool AccessChecker::StartCopy(const ThreadContext& thread, const AsyncCopy& copy) {
  auto* const global = const_cast<uint8_t*>(copy.global);
  const auto alignment = static_cast<uint32_t>(copy.bytes);
  if (!IsAligned(thread, copy.shared, copy.bytes, alignment, copy.site + 1) ||
      !IsAligned(thread, global, copy.bytes, alignment, copy.site)) {
    return false;
  }
  if (!IsShared(copy.shared) || (copy.from_global > 0 && IsShared(global))) {
    reports_.Add("copy-space",
                 absl::StrCat(Who(thread), " copies other than from global into shared memory (site ", copy.site, ")"));
    return false;
  }
  if (copy.from_global > 0 && !IsInBounds(thread, global, copy.from_global, AccessKind::kLoad, copy.site)) return false;
  if (!IsInBounds(thread, copy.shared, copy.bytes, AccessKind::kStore, copy.site + 1)) return false;
  for (int64_t i = 0; i < copy.bytes; ++i) {
    SharedShadow& at = shadow_[copy.shared - shared_ + i];
    if (at.group_warps != 0) {
      ReportMultiplied(thread, copy.shared - shared_ + i, copy.site + 1);
      return false;
    }
    at.copying_thread = thread.linear + 1;
  }
  return true;
}

void AccessChecker::LandCopy(const ThreadContext& thread, const AsyncCopy& copy) {
  for (int64_t i = 0; i < copy.bytes; ++i) shadow_[copy.shared - shared_ + i].copying_thread = 0;
  CheckShared(thread, copy.shared, copy.bytes, AccessKind::kStore, copy.site + 1);
}

AccessChecker::ProxyFences& AccessChecker::FencesOf(uint32_t thread) {
  if (fences_.size() <= thread) fences_.resize(thread + 1);
  return fences_[thread];
}

void AccessChecker::ProxyFence(const ThreadContext& thread) {
  ProxyFences& fences = FencesOf(thread.linear);
  ++fences.count;
  fences.epoch = epoch_;
}

// The writer's fence is before the barrier after which others read.
bool AccessChecker::IsFenced(const SharedShadow& at) {
  if (at.write_thread == 0) return true;
  const ProxyFences& fences = FencesOf(at.write_thread - 1);
  return fences.count > at.write_fences + 1 || (fences.count == at.write_fences + 1 && fences.epoch != epoch_);
}

bool AccessChecker::BeginTensorCopy(const ThreadContext& thread, uint8_t* address, int64_t bytes, uint32_t site) {
  const int64_t offset = address - shared_;
  for (int64_t i = offset; i < offset + bytes; ++i) {
    SharedShadow& at = shadow_[i];
    if (at.group_warps != 0) {
      ReportMultiplied(thread, i, site);
      return false;
    }
    if (at.copying_thread != 0) {
      reports_.Add("copy-pending",
                   absl::StrCat(Who(thread), " copies to shared byte ", i, ", into which thread ",
                                at.copying_thread - 1, " copies and has not waited for it (site ", site, ")"));
      return false;
    }
    if (!IsFenced(at)) {
      reports_.Add("proxy-fence",
                   absl::StrCat(Who(thread), " copies to shared byte ", i, ", which thread ", at.write_thread - 1,
                                " wrote without fence.proxy.async between the write and the barrier "
                                "(site ",
                                site, ")"));
      return false;
    }
    at.copying_thread = thread.linear + 1;
  }
  return true;
}

void AccessChecker::EndTensorCopy(const uint8_t* address, int64_t bytes) {
  for (int64_t i = address - shared_, end = i + bytes; i < end; ++i)
    shadow_[i] = {.written = true, .group_warps = shadow_[i].group_warps};
}

bool AccessChecker::BeginGroupRead(const ThreadContext& thread, uint8_t* address, int64_t bytes, uint32_t site) {
  if (!CheckShared(thread, address, bytes, AccessKind::kLoad, site)) return false;
  const int64_t offset = address - shared_;
  bool found = false;
  for (int64_t i = offset; i < offset + bytes; ++i) {
    SharedShadow& at = shadow_[i];
    at.group_warps += kGroupWarps;
    if (found || IsFenced(at)) continue;
    found = true;
    reports_.Add("proxy-fence",
                 absl::StrCat(Who(thread), " multiplies shared byte ", i, ", which thread ", at.write_thread - 1,
                              " wrote without fence.proxy.async between the write and the barrier (site ", site, ")"));
  }
  return true;
}

void AccessChecker::ReportMultiplied(const ThreadContext& thread, int64_t byte, uint32_t site) {
  reports_.Add("multiply-pending",
               absl::StrCat(Who(thread), " writes shared byte ", byte,
                            ", which a multiplication reads that its warp group has not waited for (site ", site, ")"));
}

void AccessChecker::EndGroupRead(const uint8_t* address, int64_t bytes) {
  for (int64_t i = address - shared_, end = i + bytes; i < end; ++i) --shadow_[i].group_warps;
}

int64_t AccessChecker::Range(const ThreadContext& thread, uint8_t* address, int64_t bytes, AccessKind kind,
                             uint32_t site) {
  return bytes == 0 || IsInBounds(thread, address, bytes, kind, site) ? bytes : 0;
}

bool AccessChecker::IsShared(const uint8_t* address) const {
  const int64_t offset = reinterpret_cast<intptr_t>(address) - reinterpret_cast<intptr_t>(shared_);
  if (shared_ == nullptr || offset < -kSharedMargin || offset >= shared_bytes_ + kSharedMargin) return false;
  if (offset >= 0 && offset < shared_bytes_) return true;
  const EmulatedAllocation* allocation = memory_.Near(address);
  return allocation == nullptr || !allocation->Contains(address, 1);
}

bool AccessChecker::IsInBounds(const ThreadContext& thread, uint8_t* address, int64_t bytes, AccessKind kind,
                               uint32_t site) {
  const bool shared = IsShared(address);
  if (counter_ != nullptr) {
    counter_->Note(thread, reinterpret_cast<uint64_t>(address) - (shared ? reinterpret_cast<uint64_t>(shared_) : 0),
                   bytes, kind, site, shared);
  }
  return shared ? CheckShared(thread, address, bytes, kind, site) : CheckGlobal(thread, address, bytes, kind, site);
}

bool AccessChecker::CheckShared(const ThreadContext& thread, uint8_t* address, int64_t bytes, AccessKind kind,
                                uint32_t site) {
  const int64_t offset = address - shared_;
  if (offset < 0 || offset + bytes > shared_bytes_) {
    reports_.Add("shared-out-of-bounds",
                 absl::StrCat(Who(thread), " ", Verb(kind), " ", bytes, " bytes at offset ", offset, " of ",
                              shared_bytes_, " shared bytes (site ", site, ")"));
    return false;
  }
  const uint32_t self = thread.linear + 1;
  bool raced = false, unwritten = false, copying = false, multiplied = false;
  for (int64_t i = offset; i < offset + bytes; ++i) {
    SharedShadow& at = shadow_[i];
    if (at.copying_thread != 0 && !copying) {
      copying = true;
      reports_.Add("copy-pending",
                   absl::StrCat(Who(thread), " ", Verb(kind), " shared byte ", i, ", into which thread ",
                                at.copying_thread - 1, " copies and has not waited for it (site ", site, ")"));
    }
    if (kind != AccessKind::kLoad && at.group_warps != 0 && !multiplied) {
      multiplied = true;
      ReportMultiplied(thread, i, site);
    }
    const bool both_atomic = kind == AccessKind::kAtomic && at.atomic_write;
    const bool after_write = Ordered(thread, at.write_thread, at.write_epoch, at.write_warp_epoch) || both_atomic;
    const bool after_read = kind == AccessKind::kLoad ||
                            Ordered(thread, at.read_thread, at.read_epoch, at.read_warp_epoch, at.read_by_warp);
    if (!raced && !(after_write && after_read)) {
      raced = true;
      reports_.Add("race-shared",
                   absl::StrCat(Who(thread), " ", Verb(kind), " shared byte ", i, ", which ",
                                Other(GlobalShadow::kMany, after_write ? at.read_thread : at.write_thread),
                                " without a barrier between (site ", site, ")"));
    }
    if (kind == AccessKind::kLoad) {
      if (!at.written && !unwritten) {
        unwritten = true;
        reports_.Add("uninitialized-shared",
                     absl::StrCat(Who(thread), " reads shared byte ", i, ", which was not written (site ", site, ")"));
      }
      const bool has_reader = at.read_epoch == epoch_ && at.read_thread != 0;
      if (has_reader && !SameWarp(thread, at.read_thread)) {
        at.read_thread = GlobalShadow::kMany;
      } else {
        // Reads of the warp before a warp barrier are ordered as this one is.
        at.read_by_warp =
            has_reader && at.read_warp_epoch == thread.warp_epoch && (at.read_by_warp || at.read_thread != self);
        at.read_thread = self;
      }
      at.read_epoch = epoch_;
      at.read_warp_epoch = thread.warp_epoch;
    } else {
      at.write_thread = self;
      at.write_epoch = epoch_;
      at.write_warp_epoch = thread.warp_epoch;
      at.atomic_write = kind == AccessKind::kAtomic;
      at.written = true;
      at.write_fences = FencesOf(thread.linear).count;
    }
  }
  return true;
}

bool AccessChecker::IsDeclared(const uint8_t* address, int64_t bytes, AccessKind kind) {
  const auto covers = [&](const GpuSlice& slice) {
    const auto* begin = static_cast<const uint8_t*>(slice.address);
    return address >= begin && bytes <= slice.bytes && address - begin <= slice.bytes - bytes &&
           (kind == AccessKind::kLoad || slice.is_written);
  };
  if (last_slice_ != nullptr && covers(*last_slice_)) return true;
  for (const GpuSlice& slice : slices_) {
    if (!covers(slice)) continue;
    last_slice_ = &slice;
    return true;
  }
  return false;
}

bool AccessChecker::CheckGlobal(const ThreadContext& thread, uint8_t* address, int64_t bytes, AccessKind kind,
                                uint32_t site) {
  if (last_allocation_ == nullptr || !last_allocation_->Contains(address, bytes)) {
    EmulatedAllocation* near = memory_.Near(address);
    if (near == nullptr || !near->Contains(address, bytes)) {
      reports_.Add("global-out-of-bounds",
                   absl::StrCat(Who(thread), " ", Verb(kind), " ", bytes, " bytes at ",
                                near == nullptr ? "an address before all allocations"
                                                : absl::StrCat("offset ", address - near->base, " of an allocation of ",
                                                               near->bytes, " bytes"),
                                " (site ", site, ")"));
      return false;
    }
    last_allocation_ = near;
  }
  EmulatedAllocation& allocation = *last_allocation_;
  const int64_t offset = address - allocation.base;
  if (!IsDeclared(address, bytes, kind)) {
    reports_.Add("undeclared-access", absl::StrCat(Who(thread), " ", Verb(kind), " ", bytes, " bytes at offset ",
                                                   offset, " of an allocation of ", allocation.bytes,
                                                   " bytes, which no slice of the launch declares (site ", site, ")"));
  }
  if (allocation.shadow == nullptr) allocation.shadow = std::make_unique<GlobalShadow[]>(allocation.bytes);
  const uint32_t self = thread.linear + 1;
  bool raced = false;
  for (int64_t i = offset; i < offset + bytes; ++i) {
    GlobalShadow& at = allocation.shadow[i];
    if (at.launch != launch_) at = {.launch = launch_};
    const auto ordered = [&](uint32_t block, uint32_t other, uint32_t epoch, uint32_t warp_epoch) {
      return other == 0 || (block == block_ && Ordered(thread, other, epoch, warp_epoch));
    };
    const bool both_atomic = kind == AccessKind::kAtomic && at.atomic_write;
    const bool after_write =
        ordered(at.write_block, at.write_thread, at.write_epoch, at.write_warp_epoch) || both_atomic;
    const bool after_read =
        kind == AccessKind::kLoad || ordered(at.read_block, at.read_thread, at.read_epoch, at.read_warp_epoch);
    if (!raced && !(after_write && after_read)) {
      raced = true;
      reports_.Add("race-global", absl::StrCat(Who(thread), " ", Verb(kind), " byte ", i, " of an allocation of ",
                                               allocation.bytes, " bytes, which ",
                                               after_write ? Other(at.read_block, at.read_thread)
                                                           : Other(at.write_block, at.write_thread),
                                               " with nothing to order them (site ", site, ")"));
    }
    if (kind == AccessKind::kLoad) {
      if (at.read_thread != 0 && (at.read_block != block_ || (at.read_thread != self && at.read_epoch == epoch_))) {
        if (at.read_block != block_) at.read_block = GlobalShadow::kMany;
        at.read_thread = GlobalShadow::kMany;
      } else {
        at.read_thread = self;
        at.read_block = block_;
      }
      at.read_epoch = epoch_;
      at.read_warp_epoch = thread.warp_epoch;
    } else {
      at.write_block = block_;
      at.write_thread = self;
      at.write_epoch = epoch_;
      at.write_warp_epoch = thread.warp_epoch;
      at.atomic_write = kind == AccessKind::kAtomic;
    }
  }
  return true;
}

}  // namespace hilo::gpu
