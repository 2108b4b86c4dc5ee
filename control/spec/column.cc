#include "control/spec/column.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/spec/suggest.h"
#include "dataplane/switch/path/policies.h"
#include "transports/roce/congestion/kinds.h"

namespace railyard::spec {
namespace {

using enum Column::Kind;

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

std::vector<std::string> all_words() {
  std::vector<std::string> words;
  for (const ColumnWord& w : column_words()) words.emplace_back(w.word);
  return words;
}

// RoCE's, before those of UET.
std::vector<ColumnWord> with_congestion_controls(std::vector<ColumnWord> words) {
  auto at = std::ranges::find(words, Column::Kind::kCongestion, &ColumnWord::kind);
  roce::for_each_congestion_kind([&]<class K>(std::type_identity<K>, std::size_t) {
    at = words.insert(at, {K::kName, Column::Kind::kCongestion, true, false,
                           fmt::format("congestion control {}", K::kTitle)}) + 1;
  });
  return words;
}

// Path policies of switches have words of their own, of which some are explained for comparisons.
std::vector<ColumnWord> with_path_policies(std::vector<ColumnWord> words) {
  for (const PathPolicyInfo& p : kPathPolicies)
    if (std::ranges::find(words, p.name, &ColumnWord::word) == words.end())
      words.push_back({p.name, kPath, true, true, std::string(p.help)});
  return words;
}

}  // namespace

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  char quote = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      --depth;
    } else if (c == ',' && depth == 0) {
      parts.push_back(trimmed(text.substr(from, i - from)));
      from = i + 1;
    }
  }
  parts.push_back(trimmed(text.substr(from)));
  return parts;
}

const std::vector<ColumnWord>& column_words() {
  static const std::vector<ColumnWord> words = with_path_policies(with_congestion_controls(
      {{"roce", kTransport, true, false, "RoCEv2"},
       {"uet", kTransport, false, true, "Ultra Ethernet Transport"},
       {"gbn", kRecovery, true, false, "go-back-N"},
       {"sr", kRecovery, true, false, "selective repeat"},
       {"nscc", kCongestion, false, true, "congestion control NSCC: the sender's window"},
       {"rccc", kCongestion, false, true, "congestion control RCCC: the receiver's credit"},
       {"both", kCongestion, false, true, "NSCC and RCCC together"},
       {"no-cc", kCongestion, true, true, "no congestion control"},
       {"rc", kService, true, false, "reliable connections"},
       {"uc", kService, true, false, "unreliable connections: no acknowledgements, no retransmission"},
       {"rud", kService, false, true, "reliable unordered delivery"},
       {"rod", kService, false, true, "reliable ordered delivery"},
       {"rudi", kService, false, true, "reliable unordered delivery of idempotent operations"},
       {"uud", kService, false, true, "unreliable unordered delivery"},
       {"ecmp", kPath, true, true, "one path per flow, by its hash"},
       {"wcmp", kPath, true, true, "one path per flow, by weighted hash"},
       {"flowlet", kPath, true, true, "a new path after a gap (flowlet)"},
       {"spray", kPath, true, true,
        "a path per packet: chosen by switches (roce), or by the sender (uet: the file's path-policy)"},
       {"oblivious", kPath, false, true, "a path per packet, without feedback"},
       {"bitmap", kPath, false, true, "a path per packet, without penalised paths"},
       {"reps", kPath, false, true, "a path per packet; reuses paths of unmarked ACKs"},
       {"mixed", kPath, false, true, "a path per packet: reps, else bitmap"},
       {"adaptive", kPath, true, true, "the switches choose the least loaded path"},
       {"pfc", kLoss, true, true, "a lossless class"},
       {"cbfc", kLoss, true, true, "a lossless class with credits instead of pauses"},
       {"lossy", kLoss, true, true, "a lossy class that drops"},
       {"trim", kLoss, true, true, "a lossy class that trims"},
       {"llr", kLink, true, true, "link-level retry on all links without their own llr"}}));
  return words;
}

Parsed<Column> parse_column(std::string_view text) {
  std::vector<std::string> parts = split_at_commas(text);
  Column column;
  column.name = parts.front();
  column.sets.assign(parts.begin() + 1, parts.end());
  std::size_t from = 0;
  while (from <= column.name.size()) {
    const std::size_t slash = std::min(column.name.find('/', from), column.name.size());
    const std::string word = trimmed(std::string_view(column.name).substr(from, slash - from));
    from = slash + 1;
    const auto known = std::ranges::find(column_words(), word, &ColumnWord::word);
    if (known == column_words().end())
      return std::unexpected(
          fmt::format("unknown word '{}' in a column{}; expected words such as roce/gbn/ecmp/pfc, of {}", word,
                      did_you_mean(word, all_words()), fmt::join(all_words(), ", ")));
    std::string_view& there = column.words[static_cast<std::size_t>(known->kind)];
    if (!there.empty())
      return std::unexpected(fmt::format("'{}' and '{}' exclude each other; expected one of them", known->word, there));
    there = known->word;
  }
  if (column.word(kTransport).empty())
    return std::unexpected(fmt::format("'{}' has no transport; expected roce or uet in it", column.name));
  for (const ColumnWord& w : column_words()) {
    const bool has = column.is_uet() ? w.uet : w.roce;
    if (column.word(w.kind) == w.word && !has)
      return std::unexpected(fmt::format("'{}' does not apply to {}", w.word, column.is_uet() ? "uet" : "roce"));
  }
  if (column.word(kService) == "uc" && !column.word(kRecovery).empty())
    return std::unexpected(
        fmt::format("'{}' does not apply to uc, which has no retransmission", column.word(kRecovery)));
  for (const std::string& set : column.sets)
    if (set.find('=') == set.npos || set.front() == '=')
      return std::unexpected(
          fmt::format("'{}': expected settings such as hosts.default.roce.window=64 after the words", set));
  return column;
}

}  // namespace railyard::spec
