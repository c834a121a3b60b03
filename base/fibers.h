// Fibers: functions that alternate on one thread, each on a stack of its own. A switch takes some nanoseconds, where
// waking a thread takes microseconds.
#ifndef HILO_BASE_FIBERS_H_
#define HILO_BASE_FIBERS_H_

#include <cstddef>
#include <functional>

#include "absl/types/span.h"

namespace hilo {

class Fibers {
 public:
  // Allocates the stacks of `count` fibers of this thread, which keeps them until it ends. Returns false if there is no
  // memory for them, in builds for ThreadSanitizer, and within a fiber.
  static bool Reserve(size_t count);
  // Runs all bodies, for which Reserve has returned true on this thread, and returns when all have returned. A body
  // runs until it returns or yields; the next one in their order runs then. Bodies must not throw. Each has a
  // floating-point mode of its own, at first that of the caller.
  static void Run(absl::Span<const std::function<void()>> bodies);

  // Whether the caller is a body.
  static bool IsInside();
  // Runs the bodies that have not returned, each until it returns or yields, and returns to this one.
  static void Yield();
};

}  // namespace hilo

#endif  // HILO_BASE_FIBERS_H_
