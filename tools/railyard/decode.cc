// `railyard decode`: what the frames of a capture say.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/base/json_text.h"
#include "control/base/read_file.h"
#include "control/decode/decode_file.h"
#include "control/decode/line.h"
#include "control/decode/uet_key.h"
#include "control/spec/input_error.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/input_file.h"

namespace railyard::tools {
namespace {

struct Options {
  std::string file;
  bool as_json = false;
  bool ref_prov = false;
  std::string uet_crc = "msb-first";
  unsigned uet_protocol = wire::ip_protocol::kUetNative;
  std::optional<unsigned> uet_trimmed_dscp{};
  std::string uet_keys{};
  decode::DecodeOptions decode{};
};

void print_frames(const Options& options) {
  const auto print = [&](const decode::Json& frame) {
    const std::string text = (options.as_json ? json_text(frame) : decode::line(frame)) + "\n";
    std::fputs(text.c_str(), stdout);
    if (options.file == "-") std::fflush(stdout);  // a capture that is still going on
  };
  if (options.file.empty()) check_readable(options.file);
  if (const std::string why = options.file == "-" ? "" : why_not_a_file(options.file); !why.empty())
    throw InputError(fmt::format("{}: cannot be read: {}", options.file, why));
  try {
    decode::decode_file(options.file, print, options.decode);
  } catch (const std::runtime_error& error) {
    throw InputError(error.what());
  }
}

// What Ultra Ethernet's packets do not say of themselves. (Our own captures say it of a lab's NICs.)
void add_uet_options(CLI::App& command, Options& options) {
  decode::UetOptions& uet = options.decode.uet;
  command.add_option("--uet-port", uet.udp_port, "UDP port of Ultra Ethernet")->capture_default_str();
  command.add_option("--uet-protocol", options.uet_protocol, "IP protocol of Ultra Ethernet over IP (no UDP)")
      ->check(CLI::Range(0, 255))
      ->capture_default_str();
  command.add_option("--uet-crc", options.uet_crc, "CRC at the end of UET packets: none, or its byte order")
      ->check(CLI::IsMember({"none", "msb-first", "lsb-first"}))
      ->capture_default_str();
  command.add_option("--uet-tss", uet.icv_octets, "Length of the ICV at the end of encrypted UET packets, bytes")
      ->check(CLI::Range(0, 64))
      ->capture_default_str();
  command.add_option("--uet-trimmed-dscp", options.uet_trimmed_dscp, "DSCP of trimmed UET packets")
      ->check(CLI::Range(0, 63));
  command.add_option("--uet-keys", options.uet_keys,
                     "Decrypt UET packets with the keys in FILE. Each line: SDI ASSOCIATION MODE KEY [REKEY-AFTER], such as "
                     "\"1 0 cluster 00112233...\"")
      ->type_name("FILE");
  command.add_flag("--uet-ref-prov", options.ref_prov, "Decode the public reference provider's deviations");
}

std::vector<decode::UetKey> read_uet_keys(const std::string& file) {
  const auto text = read_whole_file(file);
  if (!text) throw InputError(fmt::format("{}: cannot be read: {}", file, text.error()));
  auto keys = decode::parse_uet_keys(*text, file);
  if (!keys) throw InputError(keys.error());
  return std::move(*keys);
}

}  // namespace

void add_decode(CLI::App* command, int&) {
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, "Capture (pcap or pcapng) of Ethernet frames; -: standard input")
      ->required();
  command->add_flag("--json", options->as_json, "Print one JSON object per frame (JSON lines)");
  add_uet_options(*command, *options);
  command->footer(
      "Prints the headers of each frame, checks RoCEv2's ICRC and Ultra Ethernet's CRC, and reports malformed fields.\n"
      "Examples:\n"
      "  railyard run topologies/incast-8to1.yaml --capture leaf1:1=incast.pcapng\n"
      "  railyard decode incast.pcapng | head\n"
      "  railyard decode rxe.pcap --json | jq 'select(.aeth.type == \"nak\") | [.frame, .aeth.nak, .bth.psn]'\n"
      "  railyard decode rxe.pcap --json | jq -s 'map(select(.icrc_ok == false or .error)) | length'\n"
      "  railyard decode uet.pcap --json | jq 'select(.uet.pds == \"NACK\") | [.frame, .uet.nack, .uet.nack_psn]'\n"
      "  railyard capture leaf1:1 -w - | railyard decode -");
  command->callback([=] {
    decode::UetOptions& uet = options->decode.uet;
    using decode::UetCrc;
    uet.crc = options->uet_crc == "none"        ? UetCrc::kNone
              : options->uet_crc == "lsb-first" ? UetCrc::kLsbFirst
                                                : UetCrc::kMsbFirst;
    uet.ip_protocol = static_cast<std::uint8_t>(options->uet_protocol);
    if (options->uet_trimmed_dscp) uet.trimmed_dscp = static_cast<std::uint8_t>(*options->uet_trimmed_dscp);
    if (!options->uet_keys.empty()) uet.keys = read_uet_keys(options->uet_keys);
    if (options->ref_prov) uet.dialect = railyard::uet::kRefProv;
    // Whoever says one of these knows better than the capture.
    uet.as_capture_says = command->count("--uet-port") + command->count("--uet-protocol") +
                              command->count("--uet-crc") + command->count("--uet-ref-prov") ==
                          0;
    print_frames(*options);
  });
}

}  // namespace railyard::tools
