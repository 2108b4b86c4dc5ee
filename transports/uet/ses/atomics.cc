#include "transports/uet/ses/atomics.h"

#include <bit>
#include <concepts>
#include <cstring>
#include <type_traits>

namespace railyard::uet {
namespace {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                  std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                                     std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

template <class T>
T value_of(std::uint64_t bits) noexcept {
  return std::bit_cast<T>(static_cast<BitsOf<T>>(bits));
}
template <class T>
std::uint64_t bits_of(T value) noexcept {
  return std::bit_cast<BitsOf<T>>(value);
}

// Integers wrap: in their unsigned type, and wide enough that they are not promoted to int.
template <class T, class Operation>
T arithmetic(T a, T b, Operation operation) noexcept {
  if constexpr (std::floating_point<T>) {
    return operation(a, b);
  } else {
    return static_cast<T>(operation(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  }
}

// False: there is no such operation for this type.
template <class T>
bool result(AtomicOpcode opcode, T before, T operand, T compare, T& after) noexcept {
  using enum AtomicOpcode;
  switch (opcode) {
    case kMin:
      after = operand < before ? operand : before;
      return true;
    case kMax:
      after = before < operand ? operand : before;
      return true;
    case kSum:
      after = arithmetic(before, operand, [](auto a, auto b) { return a + b; });
      return true;
    case kDiff:
      after = arithmetic(before, operand, [](auto a, auto b) { return a - b; });
      return true;
    case kProd:
      after = arithmetic(before, operand, [](auto a, auto b) { return a * b; });
      return true;
    case kLor:
      after = static_cast<T>(before != T{} || operand != T{});
      return true;
    case kLand:
      after = static_cast<T>(before != T{} && operand != T{});
      return true;
    case kLxor:
      after = static_cast<T>((before != T{}) != (operand != T{}));
      return true;
    case kRead:
      after = before;
      return true;
    case kWrite:
      after = operand;
      return true;
    // The value is swapped if the comparison of `compare` with it holds, as libfabric's FI_CSWAP family has it.
    case kCswap:
      after = compare == before ? operand : before;
      return true;
    case kCswapNe:
      after = compare != before ? operand : before;
      return true;
    case kCswapLe:
      after = compare <= before ? operand : before;
      return true;
    case kCswapLt:
      after = compare < before ? operand : before;
      return true;
    case kCswapGe:
      after = compare >= before ? operand : before;
      return true;
    case kCswapGt:
      after = compare > before ? operand : before;
      return true;
    default:
      break;
  }
  if constexpr (std::integral<T>) {
    switch (opcode) {
      case kBor:
        after = static_cast<T>(before | operand);
        return true;
      case kBand:
        after = static_cast<T>(before & operand);
        return true;
      case kBxor:
        after = static_cast<T>(before ^ operand);
        return true;
      case kMswap:
        after = static_cast<T>((operand & compare) | (before & ~compare));
        return true;
      default:
        break;
    }
  }
  return false;
}

template <class T>
std::expected<std::uint64_t, ReturnCode> apply(AtomicOpcode opcode, std::byte* at, std::uint64_t operand,
                                               std::uint64_t compare) noexcept {
  T before{}, after{};
  std::memcpy(&before, at, sizeof(T));
  if (!result<T>(opcode, before, value_of<T>(operand), value_of<T>(compare), after))
    return std::unexpected(ReturnCode::kAmoUnsupportedOp);
  std::memcpy(at, &after, sizeof(T));
  return bits_of(before);
}

}  // namespace

std::uint32_t octets_of(AtomicDatatype type) noexcept {
  using enum AtomicDatatype;
  switch (type) {
    case kInt8:
    case kUint8:
      return 1;
    case kInt16:
    case kUint16:
      return 2;
    case kInt32:
    case kUint32:
    case kFloat:
      return 4;
    case kInt64:
    case kUint64:
    case kDouble:
      return 8;
    default:
      return 0;
  }
}

std::expected<std::uint64_t, ReturnCode> apply_atomic(AtomicOpcode opcode, AtomicDatatype type, std::byte* at,
                                                      std::uint64_t operand, std::uint64_t compare) noexcept {
  using enum AtomicDatatype;
  switch (type) {
    case kInt8:
      return apply<std::int8_t>(opcode, at, operand, compare);
    case kUint8:
      return apply<std::uint8_t>(opcode, at, operand, compare);
    case kInt16:
      return apply<std::int16_t>(opcode, at, operand, compare);
    case kUint16:
      return apply<std::uint16_t>(opcode, at, operand, compare);
    case kInt32:
      return apply<std::int32_t>(opcode, at, operand, compare);
    case kUint32:
      return apply<std::uint32_t>(opcode, at, operand, compare);
    case kInt64:
      return apply<std::int64_t>(opcode, at, operand, compare);
    case kUint64:
      return apply<std::uint64_t>(opcode, at, operand, compare);
    case kFloat:
      return apply<float>(opcode, at, operand, compare);
    case kDouble:
      return apply<double>(opcode, at, operand, compare);
    default:
      return std::unexpected(ReturnCode::kAmoUnsupportedDt);
  }
}

}  // namespace railyard::uet
