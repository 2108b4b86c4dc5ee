#include "transports/uet/wire/ses.h"

#include <algorithm>

#include "dataplane/base/assert.h"

namespace railyard::uet {
namespace {

using wire::read;
using wire::write;

std::uint8_t bit(bool value) noexcept { return value ? 1 : 0; }

void read_common(const std::byte* at, SesRequestValues& v) noexcept {
  using C = SesCommon;
  v.opcode = static_cast<SesOpcode>(read<C::Opcode>(at));
  v.version = read<C::Ver>(at);
  v.dc = read<C::Dc>(at) != 0;
  v.ie = read<C::Ie>(at) != 0;
  v.rel = read<C::Rel>(at) != 0;
  v.hd = read<C::Hd>(at) != 0;
  v.eom = read<C::Eom>(at) != 0;
  v.som = read<C::Som>(at) != 0;
  if (v.is_std())
    v.message_id = read<C::MessageId>(at);
  else
    v.request_length = read<C::RequestLength>(at);
  v.ri_generation = read<C::RiGeneration>(at);
  v.job_id = read<C::JobId>(at);
  v.pid_on_fep = read<C::PidOnFep>(at);
  v.resource_index = read<C::ResourceIndex>(at);
}

void write_common(std::byte* at, const SesRequestValues& v) noexcept {
  using C = SesCommon;
  wire::write_together<C::Reserved0, C::Opcode, C::Ver, C::Dc, C::Ie, C::Rel, C::Hd, C::Eom, C::Som>(
      at, 0, static_cast<std::uint8_t>(v.opcode), v.version, bit(v.dc), bit(v.ie), bit(v.rel), bit(v.hd), bit(v.eom),
      bit(v.som));
  if (v.is_std())
    write<C::MessageId>(at, v.message_id);
  else
    wire::write_together<C::Reserved16, C::RequestLength>(at, 0, static_cast<std::uint16_t>(v.request_length));
  wire::write_together<C::RiGeneration, C::JobId>(at, v.ri_generation, v.job_id);
  wire::write_together<C::Reserved64, C::PidOnFep, C::Reserved80, C::ResourceIndex>(at, 0, v.pid_on_fep, 0,
                                                                                    v.resource_index);
}

void read_std(const std::byte* at, const Dialect& dialect, SesRequestValues& v) noexcept {
  using S = SesStd;
  if (is_deferrable(v.opcode)) {
    v.initiator_restart_token = read<S::SendInitiatorToken>(at);
    v.target_restart_token = read<S::SendTargetToken>(at);
  } else {
    v.buffer_offset = read<S::BufferOffset>(at);
  }
  v.initiator = read<S::Initiator>(at);
  if (v.opcode == SesOpcode::kDeferrableRtr) {
    v.initiator_restart_token = read<S::RtrFirstToken>(at);
    v.target_restart_token = read<S::RtrSecondToken>(at);
    if (dialect.rtr_own_token_first) std::swap(v.initiator_restart_token, v.target_restart_token);
  } else {
    v.match_bits = read<S::MatchBits>(at);
  }
  if (v.som) {
    v.header_data = read<S::HeaderData>(at);
  } else {
    v.payload_length = read<S::PayloadLength>(at);
    v.message_offset = read<S::MessageOffset>(at);
  }
  v.request_length = read<S::RequestLength>(at);
}

void write_std(std::byte* at, const Dialect& dialect, const SesRequestValues& v) noexcept {
  using S = SesStd;
  if (is_deferrable(v.opcode)) {
    write<S::SendInitiatorToken>(at, v.initiator_restart_token);
    write<S::SendTargetToken>(at, v.target_restart_token);
  } else {
    write<S::BufferOffset>(at, v.buffer_offset);
  }
  write<S::Initiator>(at, v.initiator);
  if (v.opcode == SesOpcode::kDeferrableRtr) {
    const bool swapped = dialect.rtr_own_token_first;
    write<S::RtrFirstToken>(at, swapped ? v.target_restart_token : v.initiator_restart_token);
    write<S::RtrSecondToken>(at, swapped ? v.initiator_restart_token : v.target_restart_token);
  } else {
    write<S::MatchBits>(at, v.match_bits);
  }
  if (v.som) {
    write<S::HeaderData>(at, v.header_data);
  } else {
    wire::write_together<S::Reserved256, S::PayloadLength, S::MessageOffset>(at, 0, v.payload_length, v.message_offset);
  }
  write<S::RequestLength>(at, v.request_length);
}

void read_medium(const std::byte* at, SesRequestValues& v) noexcept {
  using M = SesMedium;
  (is_send(v.opcode) ? v.header_data : v.buffer_offset) = read<M::BufferOffset>(at);
  v.initiator = read<M::Initiator>(at);
  v.match_bits = read<M::MatchBits>(at);
}

void write_medium(std::byte* at, const SesRequestValues& v) noexcept {
  using M = SesMedium;
  write<M::BufferOffset>(at, is_send(v.opcode) ? v.header_data : v.buffer_offset);
  write<M::Initiator>(at, v.initiator);
  write<M::MatchBits>(at, v.match_bits);
}

// `v` is as constructed.
std::optional<Malformed> decode_request(NextHdr form, std::span<const std::byte> packet, const Dialect& dialect,
                                        SesRequestValues& v) noexcept {
  v.form = form;
  const std::byte* const at = packet.data();
  const std::size_t fixed = v.fixed_octets();
  if (packet.size() < fixed) return Malformed::kHeadersCut;
  read_common(at, v);
  if (form == NextHdr::kRequestStd)
    read_std(at, dialect, v);
  else if (form == NextHdr::kRequestMedium)
    read_medium(at, v);
  else
    v.buffer_offset = read<SesSmall::BufferOffset>(at);

  if (is_atomic(v.opcode)) {
    if (packet.size() - fixed < AtomicExt::kOctets) return Malformed::kHeadersCut;
    v.atomic = read_atomic_ext(at + fixed);
  }
  // What the extension says decides how long it is.
  if (packet.size() < v.octets()) return Malformed::kHeadersCut;
  if (is_atomic(v.opcode) && is_compare_and_swap(v.atomic.opcode)) read_operands(at + fixed, v.atomic);
  if (v.has_rendezvous_ext()) v.rendezvous = read_rendezvous_ext(at + fixed);
  return {};
}

void write_header(std::byte* at, const Dialect& dialect, const SesRequestValues& v) noexcept {
  write_common(at, v);
  if (v.is_std())
    write_std(at, dialect, v);
  else if (v.form == NextHdr::kRequestMedium)
    write_medium(at, v);
  else
    write<SesSmall::BufferOffset>(at, v.buffer_offset);
  if (is_atomic(v.opcode)) write_atomic_ext(at + v.fixed_octets(), v.atomic);
  if (v.has_rendezvous_ext()) write_rendezvous_ext(at + v.fixed_octets(), v.rendezvous);
}

// `v` is as constructed.
std::optional<Malformed> decode_response(NextHdr form, std::span<const std::byte> packet,
                                         SesResponseValues& v) noexcept {
  v.form = form;
  if (packet.size() < v.octets()) return Malformed::kHeadersCut;
  const std::byte* const at = packet.data();
  using R = SesResponse;
  v.list = static_cast<SesList>(read<R::List>(at));
  v.opcode = static_cast<SesResponseOpcode>(read<R::Opcode>(at));
  v.version = read<R::Ver>(at);
  v.return_code = static_cast<ReturnCode>(read<R::ReturnCode>(at));
  v.job_id = read<R::JobId>(at);
  if (form == NextHdr::kResponse) {
    v.message_id = read<R::MessageId>(at);
    v.ri_generation = read<R::RiGeneration>(at);
    v.modified_length = read<R::ModifiedLength>(at);
  } else if (form == NextHdr::kResponseData) {
    using D = SesResponseData;
    v.message_id = read<R::MessageId>(at);
    v.read_request_message_id = read<D::ReadRequestMessageId>(at);
    v.payload_length = read<D::PayloadLength>(at);
    v.modified_length = read<D::ModifiedLength>(at);
    v.message_offset = read<D::MessageOffset>(at);
  } else {
    using S = SesResponseDataSmall;
    v.payload_length = read<S::PayloadLength>(at);
    v.original_request_psn = read<S::OriginalRequestPsn>(at);
  }
  return {};
}

void write_header(std::byte* at, const Dialect&, const SesResponseValues& v) noexcept {
  using R = SesResponse;
  wire::write_together<R::List, R::Opcode, R::Ver, R::ReturnCode>(at, static_cast<std::uint8_t>(v.list),
                                                                  static_cast<std::uint8_t>(v.opcode), v.version,
                                                                  static_cast<std::uint8_t>(v.return_code));
  write<R::JobId>(at, v.job_id);
  if (v.form == NextHdr::kResponse) {
    write<R::MessageId>(at, v.message_id);
    write<R::RiGeneration>(at, v.ri_generation);
    write<R::ModifiedLength>(at, v.modified_length);
  } else if (v.form == NextHdr::kResponseData) {
    using D = SesResponseData;
    write<R::MessageId>(at, v.message_id);
    write<D::Reserved32>(at, 0);
    write<D::ReadRequestMessageId>(at, v.read_request_message_id);
    write<D::Reserved80>(at, 0);
    write<D::PayloadLength>(at, v.payload_length);
    write<D::ModifiedLength>(at, v.modified_length);
    write<D::MessageOffset>(at, v.message_offset);
  } else {
    using S = SesResponseDataSmall;
    write<S::Reserved16>(at, 0);
    write<S::PayloadLength>(at, v.payload_length);
    write<S::Reserved32>(at, 0);
    write<S::OriginalRequestPsn>(at, v.original_request_psn);
  }
}

void write_header(std::byte*, const Dialect&, std::monostate) noexcept {}

}  // namespace

NextHdr form(const Ses& ses) noexcept {
  if (const auto* const request = std::get_if<SesRequestValues>(&ses)) return request->form;
  if (const auto* const response = std::get_if<SesResponseValues>(&ses)) return response->form;
  return NextHdr::kNone;
}

std::size_t octets(const Ses& ses) noexcept {
  if (const auto* const request = std::get_if<SesRequestValues>(&ses)) [[likely]]
    return request->octets();
  if (const auto* const response = std::get_if<SesResponseValues>(&ses)) return response->octets();
  return 0;
}

std::optional<Malformed> decode_ses_into(NextHdr form, std::span<const std::byte> packet, Ses& ses,
                                         const Dialect& dialect) noexcept {
  if (form == NextHdr::kRequestStd) [[likely]]
    return decode_request(form, packet, dialect, ses.emplace<SesRequestValues>());
  switch (form) {
    case NextHdr::kNone:
      ses.emplace<std::monostate>();
      return {};
    case NextHdr::kRequestSmall:
    case NextHdr::kRequestMedium:
    case NextHdr::kRequestStd:
      return decode_request(form, packet, dialect, ses.emplace<SesRequestValues>());
    case NextHdr::kResponse:
    case NextHdr::kResponseData:
    case NextHdr::kResponseDataSmall:
      return decode_response(form, packet, ses.emplace<SesResponseValues>());
  }
  return Malformed::kBadNextHdr;
}

std::expected<Ses, Malformed> decode_ses(NextHdr form, std::span<const std::byte> packet,
                                         const Dialect& dialect) noexcept {
  std::expected<Ses, Malformed> ses;
  if (const auto bad = decode_ses_into(form, packet, *ses, dialect)) ses = std::unexpected(*bad);
  return ses;
}

std::size_t encode_ses(std::span<std::byte> out, const Ses& ses, const Dialect& dialect) noexcept {
  if (const auto* const request = std::get_if<SesRequestValues>(&ses)) [[likely]] {
    const std::size_t n = request->octets();
    if (out.size() < n) return 0;
    write_header(out.data(), dialect, *request);
    return n;
  }
  const std::size_t n = octets(ses);
  if (out.size() < n) return 0;
  std::visit([&](const auto& header) noexcept { write_header(out.data(), dialect, header); }, ses);
  return n;
}

std::optional<std::size_t> expected_payload(const SesRequestValues& v, std::size_t payload_mtu) noexcept {
  using enum SesOpcode;
  switch (v.opcode) {
    case kRead:
    case kDeferrableRtr:
    case kMsgError:
      return 0;
    case kWrite:
    case kSend:
    case kDatagramSend:
    case kDeferrableSend:
    case kTaggedSend:
    case kDeferrableTsend:
    case kRendezvousSend:
    case kRendezvousTsend: {
      if (v.is_std() && !v.som) return v.payload_length;
      const std::uint32_t most = v.has_rendezvous_ext() ? v.rendezvous.eager_length : v.request_length;
      return std::min<std::size_t>({payload_mtu, v.request_length, most});
    }
    case kAtomic:
    case kFetchingAtomic:
    case kTsendAtomic:
    case kTsendFetchAtomic:
      // Operands in the extension count in the request_length, but are no payload.
      return is_compare_and_swap(v.atomic.opcode) ? 0 : std::min<std::size_t>(payload_mtu, v.request_length);
    default:
      return std::nullopt;
  }
}

std::optional<std::size_t> expected_payload(const Ses& ses, std::size_t payload_mtu) noexcept {
  if (const auto* const request = std::get_if<SesRequestValues>(&ses)) return expected_payload(*request, payload_mtu);
  if (const auto* const response = std::get_if<SesResponseValues>(&ses))
    return response->form == NextHdr::kResponse ? 0 : std::size_t{response->payload_length};
  return 0;
}

}  // namespace railyard::uet
