// Who decides what a switch of a live lab forwards by.
#pragma once

#include <cstdint>
#include <string>

namespace railyard::spec {

// Under the virtual clock the model of RoutingSpec stands in for all of these.
struct ControlSpec {
  enum class Kind : std::uint8_t {
    kModel,      // RoutingSpec
    kNamespace,  // a network namespace, and in it what the user starts
    kFrr,        // ... and in it FRR
  };
  Kind kind = Kind::kModel;
  std::string config;  // kFrr: a file, in the place of the configuration that is made; empty: none

  bool operator==(const ControlSpec&) const = default;
};

}  // namespace railyard::spec
