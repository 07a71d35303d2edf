// The memory of one story as a tensor, to carry it from one piece of a long story to the next.

#pragma once

#include "reading.h"

namespace tpr {

template <typename T>
struct Dense {
  const Shape shape;
  const int64_t keys, width, entity;  // R * E, the same and E padded to whole registers
  std::vector<T> tensor;              // (relation, entity) x filler; there once it is loaded

  explicit Dense(const Shape& shape)
      : shape(shape),
        keys(shape.relation * shape.entity),
        width(padded<T>(keys)),
        entity(padded<T>(shape.entity)) {}

  int64_t size() const { return keys * shape.entity; }

  void clear() { tensor.assign(keys * entity, T(0)); }

  void load(const T* memory) {
    clear();
    for (int64_t k = 0; k < keys; ++k)
      std::copy_n(memory + outside(k) * shape.entity, shape.entity, &tensor[k * entity]);
  }

  void store(T* memory) const {
    for (int64_t k = 0; k < keys; ++k)
      std::copy_n(&tensor[k * entity], shape.entity, memory + outside(k) * shape.entity);
  }

  // x += sign F (e, l), for each reader.
  void read(const Readers<T>& readers, T sign, T* x) {
    bind(readers, sign);
    multiply<true>(readers.count, entity, keys, {key.data(), width}, tensor.data(), entity, x,
                   entity);
  }

  // F += sign e x l x filler, for each reader.
  void write(const Readers<T>& readers, T sign, const T* filler) {
    bind(readers, sign);
    multiply<true>(keys, entity, readers.count, Matrix<T>{key.data(), width}.transposed(), filler,
                   entity, tensor.data(), entity);
  }

  // To be called once before `unbind`, with the memory as it then is.
  void transpose() {
    columns.resize(shape.entity * width);
    for (int64_t k = 0; k < keys; ++k)
      for (int64_t f = 0; f < shape.entity; ++f) columns[f * width + k] = tensor[k * entity + f];
  }

  // For x = sign F (e, l) and the gradient g of x, which is also F += sign e x l x u with gradient
  // F and g = u: the gradients of e and l.
  void unbind(const Readers<T>& readers, T sign, const T* g, T* g_entity, T* g_relation) {
    const int64_t relation = padded<T>(shape.relation);
    key.resize(READERS * width);
    multiply<false>(readers.count, width, shape.entity, {g, entity}, columns.data(), width,
                    key.data(), width);
    for (int64_t n = 0; n < readers.count; ++n) {
      const T *e = readers.entity + n * entity, *l = readers.relation + n * relation;
      for (int64_t r = 0; r < shape.relation; ++r) {
        const T* g_key = &key[n * width + r * shape.entity];
        add(sign * l[r], g_key, shape.entity, g_entity + n * entity);
        g_relation[n * relation + r] += sign * dot(g_key, e, shape.entity);
      }
    }
  }

 private:
  std::vector<T> key, columns;  // the keys of the readers; the tensor, filler x (relation, entity)

  // Where a key is in a tensor as others have it: (entity, relation) x filler.
  int64_t outside(int64_t k) const {
    return k % shape.entity * shape.relation + k / shape.entity;
  }

  void bind(const Readers<T>& readers, T sign) {
    const int64_t relation = padded<T>(shape.relation);
    key.resize(READERS * width);
    for (int64_t n = 0; n < readers.count; ++n)
      for (int64_t r = 0; r < shape.relation; ++r) {
        const T* e = readers.entity + n * entity;
        const T l = sign * readers.relation[n * relation + r];
        T* row = &key[n * width + r * shape.entity];
        for (int64_t i = 0; i < shape.entity; ++i) row[i] = l * e[i];
      }
  }
};

}  // namespace tpr
