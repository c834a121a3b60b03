// Communicators that record every call before another library's communicators perform it, and that inject faults: for
// tests.
#ifndef HILO_TESTS_SUPPORT_RECORDING_COMMUNICATOR_H_
#define HILO_TESTS_SUPPORT_RECORDING_COMMUNICATOR_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/gpu/collectives/device_communicator.h"

namespace hilo::gpu {

struct CommunicatorFault {
  enum class Kind : uint8_t {
    kNone,
    kNeverComes,  // the rank does not make the call until its run has ended
    kAborts,      // its communicator breaks at the call
    kSlow,        // it makes the call 50 ms late
    kWrongCount,  // it sends and receives one element less
    kRefused,     // the group that contains it is rejected at its end, and nothing breaks
  };
  Kind kind = Kind::kNone;
  int device = 0;    // of the call
  int64_t call = 0;  // the index of the call on the device, from 0
};

// State shared by recording communicators and the test. Thread-safe.
class CommunicatorLog {
 public:
  void Note(int device, std::string line);
  // Returns the calls of a device since the last Take, in order: "AllReduce 4 f32 sum", "Split color 0 key 1".
  std::vector<std::string> Take(int device);

  void SetFault(const CommunicatorFault& fault);
  // Counts the device's next call, and returns its fault.
  CommunicatorFault::Kind NextFault(int device);

 private:
  std::mutex mutex_;
  std::map<int, std::vector<std::string>> lines_;
  std::map<int, int64_t> calls_;
  CommunicatorFault fault_;
};

std::shared_ptr<DeviceCommunicatorLibrary> CreateRecordingLibrary(std::shared_ptr<DeviceCommunicatorLibrary> library,
                                                                  std::shared_ptr<CommunicatorLog> log);

}  // namespace hilo::gpu

#endif  // HILO_TESTS_SUPPORT_RECORDING_COMMUNICATOR_H_
