#include "backends/gpu/lib/solver.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "backends/gpu/lib/cuda_libraries.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "runtime/lapack/lapack_library.h"
#include "runtime/lapack/lapack_targets.h"

namespace hilo::gpu {
namespace {

struct RoutineInfo {
  absl::string_view name, complex_name;
  size_t operands, results;
};
constexpr RoutineInfo kRoutines[] = {{"geqrf", "geqrf", 1, 2}, {"gesvd", "gesvd", 1, 5}, {"getrf", "getrf", 1, 3},
                                     {"orgqr", "ungqr", 2, 1}, {"ormqr", "unmqr", 3, 1}, {"potrf", "potrf", 1, 2},
                                     {"syevd", "heevd", 1, 3}, {"trsm", "trsm", 2, 1}};

const RoutineInfo* InfoOf(absl::string_view routine) {
  const auto* found = absl::c_find_if(kRoutines, [&](const RoutineInfo& info) { return info.name == routine; });
  return found == std::end(kRoutines) ? nullptr : found;
}

bool IsSolverType(PrimitiveType type) { return type == F32 || type == F64 || type == C64 || type == C128; }

char LetterOf(PrimitiveType type) { return type == F32 ? 's' : type == F64 ? 'd' : type == C64 ? 'c' : 'z'; }

absl::Status CheckRoutine(absl::string_view routine, PrimitiveType type) {
  if (InfoOf(routine) == nullptr) return Unimplemented("the library has no routine ", routine);
  if (!IsSolverType(type))
    return Unimplemented("the library's ", routine, " takes f32, f64, c64 and c128, not ", PrimitiveTypeName(type));
  return absl::OkStatus();
}

absl::Status SolveOnHost(const SolverCall& call) {
  const RoutineInfo& info = *InfoOf(call.routine);
  const std::string name = absl::StrCat("lapack_", std::string(1, LetterOf(call.type())),
                                        IsComplexType(call.type()) ? info.complex_name : info.name, "_ffi");
  const auto& targets = lapack::Targets();
  const auto target = absl::c_find_if(targets, [&](const lapack::Target& t) { return t.name == name; });
  if (target == targets.end()) return Internal("there is no ", name);
  const auto views = [](const std::vector<SolverArray>& arrays) {
    std::vector<lapack::Array> list;
    for (const SolverArray& array : arrays) list.push_back({array.type, array.dimensions, array.data});
    return list;
  };
  const std::vector<lapack::Array> operands = views(call.operands), results = views(call.results);
  const std::vector<std::pair<absl::string_view, int64_t>> attributes(call.attributes.begin(), call.attributes.end());
  return AddContext(target->function({.operands = operands, .results = results, .attributes = attributes}),
                    absl::StrCat("; ", call.ToString()));
}

}  // namespace

std::string SolverRoutineOf(absl::string_view target) {
  if (!absl::ConsumePrefix(&target, "lapack_") || !absl::ConsumeSuffix(&target, "_ffi") || target.empty()) return "";
  target.remove_prefix(1);
  if (target == "gesdd") return "gesvd";
  for (const RoutineInfo& info : kRoutines) {
    if (target == info.name || target == info.complex_name) return std::string(info.name);
  }
  return target == "heevd" ? "syevd" : "";
}

int64_t SolverArray::bytes() const {
  int64_t bytes = PrimitiveTypeByteSize(type);
  for (int64_t size : dimensions) bytes *= size;
  return bytes;
}

int64_t SolverCall::Attribute(absl::string_view name) const {
  for (const auto& [key, value] : attributes) {
    if (key == name) return value;
  }
  return 0;
}

std::string SolverCall::ToString() const {
  std::string text = routine;
  for (const SolverArray& operand : operands)
    absl::StrAppend(&text, " ", PrimitiveTypeName(operand.type), "[", absl::StrJoin(operand.dimensions, ","), "]");
  for (const auto& [name, value] : attributes) {
    absl::StrAppend(&text, " ", name, " ",
                    value >= 'A' && value <= 'Z' ? std::string(1, static_cast<char>(value)) : absl::StrCat(value));
  }
  return text;
}

absl::Status CheckSolver(const LibraryDevice& device, absl::string_view routine, PrimitiveType type) {
  HILO_RETURN_IF_ERROR(CheckRoutine(routine, type));
  if (device.is_emulated) {
    return lapack::Library<float>() == nullptr
               ? Unavailable("there is no LAPACK on the host, which stands for the library")
               : absl::OkStatus();
  }
  return CheckCusolver();
}

absl::Status CheckSolverCall(const SolverCall& call) {
  if (call.operands.empty()) return InvalidArgument(call.routine, ": expected operands");
  HILO_RETURN_IF_ERROR(CheckRoutine(call.routine, call.type()));
  const RoutineInfo& info = *InfoOf(call.routine);
  if (call.operands.size() != info.operands || call.results.size() != info.results) {
    return InvalidArgument(call.routine, ": expected ", info.operands, " operands and ", info.results, " results, got ",
                           call.operands.size(), " and ", call.results.size());
  }
  if (call.operands[0].dimensions.size() < 2) return InvalidArgument(call.routine, ": expected matrices");
  const size_t batch = call.operands[0].dimensions.size() - 2;
  for (const std::vector<SolverArray>* arrays : {&call.operands, &call.results}) {
    for (const SolverArray& array : *arrays) {
      if (array.dimensions.size() < batch || !std::equal(array.dimensions.begin(), array.dimensions.begin() + batch,
                                                         call.operands[0].dimensions.begin())) {
        return InvalidArgument(call.routine, ": expected the same batch for all arrays");
      }
      if (absl::c_any_of(array.dimensions, [](int64_t size) { return size < 0 || size > INT32_MAX; }))
        return InvalidArgument(call.routine, ": expected sizes of at most 2147483647");
      int64_t bytes = PrimitiveTypeByteSize(array.type);
      if (absl::c_any_of(array.dimensions, [&](int64_t size) { return __builtin_mul_overflow(bytes, size, &bytes); }))
        return InvalidArgument(call.routine, ": an array fits into no memory");
    }
  }
  return absl::OkStatus();
}

absl::Status RunSolver(GpuStream* stream, const SolverCall& call) {
  HILO_RETURN_IF_ERROR(CheckSolverCall(call));
  for (const std::vector<SolverArray>* arrays : {&call.operands, &call.results}) {
    for (const SolverArray& array : *arrays) {
      if (array.data == nullptr && array.bytes() > 0) return InvalidArgument(call.routine, ": an array is null");
    }
  }
  std::vector<GpuSlice> slices;
  for (const SolverArray& array : call.operands) slices.push_back(GpuSlice::Read(array.data, array.bytes()));
  for (const SolverArray& array : call.results) slices.push_back(GpuSlice::Write(array.data, array.bytes()));
  auto run = [call](void* native) -> absl::Status {
    if (native == nullptr) return SolveOnHost(call);
    return SolveByCusolver(native, call);
  };
  return stream->Call(std::move(run), slices);
}

}  // namespace hilo::gpu
