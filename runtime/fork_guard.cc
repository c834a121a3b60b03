#include "runtime/fork_guard.h"

#include <pthread.h>

#include <atomic>

namespace hilo {
namespace {

std::atomic<int> generation{0};

}  // namespace

int ForkGeneration() {
  static const bool watching = [] {
    pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
    return true;
  }();
  (void)watching;
  return generation.load(std::memory_order_relaxed);
}

}  // namespace hilo
