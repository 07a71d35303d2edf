// The hops of some queries (inference steps, eq. 17-19), and their gradients, on the rows of a
// story.
//
// A hop reads what the memory holds for the entity e (n at first, then what the last hop found) and
// the hop's relation l, and normalises it. Only the rows of sentences that a query has seen count;
// F is the memory before the first row, if there is one:
//
//     x = F (e, l) + sum over k of (e . a_k) (l . p_k) u_k     i = LN(x)

#pragma once

#include <cmath>
#include <numeric>

#include "dense.h"

namespace tpr {

template <typename T>
struct Walk {
  Walk(const Rows<T>& rows, int64_t hops, const T* scale, const T* shift)
      : rows(rows),
        shape(rows.shape),
        hops(hops),
        scale(scale),
        shift(shift),
        reading(rows, T(1)),
        own(READERS),
        seen(READERS),
        i((hops + 1) * entities),
        g_i(i.size()),
        l(hops * relations),
        g_l(l.size()),
        g_norms(2 * hops),
        x_hat(hops * entities),
        deviation(hops * READERS),
        g_x(entities),
        slices(hops) {
    std::iota(own.begin(), own.end(), 0);
  }

  void clear() { count = 0; }
  bool full() const { return count == READERS; }

  // One more query, n, l1, l2, ... side by side; it sees so many rows, no fewer than the last one.
  void load(const T* query, int64_t sees) {
    std::copy_n(query, shape.entity, entity(i, 0, count));
    for (int64_t s = 0; s < hops; ++s)
      std::copy_n(query + shape.entity + s * shape.relation, shape.relation,
                  relation(l, s, count));
    seen[count++] = sees;
  }

  void store(int64_t query, T* found) {
    for (int64_t s = 0; s < hops; ++s)
      std::copy_n(entity(i, s + 1, query), shape.entity, found + s * shape.entity);
  }

  void load_gradients(int64_t query, const T* g_found) {
    std::fill_n(entity(g_i, 0, query), rows.entity, T(0));
    for (int64_t s = 0; s < hops; ++s)
      std::copy_n(g_found + s * shape.entity, shape.entity, entity(g_i, s + 1, query));
  }

  // Add the gradients of n, l1, l2, ... to those of a query.
  void store_gradients(int64_t query, T* g_query) {
    add(T(1), entity(g_i, 0, query), shape.entity, g_query);
    for (int64_t s = 0; s < hops; ++s)
      add(T(1), relation(g_l, s, query), shape.relation,
          g_query + shape.entity + s * shape.relation);
  }

  // From n along the relations; needs the changes u of the rows.
  void forward(Dense<T>* dense) {
    for (int64_t s = 0; s < hops; ++s) {
      T* x = entity(x_hat, s, 0);
      std::fill_n(x, entities, T(0));
      reading.forward(readers(s), most(), x);
      if (dense) {
        dense->take(readers(s), slices[s]);
        dense->read(readers(s), slices[s], T(1), x);
      }
      for (int64_t n = 0; n < count; ++n) normalise(s, n);
    }
  }

  // From the last hop to the first; needs `forward`, and the gradients from outside. Adds to the
  // gradients of the rows, of the memory before them and, in `g_norm`, of all scales, then all
  // shifts.
  void backward(Gradients<T>& of, Dense<T>* dense, Dense<T>* g_dense, T* g_norm) {
    std::fill(g_l.begin(), g_l.end(), T(0));
    for (int64_t s = hops - 1; s >= 0; --s) {
      for (int64_t n = 0; n < count; ++n) normalise_backward(s, n, g_norm);
      T *g_entity = entity(g_i, s, 0), *g_relation = relation(g_l, s, 0);
      reading.backward(readers(s), most(), g_x.data(), g_entity, g_relation, of);
      if (dense) {
        dense->read_backward(readers(s), slices[s], T(1), g_x.data(), g_entity, g_relation,
                             *g_dense);
      }
    }
  }

  int64_t count = 0;

 private:
  const Rows<T>& rows;
  const Shape& shape;
  const int64_t hops, entities = READERS * rows.entity, relations = READERS * rows.relation;
  const T *scale, *shift;  // of each hop's normalisation; nullptr: there is none
  Reading<T> reading;
  std::vector<int64_t> own, seen;  // each query has an entity of its own
  std::vector<T> i, g_i;  // what was found, and its gradients; hop 0 is n, hop s is i_s
  std::vector<T> l, g_l;
  std::vector<T> g_norms, x_hat, deviation, g_x;
  std::vector<std::vector<T>> slices;  // of the memory, for each hop (see dense.h)

  T* entity(std::vector<T>& of, int64_t hop, int64_t query) {
    return &of[hop * entities + query * rows.entity];
  }
  T* relation(std::vector<T>& of, int64_t hop, int64_t query) {
    return &of[hop * relations + query * rows.relation];
  }
  Readers<T> readers(int64_t s) {
    return {count, count, entity(i, s, 0), relation(l, s, 0), own.data(), seen.data()};
  }
  // How many rows any of the queries sees.
  int64_t most() const { return *std::max_element(seen.begin(), seen.begin() + count); }

  // One learned scale and one learned shift for the whole vector; x becomes x_hat.
  void normalise(int64_t s, int64_t query) {
    T *x = entity(x_hat, s, query), *normal = entity(i, s + 1, query);
    if (!scale) {
      std::copy_n(x, shape.entity, normal);
      return;
    }
    T mean = 0, variance = 0;
    for (int64_t j = 0; j < shape.entity; ++j) mean += x[j];
    mean /= shape.entity;
    for (int64_t j = 0; j < shape.entity; ++j) variance += (x[j] - mean) * (x[j] - mean);
    T& divisor = deviation[s * READERS + query];
    divisor = std::sqrt(variance / shape.entity + T(1e-7));
    for (int64_t j = 0; j < shape.entity; ++j) {
      x[j] = (x[j] - mean) / divisor;
      normal[j] = scale[s] * x[j] + shift[s];
    }
  }

  void normalise_backward(int64_t s, int64_t query, T* g_norm) {
    const T *x = entity(x_hat, s, query), *g_normal = entity(g_i, s + 1, query);
    T* g = &g_x[query * rows.entity];
    if (!scale) {
      std::copy_n(g_normal, shape.entity, g);
      return;
    }
    T sum = 0, along = 0;
    for (int64_t j = 0; j < shape.entity; ++j) {
      sum += g_normal[j];
      along += g_normal[j] * x[j];
    }
    g_norm[s] += along;
    g_norm[hops + s] += sum;
    sum /= shape.entity;
    along /= shape.entity;
    const T factor = scale[s] / deviation[s * READERS + query];
    for (int64_t j = 0; j < shape.entity; ++j) g[j] = factor * (g_normal[j] - sum - x[j] * along);
  }
};

}  // namespace tpr
