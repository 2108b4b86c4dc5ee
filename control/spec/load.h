// From a fabric file to a lab: read, check, expand.
//
// A preset's nodes and links become explicit ones, the keys of `nodes` replace what the preset says of the same node,
// and what nobody said is filled in: default profiles, the built-in QoS profile, addresses (addresses.h).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "control/base/read_file.h"
#include "control/spec/spec.h"
#include "control/spec/spec_error.h"
#include "control/spec/yaml/tree.h"

namespace railyard::spec {

// Of a fabric file; far more than any has.
inline constexpr std::size_t kMostSpecOctets = std::size_t{64} << 20;

// The file as it stands. Throws SpecError if it cannot be read, is not a file that has an end
// (control/base/read_file.h), or has more than `most` octets.
std::string read_file(const std::filesystem::path& path, std::size_t most = kMostFileOctets);

// `overrides` are "path=value" (yaml/override.h), applied in order before anything is read. Throws SpecError, also if
// the file cannot be read; nothing else.
Lab load(const std::filesystem::path& path, const std::vector<std::string>& overrides = {});

// The same for text at hand; `file_name` is what messages call it.
Lab parse(const std::string& text, const std::string& file_name, const std::vector<std::string>& overrides = {});

// What messages call the document of the QoS profile that labs have which define no "default".
inline constexpr std::string_view kBuiltInQosName = "built-in QoS profile";

// A lab beside the document that says it (overrides applied, built-in QoS profile added): for messages about a lab that
// is valid, which want to point at a key.
struct LabAndDocument {
  Lab lab;
  Tree document;
};
LabAndDocument load_with_document(const std::filesystem::path& path, const std::vector<std::string>& overrides = {});
LabAndDocument parse_with_document(const std::string& text, const std::string& file_name,
                                   const std::vector<std::string>& overrides = {});

// What `attach` says, as YAML: "namespace", "{ tap: t1 }". Empty or "built-in": nothing stands behind the NIC. Throws
// SpecError with `name` as the place.
Attachment parse_attachment(const std::string& text, const std::string& name);

// One fault of `lab`, as YAML: "on: leaf1:1, loss: 1%, for: 10ms", with or without braces. It has a name that no fault
// of `lab` has. Throws SpecError with `name` as the place.
FaultSpec parse_fault(const Lab& lab, const std::string& text, const std::string& name);
// The same written back: one line of JSON, which is YAML.
std::string to_text(const FaultSpec& fault);

// What of `lab` in-band telemetry is to follow, as run.int says it, as YAML: "{ one-in: 100, classes: 3 }". Throws
// SpecError with `name` as the place.
IntSpec parse_int(const Lab& lab, const std::string& text, const std::string& name);

}  // namespace railyard::spec
