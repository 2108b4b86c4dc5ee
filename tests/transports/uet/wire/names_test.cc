// The enumerations against the tables of the UET page: numbers and names.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "transports/uet/wire/packet.h"

namespace railyard::uet {
namespace {

// The names of 0, 1, ... `count`-1, "-" for what has none.
template <class Enum>
std::string names(unsigned first, unsigned count) {
  std::string all;
  for (unsigned number = first; number < first + count; ++number) {
    const std::string_view of = name(static_cast<Enum>(number));
    all += (all.empty() ? "" : " ") + std::string(of.empty() ? "-" : of);
  }
  return all;
}

TEST(UetNames, OfThePds) {
  EXPECT_EQ(names<PdsType>(0, 17),
            "- TSS RUD_REQ ROD_REQ RUDI_REQ RUDI_RESP UUD_REQ ACK ACK_CC ACK_CCX NACK CP NACK_CCX RUD_CC_REQ "
            "ROD_CC_REQ - -");
  EXPECT_EQ(names<NextHdr>(0, 8),
            "NONE REQUEST_SMALL REQUEST_MEDIUM REQUEST_STD RESPONSE RESPONSE_DATA RESPONSE_DATA_SMALL -");
  EXPECT_EQ(names<CtlType>(0, 11),
            "NOOP ACK_REQ CLEAR_CMD CLEAR_REQ CLOSE_CMD CLOSE_REQ PROBE CREDIT CREDIT_REQ NEGOTIATION -");
  EXPECT_EQ(names<NackCode>(0, 28),
            "- TRIMMED TRIMMED_LASTHOP TRIMMED_ACK NO_PDC_AVAIL NO_CCC_AVAIL NO_BITMAP NO_PKT_BUFFER NO_GTD_DEL_AVAIL "
            "NO_SES_MSG_AVAIL NO_RESOURCE PSN_OOR_WINDOW - ROD_OOO INV_DPDCID PDC_HDR_MISMATCH CLOSING CLOSING_IN_ERR "
            "PKT_NOT_RCVD GTD_RESP_UNAVAIL ACK_WITH_DATA INVALID_SYN PDC_MODE_MISMATCH NEW_START_PSN RCVD_SES_PROCG "
            "UNEXP_EVENT RCVR_INFER_LOSS -");
  EXPECT_EQ(names<NackCode>(0xFC, 4), "- EXP_NACK_NORMAL EXP_NACK_ERR EXP_NACK_FATAL");
  EXPECT_EQ(names<CcType>(0, 3), "NSCC CREDIT -");
  EXPECT_EQ(names<AckRequest>(0, 4), "- REQ_CLEAR REQ_CLOSE -");
  EXPECT_EQ(names<DeliveryMode>(0, 4), "RUD ROD RUDI UUD");
}

TEST(UetNames, OfTheSes) {
  EXPECT_EQ(names<SesOpcode>(0, 18),
            "NO_OP WRITE READ ATOMIC FETCHING_ATOMIC SEND RENDEZVOUS_SEND DATAGRAM_SEND DEFERRABLE_SEND TAGGED_SEND "
            "RENDEZVOUS_TSEND DEFERRABLE_TSEND DEFERRABLE_RTR TSEND_ATOMIC TSEND_FETCH_ATOMIC MSG_ERROR - -");
  EXPECT_EQ(names<SesOpcode>(0x2F, 2), "- VENDOR");
  EXPECT_EQ(names<SesOpcode>(0x3E, 2), "VENDOR EXTENDED");
  EXPECT_EQ(names<SesResponseOpcode>(0, 5), "DEFAULT_RESPONSE RESPONSE RESPONSE_W_DATA NO_RESPONSE -");
  EXPECT_EQ(names<SesResponseOpcode>(0x3F, 1), "VENDOR");
  EXPECT_EQ(names<SesList>(0, 4), "EXPECTED OVERFLOW VENDOR VENDOR");
  EXPECT_EQ(names<ReturnCode>(0, 0x26),
            "NULL OK BAD_GENERATION DISABLED DISABLED_GEN NO_MATCH UNSUPPORTED_OP UNSUPPORTED_SIZE AT_INVALID AT_PERM "
            "AT_ATS_ERROR AT_NO_TRANS AT_OUT_OF_RANGE HOST_POISONED HOST_UNSUCCESS_CMPL AMO_UNSUPPORTED_OP "
            "AMO_UNSUPPORTED_DT AMO_UNSUPPORTED_SIZE AMO_UNALIGNED AMO_FP_NAN AMO_FP_UNDERFLOW AMO_FP_OVERFLOW "
            "AMO_FP_INEXACT PERM_VIOLATION OP_VIOLATION BAD_INDEX BAD_PID BAD_JOB_ID BAD_MKEY BAD_ADDR CANCELLED "
            "UNDELIVERABLE UNCOR UNCOR_TRNSNT TOO_LONG INITIATOR_ERROR DROPPED -");
  EXPECT_EQ(names<ReturnCode>(0x37, 2), "VENDOR -");
  EXPECT_EQ(names<ReturnCode>(0x3E, 2), "EXTENDED -");
  EXPECT_EQ(names<AtomicOpcode>(0, 22),
            "MIN MAX SUM DIFF PROD LOR LAND BOR BAND LXOR BXOR READ WRITE CSWAP CSWAP_NE CSWAP_LE CSWAP_LT CSWAP_GE "
            "CSWAP_GT MSWAP INVAL -");
  EXPECT_EQ(names<AtomicOpcode>(0xFE, 2), "VENDOR -");
  EXPECT_EQ(
      names<AtomicDatatype>(0, 19),
      "INT8 UINT8 INT16 UINT16 INT32 UINT32 INT64 UINT64 INT128 UINT128 FLOAT DOUBLE FLOAT_COMPLEX DOUBLE_COMPLEX "
      "LONG_DOUBLE LONG_DOUBLE_COMPLEX BF16 FP16 -");
}

}  // namespace
}  // namespace railyard::uet
