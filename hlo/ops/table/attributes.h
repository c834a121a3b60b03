// Attributes of an op: a plain struct and the list of its fields.
//
//   struct TransposeAttrs : Attributes<TransposeAttrs> {
//     std::vector<int64_t> dimensions;
//     static constexpr auto Fields() { return std::make_tuple(Field("dimensions", &TransposeAttrs::dimensions)); }
//   };
//
// Text, parsing, equality, hashing and copying derive from the field list. A field's type needs a codec: overloads of
// FieldToText, FieldFromText and FieldHash below (attribute_codecs.cc), found by overload resolution; an op's own types
// declare theirs in the op's header.
#ifndef HILO_HLO_OPS_TABLE_ATTRIBUTES_H_
#define HILO_HLO_OPS_TABLE_ATTRIBUTES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hilo {

using AttributeText = std::vector<std::pair<std::string, std::string>>;  // name, value

class OpAttributes {
 public:
  virtual ~OpAttributes() = default;
  virtual std::unique_ptr<OpAttributes> Clone() const = 0;
  // True if `other` is of the same type with equal fields.
  virtual bool Equals(const OpAttributes& other) const = 0;
  virtual size_t Hash() const = 0;
  // "name=value" pairs in canonical order; fields at their default are omitted if the field is kOptional.
  virtual AttributeText ToText() const = 0;
  // Sets the field called `name` from its text; false if there is no such field.
  // Errors: InvalidArgument if the text is not a value of the field's type.
  virtual absl::StatusOr<bool> ParseField(absl::string_view name, absl::string_view text) = 0;
  // True if the attributes give the op an effect beyond its result.
  virtual bool HasSideEffect() const { return false; }
  virtual std::vector<absl::string_view> FieldNames() const = 0;
  // Names of fields that must appear in text.
  virtual std::vector<absl::string_view> RequiredFields() const = 0;
};

enum class Presence {
  kRequired,  // must be written; always printed
  kPrinted,   // may be missing; always printed
  kOptional,  // may be missing; printed unless at its default
};
template <typename Struct, typename T>
struct FieldInfo {
  absl::string_view name;
  T Struct::* member;
  Presence presence;
};
template <typename Struct, typename T>
constexpr FieldInfo<Struct, T> Field(const char* name, T Struct::* member, Presence presence = Presence::kRequired) {
  return {name, member, presence};
}

// A string that is written without quotes, such as the name of an algorithm.
struct Word : std::string {
  using std::string::string;
  using std::string::operator=;
};

// A value that is kept as uninterpreted text.
struct Verbatim : std::string {
  using std::string::string;
  using std::string::operator=;
};

// Codecs of the usual field types. Lists are "{1,2}"; text may hold white space and comments (already stripped of
// neither).
std::string FieldToText(int64_t value);
std::string FieldToText(bool value);
std::string FieldToText(double value);
std::string FieldToText(const std::string& value);  // quoted, escaped
std::string FieldToText(const Word& value);
std::string FieldToText(const Verbatim& value);
std::string FieldToText(const std::vector<int64_t>& value);
std::string FieldToText(const std::vector<bool>& value);
std::string FieldToText(const std::optional<int64_t>& value);
absl::Status FieldFromText(absl::string_view text, int64_t* value);
absl::Status FieldFromText(absl::string_view text, bool* value);
absl::Status FieldFromText(absl::string_view text, double* value);
absl::Status FieldFromText(absl::string_view text, std::string* value);
absl::Status FieldFromText(absl::string_view text, Word* value);
absl::Status FieldFromText(absl::string_view text, Verbatim* value);
absl::Status FieldFromText(absl::string_view text, std::vector<int64_t>* value);
absl::Status FieldFromText(absl::string_view text, std::vector<bool>* value);
absl::Status FieldFromText(absl::string_view text, std::optional<int64_t>* value);
// Enumerations: specialize with the names in order of their values, from 0.
template <typename E>
struct EnumNames;  // { static constexpr absl::string_view names[]; }
template <typename E, typename = decltype(EnumNames<E>::names)>
std::string FieldToText(const E& value) {
  return std::string(EnumNames<E>::names[static_cast<int>(value)]);
}
// Errors: InvalidArgument listing the names.
absl::StatusOr<int> EnumFromText(absl::string_view text, const absl::string_view* names, size_t count);
template <typename E, typename = decltype(EnumNames<E>::names)>
absl::Status FieldFromText(absl::string_view text, E* value) {
  auto index = EnumFromText(text, EnumNames<E>::names, std::size(EnumNames<E>::names));
  if (!index.ok()) return index.status();
  *value = static_cast<E>(*index);
  return absl::OkStatus();
}

template <typename Derived>
class Attributes : public OpAttributes {
 public:
  std::unique_ptr<OpAttributes> Clone() const override { return std::make_unique<Derived>(self()); }

  bool Equals(const OpAttributes& other) const override {
    const auto* o = dynamic_cast<const Derived*>(&other);
    if (o == nullptr) return false;
    return std::apply([&](const auto&... f) { return ((self().*f.member == o->*f.member) && ...); }, Derived::Fields());
  }

  // The text is canonical, so its hash is the value's.
  size_t Hash() const override { return absl::HashOf(ToText()); }

  AttributeText ToText() const override {
    AttributeText text;
    const Derived defaults;
    ForEachField([&](const auto& f) {
      if (f.presence == Presence::kOptional && self().*f.member == defaults.*f.member) return;
      text.emplace_back(std::string(f.name), FieldToText(self().*f.member));
    });
    return text;
  }

  absl::StatusOr<bool> ParseField(absl::string_view name, absl::string_view text) override {
    bool found = false;
    absl::Status status;
    ForEachField([&](const auto& f) {
      if (f.name != name) return;
      found = true;
      status = FieldFromText(text, &(static_cast<Derived*>(this)->*f.member));
    });
    if (!status.ok()) return status;
    return found;
  }

  std::vector<absl::string_view> FieldNames() const override {
    std::vector<absl::string_view> names;
    ForEachField([&](const auto& f) { names.push_back(f.name); });
    return names;
  }

  std::vector<absl::string_view> RequiredFields() const override {
    std::vector<absl::string_view> names;
    ForEachField([&](const auto& f) {
      if (f.presence == Presence::kRequired) names.push_back(f.name);
    });
    return names;
  }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
  template <typename F>
  static void ForEachField(F&& visit) {
    std::apply([&](const auto&... f) { (visit(f), ...); }, Derived::Fields());
  }
};

// For ops without attributes: HloInstruction::attributes() is then null.
struct NoAttributes : Attributes<NoAttributes> {
  static constexpr auto Fields() { return std::make_tuple(); }
};

}  // namespace hilo

#endif  // HILO_HLO_OPS_TABLE_ATTRIBUTES_H_
