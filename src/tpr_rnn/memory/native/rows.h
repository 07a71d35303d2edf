// The operations of a piece of a story as rows, the triangular solve over them, and its gradient.
//
// Row k has a source entity a_k, a relation p_k, a relation q_k with which it reads, and a content
// c_k:
//
//     write      a = e1   p = r1   q = r1        c = e2
//     move       a = e1   p = r2   q = r2 - r1   c = 0
//     backlink   a = e2   p = r3   q = r3        c = e1
//
// and its change is  u_k = c_k - sum over j in earlier sentences of (a_k . a_j) (q_k . p_j) u_j.

#pragma once

#include <algorithm>
#include <vector>

#include "vectors.h"

namespace tpr {

constexpr int64_t WRITE = 1, MOVE = 2, BACKLINK = 4;

struct Shape {
  int64_t width, entity, relation, operations, rows_per_sentence;

  Shape(int64_t width, int64_t entity_size, int64_t operations)
      : width(width),
        entity(entity_size),
        relation((width - 2 * entity_size) / 3),
        operations(operations),
        rows_per_sentence(__builtin_popcountll(operations)) {}
};

template <typename T>
struct Rows {
  const Shape shape;
  const int64_t entity, relation;  // padded to whole blocks
  const int64_t capacity;
  int64_t count = 0;
  // As rows, to add them up; as columns, for many dot products at once.
  std::vector<T> a, p, q, u, a_columns, p_columns, u_columns;
  // Gradients; v is that of u before, and of c after, `solve_backward`.
  std::vector<T> v, g_a, g_p, g_q;

  Rows(const Shape& shape, int64_t most_sentences, bool with_gradients)
      : shape(shape),
        entity(padded<T>(shape.entity)),
        relation(padded<T>(shape.relation)),
        capacity(padded<T>(most_sentences * shape.rows_per_sentence)),
        a(capacity * entity),
        p(capacity * relation),
        q(capacity * relation),
        u(capacity * entity),
        a_columns(shape.entity * capacity),
        p_columns(shape.relation * capacity),
        u_columns(with_gradients ? shape.entity * capacity : 0),
        v(with_gradients ? capacity * entity : 0),
        g_a(v.size()),
        g_p(with_gradients ? capacity * relation : 0),
        g_q(g_p.size()),
        by_source(capacity),
        by_relation(capacity),
        g_lower(capacity) {}

  // Of row k, by their names.
  const T* source(int64_t k) const { return &a[k * entity]; }
  const T* relation_of(int64_t k) const { return &p[k * relation]; }
  const T* read_relation(int64_t k) const { return &q[k * relation]; }
  T* change(int64_t k) { return &u[k * entity]; }
  T* g_change(int64_t k) { return &v[k * entity]; }
  T* g_source(int64_t k) { return &g_a[k * entity]; }
  T* g_relation(int64_t k) { return &g_p[k * relation]; }
  T* g_read_relation(int64_t k) { return &g_q[k * relation]; }

  // Take sentences apart; u starts as the content c. Columns behind the last row keep what an
  // earlier story left there: `dots` multiplies them in its last block, and nobody looks.
  void load(const T* table, const int64_t* story, int64_t sentences) {
    count = 0;
    for (int64_t t = 0; t < sentences; ++t) {
      const T *e1 = table + story[t] * shape.width, *e2 = e1 + shape.entity,
              *r1 = e2 + shape.entity, *r2 = r1 + shape.relation, *r3 = r2 + shape.relation;
      if (shape.operations & WRITE) load_row(e1, r1, nullptr, e2);
      if (shape.operations & MOVE) load_row(e1, r2, r1, nullptr);
      if (shape.operations & BACKLINK) load_row(e2, r3, nullptr, e1);
    }
  }

  void store_changes(T* change) const {
    for (int64_t k = 0; k < count; ++k)
      std::copy_n(&u[k * entity], shape.entity, change + k * shape.entity);
  }

  // What is known when it comes to gradients: the changes, and the gradients that they have, if
  // they have any from outside.
  void load_changes(const T* change, const T* g_change) {
    for (int64_t k = 0; k < count; ++k)
      for (int64_t i = 0; i < shape.entity; ++i) {
        u[k * entity + i] = u_columns[i * capacity + k] = change[k * shape.entity + i];
        v[k * entity + i] = g_change ? g_change[k * shape.entity + i] : T(0);
      }
    std::fill_n(g_a.begin(), count * entity, T(0));
    std::fill_n(g_p.begin(), count * relation, T(0));
    std::fill_n(g_q.begin(), count * relation, T(0));
  }

  // Turn contents into changes, from the first row to the last.
  void solve() {
    for (int64_t k = 0; k < count; ++k) {
      const int64_t earlier = k / shape.rows_per_sentence * shape.rows_per_sentence;
      compare(k, earlier);
      for (int64_t j = 0; j < earlier; ++j) by_source[j] *= -by_relation[j];
      add_rows(by_source.data(), u.data(), earlier, entity, &u[k * entity]);
    }
  }

  // With L the lower triangle: (I + L)' v = g gives the gradient of the contents, from the last
  // row to the first, and -v_k . u_j that of L[k, j]. L is computed again; it was never kept.
  void solve_backward() {
    for (int64_t k = count - 1; k >= 0; --k) {
      const int64_t earlier = k / shape.rows_per_sentence * shape.rows_per_sentence;
      const T* v_k = &v[k * entity];
      compare(k, earlier);
      dots(v_k, u_columns.data(), shape.entity, capacity, padded<T>(earlier), g_lower.data());
      for (int64_t j = 0; j < earlier; ++j) {
        const T source = by_source[j], related = by_relation[j], g = -g_lower[j];
        g_lower[j] = -source * related;  // from here on: minus L[k, j]
        by_source[j] = g * related;      // gradient of a_k . a_j
        by_relation[j] = g * source;     // gradient of q_k . p_j
      }
      add_outer(g_lower.data(), v_k, earlier, entity, v.data());
      add_rows(by_source.data(), a.data(), earlier, entity, &g_a[k * entity]);
      add_outer(by_source.data(), &a[k * entity], earlier, entity, g_a.data());
      add_rows(by_relation.data(), p.data(), earlier, relation, &g_q[k * relation]);
      add_outer(by_relation.data(), &q[k * relation], earlier, relation, g_p.data());
    }
  }

  // Give the gradients of the rows back to the sentences that they were made of.
  void store_gradients(const int64_t* story, T* g_table) const {
    int64_t k = 0;
    for (int64_t t = 0; k < count; ++t) {
      T *e1 = g_table + story[t] * shape.width, *e2 = e1 + shape.entity, *r1 = e2 + shape.entity,
        *r2 = r1 + shape.relation, *r3 = r2 + shape.relation;
      if (shape.operations & WRITE) store_row(k++, e1, r1, nullptr, e2);
      if (shape.operations & MOVE) store_row(k++, e1, r2, r1, nullptr);
      if (shape.operations & BACKLINK) store_row(k++, e2, r3, nullptr, e1);
    }
  }

 private:
  std::vector<T> by_source, by_relation, g_lower;

  // How well row k agrees with each earlier row, by source (a_k . a_j) and by relation (q_k . p_j).
  void compare(int64_t k, int64_t earlier) {
    const int64_t n = padded<T>(earlier);
    dots(&a[k * entity], a_columns.data(), shape.entity, capacity, n, by_source.data());
    dots(&q[k * relation], p_columns.data(), shape.relation, capacity, n, by_relation.data());
  }

  void load_row(const T* source, const T* relation_of, const T* minus, const T* content) {
    const int64_t k = count++;
    for (int64_t i = 0; i < shape.entity; ++i) {
      a[k * entity + i] = a_columns[i * capacity + k] = source[i];
      u[k * entity + i] = content ? content[i] : T(0);
    }
    for (int64_t i = 0; i < shape.relation; ++i) {
      p[k * relation + i] = p_columns[i * capacity + k] = relation_of[i];
      q[k * relation + i] = relation_of[i] - (minus ? minus[i] : T(0));
    }
  }

  void store_row(int64_t k, T* source, T* relation_of, T* minus, T* content) const {
    add(T(1), &g_a[k * entity], shape.entity, source);
    add(T(1), &g_p[k * relation], shape.relation, relation_of);
    add(T(1), &g_q[k * relation], shape.relation, relation_of);
    if (minus) add(T(-1), &g_q[k * relation], shape.relation, minus);
    if (content) add(T(1), &v[k * entity], shape.entity, content);
  }
};

}  // namespace tpr
