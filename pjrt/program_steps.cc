#include "pjrt/program_steps.h"

#include <algorithm>
#include <cstddef>
#include <mutex>

#include "absl/container/flat_hash_map.h"

namespace hilo::pjrt {
namespace {

class ProgramsWithSteps {
 public:
  static ProgramsWithSteps& Get() {
    static auto* const programs = new ProgramsWithSteps;
    return *programs;
  }

  void Add(const profile::StepTable& steps, const std::shared_ptr<const Program>& program) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (programs_.size() >= 2 * left_) {  // so that a program costs the same however many there have been
      absl::erase_if(programs_, [](const auto& entry) { return entry.second.expired(); });
      left_ = std::max<size_t>(programs_.size(), 64);
    }
    programs_[&steps] = program;
  }

  std::shared_ptr<const Program> Find(const profile::StepTable& steps) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = programs_.find(&steps);
    return found == programs_.end() ? nullptr : found->second.lock();
  }

 private:
  std::mutex mutex_;
  absl::flat_hash_map<const profile::StepTable*, std::weak_ptr<const Program>> programs_;
  size_t left_ = 64;  // entries after the last removal of those whose programs are destroyed
};

}  // namespace

void AddProgramOfSteps(const profile::StepTable& steps, const std::shared_ptr<const Program>& program) {
  ProgramsWithSteps::Get().Add(steps, program);
}

std::shared_ptr<const Program> ProgramOfSteps(const profile::StepTable& steps) {
  return ProgramsWithSteps::Get().Find(steps);
}

}  // namespace hilo::pjrt
