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
// Rows and vectors are padded to whole blocks of zeros, so that inner loops have a fixed length.
constexpr int64_t BLOCK = 8;

int64_t padded(int64_t size) { return (size + BLOCK - 1) / BLOCK * BLOCK; }

struct Shape {
  int64_t batch, time, entity, relation, operations, rows_per_sentence, width;

  Shape(const Tensor& said, int64_t entity_size, int64_t operations_mask)
      : batch(said.size(0)),
        time(said.size(1)),
        entity(entity_size),
        relation((said.size(2) - 2 * entity_size) / 3),
        operations(operations_mask),
        rows_per_sentence(__builtin_popcountll(operations_mask)),
        width(said.size(2)) {}
};

// y[0:n] = sum over i of x[i] * columns[i][0:n], for n a multiple of BLOCK: n dot products at once.
template <typename T>
inline void dots(const T* __restrict x, const T* __restrict columns, int64_t size, int64_t stride,
                 int64_t n, T* __restrict y) {
  for (int64_t j = 0; j < n; j += BLOCK) {
    T sum[BLOCK] = {};
    for (int64_t i = 0; i < size; ++i)
      for (int64_t b = 0; b < BLOCK; ++b) sum[b] += x[i] * columns[i * stride + j + b];
    for (int64_t b = 0; b < BLOCK; ++b) y[j + b] = sum[b];
  }
}

// y[0:size] += sum over j of weight[j] * rows[j][0:size], for size a multiple of BLOCK.
template <typename T>
inline void add_rows(const T* __restrict weight, const T* __restrict rows, int64_t n, int64_t size,
                     T* __restrict y) {
  for (int64_t i = 0; i < size; i += BLOCK) {
    T sum[BLOCK] = {};
    for (int64_t j = 0; j < n; ++j)
      for (int64_t b = 0; b < BLOCK; ++b) sum[b] += weight[j] * rows[j * size + i + b];
    for (int64_t b = 0; b < BLOCK; ++b) y[i + b] += sum[b];
  }
}

// rows[j][0:size] += weight[j] * x[0:size], for size a multiple of BLOCK.
template <typename T>
inline void add_outer(const T* __restrict weight, const T* __restrict x, int64_t n, int64_t size,
                      T* __restrict rows) {
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < size; i += BLOCK)
      for (int64_t b = 0; b < BLOCK; ++b) rows[j * size + i + b] += weight[j] * x[i + b];
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
        entity_p(padded(shape.entity)),
        relation_p(padded(shape.relation)),
        capacity(padded(most_sentences * shape.rows_per_sentence)),
        a(capacity * entity_p),
        p(capacity * relation_p),
        q(capacity * relation_p),
        u(capacity * entity_p),
        a_columns(entity * capacity),
        p_columns(relation * capacity),
        u_columns(entity * capacity) {}

  // Take the rows of a story apart; u starts as the content c. Columns behind the story keep what
  // an earlier story left there: `dots` multiplies them in its last block, and nobody looks.
  void load(const T* said, int64_t sentences, const Shape& shape) {
    int64_t k = 0;
    for (int64_t t = 0; t < sentences; ++t, said += shape.width) {
      const T *e1 = said, *e2 = e1 + entity, *r1 = e2 + entity, *r2 = r1 + relation,
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
void store_gradients(const Shape& shape, int64_t sentences, int64_t entity_p, int64_t relation_p,
                     const T* g_a, const T* g_p, const T* g_q, const T* g_c, T* g_said) {
  const int64_t entity = shape.entity, relation = shape.relation;
  auto add = [](T* to, const T* from, int64_t size, T sign) {
    if (from)
      for (int64_t i = 0; i < size; ++i) to[i] += sign * from[i];
  };
  int64_t k = 0;
  auto row = [&](T* source, T* relation_of, T* minus, T* content) {
    const T* g_read = g_q ? g_q + k * relation_p : nullptr;
    add(source, g_a + k * entity_p, entity, T(1));
    add(relation_of, g_p + k * relation_p, relation, T(1));
    add(relation_of, g_read, relation, T(1));
    if (minus) add(minus, g_read, relation, T(-1));
    if (content) add(content, g_c ? g_c + k * entity_p : nullptr, entity, T(1));
    ++k;
  };
  for (int64_t t = 0; t < sentences; ++t, g_said += shape.width) {
    T *e1 = g_said, *e2 = e1 + entity, *r1 = e2 + entity, *r2 = r1 + relation, *r3 = r2 + relation;
    if (shape.operations & WRITE) row(e1, r1, nullptr, e2);
    if (shape.operations & MOVE) row(e1, r2, r1, nullptr);
    if (shape.operations & BACKLINK) row(e2, r3, nullptr, e1);
  }
}

Tensor tell_forward(const Tensor& said, const std::optional<Tensor>& found, const Tensor& lengths,
                    int64_t entity_size, int64_t operations) {
  const Shape shape(said, entity_size, operations);
  const int64_t rows = shape.rows_per_sentence;
  Tensor change = at::zeros({shape.batch, shape.time, rows, shape.entity}, said.options());
  const int64_t* length = lengths.const_data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES(said.scalar_type(), "tpr_rnn_tell", [&] {
    const scalar_t* in = said.const_data_ptr<scalar_t>();
    const scalar_t* before = found ? found->const_data_ptr<scalar_t>() : nullptr;
    scalar_t* out = change.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, shape.batch, 1, [&](int64_t begin, int64_t end) {
      Rows<scalar_t> story(shape, *std::max_element(length + begin, length + end));
      std::vector<scalar_t> by_source(story.capacity), by_relation(story.capacity);
      for (int64_t b = begin; b < end; ++b) {
        story.load(in + b * shape.time * shape.width, length[b], shape);
        for (int64_t k = 0; k < length[b] * rows; ++k) {
          const int64_t earlier = k / rows * rows, blocks = padded(earlier);
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
                                         const Tensor& said, const Tensor& lengths,
                                         int64_t entity_size, int64_t operations) {
  const Shape shape(said, entity_size, operations);
  const int64_t rows = shape.rows_per_sentence;
  Tensor g_said = at::zeros_like(said), g_content = at::zeros_like(change);
  const int64_t* length = lengths.const_data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES(said.scalar_type(), "tpr_rnn_tell_backward", [&] {
    using Buffer = std::vector<scalar_t>;
    const scalar_t* in = said.const_data_ptr<scalar_t>();
    const scalar_t* g_out = g_change.const_data_ptr<scalar_t>();
    at::parallel_for(0, shape.batch, 1, [&](int64_t begin, int64_t end) {
      Rows<scalar_t> story(shape, *std::max_element(length + begin, length + end));
      const int64_t n = story.capacity, ep = story.entity_p, rp = story.relation_p;
      Buffer v(n * ep), g_a(n * ep), g_p(n * rp), g_q(n * rp), by_source(n), by_relation(n), g_l(n);
      for (int64_t b = begin; b < end; ++b) {
        const int64_t count = length[b] * rows, first = b * shape.time * rows * shape.entity;
        story.load(in + b * shape.time * shape.width, length[b], shape);
        story.load_changes(change.const_data_ptr<scalar_t>() + first, count);
        for (Buffer* buffer : {&v, &g_a, &g_p, &g_q})
          std::fill(buffer->begin(), buffer->end(), scalar_t(0));
        for (int64_t k = 0; k < count; ++k)
          std::copy_n(g_out + first + k * shape.entity, shape.entity, &v[k * ep]);

        for (int64_t k = count - 1; k >= 0; --k) {
          const int64_t earlier = k / rows * rows, blocks = padded(earlier);
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
        store_gradients(shape, length[b], ep, rp, g_a.data(), g_p.data(), g_q.data(), v.data(),
                        g_said.mutable_data_ptr<scalar_t>() + b * shape.time * shape.width);
        for (int64_t k = 0; k < count; ++k)
          std::copy_n(&v[k * ep], shape.entity,
                      g_content.mutable_data_ptr<scalar_t>() + first + k * shape.entity);
      }
    });
  });
  return {g_said, g_content};
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

// Sentences behind a story's end have no change and so add nothing; no lengths are needed.
Tensor read_forward(const Tensor& said, const Tensor& change, const Tensor& entity,
                    const Tensor& relation, int64_t operations) {
  const Shape shape(said, entity.size(1), operations);
  const Keys keys(shape);
  const int64_t rows = shape.rows_per_sentence;
  Tensor filler = at::zeros_like(entity);
  AT_DISPATCH_FLOATING_TYPES(said.scalar_type(), "tpr_rnn_read", [&] {
    const scalar_t* all_said = said.const_data_ptr<scalar_t>();
    const scalar_t* all_change = change.const_data_ptr<scalar_t>();
    at::parallel_for(0, shape.batch, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const scalar_t* n = entity.const_data_ptr<scalar_t>() + b * shape.entity;
        const scalar_t* l = relation.const_data_ptr<scalar_t>() + b * shape.relation;
        scalar_t* out = filler.mutable_data_ptr<scalar_t>() + b * shape.entity;
        for (int64_t t = 0; t < shape.time; ++t) {
          const scalar_t* sentence = all_said + (b * shape.time + t) * shape.width;
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
    const Tensor& g_filler, const Tensor& said, const Tensor& change, const Tensor& entity,
    const Tensor& relation, int64_t operations) {
  const Shape shape(said, entity.size(1), operations);
  const Keys keys(shape);
  const int64_t rows = shape.rows_per_sentence;
  Tensor g_said = at::zeros_like(said), g_change = at::zeros_like(change);
  Tensor g_entity = at::zeros_like(entity), g_relation = at::zeros_like(relation);
  AT_DISPATCH_FLOATING_TYPES(said.scalar_type(), "tpr_rnn_read_backward", [&] {
    const scalar_t* all_said = said.const_data_ptr<scalar_t>();
    const scalar_t* all_change = change.const_data_ptr<scalar_t>();
    scalar_t* all_g_said = g_said.mutable_data_ptr<scalar_t>();
    scalar_t* all_g_change = g_change.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, shape.batch, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const scalar_t* g = g_filler.const_data_ptr<scalar_t>() + b * shape.entity;
        const scalar_t* n = entity.const_data_ptr<scalar_t>() + b * shape.entity;
        const scalar_t* l = relation.const_data_ptr<scalar_t>() + b * shape.relation;
        scalar_t* g_n = g_entity.mutable_data_ptr<scalar_t>() + b * shape.entity;
        scalar_t* g_l = g_relation.mutable_data_ptr<scalar_t>() + b * shape.relation;
        for (int64_t t = 0; t < shape.time; ++t) {
          const int64_t at = (b * shape.time + t) * shape.width;
          const int64_t at_change = (b * shape.time + t) * rows * shape.entity;
          for (int64_t o = 0; o < rows; ++o) {
            const scalar_t* a = all_said + at + keys.source[o];
            const scalar_t* p = all_said + at + keys.relation[o];
            const scalar_t* u = all_change + at_change + o * shape.entity;
            const scalar_t by_source = dot(n, a, shape.entity);
            const scalar_t by_relation = dot(l, p, shape.relation);
            const scalar_t g_weight = dot(g, u, shape.entity);
            const scalar_t g_source = g_weight * by_relation, g_rel = g_weight * by_source;
            add(by_source * by_relation, g, shape.entity, all_g_change + at_change + o * shape.entity);
            add(g_source, n, shape.entity, all_g_said + at + keys.source[o]);
            add(g_rel, l, shape.relation, all_g_said + at + keys.relation[o]);
            add(g_source, a, shape.entity, g_n);
            add(g_rel, p, shape.relation, g_l);
          }
        }
      }
    });
  });
  return {g_said, g_change, g_entity, g_relation};
}

}  // namespace

TORCH_LIBRARY(tpr_rnn, library) {
  library.def("tell(Tensor said, Tensor? found, Tensor lengths, int entity_size, int operations) -> Tensor");
  library.def(
      "tell_backward(Tensor g_change, Tensor change, Tensor said, Tensor lengths, "
      "int entity_size, int operations) -> (Tensor, Tensor)");
  library.def(
      "read(Tensor said, Tensor change, Tensor entity, Tensor relation, int operations) -> Tensor");
  library.def(
      "read_backward(Tensor g_filler, Tensor said, Tensor change, Tensor entity, "
      "Tensor relation, int operations) -> (Tensor, Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(tpr_rnn, CPU, library) {
  library.impl("tell", TORCH_FN(tell_forward));
  library.impl("tell_backward", TORCH_FN(tell_backward));
  library.impl("read", TORCH_FN(read_forward));
  library.impl("read_backward", TORCH_FN(read_backward));
}
