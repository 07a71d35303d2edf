// One story after the other: its pieces, the memory between them, the queries at their positions.

#pragma once

#include "batch.h"
#include "solve.h"
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
        gradients(rows, with_gradients),
        solve(rows),
        walk(rows, batch.hops, data<T>(batch.scale), data<T>(batch.shift)),
        dense(shape),
        g_dense(shape) {}

  void forward(int64_t b, T* change, T* final_state, T* found) {
    const int64_t length = batch.length(b), piece = batch.piece(b);
    const bool carried = is_carried(b);
    if (carried) load(dense, data<T>(batch.state), b);
    int64_t query = batch.first[b];
    for (int64_t t = 0; t == 0 || t < length; t += piece) {
      const bool is_last = t + piece >= length;
      load_rows(b, t, length);
      if (carried)
        for_blocks([&](int64_t k, int64_t n) {  // c - F (a, q)
          dense.take(reads(k, n), slices);
          dense.read(reads(k, n), slices, T(-1), rows.change(k));
        });
      solve.forward();
      rows.store_changes(change + (b * batch.time + t) * per_sentence);
      const int64_t here = is_last ? batch.first[b + 1] : first_after(b, t + piece);
      while (query < here) {
        const int64_t start = query;
        query = load_queries(query, here, t);
        walk.forward(carried ? &dense : nullptr);
        for (int64_t n = 0; n < walk.count; ++n)
          walk.store(n, found + batch.order[start + n] * batch.hops * shape.entity);
      }
      if (final_state || !is_last) write_rows();
    }
    if (final_state) dense.store(final_state + b * dense.size());
  }

  // From the last piece to the first. The memory at the start of each is built up again from the
  // changes; nothing but those was kept.
  void backward(int64_t b, const T* change, const T* g_change, const T* g_final, const T* g_found,
                T* g_table, T* g_state, T* g_asked, T* g_norm) {
    // What nobody reads has no gradient, not even if it is infinite.
    const int64_t length = g_change || g_final ? batch.length(b) : most_seen(b);
    const int64_t piece = batch.piece(b);
    const bool carried = is_carried(b);
    const int64_t last = length ? (length - 1) / piece * piece : 0;
    auto at = [&](int64_t t) { return (b * batch.time + t) * per_sentence; };
    at_start.clear();
    if (carried) {
      load(dense, data<T>(batch.state), b);
      load(g_dense, g_final, b);
      for (int64_t t = 0; t < last; t += piece) {
        at_start.push_back(dense.tensor);
        load_rows(b, t, length);
        rows.load_changes(change + at(t));
        write_rows();
      }
    }
    int64_t end = batch.first[b + 1];
    for (int64_t t = last; t >= 0; t -= piece) {
      load_rows(b, t, length);
      rows.load_changes(change + at(t));
      gradients.load(g_change ? g_change + at(t) : nullptr);
      if (carried) {
        if (t < last) dense.tensor = at_start[t / piece];
        dense.transpose();
        g_dense.transpose();
        for_blocks([&](int64_t k, int64_t n) {  // F += a x p x u
          g_dense.take(writes(k, n), slices);
          g_dense.read(writes(k, n), slices, T(1), gradients.change(k));
          g_dense.unbind(writes(k, n), slices, T(1), rows.change(k), gradients.sources(k),
                         gradients.relation_of(k));
        });
      }
      const int64_t begin = t == 0 ? batch.first[b] : first_after(b, t);
      for (int64_t query = begin; g_found && query < end;) {
        const int64_t start = query;
        query = load_queries(query, end, t);
        walk.forward(carried ? &dense : nullptr);
        for (int64_t n = 0; n < walk.count; ++n)
          walk.load_gradients(n, g_found + batch.order[start + n] * batch.hops * shape.entity);
        walk.backward(gradients, carried ? &dense : nullptr, carried ? &g_dense : nullptr, g_norm);
        for (int64_t n = 0; n < walk.count; ++n)
          walk.store_gradients(n, g_asked + row(start + n) * batch.asked.size(1));
      }
      end = begin;
      solve.backward(gradients);
      if (carried)
        for_blocks([&](int64_t k, int64_t n) {  // c - F (a, q)
          dense.take(reads(k, n), slices);
          dense.read_backward(reads(k, n), slices, T(-1), gradients.change(k),
                              gradients.sources(k), gradients.read_relation(k), g_dense);
        });
      gradients.store(batch.sentences(b) + t, g_table);
    }
    if (g_state) g_dense.store(g_state + b * g_dense.size());
  }

 private:
  const Batch& batch;
  const Shape shape;
  const int64_t per_sentence;
  Rows<T> rows;
  Gradients<T> gradients;
  Solve<T> solve;
  Walk<T> walk;
  Dense<T> dense, g_dense;
  std::vector<T> slices;
  std::vector<std::vector<T>> at_start;  // the memory before each piece but the last

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

  // How many sentences of the story any query has seen.
  int64_t most_seen(int64_t b) const {
    return batch.first[b] < batch.first[b + 1] ? seen(batch.first[b + 1] - 1) : 0;
  }

  // The first query about the story that has seen more than so many sentences.
  int64_t first_after(int64_t b, int64_t sentences) const {
    const auto begin = batch.order.begin();
    return std::partition_point(begin + batch.first[b], begin + batch.first[b + 1],
                                [&](int64_t q) { return batch.seen_by(q) <= sentences; }) -
           begin;
  }

  void load(Dense<T>& memory, const T* states, int64_t b) {
    if (states)
      memory.load(states + b * memory.size());
    else
      memory.clear();
  }

  // The piece that begins at sentence t of so many.
  void load_rows(int64_t b, int64_t t, int64_t length) {
    rows.load(data<T>(batch.table), batch.sentences(b) + t, std::min(batch.piece(b), length - t));
  }

  // As many queries as go at once, in the piece that begins at sentence t; the first that is left.
  int64_t load_queries(int64_t query, int64_t end, int64_t t) {
    for (walk.clear(); query < end && !walk.full(); ++query)
      walk.load(data<T>(batch.asked) + row(query) * batch.asked.size(1),
                (seen(query) - t) * shape.rows_per_sentence);
    return query;
  }

  // All rows, in blocks of as many readers as go at once: with their keys as they read and write.
  template <typename Work>
  void for_blocks(Work work) {
    for (int64_t k = 0; k < rows.count; k += READERS) work(k, std::min(READERS, rows.count - k));
  }
  Readers<T> reads(int64_t k, int64_t n) const {
    return of_block(k, n, rows.read_relation(k));
  }
  Readers<T> writes(int64_t k, int64_t n) const {
    return of_block(k, n, rows.relation_of(k));
  }

  Readers<T> of_block(int64_t k, int64_t n, const T* relation) const {
    return {n, rows.sources_before(n), rows.sources(k), relation, rows.source_of.data(), nullptr};
  }

  void write_rows() {
    for_blocks([&](int64_t k, int64_t n) { dense.write(writes(k, n), rows.change(k)); });
  }
};

}  // namespace tpr
