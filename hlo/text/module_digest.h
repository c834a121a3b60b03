// A digest of a module's semantics, as a key for anything derived from it.
#ifndef HILO_HLO_TEXT_MODULE_DIGEST_H_
#define HILO_HLO_TEXT_MODULE_DIGEST_H_

#include "base/sha256.h"
#include "hlo/ir/hlo_module.h"

namespace hilo {

// SHA-256 over the module's text without metadata, tables of source locations, and names: those of the
// module, its computations and its instructions. The names of the entry's parameters are included, because callers see
// them. The order of instructions and computations is significant.
Sha256::Digest ModuleDigest(const HloModule& module);

}  // namespace hilo

#endif  // HILO_HLO_TEXT_MODULE_DIGEST_H_
