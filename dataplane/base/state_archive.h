// Values as octets and back: what processes that run one fabric together tell each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dataplane/base/counter.h"

namespace railyard {

class StateArchive;

template <class T>
concept ExchangesItself = requires(T& value, StateArchive& archive) { value.exchange(archive); };
template <class T>
concept ExchangedByFunction = requires(T& value, StateArchive& archive) { exchange(archive, value); };

// One function of a type says what of it is told, for both directions: `archive(a_, b_)` writes them, or reads them in
// the same order. Plain values go octet by octet, so both ends must be the same program. Other types have a member
// exchange(StateArchive&), or a free function exchange(StateArchive&, T&).
class StateArchive {
 public:
  // Writes.
  StateArchive() = default;
  // Reads `from`, which outlives it. What ends too early is a std::runtime_error.
  explicit StateArchive(std::span<const std::byte> from) : from_(from), reads_(true) {}

  bool reads() const noexcept { return reads_; }
  // Of what is read: how much has not been read yet.
  std::size_t left() const noexcept { return from_.size(); }
  // What was written.
  const std::vector<std::byte>& written() const noexcept { return written_; }
  // Nothing was written; the memory stays.
  void clear() noexcept { written_.clear(); }
  std::vector<std::byte> take() noexcept { return std::exchange(written_, {}); }

  template <class... T>
  void operator()(T&... values) {
    (one(values), ...);
  }

  void octets(void* at, std::size_t n) {
    auto* const to = static_cast<std::byte*>(at);
    if (!reads_) {
      written_.insert(written_.end(), to, to + n);
      return;
    }
    if (n > from_.size()) throw std::runtime_error("what another process told of its devices ends too early");
    if (n > 0) std::memcpy(to, from_.data(), n);
    from_ = from_.subspan(n);
  }

 private:
  // A length; refused when read if so many octets cannot be left.
  std::size_t length(std::size_t n, std::size_t each) {
    auto length = static_cast<std::uint64_t>(n);
    octets(&length, sizeof length);
    if (reads_ && length > from_.size() / each)
      throw std::runtime_error("what another process told of its devices ends too early");
    return static_cast<std::size_t>(length);
  }

  template <class T>
  void one(T& value) {
    if constexpr (ExchangesItself<T>)
      value.exchange(*this);
    else if constexpr (ExchangedByFunction<T>)
      exchange(*this, value);
    else
      plain(value);
  }
  template <class T>
  void plain(T& value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>, "says how it is exchanged");
    octets(&value, sizeof value);
  }
  void one(Counter& counter) {
    std::uint64_t n = counter.read();
    octets(&n, sizeof n);
    if (reads_) counter.set(n);
  }
  void one(std::string& text) {
    text.resize(length(text.size(), 1));
    octets(text.data(), text.size());
  }
  template <class T>
  void one(std::vector<T>& values) {
    constexpr bool kPlain = std::is_trivially_copyable_v<T> && !ExchangesItself<T> && !ExchangedByFunction<T>;
    values.resize(length(values.size(), kPlain ? sizeof(T) : 1));
    if constexpr (kPlain)
      octets(values.data(), values.size() * sizeof(T));
    else
      for (T& v : values) one(v);
  }
  template <class T, std::size_t n>
  void one(std::array<T, n>& values) {
    if constexpr (std::is_trivially_copyable_v<T>)
      octets(values.data(), sizeof values);
    else
      for (T& v : values) one(v);
  }
  template <class T>
  void one(std::optional<T>& value) {
    bool has = value.has_value();
    plain(has);
    if (reads_) {
      if (has && !value)
        value.emplace();
      else if (!has)
        value.reset();
    }
    if (has) one(*value);
  }
  template <class K, class V>
  void one(std::map<K, V>& values) {
    std::size_t left = length(values.size(), 1);
    if (!reads_) {
      for (auto& [key, value] : values) {
        K copy = key;
        one(copy);
        one(value);
      }
      return;
    }
    for (values.clear(); left > 0; --left) {
      K key{};
      one(key);
      one(values[std::move(key)]);
    }
  }

  std::vector<std::byte> written_;
  std::span<const std::byte> from_;
  bool reads_ = false;
};

}  // namespace railyard
