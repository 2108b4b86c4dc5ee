// `railyard man`: the help of all commands as man pages (roff, man(7)).
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "control/lab/version.h"
#include "tools/railyard/command_tree.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/write_file.h"

namespace railyard::tools {
namespace {

namespace fs = std::filesystem;

// Text as it stands, whatever roff would read into it (groff(7)).
std::string roff(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    line_begins = c == '\n';
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string synopsis(const CommandNode& node) {
  std::string text = fmt::format("\\fB{}\\fR", roff(node.full_name()));
  if (!node.options.empty()) text += " [\\fIOPTIONS\\fR]";
  for (const OptionNode& p : node.positionals) {
    const std::string name = fmt::format("\\fI{}\\fR{}", roff(p.names.front()), p.repeats ? "..." : "");
    text += p.required ? " " + name : " [" + name + "]";
  }
  if (!node.commands.empty()) text += " \\fICOMMAND\\fR ...";
  return text;
}

std::string options_text(const std::vector<OptionNode>& options) {
  std::string text;
  for (const OptionNode& o : options) {
    text += ".TP\n";
    std::string names;
    for (const std::string& name : o.names) names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(name));
    if (!o.value.empty() && o.value != o.names.front()) names += fmt::format(" \\fI{}\\fR", roff(o.value));
    text += names + "\n" + roff(o.description) + "\n";
  }
  return text;
}

// A footer is paragraphs, and lines of examples behind "Example:" or "Examples:".
struct Footer {
  std::string paragraphs;
  std::string examples;
};
Footer parse_footer(const std::string& footer) {
  Footer out;
  bool in_examples = false;
  for (std::size_t at = 0; at < footer.size();) {
    const std::size_t end = std::min(footer.find('\n', at), footer.size());
    std::string_view line(footer.data() + at, end - at);
    at = end + 1;
    for (const std::string_view head : {std::string_view("Examples:"), std::string_view("Example:")})
      if (line.starts_with(head)) {
        in_examples = true;
        line.remove_prefix(head.size());
        break;
      }
    if (in_examples && !line.empty() && line.front() != ' ') in_examples = false;
    if (in_examples) {
      const std::size_t text = line.find_first_not_of(' ');
      if (text != line.npos) out.examples += roff(line.substr(text)) + "\n";
    } else if (line.starts_with("  ")) {
      out.paragraphs += ".br\n" + roff(line) + "\n";
    } else {
      out.paragraphs += line.empty() ? ".PP\n" : roff(line) + "\n";
    }
  }
  return out;
}

void append_command(std::string& text, const CommandNode& node) {
  const Footer footer = parse_footer(node.footer);
  if (node.path.size() <= 2) {
    text += ".SH SYNOPSIS\n" + synopsis(node) + "\n.SH DESCRIPTION\n" + roff(node.summary) + ".\n";
  } else {
    text += fmt::format(".SS {}\n{}\n.PP\n{}.\n", roff(node.full_name()), synopsis(node), roff(node.summary));
  }
  if (!footer.paragraphs.empty()) text += ".PP\n" + footer.paragraphs;
  if (!node.positionals.empty() || !node.options.empty()) {
    if (node.path.size() <= 2) text += ".SH OPTIONS\n";
    text += options_text(node.positionals) + options_text(node.options);
  }
  if (node.path.size() > 1)
    for (std::size_t i = 0; i < node.commands.size(); ++i) {
      if (i == 0) text += ".SH COMMANDS\n";
      append_command(text, node.commands[i]);
    }
  if (!footer.examples.empty())
    text += (node.path.size() <= 2 ? std::string(".SH EXAMPLES\n") : std::string(".PP\n")) + ".nf\n" + footer.examples +
            ".fi\n";
}

std::string page(const CommandNode& node, const CommandNode& root) {
  const std::string name = node.full_name("-");
  std::string text = fmt::format(
      ".TH {} 1 \"\" \"railyard {}\" \"Railyard\"\n.SH NAME\n{} \\- {}\n", roff(name), roff(lab::version()), roff(name),
      roff(node.path.size() == 1 ? "emulate the Ethernet fabric of an AI cluster" : node.summary));
  append_command(text, node);
  if (node.path.size() == 1) {
    text += ".SH COMMANDS\n";
    std::string group;
    for (const Command& c : commands()) {
      if (*c.group == '\0') continue;
      if (group != c.group) text += fmt::format(".SS {}\n", roff(group = c.group));
      text += fmt::format(".TP\n\\fBrailyard\\-{}\\fR(1)\n{}\n", roff(c.name), roff(c.summary));
    }
  }
  text +=
      ".SH ENVIRONMENT\n.TP\n\\fBRAILYARD_LAB\\fR\nName of the live lab for commands without "
      "\\fB\\-\\-lab\\fR.\n.TP\n\\fBRAILYARD_STATE_DIR\\fR\nDirectory of live labs' sockets and logs: "
      "/run/railyard for root, else $XDG_RUNTIME_DIR/railyard or /tmp/railyard\\-UID.\n.SH SEE ALSO\n";
  if (node.path.size() > 1) text += "\\fBrailyard\\fR(1), ";
  bool first = true;
  for (const CommandNode& c : root.commands) {
    if (c.path == node.path) continue;
    text += fmt::format("{}\\fBrailyard\\-{}\\fR(1)", first ? "" : ", ", roff(c.name()));
    first = false;
  }
  return text + "\n";
}

void write_page(const fs::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) throw std::runtime_error(fmt::format("cannot write {}", path.string()));
}

}  // namespace

void add_man(CLI::App* command, int&) {
  auto dir = std::make_shared<std::string>();
  command->add_option("DIR", *dir, "Directory for railyard.1 and railyard-COMMAND.1")->required();
  command->callback([=] {
    const CommandNode root = command_tree(*command->get_parent());
    make_directory(*dir, "");
    write_page(fs::path(*dir) / "railyard.1", page(root, root));
    for (const CommandNode& c : root.commands) write_page(fs::path(*dir) / (c.full_name("-") + ".1"), page(c, root));
  });
}

}  // namespace railyard::tools
