#include "collectives/processes/live_processes.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/sha256.h"
#include "hilo/status_macros.h"

namespace hilo {

// Its meshes refer to it and are owned by it; runs may keep a mesh for longer. A mesh reports on a thread
// of that mesh, which must not destroy a mesh: so it is told here which meshes there are, by plain pointers.
class LiveProcesses::Agreement {
 public:
  explicit Agreement(Incarnations incarnations)
      : incarnations_(std::move(incarnations)), told_(std::make_shared<Told>()) {}

  const Incarnations& incarnations() const { return incarnations_; }

  // OK until a process has gone.
  absl::Status status() const { return told_->Status(); }
  // Why processes are gone.
  std::map<int64_t, absl::Status> gone() const {
    std::lock_guard<std::mutex> lock(told_->mutex);
    return told_->gone;
  }
  void OnGone(int64_t process, const absl::Status& why) { told_->OnGone(process, why); }

  // The caller makes one at a time.
  absl::StatusOr<std::shared_ptr<ProcessMesh>> MeshOf(const ProcessGroupOptions& options,
                                                      const std::vector<int64_t>& members) {
    const auto found = meshes_.find(members);
    if (found != meshes_.end()) return found->second;
    ProcessGroupOptions own = options;
    own.name = absl::StrCat(options.name, "/", Digest(), "/", DigestOf(absl::StrJoin(members, ",")));
    auto mesh = ProcessMesh::Join(
        own, members, [told = told_] { return told->Status(); },
        [told = told_](int64_t process, const absl::Status& why) { told->OnGone(process, why); });
    // A mesh whose members have not all come is not tried again: some may have given up.
    if (!mesh.ok()) return meshes_.emplace(members, mesh).first->second;
    // Other threads see it go through this pointer.
    auto owned = std::shared_ptr<ProcessMesh>(mesh->get(), [told = told_, mesh = *mesh](ProcessMesh* gone) mutable {
      told->Remove(gone);
      mesh.reset();
    });
    told_->Add(owned.get());
    return meshes_.emplace(members, std::move(owned)).first->second;
  }

 private:
  struct Told {
    std::mutex mutex;
    absl::Status status;  // of the first that is gone
    int64_t first = -1;
    std::map<int64_t, absl::Status> gone;
    std::set<ProcessMesh*> meshes;

    absl::Status Status() {
      std::lock_guard<std::mutex> lock(mutex);
      return status;
    }
    void OnGone(int64_t process, const absl::Status& why) {
      std::lock_guard<std::mutex> lock(mutex);
      gone.emplace(process, why);
      if (!status.ok()) return;
      status = why;
      first = process;
      for (ProcessMesh* mesh : meshes) mesh->Abandon(process, why);
    }
    void Add(ProcessMesh* mesh) {
      std::lock_guard<std::mutex> lock(mutex);
      meshes.insert(mesh);
      if (!status.ok()) mesh->Abandon(first, status);
    }
    void Remove(ProcessMesh* mesh) {
      std::lock_guard<std::mutex> lock(mutex);
      meshes.erase(mesh);
    }
  };

  static std::string DigestOf(absl::string_view text) {
    return absl::BytesToHexString(DigestBytes(Sha256::Of(text)).substr(0, 16));
  }
  std::string Digest() const { return DigestOf(absl::StrJoin(incarnations_, ",", absl::PairFormatter(":"))); }

  const Incarnations incarnations_;
  const std::shared_ptr<Told> told_;
  std::map<std::vector<int64_t>, absl::StatusOr<std::shared_ptr<ProcessMesh>>> meshes_;  // by members
};

absl::StatusOr<std::shared_ptr<ProcessMesh>> LiveProcesses::MeshOf(absl::Span<const ProcessIncarnation> agreed,
                                                                   const std::vector<int64_t>& members) {
  Incarnations incarnations;
  for (const ProcessIncarnation& one : agreed) incarnations[one.process] = one.incarnation;
  for (int64_t member : members) {
    if (!incarnations.contains(member))
      return InvalidArgument("process ", member, " takes part in the run, but is not among the ", incarnations.size(),
                             " that live");
  }
  std::shared_ptr<Agreement> agreement, before;  // the one before is destroyed without the locks
  std::lock_guard<std::mutex> joining(joining_);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (agreement_ == nullptr || agreement_->incarnations() != incarnations) {
      before = std::exchange(agreement_, std::make_shared<Agreement>(incarnations));
      if (before != nullptr) {
        for (const auto& [process, why] : before->gone())
          gone_.emplace(std::make_pair(process, before->incarnations().at(process)), why);
      }
      for (const auto& [process, why] : gone_) {
        const auto found = incarnations.find(process.first);
        if (found != incarnations.end() && found->second == process.second) agreement_->OnGone(process.first, why);
      }
    }
    agreement = agreement_;
  }
  if (absl::Status status = agreement->status(); !status.ok())
    return AddContext(status, "; the processes must agree again on those that live");
  return agreement->MeshOf(options_, members);
}

void LiveProcesses::Update(absl::Span<const ProcessState> states) {
  std::shared_ptr<Agreement> agreement;
  std::vector<std::pair<int64_t, absl::Status>> gone;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    agreement = agreement_;
    const auto note = [&](int64_t process, uint64_t incarnation, const absl::Status& why) {
      if (!gone_.emplace(std::make_pair(process, incarnation), why).second || agreement == nullptr) return;
      const auto found = agreement->incarnations().find(process);
      if (found != agreement->incarnations().end() && found->second == incarnation) gone.emplace_back(process, why);
    };
    for (const ProcessState& state : states) {
      const auto& [process, incarnation] = state.process;
      const auto [last, is_first] = last_.try_emplace(process, incarnation);
      // A late report about an incarnation does not apply to those after it.
      if (!is_first && last->second != incarnation && !gone_.contains({process, incarnation})) {
        note(process, last->second, Unavailable("process ", process, " is gone: it has been started again"));
        last->second = incarnation;
      }
      if (!state.status.ok())
        note(process, incarnation, Unavailable("process ", process, " is gone: ", state.status.message()));
    }
  }
  for (const auto& [process, why] : gone) agreement->OnGone(process, why);
}

}  // namespace hilo
