// GPUs by what they compute, and what they read of their memory, at most.
#pragma once

#include <array>
#include <string_view>

namespace railyard::jobs {

struct Gpu {
  std::string_view name;
  double flops;   // in a second, dense, of 16-bit floating-point numbers (BF16; V100: FP16)
  double memory;  // octets in a second
};

// Data sheets: NVIDIA V100 SXM2 (2018), A100 80GB SXM (2021), H100 and H200 SXM, Blackwell architecture brief (B200, dense),
// AMD Instinct MI250X, MI300X.
inline constexpr std::array kGpus{Gpu{"v100", 125e12, 900e9},    Gpu{"a100", 312e12, 2039e9},    Gpu{"h100", 989e12, 3350e9},
                                  Gpu{"h200", 989e12, 4800e9},   Gpu{"b200", 2250e12, 8000e9},   Gpu{"mi250x", 383e12, 3277e9},
                                  Gpu{"mi300x", 1307e12, 5300e9}};

}  // namespace railyard::jobs
