#include "backends/cpu/runtime/sort_alone.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "backends/cpu/runtime/number_sort.h"
#include "backends/cpu/runtime/sort_memory.h"

namespace hilo::cpu {
namespace {

constexpr int64_t kBlock = 1024;       // elements that become keys, and keys that become elements, at once
constexpr int64_t kSharedChunks = 32;  // of a list that threads share

// A list whose keys are of type Key.
template <typename Key>
class AloneSort {
 public:
  AloneSort(HiloCpuContext* context, const HiloSortWord& word, uint8_t* list, int64_t size, int64_t length)
      : context_(context), word_(word), list_(list), size_(size), length_(length) {}

  int32_t Run(bool* is_told) {
    Key* sorted = nullptr;
    if (length_ <= kBlock) {
      Key keys[kBlock], spare[kBlock];
      *is_told = WriteKeys(0, length_, keys);
      if (!*is_told) return HILO_OK;
      const int32_t status = Sort(keys, spare, &sorted);
      word_.read(sorted, length_, list_);
      return status;
    }
    // Keys as wide as the elements replace them.
    const bool in_place = size_ == sizeof(Key);
    SortMemory memory(SortMemory::SizeOf<Key>(length_) * (in_place ? 1 : 2));
    if (!memory.ok()) return HILO_OUT_OF_MEMORY;
    Key* const spare = memory.Take<Key>(length_);
    Key* const keys = in_place ? reinterpret_cast<Key*>(list_) : memory.Take<Key>(length_);
    int32_t status = WriteAllKeys(keys, in_place, is_told);
    if (status != HILO_OK || !*is_told) return status;
    status = Sort(keys, spare, &sorted);
    if (status != HILO_OK) return status;
    return ForEachChunk([&](int64_t, int64_t begin, int64_t end) { ReadElements(sorted, begin, end); });
  }

 private:
  int32_t Sort(Key* keys, Key* spare, Key** sorted) {
    return SortNumbers(context_, keys, spare, length_, 0, static_cast<int>(word_.bits), sorted);
  }

  // Calls body(chunk, begin, end) for elements [begin, end) of each chunk.
  int32_t ForEachChunk(absl::FunctionRef<void(int64_t, int64_t, int64_t)> body) {
    if (length_ < kMinForThreads) {
      body(0, 0, length_);
      return HILO_OK;
    }
    return ForEachPart(context_, kSharedChunks, [&](int64_t chunk) {
      body(chunk, length_ * chunk / kSharedChunks, length_ * (chunk + 1) / kSharedChunks);
    });
  }

  // Writes the keys of at most kBlock elements. Returns whether they tell the elements.
  bool WriteKeys(int64_t first, int64_t count, Key* keys) {
    alignas(64) uint8_t told[kBlock * sizeof(Key)];
    const uint8_t* const elements = list_ + first * size_;
    word_.write(&elements, &size_, count, keys);
    word_.read(keys, count, told);
    return std::memcmp(elements, told, count * size_) == 0;
  }

  // Elements that became keys become elements again if not all keys tell theirs.
  int32_t WriteAllKeys(Key* keys, bool in_place, bool* is_told) {
    struct Written {
      int64_t begin, end;
      bool is_told;
    };
    std::array<Written, kSharedChunks> written;
    written.fill({.begin = 0, .end = 0, .is_told = true});
    const int32_t status = ForEachChunk([&](int64_t chunk, int64_t begin, int64_t end) {
      Written& all = written[chunk];
      all.begin = all.end = begin;
      while (all.end < end && all.is_told) {
        const int64_t count = std::min(end - all.end, kBlock);
        alignas(64) Key block[kBlock];
        all.is_told = WriteKeys(all.end, count, block);
        if (!all.is_told) break;
        std::memcpy(keys + all.end, block, count * sizeof(Key));
        all.end += count;
      }
    });
    if (status != HILO_OK) return status;
    *is_told = absl::c_all_of(written, [](const Written& all) { return all.is_told; });
    if (*is_told || !in_place) return HILO_OK;
    for (const Written& all : written) ReadElements(keys, all.begin, all.end);
    return HILO_OK;
  }

  // The keys may be in the memory of the list.
  void ReadElements(const Key* keys, int64_t begin, int64_t end) {
    alignas(64) uint8_t block[kBlock * sizeof(Key)];
    for (int64_t first = begin; first < end; first += kBlock) {
      const int64_t count = std::min(end - first, kBlock);
      word_.read(keys + first, count, block);
      std::memcpy(list_ + first * size_, block, count * size_);
    }
  }

  HiloCpuContext* const context_;
  const HiloSortWord& word_;
  uint8_t* const list_;
  const int64_t size_, length_;
};

}  // namespace

int32_t SortAlone(HiloCpuContext* context, const HiloSortWord& word, uint8_t* list, int64_t size, int64_t length,
                  bool* is_told) {
  return word.bits <= 32 ? AloneSort<uint32_t>(context, word, list, size, length).Run(is_told)
                         : AloneSort<uint64_t>(context, word, list, size, length).Run(is_told);
}

}  // namespace hilo::cpu
