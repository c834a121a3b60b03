// The interpreter: the smallest complete backend, based on the evaluator. A template for new
// backends.
#ifndef HILO_BACKENDS_INTERPRETER_INTERPRETER_COMPILER_H_
#define HILO_BACKENDS_INTERPRETER_INTERPRETER_COMPILER_H_

#include <memory>

#include "hlo/passes/emission.h"
#include "runtime/compiler.h"

namespace hilo {

struct InterpreterOptions {
  // Evaluates in the memory that BufferAssignment gives each value, with freed memory poisoned, after the passes
  // that prepare a module for it: the oracle of copy insertion and buffer assignment
  // (hlo/memory/assigned_evaluator.h).
  bool assigned_buffers = false;
  // A run ends with an error at the first instruction that makes a NaN or an infinity of finite operands
  // (finite_check.h).
  bool check_finite = false;
};

EmissionRow InterpreterEmission(HloOpcode opcode);

std::unique_ptr<Compiler> CreateInterpreterCompiler(const InterpreterOptions& options = {});

}  // namespace hilo

#endif  // HILO_BACKENDS_INTERPRETER_INTERPRETER_COMPILER_H_
