// Both modules are written as text:
//
//   partitioned:  l = GlobalToLocalShape(x), y = call(l), z = all-reduce(y), ROOT r = LocalToGlobalShape(z)
//   one device:   y0 = call(slice(x)), y1 = call(slice(x)) ..., z = add(y0, y1), ROOT r = concatenate(z, z)
//
// Some have more than one region, by other axes, that calls the same computation, some call it on whole arrays too, and
// in some regions there are others, by axes that are left.
#include "tests/fuzz/random_manual_regions.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "hlo/ir/tile_assignment.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"
#include "tests/fuzz/random_numbers.h"

namespace hilo::fuzz {
namespace {

constexpr int64_t kRegionSizes[] = {1, 2, 3, 4, 4, 6, 8, 8, 8, 9, 12, 16};
const std::vector<int64_t> kRegionMeshes[] = {{2, 2}, {2, 3}, {3, 2}, {2, 4}, {4, 2}, {2, 2, 2}};

using AxesOfDimensions = std::vector<std::vector<size_t>>;  // most major first
using Coordinates = std::vector<int64_t>;                   // by axis

// The instructions of a computation.
class ModuleText {
 public:
  std::string Add(const std::string& shape, const std::string& op) {
    const std::string name = absl::StrCat("v", count_++);
    absl::StrAppend(&lines_, "  ", name, " = ", shape, " ", op, "\n");
    return name;
  }
  void AddRoot(const std::string& shape, const std::string& op) {
    absl::StrAppend(&lines_, "  ROOT result = ", shape, " ", op, "\n");
  }
  const std::string& lines() const { return lines_; }

 private:
  int count_ = 0;
  std::string lines_;
};

class ManualProgram {
 public:
  explicit ManualProgram(uint64_t seed) : random_(seed), axes_(random_.Of(kRegionMeshes)) {
    local_ = MakeRandomProgram(seed * 16, {.max_instructions = 14, .max_elements = 1024, .sizes = kRegionSizes});
  }

  RandomProgram Make() {
    RandomProgram program;
    const int64_t regions = 1 + (random_.Chance(30) ? 1 : 0);
    for (int64_t i = 0; i < regions; ++i) {
      ChooseAxes();
      AddRegion(&program);
    }
    if (random_.Chance(20)) AddWholeCall(&program);
    if (joined_.empty()) return {};
    const std::string tuple_shape = absl::StrCat("(", absl::StrJoin(joined_shapes_, ", "), ")");
    partitioned_.AddRoot(tuple_shape, absl::StrCat("tuple(", absl::StrJoin(joined_, ", "), "), sharding={",
                                                   absl::StrJoin(cuts_, ", "), "}"));
    one_device_.AddRoot(tuple_shape, absl::StrCat("tuple(", absl::StrJoin(results_, ", "), ")"));
    std::vector<std::string> axes;
    for (size_t axis = 0; axis < axes_.size(); ++axis) axes.push_back(absl::StrCat("\"a", axis, "\"=", axes_[axis]));
    program.module = Parsed(partitioned_, absl::StrCat(", num_partitions=", Devices(),
                                                       ", frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<[",
                                                       absl::StrJoin(axes, ", "), "]>}}"));
    other_.clear();  // of the partitioned program alone
    program.on_one_device = Parsed(one_device_, "");
    if (program.module == nullptr || program.on_one_device == nullptr) return {};
    return program;
  }

 private:
  // A value of the region, and what the devices at each position have of it.
  struct Values {
    std::string in_region;
    std::map<Coordinates, std::string> on_one;
  };

  void ChooseAxes() {
    do {
      manual_.clear();
      free_.clear();
      for (size_t axis = 0; axis < axes_.size(); ++axis) (random_.Chance(50) ? manual_ : free_).push_back(axis);
    } while (manual_.empty() || free_.empty());
    positions_ = PositionsOf(manual_);
  }
  std::vector<Coordinates> PositionsOf(const std::vector<size_t>& axes) const {
    std::vector<Coordinates> positions;
    for (int64_t device = 0; device < Devices(); ++device) {
      const Coordinates at = OnlyAlong(axes, CoordinatesOf(device));
      if (std::find(positions.begin(), positions.end(), at) == positions.end()) positions.push_back(at);
    }
    return positions;
  }
  static Coordinates OnlyAlong(const std::vector<size_t>& axes, const Coordinates& at) {
    Coordinates only(at.size(), 0);
    for (const size_t axis : axes) only[axis] = at[axis];
    return only;
  }

  // A parameter of both programs, cut along some axes in the partitioned one.
  std::pair<std::string, std::string> Parameter(RandomProgram* program, Literal value) {
    const Shape shape = value.shape();
    const std::string parameter = absl::StrCat("parameter(", program->arguments.size(), ")");
    const std::string cut = TileAssignmentToHlo(TilesOf(RandomAxes(shape, AllAxes(), 80, true), shape.rank()));
    program->arguments.push_back(std::move(value));
    return {partitioned_.Add(shape.ToString(), absl::StrCat(parameter, ", sharding=", cut)),
            one_device_.Add(shape.ToString(), parameter)};
  }
  void AddResult(const Shape& shape, std::string joined, std::string result) {
    joined_.push_back(std::move(joined));
    joined_shapes_.push_back(shape.ToString());
    results_.push_back(std::move(result));
    cuts_.push_back(TileAssignmentToHlo(TilesOf(RandomAxes(shape, AllAxes(), 70, true), shape.rank())));
  }

  // The local program on whole arrays.
  void AddWholeCall(RandomProgram* program) {
    const HloComputation& entry = *local_.module->entry_computation();
    std::vector<std::string> partitioned, on_one;
    for (int64_t i = 0; i < entry.num_parameters(); ++i) {
      auto [in_partitioned, in_one] = Parameter(program, local_.arguments[i].Clone());
      partitioned.push_back(in_partitioned);
      on_one.push_back(in_one);
    }
    const Shape& result = entry.root_instruction()->shape();
    const auto call = [&](ModuleText& text, const std::vector<std::string>& operands) {
      return text.Add(result.ToString(),
                      absl::StrCat("call(", absl::StrJoin(operands, ", "), "), to_apply=local_program"));
    };
    const std::string called = call(partitioned_, partitioned), called_on_one = call(one_device_, on_one);
    const int64_t count = result.IsTuple() ? result.tuple_shapes_size() : 1;
    for (int64_t i = 0; i < count; ++i) {
      const Shape& shape = result.IsTuple() ? result.tuple_shapes(i) : result;
      if (shape.IsArray() && shape.is_static())
        AddResult(shape, ElementOf(partitioned_, called, result, i), ElementOf(one_device_, called_on_one, result, i));
    }
  }
  static std::string ElementOf(ModuleText& text, const std::string& of, const Shape& shape, int64_t i) {
    return shape.IsTuple()
               ? text.Add(shape.tuple_shapes(i).ToString(), absl::StrCat("get-tuple-element(", of, "), index=", i))
               : of;
  }

  void AddRegion(RandomProgram* program) {
    const HloComputation& entry = *local_.module->entry_computation();
    std::vector<std::string> locals, edge_operands, edge_shapes, edge_shardings;
    std::map<Coordinates, std::vector<std::string>> operands;  // of the calls on one device
    for (int64_t i = 0; i < entry.num_parameters(); ++i) {
      const Shape& local = entry.parameter_instruction(i)->shape();
      const AxesOfDimensions manual = RandomAxes(local, manual_, 70, /*divides=*/false);
      const auto [in_partitioned, on_one] =
          Parameter(program, Repeated(local_.arguments[i], WholeShape(local, manual)));
      edge_operands.push_back(in_partitioned);
      edge_shapes.push_back(local.ToString());
      edge_shardings.push_back(SdyText(manual));
      for (const Coordinates& position : positions_)
        operands[position].push_back(SliceAt(on_one, local, manual, position));
    }
    const std::string begun =
        Edge("xla.sdy.GlobalToLocalShape", "in", manual_, edge_operands, edge_shapes, edge_shardings);
    for (size_t i = 0; i < edge_shapes.size(); ++i)
      locals.push_back(Marked(Element(begun, edge_shapes, i), entry.parameter_instruction(i)->shape()));

    const Shape& result = entry.root_instruction()->shape();
    const std::string call = absl::StrCat("call(", absl::StrJoin(locals, ", "), "), to_apply=local_program");
    const std::string in_region = partitioned_.Add(result.ToString(), call);
    std::map<Coordinates, std::string> calls;
    for (const Coordinates& position : positions_) {
      const std::string list = absl::StrJoin(operands[position], ", ");
      calls[position] = one_device_.Add(result.ToString(), absl::StrCat("call(", list, "), to_apply=local_program"));
    }

    std::vector<std::string> local_results, whole_shapes, shardings, results;
    std::vector<Shape> shapes;
    const int64_t count = result.IsTuple() ? result.tuple_shapes_size() : 1;
    for (int64_t i = 0; i < count; ++i) {
      Shape shape = result.IsTuple() ? result.tuple_shapes(i) : result;
      if (!shape.IsArray() || !shape.is_static() || ShapeUtil::ElementsIn(shape) == 0) continue;
      Values values{.in_region = ElementOf(partitioned_, in_region, result, i), .on_one = {}};
      for (const Coordinates& position : positions_)
        values.on_one[position] = ElementOf(one_device_, calls[position], result, i);
      if (shape.rank() == 0) {
        shape = ShapeUtil::MakeShape(shape.element_type(), {1});
        values = Each(shape, values, [](const std::string& x) { return absl::StrCat("reshape(", x, ")"); });
      }
      Roll(shape, &values);
      Exchange(program, &shape, &values);
      if (random_.Chance(50)) Nest(program, &shape, &values);
      const AxesOfDimensions out = EachSomewhere(manual_, shape);
      shapes.push_back(WholeShape(shape, out));
      local_results.push_back(Marked(values.in_region, shape));
      whole_shapes.push_back(shapes.back().ToString());
      shardings.push_back(SdyText(out));
      results.push_back(Joined(shape, out, values));
    }
    if (local_results.empty()) return;
    const std::string ended =
        Edge("xla.sdy.LocalToGlobalShape", "out", manual_, local_results, whole_shapes, shardings);
    for (size_t i = 0; i < shapes.size(); ++i) AddResult(shapes[i], Element(ended, whole_shapes, i), results[i]);
  }

  AxesOfDimensions EachSomewhere(const std::vector<size_t>& axes, const Shape& shape) {
    AxesOfDimensions of(shape.rank());
    for (const size_t axis : axes) of[random_.Below(shape.rank())].push_back(axis);
    return of;
  }

  // A region within the region, by some of the axes that are left; perhaps with another one in it.
  void Nest(RandomProgram* program, Shape* shape, Values* values) {
    std::vector<size_t> axes;
    for (const size_t axis : free_) {
      if (random_.Chance(60)) axes.push_back(axis);
    }
    if (axes.empty()) return;
    const std::vector<size_t> outer_manual = manual_, outer_free = free_;
    const AxesOfDimensions in = RandomAxes(*shape, axes, 80, /*divides=*/true);
    Shape local = ShapeUtil::MakeShape(shape->element_type(), shape->dimensions());
    for (int64_t d = 0; d < local.rank(); ++d) local.set_dimensions(d, local.dimensions(d) / CountOf(in[d]));
    manual_.insert(manual_.end(), axes.begin(), axes.end());
    std::erase_if(free_, [&](size_t axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); });
    Values inner{.in_region = Edge("xla.sdy.GlobalToLocalShape", "in", axes, {values->in_region}, {local.ToString()},
                                   {SdyText(in)}),
                 .on_one = {}};
    for (const Coordinates& position : PositionsOf(manual_))
      inner.on_one[position] = SliceAt(values->on_one[OnlyAlong(outer_manual, position)], local, in, position);
    inner.in_region = Marked(inner.in_region, local);
    Roll(local, &inner);
    Exchange(program, &local, &inner);
    if (random_.Chance(50)) Nest(program, &local, &inner);
    const AxesOfDimensions out = EachSomewhere(axes, local);
    *shape = WholeShape(local, out);
    values->in_region = Edge("xla.sdy.LocalToGlobalShape", "out", axes, {Marked(inner.in_region, local)},
                             {shape->ToString()}, {SdyText(out)});
    std::map<Coordinates, Values> by_outer;
    for (const auto& [position, value] : inner.on_one)
      by_outer[OnlyAlong(outer_manual, position)].on_one[position] = value;
    for (const auto& [position, parts] : by_outer) values->on_one[position] = Joined(local, out, parts);
    manual_ = outer_manual;
    free_ = outer_free;
  }

  int64_t Devices() const { return std::accumulate(axes_.begin(), axes_.end(), int64_t{1}, std::multiplies<>()); }
  std::vector<size_t> AllAxes() const {
    std::vector<size_t> all(axes_.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  int64_t StrideOf(size_t axis) const {
    return std::accumulate(axes_.begin() + static_cast<int64_t>(axis) + 1, axes_.end(), int64_t{1},
                           std::multiplies<>());
  }
  Coordinates CoordinatesOf(int64_t device) const {
    Coordinates coordinates;
    for (size_t axis = 0; axis < axes_.size(); ++axis) coordinates.push_back(device / StrideOf(axis) % axes_[axis]);
    return coordinates;
  }
  int64_t CountOf(const std::vector<size_t>& axes) const {
    int64_t count = 1;
    for (const size_t axis : axes) count *= axes_[axis];
    return count;
  }
  int64_t NumberAlong(const std::vector<size_t>& axes, const Coordinates& at) const {
    int64_t number = 0;
    for (const size_t axis : axes) number = number * axes_[axis] + at[axis];
    return number;
  }

  AxesOfDimensions RandomAxes(const Shape& shape, std::vector<size_t> axes, int percent, bool divides) {
    AxesOfDimensions of(shape.rank());
    for (size_t i = axes.size(); i > 1; --i) std::swap(axes[i - 1], axes[random_.Below(static_cast<int64_t>(i))]);
    for (const size_t axis : axes) {
      if (shape.rank() == 0 || !random_.Chance(percent)) continue;
      const int64_t d = random_.Below(shape.rank());
      const int64_t count = CountOf(of[d]) * axes_[axis];
      if (divides && (shape.dimensions(d) == 0 || shape.dimensions(d) % count != 0)) continue;
      of[d].push_back(axis);
    }
    return of;
  }
  TileAssignment TilesOf(const AxesOfDimensions& of, int64_t rank) const {
    TileAssignment tiles;
    if (rank == 0) return tiles;
    for (const auto& axes : of) tiles.counts.push_back(CountOf(axes));
    for (int64_t device = 0; device < Devices(); ++device) {
      std::vector<int64_t>& tile = tiles.tile_of.emplace_back();
      for (const auto& axes : of) tile.push_back(NumberAlong(axes, CoordinatesOf(device)));
    }
    return tiles;
  }
  Shape WholeShape(const Shape& local, const AxesOfDimensions& manual) const {
    Shape whole = ShapeUtil::MakeShape(local.element_type(), local.dimensions());
    for (int64_t d = 0; d < whole.rank(); ++d) whole.set_dimensions(d, whole.dimensions(d) * CountOf(manual[d]));
    return whole;
  }

  std::string SdyText(const AxesOfDimensions& of) const {
    std::vector<std::string> dimensions;
    for (const auto& axes : of) {
      std::vector<std::string> names;
      for (const size_t axis : axes) names.push_back(absl::StrCat("\\\"a", axis, "\\\""));
      dimensions.push_back(absl::StrCat("{", absl::StrJoin(names, ", "), "}"));
    }
    return absl::StrCat("<@mesh, [", absl::StrJoin(dimensions, ", "), "]>");
  }
  std::string Edge(const std::string& target, const std::string& side, const std::vector<size_t>& axes,
                   const std::vector<std::string>& operands, const std::vector<std::string>& shapes,
                   const std::vector<std::string>& shardings) {
    std::vector<std::string> names;
    for (const size_t axis : axes) names.push_back(absl::StrCat("\\\"a", axis, "\\\""));
    const std::string shape = shapes.size() == 1 ? shapes[0] : absl::StrCat("(", absl::StrJoin(shapes, ", "), ")");
    return partitioned_.Add(
        shape, absl::StrCat("custom-call(", absl::StrJoin(operands, ", "), "), custom_call_target=\"", target,
                            "\", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.", side,
                            "_shardings=\"#sdy.sharding_per_value<[", absl::StrJoin(shardings, ", "),
                            "]>\",xla.sdy.manual_axes=\"#sdy<manual_axes{", absl::StrJoin(names, ", "), "}>\"}"));
  }
  std::string Element(const std::string& edge, const std::vector<std::string>& shapes, size_t i) {
    return shapes.size() == 1 ? edge
                              : partitioned_.Add(shapes[i], absl::StrCat("get-tuple-element(", edge, "), index=", i));
  }
  // Perhaps a mark of a value in the region, by axes that are not manual.
  std::string Marked(const std::string& value, const Shape& shape) {
    if (shape.rank() == 0 || random_.Chance(50)) return value;
    const TileAssignment tiles = TilesOf(RandomAxes(shape, free_, 90, random_.Chance(60)), shape.rank());
    return partitioned_.Add(shape.ToString(),
                            absl::StrCat("custom-call(", value,
                                         "), custom_call_target=\"Sharding\", sharding=", TileAssignmentToHlo(tiles)));
  }

  std::string SliceAt(const std::string& value, const Shape& local, const AxesOfDimensions& manual,
                      const Coordinates& at) {
    std::vector<std::string> ranges;
    for (int64_t d = 0; d < local.rank(); ++d) {
      const int64_t begin = NumberAlong(manual[d], at) * local.dimensions(d);
      ranges.push_back(absl::StrCat("[", begin, ":", begin + local.dimensions(d), "]"));
    }
    return one_device_.Add(local.ToString(),
                           absl::StrCat("slice(", value, "), slice={", absl::StrJoin(ranges, ", "), "}"));
  }
  // The same values at each position: what a random program computes of others could be decided by roundings.
  static Literal Repeated(const Literal& local, const Shape& whole) {
    Literal literal = *Literal::Create(whole);
    const int64_t elements = literal.element_count();
    const size_t bytes = elements == 0 ? 0 : literal.untyped_data().size() / static_cast<size_t>(elements);
    for (int64_t i = 0; i < elements; ++i) {
      std::vector<int64_t> from(whole.rank());
      for (int64_t d = whole.rank() - 1, left = i; d >= 0; left /= whole.dimensions(d--))
        from[d] = left % whole.dimensions(d) % local.shape().dimensions(d);
      std::copy_n(local.untyped_data().data() + static_cast<size_t>(local.LinearIndex(from)) * bytes, bytes,
                  literal.untyped_data().data() + static_cast<size_t>(i) * bytes);
    }
    return literal;
  }

  template <typename Op>
  Values Each(const Shape& shape, const Values& values, Op op) {
    Values next{.in_region = partitioned_.Add(shape.ToString(), op(values.in_region)), .on_one = {}};
    for (const auto& [position, value] : values.on_one)
      next.on_one[position] = one_device_.Add(shape.ToString(), op(value));
    return next;
  }

  // Moves the rows around by the coordinate along an axis: each position has values of its own.
  void Roll(const Shape& shape, Values* values) {
    const size_t axis = random_.Of(manual_);
    const int64_t rows = shape.dimensions(0);
    Shape twice = shape;
    twice.set_dimensions(0, 2 * rows);
    const Values both = Each(twice, *values, [](const std::string& x) {
      return absl::StrCat("concatenate(", x, ", ", x, "), dimensions={0}");
    });
    ModuleText& text = partitioned_;
    const auto scalar = [&](int64_t value) { return text.Add("u32[]", absl::StrCat("constant(", value, ")")); };
    std::string start = text.Add("u32[]", "partition-id()");
    for (const auto& [op, by] :
         {std::pair("divide", StrideOf(axis)), std::pair("remainder", axes_[axis]), std::pair("remainder", rows)}) {
      const std::string operand = scalar(by);
      start = text.Add("u32[]", absl::StrCat(op, "(", start, ", ", operand, ")"));
    }
    std::vector<std::string> starts = {text.Add("s32[]", absl::StrCat("convert(", start, ")"))};
    const std::string zero = text.Add("s32[]", "constant(0)");
    starts.resize(shape.rank(), zero);
    values->in_region = text.Add(shape.ToString(),
                                 absl::StrCat("dynamic-slice(", both.in_region, ", ", absl::StrJoin(starts, ", "),
                                              "), dynamic_slice_sizes={", absl::StrJoin(shape.dimensions(), ","), "}"));
    for (auto& [position, value] : values->on_one) {
      const int64_t from = position[axis] % rows;
      std::vector<std::string> ranges = {absl::StrCat("[", from, ":", from + rows, "]")};
      for (int64_t d = 1; d < shape.rank(); ++d) ranges.push_back(absl::StrCat("[0:", shape.dimensions(d), "]"));
      value = one_device_.Add(shape.ToString(), absl::StrCat("slice(", both.on_one.at(position), "), slice={",
                                                             absl::StrJoin(ranges, ", "), "}"));
    }
  }

  // The devices of each group differ along the axis.
  std::string GroupsAlong(size_t axis) const {
    std::vector<std::string> groups;
    for (int64_t device = 0; device < Devices(); ++device) {
      if (CoordinatesOf(device)[axis] != 0) continue;
      std::vector<int64_t> group;
      for (int64_t i = 0; i < axes_[axis]; ++i) group.push_back(device + i * StrideOf(axis));
      groups.push_back(absl::StrCat("{", absl::StrJoin(group, ","), "}"));
    }
    return absl::StrCat("{", absl::StrJoin(groups, ","), "}");
  }
  Coordinates Along(Coordinates at, size_t axis, int64_t coordinate) const {
    at[axis] = coordinate;
    return at;
  }

  // A collective along a manual axis, or none; some that keep the shape are made in a loop, or in a branch.
  void Exchange(RandomProgram* program, Shape* shape, Values* values) {
    const int form = random_.Below(10);
    if (form < 2) {
      ExchangeInLoop(*shape, values);
    } else if (form < 4) {
      ExchangeInBranch(program, *shape, values);
    } else {
      ExchangeHere(shape, values);
    }
  }
  // Sends each value along an axis by some coordinates; the op.
  std::string Permute(const std::string& value, size_t axis, int64_t by) {
    std::vector<std::string> pairs;
    for (int64_t device = 0; device < Devices(); ++device) {
      const int64_t own = CoordinatesOf(device)[axis];
      pairs.push_back(absl::StrCat("{", device, ",", device + ((own + by) % axes_[axis] - own) * StrideOf(axis), "}"));
    }
    return absl::StrCat("collective-permute(", value, "), channel_id=", ++channel_, ", source_target_pairs={",
                        absl::StrJoin(pairs, ","), "}");
  }
  void Permuted(size_t axis, int64_t by, Values* values) const {
    std::map<Coordinates, std::string> next;
    for (const auto& [position, value] : values->on_one)
      next[Along(position, axis, (position[axis] + by) % axes_[axis])] = value;
    values->on_one = std::move(next);
  }
  void ExchangeInLoop(const Shape& shape, Values* values) {
    const size_t axis = random_.Of(manual_);
    const int64_t by = 1 + random_.Below(axes_[axis] - 1), trips = random_.Below(4);
    const std::string type = shape.ToString(), state = absl::StrCat("(s32[], ", type, ")"),
                      name = absl::StrCat("loop", ++computations_);
    other_[absl::StrCat(name, "_body")] =
        absl::StrCat("  s = ", state, " parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  x = ", type,
                     " get-tuple-element(s), index=1\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  y = ", type,
                     " ", Permute("x", axis, by), "\n  ROOT t = ", state, " tuple(j, y)\n");
    other_[absl::StrCat(name, "_condition")] =
        absl::StrCat("  s = ", state, " parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant(",
                     trips, ")\n  ROOT c = pred[] compare(i, n), direction=LT\n");
    const std::string zero = partitioned_.Add("s32[]", "constant(0)"),
                      begun = partitioned_.Add(state, absl::StrCat("tuple(", zero, ", ", values->in_region, ")")),
                      ended = partitioned_.Add(state, absl::StrCat("while(", begun, "), condition=", name,
                                                                   "_condition, body=", name, "_body"));
    values->in_region = partitioned_.Add(type, absl::StrCat("get-tuple-element(", ended, "), index=1"));
    Permuted(axis, by * trips, values);
  }
  void ExchangeInBranch(RandomProgram* program, const Shape& shape, Values* values) {
    const size_t axis = random_.Of(manual_);
    const int64_t by = 1 + random_.Below(axes_[axis] - 1);
    const bool exchanges = random_.Chance(50);
    const std::string type = shape.ToString(), name = absl::StrCat("branch", ++computations_);
    const std::string chosen = partitioned_.Add("s32[]", absl::StrCat("parameter(", program->arguments.size(), ")"));
    one_device_.Add("s32[]", absl::StrCat("parameter(", program->arguments.size(), ")"));
    program->arguments.push_back(LiteralUtil::CreateR0<int32_t>(exchanges ? 1 : 0));
    other_[absl::StrCat(name, "_0")] = absl::StrCat("  ROOT x = ", type, " parameter(0)\n");
    other_[absl::StrCat(name, "_1")] =
        absl::StrCat("  x = ", type, " parameter(0)\n  ROOT y = ", type, " ", Permute("x", axis, by), "\n");
    values->in_region =
        partitioned_.Add(type, absl::StrCat("conditional(", chosen, ", ", values->in_region, ", ", values->in_region,
                                            "), branch_computations={", name, "_0, ", name, "_1}"));
    if (exchanges) Permuted(axis, by, values);
  }
  void ExchangeHere(Shape* shape, Values* values) {
    const size_t axis = random_.Of(manual_);
    const int64_t size = axes_[axis];
    std::map<Coordinates, std::string> next;
    const std::string given = values->in_region;
    switch (random_.Below(4)) {
      case 0: return;
      case 1: {
        if (shape->element_type() == PRED) return;
        const bool adds = IsComplexType(shape->element_type()) || random_.Chance(50);
        const std::string op = adds ? "add" : "maximum", type(PrimitiveTypeName(shape->element_type()));
        other_[absl::StrCat(op, "_", type)] = absl::StrCat("  a = ", type, "[] parameter(0)\n  b = ", type,
                                                           "[] parameter(1)\n  ROOT c = ", type, "[] ", op, "(a, b)\n");
        values->in_region =
            partitioned_.Add(shape->ToString(), absl::StrCat("all-reduce(", given, "), channel_id=", ++channel_,
                                                             ", replica_groups=", GroupsAlong(axis),
                                                             ", use_global_device_ids=true, to_apply=", op, "_", type));
        for (const auto& [position, value] : values->on_one) {
          std::string sum = values->on_one[Along(position, axis, 0)];
          for (int64_t i = 1; i < size; ++i)
            sum = one_device_.Add(shape->ToString(),
                                  absl::StrCat(op, "(", sum, ", ", values->on_one[Along(position, axis, i)], ")"));
          next[position] = sum;
        }
        break;
      }
      case 2: {
        const int64_t by = 1 + random_.Below(size - 1);
        values->in_region = partitioned_.Add(shape->ToString(), Permute(given, axis, by));
        Permuted(axis, by, values);
        return;
      }
      case 3: {
        const int64_t d = random_.Below(shape->rank());
        shape->set_dimensions(d, shape->dimensions(d) * size);
        values->in_region =
            partitioned_.Add(shape->ToString(), absl::StrCat("all-gather(", given, "), channel_id=", ++channel_,
                                                             ", replica_groups=", GroupsAlong(axis), ", dimensions={",
                                                             d, "}, use_global_device_ids=true"));
        for (const auto& [position, value] : values->on_one) {
          std::vector<std::string> parts;
          for (int64_t i = 0; i < size; ++i) parts.push_back(values->on_one[Along(position, axis, i)]);
          next[position] = one_device_.Add(
              shape->ToString(), absl::StrCat("concatenate(", absl::StrJoin(parts, ", "), "), dimensions={", d, "}"));
        }
        break;
      }
    }
    values->on_one = std::move(next);
  }

  // The whole array on one device: joined dimension by dimension, the last one first.
  std::string Joined(Shape shape, const AxesOfDimensions& out, const Values& values) {
    std::map<std::vector<int64_t>, std::string> parts;  // by block
    for (const auto& [position, value] : values.on_one) {
      std::vector<int64_t> block;
      for (const auto& axes : out) block.push_back(NumberAlong(axes, position));
      parts[block] = value;
    }
    for (int64_t d = shape.rank() - 1; d >= 0; --d) {
      const int64_t count = CountOf(out[d]);
      shape.set_dimensions(d, shape.dimensions(d) * count);
      std::map<std::vector<int64_t>, std::string> next;
      for (const auto& [block, value] : parts) {
        if (block[d] != 0) continue;
        std::vector<std::string> along;
        for (int64_t i = 0; i < count; ++i) {
          std::vector<int64_t> at = block;
          at[d] = i;
          along.push_back(parts[at]);
        }
        next[block] = one_device_.Add(
            shape.ToString(), absl::StrCat("concatenate(", absl::StrJoin(along, ", "), "), dimensions={", d, "}"));
      }
      parts = std::move(next);
    }
    return parts.begin()->second;
  }

  std::unique_ptr<HloModule> Parsed(const ModuleText& entry, const std::string& header) const {
    std::string text = PrintHloModule(*local_.module);
    text = absl::StrReplaceAll(text.substr(text.find('\n')), {{absl::StrCat("ENTRY ", "main"), "local_program"}});
    text = absl::StrCat("HloModule manual", header, "\n", text, "\n");
    for (const auto& [name, lines] : other_) absl::StrAppend(&text, name, " {\n", lines, "}\n\n");
    auto module = ParseHloModule(absl::StrCat(text, "ENTRY entry {\n", entry.lines(), "}\n"));
    if (module.ok()) return *std::move(module);
    std::fprintf(stderr, "%s\n", module.status().ToString().c_str());
    return nullptr;
  }

  Random random_;
  const std::vector<int64_t> axes_;
  std::vector<size_t> manual_, free_;
  std::vector<Coordinates> positions_;  // along the manual axes; 0 along the others
  RandomProgram local_;
  ModuleText partitioned_, one_device_;
  std::vector<std::string> joined_, joined_shapes_, results_, cuts_;  // of the results
  std::map<std::string, std::string> other_;                          // computations, by name
  int64_t channel_ = 0, computations_ = 0;
};

}  // namespace

RandomProgram MakeManualProgram(uint64_t seed) {
  while (true) {
    RandomProgram program = ManualProgram(seed).Make();
    if (program.module != nullptr) return program;
    seed += uint64_t{1} << 40;  // it has no array to join
  }
}

}  // namespace hilo::fuzz
