// Gradients of tensors that all threads add to.

#pragma once

#include <aten.h>

#include <vector>

namespace tpr {

// One copy for each share of the work, for they have sentences, questions and weights in common.
template <typename T>
struct Gradient {
  at::Tensor copies;

  Gradient(int64_t shares, at::IntArrayRef sizes, const at::TensorOptions& options) {
    std::vector<int64_t> all{shares};
    all.insert(all.end(), sizes.begin(), sizes.end());
    copies = at::zeros(all, options);
  }

  T* of(int64_t share) { return copies.mutable_data_ptr<T>() + share * copies.stride(0); }
  at::Tensor total() { return copies.size(0) == 1 ? copies[0] : copies.sum(0); }
};

}  // namespace tpr
