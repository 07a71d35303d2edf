// Small dense arithmetic in vector registers, for GCC and Clang.

#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

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

// x . y, of whole registers.
template <typename T>
inline T dot(const T* x, const T* y, int64_t size) {
  typename Register<T>::type sum = {};
  for (int64_t i = 0; i < size; i += LANES<T>) sum += at_once(x + i) * at_once(y + i);
  T total = 0;
  for (int64_t i = 0; i < LANES<T>; ++i) total += sum[i];
  return total;
}

// y += weight x, for whole registers.
template <typename T>
inline void add_whole(T weight, const T* x, int64_t size, T* y) {
  for (int64_t i = 0; i < size; i += LANES<T>) at_once(y + i) += weight * at_once(x + i);
}

// A matrix somewhere in memory: the next row is `row` numbers on, the next column `column`.
template <typename T>
struct Matrix {
  const T* data;
  int64_t row, column = 1;

  Matrix transposed() const { return {data, column, row}; }
};

// M rows of C, in W registers each: C = A B, or C += A B. All sums stay in registers, which the
// compiler does only with loops that it unrolls at once.
template <int M, int W, bool ADD, typename T>
inline void multiply_tile(int64_t inner, Matrix<T> a, const T* b, int64_t b_row, T* c,
                          int64_t c_row) {
  typename Register<T>::type sum[M][W];
#pragma GCC unroll 16
  for (int m = 0; m < M; ++m)
#pragma GCC unroll 16
    for (int w = 0; w < W; ++w) {
      if constexpr (ADD)
        sum[m][w] = at_once(c + m * c_row + w * LANES<T>);
      else
        sum[m][w] = typename Register<T>::type{};
    }
  for (int64_t i = 0; i < inner; ++i, a.data += a.column, b += b_row)
#pragma GCC unroll 16
    for (int m = 0; m < M; ++m)
#pragma GCC unroll 16
      for (int w = 0; w < W; ++w) sum[m][w] += a.data[m * a.row] * at_once(b + w * LANES<T>);
#pragma GCC unroll 16
  for (int m = 0; m < M; ++m)
#pragma GCC unroll 16
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
__attribute__((noinline)) void multiply(int64_t rows, int64_t columns, int64_t inner, Matrix<T> a,
                                        const T* b, int64_t b_row, T* c, int64_t c_row) {
  int64_t j = 0;
  for (; j + 2 * LANES<T> <= columns; j += 2 * LANES<T>)
    multiply_strip<TILE, 2, ADD>(rows, inner, a, b + j, b_row, c + j, c_row);
  if (j < columns) multiply_strip<TILE, 1, ADD>(rows, inner, a, b + j, b_row, c + j, c_row);
}

// Takes the first half of x and y (HIGH: the second), a number of x and one of y in turns.
template <bool HIGH, typename V>
inline V interleave(V x, V y) {
  constexpr int LANES = sizeof(V) / sizeof(x[0]);
  using Whole = std::conditional_t<sizeof(x[0]) == 4, int32_t, int64_t>;
  typename Register<Whole>::type from;
  for (int i = 0; i < LANES; ++i) from[i] = (HIGH ? LANES / 2 : 0) + i / 2 + i % 2 * LANES;
  return __builtin_shuffle(x, y, from);
}

// columns = the transpose of so many rows and columns of x, each in whole registers. A square of
// them is transposed by interleaving its rows, like the halves of a pack of cards, again and again.
template <typename T>
__attribute__((noinline)) void transpose(int64_t n, int64_t width, const T* x, int64_t x_row,
                                         T* columns, int64_t column_row) {
  constexpr int64_t L = LANES<T>;
  for (int64_t k = 0; k < n; k += L)
    for (int64_t j = 0; j < width; j += L) {
      typename Register<T>::type square[L], shuffled[L];
      for (int64_t i = 0; i < L; ++i) square[i] = at_once(x + (k + i) * x_row + j);
      for (int64_t round = 1; round < L; round *= 2) {
        for (int64_t i = 0; i < L / 2; ++i) {
          shuffled[2 * i] = interleave<false>(square[i], square[i + L / 2]);
          shuffled[2 * i + 1] = interleave<true>(square[i], square[i + L / 2]);
        }
        std::copy_n(shuffled, L, square);
      }
      for (int64_t i = 0; i < L; ++i) at_once(columns + (j + i) * column_row + k) = square[i];
    }
}

}  // namespace tpr
