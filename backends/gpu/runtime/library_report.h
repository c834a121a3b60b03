// Reports which of NVIDIA's libraries and files are available, to explain why something is not used.
#ifndef HILO_BACKENDS_GPU_RUNTIME_LIBRARY_REPORT_H_
#define HILO_BACKENDS_GPU_RUNTIME_LIBRARY_REPORT_H_

#include <string>
#include <vector>

namespace hilo::gpu {

struct LibraryFinding {
  std::string name;   // "cuFFT"
  std::string found;  // its path, or why it is not available
};

// Returns all that the backend can use. Loads the libraries.
std::vector<LibraryFinding> FindLibraries();

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_RUNTIME_LIBRARY_REPORT_H_
