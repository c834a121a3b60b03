// A handle is passed as a whole register, of which libraries whose handles are ints read the lower half; what they
// write into the memory of one is its lower half on little-endian machines, the upper being zero.
#include "collectives/mpi_library.h"

#include <dlfcn.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <future>
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
constexpr int kMostVersionBytes = 8192, kMostErrorBytes = 1024;
// Of MPI_Comm_create_group, among the communicators that one process makes at the same time.
constexpr int kGroupTag = 7321;

constexpr const char* kOpenMpiNames[] = {"libmpi.so.40", "libmpi.so.80"};
constexpr const char* kMpichNames[] = {"libmpich.so.12", "libmpi.so.12"};
constexpr const char* kAbiNames[] = {"libmpi_abi.so.0", "libmpi_abi.so.1"};

std::atomic<bool> finalizes_at_exit = true;
int (*finalize)() = nullptr;
int (*finalized)(int* flag) = nullptr;

// MPI_Finalize waits for the other processes, one of which may be stuck.
constexpr std::chrono::seconds kMostToFinalize(5);
constexpr std::chrono::milliseconds kGiveUpInterval(50);
constexpr int kTestsAfterCancel = 100;

void FinalizeAtExit() {
  int flag = 0;
  if (!finalizes_at_exit || finalized(&flag) != 0 || flag != 0) return;
  try {
    std::packaged_task<int()> task(finalize);
    std::future<int> done = task.get_future();
    std::thread(std::move(task)).detach();
    done.wait_for(kMostToFinalize);
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
#include "collectives/mpi_functions.def"
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
#include "collectives/mpi_functions.def"
#undef MPI_FUNCTION
  Dl_info info = {};
  if (dladdr(reinterpret_cast<void*>(mpi_->Init_thread), &info) != 0) path_ = info.dli_fname;
  // Open MPI's handles are addresses of its objects, the others' are numbers.
  if (void* const world = dlsym(library, "ompi_mpi_comm_world"); world != nullptr) {
    world_ = reinterpret_cast<MpiHandle>(world);
    byte_ = reinterpret_cast<MpiHandle>(dlsym(library, "ompi_mpi_byte"));
    errors_return_ = reinterpret_cast<MpiHandle>(dlsym(library, "ompi_mpi_errors_return"));
    thread_multiple_ = 3;
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
  char text[kMostVersionBytes] = {};
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
  job_ = absl::StrCat(version_, " of ", size_);
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
  char text[kMostErrorBytes] = {};
  int length = 0;
  mpi_->Error_string(code, text, &length);
  return Unavailable(function, ": ", text);
}

absl::StatusOr<MpiHandle> MpiLibrary::CreateCommunicator(std::vector<int> ranks, absl::Time deadline,
                                                         const std::function<absl::Status()>& give_up) {
  // MPI has only a call that waits: if one of the others never comes, its thread is left behind.
  std::packaged_task<absl::StatusOr<MpiHandle>()> task(
      [this, ranks = std::move(ranks)] { return CreateCommunicator(ranks); });
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

absl::StatusOr<MpiHandle> MpiLibrary::CreateCommunicator(const std::vector<int>& ranks) {
  MpiHandle world = 0, group = 0, communicator = 0;
  HILO_RETURN_IF_ERROR(StatusOf(mpi_->Comm_group(world_, &world), "MPI_Comm_group"));
  absl::Status status =
      StatusOf(mpi_->Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group), "MPI_Group_incl");
  if (status.ok()) {
    status = StatusOf(mpi_->Comm_create_group(world_, group, kGroupTag, &communicator), "MPI_Comm_create_group");
    mpi_->Group_free(&group);
  }
  mpi_->Group_free(&world);
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

void MpiLibrary::LeaveWithoutFinalizing() { finalizes_at_exit = false; }

}  // namespace hilo
