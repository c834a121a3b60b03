// Every allocation fails once, and every thread that is started: hilo_allocation_tests.
//
// Each scenario is done again and again, and the first, the second ... of its allocations fails, until all that
// it needs succeed. Each time there must be an error that says so (or the memory was not needed), nothing may be
// lost, and what the scenario uses must go on. In runs and transfers any memory fails; where programs are read and
// compiled, that of buffers: neither abseil's tables nor LLVM go on without memory of their own.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/compile/cpu_compiler.h"
#include "hilo/client.h"
#include "hilo/status_macros.h"
#include "runtime/compiler.h"
#include "runtime/guarded.h"
#include "runtime/runtime_access.h"

namespace {

constexpr int64_t kNever = -1;
std::atomic<int64_t> left{kNever};  // allocations that succeed before one fails
std::atomic<int64_t> live{0};       // allocations that have not been given back

// A thread whose allocation failed pauses at its next one, so that others see the state that it left.
thread_local bool pauses = false;

void* Allocate(size_t size, size_t alignment) {
  if (std::exchange(pauses, false)) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  if (left.load(std::memory_order_relaxed) != kNever && left.fetch_sub(1) == 0) {
    pauses = true;
    return nullptr;
  }
  void* memory = alignment == 0 ? std::malloc(size)
                                : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory != nullptr) live.fetch_add(1, std::memory_order_relaxed);
  return memory;
}
void* AllocateOrThrow(size_t size, size_t alignment) {
  if (void* memory = Allocate(size == 0 ? 1 : size, alignment)) return memory;
  throw std::bad_alloc();
}
void Free(void* memory) {
  if (memory != nullptr) live.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}

std::atomic<int64_t> threads_left{kNever};  // threads that start before none does
std::atomic<bool> thread_refused{false};

}  // namespace

extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                             void* (*start)(void*), void* argument) noexcept {
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (threads_left.load() == kNever) return real(thread, attributes, start, argument);
  if (threads_left.load() > 0) {
    --threads_left;
    return real(thread, attributes, start, argument);
  }
  thread_refused = true;
  return EAGAIN;
}

void* operator new(size_t size) { return AllocateOrThrow(size, 0); }
void* operator new[](size_t size) { return AllocateOrThrow(size, 0); }
void* operator new(size_t size, std::align_val_t alignment) {
  return AllocateOrThrow(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return AllocateOrThrow(size, static_cast<size_t>(alignment));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return Allocate(size, 0); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return Allocate(size, 0); }
void operator delete(void* memory) noexcept { Free(memory); }
void operator delete[](void* memory) noexcept { Free(memory); }
void operator delete(void* memory, size_t) noexcept { Free(memory); }
void operator delete[](void* memory, size_t) noexcept { Free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { Free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { Free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { Free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { Free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { Free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { Free(memory); }

namespace hilo {
namespace {

constexpr char kElementwise[] = R"(HloModule m
ENTRY main { x = f32[300] parameter(0)  y = f32[300] exponential(x)  z = f32[300] add(x, y)  ROOT r = (f32[300], f32[300]) tuple(y, z) })";
constexpr char kReduction[] = R"(HloModule m
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main { x = f32[300] parameter(0)  zero = f32[] constant(0)  ROOT r = f32[] reduce(x, zero), dimensions={0}, to_apply=sum })";
constexpr char kLoop[] = R"(HloModule m
more { s = (s32[], f32[300]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(3)  ROOT c = pred[] compare(i, n), direction=LT }
next { s = (s32[], f32[300]) parameter(0)  i = s32[] get-tuple-element(s), index=0  x = f32[300] get-tuple-element(s), index=1
       one = s32[] constant(1)  j = s32[] add(i, one)  y = f32[300] multiply(x, x)  ROOT r = (s32[], f32[300]) tuple(j, y) }
ENTRY main { x = f32[300] parameter(0)  zero = s32[] constant(0)  s = (s32[], f32[300]) tuple(zero, x)
             w = (s32[], f32[300]) while(s), condition=more, body=next  ROOT r = f32[300] get-tuple-element(w), index=1 })";
constexpr char kSorted[] = R"(HloModule m
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT }
ENTRY main { x = f32[300] parameter(0)  ROOT s = f32[300] sort(x), dimensions={0}, to_apply=less })";
constexpr char kProduct[] = R"(HloModule m
ENTRY main { x = f32[300] parameter(0)  y = f32[15,20] reshape(x)  ROOT r = f32[15,15] dot(y, y), lhs_contracting_dims={1}, rhs_contracting_dims={1} })";
constexpr char kFourier[] = R"(HloModule m
ENTRY main { x = f32[300] parameter(0)  ROOT r = c64[151] fft(x), fft_type=RFFT, fft_length={300} })";
constexpr char kDynamic[] = R"(HloModule m
ENTRY main { x = f32[300] parameter(0)  n = s32[] constant(7)  d = f32[<=300] set-dimension-size(x, n), dimensions={0}  ROOT r = f32[<=300] negate(d) })";
constexpr char kLarge[] = R"(HloModule m
ENTRY main { x = f32[300] parameter(0)  b = f32[300,1000] broadcast(x), dimensions={0}  ROOT r = f32[300,1000] sine(b) })";
constexpr char kAllReduce[] = R"(HloModule m, replica_count=2
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main { x = f32[300] parameter(0)  ROOT r = f32[300] all-reduce(x), replica_groups={}, to_apply=sum })";
// Too long for one thread to run both devices.
constexpr char kLongAllReduce[] = R"(HloModule m, replica_count=2
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main { x = f32[300] parameter(0)  b = f32[300,20000] broadcast(x), dimensions={0}  y = f32[300,20000] sine(b)
             ROOT r = f32[300,20000] all-reduce(y), replica_groups={}, to_apply=sum })";
constexpr char kTopK[] = R"(HloModule m
ENTRY main { x = f32[300] parameter(0)  b = f32[300,300] broadcast(x), dimensions={1}  ROOT r = (f32[300,4], s32[300,4]) topk(b), k=4, largest=true })";
constexpr char kSolve[] = R"(HloModule m
ENTRY main { x = f32[300] parameter(0)  b = f32[300,300] broadcast(x), dimensions={1}  i = s32[300,300] iota(), iota_dimension=0  j = s32[300,300] iota(), iota_dimension=1
             e = pred[300,300] compare(i, j), direction=EQ  d = f32[300,300] convert(e)  ROOT r = f32[300,300] cholesky(d), lower=true })";
// So many dimensions that a part of the batch takes memory to describe.
constexpr char kSolves[] = R"(HloModule m
ENTRY main { x = f32[300] parameter(0)  i = s32[64,1,1,1,1,30,30]{5,6,4,3,2,1,0} iota(), iota_dimension=5  j = s32[64,1,1,1,1,30,30]{5,6,4,3,2,1,0} iota(), iota_dimension=6
             e = pred[64,1,1,1,1,30,30]{5,6,4,3,2,1,0} compare(i, j), direction=EQ  d = f32[64,1,1,1,1,30,30]{5,6,4,3,2,1,0} convert(e)
             c = (f32[64,1,1,1,1,30,30]{5,6,4,3,2,1,0}, s32[64,1,1,1,1]) custom-call(d), custom_call_target="lapack_spotrf_ffi", operand_layout_constraints={f32[64,1,1,1,1,30,30]{5,6,4,3,2,1,0}},
                 api_version=API_VERSION_TYPED_FFI, backend_config={uplo = 76 : ui8}
             ROOT r = s32[64,1,1,1,1] get-tuple-element(c), index=1 })";
constexpr const char* kPrograms[] = {kSolves, kTopK,    kSolve,   kElementwise, kReduction, kLoop,
                                     kSorted, kProduct, kFourier, kDynamic,     kLarge};

struct Scenario {
  std::string name;
  std::function<absl::Status()> run;
};

// Counts down by itself: memory of buffers alone fails.
class FailingAllocator : public HostAllocator {
 public:
  void* Allocate(int64_t size, int64_t alignment) override {
    if (left_ != kNever && left_.fetch_sub(1) == 0) return nullptr;
    void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    live_ += memory != nullptr;
    return memory;
  }
  void Free(void* memory, int64_t) override {
    --live_;
    std::free(memory);
  }
  std::atomic<int64_t> left_{kNever}, live_{0};
};

Literal Argument() {
  Literal literal = *Literal::Create(ShapeUtil::MakeShape(F32, {300}));
  for (size_t i = 0; i < 300; ++i) literal.data<float>()[i] = static_cast<float>(i % 17) / 8;
  return literal;
}

absl::Status CompileAndRun(Client* client, const char* text) {
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<Executable> executable, client->CompileHloText(text));
  return Guarded([&]() -> absl::Status {
    const Literal argument = Argument();
    return executable->ExecuteLiterals({&argument}).status();
  });
}

// On the device's queue; an error may come with the call or with a result.
absl::Status RunAsynchronously(Client* client, const Executable& executable) {
  return Guarded([&]() -> absl::Status {
    HILO_ASSIGN_OR_RETURN(const std::unique_ptr<Buffer> argument, client->BufferFromLiteral(Argument()));
    HILO_ASSIGN_OR_RETURN(const auto results, executable.Execute({argument.get()}));
    for (const auto& result : results) HILO_RETURN_IF_ERROR(result->ToLiteral().status());
    return absl::OkStatus();
  });
}

absl::Status RunOnTwoDevices(Client* client, const Executable& executable,
                             absl::Duration deadline = absl::InfiniteDuration()) {
  return Guarded([&]() -> absl::Status {
    HILO_ASSIGN_OR_RETURN(const std::unique_ptr<Buffer> first, client->BufferFromLiteral(Argument(), 0));
    HILO_ASSIGN_OR_RETURN(const std::unique_ptr<Buffer> second, client->BufferFromLiteral(Argument(), 1));
    HILO_ASSIGN_OR_RETURN(const auto results,
                          executable.ExecuteReplicated({{first.get()}, {second.get()}}, {.deadline = deadline}));
    for (const auto& device : results) {
      for (const auto& result : device) HILO_RETURN_IF_ERROR(result->ToLiteral().status());
    }
    return absl::OkStatus();
  });
}

// With a client of its own, whose threads have yet to start. `deadline` has a thread of its own.
absl::Status RunOnTwoNewDevices(const std::string& program, absl::Duration deadline) {
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<Client> client,
                        Client::Create({.device_count = 2, .num_threads = 2, .cache_dir = ""}));
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<Executable> executable, client->Load(program));
  return RunOnTwoDevices(client.get(), *executable, deadline);
}

std::unique_ptr<Client> MakeClient(ClientOptions options) {
  options.num_threads = 2;
  options.cache_dir = "";
  auto client = Client::Create(options);
  if (!client.ok()) std::printf("%s\n", client.status().ToString().c_str()), std::exit(1);
  return *std::move(client);
}

std::shared_ptr<Executable> MustCompile(Client* client, const char* text) {
  auto executable = client->CompileHloText(text);
  if (!executable.ok()) std::printf("%s\n", executable.status().ToString().c_str()), std::exit(1);
  return *std::move(executable);
}

// A device that has the work before it is done: runs begin, and their ends are awaited on another thread.
class QueuedProgram : public CompiledProgram {
 public:
  explicit QueuedProgram(std::unique_ptr<CompiledProgram> program) : program_(std::move(program)) {}
  absl::Status Run(const RunContext& context, absl::Span<const void* const> parameters,
                   absl::Span<void* const> outputs) const override {
    return program_->Run(context, parameters, outputs);
  }
  bool CanBegin() const override { return true; }
  absl::StatusOr<std::unique_ptr<PendingRun>> Begin(const RunContext& context, absl::Span<const void* const> parameters,
                                                    absl::Span<void* const> outputs) const override {
    class Ended : public PendingRun {
     public:
      absl::Status Await() override { return absl::OkStatus(); }
    };
    auto pending = std::make_unique<Ended>();
    HILO_RETURN_IF_ERROR(Run(context, parameters, outputs));
    return pending;
  }
  const ProgramShape& program_shape() const override { return program_->program_shape(); }
  absl::Span<const std::pair<int64_t, int64_t>> donations() const override { return program_->donations(); }
  int64_t temp_bytes() const override { return program_->temp_bytes(); }
  int64_t code_bytes() const override { return program_->code_bytes(); }
  int64_t estimated_nanoseconds() const override { return int64_t{1} << 40; }  // never on the caller's thread

 private:
  const std::unique_ptr<CompiledProgram> program_;
};

class QueuedCompiler : public Compiler {
 public:
  std::string platform() const override { return "queued"; }
  absl::StatusOr<std::unique_ptr<CompiledProgram>> Compile(std::unique_ptr<HloModule> module,
                                                           const CompileOptions& options, ThreadPool* pool) override {
    HILO_ASSIGN_OR_RETURN(std::unique_ptr<CompiledProgram> program, cpu_->Compile(std::move(module), options, pool));
    return std::make_unique<QueuedProgram>(std::move(program));
  }
  absl::Span<const absl::string_view> EmitKinds() const override { return {}; }
  absl::StatusOr<std::string> Emit(std::unique_ptr<HloModule>, const CompileOptions&, absl::string_view) override {
    return absl::UnimplementedError("the test emits nothing");
  }

 private:
  const std::unique_ptr<Compiler> cpu_ = cpu::CreateCpuCompiler();
};

class Tester {
 public:
  // `arm` makes allocation number k from now on fail; `disarm` says whether it has.
  void Run(const Scenario& scenario, const std::function<void(int64_t k)>& arm, const std::function<bool()>& disarm,
           const std::function<int64_t()>& count) {
    for (int i = 0; i < 3; ++i) {  // fills what is kept for the next time
      if (const absl::Status status = scenario.run(); !status.ok())
        return Fail(scenario, -1, absl::StrCat("fails with all memory: ", status.ToString()));
    }
    const int64_t before = count();
    int64_t errors = 0, k = 0;
    for (bool fired = true; fired; ++k) {
      arm(k);
      const absl::Status status = scenario.run();
      fired = disarm();
      errors += !status.ok();
      if (!status.ok() && (!fired || !absl::IsResourceExhausted(status))) return Fail(scenario, k, status.ToString());
      if (k % 16 != 0) continue;
      if (const absl::Status again = scenario.run(); !again.ok())
        return Fail(scenario, k, absl::StrCat("does not go on: ", again.ToString()));
    }
    if (errors == 0) return Fail(scenario, k, "no error at all");
    for (int i = 0; i < 200 && count() > before + kKept; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));  // threads may lag behind
    if (count() > before + kKept) return Fail(scenario, k, absl::StrCat(count() - before, " allocations are lost"));
    ++passed_;
    rounds_ += k;
  }
  void RunWithNew(const Scenario& scenario) {
    Run(scenario, [](int64_t k) { left = k; }, [] { return left.exchange(kNever) < 0; }, [] { return live.load(); });
  }
  int Finish() const {
    std::printf("%d scenarios, %lld failed allocations, %d failures\n", passed_ + failed_,
                static_cast<long long>(rounds_), failed_);
    return failed_ == 0 ? 0 : 1;
  }

 private:
  // Lists of free blocks and the like may have grown.
  static constexpr int64_t kKept = 40;

  void Fail(const Scenario& scenario, int64_t k, const std::string& what) {
    left = kNever;
    ++failed_;
    std::printf("FAILED %s, allocation %lld: %s\n", scenario.name.c_str(), static_cast<long long>(k), what.c_str());
    std::fflush(stdout);
  }
  int passed_ = 0, failed_ = 0;
  int64_t rounds_ = 0;
};

int Main() {
  Tester tester;
  const std::shared_ptr<Client> cpu = MakeClient({});
  FailingAllocator allocator;
  const std::shared_ptr<Client> failing = MakeClient({.host_allocator = &allocator});
  for (size_t i = 0; i < std::size(kPrograms); ++i) {
    const char* text = kPrograms[i];
    const std::shared_ptr<Executable> executable = MustCompile(cpu.get(), text);
    tester.RunWithNew({absl::StrCat("run, program ", i), [&] { return RunAsynchronously(cpu.get(), *executable); }});
    tester.Run(
        {absl::StrCat("buffers, program ", i), [&] { return CompileAndRun(failing.get(), text); }},
        [&](int64_t k) { allocator.left_ = k; }, [&] { return allocator.left_.exchange(kNever) < 0; },
        [&] { return 1000 * allocator.live_ + failing->memory_stats().bytes_in_use; });
  }
  auto queued = RuntimeAccess::CreateClient({.num_threads = 1, .cache_dir = ""}, std::make_unique<QueuedCompiler>());
  if (!queued.ok()) std::printf("%s\n", queued.status().ToString().c_str()), std::exit(1);
  const std::shared_ptr<Executable> begun = MustCompile(queued->get(), kElementwise);
  tester.RunWithNew({"runs that begin", [&] { return RunAsynchronously(queued->get(), *begun); }});
  const std::shared_ptr<Client> two = MakeClient({.device_count = 2});
  const std::shared_ptr<Executable> sum = MustCompile(two.get(), kAllReduce);
  tester.RunWithNew({"two devices", [&] { return RunOnTwoDevices(two.get(), *sum); }});
  const std::string program = *MustCompile(two.get(), kLongAllReduce)->Serialize();
  for (const absl::Duration deadline : {absl::InfiniteDuration(), absl::Minutes(1)}) {
    tester.Run(
        {absl::StrCat("threads, deadline ", absl::FormatDuration(deadline)),
         [&] { return RunOnTwoNewDevices(program, deadline); }},
        [](int64_t k) { threads_left = k; },
        [] {
          threads_left = kNever;
          return thread_refused.exchange(false);
        },
        [] { return int64_t{0}; });
  }
  const std::shared_ptr<Executable> loop = MustCompile(cpu.get(), kLoop);
  tester.RunWithNew({"serialize", [&] { return loop->Serialize().status(); }});
  return tester.Finish();
}

}  // namespace
}  // namespace hilo

int main() { return hilo::Main(); }
