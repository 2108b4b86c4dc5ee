// A running-config of EOS or NX-OS: lines in blocks by their indentation, which remember what of them was understood.
#pragma once

#include <cstddef>
#include <deque>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace railyard::importing {

struct ConfigLine {
  int number = 0;                  // in the file, from 1
  std::string text;                // words with one blank between them
  std::vector<std::string> words;  // none is empty
  std::deque<ConfigLine> below;    // indented more than this one
  mutable bool read = false;
  mutable std::string why_left = {};  // a reason counts more than `read`

  // The words begin with these.
  bool begins(std::initializer_list<std::string_view> with) const;
  // The word behind `key`, if there is one.
  const std::string* after(std::string_view key) const;
  // "line 12: mtu 9214", to show where a value comes from.
  std::string source() const;
};

class RunningConfig {
 public:
  // Blank lines, lines that begin with '!', banners, `end` and `exit` are none. Throws SpecError for text with octets
  // of 0.
  RunningConfig(const std::string& text, const std::string& file);

  const std::deque<ConfigLine>& lines() const noexcept { return lines_; }
  // Top lines that begin so.
  std::vector<const ConfigLine*> all(std::initializer_list<std::string_view> with) const;
  const ConfigLine* first(std::initializer_list<std::string_view> with) const;

  // Lines that were not read, or left for a reason: "FILE:12: ip address 10.0.0.1/31 (and 3 more like it)". A block of
  // which nothing was read is one line, and so are lines that differ in their numbers only.
  std::vector<std::string> left_out() const;

  // Adds to left_out() a part of a line that is understood otherwise. Once for each.
  void remark(const ConfigLine& line, const std::string& part, const std::string& why) const;

  // Throws SpecError: "FILE:LINE: found ..., expected ...".
  [[noreturn]] void fail(const ConfigLine& line, const std::string& found, const std::string& expected) const;
  // "FILE: found ..., expected ...".
  [[noreturn]] void fail(const std::string& found, const std::string& expected) const;
  // A whole number of `line`, or an error. `key` is said in the message, and may be empty.
  long long number(const ConfigLine& line, std::string_view key, const std::string& text, long long least,
                   long long most) const;
  // The number behind `key`, if the line has it; an error if nothing is behind it.
  std::optional<long long> number_after(const ConfigLine& line, std::string_view key, long long least,
                                        long long most) const;

 private:
  std::string file_;
  std::deque<ConfigLine> lines_;
  mutable std::deque<ConfigLine> remarks_;
};

// What a line means to a reader is understood.
inline const ConfigLine& take(const ConfigLine& line) {
  line.read = true;
  return line;
}
// It has no effect on the fabric file, because of `why`.
inline void leave(const ConfigLine& line, std::string why) { line.why_left = std::move(why); }

// Which system wrote a running-config, by the commands that only it has; nothing if there are none.
enum class ConfigSystem { kEos, kNxos };
std::optional<ConfigSystem> system_of_running_config(const std::string& text);

}  // namespace railyard::importing
