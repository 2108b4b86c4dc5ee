#include "tests/rules/clock_rules.h"

#include <cctype>
#include <cstddef>
#include <set>
#include <string_view>

#include <fmt/format.h>

namespace railyard::rules {
namespace {

// Wherever they stand.
const std::set<std::string_view> kForbidden{"chrono",
                                            "ctime",
                                            "steady_clock",
                                            "system_clock",
                                            "high_resolution_clock",
                                            "clock_gettime",
                                            "gettimeofday",
                                            "timespec_get",
                                            "nanosleep",
                                            "clock_nanosleep",
                                            "usleep",
                                            "sleep_for",
                                            "sleep_until",
                                            "__rdtsc",
                                            "__rdtscp",
                                            "_rdtsc",
                                            "__builtin_ia32_rdtsc",
                                            "rte_rdtsc",
                                            "rte_rdtsc_precise",
                                            "rte_get_tsc_cycles",
                                            "rte_get_timer_cycles",
                                            "rte_delay_us",
                                            "rte_delay_ms",
                                            "rte_delay_us_sleep",
                                            "rte_rand",
                                            "rte_rand_max",
                                            "rte_srand",
                                            "random_device",
                                            "mt19937",
                                            "mt19937_64",
                                            "default_random_engine",
                                            "minstd_rand",
                                            "srand",
                                            "srandom",
                                            "drand48",
                                            "lrand48",
                                            "getrandom",
                                            "getenv",
                                            "secure_getenv",
                                            "setenv",
                                            "environ"};

// As functions of the C library only: other things may be called so too.
const std::set<std::string_view> kForbiddenCalls{"time", "clock", "sleep", "rand", "random"};

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

struct Word {
  std::size_t begin;
  std::size_t end;
};

// Whether the word is called, and is neither a member nor what a declaration names.
bool is_call(const std::string& code, Word w) {
  std::size_t after = w.end;
  while (after < code.size() && std::isspace(static_cast<unsigned char>(code[after])) != 0) ++after;
  if (after == code.size() || code[after] != '(') return false;
  std::size_t before = w.begin;
  while (before > 0 && std::isspace(static_cast<unsigned char>(code[before - 1])) != 0) --before;
  const std::string_view head = std::string_view(code).substr(0, before);
  if (head.ends_with("std::")) return true;
  if (head.ends_with("::")) return head.size() == 2 || !in_word(head[head.size() - 3]);  // ::time(0)
  if (head.ends_with("return")) return true;
  return head.empty() || (!in_word(head.back()) && !head.ends_with(".") && !head.ends_with("->") &&
                          !head.ends_with("*") && !head.ends_with("&") && !head.ends_with(">"));
}

void check(const SourceFile& file, std::vector<std::string>& out) {
  const std::string code = without_comments_and_strings(file.text);
  int line = 1;
  for (std::size_t i = 0; i < code.size();) {
    if (code[i] == '\n') ++line;
    if (!in_word(code[i])) {
      ++i;
      continue;
    }
    Word w{i, i};
    while (w.end < code.size() && in_word(code[w.end])) ++w.end;
    const std::string_view word = std::string_view(code).substr(w.begin, w.end - w.begin);
    if (kForbidden.contains(word) || (kForbiddenCalls.contains(word) && is_call(code, w)))
      out.push_back(
          fmt::format("{}:{}: {}: time, chance and settings come in as parameters here", file.path, line, word));
    i = w.end;
  }
}

}  // namespace

std::vector<std::string> clock_violations(const std::vector<SourceFile>& sources) {
  std::vector<std::string> out;
  for (const SourceFile& file : sources) {
    const std::string& p = file.path;
    const bool drives = p.starts_with("dataplane/run/") || p.starts_with("dataplane/port/");
    // These run in an application's process, where nobody else lets time pass for the engine.
    const bool in_application = p.starts_with("transports/application/") || p.starts_with("transports/verbs/") ||
                                p.starts_with("transports/rdmacm/") || p.starts_with("transports/libfabric/");
    if ((p.starts_with("dataplane/") && !drives) || (p.starts_with("transports/") && !in_application)) check(file, out);
  }
  return out;
}

}  // namespace railyard::rules
