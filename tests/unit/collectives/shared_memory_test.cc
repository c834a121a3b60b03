#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <random>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "collectives/processes/shared_memory_transport.h"
#include "collectives/processes/shared_ring.h"
#include "collectives/processes/shared_segment.h"
#include "gtest/gtest.h"

namespace hilo {
namespace {

constexpr int64_t kRing = 4096;

struct Memory {
  RingControl control = {};
  alignas(64) uint8_t ring[kRing] = {};
};

RecordHeader Header(uint64_t number, int64_t bytes) {
  return {.frame = {.kind = FrameKind::kMessage, .run = number}, .frame_bytes = bytes, .bytes = bytes};
}

// Records of all sizes, returned out of order, around the ring many times.
TEST(SharedRingTest, RecordsArriveInOrder) {
  auto memory = std::make_unique<Memory>();
  RingWriter writer(&memory->control, memory->ring, kRing);
  RingReader reader(&memory->control, memory->ring, kRing);
  std::mt19937 random(7);
  uint64_t sent = 0, received = 0;
  std::vector<RingReader::Record> held;
  std::deque<int64_t> sizes;
  while (received < 20'000) {
    if (random() % 2 == 0) {
      const int64_t bytes = random() % (random() % 3 == 0 ? writer.most() + 1 : 100);
      uint8_t* const space = writer.Reserve(bytes);
      if (space == nullptr) {
        EXPECT_FALSE(held.empty() && sent == received) << "no space for " << bytes << " bytes in an empty ring";
        continue;
      }
      std::fill_n(space, bytes, static_cast<uint8_t>(sent));
      writer.Publish(Header(sent++, bytes));
      sizes.push_back(bytes);
    } else if (random() % 2 == 0) {
      const auto next = reader.Next();
      ASSERT_TRUE(next.ok()) << next.status();
      ASSERT_EQ(next->has_value(), sent > received);
      if (!next->has_value()) continue;
      ASSERT_EQ((*next)->header.frame.run, received);
      ASSERT_EQ((*next)->header.bytes, sizes.front());
      sizes.pop_front();
      ++received;
      held.push_back(**next);
    } else if (!held.empty()) {
      const size_t i = random() % held.size();
      for (int64_t k = 0; k < held[i].header.bytes; ++k)
        ASSERT_EQ(held[i].data[k], static_cast<uint8_t>(held[i].header.frame.run));
      EXPECT_FALSE(reader.Return(held[i].data));
      held.erase(held.begin() + static_cast<int64_t>(i));
    }
  }
}

TEST(SharedRingTest, Return_WakesAStarvedWriter) {
  auto memory = std::make_unique<Memory>();
  RingWriter writer(&memory->control, memory->ring, kRing);
  RingReader reader(&memory->control, memory->ring, kRing);
  ASSERT_NE(writer.Reserve(8), nullptr);
  writer.Publish(Header(0, 8));
  writer.SetStarved(true);
  const auto next = reader.Next();
  ASSERT_TRUE(next.ok() && next->has_value());
  EXPECT_TRUE(reader.Return((*next)->data));
}

// Whatever the other process writes, the reader stays within the ring, and ends.
TEST(SharedRingTest, AnyBytes_AreRecordsWithinTheRingOrAnError) {
  std::mt19937_64 random(11);
  auto memory = std::make_unique<Memory>();
  int errors = 0;
  for (int round = 0; round < 3000; ++round) {
    auto* const words = reinterpret_cast<uint64_t*>(memory->ring);
    for (int64_t i = 0; i < kRing / 8; ++i) {
      const uint64_t word = random();
      words[i] = word % 3 == 0 ? 0 : word % 3 == 1 ? word >> 52 : word;
    }
    memory->control.published = random();
    RingReader reader(&memory->control, memory->ring, kRing);
    for (int i = 0; i < 1000; ++i) {
      const auto next = reader.Next();
      if (!next.ok()) {
        EXPECT_TRUE(absl::StrContains(next.status().message(), "expected a record")) << next.status();
        ++errors;
        break;
      }
      if (!next->has_value()) break;
      const RingReader::Record& record = **next;
      ASSERT_GE(record.data, memory->ring);
      ASSERT_GE(record.header.bytes, 0);
      ASSERT_LE(record.data + record.header.bytes, memory->ring + kRing);
      ASSERT_GE(record.header.begin, 0);
      ASSERT_LE(record.header.begin + record.header.bytes, record.header.frame_bytes);
      reader.Return(record.data);
    }
  }
  EXPECT_GT(errors, 1000);
}

TEST(SharedSegmentTest, OffersThatAreNone) {
  const auto segment = SharedSegment::Create(8192);
  ASSERT_TRUE(segment.ok()) << segment.status();
  const std::string offer = *segment->Offer();
  EXPECT_TRUE(SharedSegment::Open(offer, 8192).ok());
  const std::string boot_id = offer.substr(0, offer.find(' '));
  EXPECT_EQ(SharedSegment::Open(offer, 4096).status().code(), absl::StatusCode::kInvalidArgument);
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  for (const std::string& other :
       {std::string(), std::string("a b"), boot_id, absl::StrCat("other", offer), absl::StrCat(boot_id, " 0 0"),
        absl::StrCat(boot_id, " ", getpid(), " 99999"), absl::StrCat(boot_id, " ", getpid(), " ", pipe_ends[0]),
        absl::StrCat(boot_id, " ", getpid(), " ../../../../etc/passwd")})
    EXPECT_FALSE(SharedSegment::Open(other, 8192).ok()) << other;
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

// A process that could shrink what another has mapped would end it.
TEST(SharedSegmentTest, SizeIsSealed) {
  const auto segment = SharedSegment::Create(8192);
  ASSERT_TRUE(segment.ok()) << segment.status();
  const std::string offer = *segment->Offer();
  const std::string path = absl::StrCat("/proc/self/fd/", offer.substr(offer.rfind(' ') + 1));
  EXPECT_NE(truncate(path.c_str(), 0), 0);
  EXPECT_NE(truncate(path.c_str(), 16384), 0);
}

class Listener : public FrameListener {
 public:
  void OnFrame(int64_t, Frame frame) override {
    EXPECT_TRUE(frame.Own().ok());
    std::lock_guard<std::mutex> lock(mutex);
    frames.push_back(std::move(frame));
  }
  void OnGone(int64_t, const absl::Status& status, bool) override {
    std::lock_guard<std::mutex> lock(mutex);
    gone = status;
  }
  absl::Status Gone() {
    std::lock_guard<std::mutex> lock(mutex);
    return gone;
  }

  std::mutex mutex;
  std::vector<Frame> frames;
  absl::Status gone;
};

// Two ends of shared memory, both in this process.
class SharedMemoryTransportTest : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    std::unique_ptr<SharedInboxes> inboxes[2];
    for (int64_t process : {0, 1}) {
      auto made = SharedInboxes::Create(process, 2);
      ASSERT_TRUE(made.ok()) << made.status();
      inboxes[process] = *std::move(made);
    }
    offer_ = inboxes[1]->offer();
    auto segment = SharedSegment::Open(offer_.substr(33), kSegment);
    ASSERT_TRUE(segment.ok()) << segment.status();
    inbox_of_1_ = *segment->Map(4096, kSegment - 4096);
    for (int64_t process : {0, 1}) ASSERT_TRUE(inboxes[process]->Open(1 - process, inboxes[1 - process]->offer()).ok());
    for (int64_t process : {0, 1}) {
      std::vector<FileDescriptor> sockets(2);
      sockets[1 - process] = FileDescriptor(ends[process]);
      auto tcp = TcpTransport::Create(std::move(sockets));
      ASSERT_TRUE(tcp.ok()) << tcp.status();
      transports_[process] = std::make_unique<SharedMemoryTransport>(std::move(inboxes[process]),
                                                                     std::vector<bool>{process == 1, process == 0},
                                                                     /*all_share=*/true, *std::move(tcp));
      ASSERT_TRUE(transports_[process]->Start(&listeners_[process]).ok());
    }
  }

  static constexpr int64_t kSegment = 4096 + 4096 + (4 << 20);
  std::string offer_;
  Mapping inbox_of_1_;
  Listener listeners_[2];
  std::unique_ptr<SharedMemoryTransport> transports_[2];
};

TEST_F(SharedMemoryTransportTest, FramesOfManySizes) {
  const auto never = [] { return absl::OkStatus(); };
  std::vector<std::string> sent;
  for (size_t size : {0, 1, 63, 64, 65, 3000, 100'000, 2'000'000, 2'097'088, 2'097'089, 30'000'001}) {
    sent.emplace_back(size, '\0');
    for (size_t i = 0; i < size; ++i) sent.back()[i] = static_cast<char>(i * 7 + size);
  }
  for (const std::string& bytes : sent) {
    const absl::string_view text = bytes;
    const size_t cut = text.size() / 3;
    ASSERT_TRUE(
        transports_[0]
            ->Send(1, {.kind = FrameKind::kMessage, .group = 5}, {text.substr(0, cut), "", text.substr(cut)}, never)
            .ok());
  }
  while (transports_[1]->Poll(0)) {
  }
  ASSERT_EQ(listeners_[1].frames.size(), sent.size());
  for (size_t i = 0; i < sent.size(); ++i) {
    const Frame& frame = listeners_[1].frames[i];
    EXPECT_EQ(frame.header().group, 5);
    EXPECT_TRUE(absl::string_view(reinterpret_cast<const char*>(frame.data()), frame.size()) == sent[i])
        << sent[i].size();
  }
}

TEST_F(SharedMemoryTransportTest, WhatIsNoRecord_EndsTheConnection) {
  auto* const control = reinterpret_cast<RingControl*>(inbox_of_1_.data());
  std::fill_n(inbox_of_1_.data() + 4096, 64, uint8_t{0xff});
  control->published = 1;
  EXPECT_FALSE(transports_[1]->Poll(0));
  const absl::Time latest = absl::Now() + absl::Seconds(20);
  while (listeners_[1].Gone().ok() && absl::Now() < latest) absl::SleepFor(absl::Milliseconds(1));
  const absl::Status gone = listeners_[1].Gone();
  EXPECT_EQ(gone.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(absl::StrContains(gone.message(), "process 0 is gone: in shared memory, expected a record")) << gone;
  // The other one hears of it as of any end.
  while (listeners_[0].Gone().ok() && absl::Now() < latest) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_EQ(listeners_[0].Gone().code(), absl::StatusCode::kUnavailable);
}

// The last frames of a process come before its end.
TEST_F(SharedMemoryTransportTest, FramesBeforeTheEnd) {
  ASSERT_TRUE(transports_[0]->Send(1, {.kind = FrameKind::kMessage}, {"last"}, [] { return absl::OkStatus(); }).ok());
  transports_[0].reset();
  const absl::Time latest = absl::Now() + absl::Seconds(20);
  while (listeners_[1].Gone().ok() && absl::Now() < latest) absl::SleepFor(absl::Milliseconds(1));
  ASSERT_EQ(listeners_[1].frames.size(), 1);
}

}  // namespace
}  // namespace hilo
