#include "backends/llvm/jit/host_features.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "backends/llvm/llvm_compat.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace hilo::codegen {
namespace {

// An architecture that code can be made for on hosts of another one.
struct Architecture {
  const char* name;
  const char* triple;
  const char* features;
  bool has_processors;  // that can be named
};
constexpr Architecture kArchitectures[] = {
    {.name = "aarch64", .triple = "aarch64-unknown-linux-gnu", .features = "", .has_processors = true},
    // What every engine has since 2021 to 2023.
    {.name = "wasm32",
     .triple = "wasm32-unknown-unknown",
     .features = "+bulk-memory,+mutable-globals,+nontrapping-fptoint,+sign-ext,+simd128",
     .has_processors = false},
};

absl::StatusOr<const llvm::Target*> TargetOf(const std::string& triple) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();  // of inline assembly
  });
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) return absl::InternalError(absl::StrCat("no code generator for ", triple, ": ", error));
  return target;
}

std::unique_ptr<llvm::MCSubtargetInfo> Subtarget(const CpuFeatures& cpu) {
  absl::StatusOr<const llvm::Target*> target = TargetOf(cpu.triple);
  if (!target.ok()) return nullptr;
  return std::unique_ptr<llvm::MCSubtargetInfo>((*target)->createMCSubtargetInfo(cpu.triple, cpu.cpu, cpu.features));
}

void FillIsaBits(const llvm::MCSubtargetInfo& subtarget, CpuFeatures* cpu) {
  if (!llvm::Triple(cpu->triple).isX86()) {
    cpu->has_ieee_extremes = true;
    cpu->has_fma = cpu->has_f16c = llvm::Triple(cpu->triple).isAArch64();
    cpu->vector_bits = 128;
    return;
  }
  auto has = [&](const char* features) { return subtarget.checkFeatures(features); };
  cpu->has_fma = has("+fma");
  cpu->has_f16c = has("+f16c");
  cpu->has_sse41 = has("+sse4.1");
  cpu->has_avx512 = has("+avx512f,+avx512bw,+avx512dq,+avx512vl");
  cpu->has_vnni = cpu->has_avx512 && has("+avx512vnni");
  const bool wide = cpu->has_avx512 && !has("+prefer-256-bit");
  cpu->vector_bits = wide ? 512 : has("+avx2") ? 256 : 128;
}

// Returns nullopt if no architecture that the program has a code generator for knows the name.
std::optional<CpuFeatures> OfOtherArchitecture(absl::string_view cpu) {
  for (const Architecture& architecture : kArchitectures) {
    CpuFeatures features{.triple = architecture.triple, .cpu = "generic", .features = architecture.features};
    const std::unique_ptr<llvm::MCSubtargetInfo> subtarget = Subtarget(features);
    if (subtarget == nullptr) continue;
    if (cpu == architecture.name) return features;
    if (architecture.has_processors && subtarget->isCPUStringValid(ToStringRef(cpu))) {
      features.cpu = std::string(cpu);
      return features;
    }
  }
  return std::nullopt;
}

CpuFeatures DetectHost() {
  CpuFeatures host;
  host.triple = llvm::sys::getProcessTriple();
  host.cpu = llvm::sys::getHostCPUName().str();
  std::vector<std::string> features;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    features.push_back(absl::StrCat(feature.second ? "+" : "-", ToStringView(feature.first())));
  }
  std::sort(features.begin(), features.end());
  host.features = absl::StrJoin(features, ",");
  if (auto subtarget = Subtarget(host)) FillIsaBits(*subtarget, &host);
  return host;
}

}  // namespace

const CpuFeatures& HostFeatures() {
  static const CpuFeatures* const host = new CpuFeatures(DetectHost());
  return *host;
}

absl::StatusOr<CpuFeatures> FeaturesOf(absl::string_view cpu) {
  if (cpu.empty() || cpu == "native") return HostFeatures();
  CpuFeatures named{.triple = HostFeatures().triple, .cpu = "", .features = ""};
  std::unique_ptr<llvm::MCSubtargetInfo> generic = Subtarget(named);
  if (generic == nullptr) return absl::InternalError(absl::StrCat("no code generator for ", named.triple));
  if (generic->isCPUStringValid(ToStringRef(cpu))) {
    named.cpu = std::string(cpu);
  } else if (std::optional<CpuFeatures> other = OfOtherArchitecture(cpu); other.has_value()) {
    named = *std::move(other);
  } else {
    return absl::InvalidArgumentError(absl::StrCat(
        "expected the name of a processor for --cpu, such as native, x86-64, x86-64-v2, x86-64-v3, x86-64-v4, haswell, "
        "skylake-avx512, znver3 or znver4, or, where code is made for other machines, aarch64, neoverse-n1 or wasm32; "
        "came '",
        cpu, "'"));
  }
  if (auto subtarget = Subtarget(named)) FillIsaBits(*subtarget, &named);
  return named;
}

std::string CpuFeatures::ToText() const { return absl::StrCat(triple, " ", cpu, " ", features); }

absl::Status CheckRunsOnHost(const CpuFeatures& target) {
  const CpuFeatures& host = HostFeatures();
  if (target.triple != host.triple) {
    return absl::FailedPreconditionError(
        absl::StrCat("code for ", target.triple, " cannot run on this machine, which is ", host.triple));
  }
  std::vector<std::string> missing;
  if (target.features.empty()) {  // the name implies them
    std::unique_ptr<llvm::MCSubtargetInfo> wanted = Subtarget(target), here = Subtarget(host);
    if (wanted == nullptr || here == nullptr)
      return absl::InternalError(absl::StrCat("no code generator for ", target.triple));
    for (const char* feature :
         {"sse3", "ssse3", "sse4.1", "sse4.2", "avx", "avx2", "fma", "f16c", "bmi", "bmi2", "avx512f", "avx512bw",
          "avx512dq", "avx512vl", "avx512cd", "avx512vnni", "avx512bf16", "avx512fp16", "amx-tile"}) {
      const std::string text = absl::StrCat("+", feature);
      if (wanted->checkFeatures(text) && !here->checkFeatures(text)) missing.push_back(feature);
    }
  } else {
    const std::vector<absl::string_view> list = absl::StrSplit(host.features, ',');
    const absl::flat_hash_set<absl::string_view> has(list.begin(), list.end());
    for (const absl::string_view feature : absl::StrSplit(target.features, ',')) {
      if (absl::StartsWith(feature, "+") && !has.contains(feature)) missing.emplace_back(feature.substr(1));
    }
  }
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("code for ", target.cpu, " needs ", absl::StrJoin(missing, ", "),
                                                    ", which this machine (", host.cpu, ") lacks"));
}

absl::Status CheckTextRunsOnHost(absl::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ' ');
  if (parts.size() != 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected a triple, the name of a processor and its features, came '", text, "'"));
  }
  const CpuFeatures target{.triple = parts[0], .cpu = parts[1], .features = parts[2]};
  if (target.triple == HostFeatures().triple && target.features.empty()) {
    if (absl::Status known = FeaturesOf(target.cpu).status(); !known.ok()) return known;
  }
  return CheckRunsOnHost(target);
}

}  // namespace hilo::codegen
