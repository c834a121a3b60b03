#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/byte_stream.h"
#include "collectives/processes/sockets.h"
#include "collectives/processes/tcp_store.h"
#include "gtest/gtest.h"
#include "hilo/collectives.h"

namespace hilo {
namespace {

absl::Time In(absl::Duration duration) { return absl::Now() + duration; }

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = "/tmp/hilo_store_XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Each store, and a second handle of another process where there is one.
class KeyValueStoreTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string kind = GetParam();
    if (kind == "process") {
      store_ = other_ = MakeInProcessStore();
    } else if (kind == "callbacks") {
      auto inner = MakeInProcessStore();
      store_ = MakeCallbackStore({
          .set = [inner](absl::string_view key, absl::string_view value) { return inner->Set(key, value); },
          .get = [inner](absl::string_view key,
                         absl::Duration timeout) { return inner->Get(key, absl::Now() + timeout); },
          .try_get = [inner](absl::string_view key) { return inner->TryGet(key); },
          .erase = [inner](absl::string_view key) { return inner->Delete(key); },
      });
      other_ = inner;
    } else if (kind == "file") {
      store_ = *OpenStore(absl::StrCat("file://", folder_.path(), "/a/b"), "", true);
      other_ = *OpenStore(absl::StrCat("file://", folder_.path(), "/a/b"), "", false);
    } else {
      auto server = *TcpStoreServer::Start({"127.0.0.1", 0}, "token");
      store_ = MakeTcpStore({"127.0.0.1", server->port()}, "token", server);
      other_ = MakeTcpStore({"127.0.0.1", server->port()}, "token");
    }
  }
  TemporaryFolder folder_;
  std::shared_ptr<KeyValueStore> store_, other_;
};
INSTANTIATE_TEST_SUITE_P(Stores, KeyValueStoreTest, testing::Values("process", "callbacks", "file", "tcp"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(KeyValueStoreTest, ValuesSetByOneRank_ReachTheOther) {
  std::string bytes(100'000, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  const std::string strange("a/../b\0\n\xff", 9);
  const std::string longest(kMaxKeyBytes, 'k');
  for (const std::string& key : {std::string("k"), strange, longest}) {
    ASSERT_EQ(store_->Set(key, bytes), absl::OkStatus());
    EXPECT_EQ(*other_->TryGet(key), bytes);
    ASSERT_EQ(other_->Set(key, ""), absl::OkStatus());
    EXPECT_EQ(*store_->Get(key, In(absl::Seconds(5))), "");
    ASSERT_EQ(store_->Delete(key), absl::OkStatus());
    ASSERT_EQ(store_->Delete(key), absl::OkStatus());
    EXPECT_EQ(other_->TryGet(key).status().code(), absl::StatusCode::kNotFound);
  }
}

TEST_P(KeyValueStoreTest, GetWaits) {
  std::thread later([&] {
    absl::SleepFor(absl::Milliseconds(30));
    EXPECT_EQ(other_->Set("later", "x"), absl::OkStatus());
  });
  EXPECT_EQ(*store_->Get("later", In(absl::Seconds(20))), "x");
  later.join();
}

TEST_P(KeyValueStoreTest, GetEndsAtItsDeadline) {
  const absl::Time start = absl::Now();
  const auto value = store_->Get("never", In(absl::Milliseconds(50)));
  EXPECT_EQ(value.status().code(), absl::StatusCode::kDeadlineExceeded) << value.status();
  EXPECT_TRUE(absl::StrContains(value.status().message(), "never")) << value.status();
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(45));
  EXPECT_LT(absl::Now() - start, absl::Seconds(2));
}

TEST_P(KeyValueStoreTest, GetMany_WaitsForAll) {
  std::vector<std::string> keys, expected;
  for (int i = 0; i < 40; ++i) {
    keys.push_back(absl::StrCat("many/", i));
    expected.push_back(absl::StrCat(i * i));
  }
  expected[7] = "";
  const auto set = [&](int begin, int step) {
    for (int i = begin; i < 40; i += step) EXPECT_EQ(other_->Set(keys[i], expected[i]), absl::OkStatus());
  };
  set(0, 2);
  std::thread later([&] {
    absl::SleepFor(absl::Milliseconds(30));
    set(1, 2);
  });
  const auto values = store_->GetMany(keys, In(absl::Seconds(20)));
  later.join();
  ASSERT_TRUE(values.ok()) << values.status();
  for (int i = 0; i < 40; ++i) EXPECT_EQ((*values)[i], expected[i]);
  EXPECT_TRUE(store_->GetMany({}, In(absl::Seconds(20)))->empty());
  EXPECT_EQ(store_->GetMany({"many/3", "many/3"}, absl::InfinitePast())->back(), "9");
}

TEST_P(KeyValueStoreTest, GetMany_HasAtItsDeadlineWhatIsSet) {
  ASSERT_EQ(store_->Set("b", "x"), absl::OkStatus());
  for (const absl::Duration wait : {absl::Milliseconds(50), -absl::Seconds(1), -absl::InfiniteDuration()}) {
    const absl::Time start = absl::Now();
    const auto values = store_->GetMany({"a", "b", "c"}, start + wait);
    ASSERT_TRUE(values.ok()) << values.status();
    EXPECT_EQ(*values, (std::vector<std::optional<std::string>>{std::nullopt, "x", std::nullopt}));
    EXPECT_GE(absl::Now() - start, wait - absl::Milliseconds(5));
    EXPECT_LT(absl::Now() - start, absl::Seconds(2));
  }
}

TEST_P(KeyValueStoreTest, GetMany_RefusesTooManyKeys) {
  const std::vector<std::string> most(kMaxKeysAtOnce, "k"), more(kMaxKeysAtOnce + 1, "k");
  ASSERT_EQ(store_->Set("k", ""), absl::OkStatus());
  EXPECT_TRUE(store_->GetMany(most, In(absl::Seconds(20))).ok());
  EXPECT_EQ(store_->GetMany(more, In(absl::Seconds(20))).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->GetMany({"k", ""}, In(absl::Seconds(20))).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(KeyValueStoreTest, RefusesKeysAndValuesOutOfRange) {
  EXPECT_EQ(store_->Set("", "x").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->TryGet(std::string(kMaxKeyBytes + 1, 'k')).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->Set("k", std::string(kMaxValueBytes + 1, 'v')).code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(KeyValueStoreTest, BarrierHoldsUntilAllAreThere) {
  constexpr int kCount = 4;
  std::atomic<int> arrived{0};
  std::vector<std::thread> threads;
  for (int process = 0; process < kCount; ++process) {
    threads.emplace_back([&, process] {
      absl::SleepFor(absl::Milliseconds(10 * process));
      ++arrived;
      EXPECT_EQ(Barrier(process % 2 == 0 ? *store_ : *other_, "b", process, kCount, In(absl::Seconds(20))),
                absl::OkStatus());
      EXPECT_EQ(arrived, kCount);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(KeyValueStoreTest, Barrier_NamesMissingRanks) {
  ASSERT_EQ(store_->Set("b/2", ""), absl::OkStatus());
  const absl::Status status = Barrier(*store_, "b", 0, 4, In(absl::Milliseconds(30)));
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(absl::StrContains(status.message(), "processes 1, 3 of 4")) << status;
}

TEST(OpenStoreTest, RefusesOtherAddresses) {
  for (const char* address :
       {"", "host", "host:", "host:x", "host:0", "host:70000", ":80", "a:b:1", "[::1]", "file://relative"}) {
    EXPECT_EQ(OpenStore(address, "token", false).status().code(), absl::StatusCode::kInvalidArgument) << address;
  }
  const auto without_token = OpenStore("127.0.0.1:1", "", false);
  EXPECT_TRUE(absl::StrContains(without_token.status().message(), "HILO_JOB_TOKEN")) << without_token.status();
}

TEST(TcpStoreTest, RequiresTheToken) {
  auto server = *TcpStoreServer::Start({"127.0.0.1", 0}, "right");
  auto store = MakeTcpStore({"127.0.0.1", server->port()}, "wrong");
  EXPECT_EQ(store->Set("k", "v").code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(store->TryGet("k").status().code(), absl::StatusCode::kPermissionDenied);
}

TEST(TcpStoreTest, NoServer) {
  int port;
  {
    auto server = *TcpStoreServer::Start({"127.0.0.1", 0}, "t");
    port = server->port();
  }
  auto store = MakeTcpStore({"127.0.0.1", port}, "t", nullptr, absl::Milliseconds(50));
  const auto value = store->TryGet("k");
  EXPECT_EQ(value.status().code(), absl::StatusCode::kUnavailable) << value.status();
  EXPECT_TRUE(absl::StrContains(value.status().message(), absl::StrCat("127.0.0.1:", port))) << value.status();
}

TEST(TcpStoreTest, WaitsForItsServer) {
  int port;
  {
    auto server = *TcpStoreServer::Start({"127.0.0.1", 0}, "t");
    port = server->port();
  }
  std::shared_ptr<TcpStoreServer> late;
  std::thread starter([&] {
    absl::SleepFor(absl::Milliseconds(50));
    late = *TcpStoreServer::Start({"127.0.0.1", port}, "t");
  });
  EXPECT_EQ(MakeTcpStore({"127.0.0.1", port}, "t")->Set("k", "v"), absl::OkStatus());
  starter.join();
}

// A client that says anything at all, in pieces, and leaves or stays: the others go on.
TEST(TcpStoreTest, MalformedClients_AreDisconnected) {
  auto server = *TcpStoreServer::Start({"127.0.0.1", 0}, "token");
  const Endpoint endpoint = {"127.0.0.1", server->port()};
  auto store = MakeTcpStore(endpoint, "token");
  std::mt19937 random(1);
  std::vector<FileDescriptor> lingering;
  for (int round = 0; round < 200; ++round) {
    FileDescriptor socket = *Connect(endpoint, In(absl::Seconds(5)));
    std::string bytes(random() % 200, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % 4 == 0 ? random() : 0);
    if (round % 2 == 0 && bytes.size() >= 8) {  // a size that fits, or nearly
      for (size_t i = 0; i < 8; ++i) bytes[i] = 0;
      bytes[0] = static_cast<char>(bytes.size() - 8 + random() % 2);
    }
    SendAll(socket, bytes, In(absl::Seconds(5))).IgnoreError();
    if (round % 3 == 0) lingering.push_back(std::move(socket));
    if (round % 20 == 0) {
      ASSERT_EQ(store->Set("k", absl::StrCat(round)), absl::OkStatus());
      ASSERT_EQ(*store->TryGet("k"), absl::StrCat(round));
    }
  }
  EXPECT_EQ(*store->TryGet("k"), "180");
}

TEST(TcpStoreTest, GetMany_RefusesMoreBytesThanAnAnswerHas) {
  auto server = *TcpStoreServer::Start({"127.0.0.1", 0}, "token");
  auto store = MakeTcpStore({"127.0.0.1", server->port()}, "token");
  ASSERT_EQ(store->Set("k", std::string(kMaxValueBytes, 'v')), absl::OkStatus());
  EXPECT_EQ(store->GetMany(std::vector<std::string>(4, "k"), In(absl::Seconds(20)))->size(), 4);
  const auto values = store->GetMany(std::vector<std::string>(5, "k"), In(absl::Seconds(20)));
  EXPECT_EQ(values.status().code(), absl::StatusCode::kResourceExhausted) << values.status();
}

// The status of a request with the token; nothing if the connection is closed, or waits.
std::optional<absl::StatusCode> CodeOfRequest(const Endpoint& endpoint, const std::string& after_token) {
  ByteWriter request;
  request.Text("token");
  request.Raw(after_token);
  ByteWriter message;
  message.U64(request.bytes().size());
  message.Raw(request.bytes());
  FileDescriptor socket = *Connect(endpoint, In(absl::Seconds(5)));
  SendAll(socket, message.bytes(), In(absl::Seconds(5))).IgnoreError();
  const auto head = ReceiveExactly(socket, 12, In(absl::Milliseconds(200)));
  if (!head.ok()) return std::nullopt;
  ByteReader in(*head, "answer");
  const uint64_t bytes = in.U64();
  const auto code = static_cast<absl::StatusCode>(in.U32());
  // The answer is whole: its message, and its values.
  const auto rest = ReceiveExactly(socket, static_cast<int64_t>(bytes) - 4, In(absl::Seconds(5)));
  if (!rest.ok()) return absl::StatusCode::kInternal;
  ByteReader answer(*rest, "answer");
  const absl::string_view said = answer.Text();
  for (uint64_t values = answer.Count(9); values > 0; --values) {
    answer.Bool();
    answer.Text();
  }
  if (!answer.Finish().ok() || (code != absl::StatusCode::kOk) == said.empty()) return absl::StatusCode::kInternal;
  return code;
}

std::string RequestBytes(uint32_t operation, const std::vector<std::string>& keys, const std::string& value,
                         int64_t milliseconds) {
  ByteWriter out;
  out.U32(operation);
  out.U64(keys.size());
  for (const std::string& key : keys) out.Text(key);
  out.Text(value);
  out.I64(milliseconds);
  return out.Take();
}

TEST(TcpStoreTest, MalformedRequests_AreAnsweredWithErrors) {
  auto server = *TcpStoreServer::Start({"127.0.0.1", 0}, "token");
  const Endpoint endpoint = {"127.0.0.1", server->port()};
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(CodeOfRequest(endpoint, RequestBytes(1, {"k"}, "v", 0)), absl::StatusCode::kOk);
  EXPECT_EQ(CodeOfRequest(endpoint, RequestBytes(2, {"k", "x"}, "", 0)), absl::StatusCode::kOk);
  EXPECT_EQ(CodeOfRequest(endpoint, RequestBytes(0, {"k"}, "v", 0)), kInvalid);
  EXPECT_EQ(CodeOfRequest(endpoint, RequestBytes(4, {"k"}, "v", 0)), kInvalid);
  EXPECT_EQ(CodeOfRequest(endpoint, RequestBytes(1, {}, "v", 0)), kInvalid);
  EXPECT_EQ(CodeOfRequest(endpoint, RequestBytes(1, {"a", "b"}, "v", 0)), kInvalid);
  EXPECT_EQ(CodeOfRequest(endpoint, RequestBytes(3, {""}, "", 0)), kInvalid);
  EXPECT_EQ(CodeOfRequest(endpoint, RequestBytes(2, {"x"}, "", -1)), kInvalid);
  EXPECT_EQ(CodeOfRequest(endpoint, RequestBytes(2, {"x"}, "", std::numeric_limits<int64_t>::max())), kInvalid);
  EXPECT_EQ(CodeOfRequest(endpoint, RequestBytes(2, {"k"}, "", 0) + "more"), kInvalid);
  EXPECT_EQ(CodeOfRequest(endpoint, ""), kInvalid);
  EXPECT_EQ(CodeOfRequest(endpoint, RequestBytes(2, std::vector<std::string>(kMaxKeysAtOnce + 1, "k"), "", 0)),
            kInvalid);
  auto store = MakeTcpStore(endpoint, "token");
  std::mt19937 random(2);
  const std::string valid = RequestBytes(2, {"a", "bcd", "k"}, "value", 5);
  for (int i = 0; i < 1000; ++i) {
    std::string bytes = valid;
    for (uint32_t change = 0; change <= random() % 3; ++change)
      bytes[random() % bytes.size()] = static_cast<char>(random() % 2 == 0 ? random() : random() % 4);
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const auto code = CodeOfRequest(endpoint, bytes);  // some wait for very long
    EXPECT_TRUE(!code.has_value() || *code == kInvalid || *code == absl::StatusCode::kOk) << i;
    ASSERT_EQ(store->Set("goes on", absl::StrCat(i)), absl::OkStatus()) << i;
  }
  EXPECT_EQ(*store->TryGet("goes on"), "999");
}

TEST(TcpStoreTest, ClientDisconnectsWhileWaiting) {
  auto server = *TcpStoreServer::Start({"127.0.0.1", 0}, "token");
  auto store = MakeTcpStore({"127.0.0.1", server->port()}, "token");
  EXPECT_FALSE(store->Get("k", In(absl::Milliseconds(5))).ok());
  ASSERT_EQ(store->Set("k", "v"), absl::OkStatus());
  EXPECT_EQ(*store->TryGet("k"), "v");
}

}  // namespace
}  // namespace hilo
