// The command line as a user has it: arguments in, exit code and both outputs out.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/base/exit_code.h"

namespace railyard::tools {

struct Outcome {
  int exit_code = -1;  // 128 + the signal that ended it
  std::string out;
  std::string err;
};

#ifdef RAILYARD_SANITIZED
constexpr bool kAddressSpaceCanBeLimited = false;  // a sanitizer takes terabytes of it
#else
constexpr bool kAddressSpaceCanBeLimited = true;
#endif

// A folder of its own for each test, with a small lab in it; commands run there.
//
//   lab.yaml: h1 and h2 at leaf1, one flow of 100 KB from h1 to h2
class CommandLine : public testing::Test {
 protected:
  CommandLine();
  ~CommandLine() override;

  // Runs `railyard arguments...`. `address_space`: the most it may have, in octets; 0: no limit.
  Outcome railyard(const std::vector<std::string>& arguments, std::size_t address_space = 0) const;
  // The same, of which one line on standard error is expected, nothing on standard output, and no new file.
  std::string error(int exit_code, const std::vector<std::string>& arguments, std::size_t address_space = 0) const;

  // From now on its standard input is this file of the folder.
  void take_input_from(const std::string& file) { input_ = file; }

  // From now on its standard output goes to this file, and not to Outcome::out.
  void write_output_to(const std::string& file) { output_ = file; }

  // From now on it is run by a user without privileges, who owns the folder. Nothing to do if the tests are, too.
  void give_up_privileges();

  std::filesystem::path write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;
  std::vector<std::string> files() const;  // in the folder, in order

  std::filesystem::path folder_;

 private:
  bool unprivileged_ = false;
  std::string input_;   // "": the test's
  std::string output_;  // "": to Outcome
};

// A lab that the project ships.
std::string topology(const std::string& name);

}  // namespace railyard::tools
