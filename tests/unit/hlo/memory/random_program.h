// Random programs of loops, branches and calls over a few small arrays, as HLO text: what aliasing can get wrong. All
// numbers are integers, so every way to run one gives the same bits.
#ifndef HILO_TESTS_UNIT_HLO_MEMORY_RANDOM_PROGRAM_H_
#define HILO_TESTS_UNIT_HLO_MEMORY_RANDOM_PROGRAM_H_

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hilo::testing {

class RandomProgram {
 public:
  // `array` elements an array. The entry takes (s32[], s32[n], s32[n], s32[2,n]).
  RandomProgram(uint32_t seed, int64_t array) : random_(seed), array_(array) {}

  std::string Text() {
    computations_.clear();
    Body body = NewBody("main", 0);
    const std::vector<Kind> parameters = {kScalar, kArray, kArray, kMatrix};
    for (size_t i = 0; i < parameters.size(); ++i) {
      Emit(body, parameters[i], absl::StrCat("parameter(", i, ")"));
    }
    Grow(body, 4 + Below(8));
    std::vector<Value> results;
    const int count = 1 + Below(5);
    for (int i = 0; i < count; ++i) results.push_back(Pick(body));
    std::string alias;
    if (Below(3) == 0) {  // donate some parameters to results of the same kind
      std::vector<std::string> aliases;
      std::vector<bool> donated(parameters.size(), false);
      for (size_t r = 0; r < results.size(); ++r) {
        for (size_t p = 0; p < parameters.size(); ++p) {
          if (donated[p] || parameters[p] != results[r].kind || Below(3) == 0) continue;
          donated[p] = true;
          aliases.push_back(absl::StrCat("{", r, "}: (", p, ", {}, may-alias)"));
          break;
        }
      }
      if (!aliases.empty()) alias = absl::StrCat(", input_output_alias={ ", absl::StrJoin(aliases, ", "), " }");
    }
    Root(body, results);
    Close(body, "ENTRY ");
    return absl::StrCat("HloModule random", alias, "\n", absl::StrJoin(computations_, "\n"));
  }

 private:
  enum Kind { kScalar, kPred, kArray, kMatrix, kEmpty };
  struct Value {
    std::string name;
    Kind kind;
  };
  struct Body {
    std::string name;
    int depth;
    std::vector<std::string> lines;
    std::vector<Value> values;
  };

  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  std::string NewName(const char* prefix) { return absl::StrCat(prefix, next_name_++); }
  Body NewBody(const std::string& name, int depth) { return {.name = name, .depth = depth, .lines = {}, .values = {}}; }

  std::string Type(Kind kind) const {
    switch (kind) {
      case kScalar: return "s32[]";
      case kPred: return "pred[]";
      case kArray: return absl::StrCat("s32[", array_, "]");
      case kMatrix: return absl::StrCat("s32[2,", array_, "]");
      case kEmpty: return "s32[0]";
    }
    return "";
  }
  std::string TupleType(const std::vector<Kind>& kinds) const {
    std::vector<std::string> types;
    for (Kind kind : kinds) types.push_back(Type(kind));
    return absl::StrCat("(", absl::StrJoin(types, ", "), ")");
  }

  std::string Line(Body& body, const std::string& type, const std::string& expression) {
    const std::string name = NewName("v");
    body.lines.push_back(absl::StrCat("  ", name, " = ", type, " ", expression));
    return name;
  }
  std::string Emit(Body& body, Kind kind, const std::string& expression) {
    const std::string name = Line(body, Type(kind), expression);
    body.values.push_back({name, kind});
    return name;
  }
  Value Pick(Body& body) {
    if (body.values.empty()) Make(body, kScalar);
    return body.values[body.values.size() - 1 - std::min(Below(body.values.size()), Below(body.values.size()))];
  }
  std::string Pick(Body& body, Kind kind) {
    std::vector<std::string> fit;
    for (const Value& value : body.values) {
      if (value.kind == kind) fit.push_back(value.name);
    }
    if (fit.empty()) return Make(body, kind);
    return fit[fit.size() - 1 - std::min(Below(fit.size()), Below(fit.size()))];
  }
  // A value from nothing.
  std::string Make(Body& body, Kind kind) {
    switch (kind) {
      case kScalar: return Emit(body, kind, absl::StrCat("constant(", Below(5), ")"));
      case kPred:
        return Emit(body, kind,
                    absl::StrCat("compare(", Pick(body, kScalar), ", ", Pick(body, kScalar), "), direction=LT"));
      case kArray: {
        if (Below(2) == 0) return Emit(body, kind, absl::StrCat("broadcast(", Pick(body, kScalar), "), dimensions={}"));
        std::vector<int> elements;
        for (int64_t i = 0; i < array_; ++i) elements.push_back(Below(9));
        return Emit(body, kind, absl::StrCat("constant({", absl::StrJoin(elements, ","), "})"));
      }
      case kMatrix: return Emit(body, kind, absl::StrCat("broadcast(", Pick(body, kArray), "), dimensions={1}"));
      case kEmpty: return Emit(body, kind, "constant({})");
    }
    return "";
  }

  void Grow(Body& body, int count) {
    for (int i = 0; i < count; ++i) Step(body);
  }

  void Step(Body& body) {
    const int limit = body.depth < 3 ? 25 : 19;
    switch (Below(limit)) {
      case 0: Emit(body, kScalar, absl::StrCat("add(", Pick(body, kScalar), ", ", Pick(body, kScalar), ")")); break;
      case 1:
      case 2:
        Emit(body, kArray,
             absl::StrCat(Below(2) ? "subtract(" : "add(", Pick(body, kArray), ", ", Pick(body, kArray), ")"));
        break;
      case 3: Emit(body, kArray, absl::StrCat("reverse(", Pick(body, kArray), "), dimensions={0}")); break;
      case 4: {
        const std::string flat =
            Line(body, absl::StrCat("s32[1,", array_, "]"), absl::StrCat("reshape(", Pick(body, kArray), ")"));
        const std::string more =
            Below(2) ? flat : Line(body, absl::StrCat("s32[1,", array_, "]"), absl::StrCat("negate(", flat, ")"));
        Emit(body, kArray, absl::StrCat("reshape(", more, ")"));
        break;
      }
      case 5:
      case 6:
      case 7:
      case 8: {
        const std::string piece = Line(body, "s32[1]",
                                       absl::StrCat("dynamic-slice(", Pick(body, kArray), ", ", Pick(body, kScalar),
                                                    "), dynamic_slice_sizes={1}"));
        const std::string update =
            Below(2) ? piece : Line(body, "s32[1]", absl::StrCat("add(", piece, ", ", piece, ")"));
        Emit(body, kArray,
             absl::StrCat("dynamic-update-slice(", Pick(body, kArray), ", ", update, ", ", Pick(body, kScalar), ")"));
        break;
      }
      case 9:
      case 10: {
        const std::string row =
            Line(body, absl::StrCat("s32[1,", array_, "]"), absl::StrCat("reshape(", Pick(body, kArray), ")"));
        const std::string zero = Line(body, "s32[]", "constant(0)");
        Emit(body, kMatrix,
             absl::StrCat("dynamic-update-slice(", Pick(body, kMatrix), ", ", row, ", ", Pick(body, kScalar), ", ",
                          zero, ")"));
        break;
      }
      case 11: {
        const std::string zero = Line(body, "s32[]", "constant(0)");
        const std::string row = Line(body, absl::StrCat("s32[1,", array_, "]"),
                                     absl::StrCat("dynamic-slice(", Pick(body, kMatrix), ", ", Pick(body, kScalar),
                                                  ", ", zero, "), dynamic_slice_sizes={1,", array_, "}"));
        Emit(body, kArray, absl::StrCat("reshape(", row, ")"));
        break;
      }
      case 12: Emit(body, kArray, absl::StrCat("copy(", Pick(body, kArray), ")")); break;
      case 13: Emit(body, kMatrix, absl::StrCat("add(", Pick(body, kMatrix), ", ", Pick(body, kMatrix), ")")); break;
      case 14: {
        const Value a = Pick(body), b = Pick(body);
        const std::string tuple =
            Line(body, TupleType({a.kind, b.kind}), absl::StrCat("tuple(", a.name, ", ", b.name, ")"));
        const std::string same =
            Below(2) ? tuple : Line(body, TupleType({a.kind, b.kind}), absl::StrCat("opt-barrier(", tuple, ")"));
        Emit(body, a.kind, absl::StrCat("get-tuple-element(", same, "), index=0"));
        break;
      }
      case 15: {
        const std::string one = Line(body, "s32[1]",
                                     absl::StrCat("dynamic-slice(", Pick(body, kArray), ", ", Pick(body, kScalar),
                                                  "), dynamic_slice_sizes={1}"));
        Emit(body, kScalar, absl::StrCat("reshape(", one, ")"));
        break;
      }
      case 16:
        Emit(body, kArray,
             absl::StrCat("select(", Pick(body, kPred), ", ", Pick(body, kArray), ", ", Pick(body, kArray), ")"));
        break;
      case 17: Make(body, static_cast<Kind>(Below(5))); break;
      case 18:
        Emit(body, kArray,
             absl::StrCat("add(",
                          Line(body, Type(kArray), absl::StrCat("reverse(", Pick(body, kArray), "), dimensions={0}")),
                          ", ", Pick(body, kArray), ")"));
        break;
      case 19:
      case 20:
      case 21: While(body); break;
      case 22:
      case 23: Conditional(body); break;
      default: Call(body); break;
    }
  }

  std::vector<Value> PickSome(Body& body) {
    std::vector<Value> some;
    const int count = 1 + Below(5);
    for (int i = 0; i < count; ++i) some.push_back(Pick(body));
    return some;
  }

  std::string Tuple(Body& body, const std::vector<Value>& values) {
    std::vector<std::string> names;
    std::vector<Kind> kinds;
    for (const Value& value : values) {
      names.push_back(value.name);
      kinds.push_back(value.kind);
    }
    return Line(body, TupleType(kinds), absl::StrCat("tuple(", absl::StrJoin(names, ", "), ")"));
  }

  // Elements of a tuple-shaped instruction become values.
  void Unpack(Body& body, const std::string& tuple, const std::vector<Kind>& kinds, size_t first = 0) {
    for (size_t i = first; i < kinds.size(); ++i) {
      if (Below(6) != 0) Emit(body, kinds[i], absl::StrCat("get-tuple-element(", tuple, "), index=", i));
    }
  }

  void Root(Body& body, const std::vector<Value>& values) {
    Tuple(body, values);
    std::string& line = body.lines.back();
    line = "  ROOT" + line.substr(1);
  }

  void Close(Body& body, const std::string& prefix = "") {
    computations_.push_back(absl::StrCat(prefix, body.name, " {\n", absl::StrJoin(body.lines, "\n"), "\n}"));
  }

  static std::vector<Kind> KindsOf(const std::vector<Value>& values) {
    std::vector<Kind> kinds;
    for (const Value& value : values) kinds.push_back(value.kind);
    return kinds;
  }

  // The next value of each element: often itself or another element of its kind, to rotate and duplicate.
  std::vector<Value> Choose(Body& body, const std::vector<Kind>& kinds) {
    std::vector<Value> chosen;
    for (Kind kind : kinds) chosen.push_back({Pick(body, kind), kind});
    return chosen;
  }

  void While(Body& outer) {
    std::vector<Value> init = PickSome(outer);
    const std::string zero = Line(outer, "s32[]", absl::StrCat("constant(", 3 - Below(4), ")"));
    init.insert(init.begin(), {zero, kScalar});
    const std::vector<Kind> kinds = KindsOf(init);

    Body condition = NewBody(NewName("condition"), outer.depth + 1);
    const std::string state = Line(condition, TupleType(kinds), "parameter(0)");
    const std::string left = Line(condition, "s32[]", absl::StrCat("get-tuple-element(", state, "), index=0"));
    const std::string nothing = Line(condition, "s32[]", "constant(0)");
    if (Below(3) == 0) {
      Unpack(condition, state, kinds, 1);
      Grow(condition, 1 + Below(2));
      const std::string one =
          Line(condition, "s32[1]",
               absl::StrCat("dynamic-slice(", Pick(condition, kArray), ", ", nothing, "), dynamic_slice_sizes={1}"));
      const std::string scalar = Line(condition, "s32[]", absl::StrCat("reshape(", one, ")"));
      const std::string hundred = Line(condition, "s32[]", "constant(20)");
      const std::string more =
          Line(condition, "pred[]", absl::StrCat("compare(", left, ", ", nothing, "), direction=GT"));
      const std::string small =
          Line(condition, "pred[]", absl::StrCat("compare(", scalar, ", ", hundred, "), direction=LT"));
      condition.lines.push_back(absl::StrCat("  ROOT ", NewName("v"), " = pred[] and(", more, ", ", small, ")"));
    } else {
      condition.lines.push_back(
          absl::StrCat("  ROOT ", NewName("v"), " = pred[] compare(", left, ", ", nothing, "), direction=GT"));
    }
    Close(condition);

    Body body = NewBody(NewName("body"), outer.depth + 1);
    const std::string carried = Line(body, TupleType(kinds), "parameter(0)");
    const std::string count = Line(body, "s32[]", absl::StrCat("get-tuple-element(", carried, "), index=0"));
    const std::string one = Line(body, "s32[]", "constant(1)");
    const std::string next = Line(body, "s32[]", absl::StrCat("subtract(", count, ", ", one, ")"));
    body.values.push_back({count, kScalar});
    Unpack(body, carried, kinds, 1);
    Grow(body, Below(6));
    std::vector<Value> results = Choose(body, std::vector<Kind>(kinds.begin() + 1, kinds.end()));
    results.insert(results.begin(), {next, kScalar});
    Root(body, results);
    Close(body);

    const std::string tuple = Tuple(outer, init);
    const std::string loop = Line(outer, TupleType(kinds),
                                  absl::StrCat("while(", tuple, "), condition=", condition.name, ", body=", body.name));
    Unpack(outer, loop, kinds);
  }

  // A computation of one tuple parameter (of `kinds`) and a tuple result of `results`.
  std::string Computation(const char* name, int depth, const std::vector<Kind>& kinds,
                          const std::vector<Kind>& results) {
    Body body = NewBody(NewName(name), depth);
    const std::string parameter = Line(body, TupleType(kinds), "parameter(0)");
    Unpack(body, parameter, kinds);
    Grow(body, Below(5));
    Root(body, Choose(body, results));
    Close(body);
    return body.name;
  }

  void Conditional(Body& body) {
    std::vector<Kind> results;
    for (const Value& value : PickSome(body)) results.push_back(value.kind);
    const bool pred = Below(2) == 0;
    const int branches = pred ? 2 : 1 + Below(3);
    std::vector<std::string> names, operands;
    const std::vector<Value> shared = PickSome(body);
    const std::string selector = Pick(body, pred ? kPred : kScalar);
    for (int i = 0; i < branches; ++i) {
      const std::vector<Value> arguments = Below(2) ? shared : PickSome(body);
      operands.push_back(Tuple(body, arguments));
      names.push_back(Computation("branch", body.depth + 1, KindsOf(arguments), results));
    }
    const std::string targets = pred ? absl::StrCat("true_computation=", names[0], ", false_computation=", names[1])
                                     : absl::StrCat("branch_computations={", absl::StrJoin(names, ", "), "}");
    const std::string result =
        Line(body, TupleType(results),
             absl::StrCat("conditional(", selector, ", ", absl::StrJoin(operands, ", "), "), ", targets));
    Unpack(body, result, results);
  }

  void Call(Body& body) {
    const std::vector<Value> arguments = PickSome(body);
    const std::vector<Kind> kinds = KindsOf(arguments);
    std::vector<Kind> results;
    for (const Value& value : PickSome(body)) results.push_back(value.kind);
    const std::string target = Computation("target", body.depth + 1, kinds, results);
    const int times = 1 + Below(2);
    for (int i = 0; i < times; ++i) {
      const std::string operand = Tuple(body, i == 0 ? arguments : Choose(body, kinds));
      Unpack(body, Line(body, TupleType(results), absl::StrCat("call(", operand, "), to_apply=", target)), results);
    }
  }

  std::mt19937 random_;
  int64_t array_;
  int next_name_ = 0;
  std::vector<std::string> computations_;
};

}  // namespace hilo::testing

#endif  // HILO_TESTS_UNIT_HLO_MEMORY_RANDOM_PROGRAM_H_
