#include "tools/railyard/point_check.h"

#include <fmt/format.h>

namespace railyard::tools {

// The last dimension has one value: that anything can be loaded.
PointCheck::PointCheck(const std::vector<std::size_t>& choices) {
  for (const std::size_t n : choices) values_.emplace_back(n);
  values_.emplace_back(1);
}

std::optional<spec::Lab> PointCheck::load(const std::string& file, const std::vector<std::string>& sets,
                                          const std::vector<std::size_t>& point, const std::string& who) {
  const auto each = [&](auto&& f) {
    for (std::size_t d = 0; d < point.size(); ++d) f(values_[d][point[d]]);
    f(values_.back().front());
  };
  try {
    spec::Lab lab = spec::load(file, sets);
    each([](Value& v) { v.loads = true; });
    return lab;
  } catch (const spec::SpecError& e) {
    const spec::SpecError error(e.place(), who.empty() ? e.message() : fmt::format("{}: {}", who, e.message()));
    each([&](Value& v) {
      if (!v.error) v.error = error;
    });
    return std::nullopt;
  }
}

void PointCheck::finish() const {
  for (const std::vector<Value>& dimension : values_)
    for (const Value& v : dimension)
      if (!v.loads && v.error) throw *v.error;
}

}  // namespace railyard::tools
