// The reader of each kind of thunk.
#include "backends/gpu/thunks/collective_thunk.h"
#include "backends/gpu/thunks/control_thunks.h"
#include "backends/gpu/thunks/graph_thunk.h"
#include "backends/gpu/thunks/host_call.h"
#include "backends/gpu/thunks/kernel_thunks.h"
#include "backends/gpu/thunks/library_thunks.h"
#include "backends/gpu/thunks/stream_call.h"
#include "backends/gpu/thunks/thunk_stream.h"
#include "backends/gpu/thunks/transfer_thunk.h"

namespace hilo::gpu {

std::unique_ptr<Thunk> ReadThunk(ThunkKind kind, ThunkReader& in) {
  switch (kind) {
#define HILO_THUNK(kind, reader) \
  case ThunkKind::kind: return reader(in);
#include "backends/gpu/thunks/thunk_kinds.def"
#undef HILO_THUNK
  }
  return nullptr;
}

}  // namespace hilo::gpu
