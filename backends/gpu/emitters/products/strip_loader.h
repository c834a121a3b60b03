// Strips of matrices whose elements are computed on demand: a block's threads compute them and put them into shared
// memory, for the multiplication of tiles (tile_multiply.h). Elements that are in memory as cells are can be copied
// there asynchronously, without going through registers.
#ifndef HILO_BACKENDS_GPU_EMITTERS_PRODUCTS_STRIP_LOADER_H_
#define HILO_BACKENDS_GPU_EMITTERS_PRODUCTS_STRIP_LOADER_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/gpu/emitters/kernel_emitter.h"

namespace hilo::gpu {

// How a strip of an operand lies in shared memory: lines of `pitch` cells, one a position or one an index of the depth.
struct StripLayout {
  llvm::Type* cell = nullptr;
  bool lines_are_positions = false;
  int64_t pitch = 0;
  // Cells of 16 bytes, or of 32, if their order depends on the line, so that the same ones of eight lines in a row are
  // in different banks: a line then has a power of two of them. 0: all cells are in their order.
  int64_t permuted = 0;
  // Cells of a line that lie together: the first ones of all `lines`, then the next ones of all lines, and so on. The
  // order of 16 bytes in them is that of the hardware's swizzles, whose patterns begin at multiples of 1024 bytes. 0:
  // lines are whole.
  int64_t piece = 0;
  int64_t lines = 0;
};

// A strip of an operand in shared memory.
struct Strip {
  StripLayout layout;
  std::vector<llvm::Value*> cells;  // one array per component of a complex number
  llvm::Value* first = nullptr;     // index of its first cell

  // Returns the index of a cell.
  llvm::Value* Cell(llvm::IRBuilder<>& b, llvm::Value* position, llvm::Value* depth) const;
};

// One operand: lhs (m x depth) or rhs (depth x n).
struct ProductSide {
  int64_t positions = 0;  // m or n
  PrimitiveType type = F32;
  // True if elements that are adjacent in depth, rather than in position, are adjacent in memory.
  bool depth_is_minor = false;
  // Returns `group` elements that are adjacent in memory, all of them in range; the position or the depth of the first
  // is a multiple of `group`. The batch, position and depth are i64.
  std::function<absl::StatusOr<Elements>(llvm::Value* batch, llvm::Value* position, llvm::Value* depth, int64_t group)>
      elements;
  // Returns the address of those elements, in global memory. Null if they are not in memory as cells are.
  std::function<absl::StatusOr<llvm::Value*>(llvm::Value* batch, llvm::Value* position, llvm::Value* depth)> address;
};

// The parts of an operand that are in shared memory, one after the other. Elements beyond the depth are 0; those beyond
// the positions are others of the matrix.
class StripLoader {
 public:
  struct Sizes {
    int64_t threads = 0;               // of the block
    int64_t positions = 0, strip = 0;  // positions and depth of a strip
    int64_t depth = 0;                 // of the matrix
    int64_t group = 1;                 // adjacent elements that a thread loads together
    int64_t strips = 1;                // that are in shared memory at a time
    int64_t components = 1;            // arrays of cells
    bool begins_anywhere = false;      // strips begin at any position, rather than at multiples of their positions
    llvm::Value* depth_end =
        nullptr;  // elements from there on are 0, too, and strips begin at any depth; null: `depth`
  };
  // Converts an element to what its cells hold, one value per component.
  using ToCells = std::function<codegen::Carried(const codegen::ElementValue& element)>;
  // `side` outlives the loader.
  StripLoader(KernelEmitter& k, const ProductSide& side, const StripLayout& layout, ToCells to_cells,
              const Sizes& sizes, absl::string_view name);

  // Loads the thread's elements of the strip that begins at `position` and `depth`, as cells.
  absl::StatusOr<codegen::Carried> Load(llvm::Value* batch, llvm::Value* position, llvm::Value* depth);
  // Stores what Load returned to strip number `number` in shared memory.
  void Store(absl::Span<llvm::Value* const> loaded, llvm::Value* number);
  // Starts asynchronous copies of the thread's elements of the strip that begins at `position` and `depth` to strip
  // number `number`. The side has addresses, and its groups lie together in the strip.
  absl::Status StartCopies(llvm::Value* batch, llvm::Value* position, llvm::Value* depth, llvm::Value* number);
  // Returns strip number `number` in shared memory.
  Strip StripOf(llvm::Value* number);

 private:
  // A group that the thread loads: where it is in the strip.
  struct Group {
    llvm::Value *position, *depth;
    llvm::Value* exists;  // null: always
  };
  // The elements of the matrix that a group is loaded from; others, which exist, if it is outside.
  struct Source {
    llvm::Value *position, *depth;
    llvm::Value* inside;  // false: its elements are 0; null: always true
  };

  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  llvm::Value* Times(llvm::Value* value, int64_t factor) { return b_.CreateMul(value, Int(factor), "", true, true); }
  llvm::Value* Plus(llvm::Value* x, llvm::Value* y) { return b_.CreateAdd(x, y, "", true, true); }
  llvm::Value* AtMost(llvm::Value* index, int64_t limit);
  int64_t strip_cells() const {
    return layout_.pitch * (layout_.lines_are_positions ? sizes_.positions : sizes_.strip);
  }

  std::vector<Group> Groups();
  Source SourceOf(const Group& group, llvm::Value* position, llvm::Value* depth);
  // The number of a group's elements that are stored together, as the cells of a line are adjacent.
  int64_t Together() const;
  codegen::Carried TogetherOf(const Elements& elements);
  void StoreGroup(const Strip& strip, const Group& group, absl::Span<llvm::Value* const> cells);

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const ProductSide& side_;
  const StripLayout layout_;
  const ToCells to_cells_;
  const Sizes sizes_;
  std::vector<llvm::Value*> cells_;  // of all strips
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_PRODUCTS_STRIP_LOADER_H_
