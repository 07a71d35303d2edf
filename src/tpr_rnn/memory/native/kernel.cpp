// The parallel memory in C++: `update` solves stories, whole or in chunks; `walk` solves them and
// answers a question about each.
//
// A story is a list of rows of a table of sentences, each of which says e1, e2, r1, r2, r3. Each
// story is read at its own length, so that padding costs nothing, and its gradients go straight to
// the sentences that it is made of.

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include <optional>
#include <tuple>

#include "dense.h"
#include "walk.h"

namespace {

using at::Tensor;
using tpr::Dense;
using tpr::Rows;
using tpr::Shape;
using tpr::Walk;

// The stories of a batch.
struct Stories {
  const int64_t *rows, *lengths;
  int64_t time;

  Stories(const Tensor& table, const Tensor& story, const Tensor& length)
      : rows(story.const_data_ptr<int64_t>()),
        lengths(length.const_data_ptr<int64_t>()),
        time(story.size(1)) {
    TORCH_CHECK(length.size(0) == story.size(0), "there are ", story.size(0), " stories and ",
                length.size(0), " lengths");
    for (int64_t b = 0; b < story.size(0); ++b) {
      TORCH_CHECK(0 <= lengths[b] && lengths[b] <= time, "story ", b, " has ", time,
                  " sentences, not ", lengths[b]);
      for (int64_t t = 0; t < lengths[b]; ++t)
        TORCH_CHECK(0 <= of(b)[t] && of(b)[t] < table.size(0), "there is no sentence ", of(b)[t]);
    }
  }

  const int64_t* of(int64_t b) const { return rows + b * time; }
  int64_t longest(int64_t begin, int64_t end) const {
    return *std::max_element(lengths + begin, lengths + end);
  }
};

// The questions of a batch, one a story, as rows of a table.
struct Questions {
  const int64_t *of, width, steps;

  Questions(const Shape& shape, const Tensor& asked, const Tensor& question)
      : of(question.const_data_ptr<int64_t>()),
        width(asked.size(1)),
        steps((width - shape.entity) / shape.relation) {
    TORCH_CHECK(question.size(0) == shape.batch, "there are ", shape.batch, " stories and ",
                question.size(0), " questions");
    TORCH_CHECK(width == shape.entity + steps * shape.relation, "a question of ", width,
                " numbers is not an entity and relations");
    for (int64_t b = 0; b < shape.batch; ++b)
      TORCH_CHECK(0 <= of[b] && of[b] < asked.size(0), "there is no question ", of[b]);
  }
};

template <typename T>
const T* data(const std::optional<Tensor>& tensor) {
  return tensor ? tensor->const_data_ptr<T>() : nullptr;
}

// Gradients of a matrix, one copy for each thread, for stories share sentences and questions.
template <typename T>
struct Gradient {
  Tensor copies;

  explicit Gradient(const Tensor& matrix)
      : copies(at::zeros({at::get_num_threads(), matrix.size(0), matrix.size(1)},
                         matrix.options())) {}

  T* mine() { return copies.mutable_data_ptr<T>() + at::get_thread_num() * copies.stride(0); }
  Tensor total() { return copies.size(0) == 1 ? copies[0] : copies.sum(0); }
};

// The changes that each operation makes in whole stories. `found` is what each operation finds in
// the memory before the first sentence.
Tensor update(const Tensor& table, const Tensor& story, const std::optional<Tensor>& found,
            const Tensor& lengths, int64_t entity_size, int64_t operations) {
  const Shape shape(table, story, entity_size, operations);
  const Stories stories(table, story, lengths);
  const int64_t per_story = shape.time * shape.rows_per_sentence * shape.entity;
  Tensor change =
      at::zeros({shape.batch, shape.time, shape.rows_per_sentence, shape.entity}, table.options());
  AT_DISPATCH_FLOATING_TYPES(table.scalar_type(), "tpr_rnn_update", [&] {
    const scalar_t* before = found ? found->const_data_ptr<scalar_t>() : nullptr;
    at::parallel_for(0, shape.batch, 1, [&](int64_t begin, int64_t end) {
      Rows<scalar_t> rows(shape, stories.longest(begin, end), false);
      for (int64_t b = begin; b < end; ++b) {
        rows.load(table.const_data_ptr<scalar_t>(), stories.of(b), stories.lengths[b]);
        for (int64_t k = 0; before && k < rows.count; ++k)
          tpr::add(scalar_t(-1), before + b * per_story + k * shape.entity, shape.entity,
                   &rows.u[k * rows.entity]);
        rows.solve();
        rows.store_changes(change.mutable_data_ptr<scalar_t>() + b * per_story);
      }
    });
  });
  return change;
}

// Gradients of the table and of the contents (minus those of `found`).
std::tuple<Tensor, Tensor> update_backward(const Tensor& g_change, const Tensor& change,
                                         const Tensor& table, const Tensor& story,
                                         const Tensor& lengths, int64_t entity_size,
                                         int64_t operations) {
  const Shape shape(table, story, entity_size, operations);
  const Stories stories(table, story, lengths);
  const int64_t per_story = shape.time * shape.rows_per_sentence * shape.entity;
  Tensor g_table, g_content = at::zeros_like(change);
  AT_DISPATCH_FLOATING_TYPES(table.scalar_type(), "tpr_rnn_update_backward", [&] {
    Gradient<scalar_t> gradient(table);
    at::parallel_for(0, shape.batch, 1, [&](int64_t begin, int64_t end) {
      Rows<scalar_t> rows(shape, stories.longest(begin, end), true);
      for (int64_t b = begin; b < end; ++b) {
        rows.load(table.const_data_ptr<scalar_t>(), stories.of(b), stories.lengths[b]);
        rows.load_changes(change.const_data_ptr<scalar_t>() + b * per_story,
                          g_change.const_data_ptr<scalar_t>() + b * per_story);
        rows.solve_backward();
        rows.store_gradients(stories.of(b), gradient.mine());
        scalar_t* out = g_content.mutable_data_ptr<scalar_t>() + b * per_story;
        for (int64_t k = 0; k < rows.count; ++k)
          std::copy_n(&rows.v[k * rows.entity], shape.entity, out + k * shape.entity);
      }
    });
    g_table = gradient.total();
  });
  return {g_table, g_content};
}

// The same in chunks of so many sentences, carrying the memory: the changes and the final memory.
std::tuple<Tensor, Tensor> update_chunks(const Tensor& table, const Tensor& story,
                                       const Tensor& memory, const Tensor& lengths, int64_t chunk,
                                       int64_t operations) {
  const Shape shape(table, story, memory.size(1), operations);
  const Stories stories(table, story, lengths);
  shape.check(memory);
  const int64_t per_sentence = shape.rows_per_sentence * shape.entity;
  Tensor change =
      at::zeros({shape.batch, shape.time, shape.rows_per_sentence, shape.entity}, table.options());
  Tensor final_memory = at::empty_like(memory);
  AT_DISPATCH_FLOATING_TYPES(table.scalar_type(), "tpr_rnn_update_chunks", [&] {
    at::parallel_for(0, shape.batch, 1, [&](int64_t begin, int64_t end) {
      Rows<scalar_t> rows(shape, chunk, false);
      Dense<scalar_t> dense(shape);
      for (int64_t b = begin; b < end; ++b) {
        dense.load(memory.const_data_ptr<scalar_t>() + b * memory.stride(0));
        for (int64_t t = 0; t < stories.lengths[b]; t += chunk) {
          const int64_t sentences = std::min(chunk, stories.lengths[b] - t);
          rows.load(table.const_data_ptr<scalar_t>(), stories.of(b) + t, sentences);
          for (int64_t k = 0; k < rows.count; ++k)
            dense.read(&rows.a[k * rows.entity], &rows.q[k * rows.relation], scalar_t(-1),
                       &rows.u[k * rows.entity]);
          rows.solve();
          scalar_t* out =
              change.mutable_data_ptr<scalar_t>() + (b * shape.time + t) * per_sentence;
          for (int64_t k = 0; k < rows.count; ++k) {
            const scalar_t* u = &rows.u[k * rows.entity];
            dense.write(&rows.a[k * rows.entity], &rows.p[k * rows.relation], scalar_t(1), u);
            std::copy_n(u, shape.entity, out + k * shape.entity);
          }
        }
        dense.store(final_memory.mutable_data_ptr<scalar_t>() + b * memory.stride(0));
      }
    });
  });
  return {change, final_memory};
}

// Gradients of the table and of the memory before the first sentence. The memory at the start of
// each chunk is built up again from the changes; nothing but those was kept.
std::tuple<Tensor, Tensor> update_chunks_backward(const Tensor& g_change, const Tensor& g_final,
                                                const Tensor& change, const Tensor& table,
                                                const Tensor& story, const Tensor& memory,
                                                const Tensor& lengths, int64_t chunk,
                                                int64_t operations) {
  const Shape shape(table, story, memory.size(1), operations);
  const Stories stories(table, story, lengths);
  shape.check(memory);
  const int64_t per_sentence = shape.rows_per_sentence * shape.entity;
  Tensor g_table, g_memory = at::empty_like(memory);
  AT_DISPATCH_FLOATING_TYPES(table.scalar_type(), "tpr_rnn_update_chunks_backward", [&] {
    const scalar_t* sentences_of = table.const_data_ptr<scalar_t>();
    Gradient<scalar_t> gradient(table);
    at::parallel_for(0, shape.batch, 1, [&](int64_t begin, int64_t end) {
      Rows<scalar_t> rows(shape, chunk, true);
      Dense<scalar_t> dense(shape), g_dense(shape);
      std::vector<std::vector<scalar_t>> at_start;
      for (int64_t b = begin; b < end; ++b) {
        const int64_t length = stories.lengths[b];
        auto load = [&](int64_t t) {
          const int64_t at = (b * shape.time + t) * per_sentence;
          rows.load(sentences_of, stories.of(b) + t, std::min(chunk, length - t));
          rows.load_changes(change.const_data_ptr<scalar_t>() + at,
                            g_change.const_data_ptr<scalar_t>() + at);
        };
        at_start.clear();
        dense.load(memory.const_data_ptr<scalar_t>() + b * memory.stride(0));
        for (int64_t t = 0; t < length; t += chunk) {
          at_start.push_back(dense.tensor);
          load(t);
          for (int64_t k = 0; k < rows.count; ++k)
            dense.write(&rows.a[k * rows.entity], &rows.p[k * rows.relation], scalar_t(1),
                        &rows.u[k * rows.entity]);
        }
        g_dense.load(g_final.const_data_ptr<scalar_t>() + b * memory.stride(0));
        for (int64_t t = (length - 1) / chunk * chunk; length && t >= 0; t -= chunk) {
          load(t);
          dense.tensor = at_start[t / chunk];
          for (int64_t k = 0; k < rows.count; ++k) {  // F += a x p x u
            const scalar_t *a = &rows.a[k * rows.entity], *p = &rows.p[k * rows.relation];
            g_dense.read(a, p, scalar_t(1), &rows.v[k * rows.entity]);
            g_dense.unbind(a, p, scalar_t(1), &rows.u[k * rows.entity], &rows.g_a[k * rows.entity],
                           &rows.g_p[k * rows.relation]);
          }
          rows.solve_backward();
          for (int64_t k = 0; k < rows.count; ++k) {  // c - F (a, q)
            const scalar_t *a = &rows.a[k * rows.entity], *q = &rows.q[k * rows.relation];
            const scalar_t* v = &rows.v[k * rows.entity];
            dense.unbind(a, q, scalar_t(-1), v, &rows.g_a[k * rows.entity],
                         &rows.g_q[k * rows.relation]);
            g_dense.write(a, q, scalar_t(-1), v);
          }
          rows.store_gradients(stories.of(b) + t, gradient.mine());
        }
        g_dense.store(g_memory.mutable_data_ptr<scalar_t>() + b * memory.stride(0));
      }
    });
    g_table = gradient.total();
  });
  return {g_table, g_memory};
}

// Whole stories and the walk of one question through each: what every inference step retrieved, and
// the changes that the operations made. `asked` is a table of questions, n, l1, l2, ... side by
// side; `scale` and `shift`, one for each step, normalise what it retrieves.
std::tuple<Tensor, Tensor> walk(const Tensor& table, const Tensor& story, const Tensor& lengths,
                                const Tensor& asked, const Tensor& question,
                                const std::optional<Tensor>& scale,
                                const std::optional<Tensor>& shift, int64_t entity_size,
                                int64_t operations) {
  const Shape shape(table, story, entity_size, operations);
  const Stories stories(table, story, lengths);
  const Questions questions(shape, asked, question);
  const int64_t per_story = shape.time * shape.rows_per_sentence * shape.entity;
  // Padding is never looked at: unlike the changes that `update` gives, these stay inside.
  Tensor change =
      at::empty({shape.batch, shape.time, shape.rows_per_sentence, shape.entity}, table.options());
  Tensor retrieved = at::empty({shape.batch, questions.steps, shape.entity}, table.options());
  AT_DISPATCH_FLOATING_TYPES(table.scalar_type(), "tpr_rnn_walk", [&] {
    at::parallel_for(0, shape.batch, 1, [&](int64_t begin, int64_t end) {
      Rows<scalar_t> rows(shape, stories.longest(begin, end), false);
      Walk<scalar_t> walk(shape, rows, questions.steps, data<scalar_t>(scale), data<scalar_t>(shift));
      for (int64_t b = begin; b < end; ++b) {
        rows.load(table.const_data_ptr<scalar_t>(), stories.of(b), stories.lengths[b]);
        rows.solve();
        rows.store_changes(change.mutable_data_ptr<scalar_t>() + b * per_story);
        walk.load(asked.const_data_ptr<scalar_t>() + questions.of[b] * questions.width);
        walk.forward(rows);
        walk.store(retrieved.mutable_data_ptr<scalar_t>() + b * retrieved.stride(0));
      }
    });
  });
  return {retrieved, change};
}

// Gradients of both tables and, for each step, of scale and shift.
std::tuple<Tensor, Tensor, Tensor> walk_backward(
    const Tensor& g_retrieved, const Tensor& change, const Tensor& table, const Tensor& story,
    const Tensor& lengths, const Tensor& asked, const Tensor& question,
    const std::optional<Tensor>& scale, const std::optional<Tensor>& shift, int64_t entity_size,
    int64_t operations) {
  const Shape shape(table, story, entity_size, operations);
  const Stories stories(table, story, lengths);
  const Questions questions(shape, asked, question);
  const int64_t per_story = shape.time * shape.rows_per_sentence * shape.entity;
  Tensor g_table, g_asked, g_norm;
  AT_DISPATCH_FLOATING_TYPES(table.scalar_type(), "tpr_rnn_walk_backward", [&] {
    Gradient<scalar_t> of_table(table), of_asked(asked);
    Gradient<scalar_t> of_norm(at::empty({2, questions.steps}, table.options()));
    at::parallel_for(0, shape.batch, 1, [&](int64_t begin, int64_t end) {
      Rows<scalar_t> rows(shape, stories.longest(begin, end), true);
      Walk<scalar_t> walk(shape, rows, questions.steps, data<scalar_t>(scale), data<scalar_t>(shift));
      for (int64_t b = begin; b < end; ++b) {
        rows.load(table.const_data_ptr<scalar_t>(), stories.of(b), stories.lengths[b]);
        rows.load_changes(change.const_data_ptr<scalar_t>() + b * per_story, nullptr);
        walk.load(asked.const_data_ptr<scalar_t>() + questions.of[b] * questions.width);
        walk.forward(rows);
        walk.load_gradients(g_retrieved.const_data_ptr<scalar_t>() + b * g_retrieved.stride(0));
        walk.backward(rows);
        walk.store_gradients(of_asked.mine() + questions.of[b] * questions.width, of_norm.mine());
        rows.solve_backward();
        rows.store_gradients(stories.of(b), of_table.mine());
      }
    });
    g_table = of_table.total();
    g_asked = of_asked.total();
    g_norm = of_norm.total();
  });
  return {g_table, g_asked, g_norm};
}

}  // namespace

TORCH_LIBRARY(tpr_rnn, library) {
  library.def(
      "update(Tensor table, Tensor story, Tensor? found, Tensor lengths, int entity_size, "
      "int operations) -> Tensor");
  library.def(
      "update_backward(Tensor g_change, Tensor change, Tensor table, Tensor story, Tensor lengths, "
      "int entity_size, int operations) -> (Tensor, Tensor)");
  library.def(
      "update_chunks(Tensor table, Tensor story, Tensor memory, Tensor lengths, int chunk, "
      "int operations) -> (Tensor, Tensor)");
  library.def(
      "update_chunks_backward(Tensor g_change, Tensor g_final, Tensor change, Tensor table, "
      "Tensor story, Tensor memory, Tensor lengths, int chunk, int operations) "
      "-> (Tensor, Tensor)");
  library.def(
      "walk(Tensor table, Tensor story, Tensor lengths, Tensor asked, Tensor question, "
      "Tensor? scale, Tensor? shift, int entity_size, int operations) -> (Tensor, Tensor)");
  library.def(
      "walk_backward(Tensor g_retrieved, Tensor change, Tensor table, Tensor story, "
      "Tensor lengths, Tensor asked, Tensor question, Tensor? scale, Tensor? shift, "
      "int entity_size, int operations) -> (Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(tpr_rnn, CPU, library) {
  library.impl("update", TORCH_FN(update));
  library.impl("update_backward", TORCH_FN(update_backward));
  library.impl("update_chunks", TORCH_FN(update_chunks));
  library.impl("update_chunks_backward", TORCH_FN(update_chunks_backward));
  library.impl("walk", TORCH_FN(walk));
  library.impl("walk_backward", TORCH_FN(walk_backward));
}
