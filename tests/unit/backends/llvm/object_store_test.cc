#include "backends/llvm/jit/object_store.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/llvm/jit/host_jit.h"
#include "base/file.h"
#include "base/log_sink.h"
#include "hilo/client.h"
#include "hilo/version.h"
#include "tests/support/ir_text.h"

namespace hilo::codegen {
namespace {

namespace fs = std::filesystem;

class ObjectStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (BuildId().empty()) GTEST_SKIP() << "this build has no identity";
    std::string name = (fs::temp_directory_path() / "hilo_objects_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    SetLogSink([this](LogSeverity, absl::string_view message) { absl::StrAppend(&log_, message, "\n"); });
  }
  void TearDown() override {
    SetLogSink(nullptr);
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  std::unique_ptr<ObjectStore> Open() const { return ObjectStore::Open(folder_, int64_t{1} << 24); }
  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == ".hilo") files.push_back(entry.path().string());
    }
    return files;
  }

  std::string folder_, log_;
};

TEST_F(ObjectStoreTest, OtherProcessesFindObjects) {
  Open()->Insert("key", "object");
  EXPECT_EQ(Open()->Find("key"), "object");
  EXPECT_FALSE(Open()->Find("other").has_value());
  EXPECT_EQ(log_, "");
  EXPECT_EQ(ObjectStore::Open("", 1000), nullptr);
}

TEST_F(ObjectStoreTest, DamagedEntriesAreNotFound) {
  Open()->Insert("key", "object");
  ASSERT_EQ(Files().size(), 1u);
  const std::string file = Files()[0], whole = *ReadFile(file);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    ASSERT_TRUE(WriteFile(file, damaged).ok());
    EXPECT_FALSE(Open()->Find("key").has_value()) << i;
    ASSERT_TRUE(WriteFile(file, whole.substr(0, i)).ok());
    EXPECT_FALSE(Open()->Find("key").has_value()) << i;
  }
  EXPECT_TRUE(absl::StrContains(log_, file)) << log_;
  Open()->Insert("key", "object");
  EXPECT_EQ(Open()->Find("key"), "object");
}

TEST_F(ObjectStoreTest, EntryOfAnotherKeyIsNotFound) {
  Open()->Insert("one", "object");
  const std::string first = Files()[0];
  Open()->Insert("two", "other object");
  for (const std::string& file : Files()) {
    if (file != first) fs::copy_file(first, file, fs::copy_options::overwrite_existing);
  }
  EXPECT_FALSE(Open()->Find("two").has_value());
}

TEST_F(ObjectStoreTest, WhatCannotBeWrittenIsOneWarning) {
  const auto store = ObjectStore::Open(folder_, 10);
  store->Insert("key", std::string(100, 'x'));
  store->Insert("other", std::string(100, 'x'));
  EXPECT_EQ(std::count(log_.begin(), log_.end(), '\n'), 1) << log_;
}

TEST_F(ObjectStoreTest, ModulesOfProgramsWithSeveralAreStored) {
  const auto store = Open();
  absl::StatusOr<std::unique_ptr<HostJit>> jit = HostJit::Create({.store = store.get()});
  ASSERT_TRUE(jit.ok()) << jit.status();
  const auto compile = [&](std::vector<std::string> texts) {
    std::vector<HostModule> modules;
    for (const std::string& text : texts) modules.push_back(*ParseIr(text));
    absl::StatusOr<std::vector<std::string>> objects = (*jit)->CompileToObjects(std::move(modules));
    EXPECT_TRUE(objects.ok()) << objects.status();
  };
  const std::string one = "define i64 @stored_one(i64 %x) { %y = add i64 %x, 71  ret i64 %y }";
  const std::string two = "define i64 @stored_two(i64 %x) { %y = add i64 %x, 72  ret i64 %y }";
  const std::string three = "define i64 @stored_two(i64 %x) { %y = add i64 %x, 73  ret i64 %y }";
  const std::string alone = "define i64 @stored_alone(i64 %x) { %y = add i64 %x, 74  ret i64 %y }";
  compile({one, two});
  EXPECT_EQ(Files().size(), 2u);
  compile({one, three});
  EXPECT_EQ(Files().size(), 3u);
  compile({alone});
  EXPECT_EQ(Files().size(), 3u);
}

// Arrays of some thousand operations: modules of 1,500 at most, of which an edited instruction changes one.
TEST_F(ObjectStoreTest, EditedProgramSharesObjects) {
  const auto text = [](absl::string_view op, double edited) {
    std::string text = "HloModule m\nENTRY main {\n  x0 = f64[200] parameter(0)\n";
    const int count = 30;
    for (int i = 1; i <= count; ++i) {
      absl::StrAppend(&text, "  c", i, " = f64[] constant(", i == count / 2 ? edited : i + 0.5, ")\n  b", i,
                      " = f64[200] broadcast(c", i, "), dimensions={}\n  s", i, " = f64[200] ",
                      i % 2 == 0 ? "sine" : "tanh", "(x", i - 1, ")\n  r", i, " = f64[200] reverse(s", i,
                      "), dimensions={0}\n  y", i, " = f64[200] add(r", i, ", s", i, ")\n  x", i, " = f64[200] ", op,
                      "(y", i, ", b", i, ")\n");
    }
    return absl::StrCat(text, "  ROOT z = f64[200] negate(x", count, ")\n}");
  };
  const auto compile = [&](absl::string_view op, double edited) {
    auto client = Client::Create({.num_threads = 1, .cache_dir = folder_});
    ASSERT_TRUE(client.ok()) << client.status();
    const auto executable = (*client)->CompileHloText(text(op, edited));
    ASSERT_TRUE(executable.ok()) << executable.status();
  };
  compile("maximum", 1.25);
  size_t before = Files().size();
  ASSERT_GE(before, 4u);
  compile("maximum", 1.75);
  EXPECT_EQ(Files().size(), before + 2);  // the program, and the module with the edited kernel
  compile("multiply", 1.25);
  before = Files().size();
  compile("multiply", 1.75);
  EXPECT_EQ(Files().size(), before + 1);  // the program: equal kernels read the factor from memory
}

}  // namespace
}  // namespace hilo::codegen
