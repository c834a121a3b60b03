// Versions, errors, bytes and element types.
#include <array>
#include <new>

#include "base/errors.h"
#include "capi/handles.h"
#include "hilo/version.h"

namespace hilo::capi {
namespace {

// Made while there is memory.
HiloError* NoMemory() {
  static const absl::Status status = ResourceExhausted("the process is out of memory");
  static HiloError* const error = new HiloError{status, std::string(status.message())};
  return error;
}
HiloError* const made_when_loaded = NoMemory();

}  // namespace

HiloError* MakeError(const absl::Status& status) noexcept {
  if (status.ok()) return nullptr;
  try {
    return new HiloError{status, std::string(status.message())};
  } catch (const std::bad_alloc&) {
    return made_when_loaded;
  }
}

absl::Status CheckNotNull(const void* pointer, absl::string_view what) {
  return pointer != nullptr ? absl::OkStatus() : InvalidArgument("`", what, "` is NULL");
}

std::unique_ptr<HiloBytes> MakeBytes(std::string bytes) {
  return std::unique_ptr<HiloBytes>(new HiloBytes{std::move(bytes)});
}

}  // namespace hilo::capi

using hilo::capi::made_when_loaded;

const char* HiloVersion(void) {
  static const std::string version(hilo::Version());
  return version.c_str();
}

int32_t HiloApiVersion(void) { return HILO_C_API_VERSION; }

HiloErrorCode HiloErrorGetCode(const HiloError* error) {
  return error == nullptr ? HILO_OK : static_cast<HiloErrorCode>(error->status.code());
}

const char* HiloErrorGetMessage(const HiloError* error) { return error == nullptr ? "" : error->message.c_str(); }

void HiloErrorDestroy(HiloError* error) {
  if (error != made_when_loaded) delete error;
}

const char* HiloBytesGetData(const HiloBytes* bytes) { return bytes == nullptr ? "" : bytes->bytes.c_str(); }
size_t HiloBytesGetSize(const HiloBytes* bytes) { return bytes == nullptr ? 0 : bytes->bytes.size(); }
void HiloBytesDestroy(HiloBytes* bytes) { delete bytes; }

const char* HiloElementTypeName(HiloElementType type) {
  static const auto* const names = [] {
    auto* all = new std::array<std::string, hilo::kPrimitiveTypeCount>;
    for (int i = 0; i < hilo::kPrimitiveTypeCount; ++i) {
      const auto one = static_cast<hilo::PrimitiveType>(i);
      const bool has_name = hilo::IsArrayType(one) || one == hilo::TOKEN;
      (*all)[i] = has_name ? std::string(hilo::PrimitiveTypeName(one)) : "invalid";
    }
    return all;
  }();
  const int number = type;
  return number < 0 || number >= hilo::kPrimitiveTypeCount ? "invalid" : (*names)[number].c_str();
}
