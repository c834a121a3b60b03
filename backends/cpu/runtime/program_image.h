// The position-independent contents of a compiled program, which are serialized.
#ifndef HILO_BACKENDS_CPU_RUNTIME_PROGRAM_IMAGE_H_
#define HILO_BACKENDS_CPU_RUNTIME_PROGRAM_IMAGE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hilo/shape.h"
#include "runtime/artifact.h"
#include "runtime/profile/recorder.h"

namespace hilo::cpu {

// Properties of a compiled module other than its code.
struct ProgramFacts {
  ProgramShape shape;
  std::vector<std::pair<int64_t, int64_t>> donations;
  int64_t frame_bytes = 0;
  int64_t parameter_leaves = 0;
  int64_t output_leaves = 0;
  double estimated_nanoseconds = 0;
  bool flush_denormals = false;
};

// A runtime call as compiled code sees it: the number of pointers of each kind that are passed.
struct RuntimeCallFacts {
  std::string name;     // the instruction's name
  std::string context;  // the instruction, for errors
  int64_t operand_leaves = 0, result_leaves = 0, computations = 0;
};

struct ProgramImage {
  ProgramFacts facts;
  std::string target;                // the processor, in the format of CpuFeatures::ToText
  std::vector<std::string> objects;  // relocatable code
  std::vector<RuntimeCallFacts> runtime_calls;
  std::string runtime_call_text;                    // runtime_call_text.h
  std::shared_ptr<const profile::StepTable> steps;  // that the code marks; never null
};

// Writes the image and the bytes of the program's constants.
void EncodeProgram(const ProgramImage& image, absl::Span<const absl::string_view> constants, Artifact* artifact);

// Reads without linking. Errors: InvalidArgument for what EncodeProgram cannot have written.
struct DecodedProgram {
  ProgramImage image;
  std::vector<absl::string_view> constants;  // views of the artifact
};
absl::StatusOr<DecodedProgram> DecodeProgram(const Artifact& artifact);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_PROGRAM_IMAGE_H_
