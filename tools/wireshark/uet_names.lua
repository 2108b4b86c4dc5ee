-- The names of all enumerations of Ultra Ethernet, for uet.lua: those of transports/uet/wire/names.cc.

local names = {}

-- Names by number; what is not there is reserved.
local function named_from(first, ...)
  local of = {}
  for i, name in ipairs({ ... }) do of[first + i - 1] = name end
  return of
end
local function range_of(of, first, last, name)
  for number = first, last do of[number] = name end
  return of
end

names.TYPE = named_from(1, "TSS", "RUD_REQ", "ROD_REQ", "RUDI_REQ", "RUDI_RESP", "UUD_REQ", "ACK", "ACK_CC", "ACK_CCX",
  "NACK", "CP", "NACK_CCX", "RUD_CC_REQ", "ROD_CC_REQ")
names.NEXT = named_from(0, "NONE", "REQUEST_SMALL", "REQUEST_MEDIUM", "REQUEST_STD", "RESPONSE", "RESPONSE_DATA",
  "RESPONSE_DATA_SMALL")
names.CTL_TYPE = named_from(0, "NOOP", "ACK_REQ", "CLEAR_CMD", "CLEAR_REQ", "CLOSE_CMD", "CLOSE_REQ", "PROBE",
  "CREDIT", "CREDIT_REQ", "NEGOTIATION")
names.REQUEST = named_from(1, "REQ_CLEAR", "REQ_CLOSE")
names.CC_TYPE = named_from(0, "NSCC", "CREDIT")
names.NACK_CODE = named_from(1, "TRIMMED", "TRIMMED_LASTHOP", "TRIMMED_ACK", "NO_PDC_AVAIL", "NO_CCC_AVAIL",
  "NO_BITMAP", "NO_PKT_BUFFER", "NO_GTD_DEL_AVAIL", "NO_SES_MSG_AVAIL", "NO_RESOURCE", "PSN_OOR_WINDOW")
for i, name in ipairs({ "ROD_OOO", "INV_DPDCID", "PDC_HDR_MISMATCH", "CLOSING", "CLOSING_IN_ERR", "PKT_NOT_RCVD",
  "GTD_RESP_UNAVAIL", "ACK_WITH_DATA", "INVALID_SYN", "PDC_MODE_MISMATCH", "NEW_START_PSN", "RCVD_SES_PROCG",
  "UNEXP_EVENT", "RCVR_INFER_LOSS" }) do
  names.NACK_CODE[0x0C + i] = name
end
for i, name in ipairs({ "EXP_NACK_NORMAL", "EXP_NACK_ERR", "EXP_NACK_FATAL" }) do names.NACK_CODE[0xFC + i] = name end
names.OPCODE = named_from(0, "NO_OP", "WRITE", "READ", "ATOMIC", "FETCHING_ATOMIC", "SEND", "RENDEZVOUS_SEND",
  "DATAGRAM_SEND", "DEFERRABLE_SEND", "TAGGED_SEND", "RENDEZVOUS_TSEND", "DEFERRABLE_TSEND", "DEFERRABLE_RTR",
  "TSEND_ATOMIC", "TSEND_FETCH_ATOMIC", "MSG_ERROR")
range_of(names.OPCODE, 0x30, 0x3E, "VENDOR")[0x3F] = "EXTENDED"
names.RESPONSE_OPCODE = range_of(
  named_from(0, "DEFAULT_RESPONSE", "RESPONSE", "RESPONSE_W_DATA", "NO_RESPONSE"), 0x30, 0x3F, "VENDOR")
names.LIST = named_from(0, "EXPECTED", "OVERFLOW", "VENDOR", "VENDOR")
names.RETURN_CODE = named_from(0, "NULL", "OK", "BAD_GENERATION", "DISABLED", "DISABLED_GEN", "NO_MATCH",
  "UNSUPPORTED_OP", "UNSUPPORTED_SIZE", "AT_INVALID", "AT_PERM", "AT_ATS_ERROR", "AT_NO_TRANS", "AT_OUT_OF_RANGE",
  "HOST_POISONED", "HOST_UNSUCCESS_CMPL", "AMO_UNSUPPORTED_OP", "AMO_UNSUPPORTED_DT", "AMO_UNSUPPORTED_SIZE",
  "AMO_UNALIGNED", "AMO_FP_NAN", "AMO_FP_UNDERFLOW", "AMO_FP_OVERFLOW", "AMO_FP_INEXACT", "PERM_VIOLATION",
  "OP_VIOLATION", "BAD_INDEX", "BAD_PID", "BAD_JOB_ID", "BAD_MKEY", "BAD_ADDR", "CANCELLED", "UNDELIVERABLE", "UNCOR",
  "UNCOR_TRNSNT", "TOO_LONG", "INITIATOR_ERROR", "DROPPED")
range_of(names.RETURN_CODE, 0x30, 0x37, "VENDOR")[0x3E] = "EXTENDED"
names.ATOMIC_OPCODE = range_of(named_from(0, "MIN", "MAX", "SUM", "DIFF", "PROD", "LOR", "LAND", "BOR", "BAND", "LXOR",
  "BXOR", "READ", "WRITE", "CSWAP", "CSWAP_NE", "CSWAP_LE", "CSWAP_LT", "CSWAP_GE", "CSWAP_GT", "MSWAP", "INVAL"),
  0xE0, 0xFE, "VENDOR")
-- Those whose operands are in the extension.
names.SWAPS = range_of({}, 0x0D, 0x13, true)
names.DATATYPE = range_of(named_from(0, "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64",
  "INT128", "UINT128", "FLOAT", "DOUBLE", "FLOAT_COMPLEX", "DOUBLE_COMPLEX", "LONG_DOUBLE", "LONG_DOUBLE_COMPLEX",
  "BF16", "FP16"), 0xE0, 0xFE, "VENDOR")

return names
