// How deep computations may nest in each other, by calls, loops and branches, where code recurses once a level; deeper
// programs are refused with ResourceExhausted. The native stack is the reason of each limit: frames differ in size.
#ifndef HILO_HLO_IR_CALL_DEPTH_H_
#define HILO_HLO_IR_CALL_DEPTH_H_

#include <cstdint>

namespace hilo {

inline constexpr int64_t kMaxEvaluatedDepth = 1000;  // of the evaluator, on literals and on assigned memory
inline constexpr int64_t kMaxScheduledDepth = 500;   // loops and branches of a program, for all stages from here on
inline constexpr int64_t kMaxExpandedDepth = 500;    // of a program with dynamic dimensions
inline constexpr int64_t kMaxEmittedDepth = 200;     // calls in the code of an element

}  // namespace hilo

#endif  // HILO_HLO_IR_CALL_DEPTH_H_
