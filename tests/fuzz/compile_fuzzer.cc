// Any bytes as the text of a program: to native code, and a short run of it.
#include <cstdint>

#include "tests/fuzz/digest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hilo::fuzz::Digest({reinterpret_cast<const char*>(data), size});
  return 0;
}
