// The triangular solve over the rows of a piece, and its gradient:
//
//     u_k = c_k - sum over j in earlier sentences of (a_k . a_j) (q_k . p_j) u_j
//
// A block of rows reads all rows before it at once; only inside the block it goes sentence by
// sentence, as the rows of one sentence do not see each other.

#pragma once

#include "reading.h"

namespace tpr {

template <typename T>
struct Solve {
  Solve(Rows<T>& rows)
      : rows(rows),
        step(rows.shape.rows_per_sentence),
        block(std::max<int64_t>(1, READERS / step) * step),
        reading(rows, T(-1)),
        earlier(rows.capacity) {
    for (int64_t k = 0; k < rows.capacity; ++k) earlier[k] = k / step * step;
  }

  // Turn contents into changes, from the first row to the last.
  void forward() {
    const int64_t e = rows.entity;
    for (int64_t k = 0; k < rows.count; k += block) {
      const Readers<T> readers = block_at(k);
      reading.forward(readers, k, rows.change(k));
      reading.weigh(readers, k, readers.count);
      for (int64_t i = step; i < readers.count; i += step)
        multiply<true>(step, e, i, reading.weights(i), rows.change(k), e, rows.change(k + i), e);
    }
  }

  // With L the lower triangle: (I + L)' v = g gives the gradient of the contents, from the last
  // row to the first, and -v_k . u_j that of L[k, j]. L is computed again; it was never kept.
  void backward(Gradients<T>& of) {
    const int64_t e = rows.entity;
    for (int64_t k = (rows.count - 1) / block * block; k >= 0 && rows.count; k -= block) {
      const Readers<T> readers = block_at(k);
      reading.weigh(readers, k, readers.count);
      for (int64_t i = readers.count - step; i > 0; i -= step)
        multiply<true>(i, e, step, reading.weights(i).transposed(), of.change(k + i), e,
                       of.change(k), e);
      reading.backward_of_weights(readers, k, readers.count, of.change(k), of.sources(k),
                                  of.read_relation(k), of);
      reading.backward(readers, k, of.change(k), of.sources(k), of.read_relation(k), of);
    }
  }

 private:
  Rows<T>& rows;
  const int64_t step, block;
  Reading<T> reading;
  std::vector<int64_t> earlier;  // of each row: the rows of earlier sentences

  Readers<T> block_at(int64_t k) const {
    const int64_t count = std::min(block, rows.count - k);
    return {count,           rows.sources_before(count), rows.sources(k), rows.read_relation(k),
            rows.source_of.data(), &earlier[k]};
  }
};

}  // namespace tpr
