// The configurations of Cumulus Linux, EOS and NX-OS that the project ships, to be changed and imported.
#pragma once

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

#include "control/import/from_eos.h"
#include "control/import/from_nvue.h"
#include "control/import/from_nxos.h"
#include "control/spec/spec_error.h"
#include "tests/control/import/imported_lab.h"

namespace railyard::importing {

struct SwitchFormat {
  const char* sample;  // in topologies/imports/
  std::string (*import_text)(const std::string& text, const std::string& file, bool qos_only);
};
inline constexpr SwitchFormat kEosFormat{"eos-leaf.cfg", from_eos};
inline constexpr SwitchFormat kNxosFormat{"nxos-leaf.cfg", from_nxos};
inline constexpr SwitchFormat kNvueFormat{"cumulus-leaf.yml", from_nvue};

// A configuration as text, of which tests change parts.
class SwitchSample {
 public:
  explicit SwitchSample(const SwitchFormat& format) : format_(format) {
    std::ifstream in(std::string(RAILYARD_SOURCE_DIR "/topologies/imports/") + format.sample);
    text_.assign(std::istreambuf_iterator<char>(in), {});
  }
  SwitchSample(const SwitchFormat& format, std::string text) : format_(format), text_(std::move(text)) {}

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

  // The fabric file. Its comments call the configuration `file`.
  std::string imported(const std::string& file = "leaf") const { return format_.import_text(text_, file, false); }
  std::string imported_qos() const { return format_.import_text(text_, "leaf", true); }
  spec::Lab lab() const { return parsed(imported()); }

 private:
  SwitchFormat format_;
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
