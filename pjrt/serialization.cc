// Executables as bytes, for the framework's cache of compiled programs: the program with its options, and native code
// if the platform has it. Where the code does not fit, on another machine or for other devices, the program is compiled
// again.
#include "hilo/status_macros.h"
#include "hlo/import/hlo_proto_wire.h"
#include "pjrt/compile.h"
#include "pjrt/error.h"
#include "pjrt/program.h"

namespace hilo::pjrt {
namespace {

constexpr absl::string_view kMagic = "HILOPJRT";
enum Field { kVersion = 1, kFormat = 2, kCode = 3, kOptions = 4, kNative = 5 };

struct Serialized {
  ProgramSource source;
  absl::string_view native;
};

absl::StatusOr<Serialized> Read(absl::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic)
    return InvalidArgument("these ", bytes.size(), " bytes are no executable of Hilo's PJRT plugin");
  HILO_ASSIGN_OR_RETURN(const WireMessage message, WireMessage::Parse(bytes.substr(kMagic.size())));
  if (message.Bytes(kVersion) != HILO_VERSION) {
    return FailedPrecondition("the executable was made by Hilo ", message.Bytes(kVersion), "; this is ", HILO_VERSION);
  }
  return Serialized{.source = {.format = std::string(message.Bytes(kFormat)),
                               .code = std::string(message.Bytes(kCode)),
                               .options = std::string(message.Bytes(kOptions))},
                    .native = message.Bytes(kNative)};
}

}  // namespace

absl::Status Executable_Serialize(PJRT_Executable_Serialize_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->executable, "PJRT_Executable"));
  const ProgramSource& source = args->executable->program->source;
  WireWriter message;
  message.Bytes(kVersion, HILO_VERSION);
  message.Bytes(kFormat, source.format);
  message.Bytes(kCode, source.code);
  message.Bytes(kOptions, source.options);
  if (const absl::StatusOr<std::string> native = args->executable->program->executable->Serialize(); native.ok()) {
    message.Bytes(kNative, *native);
  } else if (native.status().code() != absl::StatusCode::kUnimplemented) {
    return native.status();
  }
  auto* bytes = new std::string(absl::StrCat(kMagic, message.bytes()));
  args->serialized_bytes = bytes->data();
  args->serialized_bytes_size = bytes->size();
  args->serialized_executable = reinterpret_cast<PJRT_SerializedExecutable*>(bytes);
  args->serialized_executable_deleter = [](PJRT_SerializedExecutable* owner) {
    delete reinterpret_cast<std::string*>(owner);
  };
  return absl::OkStatus();
}

absl::Status Executable_DeserializeAndLoad(PJRT_Executable_DeserializeAndLoad_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->client, "PJRT_Client"));
  HILO_ASSIGN_OR_RETURN(Serialized serialized,
                        Read(absl::string_view(args->serialized_executable, args->serialized_executable_size)));
  if (args->overridden_serialized_compile_options != nullptr) {
    serialized.source.options.assign(args->overridden_serialized_compile_options,
                                     args->overridden_serialized_compile_options_size);
  }
  HILO_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program,
                        CompileProgram(args->client->self, std::move(serialized.source), serialized.native));
  args->loaded_executable = new PJRT_LoadedExecutable{std::move(program)};
  return absl::OkStatus();
}

}  // namespace hilo::pjrt
