// Any bytes as a .npy and as a .npz file, with and without a hint of the type of raw elements. Arrays that are read
// must be written in a form that gives them back.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/string_view.h"
#include "hilo/npy.h"

namespace {

void ExpectRoundTrip(const hilo::Literal& literal) {
  const auto bytes = hilo::SerializeNpy(literal);
  if (!bytes.ok()) return;
  const auto again = hilo::ParseNpy(*bytes, literal.shape().element_type());
  if (again.ok() && again->untyped_data() == literal.untyped_data()) return;
  std::fprintf(stderr, "%s changed: %s\n", literal.shape().ToString().c_str(), again.status().ToString().c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const hilo::PrimitiveType hint : {hilo::PRIMITIVE_TYPE_INVALID, hilo::BF16, hilo::S4}) {
    const auto array = hilo::ParseNpy(bytes, hint);
    if (array.ok()) ExpectRoundTrip(*array);
  }
  const auto arrays = hilo::ParseNpz(bytes, [](absl::string_view) { return hilo::F8E4M3FN; });
  if (!arrays.ok()) return 0;
  for (const hilo::NamedLiteral& array : *arrays) ExpectRoundTrip(array.literal);
  return 0;
}
