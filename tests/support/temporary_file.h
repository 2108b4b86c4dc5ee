// A file for one test, gone with it.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/octets_of.h"

namespace railyard::test {

class TemporaryFile {
 public:
  // A path of its own that ends in `name`; no file yet.
  explicit TemporaryFile(std::string_view name) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::string file =
        std::string(test->test_suite_name()) + "." + test->name() + "." + std::to_string(::getpid()) + ".";
    for (char& c : file)
      if (c == '/') c = '_';  // of parameterised tests
    path_ = std::filesystem::path(testing::TempDir()) / (file + std::string(name));
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string name() const { return path_.string(); }
  void put(std::string_view octets) const {
    std::ofstream(path_, std::ios::binary).write(octets.data(), static_cast<std::streamsize>(octets.size()));
  }
  std::string octets() const { return octets_of(path_); }

 private:
  std::filesystem::path path_;
};

}  // namespace railyard::test
