// A file that is written as a whole at the end of a command: all of it is there, or none.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <utility>

namespace railyard::tools {

// Which of these options has "-" for its file and so takes standard output from the report; empty: none. Throws
// std::invalid_argument: two do, or `prints_json` and one does.
std::string taker_of_standard_output(std::initializer_list<std::pair<const char*, std::string>> files,
                                     bool prints_json);

class ResultFile {
 public:
  // `path`: "-" is standard output. Makes a file beside `path` at once, so that what would keep it from being written is said before anything runs.
  // Throws std::runtime_error naming `option`, if it is not empty, and the file.
  ResultFile(const std::filesystem::path& path, std::string option);
  // What was not written is not there.
  ~ResultFile();
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;

  // Once. Takes the place of what was there. A device or pipe is written to as it is, and so is standard output.
  // Throws std::runtime_error.
  void write(const std::string& text);

 private:
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;
  std::string option_;
  std::filesystem::path part_;  // what is written until it is whole; empty: path_ is no regular file
  int fd_ = -1;
};

}  // namespace railyard::tools
