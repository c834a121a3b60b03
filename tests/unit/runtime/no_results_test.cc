// Errors of programs whose results have no arrays to await.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hilo/client.h"
#include "hilo/ffi.h"

namespace hilo {
namespace {

void Fail(void*, const void**, XlaCustomCallStatus* status) {
  XlaCustomCallStatusSetFailure(status, "no luck today", 13);
}

// Long enough that it is not run by the call that launches it.
constexpr char kLongProgram[] = R"(HloModule long, replica_count=$0
condition { s = (s32[], f32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  end = s32[] constant(30000)
            ROOT t = pred[] compare(i, end), direction=LT }
body { s = (s32[], f32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  one = s32[] constant(1)
       j = s32[] add(i, one)  x = f32[] get-tuple-element(s), index=1  y = f32[] sine(x)
       ROOT t = (s32[], f32[]) tuple(j, y) }
ENTRY main { i = s32[] constant(0)  x = f32[] constant(1)  s = (s32[], f32[]) tuple(i, x)
             w = (s32[], f32[]) while(s), condition=condition, body=body
             ROOT y = f32[] get-tuple-element(w), index=1 })";

struct Case {
  const char* name;
  const char* root;
  bool has_leaves;
};

class NoResultsTest : public testing::TestWithParam<std::tuple<const char*, int, Case>> {
 protected:
  NoResultsTest() : client_(*Client::Create({.platform = std::get<0>(GetParam()), .device_count = devices()})) {
    EXPECT_TRUE(client_->custom_call_registry()->Register("fail", &Fail).ok());
  }
  static int devices() { return std::get<1>(GetParam()); }
  std::unique_ptr<Executable> Compile(std::string text) {
    text.replace(text.find("$0"), 2, absl::StrCat(devices()));
    auto executable = client_->CompileHloText(text);
    EXPECT_TRUE(executable.ok()) << executable.status();
    return executable.ok() ? *std::move(executable) : nullptr;
  }
  absl::StatusOr<Executable::ReplicatedResults> Run(const Executable& executable,
                                                    const std::vector<std::vector<Buffer*>>& arguments,
                                                    const ExecuteOptions& options) {
    if (devices() > 1) return executable.ExecuteReplicated(arguments, options);
    auto results = executable.Execute(arguments[0], options);
    if (!results.ok()) return results.status();
    Executable::ReplicatedResults all;
    all.push_back(*std::move(results));
    return all;
  }

  std::unique_ptr<Client> client_;
};

TEST_P(NoResultsTest, ErrorsAreReported) {
  const Case& program = std::get<2>(GetParam());
  const auto prepare = Compile(kLongProgram);
  const auto failing = Compile(absl::StrCat(R"(HloModule fails, replica_count=$0
ENTRY main { x = f32[] parameter(0)
  call = f32[] custom-call(x), custom_call_target="fail", api_version=API_VERSION_STATUS_RETURNING,
         custom_call_has_side_effect=true
)",
                                            program.root, " }"));
  ASSERT_NE(prepare, nullptr);
  ASSERT_NE(failing, nullptr);
  for (const bool ready : {true, false}) {
    for (const bool takes_ends : {true, false}) {
      SCOPED_TRACE(absl::StrCat(ready ? "ready" : "pending", takes_ends ? ", with events" : ""));
      const auto inputs = Run(*prepare, std::vector<std::vector<Buffer*>>(devices()), {.synchronous = ready});
      ASSERT_TRUE(inputs.ok()) << inputs.status();
      std::vector<std::vector<Buffer*>> arguments;
      for (const auto& of_device : *inputs) arguments.push_back({of_device[0].get()});
      std::vector<std::shared_ptr<Event>> ends;
      ExecuteOptions options;
      if (takes_ends) options.ends = &ends;
      const auto results = Run(*failing, arguments, options);
      // One error, from the call, the events or the results.
      absl::Status status = results.status();
      for (const auto& end : ends) status.Update(end == nullptr ? absl::OkStatus() : end->Await());
      if (status.ok() && program.has_leaves) status = (*results)[0][0]->Await();
      EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs, NoResultsTest,
    testing::Combine(testing::Values("interpreter", "cpu"), testing::Values(1, 2),
                     testing::Values(Case{"none", "ROOT r = () tuple()", false},
                                     Case{"nested", "e = () tuple()  ROOT r = ((), ()) tuple(e, e)", false},
                                     Case{"token", "ROOT r = token[] after-all()", true})),
    [](const auto& info) {
      return absl::StrCat(std::get<0>(info.param), std::get<1>(info.param), "_", std::get<2>(info.param).name);
    });

}  // namespace
}  // namespace hilo
