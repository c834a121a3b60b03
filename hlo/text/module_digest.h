// A name for what a module means, to find things again that were made of it.
#ifndef HILO_HLO_TEXT_MODULE_DIGEST_H_
#define HILO_HLO_TEXT_MODULE_DIGEST_H_

#include "base/sha256.h"
#include "hlo/ir/hlo_module.h"

namespace hilo {

// SHA-256 over all that the module's text says but metadata, tables of source locations, and names: those of the
// module, its computations and its instructions. The names of the entry's parameters do count, because callers see
// them. The order of instructions and computations counts.
Sha256::Digest ModuleDigest(const HloModule& module);

}  // namespace hilo

#endif  // HILO_HLO_TEXT_MODULE_DIGEST_H_
