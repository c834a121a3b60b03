// ChannelHandle: the number of a channel between devices, or a device and the host. XLA's names and
// accessors.
#ifndef HILO_HLO_BUILDER_CHANNEL_HANDLE_H_
#define HILO_HLO_BUILDER_CHANNEL_HANDLE_H_

#include <cstdint>

namespace hilo {

class ChannelHandle {
 public:
  enum ChannelType { CHANNEL_TYPE_INVALID = 0, DEVICE_TO_DEVICE = 1, DEVICE_TO_HOST = 2, HOST_TO_DEVICE = 3 };

  int64_t handle() const { return handle_; }
  void set_handle(int64_t handle) { handle_ = handle; }
  ChannelType type() const { return type_; }
  void set_type(ChannelType type) { type_ = type; }

 private:
  int64_t handle_ = 0;
  ChannelType type_ = CHANNEL_TYPE_INVALID;
};

}  // namespace hilo

#endif  // HILO_HLO_BUILDER_CHANNEL_HANDLE_H_
