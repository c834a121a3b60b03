// Trains a small network on handwritten digits twice: on one device with all 64 images, and on four replicas with 16
// each, which add their gradients up in every step. Both see the same losses, but for the rounding of sums in another
// order.
//
//   data_parallel examples/digits/digits.npz
//   hilo launch -n 2 data_parallel examples/digits/digits.npz      the four replicas are in two processes
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

#include "hilo/client.h"
#include "hilo/collectives.h"
#include "hilo/npy.h"
#include "hilo/status_macros.h"
#include "hilo/xla_builder.h"

namespace {

using namespace hilo;

constexpr int64_t kImages = 64, kPixels = 64, kHidden = 32, kClasses = 10;
constexpr int kSteps = 60, kReplicas = 4;
constexpr float kRate = 0.5f;

XlaOp SumOver(XlaOp x, int64_t dimension) {
  XlaBuilder add("add");
  const Shape scalar = ShapeUtil::MakeShape(F32, {});
  Add(Parameter(&add, 0, scalar, "a"), Parameter(&add, 1, scalar, "b"));
  return Reduce(x, ConstantR0<float>(x.builder(), 0), *add.Build(), {dimension});
}
XlaOp MaximumOver(XlaOp x, int64_t dimension) {
  XlaBuilder max("max");
  const Shape scalar = ShapeUtil::MakeShape(F32, {});
  Max(Parameter(&max, 0, scalar, "a"), Parameter(&max, 1, scalar, "b"));
  return Reduce(x, ConstantR0<float>(x.builder(), -INFINITY), *max.Build(), {dimension});
}

// (images f32[batch,64], labels s32[batch], w1, b1, w2, b2) -> (loss, w1, b1, w2, b2): one step of gradient descent on
// the mean loss over all replicas' images.
absl::StatusOr<XlaComputation> TrainStep(int64_t batch) {
  XlaBuilder b("train_step");
  const XlaOp images = Parameter(&b, 0, ShapeUtil::MakeShape(F32, {batch, kPixels}), "images");
  const XlaOp labels = Parameter(&b, 1, ShapeUtil::MakeShape(S32, {batch}), "labels");
  const XlaOp w1 = Parameter(&b, 2, ShapeUtil::MakeShape(F32, {kPixels, kHidden}), "w1");
  const XlaOp b1 = Parameter(&b, 3, ShapeUtil::MakeShape(F32, {kHidden}), "b1");
  const XlaOp w2 = Parameter(&b, 4, ShapeUtil::MakeShape(F32, {kHidden, kClasses}), "w2");
  const XlaOp b2 = Parameter(&b, 5, ShapeUtil::MakeShape(F32, {kClasses}), "b2");

  const XlaOp before = Add(Dot(images, w1), b1, {1});
  const XlaOp zero = ConstantR0<float>(&b, 0);
  const XlaOp hidden = Max(before, zero);
  const XlaOp logits = Add(Dot(hidden, w2), b2, {1});
  const XlaOp shifted = Sub(logits, MaximumOver(logits, 1), {0});
  const XlaOp log_probability = Sub(shifted, Log(SumOver(Exp(shifted), 1)), {0});
  const XlaOp classes = Iota(&b, ShapeUtil::MakeShape(S32, {batch, kClasses}), 1);
  const XlaOp is_label = ConvertElementType(Eq(classes, labels, {0}), F32);

  // Every replica divides by the number of all images, so that sums over the replicas are means.
  const XlaOp share = ConstantR0<float>(&b, 1.0f / kImages);
  const XlaOp loss = Neg(Mul(SumOver(SumOver(Mul(log_probability, is_label), 1), 0), share));
  const XlaOp d_logits = Mul(Sub(Exp(log_probability), is_label), share);
  const XlaOp d_hidden = Mul(Dot(d_logits, Transpose(w2, {1, 0})), ConvertElementType(Gt(before, zero), F32));

  const auto descend = [&](XlaOp weight, XlaOp gradient) {
    return Sub(weight, Mul(CrossReplicaSum(gradient), ConstantR0<float>(&b, kRate)));
  };
  Tuple(&b, {CrossReplicaSum(loss), descend(w1, Dot(Transpose(images, {1, 0}), d_hidden)),
             descend(b1, SumOver(d_hidden, 0)), descend(w2, Dot(Transpose(hidden, {1, 0}), d_logits)),
             descend(b2, SumOver(d_logits, 0))});
  return b.Build();
}

struct Digits {
  std::vector<float> images;
  std::vector<int32_t> labels;
};

absl::StatusOr<Digits> LoadDigits(const char* path) {
  Digits digits;
  HILO_ASSIGN_OR_RETURN(const std::vector<NamedLiteral> arrays, ReadNpz(path));
  for (const NamedLiteral& array : arrays) {
    if (array.name == "images")
      digits.images.assign(array.literal.data<float>().begin(), array.literal.data<float>().end());
    if (array.name == "labels")
      digits.labels.assign(array.literal.data<int32_t>().begin(), array.literal.data<int32_t>().end());
  }
  if (digits.images.size() != kImages * kPixels || digits.labels.size() != kImages)
    return absl::InvalidArgumentError("expected images f32[64,64] and labels s32[64]");
  return digits;
}

// Small, different numbers.
std::vector<float> FirstWeights(int64_t count) {
  std::vector<float> weights(count);
  for (int64_t i = 0; i < count; ++i) weights[i] = 0.2f * std::sin(static_cast<float>(i * i % 1009));
  return weights;
}

// The loss of every step. With a launcher's processes the replicas are spread over them.
absl::StatusOr<std::vector<float>> Train(const Digits& digits, int replicas) {
  ClientOptions client_options{.device_count = replicas};
  HILO_ASSIGN_OR_RETURN(const LaunchEnvironment launch, DetectLaunch());
  if (replicas > 1 && launch.world_size > 1) {
    if (replicas % launch.world_size != 0) return absl::InvalidArgumentError("expected 1, 2 or 4 processes");
    HILO_ASSIGN_OR_RETURN(client_options.processes, ProcessGroupOptionsFrom(launch));
    client_options.device_count = replicas / static_cast<int>(launch.world_size);
  }
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<Client> client, Client::Create(client_options));
  const int64_t batch = kImages / replicas;
  HILO_ASSIGN_OR_RETURN(const XlaComputation step, TrainStep(batch));
  CompileOptions options;
  options.replica_count = replicas;
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<Executable> executable, client->Compile(step, options));

  const std::vector<Shape>& parameters = executable->program_shape().parameters;
  std::vector<std::vector<std::unique_ptr<Buffer>>> state(client_options.device_count);  // data, then weights
  const int here = client_options.device_count, first = client->first_device();
  for (int d = 0; d < here; ++d) {
    const int r = first + d;
    const std::vector<float> w1 = FirstWeights(kPixels * kHidden), w2 = FirstWeights(kHidden * kClasses),
                             zeros(kHidden);
    const void* arrays[] = {digits.images.data() + r * batch * kPixels,
                            digits.labels.data() + r * batch,
                            w1.data(),
                            zeros.data(),
                            w2.data(),
                            zeros.data()};
    for (int i = 0; i < 6; ++i) {
      HILO_ASSIGN_OR_RETURN(state[d].emplace_back(), client->BufferFromHostMemory(arrays[i], parameters[i], d));
    }
  }
  std::vector<float> losses;
  for (int i = 0; i < kSteps; ++i) {
    std::vector<std::vector<Buffer*>> arguments(here);
    for (int d = 0; d < here; ++d) {
      for (const auto& buffer : state[d]) arguments[d].push_back(buffer.get());
    }
    HILO_ASSIGN_OR_RETURN(Executable::ReplicatedResults results, executable->ExecuteReplicated(arguments));
    HILO_ASSIGN_OR_RETURN(const Literal loss, results[0][0]->ToLiteral());
    losses.push_back(loss.data<float>()[0]);
    for (int d = 0; d < here; ++d) {
      for (size_t k = 1; k < results[d].size(); ++k) state[d][k + 1] = std::move(results[d][k]);
    }
  }
  return losses;
}

absl::Status Run(const char* path) {
  HILO_ASSIGN_OR_RETURN(const Digits digits, LoadDigits(path));
  HILO_ASSIGN_OR_RETURN(const std::vector<float> one, Train(digits, 1));
  HILO_ASSIGN_OR_RETURN(const std::vector<float> four, Train(digits, kReplicas));
  float difference = 0;
  std::printf("step   one device   %d replicas\n", kReplicas);
  for (int i = 0; i < kSteps; ++i) {
    difference = std::max(difference, std::abs(one[i] - four[i]) / one[i]);
    if (i % 10 == 0 || i + 1 == kSteps) std::printf("%4d   %10.6f   %10.6f\n", i, one[i], four[i]);
  }
  std::printf("largest relative difference of the losses: %.2g\n", difference);
  if (!(difference < 1e-4) || !(four.back() < four.front() / 2))
    return absl::InternalError("the replicas did not learn what one device learns");
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s digits.npz\n", argv[0]);
    return 2;
  }
  const absl::Status status = Run(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
