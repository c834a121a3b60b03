#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/json.h"
#include "runtime/profile/export.h"

namespace hilo::profile {

std::string ToChromeTrace(const Profile& profile, absl::string_view platform) {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  absl::string_view separator = "\n";
  const auto add = [&](absl::string_view event) {
    absl::StrAppend(&text, separator, event);
    separator = ",\n";
  };
  std::set<int> devices;
  std::set<std::pair<int, int64_t>> threads;
  for (const Run& run : profile.runs) {
    if (devices.insert(run.device).second) {
      add(absl::StrFormat(R"({"ph":"M","name":"process_name","pid":%d,"args":{"name":%s}})", run.device,
                          JsonQuoted(absl::StrCat("Hilo ", platform, " ", run.device))));
    }
    if (threads.emplace(run.device, run.thread).second) {
      add(absl::StrFormat(R"({"ph":"M","name":"thread_name","pid":%d,"tid":%d,"args":{"name":"thread %d"}})",
                          run.device, run.thread, run.thread));
    }
    for (const Span& span : run.spans) {
      std::string arguments;
      if (span.step >= 0) {
        const Step& step = run.table->steps[span.step];
        arguments = absl::StrCat("\"hlo\":", JsonQuoted(step.text), ",\"instructions\":", step.instruction_count);
        if (!step.op_name.empty()) absl::StrAppend(&arguments, ",\"op_name\":", JsonQuoted(step.op_name));
        if (!step.source_file.empty()) {
          absl::StrAppend(&arguments,
                          ",\"source\":", JsonQuoted(absl::StrCat(step.source_file, ":", step.source_line)));
        }
      }
      const double duration = static_cast<double>(span.end - span.begin);
      add(absl::StrFormat(R"({"ph":"X","name":%s,"cat":%s,"pid":%d,"tid":%d,"ts":%.3f,"dur":%.3f,"args":{%s}})",
                          JsonQuoted(span.step < 0 ? run.table->program : run.table->steps[span.step].name),
                          JsonQuoted(span.step < 0 ? "program" : run.table->steps[span.step].category), run.device,
                          run.thread, static_cast<double>(span.begin) * 1e-3, duration * 1e-3, arguments));
    }
  }
  return absl::StrCat(text, "\n]}\n");
}

}  // namespace hilo::profile
