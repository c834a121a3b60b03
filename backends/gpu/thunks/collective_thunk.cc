#include "backends/gpu/thunks/collective_thunk.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "backends/gpu/collectives/collective_run.h"
#include "backends/gpu/thunks/thunk_stream.h"
#include "base/errors.h"
#include "base/math.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

bool Inside(int64_t start, int64_t bytes, int64_t size) {
  return start >= 0 && bytes >= 0 && start <= size && bytes <= size - start;
}

int64_t ReadIndex(const uint8_t* array, int64_t i, int64_t bytes) {
  if (bytes == 4) {
    int32_t value;
    std::memcpy(&value, array + i * 4, 4);
    return value;
  }
  int64_t value;
  std::memcpy(&value, array + i * 8, 8);
  return value;
}

// Returns a number of rows in bytes; -1, which fails all range checks, if that overflows.
int64_t Rows(int64_t rows, int64_t row_bytes) {
  int64_t bytes;
  return __builtin_mul_overflow(rows, row_bytes, &bytes) ? -1 : bytes;
}

bool SameMemory(const KernelArgument& a, const KernelArgument& b,
                const std::function<bool(int64_t, int64_t)>& may_share) {
  if (a.kind == KernelArgument::Kind::kInteger || b.kind == KernelArgument::Kind::kInteger) return false;
  if (a.kind != b.kind) return false;  // scratch is in no slice
  auto overlap = [](int64_t from, int64_t size, int64_t other, int64_t other_size) {
    return from < other + other_size && other < from + size;
  };
  if (a.kind == KernelArgument::Kind::kScratch) return overlap(a.offset, a.size, b.offset, b.size);
  const BufferSlice &x = a.slice, &y = b.slice;
  if (x.kind == StorageKind::kParameter && y.kind == StorageKind::kOutput) return may_share(x.index, y.index);
  if (x.kind == StorageKind::kOutput && y.kind == StorageKind::kParameter) return may_share(y.index, x.index);
  if (x.kind != y.kind) return false;
  return x.kind == StorageKind::kFrame ? overlap(x.offset, x.size, y.offset, y.size) : x.index == y.index;
}

bool Conflict(const std::vector<KernelArgument>& first, const std::vector<KernelArgument>& second,
              const std::function<bool(int64_t, int64_t)>& may_share) {
  for (const KernelArgument& a : first) {
    for (const KernelArgument& b : second) {
      if ((a.written || b.written) && SameMemory(a, b, may_share)) return true;
    }
  }
  return false;
}

using Form = CollectiveSpec::Form;

Form FormOf(CollectiveKind kind) {
  return kind == CollectiveKind::kPermute     ? Form::kPairs
         : kind == CollectiveKind::kBroadcast ? Form::kSubset
                                              : Form::kGroups;
}

bool Reduces(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter;
}

template <typename Stream, typename Program>
void ProgramFields(Stream& stream, Program& p) {
  stream.Enum(p.kind, CollectiveKind::kRagged);
  stream.Collective(p.spec);
  stream.Text(p.name);
  stream.Text(p.context);
  stream.List(p.arrays, [&](auto& array) {
    stream.Slice(array.operand);
    stream.Slice(array.result);
    for (auto* size : {&array.bytes, &array.element_bytes, &array.count}) stream.Size(*size);
    stream.Type(array.type);
    stream.Enum(array.reduction, DeviceReduction::kMin);
    stream.Argument(array.pieces);
  });
  stream.List(p.kernels, [&](auto& kernel) {
    stream.Kernel(kernel.kernel);
    stream.Text(kernel.name);
  });
  stream.Bool(p.along_dimension);
  for (auto* slice : {&p.initial, &p.input_offsets, &p.send_sizes, &p.output_offsets}) stream.Slice(*slice);
  stream.Argument(p.exchanged);
  for (auto* size : {&p.updates, &p.index_bytes, &p.row_bytes}) stream.Size(*size);
}

// A product of sizes that are at least 0; one that no memory has if it is too large.
int64_t Times(int64_t a, int64_t b) { return CheckedMul(a, b).value_or(INT64_MAX); }

// The memory of an array in groups of at most `largest` ranks.
void CheckArray(ThunkReader& in, const CollectiveProgram& p, const CollectiveArray& array, int64_t largest) {
  const bool gathers = p.kind == CollectiveKind::kAllGather, scatters = p.kind == CollectiveKind::kReduceScatter;
  in.RequireBytes(array.operand, scatters ? Times(array.bytes, largest) : array.bytes, /*written=*/false);
  in.RequireBytes(array.result, gathers ? Times(array.bytes, largest) : array.bytes, /*written=*/true);
  if (!in.Require(array.element_bytes >= 1, "an element of at least one byte") || !Reduces(p.kind)) return;
  if (p.kernels.empty()) {
    in.Require(IsCommunicable(array.type) && Times(array.count, PrimitiveTypeByteSize(array.type)) <= array.bytes,
               "elements that the library reduces");
  } else {
    in.Require(array.bytes / array.element_bytes <= INT32_MAX * int64_t{kCombineBlock}, "fewer elements");
    in.RequireBytes(array.pieces, Times(array.bytes, largest), /*written=*/true);
  }
}

void CheckRagged(ThunkReader& in, const CollectiveProgram& p) {
  if (!in.Require(p.arrays.size() == 1, "one array")) return;
  in.Require(p.index_bytes == 4 || p.index_bytes == 8, "indices of 4 or 8 bytes");
  const int64_t bytes = Times(p.updates, p.index_bytes);
  for (const BufferSlice& slice : {p.input_offsets, p.send_sizes, p.output_offsets})
    in.RequireBytes(slice, bytes, /*written=*/false);
  in.RequireBytes(p.exchanged, Times(2, bytes), /*written=*/true);
  in.RequireBytes(p.initial, p.arrays[0].result.size, /*written=*/false);
}

}  // namespace

void CollectiveThunk::Write(ThunkWriter& out) const { ProgramFields(out, p_); }

std::unique_ptr<Thunk> CollectiveThunk::Read(ThunkReader& in) {
  CollectiveProgram p;
  ProgramFields(in, p);
  if (!in.ok()) return nullptr;
  const CollectiveSpec& spec = in.program().collectives[p.spec];
  in.Require(spec.form == FormOf(p.kind), "a collective with groups of its kind");
  in.Require(p.name.find('%') != std::string::npos, "the name of a collective");
  in.Require(p.kernels.empty() || (Reduces(p.kind) && p.kernels.size() == p.arrays.size()), "a kernel for each array");
  for (const ReductionKernel& one : p.kernels)
    in.Require(in.program().kernels[one.kernel].arguments == kCombineArguments, "a kernel that combines pieces");
  const int64_t largest = LargestGroup(spec, in.program().replica_count, in.program().partition_count);
  if (p.kind == CollectiveKind::kRagged) {
    CheckRagged(in, p);
  } else {
    for (const CollectiveArray& array : p.arrays) CheckArray(in, p, array, largest);
  }
  if (p.kind == CollectiveKind::kAllToAll)
    in.Require(static_cast<int64_t>(p.arrays.size()) >= (p.along_dimension ? 1 : largest), "an array for each rank");
  return std::make_unique<CollectiveThunk>(std::move(p));
}

struct CollectiveThunk::Running {
  GpuRun& run;
  const CollectiveRole& role;
  DeviceCommunicator* communicator;  // null: alone
  GpuStream& stream;

  uint8_t* At(const BufferSlice& slice) const { return run.Address(slice); }
  absl::Status Copy(uint8_t* to, const uint8_t* from, int64_t bytes) {
    return bytes == 0 || to == from ? absl::OkStatus() : stream.Copy(to, from, bytes);
  }
};

absl::Status CollectiveThunk::Run(GpuRun& run) const {
  CollectiveRun& collectives = *run.collectives;
  const CollectiveRole& role = collectives.role(p_.spec);
  HILO_ASSIGN_OR_RETURN(GpuStream * stream, collectives.Begin(p_.spec, p_.name, run.stream));
  Running r{.run = run, .role = role, .communicator = collectives.communicator(role.clique), .stream = *stream};
  HILO_RETURN_IF_ERROR(AddContext(RunOn(r), p_.context));
  return collectives.End(p_.spec, *stream);
}

absl::Status CollectiveThunk::RunOn(Running& r) const {
  switch (p_.kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kReduceScatter: return Reduce(r);
    case CollectiveKind::kAllGather: {
      if (r.communicator != nullptr) HILO_RETURN_IF_ERROR(r.communicator->GroupStart());
      for (const CollectiveArray& array : p_.arrays) {
        if (array.bytes == 0) continue;
        if (r.communicator == nullptr) {
          HILO_RETURN_IF_ERROR(r.Copy(r.At(array.result), r.At(array.operand), array.bytes));
        } else {
          HILO_RETURN_IF_ERROR(
              r.communicator->AllGather(r.At(array.operand), r.At(array.result), array.bytes, U8, r.stream));
        }
      }
      return r.communicator == nullptr ? absl::OkStatus() : r.communicator->GroupEnd();
    }
    case CollectiveKind::kAllToAll: return AllToAll(r);
    case CollectiveKind::kPermute: return Permute(r);
    case CollectiveKind::kBroadcast: return Broadcast(r);
    case CollectiveKind::kRagged: return Ragged(r);
  }
  return absl::OkStatus();
}

absl::Status CollectiveThunk::Reduce(Running& r) const {
  const bool scatters = p_.kind == CollectiveKind::kReduceScatter;
  if (r.communicator == nullptr) {
    for (const CollectiveArray& array : p_.arrays)
      HILO_RETURN_IF_ERROR(r.Copy(r.At(array.result), r.At(array.operand), array.bytes));
    return absl::OkStatus();
  }
  HILO_RETURN_IF_ERROR(r.communicator->GroupStart());
  for (const CollectiveArray& array : p_.arrays) {
    if (array.bytes == 0) continue;
    const uint8_t* operand = r.At(array.operand);
    uint8_t* result = r.At(array.result);
    if (p_.kernels.empty()) {
      HILO_RETURN_IF_ERROR(
          scatters ? r.communicator->ReduceScatter(operand, result, array.count, array.type, array.reduction, r.stream)
                   : r.communicator->AllReduce(operand, result, array.count, array.type, array.reduction, r.stream));
    } else if (scatters) {
      HILO_RETURN_IF_ERROR(Exchange(r, operand, r.run.Address(array.pieces), array.bytes));
    } else {
      HILO_RETURN_IF_ERROR(r.communicator->AllGather(operand, r.run.Address(array.pieces), array.bytes, U8, r.stream));
    }
  }
  HILO_RETURN_IF_ERROR(r.communicator->GroupEnd());
  for (size_t i = 0; i < p_.kernels.size(); ++i) {
    if (p_.arrays[i].bytes > 0) HILO_RETURN_IF_ERROR(Combine(r, i, p_.arrays[i].bytes / p_.arrays[i].element_bytes));
  }
  return absl::OkStatus();
}

absl::Status CollectiveThunk::Combine(Running& r, size_t i, int64_t elements) const {
  const CollectiveArray& array = p_.arrays[i];
  const uint8_t* pieces = r.run.Address(array.pieces);
  uint8_t* result = r.At(array.result);
  LaunchDimensions dimensions;
  dimensions.grid.x = static_cast<uint32_t>((elements + kCombineBlock - 1) / kCombineBlock);
  dimensions.block.x = kCombineBlock;
  const uint64_t arguments[] = {reinterpret_cast<uint64_t>(pieces), reinterpret_cast<uint64_t>(result),
                                static_cast<uint64_t>(elements), static_cast<uint64_t>(r.role.size)};
  const GpuSlice slices[] = {GpuSlice::Read(pieces, array.bytes * r.role.size), GpuSlice::Write(result, array.bytes)};
  return r.stream.Launch(r.run.kernels[p_.kernels[i].kernel], dimensions, arguments, slices);
}

// Sends piece j of `bytes` bytes to rank j. The caller has begun a group.
absl::Status CollectiveThunk::Exchange(Running& r, const uint8_t* send, uint8_t* receive, int64_t bytes) const {
  if (r.communicator->has_all_to_all()) return r.communicator->AllToAll(send, receive, bytes, U8, r.stream);
  for (int64_t peer = 0; peer < r.role.size; ++peer) {
    HILO_RETURN_IF_ERROR(r.communicator->Send(send + peer * bytes, bytes, U8, peer, r.stream));
    HILO_RETURN_IF_ERROR(r.communicator->Receive(receive + peer * bytes, bytes, U8, peer, r.stream));
  }
  return absl::OkStatus();
}

absl::Status CollectiveThunk::AllToAll(Running& r) const {
  if (r.communicator == nullptr)
    return r.Copy(r.At(p_.arrays[0].result), r.At(p_.arrays[0].operand), p_.arrays[0].bytes);
  if (p_.arrays[0].bytes == 0) return absl::OkStatus();
  HILO_RETURN_IF_ERROR(r.communicator->GroupStart());
  if (p_.along_dimension) {
    HILO_RETURN_IF_ERROR(
        Exchange(r, r.At(p_.arrays[0].operand), r.At(p_.arrays[0].result), p_.arrays[0].bytes / r.role.size));
  } else {
    for (int64_t peer = 0; peer < r.role.size; ++peer) {
      HILO_RETURN_IF_ERROR(
          r.communicator->Send(r.At(p_.arrays[peer].operand), p_.arrays[peer].bytes, U8, peer, r.stream));
      HILO_RETURN_IF_ERROR(
          r.communicator->Receive(r.At(p_.arrays[peer].result), p_.arrays[peer].bytes, U8, peer, r.stream));
    }
  }
  return r.communicator->GroupEnd();
}

absl::Status CollectiveThunk::Permute(Running& r) const {
  const int64_t source = r.role.source, target = r.role.target, own = r.role.index;
  const bool travels = (source >= 0 && source != own) || (target >= 0 && target != own);
  if (travels) HILO_RETURN_IF_ERROR(r.communicator->GroupStart());
  for (const CollectiveArray& array : p_.arrays) {
    if (array.bytes == 0) continue;
    if (target >= 0 && target != own)
      HILO_RETURN_IF_ERROR(r.communicator->Send(r.At(array.operand), array.bytes, U8, target, r.stream));
    if (source >= 0 && source != own)
      HILO_RETURN_IF_ERROR(r.communicator->Receive(r.At(array.result), array.bytes, U8, source, r.stream));
  }
  if (travels) HILO_RETURN_IF_ERROR(r.communicator->GroupEnd());
  for (const CollectiveArray& array : p_.arrays) {
    if (array.bytes == 0) continue;
    if (source == own) HILO_RETURN_IF_ERROR(r.Copy(r.At(array.result), r.At(array.operand), array.bytes));
    if (source < 0) HILO_RETURN_IF_ERROR(r.stream.Fill(r.At(array.result), 0, 1, array.bytes));
  }
  return absl::OkStatus();
}

absl::Status CollectiveThunk::Broadcast(Running& r) const {
  if (r.communicator != nullptr) HILO_RETURN_IF_ERROR(r.communicator->GroupStart());
  for (const CollectiveArray& array : p_.arrays) {
    if (array.bytes == 0) continue;
    if (!r.role.takes_part) {
      HILO_RETURN_IF_ERROR(r.stream.Fill(r.At(array.result), 0, 1, array.bytes));
    } else if (r.communicator == nullptr) {
      HILO_RETURN_IF_ERROR(r.Copy(r.At(array.result), r.At(array.operand), array.bytes));
    } else {
      HILO_RETURN_IF_ERROR(
          r.communicator->Broadcast(r.At(array.operand), r.At(array.result), array.bytes, U8, /*root=*/0, r.stream));
    }
  }
  return r.communicator == nullptr ? absl::OkStatus() : r.communicator->GroupEnd();
}

// A sender determines the position of its rows, so receivers need the values first: the output offsets and sizes are
// exchanged, each rank's for each, and read by the host.
absl::Status CollectiveThunk::Ragged(Running& r) const {
  const CollectiveArray& array = p_.arrays[0];
  const int64_t ranks = r.role.size, each = p_.updates / ranks, vector_bytes = p_.updates * p_.index_bytes;
  const int64_t output_bytes = array.result.size;
  HILO_RETURN_IF_ERROR(r.Copy(r.At(array.result), r.At(p_.initial), output_bytes));
  if (p_.updates == 0) return absl::OkStatus();
  uint8_t* const remote_offsets = r.run.Address(p_.exchanged);
  uint8_t* const remote_sizes = remote_offsets + vector_bytes;
  if (r.communicator == nullptr) {
    HILO_RETURN_IF_ERROR(r.Copy(remote_offsets, r.At(p_.output_offsets), vector_bytes));
    HILO_RETURN_IF_ERROR(r.Copy(remote_sizes, r.At(p_.send_sizes), vector_bytes));
  } else {
    HILO_RETURN_IF_ERROR(r.communicator->GroupStart());
    HILO_RETURN_IF_ERROR(Exchange(r, r.At(p_.output_offsets), remote_offsets, each * p_.index_bytes));
    HILO_RETURN_IF_ERROR(Exchange(r, r.At(p_.send_sizes), remote_sizes, each * p_.index_bytes));
    HILO_RETURN_IF_ERROR(r.communicator->GroupEnd());
  }
  std::vector<uint8_t> host(5 * vector_bytes);
  const uint8_t* const sources[] = {r.At(p_.input_offsets), r.At(p_.send_sizes), r.At(p_.output_offsets),
                                    remote_offsets, remote_sizes};
  for (size_t i = 0; i < 5; ++i) HILO_RETURN_IF_ERROR(r.stream.Copy(&host[i * vector_bytes], sources[i], vector_bytes));
  HILO_RETURN_IF_ERROR(r.stream.Synchronize());
  HILO_RETURN_IF_ERROR(r.run.collectives->status());  // broken while waiting: the numbers must not be used
  auto number = [&](int64_t vector, int64_t i) {
    return Rows(ReadIndex(&host[vector * vector_bytes], i, p_.index_bytes), p_.row_bytes);
  };
  for (int64_t i = 0; i < p_.updates; ++i) {
    const int64_t from = number(0, i), bytes = number(1, i), to = number(2, i);
    if (Inside(from, bytes, array.operand.size) && Inside(to, bytes, output_bytes)) continue;
    return InvalidArgument(p_.name, ": update ", i, " of rank ", r.run.collectives->rank(), ", of ", bytes,
                           " bytes from ", from, " to ", to, ", leaves the ", array.operand.size,
                           " bytes of the input or the ", output_bytes, " bytes of the output");
  }
  if (r.communicator != nullptr) HILO_RETURN_IF_ERROR(r.communicator->GroupStart());
  for (int64_t i = 0; i < p_.updates; ++i) {
    const int64_t peer = i / each, from = number(0, i), bytes = number(1, i), to = number(3, i),
                  received = number(4, i);
    if (peer == r.role.index) {
      HILO_RETURN_IF_ERROR(r.Copy(r.At(array.result) + to, r.At(array.operand) + from, bytes));
      continue;
    }
    if (!Inside(to, received, output_bytes))
      return InvalidArgument(p_.name, ": an update from rank ", peer, " of the group leaves the output");
    if (bytes > 0) HILO_RETURN_IF_ERROR(r.communicator->Send(r.At(array.operand) + from, bytes, U8, peer, r.stream));
    if (received > 0)
      HILO_RETURN_IF_ERROR(r.communicator->Receive(r.At(array.result) + to, received, U8, peer, r.stream));
  }
  return r.communicator == nullptr ? absl::OkStatus() : r.communicator->GroupEnd();
}

std::string CollectiveThunk::ToString(const std::string& indent) const {
  static constexpr const char* kNames[] = {"all-reduce",       "reduce-scatter",     "all-gather",
                                           "all-to-all",       "collective-permute", "collective-broadcast",
                                           "ragged-all-to-all"};
  std::string text = absl::StrCat(indent, kNames[static_cast<int>(p_.kind)]);
  const bool reduces = Reduces(p_.kind);
  absl::StrAppend(&text, " ", p_.name.substr(p_.name.find('%')), " (");
  for (size_t i = 0; i < p_.arrays.size(); ++i) {
    const CollectiveArray& array = p_.arrays[i];
    absl::StrAppend(&text, i == 0 ? "" : ", ");
    if (reduces && p_.kernels.empty())
      absl::StrAppend(&text, DeviceReductionName(array.reduction), " of ", array.count, " ",
                      PrimitiveTypeName(array.type), " ");
    if (reduces && !p_.kernels.empty()) absl::StrAppend(&text, "by ", p_.kernels[i].name, " ");
    absl::StrAppend(&text, "&", SliceToString(array.result), ", ", SliceToString(array.operand));
  }
  return absl::StrCat(text, ")\n");
}

std::optional<std::vector<KernelArgument>> CollectiveThunk::Touches() const {
  std::vector<KernelArgument> touches;
  auto add = [&](const BufferSlice& slice, bool written) {
    if (slice.kind != StorageKind::kNone) touches.push_back(KernelArgument::Slice(slice, written));
  };
  for (const CollectiveArray& array : p_.arrays) {
    add(array.operand, false);
    add(array.result, true);
    if (array.pieces.kind == KernelArgument::Kind::kScratch) touches.push_back(array.pieces);
  }
  if (p_.kind == CollectiveKind::kRagged) {
    for (const BufferSlice& slice : {p_.initial, p_.input_offsets, p_.send_sizes, p_.output_offsets}) add(slice, false);
    touches.push_back(p_.exchanged);
  }
  return touches;
}

void CollectiveAwaitThunk::Write(ThunkWriter& out) const {
  out.Collective(spec_);
  out.Text(name_);
}

std::unique_ptr<Thunk> CollectiveAwaitThunk::Read(ThunkReader& in) {
  int64_t spec = 0;
  std::string name;
  in.Collective(spec);
  in.Text(name);
  in.Require(name.find('%') != std::string::npos, "the name of a collective");
  return std::make_unique<CollectiveAwaitThunk>(spec, std::move(name));
}

absl::Status CollectiveAwaitThunk::Run(GpuRun& run) const { return run.collectives->Await(spec_, run.stream); }

std::string CollectiveAwaitThunk::ToString(const std::string& indent) const {
  return absl::StrCat(indent, "await ", name_.substr(name_.find('%')), "\n");
}

void InsertAwaits(ThunkSequence* thunks, const std::function<bool(int64_t, int64_t)>& may_share) {
  struct Pending {
    int64_t spec;
    std::string name;
    std::vector<KernelArgument> touches;
  };
  if (std::none_of(thunks->begin(), thunks->end(), [](const auto& thunk) { return thunk->starts() >= 0; })) return;
  ThunkSequence placed;
  std::vector<Pending> pending;
  auto await = [&](const auto& must_wait) {
    for (auto it = pending.begin(); it != pending.end();) {
      if (!must_wait(*it)) {
        ++it;
        continue;
      }
      placed.push_back(std::make_unique<CollectiveAwaitThunk>(it->spec, it->name));
      it = pending.erase(it);
    }
  };
  for (std::unique_ptr<Thunk>& thunk : *thunks) {
    const std::optional<std::vector<KernelArgument>> touches = thunk->Touches();
    // Collectives are on one stream, in order.
    if (thunk->starts() < 0) {
      await([&](const Pending& one) { return !touches.has_value() || Conflict(one.touches, *touches, may_share); });
    }
    if (thunk->starts() >= 0)
      pending.push_back({thunk->starts(), static_cast<const CollectiveThunk&>(*thunk).name(), *touches});
    placed.push_back(std::move(thunk));
  }
  await([](const Pending&) { return true; });
  *thunks = std::move(placed);
}

}  // namespace hilo::gpu
