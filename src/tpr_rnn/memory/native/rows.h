// The operations of a piece of a story as rows, and the gradients of these.
//
// Row k has a source entity a_k, a relation p_k, a relation q_k with which it reads, and a content
// c_k:
//
//     write      a = e1   p = r1   q = r1        c = e2
//     move       a = e1   p = r2   q = r2 - r1   c = 0
//     backlink   a = e2   p = r3   q = r3        c = e1
//     swap       a = e1   p = r1 - r2   q = p    c = 0

#pragma once

#include <vector>

#include "vectors.h"

namespace tpr {

constexpr int64_t WRITE = 1, MOVE = 2, BACKLINK = 4, SWAP = 8;

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
  const int64_t entity, relation;  // padded to whole registers
  const int64_t capacity;
  int64_t count = 0;
  std::vector<T> a, p, q, u;
  // The same as columns, for many inner products at once. Behind the last row they keep what an
  // earlier story left there: it is multiplied in the last register, and nobody looks.
  std::vector<T> a_columns, p_columns, u_columns;

  Rows(const Shape& shape, int64_t most_sentences, bool with_gradients)
      : shape(shape),
        entity(padded<T>(shape.entity)),
        relation(padded<T>(shape.relation)),
        capacity(padded<T>(most_sentences * shape.rows_per_sentence) + LANES<T>),
        a(capacity * entity),
        p(capacity * relation),
        q(capacity * relation),
        u(capacity * entity),
        a_columns(entity * capacity),
        p_columns(relation * capacity),
        u_columns(with_gradients ? entity * capacity : 0) {}

  const T* source(int64_t k) const { return &a[k * entity]; }
  const T* relation_of(int64_t k) const { return &p[k * relation]; }
  const T* read_relation(int64_t k) const { return &q[k * relation]; }
  const T* change(int64_t k) const { return &u[k * entity]; }
  T* change(int64_t k) { return &u[k * entity]; }

  // Take sentences apart; u starts as the content c.
  void load(const T* table, const int64_t* story, int64_t sentences) {
    count = 0;
    for (int64_t t = 0; t < sentences; ++t) {
      const T *e1 = table + story[t] * shape.width, *e2 = e1 + shape.entity,
              *r1 = e2 + shape.entity, *r2 = r1 + shape.relation, *r3 = r2 + shape.relation;
      if (shape.operations & WRITE) load_row(e1, r1, nullptr, nullptr, e2);
      if (shape.operations & MOVE) load_row(e1, r2, nullptr, r1, nullptr);
      if (shape.operations & BACKLINK) load_row(e2, r3, nullptr, nullptr, e1);
      if (shape.operations & SWAP) load_row(e1, r1, r2, r2, nullptr);
    }
    const int64_t n = padded<T>(count);
    transpose(n, entity, a.data(), entity, a_columns.data(), capacity);
    transpose(n, relation, p.data(), relation, p_columns.data(), capacity);
  }

  // What is known when it comes to gradients.
  void load_changes(const T* change) {
    for (int64_t k = 0; k < count; ++k)
      std::copy_n(change + k * shape.entity, shape.entity, &u[k * entity]);
    transpose(padded<T>(count), entity, u.data(), entity, u_columns.data(), capacity);
  }

  void store_changes(T* change) const {
    for (int64_t k = 0; k < count; ++k)
      std::copy_n(&u[k * entity], shape.entity, change + k * shape.entity);
  }

 private:
  // p and q are the relation, each minus another or nothing.
  void load_row(const T* source, const T* relation_of, const T* p_minus, const T* q_minus,
                const T* content) {
    const int64_t k = count++;
    std::copy_n(source, shape.entity, &a[k * entity]);
    std::copy_n(relation_of, shape.relation, &p[k * relation]);
    std::copy_n(relation_of, shape.relation, &q[k * relation]);
    if (p_minus) add(T(-1), p_minus, shape.relation, &p[k * relation]);
    if (q_minus) add(T(-1), q_minus, shape.relation, &q[k * relation]);
    if (content)
      std::copy_n(content, shape.entity, &u[k * entity]);
    else
      std::fill_n(&u[k * entity], shape.entity, T(0));
  }
};

// The gradients of rows; that of u is that of c once the solve is undone.
template <typename T>
struct Gradients {
  const Rows<T>& rows;
  std::vector<T> v, g_a, g_p, g_q;

  Gradients(const Rows<T>& rows, bool wanted)
      : rows(rows),
        v(wanted ? rows.u.size() : 0),
        g_a(v.size()),
        g_p(wanted ? rows.p.size() : 0),
        g_q(g_p.size()) {}

  T* change(int64_t k) { return &v[k * rows.entity]; }
  T* source(int64_t k) { return &g_a[k * rows.entity]; }
  T* relation_of(int64_t k) { return &g_p[k * rows.relation]; }
  T* read_relation(int64_t k) { return &g_q[k * rows.relation]; }

  // Start from the gradients that changes have from outside, if they have any.
  void load(const T* g_change) {
    const int64_t size = rows.shape.entity;
    std::fill_n(v.begin(), rows.count * rows.entity, T(0));
    for (int64_t k = 0; g_change && k < rows.count; ++k)
      std::copy_n(g_change + k * size, size, change(k));
    std::fill_n(g_a.begin(), rows.count * rows.entity, T(0));
    std::fill_n(g_p.begin(), rows.count * rows.relation, T(0));
    std::fill_n(g_q.begin(), rows.count * rows.relation, T(0));
  }

  // Give them back to the sentences that the rows were made of.
  void store(const int64_t* story, T* g_table) {
    const Shape& shape = rows.shape;
    int64_t k = 0;
    for (int64_t t = 0; k < rows.count; ++t) {
      T *e1 = g_table + story[t] * shape.width, *e2 = e1 + shape.entity, *r1 = e2 + shape.entity,
        *r2 = r1 + shape.relation, *r3 = r2 + shape.relation;
      if (shape.operations & WRITE) store_row(k++, e1, r1, nullptr, nullptr, e2);
      if (shape.operations & MOVE) store_row(k++, e1, r2, nullptr, r1, nullptr);
      if (shape.operations & BACKLINK) store_row(k++, e2, r3, nullptr, nullptr, e1);
      if (shape.operations & SWAP) store_row(k++, e1, r1, r2, r2, nullptr);
    }
  }

 private:
  void store_row(int64_t k, T* source_of, T* relation, T* p_minus, T* q_minus, T* content) {
    const Shape& shape = rows.shape;
    add(T(1), source(k), shape.entity, source_of);
    add(T(1), relation_of(k), shape.relation, relation);
    add(T(1), read_relation(k), shape.relation, relation);
    if (p_minus) add(T(-1), relation_of(k), shape.relation, p_minus);
    if (q_minus) add(T(-1), read_relation(k), shape.relation, q_minus);
    if (content) add(T(1), change(k), shape.entity, content);
  }
};

}  // namespace tpr
