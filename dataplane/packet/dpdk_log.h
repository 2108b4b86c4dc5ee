// What DPDK has to say while it is asked for something that may fail.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace railyard {

// While it lives, DPDK's messages are kept instead of printed: the error that is reported can end with them. Some go
// past its log: what else arrives at standard error meanwhile is thrown away.
class DpdkLog {
 public:
  DpdkLog();
  ~DpdkLog();
  DpdkLog(const DpdkLog&) = delete;
  DpdkLog& operator=(const DpdkLog&) = delete;

  // "; DPDK says: ..." with everything in one line, or nothing.
  std::string said();

 private:
  char* text_ = nullptr;
  std::size_t octets_ = 0;
  std::FILE* stream_;
  int standard_error_ = -1;  // a copy of it, while it leads nowhere
};

}  // namespace railyard
