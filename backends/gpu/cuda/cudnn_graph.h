// The API of cuDNN since version 9: a graph of operations on tensors, engines that can run it, and a plan, which is one
// engine with its knobs set. Loaded on first use. Tensors, operations and graphs are created and checked without a
// device; engines are selected for one.
#ifndef HILO_BACKENDS_GPU_CUDA_CUDNN_GRAPH_H_
#define HILO_BACKENDS_GPU_CUDA_CUDNN_GRAPH_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/gpu/lib/library_device.h"

namespace hilo::gpu {

// A cuDNN descriptor. Finalize returns the first error of the preceding calls.
class CudnnDescriptor {
 public:
  explicit CudnnDescriptor(int type);
  CudnnDescriptor(CudnnDescriptor&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), status_(std::move(other.status_)) {}
  CudnnDescriptor& operator=(CudnnDescriptor&&) = delete;
  ~CudnnDescriptor();

  void Set(int attribute, int type, int64_t count, const void* values);
  void SetInt(int attribute, int64_t value);
  void SetInts(int attribute, const std::vector<int64_t>& values);
  void SetEnum(int attribute, int type, int value);
  void SetBool(int attribute, bool value);
  void Refer(int attribute, absl::Span<void* const> descriptors);
  // Errors: Unimplemented for what the library reports as unsupported, InvalidArgument for the rest, with its message;
  // Unavailable without the library.
  absl::Status Finalize();

  // Attributes of a finalized descriptor. Empty if the attribute is absent.
  std::vector<int64_t> Ints(int attribute) const;
  std::vector<int> Enums(int attribute, int type, int most) const;
  // Creates the descriptors that the library fills in.
  std::vector<CudnnDescriptor> Descriptors(int attribute, int type, int most) const;
  std::string Text(int attribute) const;

  void* handle() const { return handle_; }

 private:
  void* handle_ = nullptr;
  absl::Status status_;
};

// Operations on tensors. Tensors are numbered; the numbers map pointers to them when a plan runs.
class CudnnGraph {
 public:
  // Dimensions and strides in cuDNN's order: images, features, spatial ones. Virtual tensors have no memory.
  absl::StatusOr<void*> AddTensor(int64_t number, int data_type, const std::vector<int64_t>& dimensions,
                                  const std::vector<int64_t>& strides, bool is_virtual = false);
  // Finalizes a descriptor that the graph's operations refer to, or an operation.
  absl::StatusOr<void*> Add(CudnnDescriptor descriptor);
  absl::Status AddOperation(CudnnDescriptor operation);
  // Adds an element-wise operation: y = mode(x), or mode(x, b). `upper_clip` is for relu.
  absl::Status AddPointwise(int mode, void* x, void* b, void* y, double upper_clip = -1);
  // Completes the graph. Pass a device's handle, or null to check whether the library accepts the graph.
  absl::Status Finish(void* handle);

  void* handle() const { return graph_->handle(); }

 private:
  std::vector<CudnnDescriptor> descriptors_;
  std::vector<void*> operations_;
  std::unique_ptr<CudnnDescriptor> graph_;
};

// A cuDNN library call: a function that creates its graph, and a text that identifies it.
struct CudnnWork {
  std::string text;
  std::function<absl::StatusOr<CudnnGraph>(void* handle)> make;
  int64_t max_workspace_bytes = 0;
  // Allows engines that round f32 factors to tf32, or that are less exact because of Winograd's transforms.
  bool allow_tf32 = true;
};

// Returns OK if the library accepts the graph; needs no device. Errors: Unavailable without the library; as
// CudnnDescriptor::Finalize.
absl::Status CheckCudnnGraph(const CudnnWork& work);
// Returns the engines for the current device, ranked by the library's heuristics: deterministic ones that can be
// planned with the workspace. Errors: as above; Unimplemented if there is none.
absl::StatusOr<std::vector<LibraryAlgorithm>> CudnnAlgorithms(const CudnnWork& work, int most);
// Queues the graph on a stream of the current device, with the tensors' addresses by their numbers. Plans are cached
// for the life of the process.
absl::Status RunCudnn(void* stream, const CudnnWork& work, const std::vector<int64_t>& numbers,
                      const std::vector<void*>& addresses, const LibraryWorkspace& workspace,
                      const LibraryAlgorithm& algorithm);
// Returns cuDNN's description of a device.
absl::StatusOr<std::string> CudnnDeviceJson(int device);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_CUDA_CUDNN_GRAPH_H_
