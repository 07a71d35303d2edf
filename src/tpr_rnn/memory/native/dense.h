// The memory of one story as a tensor, to carry it from one piece of a long story to the next.

#pragma once

#include "reading.h"

namespace tpr {

template <typename T>
struct Dense {
  const Shape shape;
  const int64_t entity, relation, keys;  // E and R padded to whole registers; R * (padded E)
  std::vector<T> tensor;                 // (relation, entity) x filler; there once it is loaded

  explicit Dense(const Shape& shape)
      : shape(shape),
        entity(padded<T>(shape.entity)),
        relation(padded<T>(shape.relation)),
        keys(shape.relation * entity) {}

  int64_t size() const { return shape.entity * shape.relation * shape.entity; }

  void clear() { tensor.assign(keys * entity, T(0)); }

  void load(const T* memory) {
    clear();
    for (int64_t e = 0; e < shape.entity; ++e)
      for (int64_t r = 0; r < shape.relation; ++r, memory += shape.entity)
        std::copy_n(memory, shape.entity, &tensor[(r * entity + e) * entity]);
  }

  void store(T* memory) const {
    for (int64_t e = 0; e < shape.entity; ++e)
      for (int64_t r = 0; r < shape.relation; ++r, memory += shape.entity)
        std::copy_n(&tensor[(r * entity + e) * entity], shape.entity, memory);
  }

  // x += sign F (e, l), for each reader.
  void read(const Readers<T>& readers, T sign, T* x) {
    bind(readers, sign);
    multiply<true>(readers.count, entity, keys, {key.data(), keys}, tensor.data(), entity, x,
                   entity);
  }

  // F += sign e x l x filler, for each reader.
  void write(const Readers<T>& readers, T sign, const T* filler) {
    bind(readers, sign);
    multiply<true>(keys, entity, readers.count, Matrix<T>{key.data(), keys}.transposed(), filler,
                   entity, tensor.data(), entity);
  }

  // To be called once before `unbind`, with the memory as it then is.
  void transpose() {
    columns.resize(entity * keys);
    tpr::transpose(keys, entity, tensor.data(), entity, columns.data(), keys);
  }

  // For x = sign F (e, l) and the gradient g of x, which is also F += sign e x l x u with gradient
  // F and g = u: the gradients of e and l.
  void unbind(const Readers<T>& readers, T sign, const T* g, T* g_entity, T* g_relation) {
    make_room(readers);
    multiply<false>(readers.count, keys, shape.entity, {g, entity}, columns.data(), keys,
                    key.data(), keys);
    for (int64_t n = 0; n < readers.count; ++n) {
      const T *e = readers.entity + n * entity, *l = readers.relation + n * relation;
      const T* g_key = &key[n * keys];
      for (int64_t r = 0; r < shape.relation; ++r, g_key += entity) {
        add_whole(sign * l[r], g_key, entity, g_entity + n * entity);
        g_relation[n * relation + r] += sign * dot(g_key, e, entity);
      }
    }
  }

 private:
  std::vector<T> key, columns;  // the keys of the readers; the tensor, filler x (relation, entity)

  // For a stream of single steps, which have few readers, a larger buffer would take its time.
  void make_room(const Readers<T>& readers) {
    key.resize(std::max<size_t>(key.size(), readers.count * keys));
  }

  void bind(const Readers<T>& readers, T sign) {
    make_room(readers);
    T* row = key.data();
    for (int64_t n = 0; n < readers.count; ++n)
      for (int64_t r = 0; r < shape.relation; ++r, row += entity) {
        const T l = sign * readers.relation[n * relation + r];
        for (int64_t i = 0; i < entity; i += LANES<T>)
          at_once(row + i) = l * at_once(readers.entity + n * entity + i);
      }
  }
};

}  // namespace tpr
