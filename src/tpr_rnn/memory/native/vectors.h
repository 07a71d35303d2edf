// Small dense arithmetic in vector registers, for GCC and Clang.

#pragma once

#include <cstdint>

namespace tpr {

constexpr int64_t REGISTER_BYTES = 32;

// Rows and vectors are padded to whole blocks of two registers, so that inner loops need no ends.
template <typename T>
constexpr int64_t block() {
  return 2 * REGISTER_BYTES / sizeof(T);
}

template <typename T>
int64_t padded(int64_t size) {
  return (size + block<T>() - 1) / block<T>() * block<T>();
}

template <typename T>
inline T dot(const T* __restrict x, const T* __restrict y, int64_t size) {
  T sum = 0;
  for (int64_t i = 0; i < size; ++i) sum += x[i] * y[i];
  return sum;
}

template <typename T>
inline void add(T weight, const T* __restrict x, int64_t size, T* __restrict y) {
  for (int64_t i = 0; i < size; ++i) y[i] += weight * x[i];
}

// One register full of numbers. (GCC and Clang know this type; rows lie anywhere in memory.)
template <typename T>
struct Register {
  typedef T type __attribute__((vector_size(REGISTER_BYTES), aligned(alignof(T)), may_alias));
};

template <typename T>
inline auto& at_once(T* x) {
  return *reinterpret_cast<typename Register<T>::type*>(x);
}

template <typename T>
inline const auto& at_once(const T* x) {
  return *reinterpret_cast<const typename Register<T>::type*>(x);
}

// x . y, both of whole blocks.
template <typename T>
inline T whole_dot(const T* x, const T* y, int64_t size) {
  typename Register<T>::type sum = {};
  for (int64_t i = 0; i < size; i += block<T>() / 2) sum += at_once(x + i) * at_once(y + i);
  T total = 0;
  for (int64_t i = 0; i < block<T>() / 2; ++i) total += sum[i];
  return total;
}

// y[0:n] = sum over i of x[i] * columns[i][0:n], for n in whole blocks: n dot products at once.
// Several sums side by side, here and below, so that one addition need not wait for the last.
template <typename T>
inline void dots(const T* x, const T* columns, int64_t size, int64_t stride, int64_t n, T* y) {
  constexpr int64_t half = block<T>() / 2;
  for (int64_t j = 0; j < n; j += block<T>()) {
    typename Register<T>::type left = {}, right = {}, left_odd = {}, right_odd = {};
    const T* column = columns + j;
    int64_t i = 0;
    for (; i + 1 < size; i += 2, column += 2 * stride) {
      left += x[i] * at_once(column);
      right += x[i] * at_once(column + half);
      left_odd += x[i + 1] * at_once(column + stride);
      right_odd += x[i + 1] * at_once(column + stride + half);
    }
    if (i < size) {
      left += x[i] * at_once(column);
      right += x[i] * at_once(column + half);
    }
    at_once(y + j) = left + left_odd;
    at_once(y + j + half) = right + right_odd;
  }
}

// y[0:size] += sum over j of weight[j] * rows[j][0:size], for size in whole blocks.
template <typename T>
inline void add_rows(const T* weight, const T* rows, int64_t n, int64_t size, T* y) {
  constexpr int64_t half = block<T>() / 2;
  for (int64_t i = 0; i < size; i += block<T>()) {
    typename Register<T>::type left = {}, right = {}, left_odd = {}, right_odd = {};
    const T* row = rows + i;
    int64_t j = 0;
    for (; j + 1 < n; j += 2, row += 2 * size) {
      left += weight[j] * at_once(row);
      right += weight[j] * at_once(row + half);
      left_odd += weight[j + 1] * at_once(row + size);
      right_odd += weight[j + 1] * at_once(row + size + half);
    }
    if (j < n) {
      left += weight[j] * at_once(row);
      right += weight[j] * at_once(row + half);
    }
    at_once(y + i) += left + left_odd;
    at_once(y + i + half) += right + right_odd;
  }
}

// rows[j][0:size] += weight[j] * x[0:size], for size in whole blocks.
template <typename T>
inline void add_outer(const T* weight, const T* x, int64_t n, int64_t size, T* rows) {
  constexpr int64_t half = block<T>() / 2;
  for (int64_t i = 0; i < size; i += block<T>()) {
    const auto left = at_once(x + i), right = at_once(x + i + half);
    for (T* row = rows + i; row < rows + n * size; row += size, ++weight) {
      at_once(row) += *weight * left;
      at_once(row + half) += *weight * right;
    }
    weight -= n;
  }
}

}  // namespace tpr
