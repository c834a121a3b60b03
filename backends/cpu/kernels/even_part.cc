#include "backends/cpu/kernels/even_part.h"

#include "base/math.h"

namespace hilo::cpu {
namespace {

// Of so many parts the last one counts for little.
constexpr int64_t kManyParts = 8;

// Returns what the busier of two threads computes.
int64_t LongerShare(int64_t size, int64_t part, int64_t unit) {
  const int64_t parts = CeilDiv(size, part);
  if (parts % 2 == 0) return parts / 2 * part;
  return parts / 2 * part + CeilDiv(size - (parts - 1) * part, unit) * unit;
}

}  // namespace

int64_t EvenPart(int64_t size, int64_t part, int64_t unit) {
  const int64_t parts = CeilDiv(size, part);
  if (parts < 2 || parts >= kManyParts) return part;
  int64_t best = part, least = LongerShare(size, part, unit);
  least -= least / 12;
  // Larger parts read less twice.
  for (int64_t other = (part + part / 2) / unit * unit; other > 0 && 4 * other >= 3 * part; other -= unit) {
    const int64_t share = LongerShare(size, other, unit);
    if (share >= least) continue;
    best = other;
    least = share;
  }
  return best;
}

}  // namespace hilo::cpu
