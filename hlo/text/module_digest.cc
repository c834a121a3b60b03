// The text of long constants takes far longer to print than their bytes to hash (100 MB of weights: seconds against 60
// ms), so the text has them elided and the bytes follow it.
#include "hlo/text/module_digest.h"

#include "base/byte_stream.h"
#include "hilo/literal.h"
#include "hlo/text/hlo_printer.h"

namespace hilo {
namespace {

constexpr int64_t kPrintedElements = 16;

void AddBytes(absl::string_view bytes, Sha256* hash) {
  ByteWriter size;
  size.U64(bytes.size());
  hash->Update(size.bytes());
  hash->Update(bytes);
}

void AddConstant(const Literal& literal, Sha256* hash) {
  const Shape& shape = literal.shape();
  if (!shape.IsArray() || !shape.is_static()) return AddBytes(literal.ToString(), hash);
  const auto data = literal.untyped_data();
  AddBytes({reinterpret_cast<const char*>(data.data()), data.size()}, hash);
}

}  // namespace

Sha256::Digest ModuleDigest(const HloModule& module) {
  Sha256 hash;
  AddBytes(
      PrintHloModule(module, {.metadata = false, .numbered_names = true, .max_constant_elements = kPrintedElements}),
      &hash);
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions())
    AddBytes(parameter->name(), &hash);
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->IsConstant()) AddConstant(instruction->literal(), &hash);
    }
  }
  return hash.Finish();
}

}  // namespace hilo
