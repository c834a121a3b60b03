#include "backends/gpu/lib/library_decisions.h"

#include "absl/strings/str_cat.h"

namespace hilo::gpu {

const std::optional<LibraryChoice>& LibraryDecisions::Decide(absl::string_view what, absl::string_view work,
                                                             const Ask& ask) {
  const auto [it, is_new] = table_.try_emplace({std::string(what), std::string(work)});
  if (!is_new) return it->second;
  absl::StatusOr<LibraryChoice> answer = ask();
  if (answer.ok()) {
    it->second = *std::move(answer);
  } else if (absl::IsUnavailable(answer.status())) {
    missing_.emplace(what, answer.status().message());
  }
  return it->second;
}

std::string LibraryDecisions::Missing() const {
  std::string text;
  for (const auto& [what, why] : missing_)
    absl::StrAppend(&text, "kernels in place of the library for ", what, ": ", why, "\n");
  return text;
}

}  // namespace hilo::gpu
