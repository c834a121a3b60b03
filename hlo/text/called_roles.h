// The attributes that name an instruction's called computations, from the `called` column of the
// opcode table.
#ifndef HILO_HLO_TEXT_CALLED_ROLES_H_
#define HILO_HLO_TEXT_CALLED_ROLES_H_

#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "hlo/ops/table/hlo_opcode.h"

namespace hilo {

struct CalledRoles {
  std::vector<absl::string_view> names;  // in the order of HloInstruction::called_computations()
  bool is_list = false;                  // one name, which holds any number of computations

  explicit CalledRoles(HloOpcode opcode) {
    absl::string_view called = OpcodeInfo(opcode).called;
    is_list = absl::ConsumeSuffix(&called, "*");
    if (!called.empty()) names = absl::StrSplit(called, ',');
  }
};

}  // namespace hilo

#endif  // HILO_HLO_TEXT_CALLED_ROLES_H_
