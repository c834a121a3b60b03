// A finished computation, ready to be compiled or to be called by another one.
#ifndef HILO_HLO_BUILDER_XLA_COMPUTATION_H_
#define HILO_HLO_BUILDER_XLA_COMPUTATION_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "hlo/ir/hlo_module.h"

namespace hilo {

// A verified module that copies share; never changed once built.
class XlaComputation {
 public:
  XlaComputation() = default;
  explicit XlaComputation(std::shared_ptr<const HloModule> module) : module_(std::move(module)) {}

  bool IsNull() const { return module_ == nullptr; }
  // The name that its builder had; empty if null.
  const std::string& name() const;
  // Errors: InvalidArgument if null.
  absl::StatusOr<ProgramShape> GetProgramShape() const;
  // Null if this is null.
  const std::shared_ptr<const HloModule>& module() const { return module_; }

 private:
  std::shared_ptr<const HloModule> module_;
};

}  // namespace hilo

#endif  // HILO_HLO_BUILDER_XLA_COMPUTATION_H_
