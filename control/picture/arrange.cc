#include "control/picture/arrange.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

namespace railyard::picture {
namespace {

using Things = std::vector<std::size_t>;

std::optional<double> mean(const Things& things, const std::vector<double>& of) {
  if (things.empty()) return std::nullopt;
  double sum = 0;
  for (const std::size_t t : things) sum += of[t];
  return sum / static_cast<double>(things.size());
}

void order_by(Things& row, const std::vector<Things>& neighbours, const std::vector<double>& rank) {
  std::vector<double> key(neighbours.size());
  for (const std::size_t t : row) key[t] = mean(neighbours[t], rank).value_or(std::numeric_limits<double>::max());
  std::stable_sort(row.begin(), row.end(), [&](std::size_t a, std::size_t b) { return key[a] < key[b]; });
}

class Placing {
 public:
  Placing(const Rows& rows, const std::vector<double>& extent, const std::vector<double>& space)
      : rows_(rows), extent_(extent), space_(space), centre_(extent.size()) {}

  std::vector<double> place() {
    std::size_t longest = 0;
    for (std::size_t r = 0; r < rows_.rows.size(); ++r) {
      if (const double l = length(rows_.rows[r]); l > longest_) {
        longest_ = l;
        longest = r;
      }
    }
    if (rows_.rows.empty()) return centre_;
    const Things& fixed = rows_.rows[longest];
    set(fixed, closest_apart(std::vector<double>(fixed.size()), apart(fixed, 0)));
    for (std::size_t r = longest; r-- > 0;) follow(rows_.rows[r], rows_.down);
    for (std::size_t r = longest + 1; r < rows_.rows.size(); ++r) follow(rows_.rows[r], rows_.up);
    return centre_;
  }

 private:
  double length(const Things& row) const {
    double sum = 0;
    for (const std::size_t t : row) sum += extent_[t] + space_[t];
    return row.empty() ? 0 : sum - space_[row.back()];
  }

  std::vector<double> apart(const Things& row, double more) const {
    std::vector<double> out;
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
      out.push_back((extent_[row[i]] + extent_[row[i + 1]]) / 2 + space_[row[i]] + more);
    return out;
  }

  void set(const Things& row, const std::vector<double>& centres) {
    for (std::size_t i = 0; i < row.size(); ++i) centre_[row[i]] = centres[i];
  }

  void follow(const Things& row, const std::vector<Things>& neighbours) {
    constexpr double kShort = 0.55;   // of the longest row
    constexpr double kSpread = 0.65;  // of the longest row
    constexpr double kMostMore = 150;
    if (row.empty()) return;
    std::vector<double> wanted;
    for (const std::size_t t : row)
      wanted.push_back(mean(neighbours[t], centre_).value_or(wanted.empty() ? 0 : wanted.back()));
    std::vector<double> centres = closest_apart(wanted, apart(row, 0));
    const double spread = kSpread * longest_ - length(row);
    if (row.size() > 1 && centres.back() - centres.front() < kShort * longest_ && spread > 0) {
      const double more = std::min(kMostMore, spread / static_cast<double>(row.size() - 1));
      centres = closest_apart(wanted, apart(row, more));
    }
    set(row, centres);
  }

  const Rows& rows_;
  const std::vector<double>& extent_;
  const std::vector<double>& space_;
  std::vector<double> centre_;
  double longest_ = 0;
};

}  // namespace

void order(Rows& rows, std::size_t fixed) {
  std::vector<double> rank(rows.up.size());
  const auto number = [&](const Things& row) {
    for (std::size_t i = 0; i < row.size(); ++i) rank[row[i]] = static_cast<double>(i);
  };
  if (rows.rows.empty()) return;
  number(rows.rows[fixed]);
  for (std::size_t r = fixed; r-- > 0;) {
    order_by(rows.rows[r], rows.down, rank);
    number(rows.rows[r]);
  }
  for (std::size_t r = fixed + 1; r < rows.rows.size(); ++r) {
    order_by(rows.rows[r], rows.up, rank);
    number(rows.rows[r]);
  }
}

std::vector<double> places(const Rows& rows, const std::vector<double>& extent, const std::vector<double>& space) {
  return Placing(rows, extent, space).place();
}

// With the distances taken off, the numbers need only not fall: isotonic regression, by pooling adjacent violators.
std::vector<double> closest_apart(const std::vector<double>& wanted, const std::vector<double>& apart) {
  struct Pool {
    double sum = 0;
    std::size_t n = 0;
    double mean() const { return sum / static_cast<double>(n); }
  };
  std::vector<double> offset(wanted.size());
  if (wanted.size() > 1) std::partial_sum(apart.begin(), apart.end(), offset.begin() + 1);
  std::vector<Pool> pools;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    pools.push_back({wanted[i] - offset[i], 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().sum += last.sum;
      pools.back().n += last.n;
    }
  }
  std::vector<double> out;
  for (const Pool& p : pools)
    for (std::size_t i = 0; i < p.n; ++i) out.push_back(p.mean() + offset[out.size()]);
  return out;
}

}  // namespace railyard::picture
