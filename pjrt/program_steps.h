// The programs of the process by the tables of their steps, for profiles, which name these.
#ifndef HILO_PJRT_PROGRAM_STEPS_H_
#define HILO_PJRT_PROGRAM_STEPS_H_

#include <memory>

#include "runtime/profile/recorder.h"

namespace hilo::pjrt {

struct Program;

// Adds the program whose runs have these steps.
void AddProgramOfSteps(const profile::StepTable& steps, const std::shared_ptr<const Program>& program);

// Returns the program with these steps, of all that were added; null if it has been destroyed.
std::shared_ptr<const Program> ProgramOfSteps(const profile::StepTable& steps);

}  // namespace hilo::pjrt

#endif  // HILO_PJRT_PROGRAM_STEPS_H_
