#include "backends/cpu/kernels/lane_values.h"

namespace hilo::cpu {

using codegen::Carried;
using codegen::ElementValue;

Carried PackLanes(FunctionEmitter& f, const Elements& values) {
  Carried carried;
  for (const ElementValue& value : values) {
    carried.push_back(f.context().Splat(value.re));
    if (value.im != nullptr) carried.push_back(f.context().Splat(value.im));
  }
  return carried;
}

Elements UnpackLanes(const Carried& carried, const Elements& like) {
  Elements values;
  size_t next = 0;
  for (const ElementValue& value : like) {
    ElementValue& out = values.emplace_back();
    out.re = carried[next++];
    if (value.im != nullptr) out.im = carried[next++];
  }
  return values;
}

Elements Lanes(FunctionEmitter& f, const Elements& values, int first, int count) {
  std::vector<int> lanes;
  for (int lane = 0; lane < count; ++lane) lanes.push_back(first + lane);
  Elements result = values;
  for (ElementValue& value : result) {
    for (llvm::Value** part : {&value.re, &value.im}) {
      if (*part == nullptr) continue;
      *part = count == 1 ? f.b().CreateExtractElement(*part, static_cast<uint64_t>(first))
                         : f.b().CreateShuffleVector(*part, lanes);
    }
  }
  return result;
}

Elements ShuffleLanes(FunctionEmitter& f, const Elements& x, const Elements& y, const std::vector<int>& lanes) {
  Elements result = x;
  for (size_t i = 0; i < x.size(); ++i) {
    result[i].re = f.b().CreateShuffleVector(x[i].re, y[i].re, lanes);
    if (x[i].im != nullptr) result[i].im = f.b().CreateShuffleVector(x[i].im, y[i].im, lanes);
  }
  return result;
}

llvm::Value* FirstLanes(FunctionEmitter& f, int64_t count, int width) {
  std::vector<llvm::Constant*> active;
  for (int lane = 0; lane < width; ++lane) active.push_back(f.b().getInt1(lane < count));
  return llvm::ConstantVector::get(active);
}

}  // namespace hilo::cpu
