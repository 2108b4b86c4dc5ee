// A column of a comparison of transports: which transport, how it recovers and shares, how the fabric treats it.
//
//   roce/gbn/ecmp/pfc      words, in any order, at most one of each kind; what none is said of is as the file has it
//   uet/rud/spray/trim, hosts.default.uet.window=256      ... and settings of its own behind them
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "control/spec/value.h"

namespace railyard::spec {

struct Column {
  enum class Kind { kTransport, kRecovery, kCongestion, kService, kPath, kLoss, kLink };
  std::string name;                         // the words, as they were written
  std::array<std::string_view, 7> words{};  // by kind; empty: not said
  std::vector<std::string> sets;            // "path=value", after the words

  std::string_view word(Kind kind) const { return words[static_cast<std::size_t>(kind)]; }
  bool is_uet() const { return word(Kind::kTransport) == "uet"; }

  bool operator==(const Column&) const = default;
};

// One word of the vocabulary: what it is about, whose it is, what it does.
struct ColumnWord {
  std::string_view word;
  Column::Kind kind;
  bool roce;
  bool uet;
  std::string meaning;
};
const std::vector<ColumnWord>& column_words();

// What is wrong: an unknown word, two of a kind, no transport, one that the transport does not have, a setting without
// '='.
Parsed<Column> parse_column(std::string_view text);

// "a, {b, c}, d" at the commas outside of brackets, braces and quotes; blanks around parts are dropped.
std::vector<std::string> split_at_commas(std::string_view text);

}  // namespace railyard::spec
