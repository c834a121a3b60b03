#include "tests/fuzz/short_forms.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace hilo::fuzz {
namespace {

using TokenList = std::vector<std::string>;

bool IsWordCharacter(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-'; }

absl::string_view Bare(const std::string& token) { return absl::StripLeadingAsciiWhitespace(token); }

// "" behind the end.
absl::string_view At(const TokenList& tokens, size_t i) { return i < tokens.size() ? Bare(tokens[i]) : ""; }

bool IsOpening(absl::string_view token) { return token == "(" || token == "[" || token == "{"; }
bool IsClosing(absl::string_view token) { return token == ")" || token == "]" || token == "}"; }

// The position behind the bracket that matches the one at `i`, whatever its kind.
size_t BehindBrackets(const TokenList& tokens, size_t i) {
  int64_t depth = 0;
  for (; i < tokens.size(); ++i) {
    if (IsOpening(Bare(tokens[i]))) ++depth;
    if (IsClosing(Bare(tokens[i])) && --depth == 0) return i + 1;
  }
  return tokens.size();
}

// The position behind the shape at `i`: "f32[2]{0}" or "(f32[2], s32[])". `i` if there is none.
size_t BehindShape(const TokenList& tokens, size_t i) {
  if (At(tokens, i) == "(") return BehindBrackets(tokens, i);
  if (At(tokens, i + 1) != "[") return i;
  i = BehindBrackets(tokens, i + 1);
  return At(tokens, i) == "{" ? BehindBrackets(tokens, i) : i;
}

// A position of `word` from a random one on; the number of tokens if there is none.
size_t Find(const TokenList& tokens, absl::string_view word, Random& random) {
  const size_t from = random.Below(static_cast<int64_t>(tokens.size()));
  for (size_t i = 0; i < tokens.size(); ++i) {
    const size_t at = (from + i) % tokens.size();
    if (Bare(tokens[at]) == word) return at;
  }
  return tokens.size();
}

// `count` tokens from `at` on become `others`.
void Replace(TokenList& tokens, size_t at, size_t count, const TokenList& others) {
  tokens.erase(tokens.begin() + at, tokens.begin() + at + count);
  tokens.insert(tokens.begin() + at, others.begin(), others.end());
}

TokenList Copy(const TokenList& tokens, size_t begin, size_t end) {
  TokenList copy(tokens.begin() + begin, tokens.begin() + end);
  if (!copy.empty()) copy[0] = absl::StrCat(" ", Bare(copy[0]));
  return copy;
}

// Each returns false if it changed nothing.

// "HloModule name, attributes" goes, up to the first computation.
bool DropHeader(TokenList& tokens, Random& /*random*/) {
  if (At(tokens, 0) != "HloModule") return false;
  size_t i = 2;
  while (At(tokens, i) == "," && At(tokens, i + 2) == "=")
    i = IsOpening(At(tokens, i + 3)) ? BehindBrackets(tokens, i + 3) : i + 4;
  tokens.erase(tokens.begin(), tokens.begin() + std::min(i, tokens.size()));
  return true;
}

bool DropShape(TokenList& tokens, Random& random) {
  const size_t equals = Find(tokens, "=", random);
  const size_t end = BehindShape(tokens, equals + 1);
  if (end <= equals + 1 || end >= tokens.size()) return false;
  tokens.erase(tokens.begin() + equals + 1, tokens.begin() + end);
  return true;
}

// The definition "name = shape op(operands)" is written where the name is an operand.
bool InlineOperand(TokenList& tokens, Random& random) {
  const size_t equals = Find(tokens, "=", random);
  if (equals == 0 || equals == tokens.size()) return false;
  const size_t opcode = BehindShape(tokens, equals + 1);
  if (At(tokens, opcode + 1) != "(") return false;
  const size_t end = BehindBrackets(tokens, opcode + 1);
  for (size_t i = end; i < tokens.size(); ++i) {
    const absl::string_view before = Bare(tokens[i - 1]);
    if (Bare(tokens[i]) != Bare(tokens[equals - 1]) || (before != "(" && before != ",")) continue;
    Replace(tokens, i, 1, Copy(tokens, equals + 1, end));
    return true;
  }
  return false;
}

// "to_apply=name" becomes "to_apply={ ... }".
bool InlineComputation(TokenList& tokens, Random& random) {
  const size_t body = Find(tokens, "{", random);
  if (body == 0 || body == tokens.size()) return false;
  const absl::string_view name = Bare(tokens[body - 1]);
  for (size_t i = 1; i < tokens.size(); ++i) {
    if (Bare(tokens[i - 1]) != "=" || Bare(tokens[i]) != name) continue;
    Replace(tokens, i, 1, Copy(tokens, body, BehindBrackets(tokens, body)));
    return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> Tokens(absl::string_view text) {
  std::vector<std::string> tokens;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    while (i < text.size() && absl::ascii_isspace(text[i])) ++i;
    if (i < text.size() && IsWordCharacter(text[i])) {
      while (i < text.size() && IsWordCharacter(text[i])) ++i;
    } else if (i < text.size() && text[i] == '"') {
      i = std::min(text.find('"', i + 1), text.size() - 1) + 1;
    } else if (i < text.size()) {
      ++i;
    }
    tokens.emplace_back(text.substr(begin, i - begin));
  }
  return tokens;
}

void Shorten(std::vector<std::string>& tokens, Random& random) {
  static constexpr bool (*kEdits[])(TokenList&, Random&) = {
      DropHeader, DropShape, DropShape, InlineOperand, InlineOperand, InlineComputation, InlineComputation,
  };
  const auto edit = random.Of(kEdits);
  for (int tries = 0; tries < 10 && !tokens.empty(); ++tries) {
    if (edit(tokens, random)) return;
  }
}

}  // namespace hilo::fuzz
