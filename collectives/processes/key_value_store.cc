#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "base/errors.h"
#include "base/signals_blocked.h"
#include "collectives/processes/key_value_limits.h"
#include "collectives/processes/sockets.h"
#include "collectives/processes/tcp_store.h"
#include "hilo/collectives.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

class InProcessStore : public KeyValueStore {
 public:
  absl::Status Set(absl::string_view key, absl::string_view value) override {
    HILO_RETURN_IF_ERROR(CheckKeyAndValue(key, value));
    std::lock_guard<std::mutex> lock(mutex_);
    values_[std::string(key)] = std::string(value);
    changed_.notify_all();
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> Get(absl::string_view key, absl::Time deadline) override {
    HILO_RETURN_IF_ERROR(CheckKeyAndValue(key, ""));
    const std::string name(key);
    std::unique_lock<std::mutex> lock(mutex_);
    auto is_there = [&] { return values_.count(name) != 0; };
    if (deadline == absl::InfiniteFuture()) {
      changed_.wait(lock, is_there);
    } else if (!changed_.wait_until(lock, absl::ToChronoTime(deadline), is_there)) {
      return DeadlineExceeded("the deadline has passed while waiting for the key ", key);
    }
    return values_[name];
  }
  absl::StatusOr<std::string> TryGet(absl::string_view key) override {
    HILO_RETURN_IF_ERROR(CheckKeyAndValue(key, ""));
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = values_.find(std::string(key));
    if (found == values_.end()) return NotFound("there is no key ", key);
    return found->second;
  }
  absl::Status Delete(absl::string_view key) override {
    HILO_RETURN_IF_ERROR(CheckKeyAndValue(key, ""));
    std::lock_guard<std::mutex> lock(mutex_);
    values_.erase(std::string(key));
    return absl::OkStatus();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> values_;
};

constexpr size_t kMaxGetsAtOnce = 16;

class CallbackStore : public KeyValueStore {
 public:
  explicit CallbackStore(KeyValueCallbacks callbacks) : callbacks_(std::move(callbacks)) {}

  absl::Status Set(absl::string_view key, absl::string_view value) override {
    HILO_RETURN_IF_ERROR(CheckKeyAndValue(key, value));
    return callbacks_.set ? callbacks_.set(key, value) : Unimplemented("a store without set");
  }
  absl::StatusOr<std::string> Get(absl::string_view key, absl::Time deadline) override {
    HILO_RETURN_IF_ERROR(CheckKeyAndValue(key, ""));
    if (!callbacks_.get) return Unimplemented("a store without get");
    return callbacks_.get(key, std::max(deadline - absl::Now(), absl::ZeroDuration()));
  }
  absl::StatusOr<std::string> TryGet(absl::string_view key) override {
    HILO_RETURN_IF_ERROR(CheckKeyAndValue(key, ""));
    if (callbacks_.try_get) return callbacks_.try_get(key);
    auto value = Get(key, absl::Now() + absl::Milliseconds(1));
    if (absl::IsDeadlineExceeded(value.status())) return NotFound("there is no key ", key);
    return value;
  }
  // Each call may be a request over a network: several are made at a time.
  absl::StatusOr<std::vector<std::optional<std::string>>> GetMany(absl::Span<const std::string> keys,
                                                                  absl::Time deadline) override {
    HILO_RETURN_IF_ERROR(CheckKeys(keys));
    std::vector<std::optional<std::string>> values(keys.size());
    std::mutex mutex;  // guards the next two
    size_t next = 0;
    absl::Status status;
    const auto work = [&] {
      while (true) {
        size_t i;
        {
          std::lock_guard<std::mutex> lock(mutex);
          if (next == keys.size() || !status.ok()) return;
          i = next++;
        }
        auto value = KeyValueStore::GetMany(keys.subspan(i, 1), deadline);
        std::lock_guard<std::mutex> lock(mutex);
        if (value.ok()) {
          values[i] = std::move(value->front());
        } else {
          status.Update(value.status());
        }
      }
    };
    std::vector<std::thread> threads;
    try {
      const SignalsBlocked signals_blocked;
      while (threads.size() + 1 < std::min(kMaxGetsAtOnce, keys.size())) threads.emplace_back(work);
    } catch (const std::system_error&) {
      // With fewer threads it takes longer.
    }
    work();
    for (std::thread& thread : threads) thread.join();
    if (!status.ok()) return status;
    return values;
  }
  absl::Status Delete(absl::string_view key) override {
    HILO_RETURN_IF_ERROR(CheckKeyAndValue(key, ""));
    return callbacks_.erase ? callbacks_.erase(key) : Unimplemented("a store without delete");
  }

 private:
  const KeyValueCallbacks callbacks_;
};

}  // namespace

absl::Status CheckKeyAndValue(absl::string_view key, absl::string_view value) {
  if (key.empty() || static_cast<int64_t>(key.size()) > kMaxKeyBytes)
    return InvalidArgument("expected a key of 1 to ", kMaxKeyBytes, " bytes, got ", key.size());
  if (static_cast<int64_t>(value.size()) > kMaxValueBytes) {
    return InvalidArgument("the value of the key ", key, " has ", value.size(), " bytes, more than ", kMaxValueBytes);
  }
  return absl::OkStatus();
}

absl::Status CheckKeys(absl::Span<const std::string> keys) {
  if (static_cast<int64_t>(keys.size()) > kMaxKeysAtOnce)
    return InvalidArgument("expected at most ", kMaxKeysAtOnce, " keys at once, got ", keys.size());
  for (const std::string& key : keys) HILO_RETURN_IF_ERROR(CheckKeyAndValue(key, ""));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::optional<std::string>>> KeyValueStore::GetMany(absl::Span<const std::string> keys,
                                                                               absl::Time deadline) {
  HILO_RETURN_IF_ERROR(CheckKeys(keys));
  std::vector<std::optional<std::string>> values;
  for (const std::string& key : keys) {
    absl::StatusOr<std::string> value = absl::Now() < deadline ? Get(key, deadline) : TryGet(key);
    if (value.ok()) {
      values.emplace_back(*std::move(value));
    } else if (absl::IsDeadlineExceeded(value.status()) || absl::IsNotFound(value.status())) {
      values.emplace_back();
    } else {
      return value.status();
    }
  }
  return values;
}

std::shared_ptr<KeyValueStore> MakeInProcessStore() { return std::make_shared<InProcessStore>(); }

std::shared_ptr<KeyValueStore> MakeCallbackStore(KeyValueCallbacks callbacks) {
  return std::make_shared<CallbackStore>(std::move(callbacks));
}

absl::Status Barrier(KeyValueStore& store, absl::string_view name, int64_t process, int64_t count,
                     absl::Time deadline) {
  std::vector<std::string> keys;
  for (int64_t member = 0; member < count; ++member) keys.push_back(absl::StrCat(name, "/", member));
  if (process < 0 || process >= count)
    return InvalidArgument("barrier ", name, ": expected a process below ", count, ", got ", process);
  HILO_RETURN_IF_ERROR(store.Set(keys[process], ""));
  HILO_ASSIGN_OR_RETURN(const auto there, store.GetMany(keys, deadline));
  std::vector<int64_t> missing;
  for (int64_t member = 0; member < count; ++member) {
    if (!there[member].has_value()) missing.push_back(member);
  }
  if (missing.empty()) return absl::OkStatus();
  return DeadlineExceeded("barrier ", name, ": the deadline has passed while waiting for process",
                          missing.size() == 1 ? " " : "es ", absl::StrJoin(missing, ", "), " of ", count);
}

absl::StatusOr<std::shared_ptr<KeyValueStore>> OpenStore(absl::string_view address, absl::string_view token,
                                                         bool serve) {
  absl::string_view folder = address;
  if (absl::ConsumePrefix(&folder, "file://")) {
    if (!absl::StartsWith(folder, "/")) return InvalidArgument("expected file:///FOLDER, got '", address, "'");
    return MakeFileStore(std::string(folder));
  }
  auto endpoint = ParseEndpoint(address);
  if (!endpoint.ok()) {
    return InvalidArgument("a coordinator is HOST:PORT or file:///FOLDER, not '", address, "'");
  }
  if (token.empty()) {
    return InvalidArgument("the coordinator ", address,
                           " needs a secret that all processes of the job know: HILO_JOB_TOKEN");
  }
  std::shared_ptr<TcpStoreServer> server;
  if (serve) {
    HILO_ASSIGN_OR_RETURN(server, TcpStoreServer::Start(*endpoint, std::string(token)));
  }
  return MakeTcpStore(*endpoint, std::string(token), std::move(server));
}

}  // namespace hilo
