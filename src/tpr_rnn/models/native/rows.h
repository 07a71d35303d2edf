// Small loops over rows of numbers, which the compiler turns into vector instructions. (Where it
// can't see that rows do not overlap, `ivdep` says so.)

#pragma once

#include <cmath>
#include <cstdint>

namespace tpr {

template <typename T>
inline T dot(const T* __restrict x, const T* __restrict y, int64_t size) {
  T sum = 0;
  for (int64_t i = 0; i < size; ++i) sum += x[i] * y[i];
  return sum;
}

template <typename T>
inline T sum(const T* x, int64_t size) {
  T total = 0;
  for (int64_t i = 0; i < size; ++i) total += x[i];
  return total;
}

// y += weight x
template <typename T>
inline void add(T weight, const T* __restrict x, int64_t size, T* __restrict y) {
  for (int64_t i = 0; i < size; ++i) y[i] += weight * x[i];
}

template <typename T>
inline void softmax(T* x, int64_t size) {
  T largest = x[0], total = 0;
  for (int64_t i = 1; i < size; ++i) largest = x[i] > largest ? x[i] : largest;
  for (int64_t i = 0; i < size; ++i) total += x[i] = std::exp(x[i] - largest);
  const T scale = 1 / total;
  for (int64_t i = 0; i < size; ++i) x[i] *= scale;
}

// From the gradients of parts of an interface vector in their ranges to those of what they were.

// d oneplus(x) / dx = sigmoid(x) = 1 - e^(1 - oneplus(x))
template <typename T>
inline void strengths_backward(const T* x, int64_t size, T* g) {
  for (int64_t i = 0; i < size; ++i) g[i] *= -std::expm1(1 - x[i]);
}

template <typename T>
inline void gates_backward(const T* x, int64_t size, T* g) {
  for (int64_t i = 0; i < size; ++i) g[i] *= x[i] * (1 - x[i]);
}

// A softmax over the three modes of each head.
template <typename T>
inline void modes_backward(const T* x, int64_t heads, T* g) {
  for (int64_t head = 0; head < heads; ++head, x += 3, g += 3) {
    const T mean = dot(x, g, 3);
    for (int64_t mode = 0; mode < 3; ++mode) g[mode] = x[mode] * (g[mode] - mean);
  }
}

// Squared lengths of locations and keys get this added: a new memory is empty.
constexpr double EPSILON = 1e-6;

template <typename T>
inline T length(const T* x, int64_t size) {
  return std::sqrt(dot(x, x, size) + T(EPSILON));
}

}  // namespace tpr
