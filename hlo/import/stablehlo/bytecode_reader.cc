// The container: sections, the table of operation names, and the operations with their regions.
//
// Values have no names: they are numbered in the order of their definition, starting over in every operation that is
// isolated from above. A region takes the numbers that follow those of the enclosing regions, and releases them
// at its end. Regions are visited with an explicit stack, for they may be nested as deeply as the program is long.
#include "hlo/import/stablehlo/bytecode_reader.h"

#include <array>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/bytecode_cursor.h"
#include "hlo/import/stablehlo/bytecode_entries.h"

namespace hilo::stablehlo {
namespace {

enum SectionId : uint8_t {
  kStrings,
  kDialects,
  kEntries,
  kEntryOffsets,
  kIr,
  kResources,
  kResourceOffsets,
  kDialectVersions,
  kProperties,
  kSectionCount
};
constexpr uint64_t kNewestVersion = 6;

// Bits of an operation's mask.
enum : uint8_t {
  kHasAttributes = 0x01,
  kHasResults = 0x02,
  kHasOperands = 0x04,
  kHasSuccessors = 0x08,
  kHasRegions = 0x10,
  kHasUseOrders = 0x20,
  kHasProperties = 0x40
};

struct VersionedOp {
  absl::string_view name, attributes;
};
const absl::flat_hash_map<absl::string_view, VersionedOp>& VersionedOps() {
  static const auto* const ops = new absl::flat_hash_map<absl::string_view, VersionedOp>{
#define VERSIONED_OP(in_bytecode, name, attributes) {in_bytecode, {name, attributes}},
#include "hlo/import/stablehlo/versioned_ops.def"
#undef VERSIONED_OP
  };
  return *ops;
}

// A name of the table of operations. One that is not known is an error only where it is used.
struct OpName {
  std::string in_bytecode;
  absl::string_view name;  // empty: not known
  std::vector<absl::string_view> attributes;
};

class BytecodeReader {
 public:
  BytecodeReader(absl::string_view bytes, MlirModule* module)
      : bytes_(bytes), module_(*module), entries_(bytes, strings_, module) {}

  absl::Status Read() {
    BytecodeCursor cursor(bytes_, 0, bytes_.size());
    if (cursor.Bytes(4) != absl::string_view("ML\xefR")) cursor.Fail("expected 'ML\\xefR' first");
    version_ = cursor.Varint();
    HILO_RETURN_IF_ERROR(cursor.status());
    if (version_ > kNewestVersion) {
      return Unimplemented("MLIR bytecode of version ", version_, "; versions up to ", kNewestVersion, " are known");
    }
    cursor.NulTerminated();  // the producer
    while (!cursor.AtEnd()) {
      const BytecodeCursor::Section section = cursor.ReadSection();
      if (cursor.ok() && section.id >= kSectionCount) cursor.Fail(absl::StrCat("a section of kind ", section.id));
      HILO_RETURN_IF_ERROR(cursor.status());
      if (sections_[section.id].has_value()) cursor.Fail(absl::StrCat("a second section of kind ", section.id));
      sections_[section.id] = section;
    }
    HILO_RETURN_IF_ERROR(cursor.status());
    for (SectionId needed : {kStrings, kDialects, kEntries, kEntryOffsets, kIr}) {
      if (!sections_[needed].has_value()) cursor.Fail(absl::StrCat("the section of kind ", needed, " is missing"));
    }
    HILO_RETURN_IF_ERROR(cursor.status());
    HILO_RETURN_IF_ERROR(ReadStrings());
    HILO_RETURN_IF_ERROR(ReadDialects());
    HILO_RETURN_IF_ERROR(ReadEntries());
    HILO_RETURN_IF_ERROR(ReadProperties());
    return ReadIr();
  }

 private:
  // Values of an operation isolated from above, by number.
  using Scope = std::vector<Value*>;
  // A region that is being read, and those of its operation that follow.
  struct Frame {
    Operation* operation;
    uint64_t regions_left;  // this one included
    bool isolated;          // then the innermost cursor and scope are the operation's
    bool own_section;       // and its bytes a separate section
    Region* region = nullptr;
    uint64_t blocks_left = 0, operations_left = 0;
    size_t first_value = 0, next_value = 0, end_value = 0;
  };

  BytecodeCursor InSection(SectionId id) const {
    return sections_[id].has_value() ? BytecodeCursor(bytes_, sections_[id]->begin, sections_[id]->end)
                                     : BytecodeCursor(bytes_, 0, 0);
  }

  // Lengths, the last string's first; then the strings, each with its NUL.
  absl::Status ReadStrings() {
    BytecodeCursor cursor = InSection(kStrings);
    std::vector<uint64_t> lengths(cursor.Count());
    for (uint64_t& length : lengths) length = cursor.Varint();
    strings_.resize(lengths.size());
    for (size_t i = lengths.size(); i-- > 0;) {
      const absl::string_view text = cursor.Bytes(lengths[i]);
      if (cursor.ok() && text.empty()) cursor.Fail("a string without NUL");
      if (!cursor.ok()) return cursor.status();
      strings_[lengths.size() - 1 - i] = text.substr(0, text.size() - 1);
    }
    return cursor.ExpectEnd("the strings");
  }

  absl::Status ReadDialects() {
    BytecodeCursor cursor = InSection(kDialects);
    for (uint64_t left = cursor.Count(); left > 0 && cursor.ok(); --left) {
      if (version_ == 0) {
        dialects_.push_back(entries_.ReadString(cursor));
        continue;
      }
      const auto [name, has_version] = cursor.FlaggedVarint();
      dialects_.push_back(StringAt(name, cursor));
      if (has_version) cursor.ReadSection();
    }
    if (version_ >= 4) cursor.Varint();  // the number of names that follow
    while (!cursor.AtEnd()) {
      const absl::string_view dialect = DialectAt(cursor.Varint(), cursor);
      for (uint64_t left = cursor.Count(); left > 0 && cursor.ok(); --left) {
        const uint64_t name = version_ < 5 ? cursor.Varint() : cursor.FlaggedVarint().first;
        AddOpName(absl::StrCat(dialect, ".", StringAt(name, cursor)));
      }
    }
    return cursor.status();
  }

  void AddOpName(std::string in_bytecode) {
    OpName& op = op_names_.emplace_back();
    const auto known = VersionedOps().find(in_bytecode);
    if (known != VersionedOps().end()) {
      op.name = known->second.name;
      op.attributes = absl::StrSplit(known->second.attributes, ' ', absl::SkipEmpty());
    }
    op.in_bytecode = std::move(in_bytecode);
  }

  absl::string_view StringAt(uint64_t number, BytecodeCursor& cursor) const {
    if (number < strings_.size()) return strings_[number];
    cursor.Fail(absl::StrCat("there is no string ", number));
    return {};
  }
  absl::string_view DialectAt(uint64_t number, BytecodeCursor& cursor) const {
    if (number < dialects_.size()) return dialects_[number];
    cursor.Fail(absl::StrCat("there is no dialect ", number));
    return {};
  }

  // Sizes of the pieces of the section of entries, in groups of a dialect: attributes, then types.
  absl::Status ReadEntries() {
    BytecodeCursor cursor = InSection(kEntryOffsets);
    const uint64_t counts[] = {cursor.Count(), cursor.Count()};
    std::vector<EncodedEntry> lists[2];
    size_t position = sections_[kEntries]->begin;
    for (int kind = 0; kind < 2; ++kind) {
      while (lists[kind].size() < counts[kind] && cursor.ok()) {
        const absl::string_view dialect = DialectAt(cursor.Varint(), cursor);
        for (uint64_t left = cursor.Count(); left > 0 && cursor.ok(); --left) {
          const auto [size, has_encoding] = cursor.FlaggedVarint();
          if (size > sections_[kEntries]->end - position)
            cursor.Fail("an attribute or type behind the end of its section");
          if (!cursor.ok()) break;
          lists[kind].push_back({dialect, position, position + size, has_encoding});
          position += size;
        }
      }
      if (lists[kind].size() > counts[kind]) cursor.Fail("more attributes or types than announced");
    }
    HILO_RETURN_IF_ERROR(cursor.status());
    return entries_.Decode(lists[0], lists[1]);
  }

  absl::Status ReadProperties() {
    BytecodeCursor cursor = InSection(kProperties);
    if (cursor.AtEnd()) return absl::OkStatus();
    for (uint64_t left = cursor.Count(); left > 0 && cursor.ok(); --left) {
      const uint64_t size = cursor.Varint();
      const size_t begin = cursor.position();
      cursor.Bytes(size);
      properties_.push_back({.begin = begin, .end = cursor.position()});
    }
    return cursor.ExpectEnd("the properties");
  }

  absl::Status ReadIr() {
    cursors_.push_back(InSection(kIr));
    scopes_.emplace_back();
    const auto [operations, has_arguments] = cursors_.back().FlaggedVarint();
    if (operations != 1 || has_arguments) cursors_.back().Fail("expected one operation, builtin.module");
    HILO_RETURN_IF_ERROR(ReadOperation(nullptr));
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (frame.operations_left > 0) {
        --frame.operations_left;
        HILO_RETURN_IF_ERROR(ReadOperation(&frame));
      } else if (frame.blocks_left > 0) {
        --frame.blocks_left;
        HILO_RETURN_IF_ERROR(ReadBlockHeader(frame));
      } else {
        HILO_RETURN_IF_ERROR(EndRegion());
      }
    }
    return cursors_.back().ExpectEnd("the module");
  }

  absl::Status StartRegion(Frame& frame) {
    BytecodeCursor& cursor = cursors_.back();
    frame.region = module_.AddRegion();
    frame.region->parent = frame.operation;
    frame.operation->regions.push_back(frame.region);
    frame.blocks_left = cursor.Count();
    const uint64_t values = frame.blocks_left == 0 ? 0 : cursor.Count();
    frame.first_value = frame.next_value = scopes_.back().size();
    frame.end_value = frame.first_value + values;
    scopes_.back().resize(frame.end_value, nullptr);
    return cursor.status();
  }

  absl::Status EndRegion() {
    Frame& frame = frames_.back();
    if (frame.next_value != frame.end_value)
      cursors_.back().Fail("a region that defines fewer values than it announced");
    HILO_RETURN_IF_ERROR(cursors_.back().status());
    scopes_.back().resize(frame.first_value);
    if (--frame.regions_left > 0) return StartRegion(frame);
    if (frame.isolated) {
      if (frame.own_section) {
        HILO_RETURN_IF_ERROR(cursors_.back().ExpectEnd("the regions of an operation"));
        cursors_.pop_back();
      }
      scopes_.pop_back();
    }
    frames_.pop_back();
    return absl::OkStatus();
  }

  absl::Status ReadBlockHeader(Frame& frame) {
    BytecodeCursor& cursor = cursors_.back();
    const auto [operations, has_arguments] = cursor.FlaggedVarint();
    frame.operations_left = cursor.CheckCount(operations);
    Block& block = frame.region->blocks.emplace_back();
    if (!has_arguments) return cursor.status();
    const uint64_t arguments = cursor.Count();
    for (uint64_t i = 0; i < arguments && cursor.ok(); ++i) {
      const auto [type, has_location] = version_ >= 4 ? cursor.FlaggedVarint() : std::pair(cursor.Varint(), true);
      if (has_location) cursor.Varint();
      HILO_ASSIGN_OR_RETURN(Value * value, Define(frame, entries_.TypeAt(type, cursor)));
      value->result_number = static_cast<int64_t>(i);
      block.arguments.push_back(value);
    }
    if (version_ >= 3 && cursor.Byte() != 0) SkipUseOrders(arguments, cursor);
    return cursor.status();
  }

  absl::StatusOr<Value*> Define(Frame& frame, const Type* type) {
    BytecodeCursor& cursor = cursors_.back();
    if (cursor.ok() && frame.next_value >= frame.end_value)
      cursor.Fail("a region that defines more values than it announced");
    if (!cursor.ok()) return cursor.status();
    Value* value = module_.AddValue();
    value->type = type;
    value->region = frame.region;
    return scopes_.back()[frame.next_value++] = value;
  }

  // The orders in which the users of a value are listed mean nothing here.
  static void SkipUseOrders(uint64_t values, BytecodeCursor& cursor) {
    const uint64_t entries = values > 1 ? cursor.Count() : 1;
    for (uint64_t i = 0; i < entries && cursor.ok(); ++i) {
      if (values > 1) cursor.Varint();
      const uint64_t indices = cursor.CheckCount(cursor.FlaggedVarint().first);
      for (uint64_t k = 0; k < indices && cursor.ok(); ++k) cursor.Varint();
    }
  }

  absl::Status ReadOperation(Frame* frame) {
    BytecodeCursor& cursor = cursors_.back();
    const size_t begin = cursor.position();
    const uint64_t name = cursor.Varint();
    if (name >= op_names_.size()) cursor.Fail(absl::StrCat("there is no operation name ", name));
    HILO_RETURN_IF_ERROR(cursor.status());
    const OpName& op_name = op_names_[name];
    if (op_name.name.empty()) {
      const bool is_unversioned =
          absl::StartsWith(op_name.in_bytecode, "func.") || absl::StartsWith(op_name.in_bytecode, "stablehlo.");
      return Unimplemented("operation ", op_name.in_bytecode,
                           is_unversioned ? ": expected the bytecode of a portable artifact, which StableHLO's "
                                            "serialize_portable_artifact writes, with operations such as vhlo.add_v1"
                                          : "",
                           "; at byte ", begin);
    }
    Operation* operation = module_.AddOperation();
    operation->name = op_name.name;
    operation->region = frame == nullptr ? nullptr : frame->region;
    if (frame == nullptr) {
      if (operation->name != "builtin.module") cursor.Fail("expected builtin.module");
      module_.root = operation;
    } else {
      frame->region->blocks.back().operations.push_back(operation);
    }
    const uint8_t mask = cursor.Byte();
    operation->location = entries_.ReadAttribute(cursor);
    if (mask & kHasAttributes) {
      const Attribute* dictionary = entries_.ReadAttribute(cursor);
      if (cursor.ok() && dictionary->kind != Attribute::Kind::kDictionary)
        cursor.Fail("expected a dictionary of attributes");
      if (cursor.ok()) operation->attributes = dictionary->entries;
    }
    if (mask & kHasProperties) HILO_RETURN_IF_ERROR(ReadRecord(op_name, cursor, operation));
    uint64_t results = 0;
    if (mask & kHasResults) {
      results = cursor.Count();
      if (frame == nullptr && results > 0) cursor.Fail("a module with results");
      for (uint64_t i = 0; i < results && cursor.ok(); ++i) {
        HILO_ASSIGN_OR_RETURN(Value * value, Define(*frame, entries_.ReadType(cursor)));
        value->defined_by = operation;
        value->result_number = static_cast<int64_t>(i);
        operation->results.push_back(value);
      }
    }
    if (mask & kHasOperands) ReadOperands(cursor, operation);
    if (mask & kHasSuccessors) {
      if (cursor.Count() > 0)
        return Unimplemented("operation ", op_name.in_bytecode, " with successors: control flow between blocks");
    }
    if (mask & kHasUseOrders) SkipUseOrders(results, cursor);
    HILO_RETURN_IF_ERROR(cursor.status());
    return mask & kHasRegions ? StartRegions(operation) : absl::OkStatus();
  }

  void ReadOperands(BytecodeCursor& cursor, Operation* operation) {
    const uint64_t count = cursor.Count();
    const Scope& values = scopes_.back();
    const size_t defined = operation->results.size();
    for (uint64_t i = 0; i < count && cursor.ok(); ++i) {
      const uint64_t number = cursor.Varint();
      if (number >= values.size() || values[number] == nullptr ||
          (defined > 0 && values[number]->defined_by == operation)) {
        cursor.Fail(absl::StrCat("value ", number, " is not defined before ", operation->name, " uses it"));
        return;
      }
      operation->operands.push_back(values[number]);
    }
  }

  absl::Status StartRegions(Operation* operation) {
    const auto [regions, isolated] = cursors_.back().FlaggedVarint();
    cursors_.back().CheckCount(regions);
    HILO_RETURN_IF_ERROR(cursors_.back().status());
    if (regions == 0) {
      if (isolated && version_ >= 2) cursors_.back().ReadSection();
      return cursors_.back().status();
    }
    const bool own_section = isolated && version_ >= 2;
    if (own_section) {
      const BytecodeCursor::Section section = cursors_.back().ReadSection();
      if (cursors_.back().ok() && section.id != kIr) cursors_.back().Fail("expected a section of operations");
      HILO_RETURN_IF_ERROR(cursors_.back().status());
      cursors_.push_back(cursors_.back().Inside(section));
    }
    if (isolated) scopes_.emplace_back();
    frames_.push_back(
        {.operation = operation, .regions_left = regions, .isolated = isolated, .own_section = own_section});
    return StartRegion(frames_.back());
  }

  // Values of attributes in the order of their names.
  absl::Status ReadRecord(const OpName& op_name, BytecodeCursor& cursor, Operation* operation) {
    const uint64_t number = cursor.Varint();
    if (number >= properties_.size()) cursor.Fail(absl::StrCat("there are no properties ", number));
    HILO_RETURN_IF_ERROR(cursor.status());
    BytecodeCursor record = cursor.Inside(properties_[number]);
    for (absl::string_view name : op_name.attributes) {
      if (absl::ConsumePrefix(&name, "#")) {
        Attribute* list = module_.AddAttribute();
        list->kind = Attribute::Kind::kIntegers;
        list->integers = record.SparseList();
        operation->attributes.push_back({name, list});
        continue;
      }
      if (!absl::ConsumePrefix(&name, "?")) {
        operation->attributes.push_back({name, entries_.ReadAttribute(record)});
        continue;
      }
      const auto [value, present] = record.FlaggedVarint();
      if (present) operation->attributes.push_back({name, entries_.AttributeAt(value, record)});
    }
    return record.ExpectEnd(absl::StrCat("the properties of ", op_name.in_bytecode));
  }

  absl::string_view bytes_;
  MlirModule& module_;
  uint64_t version_ = 0;
  std::array<std::optional<BytecodeCursor::Section>, kSectionCount> sections_;
  std::vector<absl::string_view> strings_, dialects_;
  std::vector<OpName> op_names_;
  BytecodeEntries entries_;
  std::vector<BytecodeCursor::Section> properties_;
  std::vector<BytecodeCursor> cursors_;  // of nested sections, innermost last
  std::vector<Scope> scopes_;
  std::vector<Frame> frames_;
};

}  // namespace

absl::Status ReadBytecode(absl::string_view bytes, MlirModule* module) { return BytecodeReader(bytes, module).Read(); }

}  // namespace hilo::stablehlo
