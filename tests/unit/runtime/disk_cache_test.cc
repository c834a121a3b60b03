#include "runtime/disk_cache.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/log_sink.h"
#include "gtest/gtest.h"
#include "hilo/client.h"

namespace hilo {
namespace {

namespace fs = std::filesystem;

class DiskCacheTest : public ::testing::Test {
 protected:
  DiskCacheTest() {
    std::string name = (fs::temp_directory_path() / "hilo_disk_cache_XXXXXX").string();
    root_ = mkdtemp(name.data());
    folder_ = root_ + "/above/cache";
    SetLogSink([this](LogSeverity, absl::string_view message) { absl::StrAppend(&log_, message, "\n"); });
  }
  ~DiskCacheTest() override {
    SetLogSink(nullptr);
    fs::remove_all(root_);
  }

  std::unique_ptr<Client> MakeClient(int64_t limit = int64_t{1} << 30) const {
    auto client = Client::Create({.num_threads = 1, .cache_dir = folder_, .cache_limit = limit});
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }
  std::vector<fs::path> Entries() const {
    std::vector<fs::path> entries;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == ".hilo") entries.push_back(entry.path());
    }
    return entries;
  }
  // Makes the entry's last use `seconds` ago.
  static void Age(const std::string& path, int64_t seconds) {
    const timespec then = {.tv_sec = time(nullptr) - seconds, .tv_nsec = 0}, times[] = {then, then};
    EXPECT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }

  std::string root_, folder_, log_;
};

// `number` makes another program of it, a long one so that it has some bytes.
std::string ProgramText(int number) {
  return absl::StrCat("HloModule m\nENTRY e { x = f32[8] parameter(0) c = f32[] constant(", number,
                      ") b = f32[8] broadcast(c), dimensions={} s = f32[8] sine(x) ROOT r = f32[8] add(s, b) }");
}

void ExpectRight(const Executable& executable, int number) {
  const Literal zeros = *Literal::Create(ShapeUtil::MakeShape(F32, {8}));
  const auto result = executable.ExecuteLiterals({&zeros});
  ASSERT_TRUE(result.ok()) << result.status();
  for (const float value : result->data<float>()) EXPECT_EQ(value, static_cast<float>(number));
}

TEST_F(DiskCacheTest, WrittenEntries_AreReadUntilTheFolderIsFull) {
  DiskCache cache(folder_, 1000);
  EXPECT_EQ(cache.Read("a"), std::nullopt);
  for (const char* key : {"a", "b", "c", "d"}) {
    ASSERT_TRUE(cache.Write(key, std::string(240, *key)).ok());
    Age(cache.PathOf(key), 100 - *key);
  }
  EXPECT_EQ(cache.Read("a"), std::string(240, 'a'));  // used: not the oldest any more
  ASSERT_TRUE(cache.Write("e", std::string(240, 'e')).ok());
  EXPECT_EQ(cache.Read("b"), std::nullopt);
  EXPECT_EQ(cache.Read("c"), std::nullopt);
  for (const char* key : {"a", "d", "e"}) EXPECT_EQ(cache.Read(key), std::string(240, *key)) << key;
  EXPECT_EQ(cache.Write("f", std::string(1001, 'f')).code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(DiskCacheTest, EntriesThatAreNoFiles_AreMisses) {
  DiskCache cache(folder_, 1000);
  ASSERT_TRUE(cache.Write("a", "a").ok());
  ASSERT_EQ(mkfifo(cache.PathOf("pipe").c_str(), 0600), 0);
  ASSERT_EQ(mkdir(cache.PathOf("folder").c_str(), 0700), 0);
  ASSERT_EQ(symlink("/dev/zero", cache.PathOf("zeros").c_str()), 0);
  for (const char* key : {"pipe", "folder", "zeros"}) EXPECT_EQ(cache.Read(key), std::nullopt) << key;
  // A program takes the pipe's place; where nothing can, the client compiles without.
  ASSERT_TRUE(cache.Write("pipe", "b").ok());
  EXPECT_EQ(cache.Read("pipe"), "b");
  EXPECT_FALSE(cache.Write("folder", "b").ok());
  EXPECT_EQ(cache.stats().misses, 3);
}

TEST_F(DiskCacheTest, PathsWithNul_AreRefused) {
  const auto client = Client::Create({.num_threads = 1, .cache_dir = std::string("a\0b", 3)});
  EXPECT_EQ(client.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(client.status().message(), "cache_dir")) << client.status();
}

TEST_F(DiskCacheTest, OnlyTheOwnerMayWrite) {
  DiskCache cache(folder_, 1000);
  ASSERT_TRUE(cache.Write("a", "b").ok());
  struct stat facts;
  ASSERT_EQ(stat(folder_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700u);
  ASSERT_EQ(stat(cache.PathOf("a").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST_F(DiskCacheTest, UnfinishedFiles_AreRemoved) {
  ASSERT_TRUE(DiskCache(folder_, 1000).Write("a", "a").ok());
  const std::string old = folder_ + "/writing-old", fresh = folder_ + "/writing-new", foreign = folder_ + "/notes.txt";
  for (const std::string& path : {old, fresh, foreign}) std::ofstream(path) << "x";
  for (const std::string& path : {old, foreign}) Age(path, 7200);
  ASSERT_TRUE(DiskCache(folder_, 1000).Write("b", "b").ok());
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_TRUE(fs::exists(foreign));
}

TEST_F(DiskCacheTest, TheSecondClientCompilesNothing) {
  auto first = MakeClient();
  ExpectRight(**first->CompileHloText(ProgramText(5)), 5);
  EXPECT_EQ(first->cache_stats().misses, 1);
  EXPECT_EQ(first->cache_stats().writes, 1);
  auto second = MakeClient();
  ExpectRight(**second->CompileHloText(ProgramText(5)), 5);
  EXPECT_EQ(second->cache_stats().hits, 1);
  EXPECT_EQ(second->cache_stats().writes, 0);
  EXPECT_EQ(log_, "");
}

TEST_F(DiskCacheTest, EveryOptionThatMattersIsPartOfTheKey) {
  auto client = Client::Create({.device_count = 2, .num_threads = 1, .cache_dir = folder_});
  ASSERT_TRUE(client.ok());
  const CompileOptions options[] = {{},
                                    {.replica_count = 2},
                                    {.replica_count = 2, .devices = {1, 0}},
                                    {.num_partitions = 2},
                                    {.strict = true},
                                    {.flush_denormals = true},
                                    {.cpu = "x86-64"},
                                    {.disabled_passes = {"fuse"}},
                                    {.constant_folding_limit = 1}};
  for (int round = 0; round < 2; ++round) {
    for (const CompileOptions& one : options) {
      const auto executable = (*client)->CompileHloText(ProgramText(1), one);
      ASSERT_TRUE(executable.ok()) << executable.status();
    }
  }
  EXPECT_EQ((*client)->cache_stats().writes, static_cast<int64_t>(std::size(options)));
  EXPECT_EQ((*client)->cache_stats().hits, static_cast<int64_t>(std::size(options)));
}

TEST_F(DiskCacheTest, Dump_BypassesTheCache) {
  auto client = MakeClient();
  ASSERT_TRUE(client->CompileHloText(ProgramText(1)).ok());
  ASSERT_TRUE(client->CompileHloText(ProgramText(1), {.dump_dir = root_ + "/dump"}).ok());
  EXPECT_TRUE(fs::exists(root_ + "/dump/60.program.ll"));
  EXPECT_EQ(client->cache_stats().hits, 0);
}

TEST_F(DiskCacheTest, DamagedEntries_AreRecompiledAndReplaced) {
  MakeClient()->CompileHloText(ProgramText(2)).status().IgnoreError();
  ASSERT_EQ(Entries().size(), 1u);
  const fs::path entry = Entries()[0];
  const std::string whole = *ReadFile(entry.string());
  std::string flipped = whole;
  flipped[flipped.size() / 2] ^= 4;
  for (const std::string& damaged : {std::string(), whole.substr(0, 100), flipped, std::string(5000, 'x')}) {
    ASSERT_TRUE(WriteFile(entry.string(), damaged).ok());
    log_.clear();
    auto client = MakeClient();
    ExpectRight(**client->CompileHloText(ProgramText(2)), 2);
    EXPECT_EQ(client->cache_stats().rejected, 1);
    EXPECT_EQ(std::count(log_.begin(), log_.end(), '\n'), 1) << log_;
    EXPECT_TRUE(absl::StrContains(log_, entry.string())) << log_;
    EXPECT_EQ(*ReadFile(entry.string()), whole);
  }
}

TEST_F(DiskCacheTest, EntryUnderAnotherName_IsRefused) {
  auto client = MakeClient();
  ASSERT_TRUE(client->CompileHloText(ProgramText(1)).ok());
  const fs::path first = Entries()[0];
  ASSERT_TRUE(client->CompileHloText(ProgramText(2)).ok());
  for (const fs::path& entry : Entries()) {
    if (entry != first) fs::copy_file(first, entry, fs::copy_options::overwrite_existing);
  }
  ExpectRight(**client->CompileHloText(ProgramText(2)), 2);
  EXPECT_EQ(client->cache_stats().rejected, 1);
  EXPECT_TRUE(absl::StrContains(log_, "another module")) << log_;
}

TEST_F(DiskCacheTest, FolderThatCannotBeCreated_IsAWarning) {
  std::ofstream(root_ + "/above") << "a file";
  auto client = MakeClient();
  ExpectRight(**client->CompileHloText(ProgramText(3)), 3);
  EXPECT_TRUE(absl::StrContains(log_, folder_)) << log_;
  EXPECT_EQ(client->cache_stats().writes, 0);
}

TEST_F(DiskCacheTest, FullDisk_IsAWarning) {
  DiskCache cache(folder_, 1000);
  ASSERT_TRUE(cache.Write("a", "a").ok());
  // A limit on the size of files stands for a full disk.
  struct rlimit before, small;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = 10;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::Status status = cache.Write("b", std::string(100, 'b'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_EQ(cache.Read("b"), std::nullopt);
  for (const auto& entry : fs::directory_iterator(folder_))
    EXPECT_FALSE(absl::StartsWith(entry.path().filename().string(), "writing")) << entry;
}

TEST_F(DiskCacheTest, CustomCallsWithTheirAttributesAreKept) {
  const auto text = [](int pointer) {
    return absl::StrCat(
        "HloModule m\nENTRY e { ROOT r = s32[] custom-call(), custom_call_target=\"disk_cache_test.value\", ",
        "api_version=API_VERSION_STATUS_RETURNING_UNIFIED, backend_config=\"", pointer, "\" }");
  };
  const auto value = +[](void* out, const void**, const char* opaque, size_t, XlaCustomCallStatus*) {
    *static_cast<int32_t*>(out) = opaque[0] - '0';
  };
  auto client = MakeClient();
  ASSERT_TRUE(client->custom_call_registry()->Register("disk_cache_test.value", value).ok());
  for (const int pointer : {1, 2, 1, 2}) {
    const auto executable = client->CompileHloText(text(pointer));
    ASSERT_TRUE(executable.ok()) << executable.status();
    EXPECT_EQ((*executable)->ExecuteLiterals({})->ToString(false), absl::StrCat(pointer));
  }
  EXPECT_EQ(client->cache_stats().hits, 2);
  // Who has no such function is told so, as without a cache.
  EXPECT_EQ(MakeClient()->CompileHloText(text(1)).status().code(), absl::StatusCode::kNotFound);
}

constexpr int kCachedPrograms = 12;

// What each process of the next test does; not a test of its own.
TEST(DiskCacheWorker, DISABLED_CompilesAndRuns) {
  const char* folder = std::getenv("HILO_CACHE_DIR");
  ASSERT_NE(folder, nullptr);
  for (int round = 0; round < 4; ++round) {
    // Room for some of the programs only: while some are written, others go.
    auto client = Client::Create({.num_threads = 1, .cache_limit = 20000});
    ASSERT_TRUE(client.ok()) << client.status();
    for (int i = 0; i < kCachedPrograms; ++i) {
      const int number = (i * 5 + static_cast<int>(getpid()) + round) % kCachedPrograms;
      const auto executable = (*client)->CompileHloText(ProgramText(number));
      ASSERT_TRUE(executable.ok()) << executable.status();
      ExpectRight(**executable, number);
    }
    EXPECT_EQ((*client)->cache_stats().rejected, 0);
  }
}

TEST_F(DiskCacheTest, EightProcessesShareAFolder) {
  const std::string variable = "HILO_CACHE_DIR=" + folder_;
  std::string arguments[] = {"/proc/self/exe", "--gtest_filter=DiskCacheWorker.*", "--gtest_also_run_disabled_tests"};
  char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(), nullptr};
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  std::string copy = variable;
  environment.push_back(copy.data());
  environment.push_back(nullptr);
  std::vector<pid_t> children(8);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, (root_ + "/output").c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                   0600);
  for (pid_t& child : children)
    ASSERT_EQ(posix_spawn(&child, "/proc/self/exe", &quiet, nullptr, argv, environment.data()), 0);
  posix_spawn_file_actions_destroy(&quiet);
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << "\n" << *ReadFile(root_ + "/output");
  }
  // Nothing is left half written, and every entry that is left is whole.
  auto client = MakeClient();
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    EXPECT_FALSE(absl::StartsWith(name, "writing")) << name;
    if (absl::EndsWith(name, ".hilo")) {
      EXPECT_TRUE(client->Load(*ReadFile(entry.path().string())).ok()) << name;
    }
  }
  EXPECT_FALSE(Entries().empty());
}

}  // namespace
}  // namespace hilo
