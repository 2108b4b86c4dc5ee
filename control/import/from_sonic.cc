#include "control/import/from_sonic.h"

#include <nlohmann/json.hpp>

#include "control/base/short_quote.h"
#include "control/import/fabric_text.h"
#include "control/import/sonic_switch.h"

namespace railyard::importing {

bool is_config_db(const std::string& text, const std::string& file) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool begins = first != std::string::npos && (text[first] == '{' || text[first] == '[');
  if (!begins) return file.ends_with(".json");
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return !file.ends_with(".yml") && !file.ends_with(".yaml");
  return !json.is_object() || !json.contains("topology");
}

std::string from_sonic(const std::string& text, const std::string& file, const PgProfileLookup& lookup, bool qos_only) {
  const ConfigDb db(text, file);
  const SwitchConfig from = read_switch(db, lookup);
  FabricWords words{.what = "SONiC switch", .file = file, .form_of_list = "TABLE|key: fields"};
  if (!lookup.file().empty() && !lookup.was_read())
    words.more_left_out.push_back(printable(lookup.file()) + ": all of it, since each lossless group has a profile");
  return fabric_text(from, words, db.left_out(), qos_only);
}

}  // namespace railyard::importing
