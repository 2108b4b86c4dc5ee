#include "control/jobs/goal.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace railyard::jobs {
namespace {

using Kind = Operation::Kind;

constexpr std::uint64_t kMostRanks = 65'536;
constexpr std::uint64_t kMostNanoseconds = 1'000'000'000'000'000;  // 11.6 days
constexpr std::uint64_t kMostOctets = std::uint64_t{1} << 40;

// A line's words; ':', '{' and '}' are words of their own.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) { next(); }

  bool at_end() const noexcept { return word_.empty(); }
  std::string_view word() const noexcept { return word_; }
  std::string_view take() {
    const std::string_view taken = word_;
    next();
    return taken;
  }
  bool take(std::string_view expected) {
    if (word_ != expected) return false;
    next();
    return true;
  }

 private:
  static bool is_sign(char c) noexcept { return c == ':' || c == '{' || c == '}'; }
  void next() {
    const std::size_t first = std::min(rest_.find_first_not_of(" \t\r"), rest_.size());
    rest_.remove_prefix(first);
    std::size_t end = 0;
    if (!rest_.empty() && is_sign(rest_[0]))
      end = 1;
    else
      while (end < rest_.size() && rest_[end] != ' ' && rest_[end] != '\t' && rest_[end] != '\r' && !is_sign(rest_[end])) ++end;
    word_ = rest_.substr(0, end);
    rest_.remove_prefix(end);
  }

  std::string_view rest_;
  std::string_view word_;
};

// The text without its comments, whose line ends stay.
std::expected<std::string, TraceError> without_comments(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  int line = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
      if (i < text.size()) out += '\n';
      ++line;
      continue;
    }
    if (text.substr(i, 2) == "/*") {
      const std::size_t end = text.find("*/", i + 2);
      if (end == text.npos) return std::unexpected(TraceError{line, "this comment has no end; expected */"});
      for (; i < end; ++i)
        if (text[i] == '\n') {
          out += '\n';
          ++line;
        }
      ++i;
      out += ' ';
      continue;
    }
    line += text[i] == '\n' ? 1 : 0;
    out += text[i];
  }
  return out;
}

class Reader {
 public:
  std::expected<JobGraph, TraceError> read(std::string_view text) {
    const auto plain = without_comments(text);
    if (!plain) return std::unexpected(plain.error());
    std::string_view rest = *plain;
    while (!rest.empty()) {
      ++line_;
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      Words words(rest.substr(0, end));
      while (!words.at_end() && error_.text.empty()) read_item(words);
      if (!error_.text.empty()) return std::unexpected(std::move(error_));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (rank_) fail(fmt::format("rank {} has no end; expected }}", *rank_));
    if (error_.text.empty() && !announced_) fail("num_ranks is missing");
    check_all_ranks();
    if (!error_.text.empty()) return std::unexpected(std::move(error_));
    number_labels();
    return std::move(graph_);
  }

 private:
  void fail(std::string text) {
    if (error_.text.empty()) error_ = {line_, std::move(text)};
  }

  // A rank with nothing to do has an empty block.
  void check_all_ranks() {
    const auto missing = std::ranges::find(seen_, false);
    if (!error_.text.empty() || missing == seen_.end()) return;
    line_ = announced_line_;
    fail(fmt::format("num_ranks {}, but rank {} is missing; expected a block of each rank, which may be empty: rank {} {{ }}",
                     seen_.size(), missing - seen_.begin(), missing - seen_.begin()));
  }

  std::optional<std::uint64_t> number(Words& words, std::string_view what, std::uint64_t most, std::string_view unit = "") {
    const std::string_view word = words.take();
    std::uint64_t value = 0;
    std::string_view digits = word;
    if (!unit.empty() && digits.ends_with(unit))
      digits.remove_suffix(unit.size());
    else if (!unit.empty() && !words.take(unit))
      digits = {};
    const auto [end, bad] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || bad != std::errc{} || end != digits.data() + digits.size() || value > most) {
      fail(fmt::format("found '{}'; expected {}, a number up to {}{}", word, what, most,
                       unit.empty() ? "" : fmt::format(" followed by '{}'", unit)));
      return std::nullopt;
    }
    return value;
  }

  void read_item(Words& words) {
    if (!rank_) return read_outside(words);
    if (words.take("}")) {
      rank_.reset();
      return;
    }
    std::string_view label;
    const std::string_view word = words.take();
    if (word != "calc" && word != "send" && word != "recv") {
      label = word;
      if (words.word() == "requires" || words.word() == "irequires") return read_dependency(label, words);
      if (!words.take(":"))
        return fail(fmt::format("found '{}'; expected calc, send, recv, a label with ':', or }}", label));
      return read_operation(words.take(), label, words);
    }
    read_operation(word, label, words);
  }

  void read_outside(Words& words) {
    if (words.take("num_ranks")) {
      if (announced_) return fail("num_ranks is given twice; expected it once");
      const auto n = number(words, "the number of ranks", kMostRanks);
      if (!n) return;
      if (*n < 2) return fail(fmt::format("num_ranks {}; expected at least 2", *n));
      announced_ = true;
      announced_line_ = line_;
      graph_.ranks.resize(*n);
      seen_.resize(*n);
      return;
    }
    if (!words.take("rank")) return fail(fmt::format("found '{}'; expected num_ranks or rank", words.word()));
    if (!announced_) return fail("a rank before num_ranks; expected num_ranks first");
    const auto r = number(words, "a rank", graph_.ranks.size() - 1);
    if (!r) return;
    if (seen_[*r]) return fail(fmt::format("rank {} is given twice; expected it once", *r));
    if (!words.take("{")) return fail(fmt::format("found '{}'; expected {{", words.word()));
    seen_[*r] = true;
    rank_ = static_cast<std::uint32_t>(*r);
    labels_.clear();
  }

  void read_operation(std::string_view word, std::string_view label, Words& words) {
    Operation o;
    o.line = line_;
    if (word == "calc") {
      const auto ns = number(words, "nanoseconds", kMostNanoseconds);
      if (!ns) return;
      o.time = Duration{static_cast<std::int64_t>(*ns * 1000)};
    } else if (word == "send" || word == "recv") {
      o.kind = word == "send" ? Kind::kSend : Kind::kReceive;
      const auto octets = number(words, "bytes", kMostOctets, "b");
      if (!octets) return;
      o.octets = *octets;
      const std::string_view way = o.kind == Kind::kSend ? "to" : "from";
      if (!words.take(way)) return fail(fmt::format("found '{}'; expected {}", words.word(), way));
      if (words.word() == "-1") return fail("a receive from any rank (-1); expected the rank that sends");
      const auto peer = number(words, "a rank", graph_.ranks.size() - 1);
      if (!peer) return;
      o.peer = static_cast<std::uint32_t>(*peer);
      if (words.take("tag")) {
        if (words.word() == "-1") return fail("a receive with any tag (-1); expected the tag of the send");
        const auto tag = number(words, "a tag", std::numeric_limits<std::uint32_t>::max());
        if (!tag) return;
        o.tag = static_cast<std::uint32_t>(*tag);
      }
    } else {
      return fail(fmt::format("found '{}'; expected calc, send or recv", word));
    }
    if (words.take("cpu")) {
      const auto cpu = number(words, "a cpu", 255);
      if (!cpu) return;
      o.stream = static_cast<std::uint8_t>(*cpu);
    }
    if (o.kind != Kind::kCompute) {
      o.stream = 0;
      if (words.take("nic") && !number(words, "a nic", 255)) return;
    }
    std::vector<Operation>& own = graph_.ranks[*rank_];
    if (!label.empty() && !labels_.try_emplace(std::string(label), static_cast<std::uint32_t>(own.size())).second)
      return fail(fmt::format("label '{}' is given twice in rank {}; expected it once", label, *rank_));
    if (!label.empty()) o.label = named(label);
    own.push_back(std::move(o));
  }

  // In the order of ranks, in whichever order the file has these.
  void number_labels() {
    std::vector<std::uint32_t> number(graph_.labels.size());
    std::vector<std::string> labels{""};
    for (std::vector<Operation>& own : graph_.ranks)
      for (Operation& o : own) {
        if (o.label == 0) continue;
        if (number[o.label] == 0) {
          number[o.label] = static_cast<std::uint32_t>(labels.size());
          labels.push_back(std::move(graph_.labels[o.label]));
        }
        o.label = number[o.label];
      }
    graph_.labels = std::move(labels);
  }

  // As JobGraph::labels has it, until number_labels().
  std::uint32_t named(std::string_view label) {
    const auto found = names_.find(label);
    if (found != names_.end()) return found->second;
    const auto number = static_cast<std::uint32_t>(graph_.labels.size());
    graph_.labels.emplace_back(label);
    names_.emplace(label, number);
    return number;
  }

  std::optional<std::uint32_t> labelled(std::string_view label) {
    const auto found = labels_.find(label);
    if (found != labels_.end()) return found->second;
    fail(fmt::format("label '{}' is not known in rank {}; expected one of a line above", label, *rank_));
    return std::nullopt;
  }

  void read_dependency(std::string_view label, Words& words) {
    const bool done = words.take() == "requires";
    const std::string_view other = words.take();
    const auto waits = labelled(label);
    const auto before = labelled(other);
    if (!waits || !before) return;
    if (*waits == *before) return fail(fmt::format("'{}' waits for itself; expected another label", label));
    Operation& o = graph_.ranks[*rank_][*waits];
    (done ? o.after : o.with).push_back(*before);
  }

  JobGraph graph_;
  bool announced_ = false;
  int announced_line_ = 0;
  std::vector<bool> seen_;
  std::optional<std::uint32_t> rank_;  // whose lines these are
  std::map<std::string, std::uint32_t, std::less<>> labels_;  // of that rank: operations
  std::map<std::string, std::uint32_t, std::less<>> names_;   // of all: JobGraph::labels
  int line_ = 0;
  TraceError error_;
};

}  // namespace

std::expected<JobGraph, TraceError> read_goal(std::string_view text) { return Reader().read(text); }

}  // namespace railyard::jobs
