// Reads of a memory that is a sum of rows, a panel of rows at a time, and their gradients.
//
// Each of some readers has an entity e and a relation l, and sees only the first rows:
//
//     x = sum over the rows k that it sees of weight_k u_k     weight_k = (e . a_k) (l . p_k)
//
// The rows of the solve are readers of earlier rows, and so are the hops of queries. Readers that
// have their entity in common share the products with it.

#pragma once

#include "rows.h"

namespace tpr {

constexpr int64_t READERS = 24;  // at most so many at a time
constexpr int64_t PANEL = 64;    // rows; their weights stay in the fastest cache

template <typename T>
struct Readers {
  int64_t count, entities;      // how many there are, and different entities of theirs
  const T *entity, *relation;   // these entities, and the relation of each; padded as rows are
  const int64_t* entity_of;     // which one of the entities each has
  const int64_t* seen;          // how many rows each sees: the first as many as the next, or fewer
};

template <typename T>
struct Reading {
  const Rows<T>& rows;
  const T sign;  // reads are added, or taken away

  Reading(const Rows<T>& rows, T sign)
      : rows(rows),
        sign(sign),
        weight(READERS * PANEL),
        by_source(READERS * PANEL),
        by_relation(READERS * PANEL),
        g_by_source(READERS * PANEL),
        g_weight(READERS * PANEL) {}

  // (reader, row) in the panel that was weighed last, from a reader on.
  Matrix<T> weights(int64_t first = 0) const { return {&weight[first * PANEL], PANEL}; }

  // x += sign times what the first `before` rows hold for each reader. Rows that a reader does not
  // see may be infinite, so that it is not enough to multiply them by 0.
  void forward(const Readers<T>& readers, int64_t before, T* x) {
    for (int64_t j = 0; j < before; j += PANEL) {
      const int64_t width = std::min(PANEL, before - j);
      weigh(readers, j, width);
      int64_t k = 0;  // up to here all readers that see so far have read
      for (int64_t i = 0; i < readers.count && k < width; ++i) {
        const int64_t sees = std::min(readers.seen[i] - j, width);
        if (sees <= k) continue;
        multiply<true>(readers.count - i, rows.entity, sees - k, {&weight[i * PANEL + k], PANEL},
                       rows.change(j + k), rows.entity, x + i * rows.entity, rows.entity);
        k = sees;
      }
    }
  }

  // The weights of the rows from `j` on; of those that a reader does not see: zero.
  void weigh(const Readers<T>& readers, int64_t j, int64_t width) {
    compare(readers, j, width);
    for (int64_t i = 0; i < readers.count; ++i) {
      const T *source = &by_source[readers.entity_of[i] * PANEL], *related = &by_relation[i * PANEL];
      T* w = &weight[i * PANEL];
      const int64_t sees = std::clamp<int64_t>(readers.seen[i] - j, 0, width);
      for (int64_t k = 0; k < sees; ++k) w[k] = sign * source[k] * related[k];
      std::fill(w + sees, w + width, T(0));
    }
  }

  // For the gradient g_x of x: those of the readers, and those of the first `before` rows.
  void backward(const Readers<T>& readers, int64_t before, const T* g_x, T* g_entity,
                T* g_relation, Gradients<T>& of) {
    for (int64_t j = 0; j < before; j += PANEL) {
      const int64_t width = std::min(PANEL, before - j);
      weigh(readers, j, width);
      multiply<true>(width, rows.entity, readers.count, weights().transposed(), g_x,
                     rows.entity, of.change(j), rows.entity);
      backward_of_weights(readers, j, width, g_x, g_entity, g_relation, of);
    }
  }

  // The part of that which goes through the weights, for a panel that has been weighed.
  void backward_of_weights(const Readers<T>& readers, int64_t j, int64_t width, const T* g_x,
                           T* g_entity, T* g_relation, Gradients<T>& of) {
    multiply<false>(readers.count, padded<T>(width), rows.shape.entity, {g_x, rows.entity},
                    &rows.u_columns[j], rows.capacity, g_weight.data(), PANEL);
    std::fill_n(g_by_source.begin(), readers.entities * PANEL, T(0));
    for (int64_t i = 0; i < readers.count; ++i) {
      const T *__restrict g = &g_weight[i * PANEL],
              *__restrict by = &by_source[readers.entity_of[i] * PANEL];
      T *__restrict g_by = &g_by_source[readers.entity_of[i] * PANEL],
        *__restrict related = &by_relation[i * PANEL];
      const int64_t sees = std::clamp<int64_t>(readers.seen[i] - j, 0, width);
      for (int64_t k = 0; k < sees; ++k) {
        g_by[k] += sign * g[k] * related[k];
        related[k] = sign * g[k] * by[k];  // from here on its gradient
      }
      std::fill(related + sees, related + width, T(0));
    }
    const Matrix<T> source{g_by_source.data(), PANEL}, related{by_relation.data(), PANEL};
    const int64_t n = readers.count, m = readers.entities, e = rows.entity, r = rows.relation;
    multiply<true>(m, e, width, source, rows.source(j), e, g_entity, e);
    multiply<true>(width, e, m, source.transposed(), readers.entity, e, of.source(j), e);
    multiply<true>(n, r, width, related, rows.relation_of(j), r, g_relation, r);
    multiply<true>(width, r, n, related.transposed(), readers.relation, r, of.relation_of(j), r);
  }

 private:
  std::vector<T> weight, by_source, by_relation, g_by_source, g_weight;

  // How well each reader agrees with each row, by source (e . a_k) and by relation (l . p_k).
  void compare(const Readers<T>& readers, int64_t j, int64_t width) {
    const int64_t n = padded<T>(width);
    multiply<false>(readers.entities, n, rows.shape.entity, {readers.entity, rows.entity},
                    &rows.a_columns[j], rows.capacity, by_source.data(), PANEL);
    multiply<false>(readers.count, n, rows.shape.relation, {readers.relation, rows.relation},
                    &rows.p_columns[j], rows.capacity, by_relation.data(), PANEL);
  }
};

}  // namespace tpr
