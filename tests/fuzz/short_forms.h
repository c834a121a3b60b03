// Edits of HLO texts that make them short, as hlo/text/hlo_parser.h allows.
#ifndef HILO_TESTS_FUZZ_SHORT_FORMS_H_
#define HILO_TESTS_FUZZ_SHORT_FORMS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tests/fuzz/random_numbers.h"

namespace hilo::fuzz {

// The words (names and numbers), strings, and single other characters of a text, with the white space before each.
std::vector<std::string> Tokens(absl::string_view text);

// Does one of these, at random: leaves out the header or the shape of an instruction, or writes an operand or a called
// computation in line. Nothing if the text has no position for it. A text that was legal need not stay so: attributes
// of an operand are lost, and a computation that is written in line stays where it was, too.
void Shorten(std::vector<std::string>& tokens, Random& random);

}  // namespace hilo::fuzz

#endif  // HILO_TESTS_FUZZ_SHORT_FORMS_H_
