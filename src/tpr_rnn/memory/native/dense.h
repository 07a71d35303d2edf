// The memory of one story as a tensor, to carry it from one piece of a long story to the next.
//
// What it holds for an entity alone, a *slice* of relations x fillers, is computed first; a reader
// then reads its entity's slice with its relation, and readers of the same entity share it. To
// write goes the other way.

#pragma once

#include "reading.h"

namespace tpr {

template <typename T>
struct Dense {
  const Shape shape;
  const int64_t entity, relation, slice;  // E and R padded to whole registers; R * (padded E)
  // From one slice to the next. A multiple of a power of two would put those numbers of all slices
  // that are needed together into the same few places of the cache.
  const int64_t row;
  std::vector<T> tensor;  // entity x (relation, filler); there once it is loaded

  explicit Dense(const Shape& shape)
      : shape(shape),
        entity(padded<T>(shape.entity)),
        relation(padded<T>(shape.relation)),
        slice(shape.relation * entity),
        row(slice + LANES<T>) {}

  int64_t size() const { return shape.entity * shape.relation * shape.entity; }

  void clear() { tensor.assign(entity * row, T(0)); }

  void load(const T* memory) {
    clear();
    for (int64_t e = 0; e < shape.entity; ++e)
      for (int64_t r = 0; r < shape.relation; ++r, memory += shape.entity)
        std::copy_n(memory, shape.entity, &tensor[e * row + r * entity]);
  }

  void store(T* memory) const {
    for (int64_t e = 0; e < shape.entity; ++e)
      for (int64_t r = 0; r < shape.relation; ++r, memory += shape.entity)
        std::copy_n(&tensor[e * row + r * entity], shape.entity, memory);
  }

  // The slices of all entities of the readers.
  void take(const Readers<T>& readers, std::vector<T>& slices) const {
    make_room(readers, slices);
    multiply<false>(readers.entities, slice, shape.entity, {readers.entity, entity}, tensor.data(),
                    row, slices.data(), row);
  }

  // x += sign F (e, l), for each reader.
  void read(const Readers<T>& readers, const std::vector<T>& slices, T sign, T* x) const {
    for (int64_t n = 0; n < readers.count; ++n) {
      const T *of = &slices[readers.entity_of[n] * row], *l = readers.relation + n * relation;
      for (int64_t i = 0; i < entity; i += LANES<T>) {
        auto sum = at_once(x + n * entity + i);
        for (int64_t r = 0; r < shape.relation; ++r)
          sum += sign * l[r] * at_once(of + r * entity + i);
        at_once(x + n * entity + i) = sum;
      }
    }
  }

  // F += e x l x filler, for each reader.
  void write(const Readers<T>& readers, const T* filler) {
    bind(readers, T(1), filler, bound);
    put(readers, bound);
  }

  // To be called once before gradients, with the memory as it then is.
  void transpose() {
    columns.resize(slice * entity);
    tpr::transpose(entity, slice, tensor.data(), row, columns.data(), entity);
  }

  // For x = sign F (e, l) and the gradient g of x, which is also F += sign e x l x u with gradient
  // F and g = u: the gradients of e and l.
  void unbind(const Readers<T>& readers, const std::vector<T>& slices, T sign, const T* g,
              T* g_entity, T* g_relation) {
    for (int64_t n = 0; n < readers.count; ++n) {
      const T* of = &slices[readers.entity_of[n] * row];
      for (int64_t r = 0; r < shape.relation; ++r)
        g_relation[n * relation + r] += sign * dot(of + r * entity, g + n * entity, entity);
    }
    bind(readers, sign, g, bound);
    multiply<true>(readers.entities, entity, slice, {bound.data(), row}, columns.data(), entity,
                   g_entity, entity);
  }

  // The same, and the gradient of F.
  void read_backward(const Readers<T>& readers, const std::vector<T>& slices, T sign, const T* g,
                     T* g_entity, T* g_relation, Dense& g_dense) {
    unbind(readers, slices, sign, g, g_entity, g_relation);
    g_dense.put(readers, bound);
  }

 private:
  std::vector<T> bound, columns;  // slices to be written; the tensor, (relation, filler) x entity

  // For a stream of single steps, which have few readers, a larger buffer would take its time.
  void make_room(const Readers<T>& readers, std::vector<T>& slices) const {
    slices.resize(std::max<size_t>(slices.size(), readers.entities * row));
  }

  // What readers write for their entities: sums of sign l x filler.
  void bind(const Readers<T>& readers, T sign, const T* filler, std::vector<T>& slices) const {
    make_room(readers, slices);
    std::fill_n(slices.begin(), readers.entities * row, T(0));
    for (int64_t n = 0; n < readers.count; ++n) {
      T* of = &slices[readers.entity_of[n] * row];
      for (int64_t r = 0; r < shape.relation; ++r)
        add_whole(sign * readers.relation[n * relation + r], filler + n * entity, entity,
                  of + r * entity);
    }
  }

  void put(const Readers<T>& readers, const std::vector<T>& slices) {
    multiply<true>(shape.entity, slice, readers.entities,
                   Matrix<T>{readers.entity, entity}.transposed(), slices.data(), row,
                   tensor.data(), row);
  }
};

}  // namespace tpr
