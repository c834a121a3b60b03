#include "base/phase_times.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "absl/strings/str_cat.h"

namespace hilo {
namespace {

std::atomic<PhaseTimes*> installed = nullptr;

int64_t Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

void PhaseTimes::Install() { installed = this; }

PhaseTimes::~PhaseTimes() {
  PhaseTimes* self = this;
  installed.compare_exchange_strong(self, nullptr);
}

std::vector<PhaseTimes::Row> PhaseTimes::rows() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return rows_;
}

std::string PhaseTimes::current() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (open_.empty()) return "";
  const Row& row = rows_[open_.back()];
  return absl::StrCat(row.group, " ", row.name);
}

size_t PhaseTimes::Enter(absl::string_view group, absl::string_view name, bool on_workers) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found =
      std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.group == group && row.name == name; });
  const size_t row = found - rows_.begin();
  if (found == rows_.end())
    rows_.push_back({.group = std::string(group), .name = std::string(name), .on_workers = on_workers});
  open_.push_back(row);
  return row;
}

void PhaseTimes::Leave(size_t row, int64_t nanoseconds) {
  const std::lock_guard<std::mutex> lock(mutex_);
  rows_[row].nanoseconds += nanoseconds;
  ++rows_[row].count;
  const auto open = std::find(open_.rbegin(), open_.rend(), row);
  if (open != open_.rend()) open_.erase(std::next(open).base());
}

PhaseTimer::PhaseTimer(absl::string_view group, absl::string_view name, bool on_workers) : times_(installed) {
  if (times_ == nullptr) return;
  row_ = times_->Enter(group, name, on_workers);
  start_ = Now();
}

PhaseTimer::~PhaseTimer() {
  if (times_ != nullptr) times_->Leave(row_, Now() - start_);
}

}  // namespace hilo
