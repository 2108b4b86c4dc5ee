#include "dataplane/packet/dpdk_log.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <rte_log.h>
#include <unistd.h>

namespace railyard {

DpdkLog::DpdkLog() : stream_(open_memstream(&text_, &octets_)) {
  if (stream_ == nullptr) return;
  rte_openlog_stream(stream_);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  std::fflush(stderr);
  standard_error_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  if (standard_error_ >= 0) dup2(nowhere, STDERR_FILENO);
  close(nowhere);
}

DpdkLog::~DpdkLog() {
  if (standard_error_ >= 0) {
    dup2(standard_error_, STDERR_FILENO);
    close(standard_error_);
  }
  if (stream_ == nullptr) return;
  rte_openlog_stream(nullptr);
  std::fclose(stream_);
  std::free(text_);
}

std::string DpdkLog::said() {
  if (stream_ == nullptr || std::fflush(stream_) != 0) return {};
  std::string_view rest(text_, octets_);
  std::string all;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (end > 0) all.append(all.empty() ? "; DPDK says: " : " | ").append(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return all;
}

}  // namespace railyard
