// The triangular solve of parallel.py and the read of operations.py, one story at a time.
//
// A story of n sentences is a list of rows, one for each operation of each sentence. Row k has a
// source entity a_k, a relation p_k, a relation q_k with which it reads, and a content c_k:
//
//     write      a = e1   p = r1   q = r1        c = e2
//     move       a = e1   p = r2   q = r2 - r1   c = 0
//     backlink   a = e2   p = r3   q = r3        c = e1
//
// tell:  u_k = c_k - sum over j in earlier sentences of (a_k . a_j) (q_k . p_j) u_j
// read:  filler = sum over j of (entity . a_j) (relation . p_j) u_j
//
// A story is a list of rows of a table of sentences, each of which says e1, e2, r1, r2, r3.
// Each story is solved at its own length, so padding costs nothing, and neither Gram matrix is
// kept for the backward pass: it is cheaper to multiply again than to store.

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

namespace {

using at::Tensor;

constexpr int64_t WRITE = 1, MOVE = 2, BACKLINK = 4;
constexpr int64_t REGISTER_BYTES = 32;

// Rows and vectors are padded to whole blocks of two registers, so that inner loops need no ends.
template <typename T>
constexpr int64_t block() {
  return 2 * REGISTER_BYTES / sizeof(T);
}

template <typename T>
int64_t padded(int64_t size) {
  return (size + block<T>() - 1) / block<T>() * block<T>();
}

struct Shape {
  int64_t batch, time, entity, relation, operations, rows_per_sentence, width;

  Shape(const Tensor& table, const Tensor& story, int64_t entity_size, int64_t operations_mask)
      : batch(story.size(0)),
        time(story.size(1)),
        entity(entity_size),
        relation((table.size(1) - 2 * entity_size) / 3),
        operations(operations_mask),
        rows_per_sentence(__builtin_popcountll(operations_mask)),
        width(table.size(1)) {}
};

// Gradients of the table of sentences, one copy for each thread: stories share sentences.
template <typename T>
struct TableGradient {
  Tensor copies;

  explicit TableGradient(const Tensor& table)
      : copies(at::zeros({at::get_num_threads(), table.size(0), table.size(1)}, table.options())) {}

  T* mine() { return copies.mutable_data_ptr<T>() + at::get_thread_num() * copies.stride(0); }
  Tensor total() { return copies.size(0) == 1 ? copies[0] : copies.sum(0); }
};

template <typename T>
inline T dot(const T* __restrict x, const T* __restrict y, int64_t size) {
  T sum = 0;
  for (int64_t i = 0; i < size; ++i) sum += x[i] * y[i];
  return sum;
}

template <typename T>
inline void add(T weight, const T* __restrict x, int64_t size, T* __restrict y) {
  for (int64_t i = 0; i < size; ++i) y[i] += weight * x[i];
}

// One register full of numbers. (GCC and Clang know this type; rows lie anywhere in memory.)
template <typename T>
struct Register {
  typedef T type __attribute__((vector_size(REGISTER_BYTES), aligned(alignof(T)), may_alias));
};

template <typename T>
inline auto& at_once(T* x) {
  return *reinterpret_cast<typename Register<T>::type*>(x);
}

template <typename T>
inline const auto& at_once(const T* x) {
  return *reinterpret_cast<const typename Register<T>::type*>(x);
}

// y[0:n] = sum over i of x[i] * columns[i][0:n], for n in whole blocks: n dot products at once.
// Several sums side by side, here and below, so that one addition need not wait for the last.
template <typename T>
inline void dots(const T* x, const T* columns, int64_t size, int64_t stride, int64_t n, T* y) {
  constexpr int64_t half = block<T>() / 2;
  for (int64_t j = 0; j < n; j += block<T>()) {
    typename Register<T>::type left = {}, right = {}, left_odd = {}, right_odd = {};
    const T* column = columns + j;
    int64_t i = 0;
    for (; i + 1 < size; i += 2, column += 2 * stride) {
      left += x[i] * at_once(column);
      right += x[i] * at_once(column + half);
      left_odd += x[i + 1] * at_once(column + stride);
      right_odd += x[i + 1] * at_once(column + stride + half);
    }
    if (i < size) {
      left += x[i] * at_once(column);
      right += x[i] * at_once(column + half);
    }
    at_once(y + j) = left + left_odd;
    at_once(y + j + half) = right + right_odd;
  }
}

// y[0:size] += sum over j of weight[j] * rows[j][0:size], for size in whole blocks.
template <typename T>
inline void add_rows(const T* weight, const T* rows, int64_t n, int64_t size, T* y) {
  constexpr int64_t half = block<T>() / 2;
  for (int64_t i = 0; i < size; i += block<T>()) {
    typename Register<T>::type left = {}, right = {}, left_odd = {}, right_odd = {};
    const T* row = rows + i;
    int64_t j = 0;
    for (; j + 1 < n; j += 2, row += 2 * size) {
      left += weight[j] * at_once(row);
      right += weight[j] * at_once(row + half);
      left_odd += weight[j + 1] * at_once(row + size);
      right_odd += weight[j + 1] * at_once(row + size + half);
    }
    if (j < n) {
      left += weight[j] * at_once(row);
      right += weight[j] * at_once(row + half);
    }
    at_once(y + i) += left + left_odd;
    at_once(y + i + half) += right + right_odd;
  }
}

// rows[j][0:size] += weight[j] * x[0:size], for size in whole blocks.
template <typename T>
inline void add_outer(const T* weight, const T* x, int64_t n, int64_t size, T* rows) {
  constexpr int64_t half = block<T>() / 2;
  for (int64_t i = 0; i < size; i += block<T>()) {
    const auto left = at_once(x + i), right = at_once(x + i + half);
    for (T* row = rows + i; row < rows + n * size; row += size, ++weight) {
      at_once(row) += *weight * left;
      at_once(row + half) += *weight * right;
    }
    weight -= n;
  }
}

// The rows of one story: as rows (to add them up) and as columns (for many dot products at once).
template <typename T>
struct Rows {
  int64_t entity, relation, entity_p, relation_p;  // sizes, plain and padded
  int64_t capacity;
  std::vector<T> a, p, q, u, a_columns, p_columns, u_columns;

  Rows(const Shape& shape, int64_t most_sentences)
      : entity(shape.entity),
        relation(shape.relation),
        entity_p(padded<T>(shape.entity)),
        relation_p(padded<T>(shape.relation)),
        capacity(padded<T>(most_sentences * shape.rows_per_sentence)),
        a(capacity * entity_p),
        p(capacity * relation_p),
        q(capacity * relation_p),
        u(capacity * entity_p),
        a_columns(entity * capacity),
        p_columns(relation * capacity),
        u_columns(entity * capacity) {}

  // Take the rows of a story apart; u starts as the content c. Columns behind the story keep what
  // an earlier story left there: `dots` multiplies them in its last block, and nobody looks.
  void load(const T* table, const int64_t* story, int64_t sentences, const Shape& shape) {
    int64_t k = 0;
    for (int64_t t = 0; t < sentences; ++t) {
      const T *e1 = table + story[t] * shape.width, *e2 = e1 + entity, *r1 = e2 + entity, *r2 = r1 + relation,
              *r3 = r2 + relation;
      if (shape.operations & WRITE) set(k++, e1, r1, nullptr, e2);
      if (shape.operations & MOVE) set(k++, e1, r2, r1, nullptr);
      if (shape.operations & BACKLINK) set(k++, e2, r3, nullptr, e1);
    }
  }

  void set(int64_t k, const T* source, const T* relation_of, const T* minus, const T* content) {
    for (int64_t i = 0; i < entity; ++i) {
      a[k * entity_p + i] = a_columns[i * capacity + k] = source[i];
      u[k * entity_p + i] = content ? content[i] : T(0);
    }
    for (int64_t i = 0; i < relation; ++i) {
      p[k * relation_p + i] = p_columns[i * capacity + k] = relation_of[i];
      q[k * relation_p + i] = relation_of[i] - (minus ? minus[i] : T(0));
    }
  }

  void load_changes(const T* change, int64_t rows) {
    for (int64_t k = 0; k < rows; ++k)
      for (int64_t i = 0; i < entity; ++i)
        u[k * entity_p + i] = u_columns[i * capacity + k] = change[k * entity + i];
  }
};

// Give the gradients of a story's rows back to the sentences that they were made of.
template <typename T>
void store_gradients(const Shape& shape, const int64_t* story, int64_t sentences, int64_t entity_p,
                     int64_t relation_p, const T* g_a, const T* g_p, const T* g_q, const T* g_c,
                     T* g_table) {
  const int64_t entity = shape.entity, relation = shape.relation;
  int64_t k = 0;
  auto row = [&](T* source, T* relation_of, T* minus, T* content) {
    add(T(1), g_a + k * entity_p, entity, source);
    add(T(1), g_p + k * relation_p, relation, relation_of);
    add(T(1), g_q + k * relation_p, relation, relation_of);
    if (minus) add(T(-1), g_q + k * relation_p, relation, minus);
    if (content) add(T(1), g_c + k * entity_p, entity, content);
    ++k;
  };
  for (int64_t t = 0; t < sentences; ++t) {
    T *e1 = g_table + story[t] * shape.width, *e2 = e1 + entity, *r1 = e2 + entity, *r2 = r1 + relation, *r3 = r2 + relation;
    if (shape.operations & WRITE) row(e1, r1, nullptr, e2);
    if (shape.operations & MOVE) row(e1, r2, r1, nullptr);
    if (shape.operations & BACKLINK) row(e2, r3, nullptr, e1);
  }
}

Tensor tell_forward(const Tensor& table, const Tensor& story_rows,
                    const std::optional<Tensor>& found, const Tensor& lengths, int64_t entity_size,
                    int64_t operations) {
  const Shape shape(table, story_rows, entity_size, operations);
  const int64_t rows = shape.rows_per_sentence;
  Tensor change = at::zeros({shape.batch, shape.time, rows, shape.entity}, table.options());
  const int64_t* length = lengths.const_data_ptr<int64_t>();
  const int64_t* told = story_rows.const_data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES(table.scalar_type(), "tpr_rnn_tell", [&] {
    const scalar_t* in = table.const_data_ptr<scalar_t>();
    const scalar_t* before = found ? found->const_data_ptr<scalar_t>() : nullptr;
    scalar_t* out = change.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, shape.batch, 1, [&](int64_t begin, int64_t end) {
      Rows<scalar_t> story(shape, *std::max_element(length + begin, length + end));
      std::vector<scalar_t> by_source(story.capacity), by_relation(story.capacity);
      for (int64_t b = begin; b < end; ++b) {
        story.load(in, told + b * shape.time, length[b], shape);
        for (int64_t k = 0; k < length[b] * rows; ++k) {
          const int64_t earlier = k / rows * rows, blocks = padded<scalar_t>(earlier);
          const scalar_t* a = &story.a[k * story.entity_p];
          const scalar_t* q = &story.q[k * story.relation_p];
          const int64_t at = (b * shape.time * rows + k) * shape.entity;
          scalar_t* u = &story.u[k * story.entity_p];
          for (int64_t i = 0; before && i < shape.entity; ++i) u[i] -= before[at + i];
          dots(a, story.a_columns.data(), story.entity, story.capacity, blocks, by_source.data());
          dots(q, story.p_columns.data(), story.relation, story.capacity, blocks,
               by_relation.data());
          for (int64_t j = 0; j < earlier; ++j) by_source[j] *= -by_relation[j];
          add_rows(by_source.data(), story.u.data(), earlier, story.entity_p, u);
          std::copy_n(u, shape.entity, out + at);
        }
      }
    });
  });
  return change;
}

// With g the gradient of U: (I + L)' v = g gives that of C, and -v_k . u_j that of L[k, j].
std::tuple<Tensor, Tensor> tell_backward(const Tensor& g_change, const Tensor& change,
                                         const Tensor& table, const Tensor& story_rows,
                                         const Tensor& lengths, int64_t entity_size,
                                         int64_t operations) {
  const Shape shape(table, story_rows, entity_size, operations);
  const int64_t rows = shape.rows_per_sentence;
  Tensor g_table, g_content = at::zeros_like(change);
  const int64_t* length = lengths.const_data_ptr<int64_t>();
  const int64_t* told = story_rows.const_data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES(table.scalar_type(), "tpr_rnn_tell_backward", [&] {
    using Buffer = std::vector<scalar_t>;
    const scalar_t* in = table.const_data_ptr<scalar_t>();
    const scalar_t* g_out = g_change.const_data_ptr<scalar_t>();
    TableGradient<scalar_t> gradient(table);
    at::parallel_for(0, shape.batch, 1, [&](int64_t begin, int64_t end) {
      Rows<scalar_t> story(shape, *std::max_element(length + begin, length + end));
      const int64_t n = story.capacity, ep = story.entity_p, rp = story.relation_p;
      Buffer v(n * ep), g_a(n * ep), g_p(n * rp), g_q(n * rp), by_source(n), by_relation(n), g_l(n);
      for (int64_t b = begin; b < end; ++b) {
        const int64_t count = length[b] * rows, first = b * shape.time * rows * shape.entity;
        story.load(in, told + b * shape.time, length[b], shape);
        story.load_changes(change.const_data_ptr<scalar_t>() + first, count);
        for (Buffer* buffer : {&v, &g_a, &g_p, &g_q})
          std::fill(buffer->begin(), buffer->end(), scalar_t(0));
        for (int64_t k = 0; k < count; ++k)
          std::copy_n(g_out + first + k * shape.entity, shape.entity, &v[k * ep]);

        for (int64_t k = count - 1; k >= 0; --k) {
          const int64_t earlier = k / rows * rows, blocks = padded<scalar_t>(earlier);
          const scalar_t *a = &story.a[k * ep], *q = &story.q[k * rp], *v_k = &v[k * ep];
          dots(a, story.a_columns.data(), story.entity, n, blocks, by_source.data());
          dots(q, story.p_columns.data(), story.relation, n, blocks, by_relation.data());
          dots(v_k, story.u_columns.data(), story.entity, n, blocks, g_l.data());
          for (int64_t j = 0; j < earlier; ++j) {
            const scalar_t source = by_source[j], relation = by_relation[j], g = -g_l[j];
            g_l[j] = -source * relation;  // from here on: minus L[k, j]
            by_source[j] = g * relation;  // gradient of a_k . a_j
            by_relation[j] = g * source;  // gradient of q_k . p_j
          }
          add_outer(g_l.data(), v_k, earlier, ep, v.data());
          add_rows(by_source.data(), story.a.data(), earlier, ep, &g_a[k * ep]);
          add_outer(by_source.data(), a, earlier, ep, g_a.data());
          add_rows(by_relation.data(), story.p.data(), earlier, rp, &g_q[k * rp]);
          add_outer(by_relation.data(), q, earlier, rp, g_p.data());
        }
        store_gradients(shape, told + b * shape.time, length[b], ep, rp, g_a.data(), g_p.data(),
                        g_q.data(), v.data(), gradient.mine());
        for (int64_t k = 0; k < count; ++k)
          std::copy_n(&v[k * ep], shape.entity,
                      g_content.mutable_data_ptr<scalar_t>() + first + k * shape.entity);
      }
    });
    g_table = gradient.total();
  });
  return {g_table, g_content};
}

// Where the parts of a sentence lie that the rows of each operation are made of.
struct Keys {
  int64_t source[3], relation[3];

  explicit Keys(const Shape& shape) {
    const int64_t e1 = 0, e2 = shape.entity, r1 = 2 * shape.entity, r2 = r1 + shape.relation,
                  r3 = r2 + shape.relation;
    int64_t o = 0;
    auto key = [&](int64_t entity, int64_t relation_of) {
      source[o] = entity;
      relation[o++] = relation_of;
    };
    if (shape.operations & WRITE) key(e1, r1);
    if (shape.operations & MOVE) key(e1, r2);
    if (shape.operations & BACKLINK) key(e2, r3);
  }
};

Tensor read_forward(const Tensor& table, const Tensor& story_rows, const Tensor& lengths,
                    const Tensor& change, const Tensor& entity, const Tensor& relation,
                    int64_t operations) {
  const Shape shape(table, story_rows, entity.size(1), operations);
  const Keys keys(shape);
  const int64_t rows = shape.rows_per_sentence;
  Tensor filler = at::zeros_like(entity);
  const int64_t* length = lengths.const_data_ptr<int64_t>();
  const int64_t* told = story_rows.const_data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES(table.scalar_type(), "tpr_rnn_read", [&] {
    const scalar_t* sentences = table.const_data_ptr<scalar_t>();
    const scalar_t* all_change = change.const_data_ptr<scalar_t>();
    at::parallel_for(0, shape.batch, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const scalar_t* n = entity.const_data_ptr<scalar_t>() + b * shape.entity;
        const scalar_t* l = relation.const_data_ptr<scalar_t>() + b * shape.relation;
        scalar_t* out = filler.mutable_data_ptr<scalar_t>() + b * shape.entity;
        for (int64_t t = 0; t < length[b]; ++t) {
          const scalar_t* sentence = sentences + told[b * shape.time + t] * shape.width;
          const scalar_t* u = all_change + (b * shape.time + t) * rows * shape.entity;
          for (int64_t o = 0; o < rows; ++o, u += shape.entity) {
            const scalar_t weight = dot(n, sentence + keys.source[o], shape.entity) *
                                    dot(l, sentence + keys.relation[o], shape.relation);
            add(weight, u, shape.entity, out);
          }
        }
      }
    });
  });
  return filler;
}

std::tuple<Tensor, Tensor, Tensor, Tensor> read_backward(
    const Tensor& g_filler, const Tensor& table, const Tensor& story_rows, const Tensor& lengths,
    const Tensor& change, const Tensor& entity, const Tensor& relation, int64_t operations) {
  const Shape shape(table, story_rows, entity.size(1), operations);
  const Keys keys(shape);
  const int64_t rows = shape.rows_per_sentence;
  Tensor g_table, g_change = at::zeros_like(change);
  Tensor g_entity = at::zeros_like(entity), g_relation = at::zeros_like(relation);
  const int64_t* length = lengths.const_data_ptr<int64_t>();
  const int64_t* told = story_rows.const_data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES(table.scalar_type(), "tpr_rnn_read_backward", [&] {
    const scalar_t* sentences = table.const_data_ptr<scalar_t>();
    const scalar_t* all_change = change.const_data_ptr<scalar_t>();
    TableGradient<scalar_t> gradient(table);
    scalar_t* all_g_change = g_change.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, shape.batch, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const scalar_t* g = g_filler.const_data_ptr<scalar_t>() + b * shape.entity;
        const scalar_t* n = entity.const_data_ptr<scalar_t>() + b * shape.entity;
        const scalar_t* l = relation.const_data_ptr<scalar_t>() + b * shape.relation;
        scalar_t* g_n = g_entity.mutable_data_ptr<scalar_t>() + b * shape.entity;
        scalar_t* g_l = g_relation.mutable_data_ptr<scalar_t>() + b * shape.relation;
        scalar_t* g_sentences = gradient.mine();
        for (int64_t t = 0; t < length[b]; ++t) {
          const int64_t at = told[b * shape.time + t] * shape.width;
          const int64_t at_change = (b * shape.time + t) * rows * shape.entity;
          for (int64_t o = 0; o < rows; ++o) {
            const scalar_t* a = sentences + at + keys.source[o];
            const scalar_t* p = sentences + at + keys.relation[o];
            const scalar_t* u = all_change + at_change + o * shape.entity;
            const scalar_t by_source = dot(n, a, shape.entity);
            const scalar_t by_relation = dot(l, p, shape.relation);
            const scalar_t g_weight = dot(g, u, shape.entity);
            const scalar_t g_source = g_weight * by_relation, g_rel = g_weight * by_source;
            add(by_source * by_relation, g, shape.entity, all_g_change + at_change + o * shape.entity);
            add(g_source, n, shape.entity, g_sentences + at + keys.source[o]);
            add(g_rel, l, shape.relation, g_sentences + at + keys.relation[o]);
            add(g_source, a, shape.entity, g_n);
            add(g_rel, p, shape.relation, g_l);
          }
        }
      }
    });
    g_table = gradient.total();
  });
  return {g_table, g_change, g_entity, g_relation};
}

}  // namespace

TORCH_LIBRARY(tpr_rnn, library) {
  library.def(
      "tell(Tensor table, Tensor story, Tensor? found, Tensor lengths, int entity_size, "
      "int operations) -> Tensor");
  library.def(
      "tell_backward(Tensor g_change, Tensor change, Tensor table, Tensor story, Tensor lengths, "
      "int entity_size, int operations) -> (Tensor, Tensor)");
  library.def(
      "read(Tensor table, Tensor story, Tensor lengths, Tensor change, Tensor entity, "
      "Tensor relation, int operations) -> Tensor");
  library.def(
      "read_backward(Tensor g_filler, Tensor table, Tensor story, Tensor lengths, Tensor change, "
      "Tensor entity, Tensor relation, int operations) -> (Tensor, Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(tpr_rnn, CPU, library) {
  library.impl("tell", TORCH_FN(tell_forward));
  library.impl("tell_backward", TORCH_FN(tell_backward));
  library.impl("read", TORCH_FN(read_forward));
  library.impl("read_backward", TORCH_FN(read_backward));
}
