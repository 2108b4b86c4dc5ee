// What the kernel says of a machine in /proc and /sys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace railyard::machine {

// Reads below a root: "/" of the machine that we run on, or a folder of made-up files in tests.
class Files {
 public:
  explicit Files(std::filesystem::path root = "/") : root_(std::move(root)) {}

  // Without spaces at both ends; nothing: there is no such file, or it cannot be read. `path` is absolute.
  std::optional<std::string> text(std::string_view path) const;
  std::optional<std::int64_t> number(std::string_view path) const;
  bool exists(std::string_view path) const;
  // What a folder has, sorted; empty if there is none.
  std::vector<std::string> names(std::string_view folder) const;
  // The last part of what a symbolic link points to; empty if there is none.
  std::string link(std::string_view path) const;

 private:
  std::filesystem::path at(std::string_view path) const;

  std::filesystem::path root_;
};

// Lists of processors as the kernel writes them: "0-3,8". What is no list is empty.
std::vector<int> read_processors(std::string_view text);
std::string processors_text(const std::vector<int>& processors);

// The word in brackets: "madvise" of "always [madvise] never". Without brackets the whole text.
std::string chosen_word(std::string_view text);

// The number behind a name in lines of "name: number ..." or "name number".
std::optional<std::int64_t> number_of(std::string_view text, std::string_view name);

}  // namespace railyard::machine
