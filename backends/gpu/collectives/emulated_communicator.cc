// A call is queued on its rank's stream as work that is not ready until the ranks that it needs have made their calls
// (emulated_rendezvous.h). A device therefore never blocks with other work pending: its other streams continue, as on a
// GPU. Ranks of other processes connect through a hub (emulated_hub.h).
#include "backends/gpu/collectives/emulated_communicator.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/gpu/collectives/emulated_hub.h"
#include "backends/gpu/collectives/grouped_communicator.h"
#include "backends/gpu/emulated/emulated_stream.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

class EmulatedCommunicator : public GroupedCommunicator {
 public:
  // Creates rank `rank` of `size` ranks of the rendezvous `name`, which `hub` can open.
  static absl::StatusOr<std::unique_ptr<EmulatedCommunicator>> Create(std::shared_ptr<EmulatedHub> hub,
                                                                      const std::string& name, int64_t size,
                                                                      int64_t rank,
                                                                      const EmulatedCommunicatorOptions& options,
                                                                      const KeepWaiting& keep_waiting) {
    HILO_ASSIGN_OR_RETURN(std::unique_ptr<EmulatedSeat> seat, hub->Open(name, size, rank));
    // All ranks must have joined the rendezvous before any of them may leave it.
    HILO_RETURN_IF_ERROR(seat->Exchange("", keep_waiting).status());
    return std::unique_ptr<EmulatedCommunicator>(
        new EmulatedCommunicator(std::move(hub), name, size, rank, std::move(seat), options));
  }

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }
  bool has_all_to_all() const override { return options_.has_all_to_all; }

  absl::StatusOr<std::unique_ptr<DeviceCommunicator>> Split(int64_t color, int64_t key,
                                                            const KeepWaiting& keep_waiting) override {
    HILO_RETURN_IF_ERROR(seat_->failure());
    const int64_t exchange = splits_++;
    HILO_ASSIGN_OR_RETURN(const std::vector<std::string> choices,
                          seat_->Exchange(absl::StrCat(color, " ", key), keep_waiting));
    if (color < 0) return nullptr;
    std::vector<std::pair<int64_t, int64_t>> members;  // (key, rank)
    for (size_t rank = 0; rank < choices.size(); ++rank) {
      const size_t space = choices[rank].find(' ');
      if (std::stoll(choices[rank].substr(0, space)) == color)
        members.emplace_back(std::stoll(choices[rank].substr(space)), rank);
    }
    std::sort(members.begin(), members.end());
    const auto own = std::find(members.begin(), members.end(), std::pair(key, rank_));
    return Create(hub_, absl::StrCat(name_, "/", exchange, ".", color), static_cast<int64_t>(members.size()),
                  own - members.begin(), options_, keep_waiting);
  }

  absl::Status AsyncError() override { return seat_->failure(); }
  void Abort(const absl::Status& why) override { seat_->Abort(why); }

 private:
  EmulatedCommunicator(std::shared_ptr<EmulatedHub> hub, std::string name, int64_t size, int64_t rank,
                       std::shared_ptr<EmulatedSeat> seat, const EmulatedCommunicatorOptions& options)
      : hub_(std::move(hub)),
        name_(std::move(name)),
        size_(size),
        rank_(rank),
        seat_(std::move(seat)),
        options_(options) {}

  absl::Status Submit(std::vector<CommunicatorCall> calls, GpuStream& stream) override {
    std::vector<GpuSlice> slices;
    for (CommunicatorCall& call : calls) {
      if (stream.IsCaptured()) call.captured = call.is_collective() ? captured_++ : 0;
      call.AddSlices(rank_, size_, &slices);
    }
    const std::string what = calls[0].ToString();
    // A graph may be launched many times, and outlive this object.
    return QueueWhenReady(stream, what, slices, [seat = seat_, next = collectives_, calls = std::move(calls)] {
      auto group = std::make_shared<CallGroup>();
      group->calls = calls;
      for (const CommunicatorCall& call : calls) group->numbers.push_back(call.is_collective() ? (*next)++ : -1);
      return [seat, group] { return seat->Advance(group); };
    });
  }

  const std::shared_ptr<EmulatedHub> hub_;
  const std::string name_;
  const int64_t size_, rank_;
  const std::shared_ptr<EmulatedSeat> seat_;
  const EmulatedCommunicatorOptions options_;
  const std::shared_ptr<int64_t> collectives_ = std::make_shared<int64_t>(0);  // that were queued
  int64_t captured_ = 0, splits_ = 0;
};

class EmulatedLibrary : public DeviceCommunicatorLibrary {
 public:
  explicit EmulatedLibrary(const EmulatedCommunicatorOptions& options) : options_(options) {}

  absl::StatusOr<std::string> Version() override { return "emulated"; }
  absl::StatusOr<std::string> MakeUniqueId() override { return hub_->MakeName(); }
  absl::StatusOr<std::unique_ptr<DeviceCommunicator>> Create(const std::string& unique_id, int64_t size, int64_t rank,
                                                             GpuDriver&, int,
                                                             const KeepWaiting& keep_waiting) override {
    if (rank < 0 || rank >= size) return InvalidArgument("expected a rank below ", size, ", got ", rank);
    return EmulatedCommunicator::Create(hub_, unique_id.c_str(), size, rank, options_,
                                        keep_waiting);  // zeros may follow the id
  }

 private:
  const EmulatedCommunicatorOptions options_;
  const std::shared_ptr<EmulatedHub> hub_ = std::make_shared<EmulatedHub>();
};

}  // namespace

std::shared_ptr<DeviceCommunicatorLibrary> CreateEmulatedCommunicatorLibrary(
    const EmulatedCommunicatorOptions& options) {
  return std::make_shared<EmulatedLibrary>(options);
}

}  // namespace hilo::gpu
