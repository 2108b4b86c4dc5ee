// SONiC's pg_profile_lookup.ini: buffers of a lossless priority group by the speed and cable of a port.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace railyard::importing {

// In octets; the columns of the file.
struct PgProfile {
  std::int64_t speed = 0;  // Mb/s
  std::string cable;       // "5m"
  std::int64_t size = 0;   // reserved
  std::int64_t xon = 0;
  std::int64_t xoff = 0;  // headroom
  int threshold = 0;      // dynamic_th: alpha is 2^n
  std::optional<std::int64_t> xon_offset;
};

class PgProfileLookup {
 public:
  PgProfileLookup() = default;  // of no file: nothing is found
  // Lines of "speed cable size xon xoff threshold [xon_offset]"; '#' begins a comment. Throws SpecError with the line.
  PgProfileLookup(const std::string& text, std::string file);

  const PgProfile* find(std::int64_t speed, const std::string& cable) const;
  const std::string& file() const noexcept { return file_; }  // empty: none
  bool was_read() const noexcept { return was_read_; }        // find() found something

 private:
  std::string file_;
  std::vector<PgProfile> rows_;
  mutable bool was_read_ = false;
};

}  // namespace railyard::importing
