// The memory of one story as a tensor, to carry it from one piece of a long story to the next.

#pragma once

#include "rows.h"

namespace tpr {

template <typename T>
struct Dense {
  const Shape shape;
  const int64_t keys, entity;  // E * R, and E padded to whole blocks
  std::vector<T> tensor;       // keys x entity; there once it is loaded

  explicit Dense(const Shape& shape)
      : shape(shape),
        keys(shape.entity * shape.relation),
        entity(padded<T>(shape.entity)),
        key(keys) {}

  int64_t size() const { return keys * shape.entity; }

  void clear() { tensor.assign(keys * entity, T(0)); }

  void load(const T* memory) {
    tensor.resize(keys * entity);
    for (int64_t k = 0; k < keys; ++k)
      std::copy_n(memory + k * shape.entity, shape.entity, &tensor[k * entity]);
  }

  void store(T* memory) const {
    for (int64_t k = 0; k < keys; ++k)
      std::copy_n(&tensor[k * entity], shape.entity, memory + k * shape.entity);
  }

  // y += sign F (a, r)
  void read(const T* a, const T* r, T sign, T* y) {
    bind(a, r, sign);
    add_rows(key.data(), tensor.data(), keys, entity, y);
  }

  // F += sign a x r x filler
  void write(const T* a, const T* r, T sign, const T* filler) {
    bind(a, r, sign);
    add_outer(key.data(), filler, keys, entity, tensor.data());
  }

  // For y = sign F (a, r) and the gradient g of y, which is also F += sign a x r x u with gradient F
  // and g = u: the gradients of a and r.
  void unbind(const T* a, const T* r, T sign, const T* g, T* g_a, T* g_r) {
    for (int64_t i = 0; i < shape.entity; ++i) {
      T sum = 0;
      for (int64_t j = 0; j < shape.relation; ++j) {
        const T g_key = sign * whole_dot(&tensor[(i * shape.relation + j) * entity], g, entity);
        sum += g_key * r[j];
        g_r[j] += g_key * a[i];
      }
      g_a[i] += sum;
    }
  }

 private:
  std::vector<T> key;

  void bind(const T* a, const T* r, T sign) {
    for (int64_t i = 0; i < shape.entity; ++i)
      for (int64_t j = 0; j < shape.relation; ++j) key[i * shape.relation + j] = sign * a[i] * r[j];
  }
};

}  // namespace tpr
