// A handle is passed as a whole register, of which libraries whose handles are ints read the lower half; what they
// write into the memory of one is its lower half on little-endian machines, the upper being zero.
#include "collectives/processes/mpi_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <future>
#include <iterator>
#include <numeric>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "base/errors.h"
#include "base/signals_blocked.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

static_assert(std::endian::native == std::endian::little);

// At least those of all libraries.
constexpr int kMaxVersionBytes = 8192, kMaxErrorBytes = 1024;
// Of MPI_Comm_create_group, among the communicators that one process makes at the same time.
constexpr int kGroupTag = 7321;

constexpr const char* kOpenMpiNames[] = {"libmpi.so.40", "libmpi.so.80"};
constexpr const char* kMpichNames[] = {"libmpich.so.12", "libmpi.so.12"};
constexpr const char* kAbiNames[] = {"libmpi_abi.so.0", "libmpi_abi.so.1"};

std::atomic<bool> finalizes_at_exit = true, has_failure = false;
int (*finalize)() = nullptr;
int (*finalized)(int* flag) = nullptr;

// MPI_Finalize waits for the other processes, which may have more to do, and an mpirun may end them when a process
// exits without it: it may take as long as a collective by default. After a run has failed one of them may be stuck.
constexpr std::chrono::seconds kMaxToFinalize(300), kMaxToFinalizeAfterFailure(5);
constexpr std::chrono::milliseconds kGiveUpInterval(50);
constexpr int kTestsAfterCancel = 100;
// MPI_FT of Open MPI 5.
constexpr int kOpenMpiFaultTolerance = 12;
// For MPI to notice that a process has failed whose connection has ended.
constexpr absl::Duration kConfirmation = absl::Seconds(2), kConfirmationInterval = absl::Milliseconds(1);

void FinalizeAtExit() {
  int flag = 0;
  if (!finalizes_at_exit || finalized(&flag) != 0 || flag != 0) return;
  try {
    std::packaged_task<int()> task(finalize);
    std::future<int> done = task.get_future();
    std::thread(std::move(task)).detach();
    done.wait_for(has_failure ? kMaxToFinalizeAfterFailure : kMaxToFinalize);
  } catch (const std::exception&) {
    // Without a thread or memory the process ends as one that has not called MPI_Finalize.
  }
}

bool IsSet(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

// The libraries that may have started this process, the likeliest first.
std::vector<std::string> Candidates() {
  if (IsSet("HILO_MPI_LIBRARY")) return {std::getenv("HILO_MPI_LIBRARY")};
  std::vector<std::string> names;
  const auto add = [&names](absl::Span<const char* const> more) {
    names.insert(names.end(), more.begin(), more.end());
  };
  if (IsSet("OMPI_COMM_WORLD_SIZE")) add(kOpenMpiNames);
  add(kMpichNames);
  add(kAbiNames);
  if (!IsSet("OMPI_COMM_WORLD_SIZE")) add(kOpenMpiNames);
  return names;
}

}  // namespace

struct MpiLibrary::Functions {
#define MPI_FUNCTION(name, parameters) int(*name) parameters = nullptr;
#define MPIX_FUNCTION MPI_FUNCTION
#include "collectives/processes/mpi_functions.def"
#undef MPIX_FUNCTION
#undef MPI_FUNCTION
};

absl::Status MpiLibrary::Open() {
  void* library = nullptr;
  const std::vector<std::string> names = Candidates();
  std::string why;
  // One that the program has loaded already is the one that it uses. Plugins of Open MPI look for its symbols globally.
  for (const int flags : {RTLD_NOLOAD, 0}) {
    for (const std::string& name : names) {
      if (library != nullptr) break;
      library = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL | flags);
      if (library == nullptr && flags == 0) why = dlerror();
    }
  }
  if (library == nullptr)
    return Unavailable("there is no MPI: looked for ", absl::StrJoin(names, ", "), " (", why,
                       "); HILO_MPI_LIBRARY may name its library");
  auto* functions = new Functions;
  mpi_ = functions;
#define MPI_FUNCTION(name, parameters)                                                         \
  functions->name = reinterpret_cast<decltype(functions->name)>(dlsym(library, "MPI_" #name)); \
  if (functions->name == nullptr) return Unavailable("the MPI library has no function MPI_" #name);
#define MPIX_FUNCTION(name, parameters) \
  functions->name = reinterpret_cast<decltype(functions->name)>(dlsym(library, "MPIX_" #name));
#include "collectives/processes/mpi_functions.def"
#undef MPIX_FUNCTION
#undef MPI_FUNCTION
  Dl_info info = {};
  if (dladdr(reinterpret_cast<void*>(mpi_->Init_thread), &info) != 0) path_ = info.dli_fname;
  // Open MPI's handles are addresses of its objects, the others' are numbers.
  if (void* const world = dlsym(library, "ompi_mpi_comm_world"); world != nullptr) {
    world_ = reinterpret_cast<MpiHandle>(world);
    byte_ = reinterpret_cast<MpiHandle>(dlsym(library, "ompi_mpi_byte"));
    errors_return_ = reinterpret_cast<MpiHandle>(dlsym(library, "ompi_mpi_errors_return"));
    thread_multiple_ = 3;
    is_open_mpi_ = true;
  } else if (absl::StrContains(path_.substr(path_.rfind('/') + 1), "mpi_abi")) {
    world_ = 0x101;
    byte_ = 0x247;
    errors_return_ = 0x143;
    thread_multiple_ = 4096;
  } else {
    world_ = 0x44000000;
    byte_ = 0x4c00010d;
    errors_return_ = 0x54000001;
    status_ignore_ = reinterpret_cast<void*>(1);
    thread_multiple_ = 3;
  }
  char text[kMaxVersionBytes] = {};
  int length = 0;
  HILO_RETURN_IF_ERROR(StatusOf(mpi_->Get_library_version(text, &length), "MPI_Get_library_version"));
  const absl::string_view lines(text);
  std::vector<absl::string_view> words =
      absl::StrSplit(lines.substr(0, lines.find('\n')), absl::ByAnyChar(" \t:,"), absl::SkipEmpty());
  if (words.size() > 3) words.resize(3);
  version_ = absl::StrJoin(words, " ");
  return absl::OkStatus();
}

absl::Status MpiLibrary::Initialize() {
  int flag = 0, provided = 0;
  HILO_RETURN_IF_ERROR(StatusOf(mpi_->Initialized(&flag), "MPI_Initialized"));
  if (flag == 0) {
    HILO_RETURN_IF_ERROR(StatusOf(mpi_->Init_thread(nullptr, nullptr, thread_multiple_, &provided), "MPI_Init_thread"));
    finalize = mpi_->Finalize;
    finalized = mpi_->Finalized;
    std::atexit(FinalizeAtExit);
    // MPI reports errors of MPI_Comm_create_group and of MPI_Cancel on this communicator, and by default they end the
    // process. A program that has initialized MPI chooses for itself.
    HILO_RETURN_IF_ERROR(StatusOf(mpi_->Comm_set_errhandler(world_, errors_return_), "MPI_Comm_set_errhandler"));
  } else {
    HILO_RETURN_IF_ERROR(StatusOf(mpi_->Query_thread(&provided), "MPI_Query_thread"));
  }
  if (provided != thread_multiple_)
    return Unavailable(version_,
                       " has been initialized without MPI_THREAD_MULTIPLE: Hilo calls it from several threads");
  HILO_RETURN_IF_ERROR(StatusOf(mpi_->Comm_rank(world_, &rank_), "MPI_Comm_rank"));
  HILO_RETURN_IF_ERROR(StatusOf(mpi_->Comm_size(world_, &size_), "MPI_Comm_size"));
  if (size_ == 1)
    return Unavailable("this process is alone in its job of ", version_,
                       ": start the processes by the mpirun that belongs to ", path_);
  HILO_RETURN_IF_ERROR(FindFaultTolerance());
  base_ = world_;
  base_ranks_.resize(size_);
  std::iota(base_ranks_.begin(), base_ranks_.end(), 0);
  job_ = absl::StrCat(version_, " of ", size_);
  return absl::OkStatus();
}

// Libraries may have the functions of ULFM without its being on, when mpirun ends all processes after one has died.
// Only Open MPI says so: by an attribute of the communicator.
absl::Status MpiLibrary::FindFaultTolerance() {
#define MPI_FUNCTION(name, parameters)
#define MPIX_FUNCTION(name, parameters) \
  if (mpi_->name == nullptr) return absl::OkStatus();
#include "collectives/processes/mpi_functions.def"
#undef MPIX_FUNCTION
#undef MPI_FUNCTION
  if (!is_open_mpi_) return absl::OkStatus();
  int* is_on = nullptr;
  int flag = 0;
  HILO_RETURN_IF_ERROR(
      StatusOf(mpi_->Comm_get_attr(world_, kOpenMpiFaultTolerance, &is_on, &flag), "MPI_Comm_get_attr"));
  survives_failures_ = flag != 0 && is_on != nullptr && *is_on != 0;
  return absl::OkStatus();
}

absl::StatusOr<MpiLibrary*> MpiLibrary::Load() {
  auto* library = new MpiLibrary;
  HILO_RETURN_IF_ERROR(library->Open());
  HILO_RETURN_IF_ERROR(library->Initialize());
  return library;
}

absl::StatusOr<MpiLibrary*> MpiLibrary::Get() {
  static const absl::StatusOr<MpiLibrary*> library = Load();
  return library;
}

absl::Status MpiLibrary::StatusOf(int code, const char* function) const {
  if (code == 0) return absl::OkStatus();
  char text[kMaxErrorBytes] = {};
  int length = 0;
  mpi_->Error_string(code, text, &length);
  return Unavailable(function, ": ", text);
}

void MpiLibrary::Suspect(int rank) {
  std::lock_guard<std::mutex> lock(mutex_);
  suspects_.insert(rank);
}

absl::StatusOr<std::vector<int>> MpiLibrary::FailedRanks() {
  if (!survives_failures_) return std::vector<int>();
  const absl::Time latest = absl::Now() + kConfirmation;
  while (true) {
    int flag = 0;
    // MPI notices while it is called.
    HILO_RETURN_IF_ERROR(StatusOf(mpi_->Iprobe(rank_, 0, world_, &flag, status_ignore_), "MPI_Iprobe"));
    MpiHandle group = 0;
    HILO_RETURN_IF_ERROR(StatusOf(mpi_->Comm_get_failed(world_, &group), "MPIX_Comm_get_failed"));
    absl::StatusOr<std::vector<int>> failed = RanksOf(group);
    mpi_->Group_free(&group);
    if (!failed.ok()) return failed;
    std::sort(failed->begin(), failed->end());
    {
      std::lock_guard<std::mutex> lock(mutex_);
      for (const int rank : *failed) suspects_.erase(rank);
      if (suspects_.empty()) return failed;
      if (absl::Now() >= latest) {
        suspects_.clear();  // they live, as MPI sees it
        return failed;
      }
    }
    absl::SleepFor(kConfirmationInterval);
  }
}

// The ranks in MPI_COMM_WORLD of the members of a group, in its order.
absl::StatusOr<std::vector<int>> MpiLibrary::RanksOf(MpiHandle group) const {
  int size = 0;
  HILO_RETURN_IF_ERROR(StatusOf(mpi_->Group_size(group, &size), "MPI_Group_size"));
  std::vector<int> numbers(size), ranks(size);
  std::iota(numbers.begin(), numbers.end(), 0);
  if (size == 0) return ranks;
  MpiHandle world = 0;
  HILO_RETURN_IF_ERROR(StatusOf(mpi_->Comm_group(world_, &world), "MPI_Comm_group"));
  const absl::Status status = StatusOf(mpi_->Group_translate_ranks(group, size, numbers.data(), world, ranks.data()),
                                       "MPI_Group_translate_ranks");
  mpi_->Group_free(&world);
  if (!status.ok()) return status;
  return ranks;
}

absl::StatusOr<MpiHandle> MpiLibrary::CreateCommunicator(std::vector<int> ranks, std::vector<int> failed,
                                                         absl::Time deadline,
                                                         const std::function<absl::Status()>& give_up) {
  // MPI has only a call that waits: if one of the others never comes, its thread is left behind.
  std::packaged_task<absl::StatusOr<MpiHandle>()> task(
      [this, ranks = std::move(ranks), failed = std::move(failed)] { return CreateCommunicator(ranks, failed); });
  std::future<absl::StatusOr<MpiHandle>> made = task.get_future();
  try {
    const SignalsBlocked signals_blocked;
    std::thread(std::move(task)).detach();
  } catch (const std::system_error& error) {
    return ResourceExhausted("the system gives no thread for MPI: ", error.what());
  }
  absl::Status status;
  while (status.ok() && made.wait_for(kGiveUpInterval) != std::future_status::ready) {
    if (give_up != nullptr) status = give_up();
    if (status.ok() && absl::Now() >= deadline)
      status = DeadlineExceeded("the deadline has passed in MPI_Comm_create_group of ", version_);
  }
  if (status.ok()) return made.get();
  LeaveWithoutFinalizing();  // which must not be done while that thread is in MPI
  return status;
}

// Without failures one of MPI_COMM_WORLD (MPI_Comm_create_group), to which the other processes of the job need not
// contribute. MPI makes none of a communicator of which a process has failed: that is shrunk first, by all who are
// left. Last, all members agree that all have the result; else they revoke it.
absl::StatusOr<MpiHandle> MpiLibrary::CreateCommunicator(const std::vector<int>& ranks,
                                                         const std::vector<int>& failed) {
  MpiHandle base = 0;
  std::vector<int> base_ranks, survivors;
  const auto read_base = [&] {
    std::lock_guard<std::mutex> lock(mutex_);
    base = base_;
    base_ranks = base_ranks_;
  };
  read_base();
  std::set_difference(base_ranks.begin(), base_ranks.end(), failed.begin(), failed.end(),
                      std::back_inserter(survivors));
  if (survivors.size() != base_ranks.size()) {
    std::vector<int> members = ranks;
    std::sort(members.begin(), members.end());
    if (members != survivors)
      return Unavailable("processes of the MPI job have failed (ranks ", absl::StrJoin(failed, ", "),
                         "): the first group after that must have all others of the job (ranks ",
                         absl::StrJoin(survivors, ", "), "), not only ranks ", absl::StrJoin(members, ", "));
    HILO_RETURN_IF_ERROR(Shrink(base));
    read_base();
  }
  std::vector<int> numbers;  // in the base
  for (const int rank : ranks) {
    const auto found = std::find(base_ranks.begin(), base_ranks.end(), rank);
    if (found == base_ranks.end()) return Unavailable("rank ", rank, " of the MPI job has failed");
    numbers.push_back(static_cast<int>(found - base_ranks.begin()));
  }
  HILO_ASSIGN_OR_RETURN(MpiHandle communicator, CreateFrom(base, numbers));
  if (!survives_failures_) return communicator;
  int flag = 1;
  const absl::Status agreed = StatusOf(mpi_->Comm_agree(communicator, &flag), "MPIX_Comm_agree");
  if (agreed.ok()) return communicator;
  mpi_->Comm_revoke(communicator);
  mpi_->Comm_free(&communicator);
  return AddContext(agreed, "; a process has failed while the group was made");
}

// All survivors call this, and get the same: MPIX_Comm_shrink agrees on those that have failed.
absl::Status MpiLibrary::Shrink(MpiHandle before) {
  // Ends what a process may be waiting for there. MPI_COMM_WORLD is the program's, too.
  if (before != world_) mpi_->Comm_revoke(before);
  MpiHandle shrunk = 0, group = 0;
  HILO_RETURN_IF_ERROR(StatusOf(mpi_->Comm_shrink(before, &shrunk), "MPIX_Comm_shrink"));
  HILO_RETURN_IF_ERROR(StatusOf(mpi_->Comm_set_errhandler(shrunk, errors_return_), "MPI_Comm_set_errhandler"));
  HILO_RETURN_IF_ERROR(StatusOf(mpi_->Comm_group(shrunk, &group), "MPI_Comm_group"));
  absl::StatusOr<std::vector<int>> ranks = RanksOf(group);
  mpi_->Group_free(&group);
  if (!ranks.ok()) return ranks.status();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    base_ = shrunk;
    base_ranks_ = *std::move(ranks);
  }
  if (before != world_) mpi_->Comm_free(&before);
  return absl::OkStatus();
}

absl::StatusOr<MpiHandle> MpiLibrary::CreateFrom(MpiHandle parent, const std::vector<int>& ranks) {
  MpiHandle all = 0, group = 0, communicator = 0;
  HILO_RETURN_IF_ERROR(StatusOf(mpi_->Comm_group(parent, &all), "MPI_Comm_group"));
  absl::Status status =
      StatusOf(mpi_->Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &group), "MPI_Group_incl");
  if (status.ok()) {
    status = StatusOf(mpi_->Comm_create_group(parent, group, kGroupTag, &communicator), "MPI_Comm_create_group");
    mpi_->Group_free(&group);
  }
  mpi_->Group_free(&all);
  if (!status.ok()) return status;
  HILO_RETURN_IF_ERROR(StatusOf(mpi_->Comm_set_errhandler(communicator, errors_return_), "MPI_Comm_set_errhandler"));
  return communicator;
}

void MpiLibrary::FreeCommunicator(MpiHandle communicator) { mpi_->Comm_free(&communicator); }

absl::StatusOr<MpiHandle> MpiLibrary::Send(MpiHandle communicator, int rank, int tag, const void* data, int bytes) {
  MpiHandle request = 0;
  HILO_RETURN_IF_ERROR(StatusOf(mpi_->Issend(data, bytes, byte_, rank, tag, communicator, &request), "MPI_Issend"));
  return request;
}

absl::StatusOr<MpiHandle> MpiLibrary::Receive(MpiHandle communicator, int rank, int tag, void* data, int bytes) {
  MpiHandle request = 0;
  HILO_RETURN_IF_ERROR(StatusOf(mpi_->Irecv(data, bytes, byte_, rank, tag, communicator, &request), "MPI_Irecv"));
  return request;
}

absl::StatusOr<bool> MpiLibrary::Test(MpiHandle* request) {
  int flag = 0;
  HILO_RETURN_IF_ERROR(StatusOf(mpi_->Test(request, &flag, status_ignore_), "MPI_Test"));
  return flag != 0;
}

bool MpiLibrary::Cancel(MpiHandle* request) {
  if (mpi_->Cancel(request) != 0) return false;
  for (int i = 0; i < kTestsAfterCancel; ++i) {
    const absl::StatusOr<bool> done = Test(request);
    if (!done.ok() || *done) return done.ok();
  }
  return false;
}

void MpiLibrary::NoteFailure() { has_failure = true; }

void MpiLibrary::LeaveWithoutFinalizing() { finalizes_at_exit = false; }

}  // namespace hilo
