// Files in memory, for what commands in a guest say and are told.
#pragma once

#include <string>
#include <string_view>

#include "dataplane/base/file_descriptor.h"

namespace railyard::guest {

// A file in memory that holds `text`, read from its beginning.
FileDescriptor memory_file(std::string_view text);
// All that is in the file, wherever it is being read or written.
std::string contents(const FileDescriptor& file);

}  // namespace railyard::guest
