#include "control/import/running_config.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "control/base/short_quote.h"
#include "control/import/config_db.h"
#include "control/spec/spec_error.h"

namespace railyard::importing {
namespace {

constexpr std::size_t kDeepest = 8;  // deeper lines belong to the block above

std::size_t columns(std::string_view line) {
  std::size_t out = 0;
  while (out < line.size() && (line[out] == ' ' || line[out] == '\t')) ++out;
  return out;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t from = line.find_first_not_of(" \t\r", at);
    if (from == std::string_view::npos) break;
    at = std::min(line.find_first_of(" \t\r", from), line.size());
    out.emplace_back(line.substr(from, at - from));
  }
  return out;
}

// The text of a banner is not configuration. EOS ends it by a line EOF, NX-OS by the character that begins it.
class Banner {
 public:
  // Whether a line belongs to one.
  bool skips(const std::vector<std::string>& words, std::string_view line) {
    if (end_) {
      const bool ends = *end_ == '\0' ? words.size() == 1 && words[0] == "EOF" : line.contains(*end_);
      if (ends) end_.reset();
      return true;
    }
    if (words.size() < 2 || words[0] != "banner") return false;
    end_ = '\0';
    if (words.size() > 2) {
      end_ = words[2][0];
      const std::size_t first = line.find(words[2]);
      if (line.find(*end_, first + 1) != std::string_view::npos) end_.reset();
    }
    return true;
  }

 private:
  std::optional<char> end_;  // 0: EOF
};

bool is_none(const std::vector<std::string>& words) {
  return words.empty() || words[0][0] == '!' || (words.size() == 1 && (words[0] == "end" || words[0] == "exit"));
}

// Calls `use(number, columns, words)` for each line that means something.
template <class Use>
void for_each_line(std::string_view text, Use use) {
  Banner banner;
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    std::vector<std::string> words = words_of(line);
    if (!banner.skips(words, line) && !is_none(words)) use(number, columns(line), std::move(words));
  }
}

std::size_t lines_below(const ConfigLine& line) {
  std::size_t out = line.below.size();
  for (const ConfigLine& l : line.below) out += lines_below(l);
  return out;
}

bool has_understood(const ConfigLine& line) {
  return line.read || !line.why_left.empty() || std::ranges::any_of(line.below, has_understood);
}

struct LeftLine {
  const ConfigLine* line;
  std::string why;
  std::size_t below;
  std::size_t more = 0;  // like it
};

// The line with all numbers alike.
std::string form_of(const ConfigLine& line, const std::string& why) {
  std::string out;
  for (const char c : line.text)
    if (std::isdigit(static_cast<unsigned char>(c)) == 0)
      out += c;
    else if (!out.ends_with('#'))
      out += '#';
  return out + '\n' + why;
}

void collect(const ConfigLine& line, std::vector<LeftLine>& into) {
  if (!line.why_left.empty() || !has_understood(line)) {
    into.push_back({.line = &line, .why = line.why_left, .below = lines_below(line)});
    return;
  }
  for (const ConfigLine& l : line.below) collect(l, into);
}

// What only one of them has, by the first words of a line.
constexpr std::array kOfEos{"qos map ",         "qos profile ",       "tx-queue ",
                            "uc-tx-queue ",     "service-profile ",   "priority-flow-control on",
                            "service routing ", "random-detect ecn ", "priority-flow-control pause "};
constexpr std::array kOfNxos{"vdc ",
                             "feature ",
                             "system qos",
                             "class type ",
                             "policy-map type queuing ",
                             "policy-map type network-qos ",
                             "class-map type network-qos ",
                             "service-policy type queuing ",
                             "service-policy type network-qos ",
                             "priority-flow-control mode ",
                             "priority-flow-control watch-dog"};

std::size_t count_of(const std::vector<std::string>& texts, const auto& beginnings) {
  return static_cast<std::size_t>(std::ranges::count_if(texts, [&](const std::string& text) {
    return std::ranges::any_of(beginnings, [&](std::string_view with) { return text.starts_with(with); });
  }));
}

}  // namespace

bool ConfigLine::begins(std::initializer_list<std::string_view> with) const {
  return words.size() >= with.size() && std::equal(with.begin(), with.end(), words.begin());
}

const std::string* ConfigLine::after(std::string_view key) const {
  const auto at = std::ranges::find(words, key);
  return at == words.end() || at + 1 == words.end() ? nullptr : &*(at + 1);
}

std::string ConfigLine::source() const { return fmt::format("line {}: {}", number, text); }

RunningConfig::RunningConfig(const std::string& text, const std::string& file) : file_(file) {
  if (text.find('\0') != std::string::npos) fail("octets of 0", "text: a running-config");
  std::vector<std::pair<std::size_t, ConfigLine*>> open;  // by column, the blocks that a line may belong to
  for_each_line(text, [&](int number, std::size_t column, std::vector<std::string> words) {
    while (!open.empty() && (open.back().first >= column || open.size() > kDeepest)) open.pop_back();
    std::deque<ConfigLine>& into = open.empty() ? lines_ : open.back().second->below;
    std::string joined = fmt::format("{}", fmt::join(words, " "));
    into.push_back({.number = number, .text = std::move(joined), .words = std::move(words), .below = {}});
    open.emplace_back(column, &into.back());
  });
}

std::vector<const ConfigLine*> RunningConfig::all(std::initializer_list<std::string_view> with) const {
  std::vector<const ConfigLine*> out;
  for (const ConfigLine& line : lines_)
    if (line.begins(with)) out.push_back(&line);
  return out;
}

const ConfigLine* RunningConfig::first(std::initializer_list<std::string_view> with) const {
  const auto found = std::ranges::find_if(lines_, [&](const ConfigLine& line) { return line.begins(with); });
  return found == lines_.end() ? nullptr : &*found;
}

std::vector<std::string> RunningConfig::left_out() const {
  std::vector<LeftLine> all_left;
  for (const ConfigLine& line : lines_) collect(line, all_left);
  for (const ConfigLine& remark : remarks_) all_left.push_back({.line = &remark, .why = remark.why_left, .below = 0});
  std::ranges::sort(all_left, {}, [](const LeftLine& left) { return left.line->number; });
  std::vector<LeftLine> kept;
  std::map<std::string, std::size_t> forms;
  for (const LeftLine& left : all_left) {
    const auto [same, is_new] = forms.emplace(form_of(*left.line, left.why), kept.size());
    if (is_new)
      kept.push_back(left);
    else
      ++kept[same->second].more;
  }
  std::vector<std::string> out;
  for (const LeftLine& left : kept) {
    std::vector<std::string> remarks;
    if (!left.why.empty()) remarks.push_back(left.why);
    if (left.below > 0) remarks.push_back(fmt::format("with {} line{} below it", left.below, left.below > 1 ? "s" : ""));
    if (left.more > 0) remarks.push_back(fmt::format("and {} more like it", left.more));
    out.push_back(printable(with_short_quotes(
        fmt::format("{}:{}: {}{}", file_, left.line->number, left.line->text,
                    remarks.empty() ? "" : fmt::format(" ({})", fmt::join(remarks, "; "))))));
  }
  return out;
}

void RunningConfig::remark(const ConfigLine& line, const std::string& part, const std::string& why) const {
  for (const ConfigLine& said : remarks_)
    if (said.number == line.number && said.text == part) return;
  remarks_.push_back({.number = line.number, .text = part, .words = {}, .below = {}, .why_left = why});
}

void RunningConfig::fail(const ConfigLine& line, const std::string& found, const std::string& expected) const {
  throw spec::SpecError({}, fmt::format("{}:{}: found {}, expected {}", file_, line.number, found, expected));
}

void RunningConfig::fail(const std::string& found, const std::string& expected) const {
  throw spec::SpecError({}, fmt::format("{}: found {}, expected {}", file_, found, expected));
}

long long RunningConfig::number(const ConfigLine& line, std::string_view key, const std::string& text, long long least,
                                long long most) const {
  const std::optional<std::int64_t> number = whole_number(text);
  if (!number || *number < least || *number > most)
    fail(line, fmt::format("{}{}'{}'", key, key.empty() ? "" : " ", text),
         fmt::format("a whole number, {}..{}", least, most));
  return *number;
}

std::optional<long long> RunningConfig::number_after(const ConfigLine& line, std::string_view key, long long least,
                                                     long long most) const {
  if (std::ranges::find(line.words, key) == line.words.end()) return std::nullopt;
  const std::string* const text = line.after(key);
  if (text == nullptr) fail(line, fmt::format("nothing behind {}", key), fmt::format("a whole number, {}..{}", least, most));
  return number(line, key, *text, least, most);
}

std::optional<ConfigSystem> system_of_running_config(const std::string& text) {
  if (text.find('\0') != std::string::npos) return std::nullopt;
  std::vector<std::string> texts;
  std::size_t plain = 0;    // interface Ethernet4: NX-OS has a slash in each name
  std::size_t slashed = 0;  // interface Ethernet1/4
  for_each_line(text, [&](int, std::size_t, const std::vector<std::string>& words) {
    texts.push_back(fmt::format("{} ", fmt::join(words, " ")));
    if (words.size() == 2 && words[0] == "interface" && words[1].starts_with("Ethernet"))
      ++(words[1].contains('/') ? slashed : plain);
  });
  const std::size_t eos = count_of(texts, kOfEos) + plain;
  const std::size_t nxos = count_of(texts, kOfNxos);
  if (eos == 0 && nxos == 0) return slashed > 0 ? std::optional(ConfigSystem::kNxos) : std::nullopt;
  return eos >= nxos ? ConfigSystem::kEos : ConfigSystem::kNxos;
}

}  // namespace railyard::importing
