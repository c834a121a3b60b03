#include "backends/gpu/thunks/thunk_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hlo/ir/hlo_verifier.h"

namespace hilo::gpu {
namespace {

// Loops and conditionals nest at most 500 deep (hlo/memory/scheduler.cc), each perhaps within a graph.
constexpr int64_t kMaxDepth = 1024;

constexpr uint32_t kLastStorage = static_cast<uint32_t>(StorageKind::kFrame);

int64_t BytesOf(const KernelArgument& argument) {
  switch (argument.kind) {
    case KernelArgument::Kind::kSlice: return argument.slice.size;
    case KernelArgument::Kind::kScratch: return argument.size;
    case KernelArgument::Kind::kInteger: break;
  }
  return 0;
}

bool IsReadOnly(StorageKind kind) { return kind == StorageKind::kConstant || kind == StorageKind::kParameter; }

}  // namespace

void ThunkWriter::Slice(const BufferSlice& slice) {
  out_.U32(static_cast<uint32_t>(slice.kind));
  if (slice.kind == StorageKind::kNone) return;
  out_.I64(slice.kind == StorageKind::kFrame ? slice.offset : slice.index);
  out_.I64(slice.size);
}

void ThunkReader::Slice(BufferSlice& slice) {
  const uint32_t kind = in_.U32();
  slice.kind = static_cast<StorageKind>(std::min(kind, kLastStorage));
  if (!Require(kind <= kLastStorage && slice.kind != StorageKind::kStack, "a kind of memory") ||
      slice.kind == StorageKind::kNone) {
    slice = BufferSlice();
    return;
  }
  const int64_t number = in_.I64();
  slice.size = in_.I64();
  if (slice.kind == StorageKind::kFrame) {
    slice.offset = number;
    return RequireInFrame(slice.offset, slice.size);
  }
  slice.index = number;
  const auto check = [&](const char* what, size_t count, const auto& bytes_of) {
    if (Require(number >= 0 && static_cast<size_t>(number) < count, absl::StrCat("one of ", count, " ", what)))
      Require(slice.size >= 0 && slice.size <= bytes_of(number), absl::StrCat("no more bytes than the ", what, " has"));
  };
  const auto at = [&](const std::vector<int64_t>& sizes) { return [&](int64_t i) { return sizes[i]; }; };
  if (slice.kind == StorageKind::kParameter)
    return check("parameters", scope_->parameter_bytes.size(), at(scope_->parameter_bytes));
  if (slice.kind == StorageKind::kOutput)
    return check("outputs", scope_->output_bytes.size(), at(scope_->output_bytes));
  check("constants", program_.constants.size(),
        [&](int64_t i) { return static_cast<int64_t>(program_.constants[i].bytes.size()); });
}

void ThunkReader::RequireInFrame(int64_t offset, int64_t bytes) {
  Require(offset >= 0 && offset % kDeviceAlignment == 0 && bytes >= 0 && offset <= scope_->frame_bytes &&
              bytes <= scope_->frame_bytes - offset,
          absl::StrCat("an aligned slice of a frame of ", scope_->frame_bytes, " bytes"));
}

void ThunkWriter::Argument(const KernelArgument& argument) {
  out_.U32(static_cast<uint32_t>(argument.kind));
  switch (argument.kind) {
    case KernelArgument::Kind::kSlice: Slice(argument.slice); break;
    case KernelArgument::Kind::kScratch:
      out_.I64(argument.offset);
      out_.I64(argument.size);
      break;
    case KernelArgument::Kind::kInteger: out_.I64(argument.value); break;
  }
  out_.Bool(argument.written);
}

void ThunkReader::Argument(KernelArgument& argument) {
  Enum(argument.kind, KernelArgument::Kind::kInteger);
  switch (argument.kind) {
    case KernelArgument::Kind::kSlice: Slice(argument.slice); break;
    case KernelArgument::Kind::kScratch:
      argument.offset = in_.I64();
      argument.size = in_.I64();
      Require(argument.offset >= 0 && argument.offset % kDeviceAlignment == 0 && argument.size >= 0 &&
                  argument.offset <= program_.scratch_bytes &&
                  argument.size <= program_.scratch_bytes - argument.offset,
              absl::StrCat("an aligned part of ", program_.scratch_bytes, " bytes of scratch memory"));
      break;
    case KernelArgument::Kind::kInteger: argument.value = in_.I64(); break;
  }
  argument.written = in_.Bool();
}

void ThunkReader::RequireBytes(const BufferSlice& slice, int64_t bytes, bool written) {
  Require(slice.size >= bytes, absl::StrCat("memory of at least ", bytes, " bytes"));
  Require(!written || !IsReadOnly(slice.kind), "memory that may be written");
}

void ThunkReader::RequireBytes(const KernelArgument& argument, int64_t bytes, bool written) {
  Require(argument.kind != KernelArgument::Kind::kInteger, "memory, not a number");
  Require(BytesOf(argument) >= bytes, absl::StrCat("memory of at least ", bytes, " bytes"));
  Require(!written || argument.kind != KernelArgument::Kind::kSlice || !IsReadOnly(argument.slice.kind),
          "memory that may be written");
}

void ThunkReader::Size(int64_t& value) {
  value = in_.I64();
  if (!Require(value >= 0, "a number of at least 0")) value = 0;
}

void ThunkReader::Type(PrimitiveType& value) {
  const uint32_t number = in_.U32();
  if (Require(number < kPrimitiveTypeCount && IsArrayType(static_cast<PrimitiveType>(number)), "a type of arrays"))
    value = static_cast<PrimitiveType>(number);
}

void ThunkReader::Kernel(int64_t& number) {
  number = in_.I64();
  Require(number >= 0 && static_cast<size_t>(number) < program_.kernels.size(),
          absl::StrCat("one of ", program_.kernels.size(), " kernels"));
}

void ThunkReader::Collective(int64_t& number) {
  number = in_.I64();
  Require(number >= 0 && static_cast<size_t>(number) < program_.collectives.size(),
          absl::StrCat("one of ", program_.collectives.size(), " collectives"));
}

void ThunkReader::Callee(const ThunkScope*& scope) {
  const int64_t number = in_.I64();
  if (!Require(number >= 0 && number < scope_->number, absl::StrCat("one of the ", scope_->number, " scopes before")))
    return;
  scope = program_.scopes[number].get();
  call_depth_ = std::max(call_depth_, call_depths_[number] + 1);
  Require(call_depth_ <= HloLimits().max_call_depth, "calls that are nested less");
}

void ThunkWriter::Thunks(const ThunkSequence& thunks) {
  out_.U64(thunks.size());
  for (const auto& thunk : thunks) {
    out_.U32(static_cast<uint32_t>(thunk->kind()));
    thunk->Write(*this);
  }
}

void ThunkReader::Thunks(ThunkSequence& thunks) {
  ++depth_;
  Require(depth_ <= kMaxDepth, "sequences of thunks that are nested less");
  for (uint64_t count = in_.Count(4); count > 0 && ok(); --count) {
    const uint32_t kind = in_.U32();
    if (!Require(kind < kThunkKinds, "a kind of thunks")) break;
    std::unique_ptr<Thunk> thunk = ReadThunk(static_cast<ThunkKind>(kind), *this);
    // A thunk with an error may lack what its functions need.
    if (ok()) thunks.push_back(std::move(thunk));
  }
  --depth_;
}

void ThunkReader::Scope() {
  auto scope = std::make_unique<ThunkScope>();
  scope->number = static_cast<int64_t>(program_.scopes.size());
  Size(scope->frame_bytes);
  Require(scope->frame_bytes <= MaxFrameBytes(), "a smaller frame");
  for (std::vector<int64_t>* leaves : {&scope->parameter_bytes, &scope->output_bytes}) {
    List(*leaves, [this](int64_t& bytes) {
      Size(bytes);
      Require(bytes <= HloLimits().max_array_bytes, "a smaller array");
    });
  }
  scope_ = scope.get();
  call_depth_ = 0;
  depth_ = 0;
  Thunks(scope->thunks);
  call_depths_.push_back(call_depth_);
  program_.scopes.push_back(std::move(scope));
}

void ThunkReader::Fail(const absl::Status& status, absl::string_view where) {
  if (ok()) status_ = AddContext(status, where);
}

absl::Status ThunkReader::Finish() {
  if (!status_.ok()) return status_;
  return in_.Finish();
}

}  // namespace hilo::gpu
