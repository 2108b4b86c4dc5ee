// `railyard decode`: what the frames of a capture say.
#include <cstdio>
#include <memory>
#include <string>

#include "control/decode/decode_file.h"
#include "control/decode/line.h"
#include "tools/railyard/commands.h"

namespace railyard::tools {
namespace {

void print_frames(const std::string& file, bool as_json) {
  decode::decode_file(file, [&](const decode::Json& frame) {
    const std::string text = (as_json ? frame.dump() : decode::line(frame)) + "\n";
    std::fputs(text.c_str(), stdout);
    if (file == "-") std::fflush(stdout);  // a capture that is still going on
  });
}

}  // namespace

void add_decode(CLI::App& app, int&) {
  auto* command = app.add_subcommand("decode", "Print what the frames of a capture say, RoCEv2 with every header");
  auto file = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  command->add_option("FILE", *file, "Capture (pcap or pcapng) of Ethernet frames; -: standard input")->required();
  command->add_flag("--json", *as_json, "One JSON object per frame and line");
  command->footer(
      "Says of each frame: its headers, whether a RoCEv2 ICRC is right, and what is malformed.\n"
      "Examples:\n"
      "  railyard run topologies/incast-8to1.yaml --capture leaf1:1=incast.pcapng\n"
      "  railyard decode incast.pcapng | head\n"
      "  railyard decode rxe.pcap --json | jq 'select(.aeth.type == \"nak\") | [.frame, .aeth.nak, .bth.psn]'\n"
      "  railyard decode rxe.pcap --json | jq -s 'map(select(.icrc_ok == false or .error)) | length'\n"
      "  railyard capture leaf1:1 -w - | railyard decode -");
  command->callback([=] { print_frames(*file, *as_json); });
}

}  // namespace railyard::tools
