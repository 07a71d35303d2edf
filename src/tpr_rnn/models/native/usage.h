// Which locations of a DNC's memory are in use, and where to write next: retention and allocation.

#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace tpr {

// psi = product over the heads of 1 - f w^r
template <typename T>
void retention(const T* free, const T* read, int64_t heads, int64_t n, T* kept) {
  std::fill_n(kept, n, T(1));
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t i = 0; i < n; ++i) kept[i] *= 1 - free[head] * read[head * n + i];
}

// From the gradient of psi, which is overwritten; `first` is room for heads + 1 rows.
template <typename T>
void retention_backward(const T* free, const T* read, int64_t heads, int64_t n, T* first,
                        T* g_kept, T* g_free, T* g_read) {
  std::fill_n(first, n, T(1));  // the product of all heads before each one
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t i = 0; i < n; ++i)
      first[(head + 1) * n + i] = first[head * n + i] * (1 - free[head] * read[head * n + i]);
  for (int64_t head = heads - 1; head >= 0; --head) {  // g_kept takes those behind it along
    T of_gate = 0;
    for (int64_t i = 0; i < n; ++i) {
      const T w = read[head * n + i], rest = g_kept[i] * first[head * n + i];
      of_gate -= rest * w;
      g_read[head * n + i] -= rest * free[head];
      g_kept[i] *= 1 - free[head] * w;
    }
    g_free[head] += of_gate;
  }
}

// The locations from the freest to the most used; of equal ones the first.
template <typename T>
void sort_by_usage(const T* usage, int64_t n, int32_t* order) {
  std::iota(order, order + n, 0);
  std::stable_sort(order, order + n, [&](int32_t x, int32_t y) { return usage[x] < usage[y]; });
}

// a[phi_j] = (1 - u[phi_j]) times all u[phi_i] before it
template <typename T>
void allocate(const T* usage, int64_t n, int32_t* order, T* allocation) {
  sort_by_usage(usage, n, order);
  T before = 1;
  for (int64_t j = 0; j < n; ++j) {
    allocation[order[j]] = (1 - usage[order[j]]) * before;
    before *= usage[order[j]];
  }
}

template <typename T>
void allocate_backward(const T* usage, const T* g_allocation, int64_t n, int32_t* order, T* before,
                       T* g_usage) {
  sort_by_usage(usage, n, order);
  before[0] = 1;
  for (int64_t j = 0; j + 1 < n; ++j) before[j + 1] = before[j] * usage[order[j]];
  T g_before = 0;  // of the product behind location j
  for (int64_t j = n - 1; j >= 0; --j) {
    const int32_t i = order[j];
    g_usage[i] += (g_before - g_allocation[i]) * before[j];
    g_before = g_before * usage[i] + g_allocation[i] * (1 - usage[i]);
  }
}

}  // namespace tpr
