// Values as network operating systems write them: lists of numbers, names of ports, speeds, code points.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace railyard::importing {

// "24-31,46" as numbers; nothing if it is no such list, or a number is not from `least` to `most`.
std::optional<std::vector<int>> number_list(std::string_view text, int least, int most);

// "Ethernet1/1-4,6", "Ethernet1/1,Ethernet1/5", "swp1s0-1", "swp1-swp4" as names. Nothing if a range is none, or if
// there are more than 4,096 names.
std::optional<std::vector<std::string>> port_names(std::string_view text);

// 100G, 100g-4, 100gfull, 25000, 10000full as Mb/s; nothing if no Ethernet port has that speed. A number without a 'g'
// is in Mb/s.
std::optional<std::int64_t> speed_of(std::string_view text);
std::string speeds();  // to put behind "expected"

// 0..63, or a name: ef, af31, cs3, default (RFC 4594).
std::optional<int> code_point(std::string_view text);

// Octets of "150 kbytes". kbytes are 1,000 octets, mbytes 1,000,000, as in the vendors' manuals. Nothing for another
// unit.
std::optional<std::int64_t> octets_per_unit(std::string_view unit);

}  // namespace railyard::importing
