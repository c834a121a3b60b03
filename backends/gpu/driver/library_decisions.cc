#include "backends/gpu/driver/library_decisions.h"

#include "absl/strings/str_cat.h"
#include "base/byte_stream.h"
#include "base/errors.h"

namespace hilo::gpu {

const LibraryDecision& LibraryDecisions::Decide(absl::string_view what, absl::string_view work, const Ask& ask) {
  const auto [it, is_new] = table_.try_emplace({std::string(what), std::string(work)});
  LibraryDecision& decision = it->second;
  if (!is_new) return decision;
  const auto found = recorded_.find(it->first);
  const LibraryDecision* recorded = found == recorded_.end() ? nullptr : &found->second;
  if (recorded != nullptr && !recorded->algorithm.has_value()) return decision;
  absl::StatusOr<LibraryDecision> answer = ask(recorded);
  if (answer.ok()) {
    decision = *std::move(answer);
  } else if (recorded != nullptr) {
    decision = *recorded;
    if (status_.ok())
      status_ = FailedPrecondition("the serialised executable calls a library for ", what,
                                   ", which cannot be done here: ", answer.status().message());
  } else if (absl::IsUnavailable(answer.status())) {
    missing_.emplace(what, answer.status().message());
  }
  return decision;
}

std::string LibraryDecisions::Missing() const {
  std::string text;
  for (const auto& [what, why] : missing_)
    absl::StrAppend(&text, "kernels in place of the library for ", what, ": ", why, "\n");
  return text;
}

void Encode(const LibraryDecisions::Table& table, ByteWriter* out) {
  out->U64(table.size());
  for (const auto& [key, decision] : table) {
    out->Text(key.first);
    out->Text(key.second);
    out->Text(decision.version);
    out->Bool(decision.algorithm.has_value());
    if (!decision.algorithm.has_value()) continue;
    out->Text(decision.algorithm->code);
    out->I64(decision.algorithm->workspace_bytes);
  }
}

LibraryDecisions::Table DecodeLibraryDecisions(ByteReader* in) {
  LibraryDecisions::Table table;
  for (uint64_t left = in->Count(25); left > 0 && in->ok(); --left) {
    std::string what(in->Text()), work(in->Text());
    LibraryDecision& decision = table[{std::move(what), std::move(work)}];
    decision.version = std::string(in->Text());
    if (!in->Bool()) continue;
    LibraryAlgorithm& algorithm = decision.algorithm.emplace();
    algorithm.code = std::string(in->Text());
    algorithm.workspace_bytes = in->I64();
    if (algorithm.workspace_bytes < 0) in->Fail("bytes of workspace");
  }
  return table;
}

}  // namespace hilo::gpu
