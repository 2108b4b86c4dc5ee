// A transformer as far as training computes and communicates: how many parameters, and how many operations on them.
#pragma once

#include <cstdint>
#include <string>

namespace railyard::jobs {

struct Model {
  std::string name;
  int layers = 0;
  int hidden = 0;            // width of activations
  int heads = 0;             // of attention
  int kv_heads = 0;          // of keys and values (grouped-query attention); 0: as many as heads
  int feed_forward = 0;      // width between the matrices of the MLP
  bool gated = true;         // three matrices (SwiGLU), not two
  int vocabulary = 0;
  int sequence = 0;          // tokens of a sequence
  int experts = 0;           // of each layer's MLP; 0: it is dense
  int experts_per_token = 0;

  bool operator==(const Model&) const = default;

  // Width of keys, and of values.
  std::uint64_t kv_width() const noexcept {
    return static_cast<std::uint64_t>(hidden) * static_cast<std::uint64_t>(kv_heads > 0 ? kv_heads : heads) /
           static_cast<std::uint64_t>(heads);
  }
  // Parameters of the attention of a layer; of one MLP (of one expert); of the input embedding, and of the output layer
  // (they are not tied). Norms and biases are left out: below 0.1 %.
  std::uint64_t attention_parameters() const noexcept;
  std::uint64_t mlp_parameters() const noexcept;
  std::uint64_t router_parameters() const noexcept;
  std::uint64_t embedding_parameters() const noexcept;
  // All; and those that a token meets.
  std::uint64_t parameters() const noexcept;
  std::uint64_t active_parameters() const noexcept;

  // Floating-point operations of a forward pass per token: two per parameter that it meets, and 4 x sequence x hidden of
  // attention in each layer (Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using
  // Megatron-LM", SC '21, section 5.1, where causal masking saves nothing). A backward pass has twice as many.
  double attention_flops(int sequence) const noexcept;  // of one layer
  double mlp_flops() const noexcept;                    // of one layer
  double output_flops() const noexcept;                 // of the output layer
  double forward_flops(int sequence) const noexcept;    // of all
};

}  // namespace railyard::jobs
