-- Ultra Ethernet Transport for Wireshark and tshark: PDS, SES and TSS headers, and the CRC behind them. README.md says
-- how to use it. Layouts and names are those of transports/uet/wire/; a test compares every field with what
-- `railyard decode` says of the same packet.

-- A Wireshark that has a dissector of its own keeps the name.
local prefix = "uet"
local made, uet = pcall(Proto, prefix, "Ultra Ethernet Transport")
if not made then
  prefix = "uetlua"
  uet = Proto(prefix, "Ultra Ethernet Transport (railyard)")
end

local fields = {}
local function add_field(path, make, ...)
  fields[path] = make(prefix .. "." .. path, path:match("[^.]+$"), ...)
end
local function numbers(make, base_of, ...)
  for _, path in ipairs({ ... }) do add_field(path, make, base_of) end
end
local function masked(make, mask_of)
  for path, mask in pairs(mask_of) do add_field(path, make, base.DEC, nil, mask) end
end
local function texts(...)
  for _, path in ipairs({ ... }) do add_field(path, ProtoField.string) end
end

local script = debug.getinfo(1, "S").source:gsub("^@", "")
local folder = script:match("^(.*[/\\])") or ""
local names, crc32c = dofile(folder .. "uet_names.lua"), dofile(folder .. "uet_crc.lua")

-- The prologue, then the PDS headers.
masked(ProtoField.uint16, { type = 0xF800, next_hdr = 0x0780, flags = 0x007F, pdc_info = 0xF000, psn_offset = 0x0FFF })
masked(ProtoField.uint8, { retx = 0x10, ar = 0x08, syn = 0x04, m = 0x20, p = 0x08, nt = 0x08, isrod = 0x20, req = 0x06,
  cc_type = 0xF0, cc_flags = 0x0F, ccx_type = 0xF0, ccx_flags = 0x0F, restore_cwnd = 0x80, rcv_cwnd_pend = 0x7F,
  nccx_type = 0xF0 })
numbers(ProtoField.uint8, base.DEC, "nack_code", "vendor_code", "ccc_id", "mpr", "crc_ok")
numbers(ProtoField.uint16, base.DEC, "entropy", "spdcid", "dpdcid", "probe_opaque", "service_time", "ooo_count")
numbers(ProtoField.int16, base.DEC, "clear_psn_offset", "ack_psn_offset", "sack_psn_offset")
numbers(ProtoField.uint24, base.DEC, "credit_target", "credit", "rcvd_bytes")
numbers(ProtoField.uint32, base.DEC, "psn", "cack_psn", "nack_psn", "nack_pkt_id", "pkt_id", "payload", "clear_psn",
  "start_psn", "ack_psn", "sack_base", "expected_psn", "encrypted", "payload_octets")
numbers(ProtoField.uint32, base.HEX, "crc")
numbers(ProtoField.uint64, base.HEX, "sack_bitmap", "ack_cc_state")
texts("pds", "next", "ctl_type", "request", "cc", "nack", "ack_ccx_state", "nccx_state", "error")
-- TSS.
masked(ProtoField.uint8, { ["tss.an"] = 0x01 })
numbers(ProtoField.uint24, base.DEC, "tss.sdi")
numbers(ProtoField.uint32, base.DEC, "tss.ssi")
numbers(ProtoField.uint16, base.DEC, "tss.epoch")
numbers(ProtoField.uint64, base.DEC, "tss.counter")
-- SES.
masked(ProtoField.uint8, { ["ses.opcode"] = 0x3F, ["ses.list"] = 0xC0, ["ses.ver"] = 0xC0, ["ses.return_code"] = 0x3F,
  ["ses.dc"] = 0x20, ["ses.ie"] = 0x10, ["ses.rel"] = 0x08, ["ses.hd"] = 0x04, ["ses.eom"] = 0x02, ["ses.som"] = 0x01 })
masked(ProtoField.uint16, { ["ses.pid_on_fep"] = 0x0FFF, ["ses.resource_index"] = 0x0FFF,
  ["ses.payload_length"] = 0x3FFF,
  ["ses.rendezvous.pid_on_fep"] = 0xFFF0, ["ses.rendezvous.resource_index"] = 0x0FFF })
numbers(ProtoField.uint8, base.DEC, "ses.ri_generation", "ses.atomic.atomic_opcode", "ses.atomic.atomic_datatype",
  "ses.atomic.semantic_control", "ses.rendezvous.ri_generation")
numbers(ProtoField.uint16, base.DEC, "ses.message_id", "ses.response_message_id", "ses.read_request_message_id")
numbers(ProtoField.uint24, base.DEC, "ses.job_id")
numbers(ProtoField.uint32, base.DEC, "ses.initiator", "ses.request_length", "ses.message_offset", "ses.modified_length",
  "ses.original_request_psn", "ses.initiator_restart_token", "ses.target_restart_token", "ses.rendezvous.eager_length")
numbers(ProtoField.uint64, base.HEX, "ses.buffer_offset", "ses.match_bits", "ses.memory_key", "ses.header_data",
  "ses.rendezvous.read_offset", "ses.rendezvous.read_memory_key")
texts("ses.operation", "ses.rc", "ses.list_name", "ses.atomic.operation", "ses.atomic.datatype",
  "ses.atomic.compare_value", "ses.atomic.swap_value")

local all = {}
for _, field in pairs(fields) do all[#all + 1] = field end
uet.fields = all
local malformed = ProtoExpert.new(prefix .. ".malformed", "Malformed", expert.group.MALFORMED, expert.severity.ERROR)
local wrong_crc = ProtoExpert.new(prefix .. ".crc.wrong", "Wrong CRC", expert.group.CHECKSUM, expert.severity.ERROR)
uet.experts = { malformed, wrong_crc }

local CRC_NONE, CRC_MSB_FIRST, CRC_LSB_FIRST = 0, 1, 2
uet.prefs.udp_port = Pref.uint("UDP port", 4793, "UDP destination port")
uet.prefs.ip_protocol = Pref.uint("IP protocol", 253, "IP protocol of packets without UDP")
uet.prefs.crc = Pref.enum("CRC", CRC_MSB_FIRST, "CRC at the end of packets: none, or its byte order", {
  { 1, "none", CRC_NONE }, { 2, "msb-first", CRC_MSB_FIRST }, { 3, "lsb-first", CRC_LSB_FIRST } }, false)
uet.prefs.icv = Pref.uint("ICV bytes", 16, "Length of the ICV at the end of encrypted packets")
uet.prefs.trimmed_dscp = Pref.string("DSCP of trimmed packets", "", "Empty: no DSCP marks trimmed packets")
uet.prefs.ref_prov = Pref.bool("Reference provider's dialect", false, "Decode the reference provider's deviations")

-- One packet: its octets, the tree they are shown in, and what is said of them.
local Packet = {}
Packet.__index = Packet

function Packet:show(path, at, octets) self.tree:add(fields[path], self.octets(at, octets)) end
-- Several: { path, at, octets }, ...
function Packet:show_all(list) for _, one in ipairs(list) do self:show(one[1], one[2], one[3]) end end
-- Bits of one octet, or of `octets`.
function Packet:flags(at, ...) for _, path in ipairs({ ... }) do self:show(path, at, 1) end end
-- What follows from other fields.
function Packet:derived(path, value) self.tree:add(fields[path], value):set_generated() end
-- A number, and beside it its name, if it has one.
function Packet:named(path, name_path, at, octets, number, name_of)
  self:show(path, at, octets)
  local name = name_of[number]
  if name then self:derived(name_path, name) end
  return name
end
function Packet:hex(path, at, octets, skip)
  local digits = tostring(self.octets(at, octets):bytes()):lower():sub(1 + (skip or 0))
  self.tree:add(fields[path], self.octets(at, octets), "0x" .. digits)
end
function Packet:bits(at, octets, first, width) return self.octets(at, octets):bitfield(first, width) end
function Packet:u32(at) return self.octets(at, 4):uint() end
function Packet:has(octets) return self.octets:len() >= octets end
function Packet:fail(reason)
  if self.parent then return self.parent:fail(reason) end
  if self.failed then return false end
  self.failed = true
  self.tree:add(fields.error, reason):set_generated()
  self.tree:add_proto_expert_info(malformed, "Malformed: " .. reason)
  return false
end
-- Octets that were announced; a packet that ends before is malformed.
function Packet:need(octets) return self:has(octets) or self:fail("headers_cut") end

local function psn_at(psn, offset) return (psn + offset) % 4294967296 end

function Packet:dpdcid(syn, psn)
  if not syn then return self:show("dpdcid", 10, 2) end
  self:show_all({ { "pdc_info", 10, 2 }, { "psn_offset", 10, 2 } })
  self:derived("start_psn", psn_at(psn, -self:bits(10, 2, 4, 12)))
end

function Packet:pds_request(cc)
  local octets = cc and 16 or 12
  if not self:need(octets) then return end
  local psn = self:u32(4)
  self:flags(1, "retx", "ar", "syn")
  self:show("clear_psn_offset", 2, 2)
  self:derived("clear_psn", psn_at(psn, self.octets(2, 2):int()))
  self:show_all({ { "psn", 4, 4 }, { "spdcid", 8, 2 } })
  self:dpdcid(self:bits(1, 1, 5, 1) == 1, psn)
  if cc then self:show_all({ { "ccc_id", 12, 1 }, { "credit_target", 13, 3 } }) end
  return octets
end

function Packet:ack_cc(ccx)
  if ccx then
    self:flags(12, "ccx_type", "ccx_flags")
  else
    self:named("cc_type", "cc", 12, 1, self:bits(12, 1, 0, 4), names.CC_TYPE)
    self:show("cc_flags", 12, 1)
  end
  self:show_all({ { "mpr", 13, 1 }, { "sack_psn_offset", 14, 2 }, { "sack_bitmap", 16, 8 } })
  self:derived("sack_base", psn_at(self:u32(4), self.octets(14, 2):int()))
  if ccx then return self:hex("ack_ccx_state", 24, 16) end
  self:show("ack_cc_state", 24, 8)
  local cc_type = self:bits(12, 1, 0, 4)
  if cc_type == 0 then
    self:show_all({ { "service_time", 24, 2 }, { "restore_cwnd", 26, 1 }, { "rcv_cwnd_pend", 26, 1 },
      { "rcvd_bytes", 27, 3 }, { "ooo_count", 30, 2 } })
  elseif cc_type == 1 then
    self:show_all({ { "credit", 24, 3 }, { "ooo_count", 30, 2 } })
  end
end

function Packet:pds_ack(kind)
  local octets = kind == 7 and 12 or kind == 8 and 32 or 40
  local expected = kind == 7 and uet.prefs.ref_prov and self:bits(1, 1, 1, 1) == 1
  if expected then octets = 16 end
  if not self:need(octets) then return end
  self:flags(1, "m", "retx", "p")
  self:named("req", "request", 1, 1, self:bits(1, 1, 5, 2), names.REQUEST)
  if self:bits(1, 1, 4, 1) == 1 then
    self:show("probe_opaque", 2, 2)
  else
    self:show("ack_psn_offset", 2, 2)
    self:derived("ack_psn", psn_at(self:u32(4), self.octets(2, 2):int()))
  end
  self:show_all({ { "cack_psn", 4, 4 }, { "spdcid", 8, 2 }, { "dpdcid", 10, 2 } })
  if expected then self:show("expected_psn", 12, 4) end
  if kind ~= 7 then self:ack_cc(kind == 9) end
  return octets
end

function Packet:pds_nack(ccx)
  local octets = ccx and 32 or 16
  if not self:need(octets) then return end
  self:flags(1, "m", "retx", "nt")
  self.info = self:named("nack_code", "nack", 2, 1, self.octets(2, 1):uint(), names.NACK_CODE)
  self:show("vendor_code", 3, 1)
  self:show(self:bits(1, 1, 4, 1) == 1 and "nack_pkt_id" or "nack_psn", 4, 4)
  self:show_all({ { "spdcid", 8, 2 }, { "dpdcid", 10, 2 }, { "payload", 12, 4 } })
  if ccx then
    self:show("nccx_type", 16, 1)
    self:hex("nccx_state", 16, 16, 1)
  end
  return octets
end

function Packet:pds_cp(ctl_type)
  if not names.CTL_TYPE[ctl_type] then return self:fail("reserved_ctl_type") end
  if not self:need(16) then return end
  self.info = names.CTL_TYPE[ctl_type]
  self:flags(1, "isrod", "retx", "ar", "syn")
  self:show_all({ { "probe_opaque", 2, 2 }, { "psn", 4, 4 }, { "spdcid", 8, 2 } })
  self:dpdcid(self:bits(1, 1, 5, 1) == 1, self:u32(4))
  self:show("payload", 12, 4)
  if ctl_type == 7 then self:show("credit", 12, 3) end
  if ctl_type == 8 then self:show_all({ { "ccc_id", 12, 1 }, { "credit_target", 13, 3 } }) end
  return 16
end

function Packet:pds_rudi(response)
  if not self:need(8) then return end
  if response then self:show("m", 1, 1) end
  self:show_all({ { "retx", 1, 1 }, { "pkt_id", 4, 4 } })
  return 8
end

-- Whether a header of this type may say that `next` follows.
local function allowed_after(kind, next)
  local request, data = next >= 1 and next <= 3, next == 5 or next == 6
  if kind == 2 or kind == 3 or kind == 13 or kind == 14 then return request or data end
  if kind == 4 or kind == 6 then return request end
  if kind == 5 then return next == 4 or data end
  if kind >= 7 and kind <= 9 then return next == 0 or next == 4 or data end
  return next == 0
end

-- The PDS header; returns its octets and which SES header follows, nothing if it is malformed.
function Packet:pds()
  if not self:has(2) then return self:fail("too_short") end
  local kind, next, flags = self:bits(0, 2, 0, 5), self:bits(0, 2, 5, 4), self:bits(0, 2, 9, 7)
  self:named("type", "pds", 0, 2, kind, names.TYPE)
  self:show_all({ { "next_hdr", 0, 2 }, { "flags", 0, 2 } })
  local next_name = (kind == 11 and names.CTL_TYPE or names.NEXT)[next]
  if next_name then self:derived(kind == 11 and "ctl_type" or "next", next_name) end
  self.kind = names.TYPE[kind] or ("type " .. kind)
  if not names.TYPE[kind] then return self:fail("reserved_type") end
  if kind == 11 then return self:pds_cp(next), 0 end
  if not allowed_after(kind, next) then return self:fail("bad_next_hdr") end
  local octets
  if kind == 2 or kind == 3 or kind == 13 or kind == 14 then
    octets = self:pds_request(kind > 3)
  elseif kind >= 7 and kind <= 9 then
    octets = self:pds_ack(kind)
  elseif kind == 10 or kind == 12 then
    octets = self:pds_nack(kind == 12)
  elseif kind == 4 or kind == 5 then
    octets = self:pds_rudi(kind == 5)
  else
    octets = self:need(4) and 4
  end
  return octets, next, flags
end

local function is_send(opcode) return opcode >= 5 and opcode <= 11 end
local function is_tagged(opcode)
  return opcode == 9 or opcode == 10 or opcode == 11 or opcode == 13 or opcode == 14
end
local function is_deferrable(opcode) return opcode == 8 or opcode == 11 end
local function is_atomic(opcode) return opcode == 3 or opcode == 4 or opcode == 13 or opcode == 14 end
local function is_rendezvous(opcode) return opcode == 6 or opcode == 10 end
local RTR = 12

function Packet:ses_std(opcode, som)
  if is_deferrable(opcode) then
    self:show_all({ { "ses.initiator_restart_token", 12, 4 }, { "ses.target_restart_token", 16, 4 } })
  else
    self:show("ses.buffer_offset", 12, 8)
  end
  self:show("ses.initiator", 20, 4)
  if opcode == RTR then
    local own_first = uet.prefs.ref_prov
    self:show("ses.initiator_restart_token", own_first and 28 or 24, 4)
    self:show("ses.target_restart_token", own_first and 24 or 28, 4)
  else
    self:show(is_tagged(opcode) and "ses.match_bits" or "ses.memory_key", 24, 8)
  end
  if som then
    self:show("ses.header_data", 32, 8)
  else
    self:show_all({ { "ses.payload_length", 34, 2 }, { "ses.message_offset", 36, 4 } })
  end
  self:show("ses.request_length", 40, 4)
end

function Packet:ses_medium(opcode)
  self:show(is_send(opcode) and "ses.header_data" or "ses.buffer_offset", 12, 8)
  self:show_all({ { "ses.initiator", 20, 4 }, { is_tagged(opcode) and "ses.match_bits" or "ses.memory_key", 24, 8 } })
end

-- Whether the extension at `at` is all there; what ends within it is not shown.
function Packet:has_extension(at, opcode, som)
  if is_rendezvous(opcode) and som then return self:need(at + 24) end
  if not is_atomic(opcode) then return true end
  return self:need(at + 4) and (not names.SWAPS[self.octets(at, 1):uint()] or self:need(at + 36))
end

-- Shows it; returns where it ends, and whether it brings the operands along.
function Packet:ses_extension(at, opcode, som)
  if is_atomic(opcode) then
    local operation = self.octets(at, 1):uint()
    self:named("ses.atomic.atomic_opcode", "ses.atomic.operation", at, 1, operation, names.ATOMIC_OPCODE)
    self:named("ses.atomic.atomic_datatype", "ses.atomic.datatype", at + 1, 1, self.octets(at + 1, 1):uint(),
      names.DATATYPE)
    self:show("ses.atomic.semantic_control", at + 2, 1)
    if not names.SWAPS[operation] then return at + 4 end
    self:hex("ses.atomic.compare_value", at + 4, 16)
    self:hex("ses.atomic.swap_value", at + 20, 16)
    return at + 36, true
  end
  if not (is_rendezvous(opcode) and som) then return at end
  local rendezvous = "ses.rendezvous."
  self:show_all({ { rendezvous .. "eager_length", at, 4 }, { rendezvous .. "ri_generation", at + 4, 1 },
    { rendezvous .. "pid_on_fep", at + 5, 2 }, { rendezvous .. "resource_index", at + 6, 2 },
    { rendezvous .. "read_offset", at + 8, 8 }, { rendezvous .. "read_memory_key", at + 16, 8 } })
  return at + 24
end

-- A request header of form `next`; returns its octets and the payload it wants ("any" if that cannot be said).
function Packet:ses_request(next)
  local fixed = next == 1 and 20 or next == 2 and 32 or 44
  if not self:need(fixed) then return end
  local opcode, som, eom = self:bits(0, 1, 2, 6), self:bits(1, 1, 7, 1) == 1, self:bits(1, 1, 6, 1) == 1
  if not self:has_extension(fixed, opcode, som) then return end
  self.info = self:named("ses.opcode", "ses.operation", 0, 1, opcode, names.OPCODE)
  self:flags(1, "ses.ver", "ses.dc", "ses.ie", "ses.rel", "ses.hd", "ses.eom", "ses.som")
  if next == 3 then self:show("ses.message_id", 2, 2) end
  self:show_all({ { "ses.ri_generation", 4, 1 }, { "ses.job_id", 5, 3 }, { "ses.pid_on_fep", 8, 2 },
    { "ses.resource_index", 10, 2 } })
  local length
  if next == 3 then
    self:ses_std(opcode, som)
    length = self:u32(40)
  else
    length = self:bits(2, 2, 2, 14)
    if next == 2 then self:ses_medium(opcode) else self:show("ses.buffer_offset", 12, 8) end
    self.tree:add(fields["ses.request_length"], self.octets(2, 2), length)
  end
  local octets, swap = self:ses_extension(fixed, opcode, som)
  return octets, self:wanted(opcode, next, som, eom, length, swap, fixed)
end

-- How much payload there has to be, and whether less will do: the first of several packets has as much as the MTU.
function Packet:wanted(opcode, next, som, eom, length, swap, fixed)
  local less = som and not eom
  if opcode == 2 or opcode == RTR or opcode == 15 then return 0, less end
  if is_atomic(opcode) then return swap and 0 or length, less end
  if opcode ~= 1 and not is_send(opcode) then return "any" end
  if next == 3 and not som then return self:bits(34, 2, 2, 14), false end
  if is_rendezvous(opcode) and som then return math.min(length, self:u32(fixed)), less end
  return length, less
end

function Packet:ses_response(next)
  local octets = next == 5 and 20 or 12
  if not self:need(octets) then return end
  self:named("ses.list", "ses.list_name", 0, 1, self:bits(0, 1, 0, 2), names.LIST)
  local operation = self:named("ses.opcode", "ses.operation", 0, 1, self:bits(0, 1, 2, 6), names.RESPONSE_OPCODE)
  self:show("ses.ver", 1, 1)
  local code = self:named("ses.return_code", "ses.rc", 1, 1, self:bits(1, 1, 2, 6), names.RETURN_CODE)
  self.info = (operation or "reserved") .. " " .. (code or "reserved")
  self:show("ses.job_id", 5, 3)
  if next == 4 then
    self:show_all({ { "ses.message_id", 2, 2 }, { "ses.ri_generation", 4, 1 }, { "ses.modified_length", 8, 4 } })
    return octets, 0
  elseif next == 5 then
    self:show_all({ { "ses.response_message_id", 2, 2 }, { "ses.read_request_message_id", 8, 2 },
      { "ses.payload_length", 10, 2 }, { "ses.modified_length", 12, 4 }, { "ses.message_offset", 16, 4 } })
    return octets, self:bits(10, 2, 2, 14)
  end
  self:show_all({ { "ses.payload_length", 2, 2 }, { "ses.original_request_psn", 8, 4 } })
  return octets, self:bits(2, 2, 2, 14)
end

-- Where the headers begin in the octets that were captured, and how many of them are the packet's.
function Packet:start_at(tvb, at, octets) self.octets = tvb(at, octets):tvb() end

-- What follows octet `at` as a packet of its own, in a tree of its own; nothing if nothing follows.
function Packet:sub(at, title)
  if self.octets:len() <= at then return end
  local octets = self.octets(at):tvb()
  return setmetatable({ octets = octets, tree = self.tree:add(uet, octets(), title), parent = self }, Packet)
end

function Packet:tss(length)
  self.tree:add(fields.type, self.octets(0, 1), 0x0800)
  self:derived("pds", names.TYPE[1])
  if not self:need(12) then return end
  local ssi = self:bits(0, 1, 5, 1) == 1 and 4 or 0
  if not self:need(12 + ssi) then return end
  self:show_all({ { "tss.an", 0, 1 }, { "tss.sdi", 1, 3 } })
  if ssi > 0 then self:show("tss.ssi", 4, 4) end
  self:show("tss.epoch", 4 + ssi, 2)
  self.tree:add(fields["tss.counter"], self.octets(6 + ssi, 6), self.octets(6 + ssi, 6):uint64())
  local encrypted = length - 12 - ssi - uet.prefs.icv
  if encrypted < 0 then return self:fail("too_short") end
  self:derived("encrypted", encrypted)
end

local ip_field, ipv6_field, udp_field = Field.new("ip"), Field.new("ipv6"), Field.new("udp")
local udp_length_field = Field.new("udp.length")
local dscp_field, dscp6_field = Field.new("ip.dsfield.dscp"), Field.new("ipv6.tclass.dscp")
local function innermost(field)
  local found = { field() }
  return found[#found]
end

-- What the CRC covers: from the source address in the IP header to the last octet before it.
local function covered(tvb, over_udp)
  local ip, from = innermost(ip_field), 12
  if not ip then ip, from = innermost(ipv6_field), 8 end
  if not ip then return end
  local parts = { ip.range:bytes():subset(from, ip.len - from) }
  if over_udp then parts[2] = innermost(udp_field).range:bytes():subset(0, 8) end
  parts[#parts + 1] = tvb(0, tvb:len() - 4):bytes()
  return parts
end

-- The CRC at the end; returns the octets before it, nothing if there is no room for it.
function Packet:crc(tvb, length, over_udp)
  if uet.prefs.crc == CRC_NONE then return length end
  if length < 4 then return self:fail("too_short") end
  if tvb:len() == tvb:reported_len() then
    self.tree:add(fields.crc, tvb(tvb:len() - 4, 4))
    local parts = covered(tvb, over_udp)
    if parts then
      local sent = uet.prefs.crc == CRC_MSB_FIRST and tvb(tvb:len() - 4, 4):uint() or tvb(tvb:len() - 4, 4):le_uint()
      local right = bit.tobit(sent) == bit.tobit(crc32c(parts))
      self:derived("crc_ok", right and 1 or 0)
      if not right then self.tree:add_proto_expert_info(wrong_crc) end
    end
  end
  return length - 4
end

-- A switch that trims leaves UDP's length as it was.
local function is_trimmed(tvb, over_udp)
  local dscp = innermost(dscp_field) or innermost(dscp6_field)
  if dscp ~= nil and tonumber(uet.prefs.trimmed_dscp) == dscp.value then return true end
  local whole = over_udp and innermost(udp_length_field)
  return whole and whole.value > tvb:reported_len() + 8
end

-- Behind the PDS header: the SES header in a tree of its own, and how much payload is left.
function Packet:rest(at, next, length, trimmed)
  self.failed = trimmed
  local octets, wanted, less = 0, 0, false
  if next ~= 0 then
    local ses = self:sub(at, names.NEXT[next])
    if not ses then return self:fail("headers_cut") end
    if next <= 3 then octets, wanted, less = ses:ses_request(next) else octets, wanted = ses:ses_response(next) end
    if not octets then return end
    self.info = ses.info
    if ses:bits(1, 1, 0, 2) ~= 0 then self:fail("bad_version") end
  end
  if trimmed then return end
  local payload = length - at - octets
  self:derived("payload_octets", payload)
  local fits = wanted == "any" or payload == wanted or (less and payload < wanted)
  if not fits then self:fail("bad_payload_length") end
end

-- `at`: where the TSS or PDS header begins in `tvb`, which is all behind UDP or IP.
local function dissect(tvb, at, over_udp, entropy, pinfo, root)
  pinfo.cols.protocol = "UET"
  local tree = root:add(uet, tvb())
  local packet = setmetatable({ tree = tree, octets = tvb }, Packet)
  if over_udp then packet:derived("entropy", entropy) else packet:show("entropy", 0, 2) end
  local length, trimmed = tvb:reported_len() - at, is_trimmed(tvb, over_udp)
  if tvb:len() > at and tvb(at, 1):bitfield(0, 5) == 1 then
    packet:start_at(tvb, at, tvb:len() - at)
    packet:tss(length)
    pinfo.cols.info = "TSS"
    return
  end
  local before = trimmed and length or packet:crc(tvb, length, over_udp)
  if not before then return end
  if before == 0 or tvb:len() <= at then return packet:fail("too_short") end
  packet:start_at(tvb, at, math.min(before, tvb:len() - at))
  local octets, next = packet:pds()
  if octets then packet:rest(octets, next, before, trimmed) end
  pinfo.cols.info = (packet.kind or "?") .. (packet.info and " " .. packet.info or "")
end

function uet.dissector(tvb, pinfo, root) dissect(tvb, 0, true, pinfo.src_port, pinfo, root) end

-- Without UDP: behind the entropy header. The number is anybody's: what is too short for one is somebody else's.
local native = Proto(prefix .. "_native", "Ultra Ethernet Transport over IP")
function native.dissector(tvb, pinfo, root)
  if tvb:len() < 4 then return 0 end
  dissect(tvb, 4, false, nil, pinfo, root)
end

local registered = {}
local function register()
  local udp, ip = DissectorTable.get("udp.port"), DissectorTable.get("ip.proto")
  if registered.port then udp:remove(registered.port, uet) end
  if registered.protocol then ip:remove(registered.protocol, native) end
  registered = { port = uet.prefs.udp_port, protocol = uet.prefs.ip_protocol }
  udp:add(registered.port, uet)
  ip:add(registered.protocol, native)
end
uet.prefs_changed = register
register()
