// A communicator's handle may be used by one thread at a time, except for querying errors and aborting, which the
// watchdog does: every library call is made under a lock, which no wait holds. Aborting a communicator frees it.
//
// Calls may be captured: NCCL's documentation allows it for all of them, with thread-local captures where each thread
// has its own device. A call of a non-blocking communicator is only complete when the communicator reports it, and its
// launches are made by a thread of NCCL's, which a thread-local capture allows. The documentation requires that all
// ranks capture the same calls, and launch what they have captured together (graph_thunk.h). Aborting a communicator
// ends what its graphs run; it is freed once they are gone, and therefore on a thread of its own, because the thread
// that waits for them holds graphs.
#include "backends/gpu/collectives/nccl_communicator.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/gpu/collectives/grouped_communicator.h"
#include "backends/gpu/collectives/nccl_abi.h"
#include "backends/gpu/driver/cuda_library.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

struct Nccl {
#define HILO_CUDA_FN HILO_CUDA_FN_MEMBER
#define HILO_CUDA_OPTIONAL_FN HILO_CUDA_FN_MEMBER
#include "backends/gpu/collectives/nccl.def"
#undef HILO_CUDA_FN
#undef HILO_CUDA_OPTIONAL_FN
  int version = 0;
};

std::string VersionText(int version) {
  return absl::StrCat("NCCL ", version / 10000, ".", version / 100 % 100, ".", version % 100);
}

absl::StatusOr<Nccl> LoadNccl() {
  HILO_ASSIGN_OR_RETURN(void* library, LoadCudaLibrary({"libnccl.so.2"}));
  Nccl table;
#define HILO_CUDA_FN HILO_CUDA_FN_LOAD
#define HILO_CUDA_OPTIONAL_FN(result, name, parameters)                         \
  if (absl::StatusOr<void*> address = CudaSymbol(library, #name); address.ok()) \
    table.name = reinterpret_cast<result(*) parameters>(*address);
  // Loads the version first, so that an error for an old library can name it.
  HILO_CUDA_FN_LOAD(int, ncclGetVersion, (int*))
  const int result = table.ncclGetVersion(&table.version);
  if (result != kNcclSuccess) return Unavailable("libnccl.so.2 does not tell its version: error ", result);
  if (table.version < kNcclOldest)
    return Unavailable(VersionText(table.version), " is too old: ", VersionText(kNcclOldest), " or later is needed");
#include "backends/gpu/collectives/nccl.def"
#undef HILO_CUDA_FN
#undef HILO_CUDA_OPTIONAL_FN
  return table;
}

const absl::StatusOr<Nccl>& Library() {
  static const auto* const library = new absl::StatusOr<Nccl>(LoadNccl());
  return *library;
}

absl::Status NcclStatus(int result, absl::string_view call, void* communicator = nullptr) {
  if (result == kNcclSuccess) return absl::OkStatus();
  const char* last = Library()->ncclGetLastError(communicator);
  const std::string text = absl::StrCat(call, ": ", Library()->ncclGetErrorString(result),
                                        last != nullptr && *last != '\0' ? absl::StrCat(" (", last, ")") : "");
  switch (result) {
    case kNcclInvalidArgument:
    case kNcclInvalidUsage: return absl::InvalidArgumentError(text);
    case kNcclUnhandledCudaError:
    case kNcclSystemError:
    case kNcclRemoteError: return absl::UnavailableError(text);
    default: return absl::InternalError(text);
  }
}

int TypeNumber(PrimitiveType type) {
  switch (type) {
    case S8: return kNcclInt8;
    case S32: return kNcclInt32;
    case U32: return kNcclUint32;
    case S64: return kNcclInt64;
    case U64: return kNcclUint64;
    case F16: return kNcclFloat16;
    case BF16: return kNcclBfloat16;
    case F32: return kNcclFloat32;
    case F64: return kNcclFloat64;
    default: return kNcclUint8;
  }
}

int ReductionNumber(DeviceReduction reduction) {
  switch (reduction) {
    case DeviceReduction::kSum: return kNcclSum;
    case DeviceReduction::kProd: return kNcclProd;
    case DeviceReduction::kMax: return kNcclMax;
    case DeviceReduction::kMin: return kNcclMin;
  }
  return kNcclSum;
}

// Sleeps a little longer on each iteration.
class Patience {
 public:
  void Wait() {
    std::this_thread::sleep_for(next_);
    next_ = std::min(next_ * 2, std::chrono::microseconds(1000));
  }

 private:
  std::chrono::microseconds next_{10};
};

class NcclCommunicator : public GroupedCommunicator {
 public:
  // The creation of `communicator` may still be pending.
  explicit NcclCommunicator(void* communicator) : communicator_(communicator) {}
  // Nothing is queued any longer. Freeing must not wait for other ranks.
  ~NcclCommunicator() override { Abort(Cancelled("the communicator has come to its end")); }

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }
  bool has_all_to_all() const override { return Library()->ncclAlltoAll != nullptr; }

  // Waits for the other ranks. Must be called before anything else.
  absl::Status Begin(absl::string_view call, const KeepWaiting& keep_waiting) {
    HILO_RETURN_IF_ERROR(Settle(call, keep_waiting));
    std::lock_guard<std::mutex> lock(mutex_);
    HILO_RETURN_IF_ERROR(
        NcclStatus(Library()->ncclCommUserRank(communicator_, &rank_), "ncclCommUserRank", communicator_));
    return NcclStatus(Library()->ncclCommCount(communicator_, &size_), "ncclCommCount", communicator_);
  }

  // Waits until pending operations are done.
  absl::Status Settle(absl::string_view call, const KeepWaiting& keep_waiting) {
    Patience patience;
    while (true) {
      {
        std::lock_guard<std::mutex> lock(mutex_);
        if (!failure_.ok()) return failure_;
        int error = kNcclSuccess;
        HILO_RETURN_IF_ERROR(NcclStatus(Library()->ncclCommGetAsyncError(communicator_, &error),
                                        "ncclCommGetAsyncError", communicator_));
        if (error != kNcclInProgress) return NcclStatus(error, call, communicator_);
      }
      if (keep_waiting != nullptr) HILO_RETURN_IF_ERROR(keep_waiting());
      patience.Wait();
    }
  }

  absl::StatusOr<std::unique_ptr<DeviceCommunicator>> Split(int64_t color, int64_t key,
                                                            const KeepWaiting& keep_waiting) override {
    void* part = nullptr;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      HILO_RETURN_IF_ERROR(failure_);
      NcclConfig config;
      config.split_share = 1;
      const int result =
          Library()->ncclCommSplit(communicator_, static_cast<int>(color), static_cast<int>(key), &part, &config);
      if (result != kNcclInProgress) HILO_RETURN_IF_ERROR(NcclStatus(result, "ncclCommSplit", communicator_));
    }
    HILO_RETURN_IF_ERROR(Settle("ncclCommSplit", keep_waiting));
    if (color < 0) return nullptr;
    HILO_RET_CHECK(part != nullptr) << "ncclCommSplit gave no communicator";
    auto made = std::make_unique<NcclCommunicator>(part);
    HILO_RETURN_IF_ERROR(made->Begin("ncclCommSplit", keep_waiting));
    return made;
  }

  absl::Status AsyncError() override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_.ok()) return failure_;
    int error = kNcclSuccess;
    HILO_RETURN_IF_ERROR(
        NcclStatus(Library()->ncclCommGetAsyncError(communicator_, &error), "ncclCommGetAsyncError", communicator_));
    return error == kNcclInProgress ? absl::OkStatus() : NcclStatus(error, "a collective", communicator_);
  }

  void Abort(const absl::Status& why) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_.ok()) return;
    failure_ = why;
    void* const communicator = std::exchange(communicator_, nullptr);
    if (is_captured_) {
      try {
        std::thread([communicator] { Library()->ncclCommAbort(communicator); }).detach();
        return;
      } catch (const std::exception&) {
        // No thread or no memory for one: here.
      }
    }
    Library()->ncclCommAbort(communicator);
  }

 protected:
  absl::Status Submit(std::vector<CommunicatorCall> calls, GpuStream& stream) override {
    std::vector<GpuSlice> slices;
    for (const CommunicatorCall& call : calls) call.AddSlices(rank_, size_, &slices);
    if (stream.IsCaptured()) is_captured_ = true;
    return stream.Call([&](void* native) { return Queue(calls, native); }, slices);
  }

 private:
  absl::Status Queue(const std::vector<CommunicatorCall>& calls, void* stream) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      HILO_RETURN_IF_ERROR(failure_);
      HILO_RETURN_IF_ERROR(NcclStatus(Library()->ncclGroupStart(), "ncclGroupStart", communicator_));
      int first = kNcclSuccess;
      std::string which;
      for (const CommunicatorCall& call : calls) {
        const int result = Issue(call, stream);
        if (result == kNcclSuccess || result == kNcclInProgress || first != kNcclSuccess) continue;
        first = result;
        which = call.ToString();
      }
      const int ended = Library()->ncclGroupEnd();  // in any case: a thread's groups are counted
      HILO_RETURN_IF_ERROR(NcclStatus(first, which, communicator_));
      if (ended != kNcclInProgress) return NcclStatus(ended, calls[0].ToString(), communicator_);
    }
    return Settle(calls[0].ToString(), nullptr);
  }

  int Issue(const CommunicatorCall& call, void* stream) {
    const Nccl& nccl = *Library();
    const int type = TypeNumber(call.type), reduction = ReductionNumber(call.reduction),
              peer = static_cast<int>(call.peer);
    const size_t count = static_cast<size_t>(call.count);
    switch (call.kind) {
      case CommunicatorCall::Kind::kAllReduce:
        return nccl.ncclAllReduce(call.send, call.receive, count, type, reduction, communicator_, stream);
      case CommunicatorCall::Kind::kReduceScatter:
        return nccl.ncclReduceScatter(call.send, call.receive, count, type, reduction, communicator_, stream);
      case CommunicatorCall::Kind::kAllGather:
        return nccl.ncclAllGather(call.send, call.receive, count, type, communicator_, stream);
      case CommunicatorCall::Kind::kBroadcast:
        return nccl.ncclBroadcast(call.send, call.receive, count, type, peer, communicator_, stream);
      case CommunicatorCall::Kind::kAllToAll:
        return nccl.ncclAlltoAll(call.send, call.receive, count, type, communicator_, stream);
      case CommunicatorCall::Kind::kSend: return nccl.ncclSend(call.send, count, type, peer, communicator_, stream);
      case CommunicatorCall::Kind::kReceive:
        return nccl.ncclRecv(call.receive, count, type, peer, communicator_, stream);
    }
    return kNcclInvalidUsage;
  }

  std::mutex mutex_;
  void* communicator_;
  absl::Status failure_;
  std::atomic<bool> is_captured_{false};  // by graphs, which may hold it
  int rank_ = 0, size_ = 1;
};

class NcclLibrary : public DeviceCommunicatorLibrary {
 public:
  absl::StatusOr<std::string> Version() override {
    HILO_RETURN_IF_ERROR(Library().status());
    std::string text = VersionText(Library()->version);
    if (Library()->ncclAlltoAll == nullptr) absl::StrAppend(&text, ", without ncclAlltoAll");
    if (Library()->ncclCommShrink == nullptr) absl::StrAppend(&text, ", without ncclCommShrink");
    return text;
  }

  absl::StatusOr<std::string> MakeUniqueId() override {
    HILO_RETURN_IF_ERROR(Library().status());
    NcclUniqueId id;
    HILO_RETURN_IF_ERROR(NcclStatus(Library()->ncclGetUniqueId(&id), "ncclGetUniqueId"));
    return std::string(id.internal, sizeof(id.internal));
  }

  absl::StatusOr<std::unique_ptr<DeviceCommunicator>> Create(const std::string& unique_id, int64_t size, int64_t rank,
                                                             GpuDriver& driver, int,
                                                             const KeepWaiting& keep_waiting) override {
    HILO_RETURN_IF_ERROR(Library().status());
    NcclUniqueId id;
    if (unique_id.size() < sizeof(id.internal))
      return InvalidArgument("expected a unique id of ", sizeof(id.internal), " bytes, got ", unique_id.size());
    if (rank < 0 || rank >= size || size > INT_MAX)
      return InvalidArgument("expected a rank below ", size, ", got ", rank);
    std::memcpy(id.internal, unique_id.data(), sizeof(id.internal));
    std::unique_ptr<NcclCommunicator> made;
    // Calls on a stream are made with its device as the thread's current one.
    HILO_ASSIGN_OR_RETURN(const std::unique_ptr<GpuStream> stream, driver.CreateStream());
    HILO_RETURN_IF_ERROR(stream->Call(
        [&](void*) -> absl::Status {
          void* communicator = nullptr;
          NcclConfig config;
          const int result = Library()->ncclCommInitRankConfig(&communicator, static_cast<int>(size), id,
                                                               static_cast<int>(rank), &config);
          if (result != kNcclInProgress) HILO_RETURN_IF_ERROR(NcclStatus(result, "ncclCommInitRankConfig"));
          made = std::make_unique<NcclCommunicator>(communicator);
          return made->Begin("ncclCommInitRankConfig", keep_waiting);
        },
        {}));
    return made;
  }
};

}  // namespace

std::shared_ptr<DeviceCommunicatorLibrary> CreateNcclLibrary() { return std::make_shared<NcclLibrary>(); }

}  // namespace hilo::gpu
