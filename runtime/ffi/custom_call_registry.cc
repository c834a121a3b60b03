#include "absl/strings/ascii.h"
#include "base/errors.h"
#include "hilo/ffi.h"
#include "hlo/ops/structure/custom_call.h"

namespace hilo {

absl::Status CustomCallRegistry::Register(absl::string_view name, absl::string_view platform,
                                          const CustomCallTarget& target) {
  if (name.empty()) return InvalidArgument("a custom call target needs a name");
  const bool typed = target.api_version == API_VERSION_TYPED_FFI;
  if (typed ? target.handlers.execute == nullptr : target.function == nullptr) {
    return InvalidArgument("custom call target ", name, ": expected a function, got null");
  }
  std::lock_guard<std::mutex> lock(mutex_);
  const auto [entry, fresh] = targets_.try_emplace({std::string(name), absl::AsciiStrToLower(platform), typed}, target);
  if (fresh || entry->second == target) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat("custom call target ", name, " is registered for platform ", platform, " with another function"));
}

absl::Status CustomCallRegistry::Register(absl::string_view name, CustomCallOriginal* function,
                                          absl::string_view platform) {
  return Register(name, platform,
                  {.api_version = API_VERSION_ORIGINAL, .function = reinterpret_cast<void*>(function), .handlers = {}});
}
absl::Status CustomCallRegistry::Register(absl::string_view name, CustomCallStatusReturning* function,
                                          absl::string_view platform) {
  return Register(
      name, platform,
      {.api_version = API_VERSION_STATUS_RETURNING, .function = reinterpret_cast<void*>(function), .handlers = {}});
}
absl::Status CustomCallRegistry::Register(absl::string_view name, CustomCallStatusReturningUnified* function,
                                          absl::string_view platform) {
  return Register(name, platform,
                  {.api_version = API_VERSION_STATUS_RETURNING_UNIFIED,
                   .function = reinterpret_cast<void*>(function),
                   .handlers = {}});
}
absl::Status CustomCallRegistry::RegisterFfi(absl::string_view name, const FfiHandlers& handlers,
                                             absl::string_view platform) {
  return Register(name, platform, {.api_version = API_VERSION_TYPED_FFI, .function = nullptr, .handlers = handlers});
}
absl::Status CustomCallRegistry::RegisterFfi(absl::string_view name, XLA_FFI_Handler* execute,
                                             absl::string_view platform) {
  return RegisterFfi(name,
                     FfiHandlers{.instantiate = nullptr, .prepare = nullptr, .initialize = nullptr, .execute = execute},
                     platform);
}

// Entries of a map stay where they are and are never changed or removed, so the pointer is good without the lock.
const CustomCallTarget* CustomCallRegistry::FindHere(absl::string_view name, absl::string_view platform,
                                                     bool typed) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = targets_.find({std::string(name), absl::AsciiStrToLower(platform), typed});
  return found == targets_.end() ? nullptr : &found->second;
}

absl::StatusOr<CustomCallTarget> CustomCallRegistry::Find(absl::string_view name,
                                                          absl::Span<const absl::string_view> platforms,
                                                          CustomCallApiVersion api_version) const {
  const bool typed = api_version == API_VERSION_TYPED_FFI;
  const CustomCallTarget* other = nullptr;
  for (const CustomCallRegistry* registry = this; registry != nullptr; registry = registry->parent_) {
    for (absl::string_view platform : platforms) {
      const CustomCallTarget* target = registry->FindHere(name, platform, typed);
      if (target != nullptr && (target->api_version == api_version || target->api_version == API_VERSION_UNSPECIFIED))
        return *target;
      if (other == nullptr) other = target != nullptr ? target : registry->FindHere(name, platform, !typed);
    }
  }
  if (other != nullptr) {
    return InvalidArgument(
        "custom call target ", name, " is registered with ",
        other->api_version == API_VERSION_UNSPECIFIED ? "an untyped version" : FieldToText(other->api_version),
        ", but the call is of ", FieldToText(api_version));
  }
  const absl::string_view foreign = ForeignCustomCall(name);
  const absl::string_view platform = platforms.empty() ? "" : platforms.front();
  if (!foreign.empty())
    return Unimplemented("custom call target ", name, " is not supported on platform ", platform, ": it is ", foreign);
  return NotFound("no custom call target ", name, " of ", FieldToText(api_version), " is registered for platform ",
                  platform);
}

}  // namespace hilo
