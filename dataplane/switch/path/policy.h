// The seam for path policies: what a policy is called, which settings it has and in which ranges. The descriptor of a
// policy is beside its code, and has a line in policies.h. From it follow the keys of the fabric file, the schema,
// checks, what random labs draw, and the names in reports. Plain data, for those who know no switch, too.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "dataplane/base/time.h"
#include "dataplane/switch/path/path_config.h"

namespace railyard {

// A setting of a policy: a member of PathConfig. Its default is that of the member.
struct PathParameter {
  enum class Kind : std::uint8_t {
    kDuration,  // picoseconds
    kNumber,
    kYesNo,   // 0, 1
    kWord,    // an index into `words`
    kWeight,  // n of 1/2^n
  };

  std::string_view key;
  std::string_view help;
  Kind kind;
  std::int64_t least;
  std::int64_t most;
  std::span<const std::string_view> words;
  std::string_view needs;  // another parameter of the policy without which (0) this one has no meaning; "": none
  // What random labs draw from, where all of the range would take too long or show too little.
  std::int64_t drawn_least;
  std::int64_t drawn_most;
  std::int64_t (*read)(const PathConfig&);
  void (*write)(PathConfig&, std::int64_t);
};

// What a choice depends on. By the packets alone, it is made for a whole batch (PathSelector::choose); else when the
// packet's turn has come (choose_now).
enum class PathBasis : std::uint8_t { kPackets, kTime, kLoads };

// What keeps to one path as long as links stay up.
enum class PathUnit : std::uint8_t { kFlow, kFlowlet, kPacket };

struct PathPolicyInfo {
  PathPolicy policy;
  std::string_view name;  // in files and reports
  std::string_view help;
  std::span<const PathParameter> parameters;
  PathBasis (*basis)(const PathConfig&);
  PathUnit (*unit)(const PathConfig&);
  // A setting that keeps senders in step where all are alike, and what to set instead: nullptr, or whether `config` has
  // it. Said by `check` as a warning.
  bool (*locks)(const PathConfig&) = nullptr;
};

// Its basis or unit, whatever is set.
template <auto V>
constexpr auto always(const PathConfig&) {
  return V;
}

namespace path_parameter {

// Of member `M` of PathConfig, through the number that it is.
// ... or of one of LoadSampling.
template <auto M>
struct Access {
  template <class Config>
  static constexpr auto& member(Config& c) {
    if constexpr (requires { c.*M; })
      return c.*M;
    else
      return c.sampling.*M;
  }
  using Value = std::remove_cvref_t<decltype(member(std::declval<PathConfig&>()))>;

  static constexpr std::int64_t read(const PathConfig& c) {
    if constexpr (std::is_same_v<Value, Duration>)
      return member(c).ps;
    else
      return static_cast<std::int64_t>(member(c));
  }
  static constexpr void write(PathConfig& c, std::int64_t n) {
    if constexpr (std::is_same_v<Value, Duration>)
      member(c) = Duration{n};
    else
      member(c) = static_cast<Value>(n);
  }
};

struct Range {
  std::int64_t least;
  std::int64_t most;
};

template <auto M>
constexpr PathParameter duration(std::string_view key, Range range, Range drawn, std::string_view help,
                                 std::string_view needs = {}) {
  return {key,         help,       PathParameter::Kind::kDuration, range.least, range.most, {}, needs, drawn.least,
          drawn.most, &Access<M>::read, &Access<M>::write};
}
template <auto M>
constexpr PathParameter number(std::string_view key, Range range, Range drawn, std::string_view help,
                               std::string_view needs = {}) {
  return {key,         help,       PathParameter::Kind::kNumber, range.least, range.most, {}, needs, drawn.least,
          drawn.most, &Access<M>::read, &Access<M>::write};
}
template <auto M>
constexpr PathParameter yes_no(std::string_view key, std::string_view help, std::string_view needs = {}) {
  return {key, help, PathParameter::Kind::kYesNo, 0, 1, {}, needs, 0, 1, &Access<M>::read, &Access<M>::write};
}
// `words` in the order of the member's values.
template <auto M>
constexpr PathParameter word(std::string_view key, std::span<const std::string_view> words, std::string_view help,
                             std::string_view needs = {}) {
  const auto last = static_cast<std::int64_t>(words.size()) - 1;
  return {key, help, PathParameter::Kind::kWord, 0, last, words, needs, 0, last, &Access<M>::read, &Access<M>::write};
}
template <auto M>
constexpr PathParameter weight(std::string_view key, std::int64_t most_shift, std::string_view help,
                               std::string_view needs = {}) {
  return {key,        help,       PathParameter::Kind::kWeight, 0, most_shift, {}, needs, 0,
          most_shift, &Access<M>::read, &Access<M>::write};
}

}  // namespace path_parameter

}  // namespace railyard
