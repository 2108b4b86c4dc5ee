// A file that is written as a whole at the end of a command: all of it is there, or none.
#pragma once

#include <filesystem>
#include <string>

namespace railyard::tools {

class ResultFile {
 public:
  // Makes a file beside `path` at once, so that what would keep it from being written is said before anything runs.
  // Throws std::runtime_error naming `option` and the file.
  ResultFile(const std::filesystem::path& path, std::string option);
  // What was not written is not there.
  ~ResultFile();
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;

  // Once. Takes the place of what was there. A device or pipe is written to as it is. Throws std::runtime_error.
  void write(const std::string& text);

 private:
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;
  std::string option_;
  std::filesystem::path part_;  // what is written until it is whole; empty: path_ is no regular file
  int fd_ = -1;
};

}  // namespace railyard::tools
