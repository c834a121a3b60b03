#include "backends/gpu/emitters/nest_emitter.h"

#include <utility>

#include "base/errors.h"
#include "base/math.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

using codegen::Index;
using codegen::LaneIndex;
using codegen::LoopNest;
using codegen::NestDim;

// Returns the indices of the copies of the body whose first is at `first`, a multiple of `dim.unroll`. Those that do
// not cross a row of the array have constant distances there.
std::vector<Index> CopiesAt(KernelEmitter& k, const NestDim& dim, llvm::Value* first) {
  if (dim.sizes.empty()) return {Index()};
  std::vector<Index> copies;
  if (dim.unroll > 1 && dim.sizes.back() % dim.unroll == 0) {
    for (std::vector<LaneIndex>& at : k.Adjacent(first, dim.sizes, dim.unroll)) copies.emplace_back(std::move(at));
    return copies;
  }
  const LaneIndex base = LaneIndex::Uniform(first, dim.unroll, dim.size());
  for (int64_t j = 0; j < dim.unroll; ++j)
    copies.push_back(Index::FromLinear(base.AddConstant(j).WithRange({0, dim.size() - 1}), dim.sizes));
  return copies;
}

}  // namespace

NestDim PerThread(std::vector<int64_t> sizes, int64_t block, int64_t group) {
  return {.sizes = std::move(sizes), .part = block * group, .unroll = group};
}

std::vector<llvm::Value*> PartBegins(KernelEmitter& k, const LoopNest& nest) {
  std::vector<int64_t> parts;
  for (const NestDim& dim : nest) parts.push_back(dim.parts());
  const std::vector<LaneIndex> number = k.Delinearize(k.Block(), parts);
  std::vector<llvm::Value*> begins;
  for (size_t d = 0; d < nest.size(); ++d) {
    llvm::Value* part = k.b().getInt64(static_cast<uint64_t>(nest[d].part));
    begins.push_back(k.b().CreateMul(number[d].Base(k.context()), part, "", true, true));
  }
  return begins;
}

absl::Status EmitNest(KernelEmitter& k, const NestDim& dim,
                      absl::FunctionRef<absl::Status(absl::Span<const Index>)> body) {
  HILO_RET_CHECK(dim.lanes == 1 && dim.part % dim.unroll == 0 && dim.size() % dim.unroll == 0);
  llvm::IRBuilder<>& b = k.b();
  llvm::Value* own = b.CreateMul(k.Thread(), b.getInt64(static_cast<uint64_t>(dim.unroll)), "", true, true);
  llvm::Value* first = b.CreateAdd(PartBegins(k, {dim})[0], own, "i", true, true);
  const auto copies = [&] { return body(CopiesAt(k, dim, first)); };
  if (dim.size() % dim.part == 0) return copies();
  return k.If("in_range", b.CreateICmpULT(first, b.getInt64(static_cast<uint64_t>(dim.size()))), copies);
}

absl::Status EmitNestKernel(KernelEmitter& k, const HloInstruction* instruction, const NestDim& dim,
                            absl::FunctionRef<absl::Status(absl::Span<const Index>)> body) {
  HILO_RETURN_IF_ERROR(EmitNest(k, dim, body));
  return k.FinishAndLaunch(instruction, dim.parts(), static_cast<int>(dim.part / dim.unroll));
}

absl::Status EmitThreads(KernelEmitter& k, const HloInstruction* instruction, int64_t count, int64_t block,
                         absl::FunctionRef<absl::Status(llvm::Value*)> body) {
  return EmitNestKernel(k, instruction, PerThread({count}, block), [&](absl::Span<const Index> indices) {
    return body(indices[0].Dims(k.context())[0].Base(k.context()));
  });
}

}  // namespace hilo::gpu
