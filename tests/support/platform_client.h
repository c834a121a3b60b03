// A client of a platform, for tests that compare two of them.
#ifndef HILO_TESTS_SUPPORT_PLATFORM_CLIENT_H_
#define HILO_TESTS_SUPPORT_PLATFORM_CLIENT_H_

#include <memory>
#include <string>

#include "hilo/client.h"

namespace hilo {

// `threads`: of compilation and runs; 0: as many as the process may use.
inline std::unique_ptr<Client> ClientOf(const std::string& platform, int threads = 0) {
  ClientOptions options;
  options.platform = platform;
  options.num_threads = threads;
  return *Client::Create(options);
}

}  // namespace hilo

#endif  // HILO_TESTS_SUPPORT_PLATFORM_CLIENT_H_
