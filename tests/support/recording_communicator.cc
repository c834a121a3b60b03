#include "tests/support/recording_communicator.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

class RecordingCommunicator : public DeviceCommunicator {
 public:
  RecordingCommunicator(std::unique_ptr<DeviceCommunicator> inner, std::shared_ptr<CommunicatorLog> log, int device)
      : inner_(std::move(inner)), log_(std::move(log)), device_(device) {}

  int64_t rank() const override { return inner_->rank(); }
  int64_t size() const override { return inner_->size(); }
  bool has_all_to_all() const override { return inner_->has_all_to_all(); }

  absl::Status GroupStart() override {
    log_->Note(device_, "GroupStart");
    return inner_->GroupStart();
  }
  absl::Status GroupEnd() override {
    log_->Note(device_, "GroupEnd");
    HILO_RETURN_IF_ERROR(inner_->GroupEnd());
    return std::exchange(is_refused_, false) ? Unimplemented("a fault that was asked for: a group is refused")
                                             : absl::OkStatus();
  }
  absl::Status AllReduce(const void* send, void* receive, int64_t count, PrimitiveType type, DeviceReduction reduction,
                         GpuStream& stream) override {
    HILO_RETURN_IF_ERROR(Call("AllReduce", &count, type, absl::StrCat(" ", DeviceReductionName(reduction))));
    return inner_->AllReduce(send, receive, count, type, reduction, stream);
  }
  absl::Status ReduceScatter(const void* send, void* receive, int64_t count, PrimitiveType type,
                             DeviceReduction reduction, GpuStream& stream) override {
    HILO_RETURN_IF_ERROR(Call("ReduceScatter", &count, type, absl::StrCat(" ", DeviceReductionName(reduction))));
    return inner_->ReduceScatter(send, receive, count, type, reduction, stream);
  }
  absl::Status AllGather(const void* send, void* receive, int64_t count, PrimitiveType type,
                         GpuStream& stream) override {
    HILO_RETURN_IF_ERROR(Call("AllGather", &count, type, ""));
    return inner_->AllGather(send, receive, count, type, stream);
  }
  absl::Status Broadcast(const void* send, void* receive, int64_t count, PrimitiveType type, int64_t root,
                         GpuStream& stream) override {
    HILO_RETURN_IF_ERROR(Call("Broadcast", &count, type, absl::StrCat(" from ", root)));
    return inner_->Broadcast(send, receive, count, type, root, stream);
  }
  absl::Status Send(const void* data, int64_t count, PrimitiveType type, int64_t peer, GpuStream& stream) override {
    HILO_RETURN_IF_ERROR(Call("Send", &count, type, absl::StrCat(" to ", peer)));
    return inner_->Send(data, count, type, peer, stream);
  }
  absl::Status Receive(void* data, int64_t count, PrimitiveType type, int64_t peer, GpuStream& stream) override {
    HILO_RETURN_IF_ERROR(Call("Receive", &count, type, absl::StrCat(" from ", peer)));
    return inner_->Receive(data, count, type, peer, stream);
  }
  absl::Status AllToAll(const void* send, void* receive, int64_t count, PrimitiveType type,
                        GpuStream& stream) override {
    HILO_RETURN_IF_ERROR(Call("AllToAll", &count, type, ""));
    return inner_->AllToAll(send, receive, count, type, stream);
  }

  absl::StatusOr<std::unique_ptr<DeviceCommunicator>> Split(int64_t color, int64_t key,
                                                            const KeepWaiting& keep_waiting) override {
    log_->Note(device_, absl::StrCat("Split color ", color, " key ", key));
    HILO_ASSIGN_OR_RETURN(std::unique_ptr<DeviceCommunicator> part, inner_->Split(color, key, keep_waiting));
    if (part == nullptr) return nullptr;
    return std::make_unique<RecordingCommunicator>(std::move(part), log_, device_);
  }
  absl::Status AsyncError() override { return inner_->AsyncError(); }
  void Abort(const absl::Status& why) override {
    log_->Note(device_, "Abort");
    inner_->Abort(why);
  }

 private:
  absl::Status Call(absl::string_view name, int64_t* count, PrimitiveType type, absl::string_view rest) {
    log_->Note(device_, absl::StrCat(name, " ", *count, " ", PrimitiveTypeName(type), rest));
    switch (log_->NextFault(device_)) {
      case CommunicatorFault::Kind::kNone: return absl::OkStatus();
      case CommunicatorFault::Kind::kNeverComes:
        while (inner_->AsyncError().ok()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return inner_->AsyncError();
      case CommunicatorFault::Kind::kAborts: {
        const absl::Status why = Internal("a fault that was asked for: the communicator breaks at ", name);
        inner_->Abort(why);
        return why;
      }
      case CommunicatorFault::Kind::kSlow:
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return absl::OkStatus();
      case CommunicatorFault::Kind::kWrongCount: *count = std::max<int64_t>(*count - 1, 0); return absl::OkStatus();
      case CommunicatorFault::Kind::kRefused: is_refused_ = true; return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  const std::unique_ptr<DeviceCommunicator> inner_;
  const std::shared_ptr<CommunicatorLog> log_;
  const int device_;
  bool is_refused_ = false;  // the open group
};

class RecordingLibrary : public DeviceCommunicatorLibrary {
 public:
  RecordingLibrary(std::shared_ptr<DeviceCommunicatorLibrary> inner, std::shared_ptr<CommunicatorLog> log)
      : inner_(std::move(inner)), log_(std::move(log)) {}

  absl::StatusOr<std::string> Version() override {
    HILO_ASSIGN_OR_RETURN(const std::string version, inner_->Version());
    return absl::StrCat(version, ", recorded");
  }
  absl::StatusOr<std::string> MakeUniqueId() override { return inner_->MakeUniqueId(); }
  absl::StatusOr<std::unique_ptr<DeviceCommunicator>> Create(const std::string& unique_id, int64_t size, int64_t rank,
                                                             GpuDriver& driver, int device,
                                                             const KeepWaiting& keep_waiting) override {
    log_->Note(device, absl::StrCat("Create rank ", rank, " of ", size));
    HILO_ASSIGN_OR_RETURN(std::unique_ptr<DeviceCommunicator> made,
                          inner_->Create(unique_id, size, rank, driver, device, keep_waiting));
    return std::make_unique<RecordingCommunicator>(std::move(made), log_, device);
  }

 private:
  const std::shared_ptr<DeviceCommunicatorLibrary> inner_;
  const std::shared_ptr<CommunicatorLog> log_;
};

}  // namespace

void CommunicatorLog::Note(int device, std::string line) {
  std::lock_guard<std::mutex> lock(mutex_);
  lines_[device].push_back(std::move(line));
}

std::vector<std::string> CommunicatorLog::Take(int device) {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(lines_[device], {});
}

void CommunicatorLog::SetFault(const CommunicatorFault& fault) {
  std::lock_guard<std::mutex> lock(mutex_);
  fault_ = fault;
  calls_.clear();
}

CommunicatorFault::Kind CommunicatorLog::NextFault(int device) {
  std::lock_guard<std::mutex> lock(mutex_);
  const int64_t call = calls_[device]++;
  return device == fault_.device && call == fault_.call ? fault_.kind : CommunicatorFault::Kind::kNone;
}

std::shared_ptr<DeviceCommunicatorLibrary> CreateRecordingLibrary(std::shared_ptr<DeviceCommunicatorLibrary> library,
                                                                  std::shared_ptr<CommunicatorLog> log) {
  return std::make_shared<RecordingLibrary>(std::move(library), std::move(log));
}

}  // namespace hilo::gpu
