// Addressing by content, C(M, k, beta): a softmax of beta times the cosine of key and location.

#pragma once

#include <algorithm>

#include "rows.h"

namespace tpr {

// The memory of one story, and the lengths of its locations.
template <typename T>
struct Locations {
  const T *rows, *lengths;
  const int64_t count, size;
};

template <typename T>
void cosines(const Locations<T>& memory, const T* key, T* cosine) {
  const T key_scale = 1 / length(key, memory.size);
  for (int64_t n = 0; n < memory.count; ++n)
    cosine[n] =
        dot(key, memory.rows + n * memory.size, memory.size) * key_scale / memory.lengths[n];
}

template <typename T>
void look_up(const Locations<T>& memory, const T* key, T strength, T* cosine, T* weights) {
  cosines(memory, key, cosine);
  for (int64_t n = 0; n < memory.count; ++n) weights[n] = strength * cosine[n];
  softmax(weights, memory.count);
}

// From the gradient of the weights, which is overwritten, to those of key, strength and memory.
template <typename T>
void look_up_backward(const Locations<T>& memory, const T* __restrict key, T strength,
                      const T* __restrict cosine, const T* __restrict weights,
                      T* __restrict g_weights, T* __restrict g_key, T* g_strength, T* g_rows) {
  const int64_t n_rows = memory.count, size = memory.size;
  const T key_scale = 1 / length(key, size);
  const T mean = dot(weights, g_weights, n_rows);
  T of_strength = 0, of_key_length = 0;
  for (int64_t n = 0; n < n_rows; ++n) {
    const T g_score = weights[n] * (g_weights[n] - mean);
    of_strength += g_score * cosine[n];
    g_weights[n] = strength * g_score;  // of the cosine, from here on
    of_key_length += g_weights[n] * cosine[n];
  }
  *g_strength += of_strength;
  for (int64_t n = 0; n < n_rows; ++n) {
    const T scale = 1 / memory.lengths[n];
    const T to_key = g_weights[n] * key_scale * scale;
    const T to_row = -g_weights[n] * cosine[n] * scale * scale;
    const T* __restrict row = memory.rows + n * size;
    T* __restrict g_row = g_rows + n * size;
    for (int64_t j = 0; j < size; ++j) {
      g_key[j] += to_key * row[j];
      g_row[j] += to_key * key[j] + to_row * row[j];
    }
  }
  add(-of_key_length * key_scale * key_scale, key, size, g_key);
}

}  // namespace tpr
