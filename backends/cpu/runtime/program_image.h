// What a compiled program is made of, without an address in it: what is serialised.
#ifndef HILO_BACKENDS_CPU_RUNTIME_PROGRAM_IMAGE_H_
#define HILO_BACKENDS_CPU_RUNTIME_PROGRAM_IMAGE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/artifact.h"
#include "shape/shape.h"

namespace hilo::cpu {

// The facts of a compiled module beside its code.
struct ProgramFacts {
  ProgramShape shape;
  std::vector<std::pair<int64_t, int64_t>> donations;
  int64_t frame_bytes = 0;
  int64_t parameter_leaves = 0;
  int64_t output_leaves = 0;
  double estimated_nanoseconds = 0;
  bool flush_denormals = false;
};

// A host op as the code knows it: by how many pointers of each kind it hands over.
struct HostOpFacts {
  std::string name;     // its instruction's
  std::string context;  // the instruction, for errors
  int64_t operand_leaves = 0, result_leaves = 0, computations = 0;
};

struct ProgramImage {
  ProgramFacts facts;
  std::string target;                // the processor, as CpuFeatures::ToText says it
  std::vector<std::string> objects;  // relocatable code
  std::vector<HostOpFacts> host_ops;
  std::string host_op_text;  // host_op_text.h
};

// Writes the image, and the bytes of the program's constants.
void EncodeProgram(const ProgramImage& image, absl::Span<const absl::string_view> constants, Artifact* artifact);

// Reads, and links nothing. Errors: InvalidArgument for what EncodeProgram cannot have written.
struct DecodedProgram {
  ProgramImage image;
  std::vector<absl::string_view> constants;  // in the artifact
};
absl::StatusOr<DecodedProgram> DecodeProgram(const Artifact& artifact);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_PROGRAM_IMAGE_H_
