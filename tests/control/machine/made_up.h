// A machine of made-up files.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "control/machine/files.h"

namespace railyard::machine {

// Files below a folder of the running test's own.
class MadeUp {
 public:
  MadeUp() {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = std::filesystem::path(testing::TempDir()) / (std::string("machine-") + test->test_suite_name() + "-" + test->name());
    std::filesystem::remove_all(root_);
  }
  ~MadeUp() { std::filesystem::remove_all(root_); }
  MadeUp(const MadeUp&) = delete;
  MadeUp& operator=(const MadeUp&) = delete;

  void set(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ / path.substr(1);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  void link(const std::string& path, const std::string& target) const {
    const std::filesystem::path file = root_ / path.substr(1);
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::create_symlink(target, file);
  }
  void remove(const std::string& path) const { std::filesystem::remove_all(root_ / path.substr(1)); }
  Files files() const { return Files(root_); }

 private:
  std::filesystem::path root_;
};

}  // namespace railyard::machine
