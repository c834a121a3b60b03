// A compiled program and the data that every run of it needs. Private to the runtime.
#ifndef HILO_RUNTIME_LOADED_PROGRAM_H_
#define HILO_RUNTIME_LOADED_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "hilo/executable.h"
#include "runtime/compiler.h"
#include "runtime/transfer_ops.h"
#include "runtime/wait_habit.h"

namespace hilo {

struct LoadedProgram {
  LoadedProgram(std::unique_ptr<CompiledProgram> program, DeviceAssignment assignment, ProgramEffects effects);

  struct Leaf {
    std::shared_ptr<const Shape> shape;
    int64_t bytes = 0;
    // Of an output: the parameter leaf whose memory it uses, or -1.
    int64_t donor = -1;
  };
  std::unique_ptr<CompiledProgram> compiled;
  DeviceAssignment assignment;
  ProgramEffects effects;
  std::vector<Leaf> parameters, outputs;
  const std::shared_ptr<WaitHabit> wait_habit = std::make_shared<WaitHabit>();
};

}  // namespace hilo

#endif  // HILO_RUNTIME_LOADED_PROGRAM_H_
