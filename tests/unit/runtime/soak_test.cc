// Nothing stays behind of programs that were compiled, run and given up.
#include <dirent.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hilo/client.h"

namespace hilo {
namespace {

int64_t EntriesOf(const char* folder) {
  int64_t count = 0;
  DIR* open = opendir(folder);
  while (readdir(open) != nullptr) ++count;
  closedir(open);
  return count;
}

int64_t Mappings() {
  std::ifstream maps("/proc/self/maps");
  int64_t count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

int64_t ResidentBytes() {
  int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * 4096;
}

// Programs that differ in shapes, ops and constants.
std::string Program(int i) {
  const char* const unary[] = {"negate", "exponential", "tanh", "abs", "sine"};
  const int rows = 3 + i % 11, columns = 5 + i % 7;
  const std::string shape = absl::StrCat("f32[", rows, ",", columns, "]");
  return absl::StrCat(
      "HloModule m\nsum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\nENTRY main {\n  "
      "x = ",
      shape, " parameter(0)\n  k = f32[] constant(", i, ")\n  b = ", shape,
      " broadcast(k), dimensions={}\n  y = ", shape, " ", unary[i % 5], "(x)\n  z = ", shape,
      " add(y, b)\n  zero = f32[] constant(0)\n  s = f32[", columns,
      "] reduce(z, zero), dimensions={0}, to_apply=sum\n  ROOT r = (", shape, ", f32[", columns, "]) tuple(z, s)\n}\n");
}

void CompileAndRun(Client* client, int i) {
  const auto executable = client->CompileHloText(Program(i));
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal x = *Literal::Create((*executable)->program_shape().parameters[0]);
  const auto result = (*executable)->ExecuteLiterals({&x});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_FALSE(client->CompileHloText(absl::StrCat(Program(i), "}")).ok());
}

TEST(SoakTest, ManyPrograms_LeaveNoMemory) {
  auto client = Client::Create({.num_threads = 2});
  ASSERT_TRUE(client.ok()) << client.status();
  for (int i = 0; i < 60; ++i) CompileAndRun(client->get(), i);
  const int64_t files = EntriesOf("/proc/self/fd"), threads = EntriesOf("/proc/self/task"), mappings = Mappings(),
                resident = ResidentBytes();
  for (int i = 60; i < 260; ++i) CompileAndRun(client->get(), i);
  EXPECT_EQ(EntriesOf("/proc/self/fd"), files);
  EXPECT_EQ(EntriesOf("/proc/self/task"), threads);
  EXPECT_LE(Mappings(), mappings + 8);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they keep what is freed
  EXPECT_LE(ResidentBytes(), resident + (int64_t{6} << 20));
#endif
  EXPECT_EQ((*client)->memory_stats().bytes_in_use, 0);
}

}  // namespace
}  // namespace hilo
