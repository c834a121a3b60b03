// Fields of dimension numbers with the accessors that XLA's protos have.
#ifndef HILO_HLO_OPS_LINALG_DIMENSION_NUMBER_FIELDS_H_
#define HILO_HLO_OPS_LINALG_DIMENSION_NUMBER_FIELDS_H_

#include <cstdint>
#include <vector>

#define HILO_REPEATED_FIELD(name)                                      \
  const std::vector<int64_t>& name() const { return name##_; }         \
  std::vector<int64_t>* mutable_##name() { return &name##_; }          \
  int name##_size() const { return static_cast<int>(name##_.size()); } \
  int64_t name(int i) const { return name##_[i]; }                     \
  void add_##name(int64_t value) { name##_.push_back(value); }         \
  std::vector<int64_t> name##_
#define HILO_SINGLE_FIELD(name)                       \
  int64_t name() const { return name##_; }            \
  void set_##name(int64_t value) { name##_ = value; } \
  int64_t name##_ = 0

#endif  // HILO_HLO_OPS_LINALG_DIMENSION_NUMBER_FIELDS_H_
