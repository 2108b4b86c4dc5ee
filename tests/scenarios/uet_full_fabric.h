// The fabric on which UET's congestion control is held to its bars: 8 leaves x 16 hosts, 16 spines, 100 Gb/s, a queue of
// about a BDP in class 3.
#pragma once

#include <string>

namespace railyard::test {

// Of class 3: what does not fit is dropped; cut; held back.
inline const std::string kDrops = "lossless: false, alpha: 8, queue-alpha: 1/256";
inline const std::string kTrims = kDrops + ", trim: { keep: 128B, dscp: 40, class: 5 }";
inline const std::string kPauses = "lossless: true, alpha: 1/8";

// `of_class`: keys of class 3; `traffic`: of the only traffic, t.
inline std::string full_fabric(const std::string& of_class, const std::string& traffic) {
  return R"(
name: full
defaults: { link: { rate: 100Gbps, cable: 10m } }
topology: { preset: leaf-spine, leaves: 8, spines: 16, hosts-per-leaf: 16 }
switches: { default: { buffer: 25600KB } }
qos:
  default:
    classes:
      3: { ecn: { kmin: 20KB, kmax: 80KB, pmax: 100% }, )" +
         of_class + R"( }
      5: { strict: true, alpha: 8, queue-alpha: 1/8 }
hosts: { default: { uet: { rto: 500us } } }
traffic: [ { name: t, transport: uet, outstanding: 1, )" +
         traffic + " } ]\nrun: { payload: elided }\n";
}

}  // namespace railyard::test
