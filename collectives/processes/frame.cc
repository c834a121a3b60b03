#include <cstring>

#include "collectives/processes/transport.h"
#include "hilo/status_macros.h"

namespace hilo {

absl::Status Frame::Own() {
  if (lender_ == nullptr) return absl::OkStatus();
  HILO_ASSIGN_OR_RETURN(AlignedBuffer copy, AlignedBuffer::Create(size_));
  std::memcpy(copy.data(), data_, size_);
  *this = Frame(header_, std::move(copy));  // the old one returns what it has borrowed
  return absl::OkStatus();
}

}  // namespace hilo
