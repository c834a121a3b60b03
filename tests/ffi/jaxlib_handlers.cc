// Handlers as users of JAX write them, compiled against the headers that jaxlib installs; typed_call_test.cc calls
// them.
#include <atomic>
#include <complex>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "hilo/ffi.h"
#include "xla/ffi/api/ffi.h"

namespace {

using namespace xla::ffi;  // NOLINT: what handlers are written with

Error Scale(Buffer<F32> x, Result<Buffer<F32>> y, float factor) {
  if (x.dimensions().size() != 2) return Error::InvalidArgument("expected a matrix");
  for (size_t i = 0; i < x.element_count(); ++i) y->typed_data()[i] = factor * x.typed_data()[i];
  return Error::Success();
}

// The dimensions, as the handler sees them.
Error Dimensions(AnyBuffer x, Result<BufferR1<S64>> sizes) {
  for (size_t i = 0; i < x.dimensions().size(); ++i) sizes->typed_data()[i] = x.dimensions()[i];
  return Error::Success();
}

Error Attributes(Result<BufferR0<S32>> wrong, bool on, int8_t i8, int16_t i16, int32_t i32, int64_t i64, uint8_t u8,
                 uint16_t u16, uint32_t u32, uint64_t u64, float f32, double f64, std::string_view name,
                 Span<const int64_t> numbers, Span<const float> floats, Dictionary nested) {
  int count = 0;
  const auto check = [&](bool right) { count += right ? 0 : 1; };
  check(on && i8 == -1 && i16 == -2 && i32 == -3 && i64 == -4 && u8 == 1 && u16 == 2 && u32 == 3 && u64 == 4);
  check(f32 == 1.5f && f64 == 2.5 && name == "a\"b");
  check(numbers.size() == 3 && numbers[0] == 7 && numbers[2] == -9);
  check(floats.size() == 2 && floats[1] == 0.5f);
  check(nested.size() == 2 && nested.contains("deep") && *nested.get<int32_t>("x") == 5);
  const auto deep = nested.get<Dictionary>("deep");
  check(deep.has_value() && *deep->get<std::string_view>("s") == "t");
  check(nested.get<float>("x").has_error() && nested.get<int32_t>("y").has_error());
  *wrong->typed_data() = count;
  return Error::Success();
}

// Results are sums of all arguments, times their number.
Error Remaining(RemainingArgs args, RemainingRets rets) {
  float sum = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    auto arg = args.get<BufferR0<F32>>(i);
    if (!arg.has_value()) return arg.error();
    sum += *arg->typed_data();
  }
  for (size_t i = 0; i < rets.size(); ++i) {
    auto ret = rets.get<BufferR0<F32>>(i);
    if (!ret.has_value()) return ret.error();
    *(*ret)->typed_data() = sum * static_cast<float>(i + 1);
  }
  return Error::Success();
}

Error WithToken(Token, Buffer<F32> x, Result<Token>, Result<Buffer<F32>> y) {
  *y->typed_data() = *x.typed_data() + 1;
  return Error::Success();
}

Error Fails(Result<BufferR0<F32>>) { return Error(ErrorCode::kDataLoss, "it is gone"); }
Error Throws(Result<BufferR0<F32>>) { throw std::runtime_error("a fit"); }

// A state of the instance that counts calls, from what an attribute says.
struct Counter {
  static TypeId id;
  explicit Counter(int64_t start) : count(start) { ++alive; }
  ~Counter() { --alive; }
  std::atomic<int64_t> count;
  static std::atomic<int64_t> alive;
};
TypeId Counter::id = {};
std::atomic<int64_t> Counter::alive = 0;
ErrorOr<std::unique_ptr<Counter>> MakeCounter(int64_t start) {
  if (start < 0) return Unexpected(Error::InvalidArgument("cannot start below 0"));
  return std::make_unique<Counter>(start);
}
Error Count(Counter* counter, Result<BufferR0<S64>> result, int64_t) {
  *result->typed_data() = ++counter->count;
  return Error::Success();
}
Error Alive(Result<BufferR0<S64>> result) {
  *result->typed_data() = Counter::alive;
  return Error::Success();
}

// States of a run: each stage adds a digit.
struct Digits {
  static TypeId id;
  int64_t value;
};
TypeId Digits::id = {};
ErrorOr<std::unique_ptr<Digits>> Prepare() { return std::make_unique<Digits>(Digits{1}); }
ErrorOr<std::unique_ptr<Digits>> Initialize(Digits* prepared) {
  return std::make_unique<Digits>(Digits{10 * prepared->value + 2});
}
Error ReadDigits(Digits* prepared, Digits* initialized, Result<BufferR0<S64>> result) {
  *result->typed_data() = 100 * initialized->value + prepared->value;
  return Error::Success();
}

// What the run has: device, threads, scratch memory, the caller's object.
struct Caller {
  static TypeId id;
  int64_t number;
};
TypeId Caller::id = {};
Error UseContext(ScratchAllocator scratch, ThreadPool pool, int32_t device, RunId run, Caller* caller,
                 Result<BufferR1<S64>> result) {
  auto memory = scratch.Allocate(1000, 256);
  if (!memory.has_value() || reinterpret_cast<uintptr_t>(*memory) % 256 != 0)
    return Error::Internal("no scratch memory");
  auto* sums = static_cast<std::atomic<int64_t>*>(*memory);
  new (sums) std::atomic<int64_t>(0);
  std::atomic<int> left = 8;
  for (int i = 0; i < 8; ++i) {
    pool.Schedule([&left, sums, i] {
      *sums += i;
      --left;
    });
  }
  while (left > 0) std::this_thread::yield();
  int64_t* out = result->typed_data();
  out[0] = *sums;
  out[1] = pool.num_threads();
  out[2] = device;
  out[3] = run.run_id;
  out[4] = caller->number;
  return Error::Success();
}

// Ends later, on another thread.
Future Later(ThreadPool pool, Result<BufferR0<F32>> result, bool fail) {
  Promise promise;
  Future future(promise);
  pool.Schedule([promise, fail, data = result->typed_data()]() mutable {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    *data = 4;
    if (fail) {
      promise.SetError(Error(ErrorCode::kUnavailable, "no receiver"));
    } else {
      promise.SetAvailable();
    }
  });
  return future;
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(ScaleHandler, Scale,
                              Ffi::Bind().Arg<Buffer<F32>>().Ret<Buffer<F32>>().Attr<float>("factor"));
XLA_FFI_DEFINE_HANDLER_SYMBOL(DimensionsHandler, Dimensions, Ffi::Bind().Arg<AnyBuffer>().Ret<BufferR1<S64>>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(AttributesHandler, Attributes,
                              Ffi::Bind()
                                  .Ret<BufferR0<S32>>()
                                  .Attr<bool>("on")
                                  .Attr<int8_t>("i8")
                                  .Attr<int16_t>("i16")
                                  .Attr<int32_t>("i32")
                                  .Attr<int64_t>("i64")
                                  .Attr<uint8_t>("u8")
                                  .Attr<uint16_t>("u16")
                                  .Attr<uint32_t>("u32")
                                  .Attr<uint64_t>("u64")
                                  .Attr<float>("f32")
                                  .Attr<double>("f64")
                                  .Attr<std::string_view>("name")
                                  .Attr<Span<const int64_t>>("numbers")
                                  .Attr<Span<const float>>("floats")
                                  .Attr<Dictionary>("nested"));
XLA_FFI_DEFINE_HANDLER_SYMBOL(RemainingHandler, Remaining, Ffi::Bind().RemainingArgs().RemainingRets());
XLA_FFI_DEFINE_HANDLER_SYMBOL(TokenHandler, WithToken,
                              Ffi::Bind().Arg<Token>().Arg<Buffer<F32>>().Ret<Token>().Ret<Buffer<F32>>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(FailsHandler, Fails, Ffi::Bind().Ret<BufferR0<F32>>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(ThrowsHandler, Throws, Ffi::Bind().Ret<BufferR0<F32>>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(MakeCounterHandler, MakeCounter, Ffi::BindInstantiate().Attr<int64_t>("start"));
XLA_FFI_DEFINE_HANDLER_SYMBOL(CountHandler, Count,
                              Ffi::Bind().Ctx<State<Counter>>().Ret<BufferR0<S64>>().Attr<int64_t>("start"));
XLA_FFI_DEFINE_HANDLER_SYMBOL(AliveHandler, Alive, Ffi::Bind().Ret<BufferR0<S64>>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(PrepareHandler, Prepare, Ffi::BindPrepare());
XLA_FFI_DEFINE_HANDLER_SYMBOL(InitializeHandler, Initialize, Ffi::BindInitialize().Ctx<Prepared<Digits>>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(ReadDigitsHandler, ReadDigits,
                              Ffi::Bind().Ctx<Prepared<Digits>>().Ctx<Initialized<Digits>>().Ret<BufferR0<S64>>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(UseContextHandler, UseContext,
                              Ffi::Bind()
                                  .Ctx<ScratchAllocator>()
                                  .Ctx<ThreadPool>()
                                  .Ctx<DeviceOrdinal>()
                                  .Ctx<RunId>()
                                  .Ctx<UserData<Caller>>()
                                  .Ret<BufferR1<S64>>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(LaterHandler, Later,
                              Ffi::Bind().Ctx<ThreadPool>().Ret<BufferR0<F32>>().Attr<bool>("fail"));

extern "C" void HiloRegisterCustomCalls(const HiloCustomCallRegistrar* registrar) {
  const XLA_FFI_Api* api = registrar->ffi_api;
  XLA_FFI_TypeInfo counter = MakeTypeInfo<Counter>(), digits = MakeTypeInfo<Digits>(), caller = MakeTypeInfo<Caller>();
  Ffi::RegisterTypeId(api, "test.counter", &Counter::id, &counter);
  Ffi::RegisterTypeId(api, "test.digits", &Digits::id, &digits);
  Ffi::RegisterTypeId(api, "test.caller", &Caller::id, &caller);
  const auto add = [&](const char* name, XLA_FFI_Handler* handler) {
    registrar->register_target(registrar, name, "Host", HILO_CUSTOM_CALL_TYPED_FFI, reinterpret_cast<void*>(handler));
  };
  add("scale", ScaleHandler);
  add("dimensions", DimensionsHandler);
  add("attributes", AttributesHandler);
  add("remaining", RemainingHandler);
  add("token", TokenHandler);
  add("fails", FailsHandler);
  add("throws", ThrowsHandler);
  add("alive", AliveHandler);
  add("use_context", UseContextHandler);
  add("later", LaterHandler);
  registrar->register_ffi(registrar, "count", "Host", reinterpret_cast<void*>(MakeCounterHandler), nullptr, nullptr,
                          reinterpret_cast<void*>(CountHandler));
  registrar->register_ffi(registrar, "digits", "Host", nullptr, reinterpret_cast<void*>(PrepareHandler),
                          reinterpret_cast<void*>(InitializeHandler), reinterpret_cast<void*>(ReadDigitsHandler));
}
