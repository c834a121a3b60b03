#include "runtime/profile/tool_ranges.h"

#include <dlfcn.h>
#include <pthread.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>

#include "base/log_sink.h"

namespace hilo::profile {
namespace {

// The library that a variable names, or null.
void* LibraryOf(const char* variable) {
  const char* const path = std::getenv(variable);
  if (path == nullptr || *path == 0) return nullptr;
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) LogWarning("the profiler's library of ", variable, " cannot be loaded: ", dlerror());
  return library;
}

// NVTX 3. The tool asks for the table of our functions, and replaces those that it implements.
class Nvtx {
 public:
  static const Nvtx& Get() {
    static const auto* const nvtx = new Nvtx();
    return *nvtx;
  }
  bool attached() const { return push != nullptr && pop != nullptr; }

  int (*push)(const char* name) = nullptr;
  int (*pop)() = nullptr;

 private:
  using Function = void (*)();
  // Numbers of the interface: kinds of tables, the module of general functions, and functions in it.
  static constexpr uint32_t kCallbacks = 1, kCore = 1, kRangePush = 9, kRangePop = 11, kFunctions = 16;
  struct Callbacks {
    size_t struct_size;
    int (*get_table)(uint32_t module, Function*** table, unsigned* size);
  };

  Nvtx() {
    void* const library = LibraryOf("NVTX_INJECTION64_PATH");
    if (library == nullptr) return;
    using Initialize = int(const void* (*)(uint32_t kind));
    auto* const initialize = reinterpret_cast<Initialize*>(dlsym(library, "InitializeInjectionNvtx2"));
    if (initialize == nullptr || initialize(&Export) == 0) {
      LogWarning("the library of NVTX_INJECTION64_PATH does not take part: no InitializeInjectionNvtx2, or it failed");
      return;
    }
    push = reinterpret_cast<int (*)(const char*)>(Implemented()[kRangePush]);
    pop = reinterpret_cast<int (*)()>(Implemented()[kRangePop]);
  }

  static std::array<Function, kFunctions>& Implemented() {
    static std::array<Function, kFunctions> functions = {};
    return functions;
  }
  static const void* Export(uint32_t kind) {
    static const Callbacks callbacks = {sizeof(Callbacks), &GetTable};
    return kind == kCallbacks ? &callbacks : nullptr;
  }
  static int GetTable(uint32_t module, Function*** table, unsigned* size) {
    static std::array<Function*, kFunctions + 1> entries = [] {
      std::array<Function*, kFunctions + 1> made = {};  // function 0 is none; the last entry ends the table
      for (size_t i = 1; i < kFunctions; ++i) made[i] = &Implemented()[i];
      return made;
    }();
    if (module != kCore) return 0;
    if (table != nullptr) *table = entries.data();
    if (size != nullptr) *size = kFunctions;
    return 1;
  }
};

// ITT 3. The tool fills in the functions that a list names.
class Itt {
 public:
  struct Id {
    uint64_t d1, d2, d3;
  };
  static const Itt& Get() {
    static const auto* const itt = new Itt();
    return *itt;
  }
  bool attached() const { return domain_ != nullptr; }

  void Begin(const char* name) const { functions_.task_begin(domain_, Id(), Id(), functions_.string_create(name)); }
  void End() const { functions_.task_end(domain_); }

 private:
  struct Functions {
    void* (*domain_create)(const char* name);
    void* (*string_create)(const char* text);
    void (*task_begin)(const void* domain, Id task, Id parent, void* name);
    void (*task_end)(const void* domain);
  };
  struct ApiInfo {
    const char* name;
    void** function;
    void* first_function;
    void* null_function;
    int group;
  };
  // What the tool is told of this process.
  struct Global {
    unsigned char magic[8] = {0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30};
    unsigned long major = 3, minor = 0, build = 20250807;
    long api_initialized = 1, mutex_initialized = 1, counter = 0;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    void* library = nullptr;
    void* error_handler = nullptr;
    const char** path = nullptr;
    ApiInfo* functions = nullptr;
    void* lists[4] = {};  // other parts of the process, threads, domains, strings
    int state = 2;        // the library is loaded
    void* counters = nullptr;
    unsigned collect_events = 0;
    void* more_lists[2] = {};  // histograms, metadata of counters
  };
  static constexpr int kAllGroups = -1;

  Itt() {
    void* const library = LibraryOf("INTEL_LIBITTNOTIFY64");
    if (library == nullptr) return;
    using Initialize = void(Global * process, int groups);
    auto* const initialize = reinterpret_cast<Initialize*>(dlsym(library, "__itt_api_init"));
    if (initialize == nullptr) {
      LogWarning("the library of INTEL_LIBITTNOTIFY64 does not take part: it has no __itt_api_init");
      return;
    }
    const auto entry = [](const char* name, auto* function) {
      return ApiInfo{name, reinterpret_cast<void**>(function), nullptr, nullptr, kAllGroups};
    };
    list_ = {entry("__itt_domain_create", &functions_.domain_create),
             entry("__itt_string_handle_create", &functions_.string_create),
             entry("__itt_task_begin", &functions_.task_begin), entry("__itt_task_end", &functions_.task_end)};
    global_.library = library;
    global_.functions = list_.data();
    initialize(&global_, kAllGroups);
    if (functions_.domain_create == nullptr || functions_.string_create == nullptr ||
        functions_.task_begin == nullptr || functions_.task_end == nullptr)
      return;
    domain_ = functions_.domain_create("Hilo");
  }

  Functions functions_ = {};
  // The tool may keep both. The last entry of the list ends it.
  std::array<ApiInfo, 5> list_ = {};
  Global global_;
  void* domain_ = nullptr;
};

void Push(const std::string& name) {
  if (Nvtx::Get().attached()) Nvtx::Get().push(name.c_str());
  if (Itt::Get().attached()) Itt::Get().Begin(name.c_str());
}
void Pop() {
  if (Nvtx::Get().attached()) Nvtx::Get().pop();
  if (Itt::Get().attached()) Itt::Get().End();
}

}  // namespace

bool ToolIsAttached() {
  static const bool attached = Nvtx::Get().attached() || Itt::Get().attached();
  return attached;
}

ToolRanges::ToolRanges(const StepTable& table) : table_(table), step_is_open_({false}) {
  Push(table.program);
  if (!table.steps.empty()) Mark(0);
}

ToolRanges::~ToolRanges() {
  for (; !step_is_open_.empty(); step_is_open_.pop_back()) CloseStep();
  Pop();
}

void ToolRanges::CloseStep() {
  if (step_is_open_.back()) Pop();
  step_is_open_.back() = false;
}

void ToolRanges::Mark(int64_t mark) {
  if (mark == kEnter) {
    step_is_open_.push_back(false);
    return;
  }
  CloseStep();
  if (mark == kLeave) {
    if (step_is_open_.size() > 1) step_is_open_.pop_back();
  } else if (mark >= 0 && mark < static_cast<int64_t>(table_.steps.size())) {
    Push(table_.steps[mark].name);
    step_is_open_.back() = true;
  }
}

}  // namespace hilo::profile
