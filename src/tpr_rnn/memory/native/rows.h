// The operations of a piece of a story as rows, and the gradients of these.
//
// Row k has a source entity a_k, a relation p_k, a relation q_k with which it reads, and a content
// c_k:
//
//     write      a = e1   p = r1   q = r1        c = e2
//     move       a = e1   p = r2   q = r2 - r1   c = 0
//     backlink   a = e2   p = r3   q = r3        c = e1
//     swap       a = e1   p = r1 - r2   q = p    c = 0
//
// All but the backlink have the same source. What depends on that alone is computed once for them
// when they read: `e` has the different sources of each sentence.

#pragma once

#include <vector>

#include "vectors.h"

namespace tpr {

constexpr int64_t WRITE = 1, MOVE = 2, BACKLINK = 4, SWAP = 8;

struct Shape {
  int64_t width, entity, relation, operations, rows_per_sentence;
  bool from_first, from_second;  // whether e1 and e2 are sources

  Shape(int64_t width, int64_t entity_size, int64_t operations)
      : width(width),
        entity(entity_size),
        relation((width - 2 * entity_size) / 3),
        operations(operations),
        rows_per_sentence(__builtin_popcountll(operations)),
        from_first(operations & ~BACKLINK),
        from_second(operations & BACKLINK) {}

  int64_t sources_per_sentence() const { return from_first + from_second; }
};

template <typename T>
struct Rows {
  const Shape shape;
  const int64_t entity, relation;  // padded to whole registers
  const int64_t capacity;
  int64_t count = 0;
  std::vector<T> a, p, q, u, e;
  std::vector<int64_t> source_of;  // of each row, counted from the first one of a sentence
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
        e(capacity * entity),
        a_columns(entity * capacity),
        p_columns(relation * capacity),
        u_columns(with_gradients ? entity * capacity : 0) {
    for (int64_t t = 0, s = 0; t < most_sentences; ++t, s += shape.sources_per_sentence()) {
      if (shape.operations & WRITE) source_of.push_back(s);
      if (shape.operations & MOVE) source_of.push_back(s);
      if (shape.operations & BACKLINK) source_of.push_back(s + shape.from_first);
      if (shape.operations & SWAP) source_of.push_back(s);
    }
  }

  const T* source(int64_t k) const { return &a[k * entity]; }
  // The different sources of a sentence and those behind it; k is the sentence's first row.
  const T* sources(int64_t k) const { return &e[sources_before(k) * entity]; }
  int64_t sources_before(int64_t k) const {
    return k / shape.rows_per_sentence * shape.sources_per_sentence();
  }
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
      T* sources_here = &e[sources_before(count) * entity];
      if (shape.from_first) std::copy_n(e1, shape.entity, sources_here);
      if (shape.from_second)
        std::copy_n(e2, shape.entity, sources_here + (shape.from_first ? entity : 0));
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

// The gradients of rows; that of u is that of c once the solve is undone. A source has two: as the
// one that is read, of each row, and as the one that reads, of all rows together.
template <typename T>
struct Gradients {
  const Rows<T>& rows;
  std::vector<T> v, g_a, g_p, g_q, g_e;

  Gradients(const Rows<T>& rows, bool wanted)
      : rows(rows),
        v(wanted ? rows.u.size() : 0),
        g_a(v.size()),
        g_p(wanted ? rows.p.size() : 0),
        g_q(g_p.size()),
        g_e(v.size()) {}

  T* change(int64_t k) { return &v[k * rows.entity]; }
  T* source(int64_t k) { return &g_a[k * rows.entity]; }
  T* sources(int64_t k) { return &g_e[rows.sources_before(k) * rows.entity]; }
  T* relation_of(int64_t k) { return &g_p[k * rows.relation]; }
  T* read_relation(int64_t k) { return &g_q[k * rows.relation]; }

  // Start from the gradients that changes have from outside, if they have any.
  void load(const T* g_change) {
    const int64_t size = rows.shape.entity;
    std::fill_n(v.begin(), rows.count * rows.entity, T(0));
    for (int64_t k = 0; g_change && k < rows.count; ++k)
      std::copy_n(g_change + k * size, size, change(k));
    std::fill_n(g_a.begin(), rows.count * rows.entity, T(0));
    std::fill_n(g_e.begin(), rows.sources_before(rows.count) * rows.entity, T(0));
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
      const T* g_sources = sources(k);
      if (shape.from_first) add(T(1), g_sources, shape.entity, e1);
      if (shape.from_second)
        add(T(1), g_sources + (shape.from_first ? rows.entity : 0), shape.entity, e2);
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
