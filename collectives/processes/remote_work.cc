// Transfers are organized by pairs: a rank that sends and a process that receives. For each pair
// there is a list of blocks, whose sizes both sides can compute; a process sends all blocks of its ranks
// to another one in a single frame, after the announcement of the collective. So a collective
// takes one message each way between any two processes. When all frames have arrived, every rank of the
// group looks the same, local or remote: a list of addresses of its blocks. The rest is as within a
// process, in the order of the group, and gives the same bits.
//
// A big all-reduce is split into as many pieces as there are processes: each combines one of all ranks,
// and sends the result to the others in a second message. A rank's array then goes through the
// network about twice, instead of once for each other process.
//
// A collective of large blocks is done in sections: the same bytes of every block, of which some are on their way
// while others are combined or copied and the results of others come back. Neither sections nor pieces change the order
// in which an element is combined: that of the group.
#include "collectives/processes/remote_work.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/byte_stream.h"
#include "base/errors.h"
#include "collectives/streamed_copy.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

// All-reduces of more bytes are cut in pieces.
constexpr int64_t kSmallAllReduce = 1 << 16;
// A collective that writes as many bytes here does so past the cache.
constexpr int64_t kStreamedResult = 32 << 20;
constexpr char kZeros[kFrameAlignment] = {};

int64_t Padding(int64_t bytes) { return (kFrameAlignment - bytes % kFrameAlignment) % kFrameAlignment; }

struct Range {
  int64_t from, bytes;
};

class RemoteWork {
 public:
  // For `section` of each block.
  RemoteWork(ProcessRun& run, absl::Span<const int64_t> group, Arrivals arrivals, const Contribution& worker,
             Range section)
      : run_(run),
        group_(group),
        arrivals_(arrivals),
        worker_(worker),
        section_(section),
        streamed_(BytesHere() >= kStreamedResult),
        hash_(GroupHash(group)),
        members_(group.size()) {
    for (size_t member = 0, local = 0; member < group.size(); ++member) {
      const int64_t process = run.process_of(group[member]);
      members_[member].process = process;
      if (process == run.process()) {
        members_[member].local = &Of(arrivals, static_cast<int64_t>(local++));
      } else {
        others_.push_back(process);
      }
      processes_.push_back(process);
    }
    for (std::vector<int64_t>* list : {&processes_, &others_}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    // Not all to the same one first.
    std::rotate(others_.begin(), std::lower_bound(others_.begin(), others_.end(), run.process()), others_.end());
    int64_t bytes = 0;
    for (const CollectiveBuffer& buffer : worker.buffers) bytes += InSection(buffer.bytes).bytes;
    in_pieces_ = worker.kind == CollectiveKind::kAllReduce && bytes > kSmallAllReduce;
  }

  // The three steps of a run, in which all processes send what they send.
  absl::Status Announce() {
    ReadLocal();
    if (AnnouncesAlike()) head_ = EncodedHead("");
    for (int64_t process : others_) HILO_RETURN_IF_ERROR(SendTo(process));
    return absl::OkStatus();
  }

  absl::Status Exchange() {
    HILO_ASSIGN_OR_RETURN(frames_, run_.Receive(others_, FrameKind::kCollective, hash_, group_, *worker_.call));
    for (size_t i = 0; i < others_.size(); ++i) HILO_RETURN_IF_ERROR(ReadAnnouncement(others_[i], frames_[i]));
    if (worker_.kind == CollectiveKind::kPermute) {
      std::vector<int64_t> sources, targets;
      for (const Member& member : members_) {
        sources.push_back(member.source);
        targets.push_back(member.target);
      }
      HILO_RETURN_IF_ERROR(CheckPermute(worker_.call->name, group_, sources, targets));
    }
    for (size_t i = 0; i < others_.size(); ++i) HILO_RETURN_IF_ERROR(ReadBlocks(others_[i], frames_[i]));
    switch (worker_.kind) {
      case CollectiveKind::kAllReduce: HILO_RETURN_IF_ERROR(in_pieces_ ? CombineOwnPiece() : AllReduce()); break;
      case CollectiveKind::kReduceScatter: HILO_RETURN_IF_ERROR(ReduceScatter()); break;
      default: Deliver();
    }
    frames_.clear();
    return absl::OkStatus();
  }

  absl::Status Complete() { return in_pieces_ ? TakeOtherPieces() : absl::OkStatus(); }

 private:
  // A rank of the group, here or elsewhere.
  struct Member {
    int64_t process = 0;
    const Contribution* local = nullptr;  // null: in another process
    int64_t source = -1, target = -1;     // of a permute
    std::vector<RaggedUpdate> updates;    // of a ragged exchange, those for the ranks of this process
    std::vector<const uint8_t*> blocks;   // for this process
    int64_t data_begin = 0;               // in the frame, of the first member of its process
  };

  int64_t size() const { return static_cast<int64_t>(members_.size()); }
  // What the whole collective writes in this process, at least.
  int64_t BytesHere() const {
    int64_t bytes = worker_.bytes;
    for (const CollectiveBuffer& buffer : worker_.buffers) bytes += buffer.bytes;
    return bytes * static_cast<int64_t>(arrivals_.size()) *
           (worker_.kind == CollectiveKind::kAllGather || worker_.kind == CollectiveKind::kAllToAll
                ? static_cast<int64_t>(group_.size())
                : 1);
  }
  size_t PlaceOf(int64_t rank) const { return std::find(group_.begin(), group_.end(), rank) - group_.begin(); }
  int64_t UpdatesEach() const { return static_cast<int64_t>(worker_.updates.size()) / size(); }

  // The part of a block of `bytes` bytes that is in the section.
  Range InSection(int64_t bytes) const {
    const int64_t from = std::min(section_.from, bytes);
    return {from, std::min(section_.bytes, bytes - from)};
  }
  // The piece of such a part that the process combines.
  Range PieceOf(int64_t process, int64_t block_bytes) const {
    const auto [from, bytes] = InSection(block_bytes);
    const int64_t count = static_cast<int64_t>(processes_.size());
    const int64_t number = std::lower_bound(processes_.begin(), processes_.end(), process) - processes_.begin();
    auto cut = [count, bytes = bytes](int64_t i) {
      return i == count ? bytes : bytes / count * i / kFrameAlignment * kFrameAlignment;
    };
    return {from + cut(number), cut(number + 1) - cut(number)};
  }

  // Calls f(address, bytes) for each block that `member` has for `process`, or rather its part in the section; the
  // address means something only for members that are here.
  template <typename F>
  void ForEachBlock(const Member& member, int64_t process, F f) const {
    const auto part = [&](const void* block, int64_t offset, int64_t bytes) {
      const Range range = InSection(bytes);
      f(At(block, offset + range.from), range.bytes);
    };
    const Contribution& c = member.local != nullptr ? *member.local : worker_;
    switch (c.kind) {
      case CollectiveKind::kAllReduce:
        for (const CollectiveBuffer& buffer : c.buffers) {
          const Range range = in_pieces_ ? PieceOf(process, buffer.bytes) : InSection(buffer.bytes);
          f(At(buffer.send, range.from), range.bytes);
        }
        return;
      case CollectiveKind::kAllGather:
        for (const CollectiveBuffer& buffer : c.buffers) part(buffer.send, 0, buffer.bytes);
        return;
      case CollectiveKind::kReduceScatter:
        for (int64_t to = 0; to < size(); ++to) {
          if (members_[to].process != process) continue;
          for (const CollectiveBuffer& buffer : c.buffers) part(buffer.send, to * buffer.bytes, buffer.bytes);
        }
        return;
      case CollectiveKind::kAllToAll:
        for (int64_t to = 0; to < size(); ++to) {
          if (members_[to].process == process) part(c.sends[to], 0, c.bytes);
        }
        return;
      case CollectiveKind::kPermute:
        if (member.target < 0 || members_[PlaceOf(member.target)].process != process) return;
        for (const CollectiveBuffer& buffer : c.buffers) part(buffer.send, 0, buffer.bytes);
        return;
      case CollectiveKind::kBroadcast:
        if (&member != &members_[0]) return;
        for (const CollectiveBuffer& buffer : c.buffers) part(buffer.send, 0, buffer.bytes);
        return;
      case CollectiveKind::kRagged:
        if (member.local == nullptr) {
          for (const RaggedUpdate& update : member.updates) f(nullptr, update.bytes);
          return;
        }
        ForEachUpdate(c, process, [&](const RaggedUpdate& update) { f(At(c.send, update.from), update.bytes); });
        return;
    }
  }

  template <typename F>
  void ForEachUpdate(const Contribution& c, int64_t process, F f) const {
    for (int64_t to = 0; to < size(); ++to) {
      if (members_[to].process != process) continue;
      for (const RaggedUpdate& update : c.updates.subspan(to * UpdatesEach(), UpdatesEach())) f(update);
    }
  }

  void ReadLocal() {
    for (Member& member : members_) {
      if (member.local == nullptr) continue;
      member.source = member.local->source;
      member.target = member.local->target;
      if (worker_.kind == CollectiveKind::kRagged)
        ForEachUpdate(*member.local, run_.process(),
                      [&](const RaggedUpdate& update) { member.updates.push_back(update); });
    }
    for (Member& member : members_) {
      if (member.local != nullptr)
        ForEachBlock(member, run_.process(), [&](const uint8_t* block, int64_t) { member.blocks.push_back(block); });
    }
  }

  // What the members in this process announce to the process beyond names and sizes.
  std::string MoreFor(int64_t process) const {
    ByteWriter out;
    for (const Member& member : members_) {
      if (member.local == nullptr) continue;
      if (worker_.kind == CollectiveKind::kPermute) {
        out.I64(member.source);
        out.I64(member.target);
      } else if (worker_.kind == CollectiveKind::kRagged) {
        ForEachUpdate(*member.local, process, [&](const RaggedUpdate& update) {
          out.I64(update.to);
          out.I64(update.bytes);
        });
      }
    }
    return out.Take();
  }

  // Whether the announcements to all processes are the same.
  bool AnnouncesAlike() const {
    return worker_.kind != CollectiveKind::kPermute && worker_.kind != CollectiveKind::kRagged;
  }
  std::string EncodedHead(std::string more) const {
    return EncodeAnnouncement({.name = std::string(worker_.call->name),
                               .signature = worker_.signature,
                               .key = worker_.call->key,
                               .group = {group_.begin(), group_.end()},
                               .more = std::move(more)});
  }

  absl::Status SendTo(int64_t process) const {
    const std::string own = AnnouncesAlike() ? "" : EncodedHead(MoreFor(process));
    const absl::string_view head = AnnouncesAlike() ? head_ : own;
    std::vector<absl::string_view> pieces = {head};
    for (const Member& member : members_) {
      if (member.local == nullptr) continue;
      ForEachBlock(member, process, [&](const uint8_t* block, int64_t bytes) { AddPiece(block, bytes, &pieces); });
    }
    return run_.Send(process, FrameKind::kCollective, hash_, pieces, *worker_.call);
  }

  static void AddPiece(const void* data, int64_t bytes, std::vector<absl::string_view>* pieces) {
    if (bytes == 0) return;
    pieces->emplace_back(static_cast<const char*>(data), bytes);
    pieces->emplace_back(kZeros, Padding(bytes));
  }

  absl::Status ReadAnnouncement(int64_t process, const Frame& frame) {
    auto begin = static_cast<int64_t>(head_.size());
    if (AnnouncesAlike() && begin <= frame.size() && std::memcmp(frame.data(), head_.data(), head_.size()) == 0) {
      for (Member& member : members_) {
        if (member.process == process) member.data_begin = begin;
      }
      return absl::OkStatus();
    }
    HILO_ASSIGN_OR_RETURN(const Announcement theirs, DecodeAnnouncement(frame, &begin));
    const bool agrees = theirs.name == worker_.call->name && theirs.key == worker_.call->key &&
                        theirs.signature == worker_.signature &&
                        theirs.group == std::vector<int64_t>(group_.begin(), group_.end());
    if (!agrees) {
      std::vector<int64_t> here, there;
      for (int64_t member = 0; member < size(); ++member) {
        if (members_[member].local != nullptr) here.push_back(group_[member]);
        if (members_[member].process == process) there.push_back(group_[member]);
      }
      return FailedPrecondition("ranks of the group ", GroupText(group_), " disagree: ", RankList(here), " at ",
                                worker_.call->name, " ", worker_.signature, ", but ", RankList(there), " at ",
                                theirs.name, " ", theirs.signature);
    }
    ByteReader more(theirs.more, "announcement of a collective");
    for (Member& member : members_) {
      if (member.process != process) continue;
      member.data_begin = begin;
      if (worker_.kind == CollectiveKind::kPermute) {
        member.source = more.I64();
        member.target = more.I64();
      } else if (worker_.kind == CollectiveKind::kRagged) {
        for (int64_t i = 0; i < UpdatesEach() * static_cast<int64_t>(arrivals_.size()); ++i) {
          const int64_t to = more.I64(), bytes = more.I64();
          if (!Inside(to, bytes, worker_.receive_bytes)) more.Fail("an update within the output");
          member.updates.push_back({0, to, bytes});
        }
      }
    }
    return more.Finish();
  }

  // Finds the blocks of the members of another process in its frame.
  absl::Status ReadBlocks(int64_t process, const Frame& frame) {
    int64_t at = -1;
    bool fits = true;
    for (Member& member : members_) {
      if (member.process != process) continue;
      if (at < 0) at = member.data_begin;
      ForEachBlock(member, run_.process(), [&](const uint8_t*, int64_t bytes) {
        fits = fits && Inside(at, bytes, frame.size());
        member.blocks.push_back(fits ? frame.data() + at : nullptr);
        if (fits) at += bytes + Padding(bytes);
      });
    }
    if (fits && at == frame.size()) return absl::OkStatus();
    return InvalidArgument(worker_.call->name, ": process ", process, " has sent ", frame.size(),
                           " bytes, which are not those that fit");
  }

  // Combines the blocks number `block` of all members, of `bytes` bytes, and writes the result to each of `targets`.
  absl::Status Combine(int64_t block, int64_t bytes, absl::Span<uint8_t* const> targets) const {
    const ReductionFunction& reduction = *worker_.reduction;
    alignas(64) uint8_t sum[kReductionPiece];
    for (int64_t offset = 0; offset < bytes; offset += kReductionPiece) {
      const int64_t piece = std::min(kReductionPiece, bytes - offset);
      for (int64_t member = 1; member < size(); ++member) {
        const uint8_t* before = member == 1 ? members_[0].blocks[block] + offset : sum;
        HILO_RETURN_IF_ERROR(
            reduction.combine(sum, before, members_[member].blocks[block] + offset, piece / reduction.element_bytes));
      }
      for (uint8_t* target : targets) std::memcpy(target + offset, sum, piece);
    }
    return absl::OkStatus();
  }

  // Where the members that are here receive array `b`, from byte `from` on.
  std::vector<uint8_t*> Receivers(int64_t b, int64_t from) const {
    std::vector<uint8_t*> receivers;
    for (size_t i = 0; i < arrivals_.size(); ++i) receivers.push_back(At(Of(arrivals_, i).buffers[b].receive, from));
    return receivers;
  }

  absl::Status AllReduce() const {
    for (size_t b = 0; b < worker_.buffers.size(); ++b) {
      const Range range = InSection(worker_.buffers[b].bytes);
      HILO_RETURN_IF_ERROR(Combine(b, range.bytes, Receivers(b, range.from)));
    }
    return absl::OkStatus();
  }

  absl::Status ReduceScatter() const {
    const size_t count = worker_.buffers.size();
    for (size_t i = 0; i < arrivals_.size(); ++i) {
      for (size_t b = 0; b < count; ++b) {
        const CollectiveBuffer& buffer = Of(arrivals_, i).buffers[b];
        const Range range = InSection(buffer.bytes);
        HILO_RETURN_IF_ERROR(Combine(i * count + b, range.bytes, {At(buffer.receive, range.from)}));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CombineOwnPiece() {
    std::vector<absl::string_view> pieces;
    for (size_t b = 0; b < worker_.buffers.size(); ++b) {
      const Range own = PieceOf(run_.process(), worker_.buffers[b].bytes);
      const std::vector<uint8_t*> receivers = Receivers(b, own.from);
      HILO_RETURN_IF_ERROR(Combine(b, own.bytes, receivers));
      AddPiece(receivers[0], own.bytes, &pieces);
    }
    frames_.clear();
    for (int64_t process : others_)
      HILO_RETURN_IF_ERROR(run_.Send(process, FrameKind::kResult, hash_, pieces, *worker_.call));
    return absl::OkStatus();
  }

  absl::Status TakeOtherPieces() {
    HILO_ASSIGN_OR_RETURN(frames_, run_.Receive(others_, FrameKind::kResult, hash_, group_, *worker_.call));
    for (size_t i = 0; i < others_.size(); ++i) {
      int64_t at = 0;
      for (size_t b = 0; b < worker_.buffers.size(); ++b) {
        const Range theirs = PieceOf(others_[i], worker_.buffers[b].bytes);
        if (!Inside(at, theirs.bytes, frames_[i].size()))
          return InvalidArgument(worker_.call->name, ": process ", others_[i], " has sent too little of the result");
        if (theirs.bytes == 0) continue;
        for (uint8_t* receiver : Receivers(b, theirs.from))
          CopyBytes(receiver, frames_[i].data() + at, theirs.bytes, streamed_);
        at += theirs.bytes + Padding(theirs.bytes);
      }
    }
    frames_.clear();
    return absl::OkStatus();
  }

  // `block` is the part in the section of one of `bytes` bytes, which goes to `offset`.
  void CopyPart(void* to, int64_t offset, const uint8_t* block, int64_t bytes) const {
    const Range range = InSection(bytes);
    if (range.bytes > 0) CopyBytes(At(to, offset + range.from), block, range.bytes, streamed_);
  }

  // Copies blocks to where the members that are here receive them.
  void Deliver() const {
    for (size_t i = 0; i < arrivals_.size(); ++i) {
      const Contribution& receiver = Of(arrivals_, i);
      for (int64_t member = 0; member < size(); ++member) {
        const std::vector<const uint8_t*>& blocks = members_[member].blocks;
        if (worker_.kind == CollectiveKind::kAllToAll)
          CopyPart(receiver.receives[member], 0, blocks[i], receiver.bytes);
        if (worker_.kind == CollectiveKind::kRagged) Update(receiver, static_cast<int64_t>(i), members_[member]);
        for (size_t b = 0; b < receiver.buffers.size(); ++b) {
          const CollectiveBuffer& buffer = receiver.buffers[b];
          if (worker_.kind == CollectiveKind::kAllGather)
            CopyPart(buffer.receive, member * buffer.bytes, blocks[b], buffer.bytes);
          const bool is_source =
              worker_.kind == CollectiveKind::kPermute ? receiver.source == group_[member] : member == 0;
          if (worker_.kind != CollectiveKind::kAllGather && is_source)
            CopyPart(buffer.receive, 0, blocks[b], buffer.bytes);
        }
      }
      if (worker_.kind != CollectiveKind::kPermute || receiver.source >= 0) continue;
      for (const CollectiveBuffer& buffer : receiver.buffers) {
        const Range range = InSection(buffer.bytes);
        if (range.bytes > 0) std::memset(At(buffer.receive, range.from), 0, range.bytes);
      }
    }
  }

  // The sender's updates of the receiver number `i` of those that are here.
  void Update(const Contribution& receiver, int64_t i, const Member& sender) const {
    for (int64_t u = i * UpdatesEach(); u < (i + 1) * UpdatesEach(); ++u) {
      const RaggedUpdate& update = sender.updates[u];
      if (update.bytes > 0) std::memcpy(At(receiver.receive, update.to), sender.blocks[u], update.bytes);
    }
  }

  ProcessRun& run_;
  const absl::Span<const int64_t> group_;
  const Arrivals arrivals_;
  const Contribution& worker_;
  const Range section_;
  const bool streamed_;
  const uint64_t hash_;
  std::vector<Member> members_;
  std::vector<int64_t> processes_, others_;  // all of the group, and those but this one
  bool in_pieces_ = false;
  std::vector<Frame> frames_;  // by `others_`
  std::string head_;           // the announcement to all processes, if it is the same
};

// The largest block that is divided into sections.
int64_t LongestBlock(const Contribution& contribution) {
  if (contribution.kind == CollectiveKind::kRagged) return 0;  // updates differ, and are known to two processes only
  int64_t longest = contribution.bytes;
  for (const CollectiveBuffer& buffer : contribution.buffers) longest = std::max(longest, buffer.bytes);
  return longest;
}

// Bytes of each block in a section: the same for all processes of the group.
int64_t SectionBytes(const ProcessRun& run, absl::Span<const int64_t> group, const Contribution& contribution) {
  std::map<int64_t, int64_t> ranks;  // by process
  int64_t most = 0;
  for (int64_t rank : group) most = std::max(most, ++ranks[run.process_of(rank)]);
  const bool for_each_rank =
      contribution.kind == CollectiveKind::kReduceScatter || contribution.kind == CollectiveKind::kAllToAll;
  const int64_t blocks =
      most * (for_each_rank ? most : 1) * std::max<int64_t>(static_cast<int64_t>(contribution.buffers.size()), 1);
  return std::max<int64_t>(run.section_bytes() / blocks / kReductionPiece, 1) * kReductionPiece;
}

}  // namespace

uint64_t GroupHash(absl::Span<const int64_t> group) {
  uint64_t hash = 0xcbf29ce484222325;
  for (int64_t rank : group) hash = (hash ^ static_cast<uint64_t>(rank)) * 0x100000001b3;
  return hash;
}

absl::Status ExchangeBetweenProcesses(ProcessRun& run, absl::Span<const int64_t> group, Arrivals arrivals,
                                      const Contribution& worker) {
  const int64_t longest = LongestBlock(worker);
  const int64_t step = longest <= kReductionPiece ? kReductionPiece : SectionBytes(run, group, worker);
  if (longest <= step) {
    RemoteWork work(run, group, arrivals, worker, {0, step});
    HILO_RETURN_IF_ERROR(work.Announce());
    HILO_RETURN_IF_ERROR(work.Exchange());
    return work.Complete();
  }
  // Two are under way before the first is combined, and each process sends and expects the steps of
  // the sections in the same order.
  std::deque<RemoteWork> sections;  // of which the first is the oldest
  int64_t begun = 0;
  auto announce = [&]() -> absl::Status {
    if (begun >= longest) return absl::OkStatus();
    sections.emplace_back(run, group, arrivals, worker, Range{begun, step});
    begun += step;
    return sections.back().Announce();
  };
  HILO_RETURN_IF_ERROR(announce());
  HILO_RETURN_IF_ERROR(announce());
  bool first = true;
  for (int64_t at = 0; at < longest; at += step, first = false) {
    HILO_RETURN_IF_ERROR(sections[first ? 0 : 1].Exchange());
    HILO_RETURN_IF_ERROR(announce());
    if (first) continue;
    HILO_RETURN_IF_ERROR(sections.front().Complete());
    sections.pop_front();
  }
  return sections.front().Complete();
}

}  // namespace hilo
