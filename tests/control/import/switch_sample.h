// The configurations of Cumulus Linux, EOS and NX-OS that the project ships, to be changed and imported.
#pragma once

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>

#include "control/spec/load.h"
#include "control/spec/port_class.h"
#include "control/spec/spec_error.h"

namespace railyard::importing {

// A configuration as text, of which tests change parts.
class SwitchSample {
 public:
  explicit SwitchSample(const std::string& name) {
    std::ifstream in(RAILYARD_SOURCE_DIR "/topologies/imports/" + name);
    text_.assign(std::istreambuf_iterator<char>(in), {});
  }

  // The first occurrence. The number of lines stays unless `to` has another one.
  SwitchSample& change(const std::string& from, const std::string& to) {
    const std::size_t at = text_.find(from);
    if (at == std::string::npos) throw std::logic_error("the sample has no '" + from + "'");
    text_.replace(at, from.size(), to);
    return *this;
  }
  SwitchSample& change_all(const std::string& from, const std::string& to) {
    change(from, to);
    for (std::size_t at = text_.find(from, text_.find(to) + to.size()); at != std::string::npos;
         at = text_.find(from, at + to.size()))
      text_.replace(at, from.size(), to);
    return *this;
  }
  SwitchSample& add(const std::string& lines) {
    text_ += lines;
    return *this;
  }

  const std::string& text() const noexcept { return text_; }
  // Of the first line that contains `part`, from 1.
  int line_of(const std::string& part) const {
    return static_cast<int>(std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(text_.find(part)), '\n')) + 1;
  }

 private:
  std::string text_;
};

inline std::string error_of_import(const std::function<void()>& action) {
  try {
    action();
  } catch (const spec::SpecError& e) {
    return e.what();
  }
  return "no error";
}

inline spec::TrafficClass class_in(const spec::Lab& lab, std::size_t c) { return lab.qos.at("default").classes[c]; }

// At the port of the switch with this number.
inline const spec::LinkSpec& link_at(const spec::Lab& lab, int port) {
  const auto link = std::ranges::find_if(lab.links, [&](const spec::LinkSpec& l) { return l.b.port == port; });
  if (link == lab.links.end()) throw std::logic_error("no link at that port");
  return *link;
}

// Without comments: what a run sees.
inline std::string without_comments(const std::string& yaml) {
  std::string out;
  bool comment = false;
  for (const char c : yaml) {
    if (c == '#') comment = true;
    if (c == '\n') comment = false;
    if (!comment) out += c;
  }
  return out;
}

}  // namespace railyard::importing
