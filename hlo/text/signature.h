// The signature that may stand before a computation's body: "(x: f32[2]) -> f32[2]". Private to hlo/text.
#ifndef HILO_HLO_TEXT_SIGNATURE_H_
#define HILO_HLO_TEXT_SIGNATURE_H_

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "hilo/shape.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/text/text_cursor.h"

namespace hilo {

struct Signature {
  std::vector<std::pair<size_t, Shape>> parameters;  // offset, type
  std::pair<size_t, Shape> result;
};

// Errors of both: InvalidArgument with the position.
absl::StatusOr<Signature> ParseSignature(TextCursor& cursor);
absl::Status CheckSignature(const SourceText& source, const Signature& signature, const HloComputation& computation);

}  // namespace hilo

#endif  // HILO_HLO_TEXT_SIGNATURE_H_
