// How every command ends: the one table of exit codes. Help and docs/exit-codes.md are held against it.
#pragma once

#include <string>

namespace railyard::tools {

enum ExitCode : int {
  kOk = 0,
  kFailed = 1,
  kUsage = 2,
  kInput = 3,
  kUnbalanced = 4,
  kUnverified = 5,
  kMissed = 6,
};

struct ExitCodeMeaning {
  ExitCode code;
  const char* name;     // one word
  const char* meaning;  // one sentence, without a full stop
};

inline constexpr ExitCodeMeaning kExitCodes[] = {
    {kOk, "ok", "success"},
    {kFailed, "failed",
     "the command could not finish: no memory, no permission, a running lab is not there, a file cannot be "
     "written, a signal ended a run before its end, a run of a sweep crashed"},
    {kUsage, "usage", "the command line is wrong: an unknown command, option, figure, host, port or name of a fault"},
    {kInput, "input",
     "an input file is missing or wrong (fabric file, report, capture, fault log), or a value of --set, set, get or "
     "fault add is, also a port in it that the lab does not have; check: it found errors, or warnings with --strict"},
    {kUnbalanced, "accounting", "packet accounting does not balance: a bug of Railyard, please report it"},
    {kUnverified, "unverified",
     "the run finished, but the verdict completion, data or deadlock failed: a flow or a collective failed or did not "
     "complete, data are wrong, or queues deadlocked; an expectation or a diagnosis that names this failure keeps 0"},
    {kMissed, "missed", "the run finished, but missed an expectation (expect: or --expect)"},
};

// A line for each code, for help.
std::string exit_code_lines();
// All of them in one line: "0 ok, 1 failed, ...".
std::string exit_code_summary();

// Of several runs, what the command ends with: a bug of ours first, then a run that could not finish, a missed
// expectation, a run that failed to carry its traffic.
ExitCode worse(ExitCode a, ExitCode b) noexcept;

}  // namespace railyard::tools
