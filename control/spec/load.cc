#include "control/spec/load.h"

#include <utility>

#include <fmt/format.h>

#include "control/spec/check/check.h"
#include "control/spec/keys/keys.h"
#include "control/spec/override_paths.h"
#include "control/spec/read.h"
#include "control/spec/spec_error.h"
#include "control/spec/starting_profile.h"
#include "control/spec/yaml/override.h"
#include "control/spec/yaml/parse.h"
#include "control/spec/yaml/print.h"

namespace railyard::spec {
namespace {

// The profile of labs that do not define a "default": what most RoCE fabrics begin with. Class 5 has what UET calls
// DSCP_CONTROL (46): its ACKs must not wait behind data (UE-Spec 3.6.17: TC_high is strict).
constexpr const char* kBuiltInQos = R"(
trust: dscp
classes:
  0: { weight: 50 }
  3: { lossless: true, alpha: 1/8, ecn: { pmax: 20% }, weight: 50 }
  5: { strict: true }
  6: { strict: true }
)";

// Before the overrides, so that one of them can change a part of it.
void add_built_in_qos(Tree& document) {
  Tree* qos = document.find("qos");
  if (qos == nullptr) qos = &document.add("qos", Tree::map());
  if (qos->kind == Tree::Kind::kNothing) qos->kind = Tree::Kind::kMap;
  if (qos->kind == Tree::Kind::kMap && qos->find("default") == nullptr)
    qos->add("default", parse_yaml(kBuiltInQos, std::string(kBuiltInQosName)));
}

}  // namespace

std::string read_file(const std::filesystem::path& path, std::size_t most) {
  auto text = read_whole_file(path, most);
  if (!text) fail_at({path.empty() ? "''" : path.string(), 0, 0}, "", fmt::format("cannot be read: {}", text.error()));
  return std::move(*text);
}

Lab load(const std::filesystem::path& path, const std::vector<std::string>& overrides) {
  return load_with_document(path, overrides).lab;
}

Lab parse(const std::string& text, const std::string& file_name, const std::vector<std::string>& overrides) {
  return parse_with_document(text, file_name, overrides).lab;
}

LabAndDocument load_with_document(const std::filesystem::path& path, const std::vector<std::string>& overrides) {
  return parse_with_document(read_file(path, kMostSpecOctets), path.string(), overrides);
}

namespace {

// The document with its overrides. `paths`: where each of these put its value, if anybody wants to know.
// `ours`: which of its profiles begin as one of ours.
Tree document_of(const std::string& text, const std::string& file_name, const std::vector<std::string>& overrides,
                 std::vector<ShippedStart>& ours, std::vector<std::string>* paths = nullptr) {
  if (paths != nullptr) paths->resize(overrides.size());
  const auto apply = [&](Tree& to, std::size_t i) {
    std::string path = apply_override(to, overrides[i]);
    if (paths != nullptr) (*paths)[i] = std::move(path);
  };
  Tree document = parse_yaml(text, file_name);
  if (document.kind == Tree::Kind::kNothing) {
    document.kind = Tree::Kind::kMap;
    document.place = {file_name, 1, 1};
  }
  document.as_map("a map with the keys of a lab: name, topology, ...");
  finish(document, "");
  add_built_in_qos(document);
  finish(document, "");
  for (std::size_t i = 0; i < overrides.size(); ++i)
    if (names_starting_profile(overrides[i])) apply(document, i);
  finish(document, "");
  ours = expand_starting_profiles(document);
  finish(document, "");
  for (std::size_t i = 0; i < overrides.size(); ++i)
    if (!names_starting_profile(overrides[i])) apply(document, i);
  finish(document, "");
  return document;
}

}  // namespace

LabAndDocument parse_with_document(const std::string& text, const std::string& file_name,
                                   const std::vector<std::string>& overrides) {
  std::vector<ShippedStart> ours;
  Tree document = document_of(text, file_name, overrides, ours);
  try {
    Lab lab = read_lab(document);
    return {std::move(lab), std::move(document)};
  } catch (const SpecError& e) {
    throw as_said_in_lab(e, ours);
  }
}

std::vector<std::string> override_paths(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  std::vector<std::string> paths;
  std::vector<ShippedStart> ours;
  static_cast<void>(document_of(read_file(file, kMostSpecOctets), file.string(), overrides, ours, &paths));
  return paths;
}

Attachment parse_attachment(const std::string& text, const std::string& name) {
  Tree tree = parse_yaml(text, name);
  if (tree.kind == Tree::Kind::kNothing || (tree.kind == Tree::Kind::kScalar && tree.text == "built-in")) return {};
  finish(tree, "attach");
  return attachment_form().read(tree);
}

FaultSpec parse_fault(const Lab& lab, const std::string& text, const std::string& name) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_bare = first == text.npos || text[first] != '{';
  Tree tree = parse_yaml(is_bare && text.find('\n') == text.npos ? "{" + text + "}" : text, name);
  finish(tree, "");
  std::vector<FaultSpec> all = lab.faults;
  FaultSpec& fault = all.emplace_back();
  fault_keys().read(tree, fault);
  for (const FaultSpec& other : lab.faults)
    if (other.name == fault.name)
      tree.at_or_self("name").fail(fmt::format("a fault {} exists already; expected another name", fault.name));
  name_faults(all);
  check_fault(lab, all.back(), tree);
  return all.back();
}

IntSpec parse_int(const Lab& lab, const std::string& text, const std::string& name) {
  Tree tree = parse_yaml(text, name);
  if (tree.kind == Tree::Kind::kNothing) tree.kind = Tree::Kind::kMap;
  finish(tree, "");
  IntSpec what;
  int_keys().read(tree, what);
  check_int(lab, what, tree);
  return what;
}

std::string to_text(const FaultSpec& fault) {
  std::string text = print_json(fault_keys().write(fault));
  // Values have no line breaks.
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n') {
      line += text[i];
      continue;
    }
    while (i + 1 < text.size() && text[i + 1] == ' ') ++i;
  }
  return line;
}

}  // namespace railyard::spec
