#include "runtime/ffi/type_registry.h"

#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "base/errors.h"
#include "hilo/ffi.h"

namespace hilo::ffi {
namespace {

struct Types {
  std::mutex mutex;
  absl::flat_hash_map<std::string, int64_t> ids;
  absl::flat_hash_map<int64_t, TypeInfo> infos;
  int64_t next = 1;
};

Types& AllTypes() {
  static auto* types = new Types();  // never destroyed: programs may run while the process ends
  return *types;
}

}  // namespace

absl::StatusOr<int64_t> RegisterType(absl::string_view name, int64_t type_id, const TypeInfo& info) {
  if (name.empty() || type_id < 0)
    return InvalidArgument("an FFI type needs a name, and a number that is not negative");
  Types& types = AllTypes();
  std::lock_guard<std::mutex> lock(types.mutex);
  const auto known = types.ids.find(std::string(name));
  if (known != types.ids.end()) {
    if (type_id == 0 || type_id == known->second) return known->second;
    return InvalidArgument("FFI type ", name, " has the number ", known->second, ", not ", type_id);
  }
  if (type_id == 0) {
    while (types.infos.contains(types.next)) ++types.next;
    type_id = types.next;
  } else if (types.infos.contains(type_id)) {
    return InvalidArgument("FFI type ", name, " cannot have the number ", type_id, ", which is another type's");
  }
  types.ids[std::string(name)] = type_id;
  types.infos[type_id] = info;
  return type_id;
}

std::optional<TypeInfo> FindType(int64_t type_id) {
  Types& types = AllTypes();
  std::lock_guard<std::mutex> lock(types.mutex);
  const auto found = types.infos.find(type_id);
  if (found == types.infos.end()) return std::nullopt;
  return found->second;
}

absl::Status ExecutionContext::Insert(int64_t type_id, void* object) {
  if (!FindType(type_id).has_value()) return InvalidArgument("there is no FFI type of number ", type_id);
  if (objects_.try_emplace(type_id, object).second) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat("the execution context has an object of FFI type ", type_id));
}

void* ExecutionContext::Find(int64_t type_id) const {
  const auto found = objects_.find(type_id);
  return found == objects_.end() ? nullptr : found->second;
}

}  // namespace hilo::ffi
