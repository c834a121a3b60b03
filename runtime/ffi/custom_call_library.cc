#include <dlfcn.h>

#include <exception>

#include "base/errors.h"
#include "hilo/ffi.h"
#include "hilo/status_macros.h"
#include "runtime/ffi/ffi_api.h"
#include "runtime/guarded.h"

namespace hilo {
namespace {

constexpr char kFunction[] = "HiloRegisterCustomCalls";

// Where the registrar's functions, which C code may call, leave their results.
struct Registration {
  CustomCallRegistry* registry;
  absl::Status status;
};

Registration& Of(const HiloCustomCallRegistrar* registrar) { return *static_cast<Registration*>(registrar->registry); }
absl::string_view View(const char* text) { return text == nullptr ? absl::string_view() : absl::string_view(text); }
XLA_FFI_Handler* Handler(void* function) { return reinterpret_cast<XLA_FFI_Handler*>(function); }

void RegisterFfi(const HiloCustomCallRegistrar* registrar, const char* name, const char* platform, void* instantiate,
                 void* prepare, void* initialize, void* execute) {
  Registration& registration = Of(registrar);
  const FfiHandlers handlers{.instantiate = Handler(instantiate),
                             .prepare = Handler(prepare),
                             .initialize = Handler(initialize),
                             .execute = Handler(execute)};
  registration.status.Update(
      Guarded([&] { return registration.registry->RegisterFfi(View(name), handlers, View(platform)); }));
}

void RegisterTarget(const HiloCustomCallRegistrar* registrar, const char* name, const char* platform, int api_version,
                    void* function) {
  if (api_version == HILO_CUSTOM_CALL_TYPED_FFI)
    return RegisterFfi(registrar, name, platform, nullptr, nullptr, nullptr, function);
  Registration& registration = Of(registrar);
  if (api_version < HILO_CUSTOM_CALL_ORIGINAL || api_version > HILO_CUSTOM_CALL_TYPED_FFI) {
    return registration.status.Update(Guarded([&]() -> absl::Status {
      return InvalidArgument("custom call target ", View(name), ": there is no API version ", api_version);
    }));
  }
  const CustomCallTarget target{
      .api_version = static_cast<CustomCallApiVersion>(api_version), .function = function, .handlers = {}};
  registration.status.Update(
      Guarded([&] { return registration.registry->Register(View(name), View(platform), target); }));
}

}  // namespace

absl::Status RegisterCustomCalls(HiloRegisterCustomCallsFunction* function, CustomCallRegistry* registry) {
  Registration registration{.registry = registry, .status = {}};
  const HiloCustomCallRegistrar registrar{.struct_size = sizeof(HiloCustomCallRegistrar),
                                          .registry = &registration,
                                          .register_target = &RegisterTarget,
                                          .register_ffi = &RegisterFfi,
                                          .set_failure = &XlaCustomCallStatusSetFailure,
                                          .ffi_api = ffi::GetXlaFfiApi()};
  HILO_RETURN_IF_ERROR(Guarded([&] {
    function(&registrar);
    return absl::OkStatus();
  }));
  return registration.status;
}

absl::Status LoadCustomCallLibrary(const std::string& path, CustomCallRegistry* registry) {
  // A name without a slash would be searched for in the system's folders.
  const std::string file = path.find('/') == std::string::npos ? absl::StrCat("./", path) : path;
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return NotFound("cannot load the library of custom calls: ", View(dlerror()));
  auto* function = reinterpret_cast<HiloRegisterCustomCallsFunction*>(dlsym(library, kFunction));
  if (function == nullptr)
    return InvalidArgument(path, " does not export ", kFunction, ", which registers custom calls");
  return AddContext(RegisterCustomCalls(function, registry), absl::StrCat("; in ", path));
}

}  // namespace hilo
