#include "collectives/processes/process_mesh.h"

#include <algorithm>

#include "collectives/processes/join_processes.h"
#include "hilo/status_macros.h"

namespace hilo {

absl::StatusOr<std::shared_ptr<ProcessMesh>> ProcessMesh::Join(
    const ProcessGroupOptions& options, std::vector<int64_t> members, const std::function<absl::Status()>& give_up,
    std::function<void(int64_t process, const absl::Status& why)> on_death) {
  auto mesh = std::make_shared<ProcessMesh>();
  mesh->timeout_ = options.timeout;
  mesh->process_ = options.process_id;
  mesh->on_death_ = std::move(on_death);
  mesh->gone_.resize(options.process_count);
  HILO_ASSIGN_OR_RETURN(JoinedProcesses joined, JoinProcesses(options, std::move(members), give_up));
  mesh->device_counts_ = std::move(joined.device_counts);
  mesh->transport_ = std::move(joined.transport);
  HILO_RETURN_IF_ERROR(mesh->transport_->Start(mesh.get()));
  return mesh;
}

void ProcessMesh::OnFrame(int64_t process, Frame frame) {
  std::shared_ptr<ProcessRun> run;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    run = FindLocked({frame.header().program, frame.header().run});
  }
  if (run != nullptr) run->OnFrame(process, std::move(frame));
}

void ProcessMesh::OnGone(int64_t process, const absl::Status& why, bool has_left) {
  std::vector<std::shared_ptr<ProcessRun>> runs;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    gone_[process] = why;
    for (const auto& [key, run] : runs_) runs.push_back(run);
  }
  for (const auto& run : runs) run->OnGone(process, why);
  if (on_death_ != nullptr && !has_left) on_death_(process, why);
}

void ProcessMesh::Abandon(int64_t process, const absl::Status& why) {
  std::vector<std::shared_ptr<ProcessRun>> runs;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!abandoned_.ok()) return;
    gone_[process] = why;
    abandoned_ = why;
    for (const auto& [key, run] : runs_) runs.push_back(run);
  }
  for (const auto& run : runs) run->Abandon(process, why);
}

std::shared_ptr<ProcessRun> ProcessMesh::StartRun(uint64_t program, std::vector<int64_t> process_of_rank, RunKey* key) {
  std::shared_ptr<ProcessRun> run;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    *key = {program, next_[program]};
    run = FindLocked(*key);
    ++next_[program];
  }
  run->Start(process_of_rank);
  std::vector<absl::Status> gone;
  absl::Status abandoned;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    gone = gone_;
    abandoned = abandoned_;
  }
  for (size_t process = 0; process < gone.size(); ++process) {
    const bool takes_part = std::find(process_of_rank.begin(), process_of_rank.end(), static_cast<int64_t>(process)) !=
                            process_of_rank.end();
    if (takes_part && !gone[process].ok()) run->OnGone(static_cast<int64_t>(process), gone[process]);
  }
  if (!abandoned.ok()) run->Fail(abandoned);
  return run;
}

void ProcessMesh::EndRun(const RunKey& key) {
  std::shared_ptr<ProcessRun> run;  // destroyed without the lock
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = runs_.find(key);
  if (found == runs_.end()) return;
  run = std::move(found->second);
  runs_.erase(found);
}

bool ProcessMesh::Begin(ProcessRun& run) {
  const bool begun = run.Begin(waits_to_begin_);
  waits_to_begin_ = begun;
  return begun;
}

std::shared_ptr<ProcessRun> ProcessMesh::FindLocked(const RunKey& key) {
  const auto found = runs_.find(key);
  if (found != runs_.end()) return found->second;
  if (key.second < next_[key.first]) return nullptr;
  return runs_[key] = std::make_shared<ProcessRun>(transport_.get(), process_, key.first, key.second);
}

}  // namespace hilo
