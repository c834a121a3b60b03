#include "backends/gpu/emitters/products/strip_loader.h"

#include <algorithm>
#include <utility>

#include "backends/llvm/elements/predication.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;

constexpr int64_t kMaxStoreBytes = 16;
// Groups of 16 bytes that are in different banks.
constexpr int64_t kLinesInBanks = 8;

}  // namespace

llvm::Value* Strip::Cell(llvm::IRBuilder<>& b, llvm::Value* position, llvm::Value* depth) const {
  llvm::Value *line = layout.lines_are_positions ? position : depth,
              *in_line = layout.lines_are_positions ? depth : position;
  const auto constant = [&](int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); };
  const int64_t together = layout.piece > 0 ? layout.piece : layout.pitch;
  llvm::Value* before = first;
  if (together < layout.pitch) {
    llvm::Value* piece = b.CreateUDiv(in_line, constant(together));
    before = b.CreateAdd(first, b.CreateMul(piece, constant(layout.lines * together), "", true, true), "", true, true);
    in_line = b.CreateURem(in_line, constant(together));
  }
  if (layout.permuted > 0) {
    const int64_t count = std::min(together / layout.permuted, kLinesInBanks);
    llvm::Value* group = b.CreateURem(b.CreateUDiv(line, constant(kLinesInBanks / count)), constant(count));
    in_line = b.CreateXor(in_line, b.CreateMul(group, constant(layout.permuted), "", true, true));
  }
  llvm::Value* from_line = b.CreateMul(line, constant(together), "", true, true);
  return b.CreateAdd(before, b.CreateAdd(from_line, in_line, "", true, true), "", true, true);
}

StripLoader::StripLoader(KernelEmitter& k, const ProductSide& side, const StripLayout& layout, ToCells to_cells,
                         const Sizes& sizes, absl::string_view name)
    : k_(k), b_(k.b()), side_(side), layout_(layout), to_cells_(std::move(to_cells)), sizes_(sizes) {
  for (int64_t i = 0; i < sizes.components; ++i)
    cells_.push_back(layout_.piece > 0 ? k.LargeShared(layout_.cell, sizes.strips * strip_cells())
                                       : k.Shared(layout_.cell, sizes.strips * strip_cells(), name));
}

// Adjacent threads load adjacent groups.
std::vector<StripLoader::Group> StripLoader::Groups() {
  const int64_t lines = side_.depth_is_minor ? sizes_.positions : sizes_.strip,
                in_line = (side_.depth_is_minor ? sizes_.strip : sizes_.positions) / sizes_.group;
  std::vector<Group> groups;
  for (int64_t i = 0; i < lines * in_line; i += sizes_.threads) {
    llvm::Value* number = Plus(k_.Thread(), Int(i));
    Group group{.exists =
                    i + sizes_.threads <= lines * in_line ? nullptr : b_.CreateICmpULT(number, Int(lines * in_line))};
    llvm::Value *line = b_.CreateUDiv(number, Int(in_line)),
                *in_it = Times(b_.CreateURem(number, Int(in_line)), sizes_.group);
    group.position = side_.depth_is_minor ? line : in_it;
    group.depth = side_.depth_is_minor ? in_it : line;
    groups.push_back(group);
  }
  return groups;
}

llvm::Value* StripLoader::AtMost(llvm::Value* index, int64_t limit) {
  return codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::umin, index, Int(limit));
}

StripLoader::Source StripLoader::SourceOf(const Group& group, llvm::Value* position, llvm::Value* depth) {
  Source source{.position = Plus(position, group.position), .depth = Plus(depth, group.depth), .inside = nullptr};
  if (side_.positions % sizes_.positions != 0 || group.exists != nullptr || sizes_.begins_anywhere)
    source.position = AtMost(source.position, side_.positions - (side_.depth_is_minor ? 1 : sizes_.group));
  if (sizes_.depth_end != nullptr || sizes_.depth % sizes_.strip != 0) {
    llvm::Value* end = sizes_.depth_end != nullptr ? sizes_.depth_end : Int(sizes_.depth);
    source.inside = b_.CreateICmpULT(source.depth, end);
    source.depth = AtMost(source.depth, sizes_.depth - (side_.depth_is_minor ? sizes_.group : 1));
  }
  return source;
}

absl::StatusOr<Carried> StripLoader::Load(llvm::Value* batch, llvm::Value* position, llvm::Value* depth) {
  Carried all;
  for (const Group& group : Groups()) {
    const Source source = SourceOf(group, position, depth);
    HILO_ASSIGN_OR_RETURN(const Elements elements, side_.elements(batch, source.position, source.depth, sizes_.group));
    for (llvm::Value* cells : TogetherOf(elements)) {
      llvm::Value* zero = llvm::Constant::getNullValue(cells->getType());
      all.push_back(source.inside == nullptr ? cells : b_.CreateSelect(source.inside, cells, zero));
    }
  }
  return all;
}

absl::Status StripLoader::StartCopies(llvm::Value* batch, llvm::Value* position, llvm::Value* depth,
                                      llvm::Value* number) {
  HILO_RET_CHECK(side_.address != nullptr && Together() == sizes_.group);
  const Strip strip = StripOf(number);
  const int64_t bytes = sizes_.group * KernelEmitter::CellBytes(layout_.cell);
  for (const Group& group : Groups()) {
    const Source source = SourceOf(group, position, depth);
    const auto copy = [&]() -> absl::Status {
      HILO_ASSIGN_OR_RETURN(llvm::Value * from, side_.address(batch, source.position, source.depth));
      llvm::Value* to = b_.CreateInBoundsGEP(layout_.cell, strip.cells[0], strip.Cell(b_, group.position, group.depth));
      return k_.StartCopy(to, from, bytes, source.inside);
    };
    HILO_RETURN_IF_ERROR(group.exists == nullptr ? copy() : k_.If("group", group.exists, copy));
  }
  return absl::OkStatus();
}

int64_t StripLoader::Together() const {
  const bool along_line = side_.depth_is_minor == layout_.lines_are_positions;
  if (!along_line || layout_.cell->isIntegerTy(1)) return 1;
  return std::min(sizes_.group, kMaxStoreBytes / KernelEmitter::CellBytes(layout_.cell));
}

// The cells of a group: a vector, or a scalar, for those of one component that are stored together.
Carried StripLoader::TogetherOf(const Elements& elements) {
  const int64_t together = Together(), components = sizes_.components;
  Carried cells, all;
  for (const ElementValue& element : elements) {
    for (llvm::Value* cell : to_cells_(element)) cells.push_back(cell);
  }
  for (int64_t i = 0; i < sizes_.group; i += together) {
    for (int64_t c = 0; c < components; ++c) {
      if (together == 1) {
        all.push_back(cells[i * components + c]);
        continue;
      }
      llvm::Value* vector =
          llvm::PoisonValue::get(llvm::FixedVectorType::get(cells[c]->getType(), static_cast<unsigned>(together)));
      for (int64_t j = 0; j < together; ++j)
        vector = b_.CreateInsertElement(vector, cells[(i + j) * components + c], static_cast<uint64_t>(j));
      all.push_back(vector);
    }
  }
  return all;
}

Strip StripLoader::StripOf(llvm::Value* number) {
  return {.layout = layout_, .cells = cells_, .first = Times(number, strip_cells())};
}

void StripLoader::Store(absl::Span<llvm::Value* const> loaded, llvm::Value* number) {
  const size_t of_group = sizes_.group / Together() * sizes_.components;
  const Strip strip = StripOf(number);
  for (const Group& group : Groups()) {
    const auto cells = loaded.first(of_group);
    loaded.remove_prefix(of_group);
    const auto store = [&]() -> absl::Status {
      StoreGroup(strip, group, cells);
      return absl::OkStatus();
    };
    if (group.exists == nullptr) {
      StoreGroup(strip, group, cells);
    } else {
      k_.If("group", group.exists, store).IgnoreError();  // `store` does not fail
    }
  }
}

void StripLoader::StoreGroup(const Strip& strip, const Group& group, absl::Span<llvm::Value* const> cells) {
  const int64_t together = Together(), components = sizes_.components;
  for (size_t i = 0; i < cells.size(); ++i) {
    llvm::Value *array = strip.cells[i % components], *offset = Int(static_cast<int64_t>(i) / components * together);
    llvm::Value* at = strip.Cell(b_, side_.depth_is_minor ? group.position : Plus(group.position, offset),
                                 side_.depth_is_minor ? Plus(group.depth, offset) : group.depth);
    if (together == 1) {
      k_.StoreCell(array, at, cells[i]);
    } else {
      b_.CreateAlignedStore(cells[i], b_.CreateInBoundsGEP(strip.layout.cell, array, at),
                            llvm::Align(together * KernelEmitter::CellBytes(strip.layout.cell)));
    }
  }
}

}  // namespace hilo::gpu
