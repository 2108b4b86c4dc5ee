// The answers for people and programs.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/acceptance/item.h"
#include "control/report/junit.h"

namespace railyard::acceptance {

struct Line {
  const Item* item = nullptr;
  Finding finding{};
  std::vector<std::string> files{};  // of its probes, for `railyard run`; empty: they were not kept
};

// Of one fabric file.
struct Result {
  std::string file;
  std::string name;       // of the lab
  std::string transport;  // "RoCEv2", "UET"
  std::vector<Line> lines{};
  double seconds = 0;  // of wall time, for JUnit
  bool live = false;   // a running lab

  // FAIL if any line does, else broken if any is, else warn if any warns, else pass.
  Answer answer() const noexcept;
};

std::string text(const Result& result);
nlohmann::ordered_json json(const Result& result);
report::JunitSuite junit(const Result& result);
// `lab`: for the picture of the fabric.
std::string page(const Result& result, const spec::Lab& lab);

// "16 lines: 13 pass, 1 warns, 1 fails, 1 reports"
std::string summary(const Result& result);

}  // namespace railyard::acceptance
