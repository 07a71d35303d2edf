// The hops of one query (inference steps, eq. 17-19), and their gradients, on the rows of a story.
//
// A hop reads what the memory holds for the entity e (n at first, then what the last hop found) and
// the hop's relation l, and normalises it. Only the rows of sentences that it has seen count; F is
// the memory before the first row, if there is one:
//
//     weight_k = (e . a_k) (l . p_k)     x = F (e, l) + sum over k of weight_k u_k     i = LN(x)

#pragma once

#include <cmath>

#include "dense.h"
#include "rows.h"

namespace tpr {

template <typename T>
struct Walk {
  const Shape shape;
  const int64_t hops, entity, relation, capacity;
  const T *scale, *shift;  // of each hop's normalisation; nullptr: there is none

  Walk(const Shape& shape, const Rows<T>& rows, int64_t hops, const T* scale, const T* shift)
      : shape(shape),
        hops(hops),
        entity(rows.entity),
        relation(rows.relation),
        capacity(rows.capacity),
        scale(scale),
        shift(shift),
        i((hops + 1) * entity),
        g_i(i.size()),
        l(hops * relation),
        g_l(l.size()),
        g_norms(2 * hops),
        x_hat(hops * entity),
        deviation(hops),
        g_x(entity),
        by_source(hops * capacity),
        by_relation(hops * capacity),
        weight(capacity) {}

  // `query` is n, l1, l2, ... side by side.
  void load(const T* query) {
    std::copy_n(query, shape.entity, i.begin());
    for (int64_t s = 0; s < hops; ++s)
      std::copy_n(query + shape.entity + s * shape.relation, shape.relation, &l[s * relation]);
  }

  void store(T* found) const {
    for (int64_t s = 0; s < hops; ++s)
      std::copy_n(&i[(s + 1) * entity], shape.entity, found + s * shape.entity);
  }

  void load_gradients(const T* g_found) {
    std::fill_n(g_i.begin(), entity, T(0));
    for (int64_t s = 0; s < hops; ++s)
      std::copy_n(g_found + s * shape.entity, shape.entity, &g_i[(s + 1) * entity]);
  }

  // Add the gradients of n, l1, l2, ... to those of the query, and those of all scales, then
  // all shifts, to `g_norm`.
  void store_gradients(T* g_query, T* g_norm) {
    add(T(1), g_i.data(), shape.entity, g_query);
    for (int64_t s = 0; s < hops; ++s)
      add(T(1), &g_l[s * relation], shape.relation,
          g_query + shape.entity + s * shape.relation);
    add(T(1), g_norms.data(), 2 * hops, g_norm);
  }

  // From n along the relations; needs the changes u of the first `count` rows.
  void forward(const Rows<T>& rows, int64_t count, Dense<T>* dense) {
    const int64_t n = padded<T>(count);
    for (int64_t s = 0; s < hops; ++s) {
      T *source = &by_source[s * capacity], *related = &by_relation[s * capacity];
      dots(&i[s * entity], rows.a_columns.data(), shape.entity, capacity, n, source);
      dots(&l[s * relation], rows.p_columns.data(), shape.relation, capacity, n, related);
      for (int64_t k = 0; k < count; ++k) weight[k] = source[k] * related[k];
      T* x = &x_hat[s * entity];
      std::fill_n(x, entity, T(0));
      add_rows(weight.data(), rows.u.data(), count, entity, x);
      if (dense) dense->read(&i[s * entity], &l[s * relation], T(1), x);
      normalise(s, x, &i[(s + 1) * entity]);
    }
  }

  // From the last hop to the first; needs `forward`, and in `g_i` the gradients from outside.
  // Adds to the gradients of the rows: v (of u), g_a and g_p; and of the memory before them.
  void backward(Rows<T>& rows, int64_t count, Dense<T>* dense, Dense<T>* g_dense) {
    const int64_t n = padded<T>(count);
    std::fill(g_l.begin(), g_l.end(), T(0));
    std::fill(g_norms.begin(), g_norms.end(), T(0));
    for (int64_t s = hops - 1; s >= 0; --s) {
      T *source = &by_source[s * capacity], *related = &by_relation[s * capacity];
      normalise_backward(s, &g_i[(s + 1) * entity]);
      for (int64_t k = 0; k < count; ++k) weight[k] = source[k] * related[k];
      add_outer(weight.data(), g_x.data(), count, entity, rows.v.data());
      dots(g_x.data(), rows.u_columns.data(), shape.entity, capacity, n, weight.data());
      for (int64_t k = 0; k < count; ++k) {  // from here on: gradients
        const T by = source[k];
        source[k] = weight[k] * related[k];
        related[k] = weight[k] * by;
      }
      add_rows(source, rows.a.data(), count, entity, &g_i[s * entity]);
      add_outer(source, &i[s * entity], count, entity, rows.g_a.data());
      add_rows(related, rows.p.data(), count, relation, &g_l[s * relation]);
      add_outer(related, &l[s * relation], count, relation, rows.g_p.data());
      if (dense) {
        dense->unbind(&i[s * entity], &l[s * relation], T(1), g_x.data(), &g_i[s * entity],
                      &g_l[s * relation]);
        g_dense->write(&i[s * entity], &l[s * relation], T(1), g_x.data());
      }
    }
  }

 private:
  std::vector<T> i, g_i;  // what was found, and its gradients; row 0 is n, row s is i_s
  std::vector<T> l, g_l;
  std::vector<T> g_norms;  // gradients of all scales, then of all shifts
  std::vector<T> x_hat, deviation, g_x, by_source, by_relation, weight;

  // One learned scale and one learned shift for the whole vector; x becomes x_hat.
  void normalise(int64_t s, T* x, T* normal) {
    if (!scale) {
      std::copy_n(x, shape.entity, normal);
      return;
    }
    T mean = 0, variance = 0;
    for (int64_t j = 0; j < shape.entity; ++j) mean += x[j];
    mean /= shape.entity;
    for (int64_t j = 0; j < shape.entity; ++j) variance += (x[j] - mean) * (x[j] - mean);
    deviation[s] = std::sqrt(variance / shape.entity + T(1e-7));
    for (int64_t j = 0; j < shape.entity; ++j) {
      x[j] = (x[j] - mean) / deviation[s];
      normal[j] = scale[s] * x[j] + shift[s];
    }
  }

  void normalise_backward(int64_t s, const T* g_normal) {
    if (!scale) {
      std::copy_n(g_normal, shape.entity, g_x.begin());
      return;
    }
    const T* x = &x_hat[s * entity];
    T sum = 0, along = 0;
    for (int64_t j = 0; j < shape.entity; ++j) {
      sum += g_normal[j];
      along += g_normal[j] * x[j];
    }
    g_norms[s] = along;
    g_norms[hops + s] = sum;
    sum /= shape.entity;
    along /= shape.entity;
    for (int64_t j = 0; j < shape.entity; ++j)
      g_x[j] = scale[s] / deviation[s] * (g_normal[j] - sum - x[j] * along);
  }
};

}  // namespace tpr
