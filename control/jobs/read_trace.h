// Traces in any format that is known, by what their files say.
#pragma once

#include <expected>
#include <filesystem>
#include <functional>
#include <string>

#include "control/jobs/trace_file_error.h"

namespace railyard::jobs {

// All of a file. Errors as one sees fit: they are the caller's own (an exception), or a sentence.
using FileReader = std::function<std::expected<std::string, std::string>(const std::filesystem::path&)>;

// GOAL, SimAI, NCCL logs: one file, told apart by its beginning. Chakra: `file` is that of rank 0, NAME.0.et; those of
// ranks 1, 2, ... are beside it, with none missing before the last, and NAME.json may have the groups of ranks.
// The graph is not checked yet (check()). TraceFileError::file: the file, where that is another one.
std::expected<JobGraph, TraceFileError> read_trace(const std::filesystem::path& file, const FileReader& read);

}  // namespace railyard::jobs
