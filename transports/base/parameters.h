// A table of the parameters of something that a fabric file chooses, such as a congestion control, beside its code: one
// line per parameter of its settings S. The keys of the fabric file, how they are read, checked and written, the schema
// and what the random tester draws are made of it (control/spec/keys/parameter_keys.h).
#pragma once

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "dataplane/base/ratio.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

namespace railyard::parameter {

inline constexpr Duration kLeastPeriod{100'000};             // 100 ns
inline constexpr Duration kMostPeriod{10 * kPicosecondsPerSecond};
inline constexpr BitRate kLeastRate{10'000};

// Limits are included. `zero`: the word for 0, which is then allowed beside the limits; "": there is none.
template <class S>
struct Time {
  Duration S::*member;
  Duration least = kLeastPeriod;
  Duration most = kMostPeriod;
  std::string_view zero{};
};
template <class S>
struct Rate {
  BitRate S::*member;
  std::string_view zero{};
};
template <class S>
struct Size {
  Bytes S::*member;
  Bytes least;
  Bytes most;
  std::string_view zero{};
};
template <class S>
struct Count {
  int S::*member;
  int least;
  int most;
  std::string_view zero{};
};
// Above 0.
template <class S>
struct Fraction {
  Ratio S::*member;
  bool at_most_one = true;
};
template <class S>
struct Switch {
  bool S::*member;
  std::string_view yes = "true";
  std::string_view no = "false";
};
// One of some sets of settings, which all the other parameters begin as, wherever in the map it stands.
template <class S>
struct Preset {
  std::vector<std::string_view> words;
  S (*of)(std::size_t word);
  std::size_t (*word)(const S& settings);
};

// Two parameters that do not go together: "<value of key> <what> <other> (<value of other>)"; without `other`: what is
// wrong with `key`.
struct Conflict {
  std::string_view key;
  std::string_view what;
  std::string_view other{};

  bool operator==(const Conflict&) const = default;
};

}  // namespace railyard::parameter

namespace railyard {

template <class S>
struct Parameter {
  std::string_view name;  // the key
  std::variant<parameter::Time<S>, parameter::Rate<S>, parameter::Size<S>, parameter::Count<S>, parameter::Fraction<S>,
               parameter::Switch<S>, parameter::Preset<S>>
      form;
  std::string_view help;
  std::vector<std::string_view> trials{};  // values, as in a file, that the random tester draws; none: it says nothing
};

}  // namespace railyard
