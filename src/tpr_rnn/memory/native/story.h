// One story after the other: its pieces, the memory between them, the queries at their positions.

#pragma once

#include "batch.h"
#include "dense.h"
#include "walk.h"

namespace tpr {

template <typename T>
struct Story {
  // For the stories from begin to end.
  Story(const Batch& batch, int64_t begin, int64_t end, bool with_gradients)
      : batch(batch),
        shape(batch.shape),
        per_sentence(shape.rows_per_sentence * shape.entity),
        rows(shape, most_sentences(batch, begin, end), with_gradients),
        walk(shape, rows, batch.hops, data<T>(batch.scale), data<T>(batch.shift)),
        dense(shape),
        g_dense(shape) {}

  void forward(int64_t b, T* change, T* final_state, T* found) {
    const int64_t length = batch.length(b), piece = batch.piece(b);
    const bool carried = is_carried(b);
    if (carried) load(dense, data<T>(batch.state), b);
    int64_t query = batch.first[b];
    for (int64_t t = 0; t == 0 || t < length; t += piece) {
      const bool is_last = t + piece >= length;
      rows.load(data<T>(batch.table), batch.sentences(b) + t, std::min(piece, length - t));
      for (int64_t k = 0; carried && k < rows.count; ++k)  // c - F (a, q)
        dense.read(rows.source(k), rows.read_relation(k), T(-1), rows.change(k));
      rows.solve();
      rows.store_changes(change + (b * batch.time + t) * per_sentence);
      for (; query < batch.first[b + 1] && (is_last || seen(query) <= t + piece); ++query) {
        walk.load(data<T>(batch.asked) + row(query) * batch.asked.size(1));
        walk.forward(rows, rows_before(seen(query) - t), carried ? &dense : nullptr);
        walk.store(found + batch.order[query] * batch.hops * shape.entity);
      }
      if (final_state || !is_last) write_rows();
    }
    if (final_state) dense.store(final_state + b * dense.size());
  }

  // From the last piece to the first. The memory at the start of each is built up again from the
  // changes; nothing but those was kept.
  void backward(int64_t b, const T* change, const T* g_change, const T* g_final, const T* g_found,
                T* g_table, T* g_state, T* g_asked, T* g_norm) {
    const int64_t length = batch.length(b), piece = batch.piece(b);
    const bool carried = is_carried(b);
    const int64_t last = length ? (length - 1) / piece * piece : 0;
    auto load_piece = [&](int64_t t) {
      const int64_t at = (b * batch.time + t) * per_sentence;
      rows.load(data<T>(batch.table), batch.sentences(b) + t, std::min(piece, length - t));
      rows.load_changes(change + at, g_change ? g_change + at : nullptr);
    };
    at_start.clear();
    if (carried) {
      load(dense, data<T>(batch.state), b);
      load(g_dense, g_final, b);
      for (int64_t t = 0; t < last; t += piece) {
        at_start.push_back(dense.tensor);
        load_piece(t);
        write_rows();
      }
      at_start.push_back(dense.tensor);
    }
    int64_t query = batch.first[b + 1] - 1;
    for (int64_t t = last; t >= 0; t -= piece) {
      load_piece(t);
      if (carried) {
        dense.tensor = at_start[t / piece];
        for (int64_t k = 0; k < rows.count; ++k) {  // F += a x p x u
          g_dense.read(rows.source(k), rows.relation_of(k), T(1), rows.g_change(k));
          g_dense.unbind(rows.source(k), rows.relation_of(k), T(1), rows.change(k),
                         rows.g_source(k), rows.g_relation(k));
        }
      }
      for (; query >= batch.first[b] && (t == 0 || seen(query) > t); --query) {
        if (!g_found) continue;
        walk.load(data<T>(batch.asked) + row(query) * batch.asked.size(1));
        const int64_t before = rows_before(seen(query) - t);
        walk.forward(rows, before, carried ? &dense : nullptr);
        walk.load_gradients(g_found + batch.order[query] * batch.hops * shape.entity);
        walk.backward(rows, before, carried ? &dense : nullptr, carried ? &g_dense : nullptr);
        walk.store_gradients(g_asked + row(query) * batch.asked.size(1), g_norm);
      }
      rows.solve_backward();
      for (int64_t k = 0; carried && k < rows.count; ++k) {  // c - F (a, q)
        const T* v = rows.g_change(k);
        dense.unbind(rows.source(k), rows.read_relation(k), T(-1), v, rows.g_source(k),
                     rows.g_read_relation(k));
        g_dense.write(rows.source(k), rows.read_relation(k), T(-1), v);
      }
      rows.store_gradients(batch.sentences(b) + t, g_table);
    }
    if (g_state) g_dense.store(g_state + b * g_dense.size());
  }

 private:
  const Batch& batch;
  const Shape shape;
  const int64_t per_sentence;
  Rows<T> rows;
  Walk<T> walk;
  Dense<T> dense, g_dense;
  std::vector<std::vector<T>> at_start;

  static int64_t most_sentences(const Batch& batch, int64_t begin, int64_t end) {
    int64_t most = 0;
    for (int64_t b = begin; b < end; ++b)
      most = std::max(most, std::min(batch.length(b), batch.piece(b)));
    return most;
  }

  // Whether there is a memory before any piece of the story.
  bool is_carried(int64_t b) const {
    return batch.state.defined() || batch.length(b) > batch.piece(b);
  }
  int64_t row(int64_t query) const { return batch.row_of(batch.order[query]); }
  int64_t seen(int64_t query) const { return batch.seen_by(batch.order[query]); }
  int64_t rows_before(int64_t sentences) const { return sentences * shape.rows_per_sentence; }

  void load(Dense<T>& memory, const T* states, int64_t b) {
    if (states)
      memory.load(states + b * memory.size());
    else
      memory.clear();
  }

  void write_rows() {
    for (int64_t k = 0; k < rows.count; ++k)
      dense.write(rows.source(k), rows.relation_of(k), T(1), rows.change(k));
  }
};

}  // namespace tpr
