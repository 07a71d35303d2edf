// Small dense arithmetic in vector registers, for GCC and Clang.

#pragma once

#include <algorithm>
#include <cstdint>

namespace tpr {

#ifdef __AVX512F__
constexpr int64_t REGISTER_BYTES = 64;
constexpr int TILE = 8;  // rows of a tile: with two registers a row it leaves some for the rest
#else
constexpr int64_t REGISTER_BYTES = 32;
constexpr int TILE = 4;
#endif

template <typename T>
constexpr int64_t LANES = REGISTER_BYTES / sizeof(T);

// Rows of matrices are padded to whole registers, so that inner loops need no ends.
template <typename T>
int64_t padded(int64_t size) {
  return (size + LANES<T> - 1) / LANES<T> * LANES<T>;
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

// A matrix somewhere in memory: the next row is `row` numbers on, the next column `column`.
template <typename T>
struct Matrix {
  const T* data;
  int64_t row, column = 1;

  Matrix transposed() const { return {data, column, row}; }
};

// M rows of C, in W registers each: C = A B, or C += A B. All sums stay in registers.
template <int M, int W, bool ADD, typename T>
inline void multiply_tile(int64_t inner, Matrix<T> a, const T* b, int64_t b_row, T* c,
                          int64_t c_row) {
  typename Register<T>::type sum[M][W];
  for (int m = 0; m < M; ++m)
    for (int w = 0; w < W; ++w) {
      if constexpr (ADD)
        sum[m][w] = at_once(c + m * c_row + w * LANES<T>);
      else
        sum[m][w] = typename Register<T>::type{};
    }
  for (int64_t i = 0; i < inner; ++i, a.data += a.column, b += b_row)
    for (int m = 0; m < M; ++m)
      for (int w = 0; w < W; ++w) sum[m][w] += a.data[m * a.row] * at_once(b + w * LANES<T>);
  for (int m = 0; m < M; ++m)
    for (int w = 0; w < W; ++w) at_once(c + m * c_row + w * LANES<T>) = sum[m][w];
}

// A strip of C, W registers wide: tiles of M rows, then one of those that are left.
template <int M, int W, bool ADD, typename T>
inline void multiply_strip(int64_t rows, int64_t inner, Matrix<T> a, const T* b, int64_t b_row,
                           T* c, int64_t c_row) {
  for (; rows >= M; rows -= M, a.data += M * a.row, c += M * c_row)
    multiply_tile<M, W, ADD>(inner, a, b, b_row, c, c_row);
  if constexpr (M > 1)
    if (rows) multiply_strip<M - 1, W, ADD>(rows, inner, a, b, b_row, c, c_row);
}

// C = A B or C += A B, for C of `rows` x `columns` in whole registers. Not inlined: it is called
// from many places, and is long.
template <bool ADD, typename T>
__attribute__((noinline)) void multiply(int64_t rows, int64_t columns, int64_t inner, Matrix<T> a, const T* b,
                     int64_t b_row, T* c, int64_t c_row) {
  int64_t j = 0;
  for (; j + 2 * LANES<T> <= columns; j += 2 * LANES<T>)
    multiply_strip<TILE, 2, ADD>(rows, inner, a, b + j, b_row, c + j, c_row);
  if (j < columns) multiply_strip<TILE, 1, ADD>(rows, inner, a, b + j, b_row, c + j, c_row);
}

}  // namespace tpr
