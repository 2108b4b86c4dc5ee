// What a capture of ours says of itself: the comment of its first section.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace railyard::decode {

// The first comment of the section header that a pcapng file begins with; "" if it has none, or is no such file.
std::string capture_note(const std::filesystem::path& path);

// Fills what it is given, and says how many octets of it; fewer only at the end.
using ReadOctets = std::function<std::size_t(std::span<std::byte>)>;
// The same of what cannot be read twice, a pipe: what was read for it, and who reads the capture has to have first. Of
// a pcapng file its section header, of others 24 octets, and never more than the reader of a capture waits for.
struct CaptureStart {
  std::vector<std::byte> octets;
  std::string note;
};
CaptureStart capture_start(const ReadOctets& read);

}  // namespace railyard::decode
