// Profiles in the formats of other tools.
#ifndef HILO_RUNTIME_PROFILE_EXPORT_H_
#define HILO_RUNTIME_PROFILE_EXPORT_H_

#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/profile/recorder.h"

namespace hilo::profile {

// The peak throughput of a device, for rooflines; 0: unknown.
struct Peaks {
  double gigaflops = 0, gigabytes_per_second = 0;
};

// Returns a serialized HloProto of the program that has these steps, or an empty string.
using HloOfSteps = std::function<std::string(const StepTable& steps)>;

// A serialized XSpace (xplane.proto), which xprof, TensorBoard and JAX read. It has one plane for each device with the
// lines "XLA Modules" and "XLA Ops". xprof makes its tables of operations only from planes whose names begin with
// /device:TPU: or /device:GPU:, so the planes are named "/device:TPU:0 Hilo cpu": after the prefix is what the device
// is. All that xprof's tables need is in the plane itself. The programs that `hlo_of` knows are in the plane
// /host:metadata, from which xprof draws graphs; it is called once for each program.
std::string ToXSpace(const Profile& profile, absl::string_view platform, const Peaks& peaks = {},
                     const HloOfSteps& hlo_of = nullptr);

// Chrome's trace event format in JSON, which Perfetto reads: a process for each device, a thread for each thread.
std::string ToChromeTrace(const Profile& profile, absl::string_view platform);

}  // namespace hilo::profile

#endif  // HILO_RUNTIME_PROFILE_EXPORT_H_
