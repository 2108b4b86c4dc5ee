// A SONiC switch as a fabric file: one switch, a host at each link, its QoS profile, an incast.
#pragma once

#include <string>

#include "control/import/pg_profile_lookup.h"

namespace railyard::importing {

// Whether `text` of `file` is meant to be SONiC's config_db.json: it begins as JSON does, or the file is called *.json;
// and it has no key "topology", as a file of containerlab.
bool is_config_db(const std::string& text, const std::string& file);

// `text` of `file` (for messages) as YAML. With `qos_only`, of the fabric file only `qos`, to paste. Comments at the
// end list each field that has no counterpart. What each field becomes: docs/import.md. Throws SpecError for what is no
// such file or contradicts itself: "FILE: TABLE|key: field: found ..., expected ...".
std::string from_sonic(const std::string& text, const std::string& file, const PgProfileLookup& lookup, bool qos_only);

}  // namespace railyard::importing
