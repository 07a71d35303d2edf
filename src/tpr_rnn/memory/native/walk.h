// The inference steps of one story (eq. 17-19), and their gradients, on the rows that it is made of.
//
// A step reads what the memory holds for the entity e (n at first, then what the last step
// retrieved) and the step's relation l, and normalises it:
//
//     weight_k = (e . a_k) (l . p_k)     x = sum over k of weight_k u_k     i = LN(x)

#pragma once

#include <cmath>

#include "rows.h"

namespace tpr {

template <typename T>
struct Walk {
  const Shape shape;
  const int64_t steps, entity, relation, capacity;
  const T *scale, *shift;  // of each step's normalisation; nullptr: there is none

  Walk(const Shape& shape, const Rows<T>& rows, int64_t steps, const T* scale, const T* shift)
      : shape(shape),
        steps(steps),
        entity(rows.entity),
        relation(rows.relation),
        capacity(rows.capacity),
        scale(scale),
        shift(shift),
        i((steps + 1) * entity),
        g_i(i.size()),
        l(steps * relation),
        g_l(l.size()),
        g_norms(2 * steps),
        x_hat(steps * entity),
        deviation(steps),
        g_x(entity),
        by_source(steps * capacity),
        by_relation(steps * capacity),
        weight(capacity) {}

  // `question` is n, l1, l2, ... side by side.
  void load(const T* question) {
    std::copy_n(question, shape.entity, i.begin());
    for (int64_t s = 0; s < steps; ++s)
      std::copy_n(question + shape.entity + s * shape.relation, shape.relation, &l[s * relation]);
  }

  void store(T* retrieved) const {
    for (int64_t s = 0; s < steps; ++s)
      std::copy_n(&i[(s + 1) * entity], shape.entity, retrieved + s * shape.entity);
  }

  void load_gradients(const T* g_retrieved) {
    std::fill_n(g_i.begin(), entity, T(0));
    for (int64_t s = 0; s < steps; ++s)
      std::copy_n(g_retrieved + s * shape.entity, shape.entity, &g_i[(s + 1) * entity]);
  }

  // Add the gradients of n, l1, l2, ... to those of the question, and those of all scales, then
  // all shifts, to `g_norm`.
  void store_gradients(T* g_question, T* g_norm) {
    add(T(1), g_i.data(), shape.entity, g_question);
    for (int64_t s = 0; s < steps; ++s)
      add(T(1), &g_l[s * relation], shape.relation,
          g_question + shape.entity + s * shape.relation);
    add(T(1), g_norms.data(), 2 * steps, g_norm);
  }

  // From n along the relations; needs the changes u of the rows.
  void forward(const Rows<T>& rows) {
    const int64_t n = padded<T>(rows.count);
    for (int64_t s = 0; s < steps; ++s) {
      T *source = &by_source[s * capacity], *related = &by_relation[s * capacity];
      dots(&i[s * entity], rows.a_columns.data(), shape.entity, capacity, n, source);
      dots(&l[s * relation], rows.p_columns.data(), shape.relation, capacity, n, related);
      for (int64_t k = 0; k < rows.count; ++k) weight[k] = source[k] * related[k];
      T* x = &x_hat[s * entity];
      std::fill_n(x, entity, T(0));
      add_rows(weight.data(), rows.u.data(), rows.count, entity, x);
      normalise(s, x, &i[(s + 1) * entity]);
    }
  }

  // From the last step to the first; needs `forward`, and in `g_i` the gradients from outside.
  // Adds to the gradients of the rows: v (of u), g_a and g_p.
  void backward(Rows<T>& rows) {
    const int64_t n = padded<T>(rows.count);
    std::fill(g_l.begin(), g_l.end(), T(0));
    std::fill(g_norms.begin(), g_norms.end(), T(0));
    for (int64_t s = steps - 1; s >= 0; --s) {
      T *source = &by_source[s * capacity], *related = &by_relation[s * capacity];
      normalise_backward(s, &g_i[(s + 1) * entity]);
      for (int64_t k = 0; k < rows.count; ++k) weight[k] = source[k] * related[k];
      add_outer(weight.data(), g_x.data(), rows.count, entity, rows.v.data());
      dots(g_x.data(), rows.u_columns.data(), shape.entity, capacity, n, weight.data());
      for (int64_t k = 0; k < rows.count; ++k) {  // from here on: gradients
        const T by = source[k];
        source[k] = weight[k] * related[k];
        related[k] = weight[k] * by;
      }
      add_rows(source, rows.a.data(), rows.count, entity, &g_i[s * entity]);
      add_outer(source, &i[s * entity], rows.count, entity, rows.g_a.data());
      add_rows(related, rows.p.data(), rows.count, relation, &g_l[s * relation]);
      add_outer(related, &l[s * relation], rows.count, relation, rows.g_p.data());
    }
  }

 private:
  std::vector<T> i, g_i;  // what was retrieved, and its gradients; row 0 is n, row s is i_s
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
    g_norms[steps + s] = sum;
    sum /= shape.entity;
    along /= shape.entity;
    for (int64_t j = 0; j < shape.entity; ++j)
      g_x[j] = scale[s] / deviation[s] * (g_normal[j] - sum - x[j] * along);
  }
};

}  // namespace tpr
