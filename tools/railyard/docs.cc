// `railyard docs`: where the documentation is.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tools/railyard/commands.h"

namespace railyard::tools {
namespace {

namespace fs = std::filesystem;

// Beside the program where it is installed; else the source tree that it was built in.
fs::path docs_folder() {
  std::error_code error;
  const fs::path bin = fs::read_symlink("/proc/self/exe", error).parent_path();
  std::vector<fs::path> places{bin.parent_path() / "share/doc/railyard/docs"};
  for (fs::path up = bin; up.has_relative_path(); up = up.parent_path()) places.push_back(up / "docs");
  for (const fs::path& place : places)
    if (fs::exists(place / "README.md", error)) return place;
  throw std::runtime_error(fmt::format("the documentation is not installed; expected it in {}", places[0].string()));
}

// Its first heading.
std::string title_of(const fs::path& page) {
  std::ifstream in(page);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("# ")) return line.substr(2);
  return {};
}

}  // namespace

void add_docs(CLI::App* command, int&) {
  command->footer("Example:\n  less $(railyard docs | head -n 1)/README.md");
  command->callback([] {
    const fs::path folder = docs_folder();
    std::vector<fs::path> pages;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".md") pages.push_back(entry.path());
    std::ranges::sort(pages);
    fmt::print("{}\n", folder.string());
    for (const fs::path& page : pages) fmt::print("  {:34} {}\n", fs::relative(page, folder).string(), title_of(page));
  });
}

}  // namespace railyard::tools
