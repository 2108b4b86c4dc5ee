// What the linter has to say about a lab.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "control/spec/spec.h"
#include "control/spec/yaml/tree.h"

namespace railyard::lint {

// An error is a lab that cannot do what its file says; a warning is one that most likely does not do what its author
// wants.
enum class Severity { kWarning, kError };

std::string_view word(Severity severity) noexcept;

struct Finding {
  std::string rule;  // "kmin-above-xoff"
  Severity severity = Severity::kWarning;
  spec::Place place;  // of the key, or of the nearest map that would hold it
  std::string path;   // of the key: "qos.default.classes.3.ecn.kmin"
  std::string text;   // what is wrong, with the figures: of the first case that was found
  int cases = 1;      // of the same rule at the same key
  std::string fix;    // what to change: "Set kmin below 200 KB, or raise xoff."
};

// "lab.yaml:12:5: warning: qos.default.classes.3.ecn.kmin: TEXT (2 more cases) Fix: FIX [kmin-above-xoff]"
std::string to_string(const Finding& finding);

// What one rule finds, put where the document says it.
class Findings {
 public:
  // Both outlive this.
  Findings(const spec::Tree& document, std::vector<Finding>& all) : document_(document), all_(all) {}

  void begin(std::string_view rule, Severity severity) {
    rule_ = rule;
    severity_ = severity;
  }
  // `path` is that of the key to change, also if the file does not say it: then the place is that of the nearest map
  // around it. What a rule finds again at the same key is counted.
  void add(const std::string& path, std::string text, std::string fix);
  // Whether the file says this key: a finding about a choice is for those who made it.
  bool says(std::string_view path) const;

 private:
  const spec::Tree& document_;
  std::vector<Finding>& all_;
  std::string_view rule_;
  Severity severity_ = Severity::kWarning;
};

}  // namespace railyard::lint
