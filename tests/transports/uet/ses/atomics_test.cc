// Every atomic operation on every type (uet §4.11): what is there afterwards, what comes back, what is refused.
#include "transports/uet/ses/atomics.h"

#include <bit>
#include <cstring>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace railyard::uet {
namespace {

using enum AtomicOpcode;
using enum AtomicDatatype;

template <class T>
constexpr AtomicDatatype type_of();
template <>
constexpr AtomicDatatype type_of<std::int8_t>() {
  return kInt8;
}
template <>
constexpr AtomicDatatype type_of<std::uint8_t>() {
  return kUint8;
}
template <>
constexpr AtomicDatatype type_of<std::int16_t>() {
  return kInt16;
}
template <>
constexpr AtomicDatatype type_of<std::uint16_t>() {
  return kUint16;
}
template <>
constexpr AtomicDatatype type_of<std::int32_t>() {
  return kInt32;
}
template <>
constexpr AtomicDatatype type_of<std::uint32_t>() {
  return kUint32;
}
template <>
constexpr AtomicDatatype type_of<std::int64_t>() {
  return kInt64;
}
template <>
constexpr AtomicDatatype type_of<std::uint64_t>() {
  return kUint64;
}
template <>
constexpr AtomicDatatype type_of<float>() {
  return kFloat;
}
template <>
constexpr AtomicDatatype type_of<double>() {
  return kDouble;
}

template <class T>
std::uint64_t bits(T value) {
  std::uint64_t all = ~std::uint64_t{0};  // octets beyond the type count for nothing
  std::memcpy(&all, &value, sizeof(T));
  return all;
}

template <class T>
class Atomics : public testing::Test {
 protected:
  // Memory after `opcode` on `before`; what was there comes back, and its neighbour is untouched.
  static T after(AtomicOpcode opcode, T before, T operand, T compare = T{}) {
    std::byte memory[2 * sizeof(T)];
    std::memset(memory, 0x5A, sizeof memory);
    std::memcpy(memory, &before, sizeof(T));
    const auto fetched = apply_atomic(opcode, type_of<T>(), memory, bits(operand), bits(compare));
    if (!fetched) {
      ADD_FAILURE() << "opcode " << static_cast<int>(opcode) << " is refused";
      return T{};
    }
    T back{};
    std::memcpy(&back, &*fetched, sizeof(T));
    EXPECT_EQ(back, before);
    for (std::size_t i = sizeof(T); i < sizeof memory; ++i) EXPECT_EQ(memory[i], std::byte{0x5A});
    T value{};
    std::memcpy(&value, memory, sizeof(T));
    return value;
  }
};
using Types = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                             std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(Atomics, Types, );

TYPED_TEST(Atomics, Arithmetic) {
  using T = TypeParam;
  EXPECT_EQ(octets_of(type_of<T>()), sizeof(T));
  EXPECT_EQ(this->after(kMin, T{7}, T{5}), T{5});
  EXPECT_EQ(this->after(kMin, T{5}, T{7}), T{5});
  EXPECT_EQ(this->after(kMax, T{7}, T{5}), T{7});
  EXPECT_EQ(this->after(kMax, T{5}, T{7}), T{7});
  EXPECT_EQ(this->after(kSum, T{7}, T{5}), T{12});
  EXPECT_EQ(this->after(kDiff, T{7}, T{5}), T{2});
  EXPECT_EQ(this->after(kProd, T{7}, T{5}), T{35});
  EXPECT_EQ(this->after(kRead, T{7}, T{5}), T{7});
  EXPECT_EQ(this->after(kWrite, T{7}, T{5}), T{5});
  if constexpr (std::numeric_limits<T>::is_signed) {
    const auto minus = static_cast<T>(-3);
    EXPECT_EQ(this->after(kMin, T{2}, minus), minus) << "signed";
    EXPECT_EQ(this->after(kMax, minus, T{2}), T{2});
    EXPECT_EQ(this->after(kDiff, T{2}, T{5}), minus);
  }
  if constexpr (std::numeric_limits<T>::is_integer) {
    using L = std::numeric_limits<T>;
    EXPECT_EQ(this->after(kSum, L::max(), T{1}), L::min()) << "wraps";
    EXPECT_EQ(this->after(kDiff, L::min(), T{1}), L::max());
  }
}

TYPED_TEST(Atomics, LogicAndBits) {
  using T = TypeParam;
  for (const T a : {T{0}, T{6}})
    for (const T b : {T{0}, T{3}}) {
      EXPECT_EQ(this->after(kLor, a, b), static_cast<T>(a != T{0} || b != T{0}));
      EXPECT_EQ(this->after(kLand, a, b), static_cast<T>(a != T{0} && b != T{0}));
      EXPECT_EQ(this->after(kLxor, a, b), static_cast<T>((a != T{0}) != (b != T{0})));
    }
  if constexpr (std::numeric_limits<T>::is_integer) {
    EXPECT_EQ(this->after(kBor, T{0b0101}, T{0b0011}), T{0b0111});
    EXPECT_EQ(this->after(kBand, T{0b0101}, T{0b0011}), T{0b0001});
    EXPECT_EQ(this->after(kBxor, T{0b0101}, T{0b0011}), T{0b0110});
    EXPECT_EQ(this->after(kMswap, T{0b0101}, T{0b1010}, T{0b0110}), T{0b0011}) << "only the bits of the mask";
  } else {
    std::byte memory[sizeof(T)]{};
    for (const AtomicOpcode of_bits : {kBor, kBand, kBxor, kMswap})
      EXPECT_EQ(apply_atomic(of_bits, type_of<T>(), memory, 0, 0).error(), ReturnCode::kAmoUnsupportedOp);
  }
}

// Swapped if the comparison of `compare` with the value holds.
TYPED_TEST(Atomics, CompareAndSwap) {
  using T = TypeParam;
  constexpr T kOld{5}, kNew{9};
  struct Case {
    AtomicOpcode opcode;
    bool below, equal, above;  // whether it is swapped for a `compare` so
  };
  for (const Case& c :
       {Case{kCswap, false, true, false}, Case{kCswapNe, true, false, true}, Case{kCswapLe, true, true, false},
        Case{kCswapLt, true, false, false}, Case{kCswapGe, false, true, true}, Case{kCswapGt, false, false, true}}) {
    SCOPED_TRACE("opcode " + std::to_string(static_cast<int>(c.opcode)));
    EXPECT_EQ(this->after(c.opcode, kOld, kNew, T{4}), c.below ? kNew : kOld);
    EXPECT_EQ(this->after(c.opcode, kOld, kNew, T{5}), c.equal ? kNew : kOld);
    EXPECT_EQ(this->after(c.opcode, kOld, kNew, T{6}), c.above ? kNew : kOld);
  }
}

TEST(AtomicsRefused, WhatIsNotThereByItsCodeAndNothingIsTouched) {
  std::uint64_t value = 5;
  const auto at = reinterpret_cast<std::byte*>(&value);
  for (const AtomicDatatype type : {kInt128, kUint128, kFloatComplex, kDoubleComplex, kLongDouble, kLongDoubleComplex,
                                    kBf16, kFp16, static_cast<AtomicDatatype>(0x77)}) {
    EXPECT_EQ(octets_of(type), 0u);
    EXPECT_EQ(apply_atomic(kSum, type, at, 1, 0).error(), ReturnCode::kAmoUnsupportedDt);
  }
  for (const int opcode : {0x14, 0x15, 0xFF})
    EXPECT_EQ(apply_atomic(static_cast<AtomicOpcode>(opcode), kUint64, at, 1, 0).error(),
              ReturnCode::kAmoUnsupportedOp);
  EXPECT_EQ(value, 5u);
}

}  // namespace
}  // namespace railyard::uet
