// A whole file, if it is one.
#pragma once

#include <cstddef>
#include <expected>
#include <filesystem>
#include <string>

namespace railyard {

// Of text that people and programs write: labs, lists of flows, logs, reports.
inline constexpr std::size_t kMostFileOctets = std::size_t{1} << 30;

// All of `path`: a regular file, or standard input (/dev/stdin, /dev/fd/N). Anything else could block for ever or have
// no end: a FIFO, a device, a socket. The reason otherwise: "No such file or directory", "it is a FIFO; expected a
// file".
std::expected<std::string, std::string> read_whole_file(const std::filesystem::path& path,
                                                        std::size_t most = kMostFileOctets);

// Why `path`, if it is there, is none that can be read to its end: as read_whole_file() says it; empty: it can.
std::string why_not_a_file(const std::filesystem::path& path);

}  // namespace railyard
