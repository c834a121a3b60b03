// Loops, branches and calls around sequences of thunks.
#ifndef HILO_BACKENDS_GPU_THUNKS_CONTROL_THUNKS_H_
#define HILO_BACKENDS_GPU_THUNKS_CONTROL_THUNKS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/gpu/thunks/thunk.h"

namespace hilo::gpu {

// The host reads the predicate in each iteration; in a graph, the device does.
class WhileThunk : public Thunk {
 public:
  WhileThunk(BufferSlice predicate, ThunkSequence condition, ThunkSequence body)
      : predicate_(predicate), condition_(std::move(condition)), body_(std::move(body)) {}
  static std::unique_ptr<Thunk> Read(ThunkReader& in);
  ThunkKind kind() const override { return ThunkKind::kWhile; }
  void Write(ThunkWriter& out) const override;
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  bool IsCapturable() const override { return AreCapturable(condition_) && AreCapturable(body_); }
  bool HasControlFlow() const override { return true; }

 private:
  WhileThunk() = default;
  template <typename Stream, typename Self>
  static void Fields(Stream& stream, Self& self);

  BufferSlice predicate_;
  ThunkSequence condition_, body_;
};

// A loop of known trip count: no predicate is read, and iterations are queued ahead of the device.
class CountedLoopThunk : public Thunk {
 public:
  CountedLoopThunk(int64_t iterations, ThunkSequence body) : iterations_(iterations), body_(std::move(body)) {}
  static std::unique_ptr<Thunk> Read(ThunkReader& in);
  ThunkKind kind() const override { return ThunkKind::kCountedLoop; }
  void Write(ThunkWriter& out) const override;
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  // True for short loops.
  bool IsCapturable() const override;
  bool HasControlFlow() const override { return HaveControlFlow(body_); }

 private:
  CountedLoopThunk() = default;
  template <typename Stream, typename Self>
  static void Fields(Stream& stream, Self& self);

  int64_t iterations_ = 0;
  ThunkSequence body_;
};

// Runs the sequence until it sets the byte at `flag` to 0.
class RepeatThunk : public Thunk {
 public:
  RepeatThunk(KernelArgument flag, ThunkSequence body) : flag_(flag), body_(std::move(body)) {}
  static std::unique_ptr<Thunk> Read(ThunkReader& in);
  ThunkKind kind() const override { return ThunkKind::kRepeat; }
  void Write(ThunkWriter& out) const override;
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  bool IsCapturable() const override { return AreCapturable(body_); }
  bool HasControlFlow() const override { return true; }

 private:
  RepeatThunk() = default;
  template <typename Stream, typename Self>
  static void Fields(Stream& stream, Self& self);

  KernelArgument flag_;
  ThunkSequence body_;
};

// The selector is pred (false selects branch 1) or s32 (out of range selects the last branch).
class ConditionalThunk : public Thunk {
 public:
  ConditionalThunk(BufferSlice selector, bool is_pred, std::vector<ThunkSequence> branches)
      : selector_(selector), is_pred_(is_pred), branches_(std::move(branches)) {}
  static std::unique_ptr<Thunk> Read(ThunkReader& in);
  ThunkKind kind() const override { return ThunkKind::kConditional; }
  void Write(ThunkWriter& out) const override;
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  bool IsCapturable() const override;
  bool HasControlFlow() const override { return true; }

 private:
  ConditionalThunk() = default;
  template <typename Stream, typename Self>
  static void Fields(Stream& stream, Self& self);

  BufferSlice selector_;
  bool is_pred_ = false;
  std::vector<ThunkSequence> branches_;
};

// Runs another scope, which must outlive this thunk, in a part of the caller's frame.
class CallThunk : public Thunk {
 public:
  CallThunk(std::string name, const ThunkScope* callee, int64_t frame_offset, std::vector<BufferSlice> parameters,
            std::vector<BufferSlice> outputs);
  static std::unique_ptr<Thunk> Read(ThunkReader& in);
  ThunkKind kind() const override { return ThunkKind::kCall; }
  void Write(ThunkWriter& out) const override;
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  bool IsCapturable() const override { return is_capturable_; }
  bool HasControlFlow() const override { return has_control_flow_; }

 private:
  CallThunk() = default;
  template <typename Stream, typename Self>
  static void Fields(Stream& stream, Self& self);

  std::string name_;
  const ThunkScope* callee_ = nullptr;
  int64_t frame_offset_ = 0;
  std::vector<BufferSlice> parameters_, outputs_;
  // Of the callee, computed once: calls of calls would compute it again for each path to it.
  bool is_capturable_ = false, has_control_flow_ = false;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_THUNKS_CONTROL_THUNKS_H_
