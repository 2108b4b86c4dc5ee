#include "tools/railyard/write_file.h"

#include "control/base/output_file.h"

namespace railyard::tools {

void write_file(const std::filesystem::path& path, const std::string& text) {
  OutputFile out(path.string());
  out.write(text);
  out.close();
}

}  // namespace railyard::tools
