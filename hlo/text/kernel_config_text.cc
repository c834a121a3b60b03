#include "hlo/text/kernel_config_text.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hilo/status_macros.h"

namespace hilo {

absl::StatusOr<KernelConfig> ParseKernelConfig(TextCursor& cursor) {
  KernelConfig config;
  bool has_kind = false;
  HILO_RETURN_IF_ERROR(cursor.Expect("{", "before a kernel"));
  while (!cursor.Consume("}")) {
    HILO_ASSIGN_OR_RETURN(const absl::string_view name, cursor.Name("a field of the kernel"));
    HILO_RETURN_IF_ERROR(cursor.Expect("=", "after the name of a field of the kernel"));
    if (name == "kind") {
      const size_t offset = cursor.offset();
      HILO_ASSIGN_OR_RETURN(const absl::string_view text, cursor.Name("the kind of the kernel"));
      const std::optional<KernelKind> kind = ParseKernelKind(text);
      if (!kind.has_value()) {
        return cursor.source().Error(offset, absl::StrCat("expected a kind of kernel; got ", text));
      }
      config.kind = *kind;
      has_kind = true;
    } else if (name == "width") {
      HILO_ASSIGN_OR_RETURN(config.width, cursor.Integer("the width, a number"));
    } else if (name == "tile") {
      HILO_ASSIGN_OR_RETURN(const ShapeIndex tile, cursor.ReadShapeIndex());
      config.tile.assign(tile.begin(), tile.end());
    } else if (name == "parts") {
      HILO_ASSIGN_OR_RETURN(config.parts, cursor.Integer("the number of parts"));
    } else if (name == "parallel") {
      HILO_ASSIGN_OR_RETURN(config.parallel, cursor.Bool("true or false"));
    } else if (name == "why") {
      HILO_ASSIGN_OR_RETURN(config.why, cursor.String("the reason in quotes"));
    } else {
      return cursor.source().Error(cursor.source().OffsetOf(name),
                                   absl::StrCat("expected kind, width, tile, parts, parallel or why; got ", name));
    }
    cursor.Consume(",");
  }
  if (!has_kind) return cursor.Error("expected the kind of the kernel before the end of its fields");
  return config;
}

std::string PrintKernelConfig(const KernelConfig& config) {
  static const KernelConfig kDefault;
  std::string text = absl::StrCat("{kind=", KernelKindString(config.kind));
  if (config.width != kDefault.width) absl::StrAppend(&text, " width=", config.width);
  if (!config.tile.empty()) absl::StrAppend(&text, " tile={", absl::StrJoin(config.tile, ","), "}");
  if (config.parts != kDefault.parts) absl::StrAppend(&text, " parts=", config.parts);
  if (config.parallel) absl::StrAppend(&text, " parallel=true");
  if (!config.why.empty()) absl::StrAppend(&text, " why=\"", absl::Utf8SafeCEscape(config.why), "\"");
  return text + "}";
}

}  // namespace hilo
