#include "backends/gpu/emulated/emulated_stream.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

using Clock = std::chrono::steady_clock;

// State of a capture; shared by the streams that take part.
struct CaptureSession {
  bool ended = false;
  bool is_part = false;  // of control flow
  CapturedWork captured;
  StreamOrder order;
  std::map<std::pair<int, uint64_t>, size_t> node_of;  // of an operation
  std::map<int, std::vector<size_t>>
      waits;  // nodes that a stream's next operation comes after, beside the stream's last
};

struct EventState {
  StreamPoint point;
  std::shared_ptr<CaptureSession> capture;
  std::shared_ptr<Clock::time_point> time;
};

class Event : public GpuEvent {
 public:
  explicit Event(EmulatedQueue* queue) : queue_(*queue) {}
  absl::StatusOr<bool> IsDone() override {
    if (state.capture != nullptr) return FailedPrecondition("an event that was recorded while capturing is never done");
    if (state.point.stream < 0) return true;
    const bool done = queue_.Poll(state.point);
    HILO_RETURN_IF_ERROR(queue_.status());
    return done;
  }
  absl::Status Synchronize() override {
    if (state.capture != nullptr) return FailedPrecondition("an event that was recorded while capturing is never done");
    return state.point.stream < 0 ? absl::OkStatus() : queue_.Reach(state.point);
  }
  absl::StatusOr<double> MillisecondsSince(const GpuEvent& start) override {
    const EventState& from = static_cast<const Event&>(start).state;
    if (state.time == nullptr || from.time == nullptr)
      return FailedPrecondition("time between events that were not recorded");
    HILO_RETURN_IF_ERROR(Synchronize());
    return std::chrono::duration<double, std::milli>(*state.time - *from.time).count();
  }

  EventState state;

 private:
  EmulatedQueue& queue_;
};

// Ends loops that were captured on a stream; captured work keeps it alive.
using EndFlag = std::atomic<const volatile int32_t*>;

struct Graph : GpuGraph {
  std::shared_ptr<const CapturedWork> work;
};

class Stream : public GpuStream {
 public:
  Stream(EmulatedExecutor* device, EmulatedQueue* queue)
      : device_(*device), queue_(*queue), number_(queue->AddStream()) {}
  ~Stream() override { queue_.RemoveStream(number_); }

  absl::Status Launch(GpuKernel* kernel, const LaunchDimensions& dimensions, absl::Span<const uint64_t> arguments,
                      absl::Span<const GpuSlice> slices) override;
  absl::Status Copy(void* to, const void* from, int64_t bytes) override;
  absl::Status Fill(void* to, uint32_t pattern, int width, int64_t bytes) override;
  absl::Status Host(std::function<absl::Status()> function, absl::Span<const GpuSlice> slices) override {
    return Add({"host", {slices.begin(), slices.end()}, std::move(function)});
  }
  absl::Status Call(std::function<absl::Status(void*)> function, absl::Span<const GpuSlice> slices) override {
    return Add(
        {"call", {slices.begin(), slices.end()}, [function = std::move(function)] { return function(nullptr); }});
  }

  absl::Status Record(GpuEvent* event) override {
    EventState& state = static_cast<Event*>(event)->state;
    if (IsCaptured()) {
      state = {.point = capture_->order.Record(number_), .capture = capture_};
      return absl::OkStatus();
    }
    auto time = std::make_shared<Clock::time_point>();
    HILO_RETURN_IF_ERROR(Add({.what = "record",
                              .run =
                                  [time] {
                                    *time = Clock::now();
                                    return absl::OkStatus();
                                  },
                              .always = true}));
    state = {.point = queue_.Record(number_), .time = std::move(time)};
    return absl::OkStatus();
  }

  absl::Status Wait(const GpuEvent& event) override {
    const EventState& state = static_cast<const Event&>(event).state;
    if (state.capture == nullptr && !IsCaptured()) {
      queue_.Wait(number_, state.point);
      return absl::OkStatus();
    }
    if (state.capture == nullptr)
      return FailedPrecondition("a captured stream waits for an event that was recorded outside of the capture");
    if (state.capture->ended) return FailedPrecondition("a stream waits for an event of a capture that has ended");
    if (IsCaptured() && capture_ != state.capture)
      return FailedPrecondition("a stream that is captured joins another capture");
    capture_ = state.capture;
    capture_->order.Wait(number_, state.point);
    const auto node = capture_->node_of.find({state.point.stream, state.point.sequence});
    if (node != capture_->node_of.end()) capture_->waits[number_].push_back(node->second);
    return absl::OkStatus();
  }

  absl::Status Synchronize() override {
    if (IsCaptured()) return FailedPrecondition("a stream that is captured cannot be waited for");
    return queue_.Synchronize(number_);
  }

  absl::Status BeginCapture() override {
    if (IsCaptured()) return FailedPrecondition("the stream is being captured already");
    capture_ = std::make_shared<CaptureSession>();
    is_origin_ = true;
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<GpuGraph>> EndCapture(std::unique_ptr<GpuGraph> changed) override {
    if (capture_ == nullptr || !is_origin_) return FailedPrecondition("the capture did not begin on this stream");
    const std::shared_ptr<CaptureSession> session = std::exchange(capture_, nullptr);
    session->ended = true;
    is_origin_ = false;
    const StreamClock& known = session->order.clock(number_);
    for (const auto& [operation, node] : session->node_of) {
      const auto it = known.find(operation.first);
      if (it == known.end() || it->second < operation.second)
        return FailedPrecondition("a stream that joined the capture has not come back");
    }
    if (RefusesCapture()) return Unimplemented("the capture is refused, as HILO_EMULATED says");
    std::unique_ptr<GpuGraph> graph = changed != nullptr ? std::move(changed) : std::make_unique<Graph>();
    static_cast<Graph*>(graph.get())->work = std::make_shared<CapturedWork>(std::move(session->captured));
    return graph;
  }

  absl::Status LaunchGraph(GpuGraph* graph) override {
    std::shared_ptr<const CapturedWork> work = static_cast<Graph*>(graph)->work;
    const auto run = std::make_shared<CapturedRun>(work);
    QueuedWork all{.what = "graph", .run = [queue = &queue_, run] { return queue->Advance(*run); }};
    all.is_ready = [run] { return run->IsReady() || run->IsDone(); };
    all.is_done = [run] { return run->IsDone(); };
    AddSlices(*work, &all.slices);
    return Add(std::move(all));
  }

  bool CapturesControlFlow() override;

  absl::Status CaptureWhile(const uint8_t* more, const Part& body) override {
    HILO_RETURN_IF_ERROR(CheckDeviceRange("the condition of a loop", more, 1));
    HILO_ASSIGN_OR_RETURN(const std::shared_ptr<const CapturedWork> iteration, CapturePart(body));
    QueuedWork work{.what = "while", .slices = {GpuSlice::Read(more, 1)}};
    AddSlices(*iteration, &work.slices);
    work.run = [queue = &queue_, more, iteration, flag = end_flag_]() -> absl::Status {
      const auto ends = [&] {
        const volatile int32_t* word = flag->load();
        return word != nullptr && *word != 0;
      };
      while (*more != 0 && !ends()) HILO_RETURN_IF_ERROR(RunPart(*queue, iteration));
      return absl::OkStatus();
    };
    return Add(std::move(work));
  }

  absl::Status CaptureBranches(const void* selector, bool is_pred, absl::Span<const Part> branches) override {
    const int64_t bytes = is_pred ? 1 : sizeof(int32_t);
    HILO_RETURN_IF_ERROR(CheckDeviceRange("the selector of branches", selector, bytes));
    if (branches.empty() || (is_pred && branches.size() != 2))
      return InvalidArgument("expected ", is_pred ? "two branches" : "branches", ", got ", branches.size());
    QueuedWork work{.what = "branches", .slices = {GpuSlice::Read(selector, bytes)}};
    std::vector<std::shared_ptr<const CapturedWork>> parts;
    for (const Part& branch : branches) {
      HILO_ASSIGN_OR_RETURN(parts.emplace_back(), CapturePart(branch));
      AddSlices(*parts.back(), &work.slices);
    }
    work.run = [queue = &queue_, selector, is_pred, parts] {
      size_t branch = parts.size() - 1;
      if (is_pred) {
        branch = *static_cast<const uint8_t*>(selector) != 0 ? 0 : 1;
      } else {
        int32_t number;
        std::memcpy(&number, selector, sizeof(number));
        if (number >= 0) branch = std::min(branch, static_cast<size_t>(number));
      }
      return RunPart(*queue, parts[branch]);
    };
    return Add(std::move(work));
  }

  void EndLoopsWhen(const volatile int32_t* flag) override { end_flag_->store(flag); }

  bool IsCaptured() override {
    if (capture_ != nullptr && capture_->ended) capture_ = nullptr;
    return capture_ != nullptr;
  }
  absl::Status Add(QueuedWork work);
  absl::Status AddWhenReady(QueuedWork work) {
    if (IsCaptured() && capture_->is_part) return Unimplemented(work.what, " in captured control flow");
    if (!IsCaptured()) work.is_ready = std::exchange(work.begin, nullptr)();
    return Add(std::move(work));
  }

 private:
  absl::Status Capture(QueuedWork work);
  // Captures what the part queues, as work of its own.
  absl::StatusOr<std::shared_ptr<const CapturedWork>> CapturePart(const Part& part) {
    if (!CapturesControlFlow()) return Unimplemented("control flow in a captured stream");
    if (!IsCaptured()) return FailedPrecondition("control flow is for streams that are being captured");
    Stream stream(&device_, &queue_);
    stream.end_flag_ = end_flag_;
    HILO_RETURN_IF_ERROR(stream.BeginCapture());
    stream.capture_->is_part = true;
    HILO_RETURN_IF_ERROR(part(stream));
    HILO_ASSIGN_OR_RETURN(const std::unique_ptr<GpuGraph> graph, stream.EndCapture(nullptr));
    return static_cast<const Graph&>(*graph).work;
  }
  static void AddSlices(const CapturedWork& work, std::vector<GpuSlice>* slices) {
    for (const CapturedWork::Node& node : work.nodes)
      slices->insert(slices->end(), node.work.slices.begin(), node.work.slices.end());
  }
  static absl::Status RunPart(EmulatedQueue& queue, const std::shared_ptr<const CapturedWork>& work) {
    CapturedRun run(work);
    return queue.Advance(run);
  }
  absl::Status CheckDeviceRange(const char* what, const void* address, int64_t bytes) const;
  bool RefusesCapture();

  EmulatedExecutor& device_;
  EmulatedQueue& queue_;
  const int number_;
  std::shared_ptr<CaptureSession> capture_;
  bool is_origin_ = false;
  std::shared_ptr<EndFlag> end_flag_ = std::make_shared<EndFlag>(nullptr);
};

absl::Status Stream::Add(QueuedWork work) {
  if (IsCaptured()) return Capture(std::move(work));
  queue_.Queue(number_, std::move(work));
  return absl::OkStatus();
}

absl::Status Stream::Capture(QueuedWork work) {
  std::vector<EmulatedReport> races;
  const uint64_t sequence = capture_->order.Queue(number_, work.what, work.slices, &races);
  for (EmulatedReport& race : races) queue_.Report(std::move(race));
  CapturedWork::Node node{.work = std::move(work), .after = std::exchange(capture_->waits[number_], {})};
  const auto before = capture_->node_of.find({number_, sequence - 1});
  if (before != capture_->node_of.end()) node.after.push_back(before->second);
  capture_->node_of[{number_, sequence}] = capture_->captured.nodes.size();
  capture_->captured.nodes.push_back(std::move(node));
  return absl::OkStatus();
}

bool Stream::RefusesCapture() { return device_.RefusesCapture(); }
bool Stream::CapturesControlFlow() { return device_.captures_control_flow(); }

absl::Status Stream::CheckDeviceRange(const char* what, const void* address, int64_t bytes) const {
  return device_.memory().CheckRange(what, address, bytes);
}

absl::Status Stream::Launch(GpuKernel* kernel, const LaunchDimensions& dimensions, absl::Span<const uint64_t> arguments,
                            absl::Span<const GpuSlice> slices) {
  HILO_RETURN_IF_ERROR(queue_.status());
  auto* const emulated = static_cast<EmulatedKernel*>(kernel);
  HILO_RETURN_IF_ERROR(device_.CheckLaunch(*emulated, dimensions, arguments.size()));
  return Add({kernel->name(),
              {slices.begin(), slices.end()},
              [device = &device_, emulated, code = emulated->code.lock(), dimensions,
               values = std::vector<uint64_t>(arguments.begin(), arguments.end()),
               touched = std::vector<GpuSlice>(slices.begin(), slices.end())] {
                return device->RunKernel(*emulated, dimensions, values, touched);
              }});
}

absl::Status Stream::Copy(void* to, const void* from, int64_t bytes) {
  if (bytes < 0) return InvalidArgument("copy: expected a number of bytes, got ", bytes);
  HILO_RETURN_IF_ERROR(device_.memory().CheckRange("copy to", to, bytes));
  HILO_RETURN_IF_ERROR(device_.memory().CheckRange("copy from", from, bytes));
  if (bytes == 0) return absl::OkStatus();
  return Add({"copy", {GpuSlice::Write(to, bytes), GpuSlice::Read(from, bytes)}, [=] {
                std::memmove(to, from, bytes);
                return absl::OkStatus();
              }});
}

absl::Status Stream::Fill(void* to, uint32_t pattern, int width, int64_t bytes) {
  if ((width != 1 && width != 2 && width != 4) || bytes < 0 || bytes % width != 0) {
    return InvalidArgument("fill: expected a width of 1, 2 or 4 that divides the bytes, got ", width, " and ", bytes);
  }
  HILO_RETURN_IF_ERROR(device_.memory().CheckRange("fill", to, bytes));
  if (bytes == 0) return absl::OkStatus();
  return Add({"fill", {GpuSlice::Write(to, bytes)}, [=] {
                for (int64_t at = 0; at < bytes; at += width)
                  std::memcpy(static_cast<uint8_t*>(to) + at, &pattern, width);
                return absl::OkStatus();
              }});
}

}  // namespace

std::unique_ptr<GpuStream> CreateEmulatedStream(EmulatedExecutor* device, EmulatedQueue* queue) {
  return std::make_unique<Stream>(device, queue);
}

std::unique_ptr<GpuEvent> CreateEmulatedEvent(EmulatedQueue* queue) { return std::make_unique<Event>(queue); }

absl::Status QueueOn(GpuStream& stream, QueuedWork work) { return static_cast<Stream&>(stream).Add(std::move(work)); }

absl::Status QueueWhenReady(GpuStream& stream, absl::string_view what, absl::Span<const GpuSlice> slices,
                            std::function<std::function<bool()>()> begin) {
  QueuedWork work{
      .what = std::string(what), .slices = {slices.begin(), slices.end()}, .run = [] { return absl::OkStatus(); }};
  work.begin = std::move(begin);
  return static_cast<Stream&>(stream).AddWhenReady(std::move(work));
}

}  // namespace hilo::gpu
