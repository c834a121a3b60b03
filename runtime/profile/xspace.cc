#include <algorithm>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "hlo/import/hlo_proto_wire.h"
#include "runtime/profile/export.h"

namespace hilo::profile {
namespace {

// Fields of xplane.proto.
namespace space {
constexpr int kPlanes = 1, kWarnings = 3, kHostnames = 4;
}
namespace plane {
constexpr int kId = 1, kName = 2, kLines = 3, kEventMetadata = 4, kStatMetadata = 5, kStats = 6;
}
namespace line {
constexpr int kId = 1, kName = 2, kTimestampNs = 3, kEvents = 4;
}
namespace event {
constexpr int kMetadataId = 1, kOffsetPs = 2, kDurationPs = 3, kStats = 4;
}
namespace metadata {
constexpr int kId = 1, kName = 2, kDisplayName = 4, kStats = 5;
}
namespace stat {
constexpr int kMetadataId = 1, kDouble = 2, kInt64 = 4, kString = 5, kBytes = 6;
}
namespace entry {  // of a map
constexpr int kKey = 1, kValue = 2;
}

constexpr int64_t kPicoseconds = 1000;  // of a nanosecond

WireWriter MapEntry(int64_t key, const WireWriter& value) {
  WireWriter entry;
  entry.Int(entry::kKey, key);
  entry.Message(entry::kValue, value);
  return entry;
}

class PlaneWriter {
 public:
  PlaneWriter(int64_t id, absl::string_view name) {
    plane_.Int(plane::kId, id);
    plane_.Bytes(plane::kName, name);
  }

  WireWriter Number(absl::string_view name, int64_t value) {
    WireWriter written = Head(name);
    written.PutInt(stat::kInt64, value);
    return written;
  }
  WireWriter Real(absl::string_view name, double value) {
    WireWriter written = Head(name);
    written.Double(stat::kDouble, value);
    return written;
  }
  WireWriter Text(absl::string_view name, absl::string_view value) {
    WireWriter written = Head(name);
    written.PutBytes(stat::kString, value);
    return written;
  }
  WireWriter Blob(absl::string_view name, absl::string_view bytes) {
    WireWriter written = Head(name);
    written.PutBytes(stat::kBytes, bytes);
    return written;
  }
  void AddStat(const WireWriter& stat) { plane_.Message(plane::kStats, stat); }

  // Returns the number of a kind of events.
  int64_t AddMetadata(absl::string_view name, absl::string_view display_name, const std::vector<WireWriter>& stats) {
    return AddMetadata(++metadata_count_, name, display_name, stats);
  }
  int64_t AddMetadata(int64_t id, absl::string_view name, absl::string_view display_name,
                      const std::vector<WireWriter>& stats) {
    WireWriter written;
    written.Int(metadata::kId, id);
    written.Bytes(metadata::kName, name);
    written.Bytes(metadata::kDisplayName, display_name);
    for (const WireWriter& stat : stats) written.Message(metadata::kStats, stat);
    plane_.Message(plane::kEventMetadata, MapEntry(id, written));
    return id;
  }
  void AddLine(int64_t id, absl::string_view name, int64_t timestamp_ns, const WireWriter& events) {
    WireWriter written;
    written.Int(line::kId, id);
    written.Bytes(line::kName, name);
    written.Int(line::kTimestampNs, timestamp_ns);
    written.Append(events);
    plane_.Message(plane::kLines, written);
  }

  WireWriter Finish() && {
    for (const auto& [name, id] : stat_ids_) {
      WireWriter written;
      written.Int(metadata::kId, id);
      written.Bytes(metadata::kName, name);
      plane_.Message(plane::kStatMetadata, MapEntry(id, written));
    }
    return std::move(plane_);
  }

 private:
  WireWriter Head(absl::string_view name) {
    const int64_t next = static_cast<int64_t>(stat_ids_.size()) + 1;
    WireWriter written;
    written.Int(stat::kMetadataId, stat_ids_.try_emplace(std::string(name), next).first->second);
    return written;
  }

  WireWriter plane_;
  std::map<std::string, int64_t> stat_ids_;
  int64_t metadata_count_ = 0;
};

// The kinds of events of a program: that of its runs, and those of its steps.
struct ProgramMetadata {
  int64_t program_id = 0, run = 0;
  std::vector<int64_t> steps;
};

// Numbers of programs, from 1 in the order of their first runs.
using ProgramIds = absl::flat_hash_map<const StepTable*, int64_t>;

std::string NameWithId(const StepTable& table, int64_t program_id) {
  return absl::StrCat(table.program, "(", program_id, ")");
}

ProgramMetadata AddProgram(const StepTable& table, int64_t program_id, PlaneWriter* plane) {
  ProgramMetadata ids{.program_id = program_id};
  ids.run = plane->AddMetadata(NameWithId(table, program_id), table.program, {plane->Number("program_id", program_id)});
  for (size_t i = 0; i < table.steps.size(); ++i) {
    const Step& step = table.steps[i];
    const int64_t symbol_id = static_cast<int64_t>(i) + 1;  // to xprof's tables 0 is no operation
    std::vector<WireWriter> stats = {plane->Number("program_id", program_id), plane->Number("symbol_id", symbol_id),
                                     plane->Text("hlo_op", step.name), plane->Text("hlo_module", table.program),
                                     plane->Text("hlo_category", step.category)};
    if (step.flops >= 0) {
      const auto count = [](double value) { return static_cast<int64_t>(std::min(value, 9e18)); };
      stats.push_back(plane->Number("flops", count(step.flops)));
      stats.push_back(plane->Number("model_flops", count(step.flops)));
      stats.push_back(plane->Number("bytes_accessed", count(step.bytes)));
      stats.push_back(plane->Number("raw_bytes_accessed", count(step.bytes)));
    }
    if (!step.op_name.empty()) stats.push_back(plane->Text("tf_op", step.op_name));
    if (!step.source_file.empty())
      stats.push_back(plane->Text("source", absl::StrCat(step.source_file, ":", step.source_line)));
    ids.steps.push_back(plane->AddMetadata(step.text, step.name, stats));
  }
  return ids;
}

WireWriter Event(int64_t metadata_id, const Span& span) {
  WireWriter written;
  written.Int(event::kMetadataId, metadata_id);
  written.PutInt(event::kOffsetPs, span.begin * kPicoseconds);
  written.Int(event::kDurationPs, (span.end - span.begin) * kPicoseconds);
  return written;
}

WireWriter DevicePlane(const Profile& profile, int device, const ProgramIds& program_ids, absl::string_view platform,
                       const Peaks& peaks) {
  PlaneWriter plane(device + 1, absl::StrCat("/device:TPU:", device, " Hilo ", platform));
  plane.AddStat(plane.Text("device_type_string", absl::StrCat("Hilo ", platform)));
  if (peaks.gigaflops > 0) plane.AddStat(plane.Real("peak_teraflops_per_second", peaks.gigaflops * 1e-3));
  if (peaks.gigabytes_per_second > 0) {
    plane.AddStat(plane.Real("peak_hbm_bw_gigabyps", peaks.gigabytes_per_second));
    plane.AddStat(plane.Real("peak_memory_bw_gigabyps", peaks.gigabytes_per_second));
  }
  absl::flat_hash_map<const StepTable*, ProgramMetadata> programs;
  struct Lines {
    WireWriter runs, steps;
  };
  std::map<int64_t, Lines> lines;  // by thread
  int64_t run_id = 0;
  for (const Run& run : profile.runs) {
    if (run.device != device) continue;
    const auto [known, is_new] = programs.try_emplace(run.table.get());
    if (is_new) known->second = AddProgram(*run.table, program_ids.at(run.table.get()), &plane);
    Lines& of_thread = lines[run.thread];
    for (const Span& span : run.spans) {
      WireWriter written = Event(span.step < 0 ? known->second.run : known->second.steps[span.step], span);
      if (span.step < 0) written.Message(event::kStats, plane.Number("run_id", ++run_id));
      (span.step < 0 ? of_thread.runs : of_thread.steps).Message(line::kEvents, written);
    }
  }
  int64_t line_id = 0;
  for (const auto& [thread, written] : lines) {
    plane.AddLine(++line_id, "XLA Modules", profile.start_unix_ns, written.runs);
    plane.AddLine(++line_id, "XLA Ops", profile.start_unix_ns, written.steps);
  }
  return std::move(plane).Finish();
}

// Kinds of events with the number and the HLO of a program, as XLA's own plane of this name has them.
WireWriter MetadataPlane(const std::vector<const StepTable*>& tables, const HloOfSteps& hlo_of, int64_t plane_id) {
  PlaneWriter plane(plane_id, "/host:metadata");
  for (size_t i = 0; i < tables.size(); ++i) {
    const std::string hlo = hlo_of(*tables[i]);
    const int64_t program_id = static_cast<int64_t>(i) + 1;
    if (!hlo.empty())
      plane.AddMetadata(program_id, NameWithId(*tables[i], program_id), "", {plane.Blob("Hlo Proto", hlo)});
  }
  return std::move(plane).Finish();
}

}  // namespace

std::string ToXSpace(const Profile& profile, absl::string_view platform, const Peaks& peaks, const HloOfSteps& hlo_of) {
  WireWriter written;
  std::vector<int> devices;
  ProgramIds program_ids;
  std::vector<const StepTable*> tables;  // in the order of their numbers
  for (const Run& run : profile.runs) {
    devices.push_back(run.device);
    const int64_t next = static_cast<int64_t>(tables.size()) + 1;
    if (program_ids.try_emplace(run.table.get(), next).second) tables.push_back(run.table.get());
  }
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  for (const int device : devices)
    written.Message(space::kPlanes, DevicePlane(profile, device, program_ids, platform, peaks));
  if (hlo_of != nullptr && !tables.empty())
    written.Message(space::kPlanes, MetadataPlane(tables, hlo_of, devices.back() + 2));
  if (!profile.is_complete)
    written.PutBytes(space::kWarnings, "Hilo: the memory for events was exhausted; later ones are missing");
  written.PutBytes(space::kHostnames, "localhost");
  return std::move(written).Take();
}

}  // namespace hilo::profile
