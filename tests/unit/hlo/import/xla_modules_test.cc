// Modules that XLA wrote (tests/programs/proto/generate.py), run and compared with XLA's results.
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/file.h"
#include "gtest/gtest.h"
#include "hilo/client.h"
#include "hilo/npy.h"
#include "hlo/import/hlo_proto.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"
#include "runtime/runtime_access.h"

namespace hilo {
namespace {

constexpr char kFolder[] = "tests/programs/proto";

absl::StatusOr<std::unique_ptr<HloModule>> Load(const std::string& path) {
  auto bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  return absl::EndsWith(path, ".hlo") ? ParseHloModule(*bytes, {.file_name = path}) : HloModuleFromProto(*bytes);
}

// Arrays called `prefix`0, `prefix`1 ...
std::vector<const Literal*> Named(const std::vector<NamedLiteral>& arrays, absl::string_view prefix) {
  std::vector<const Literal*> found;
  for (bool more = true; more;) {
    more = false;
    for (const NamedLiteral& array : arrays) {
      if (array.name != absl::StrCat(prefix, found.size())) continue;
      found.push_back(&array.literal);
      more = true;
    }
  }
  return found;
}

void RunOn(const std::string& platform, const std::string& path, const std::vector<NamedLiteral>& arrays) {
  SCOPED_TRACE(absl::StrCat(path, " on ", platform));
  auto module = Load(path);
  ASSERT_TRUE(module.ok()) << module.status();
  auto client = Client::Create({.platform = platform});
  ASSERT_TRUE(client.ok()) << client.status();
  auto executable = RuntimeAccess::Compile(client->get(), *std::move(module));
  ASSERT_TRUE(executable.ok()) << executable.status();
  auto result = (*executable)->ExecuteLiterals(Named(arrays, "arg"));
  ASSERT_TRUE(result.ok()) << result.status();
  const std::vector<const Literal*> expected = Named(arrays, "out");
  ASSERT_EQ(result->shape().IsTuple() ? result->tuple_size() : 1, static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    const Literal& actual = result->shape().IsTuple() ? result->element(static_cast<int64_t>(i)) : *result;
    EXPECT_EQ(CompareLiterals(*expected[i], actual, {.absolute = 1e-5, .relative = 1e-5}), absl::OkStatus())
        << "out" << i;
  }
}

TEST(XlaModulesTest, Results_AreThoseOfXla) {
  int modules = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const std::string path = entry.path().string();
    if (!absl::EndsWith(path, ".pb") && !absl::EndsWith(path, ".hlo")) continue;
    ++modules;
    const absl::string_view stem =
        absl::StripSuffix(absl::StripSuffix(absl::StripSuffix(path, ".hlo"), ".pb"), ".optimized");
    const auto arrays = ReadNpz(absl::StrCat(stem, ".npz"));
    ASSERT_TRUE(arrays.ok()) << arrays.status();
    for (const char* platform : {"interpreter", "cpu"}) RunOn(platform, path, *arrays);
  }
  EXPECT_GE(modules, 18);
}

// The text of an optimized module and its proto are the same module.
TEST(XlaModulesTest, TextAndProtoAgree) {
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const std::string path = entry.path().string();
    if (!absl::EndsWith(path, ".hlo")) continue;
    SCOPED_TRACE(path);
    auto text = Load(path);
    auto proto = Load(absl::StrCat(absl::StripSuffix(path, ".hlo"), ".pb"));
    ASSERT_TRUE(text.ok() && proto.ok()) << text.status() << proto.status();
    (*text)->extra_attributes().clear();  // the propagation of shardings, for which protos have no field
    EXPECT_EQ(PrintHloModule(**proto), PrintHloModule(**text));
  }
}

}  // namespace
}  // namespace hilo
