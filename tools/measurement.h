// The measurements of `hilo bench` of one program on one platform.
#ifndef HILO_TOOLS_MEASUREMENT_H_
#define HILO_TOOLS_MEASUREMENT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/session.h"

namespace hilo::tools {

// The peak throughput of a platform, measured by two programs: a sum of two long arrays and a product of two large
// matrices, both of f32.
struct Roofs {
  double gigabytes_per_second = 0, gigaflops = 0;

  // Returns true if the rates of a program, or of a part of one, go past the roof of memory: its arrays stay in caches.
  bool AreInCaches(double program_gigabytes_per_second, double program_gigaflops) const;
  // The fraction of the nearer roof that they reach, or "in caches".
  std::string FractionText(double program_gigabytes_per_second, double program_gigaflops) const;
};
// Errors: those of compiling and running.
absl::StatusOr<Roofs> MeasureRoofs(const std::string& platform, const Flags& flags);

struct Measurement {
  std::string program, platform;
  double compile_ms = 0;
  double estimated_ms = 0;     // of a run on one thread, by the compiler's cost model
  std::vector<double> run_ms;  // of each run, sorted; arguments and results are on the device
  double cpu_ms = 0;           // of a run: processor time of the whole process
  // Arguments from the host to the devices and results back, minimum of a few repetitions.
  double to_device_ms = 0, from_device_ms = 0;
  // Per run, on all devices: the sizes of the arguments and the results, and the cost of the program
  // (hlo/analysis/program_cost.h), if it was given as a module.
  double argument_bytes = 0, result_bytes = 0;
  std::optional<double> flops;
  std::optional<Roofs> roofs;  // none where times are not those of the machine
  // For the emulated GPU: one line per kernel, with the assembler's statistics.
  std::vector<std::string> kernels;

  double Quantile(double q) const;
  double MeanMs() const;
  // At the median.
  double GigabytesPerSecond() const;
  std::optional<double> Gigaflops() const;
  // The time that a machine at its roofs would take, over the median: 1 is perfect.
  std::optional<double> RoofFraction() const;
};

// Runs for some time after a warm-up; `iterations` 0: as many as fit into a second. Without --input and --inputs the
// arguments are random. Errors: those of compiling and running.
absl::StatusOr<Measurement> Measure(const Program& program, const std::string& platform, const Flags& flags,
                                    int64_t iterations);

// The platform's times are those of an emulation.
bool IsEmulated(const std::string& platform);

}  // namespace hilo::tools

#endif  // HILO_TOOLS_MEASUREMENT_H_
