#include "control/decode/uet_decrypt.h"

#include <algorithm>
#include <span>

#include "transports/uet/security/additional_data.h"
#include "transports/uet/security/aes_gcm.h"
#include "transports/uet/security/session_keys.h"
#include "transports/uet/wire/packet.h"

namespace railyard::decode {
namespace {

// One packet under one key.
class Attempt {
 public:
  Attempt(const UetOctets& packet, const uet::TssValues& tss, const uet::SessionKey& key)
      : cipher_(uet::AesGcm::Use::kOpen, key.key),
        iv_(uet::iv_of(tss, packet.source, key.mask)),
        additional_(packet.ip_header, packet.source.is_v4(), packet.l4, packet.octets.data(), tss.octets()) {}

  // Decrypts `octets`, and says whether `icv` is theirs.
  bool open(std::span<const std::byte> octets, std::span<const std::byte, uet::kIcvOctets> icv,
            std::vector<std::byte>& out) {
    decrypt(octets, out);
    return cipher_.check(icv);
  }
  void decrypt(std::span<const std::byte> octets, std::vector<std::byte>& out) {
    out.resize(octets.size());
    cipher_.begin(iv_, additional_.span());
    cipher_.transform(octets, out.data());
  }

 private:
  uet::AesGcm cipher_;
  uet::Iv iv_;
  uet::AdditionalData additional_;
};

// With a key that may be of another direction, or wrong.
DecryptedUet attempt(const UetOctets& packet, const uet::TssValues& tss, const uet::SessionKey& key,
                     const UetOptions& options) {
  Attempt with(packet, tss, key);
  const auto body = packet.octets.subspan(tss.octets());
  DecryptedUet out{.packet_octets = packet.packet_octets - tss.octets() - uet::kIcvOctets};
  const bool whole = packet.octets.size() >= packet.packet_octets;
  if (whole && with.open(body.first(out.packet_octets), body.subspan(out.packet_octets).first<uet::kIcvOctets>(), out.octets)) {
    out.icv_ok = true;
    return out;
  }
  with.decrypt(body, out.octets);
  const auto headers = uet::decode(out.octets, out.octets.size(), options.dialect);
  const std::size_t octets = headers ? headers->header_octets() : body.size();
  if (octets + uet::kIcvOctets <= body.size() &&
      with.open(body.first(octets), body.subspan(octets).first<uet::kIcvOctets>(), out.octets)) {
    out.icv_ok = true;
    return out;
  }
  if (whole) {
    out.icv_ok = false;
  } else {
    with.decrypt(body, out.octets);
    out.octets.resize(std::min(out.octets.size(), out.packet_octets));
  }
  return out;
}

}  // namespace

std::optional<DecryptedUet> decrypt(const UetOctets& packet, const uet::TssValues& tss, const UetOptions& options) {
  if (packet.packet_octets < tss.octets() + uet::kIcvOctets || packet.ip_header == nullptr) return std::nullopt;
  std::optional<DecryptedUet> best;
  for (const UetKey& key : options.keys) {
    if (key.sdi != tss.sdi || key.an != tss.an) continue;
    uet::SessionKeys keys({.mode = key.mode, .sdi = key.sdi, .key = key.key, .an = key.an, .rekey_bits = key.rekey_bits});
    // A packet to a server has the key of its source, one from it that of its destination.
    for (const bool sent : {false, true}) {
      if (sent && key.mode != uet::SecurityMode::kServer) continue;
      const uet::KeyName name = sent ? keys.name_of_sent(tss, packet.source, packet.destination)
                                     : keys.name_of_received(tss, packet.source, packet.destination);
      DecryptedUet out = attempt(packet, tss, keys.key(name), options);
      if (out.icv_ok == true) return out;
      if (!best || best->icv_ok == false) best = std::move(out);
    }
  }
  return best;
}

}  // namespace railyard::decode
