// Sentences as vectors (eq. 5), and vectors taken apart into entities and relations (eq. 7, 8, 15,
// 16), with all gradients: the same as `SentenceEncoder` and `EntityRelationNetworks` in PyTorch.
//
// Matrix products are PyTorch's. What stands between them would be dozens of small operations,
// forward and backward, which take longer to start than to run.

#include <aten.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <tuple>

namespace {

using at::Tensor;
using Maybe = std::optional<Tensor>;

constexpr int64_t GRAIN = 32768;  // numbers for which another thread is worth its start

int64_t rows_of(int64_t width) { return std::max<int64_t>(1, GRAIN / std::max<int64_t>(1, width)); }

void check_words(const Tensor& words, const Tensor& word_vectors, const Tensor& position_vectors) {
  TORCH_CHECK(words.dim() == 2 && words.size(1) == position_vectors.size(0) &&
                  word_vectors.size(1) == position_vectors.size(1),
              "words ", words.sizes(), ", word vectors ", word_vectors.sizes(),
              " and position vectors ", position_vectors.sizes(), " do not go together");
  const int64_t* word = words.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < words.numel(); ++i)
    TORCH_CHECK_INDEX(0 <= word[i] && word[i] < word_vectors.size(0), "word ", word[i],
                      " is not in a vocabulary of ", word_vectors.size(0));
}

// s = sum over i of d_i * p_i (eq. 5).
Tensor encode(const Tensor& texts, const Tensor& word_vectors, const Tensor& position_vectors) {
  const Tensor words = texts.contiguous(), d = word_vectors.contiguous(),
               p = position_vectors.contiguous();
  check_words(words, d, p);
  const int64_t rows = words.size(0), length = words.size(1), size = d.size(1);
  Tensor s = at::empty({rows, size}, d.options());
  AT_DISPATCH_FLOATING_TYPES(d.scalar_type(), "tpr_rnn_encode", [&] {
    const int64_t* word = words.const_data_ptr<int64_t>();
    const scalar_t *vectors = d.const_data_ptr<scalar_t>(), *weights = p.const_data_ptr<scalar_t>();
    scalar_t* sums = s.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, rows, rows_of(length * size), [&](int64_t first, int64_t last) {
      for (int64_t u = first; u < last; ++u) {
        scalar_t* __restrict sum = sums + u * size;
        std::fill_n(sum, size, scalar_t(0));
        for (int64_t i = 0; i < length; ++i) {
          const scalar_t* __restrict vector = vectors + word[u * length + i] * size;
          const scalar_t* __restrict weight = weights + i * size;
          for (int64_t v = 0; v < size; ++v) sum[v] += vector[v] * weight[v];
        }
      }
    });
  });
  return s;
}

// Threads share the columns, so that the sums do not depend on how many threads there are.
std::tuple<Tensor, Tensor> encode_backward(const Tensor& g_s, const Tensor& texts,
                                           const Tensor& word_vectors,
                                           const Tensor& position_vectors) {
  const Tensor g = g_s.contiguous(), words = texts.contiguous(), d = word_vectors.contiguous(),
               p = position_vectors.contiguous();
  const int64_t rows = words.size(0), length = words.size(1), size = d.size(1);
  Tensor g_d = at::zeros_like(d), g_p = at::zeros_like(p);
  AT_DISPATCH_FLOATING_TYPES(d.scalar_type(), "tpr_rnn_encode_backward", [&] {
    const int64_t* word = words.const_data_ptr<int64_t>();
    const scalar_t *vectors = d.const_data_ptr<scalar_t>(), *weights = p.const_data_ptr<scalar_t>(),
                   *gradients = g.const_data_ptr<scalar_t>();
    scalar_t *g_vectors = g_d.mutable_data_ptr<scalar_t>(),
             *g_weights = g_p.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, size, rows_of(rows * length), [&](int64_t first, int64_t last) {
      for (int64_t u = 0; u < rows; ++u) {
        const scalar_t* __restrict of_sum = gradients + u * size;
        for (int64_t i = 0; i < length; ++i) {
          const int64_t row = word[u * length + i] * size;
          const scalar_t *__restrict vector = vectors + row, *__restrict weight = weights + i * size;
          scalar_t *__restrict g_vector = g_vectors + row, *__restrict g_weight = g_weights + i * size;
          for (int64_t v = first; v < last; ++v) {
            g_vector[v] += of_sum[v] * weight[v];
            g_weight[v] += of_sum[v] * vector[v];
          }
        }
      }
    });
  });
  return {g_d, g_p};
}

// Entities, or relations: vectors of one size that end up beside each other, from `column` on.
struct Part {
  int64_t networks, size, first_network, column;
  double shortest;  // what a vector is divided by at least, if keys are bounded
};

std::array<Part, 2> parts_of(const Tensor& entity_weight, const Tensor& relation_weight) {
  const int64_t entities = entity_weight.size(0), entity = entity_weight.size(2);
  return {Part{entities, entity, 0, 0, 1e-12},
          Part{relation_weight.size(0), relation_weight.size(2), entities, entities * entity, 1.0}};
}

template <typename T>
T dot(const T* __restrict x, const T* __restrict y, int64_t size) {
  T sum = 0;
  for (int64_t i = 0; i < size; ++i) sum += x[i] * y[i];
  return sum;
}

// The vectors of one part, side by side, and their lengths as they were.
template <typename T>
void place(const Part& part, const Tensor& vectors, bool bounded, Tensor& apart, Tensor& lengths) {
  const int64_t rows = apart.size(0), width = apart.size(1), networks = lengths.size(1);
  const T* from = vectors.const_data_ptr<T>();
  T *to = apart.mutable_data_ptr<T>(), *length = lengths.mutable_data_ptr<T>();
  at::parallel_for(0, rows, rows_of(part.networks * part.size), [&](int64_t first, int64_t last) {
    for (int64_t m = 0; m < part.networks; ++m)
      for (int64_t u = first; u < last; ++u) {
        const T* __restrict x = from + (m * rows + u) * part.size;
        T* __restrict y = to + u * width + part.column + m * part.size;
        T scale = 1;
        if (bounded) {
          const T norm = std::sqrt(dot(x, x, part.size));
          length[u * networks + part.first_network + m] = norm;
          scale = 1 / std::max(norm, T(part.shortest));
        }
        for (int64_t i = 0; i < part.size; ++i) y[i] = x[i] * scale;
      }
  });
}

// The gradient before the tanh, from that of what `place` wrote.
template <typename T>
Tensor unplace(const Part& part, const Tensor& g, const Tensor& apart, const Tensor& lengths,
               bool linear, bool bounded) {
  const int64_t rows = apart.size(0), width = apart.size(1), networks = lengths.size(1);
  Tensor before = at::empty({part.networks, rows, part.size}, apart.options());
  const T *outside = g.const_data_ptr<T>(), *made = apart.const_data_ptr<T>(),
          *length = lengths.const_data_ptr<T>();
  T* to = before.mutable_data_ptr<T>();
  at::parallel_for(0, rows, rows_of(part.networks * part.size), [&](int64_t first, int64_t last) {
    for (int64_t m = 0; m < part.networks; ++m)
      for (int64_t u = first; u < last; ++u) {
        const int64_t at = u * width + part.column + m * part.size;
        const T *__restrict y = made + at, *__restrict g_y = outside + at;
        T* __restrict g_x = to + (m * rows + u) * part.size;
        T norm = 1, along = 0;
        if (bounded) {
          const T was = length[u * networks + part.first_network + m];
          norm = std::max(was, T(part.shortest));
          if (was >= T(part.shortest)) along = dot(y, g_y, part.size);
        }
        const T scale = 1 / norm;
        for (int64_t i = 0; i < part.size; ++i) {
          const T x = y[i] * norm;
          g_x[i] = (g_y[i] - along * y[i]) * scale * (linear ? T(1) : 1 - x * x);
        }
      }
  });
  return before;
}

Tensor second_layer(const Tensor& hidden, const Tensor& weight, const Tensor& bias, bool linear) {
  Tensor x = at::baddbmm(bias, hidden, weight);
  return linear ? x : x.tanh_();
}

Tensor of_networks(const Tensor& hidden, const Part& part) {
  return hidden.size(0) == 1 ? hidden.expand({part.networks, -1, -1})
                             : hidden.narrow(0, part.first_network, part.networks);
}

// Returns the entities and relations of each sentence side by side; and for the gradients the
// hidden layers, and the lengths of entities and relations before they were bounded. `kept` is the
// dropout of the hidden layers: 0 or what makes up for the zeros.
std::tuple<Tensor, Tensor, Tensor> take_apart(
    const Tensor& sentences, const Tensor& hidden_weight, const Tensor& hidden_bias,
    const Tensor& entity_weight, const Tensor& entity_bias, const Tensor& relation_weight,
    const Tensor& relation_bias, const Maybe& kept, bool linear, bool bounded) {
  const int64_t rows = sentences.size(0);
  const auto parts = parts_of(entity_weight, relation_weight);
  const Part &entities = parts[0], &relations = parts[1];
  const Tensor repeated = sentences.unsqueeze(0).expand({hidden_weight.size(0), -1, -1});
  const Tensor hidden = at::baddbmm(hidden_bias, repeated, hidden_weight).tanh_();  // m u h
  const Tensor dropped = kept ? hidden.mul(*kept) : hidden;
  const auto options = sentences.options();
  Tensor apart = at::empty({rows, relations.column + relations.networks * relations.size}, options);
  Tensor lengths = at::empty({rows, entities.networks + relations.networks}, options);
  const Tensor e = second_layer(of_networks(dropped, entities), entity_weight, entity_bias, linear);
  const Tensor r =
      second_layer(of_networks(dropped, relations), relation_weight, relation_bias, linear);
  AT_DISPATCH_FLOATING_TYPES(sentences.scalar_type(), "tpr_rnn_take_apart", [&] {
    place<scalar_t>(entities, e, bounded, apart, lengths);
    place<scalar_t>(relations, r, bounded, apart, lengths);
  });
  return {apart, hidden, lengths};
}

// Gradients of the sentences, and of the weights and biases in the order of `take_apart`.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> take_apart_backward(
    const Tensor& g_apart, const Tensor& apart, const Tensor& hidden, const Tensor& lengths,
    const Tensor& sentences, const Tensor& hidden_weight, const Tensor& entity_weight,
    const Tensor& relation_weight, const Maybe& kept, bool linear, bool bounded) {
  const auto parts = parts_of(entity_weight, relation_weight);
  const Part &entities = parts[0], &relations = parts[1];
  const Tensor g = g_apart.contiguous();
  Tensor g_e, g_r;
  AT_DISPATCH_FLOATING_TYPES(apart.scalar_type(), "tpr_rnn_take_apart_backward", [&] {
    g_e = unplace<scalar_t>(entities, g, apart, lengths, linear, bounded);
    g_r = unplace<scalar_t>(relations, g, apart, lengths, linear, bounded);
  });
  const Tensor dropped = kept ? hidden.mul(*kept) : hidden;
  const Tensor g_entity_weight = at::bmm(of_networks(dropped, entities).transpose(1, 2), g_e);
  const Tensor g_relation_weight = at::bmm(of_networks(dropped, relations).transpose(1, 2), g_r);

  const int64_t networks = entities.networks + relations.networks;
  Tensor g_hidden = at::empty({networks, hidden.size(1), hidden.size(2)}, hidden.options());
  Tensor of_entities = g_hidden.narrow(0, 0, entities.networks),
         of_relations = g_hidden.narrow(0, entities.networks, relations.networks);
  at::bmm_out(of_entities, g_e, entity_weight.transpose(1, 2));
  at::bmm_out(of_relations, g_r, relation_weight.transpose(1, 2));
  if (hidden.size(0) == 1) g_hidden = g_hidden.sum(0, true);
  if (kept) g_hidden.mul_(*kept);
  AT_DISPATCH_FLOATING_TYPES(apart.scalar_type(), "tpr_rnn_tanh_backward", [&] {
    const scalar_t* __restrict x = hidden.const_data_ptr<scalar_t>();
    scalar_t* __restrict g_x = g_hidden.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, hidden.numel(), GRAIN, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) g_x[i] *= 1 - x[i] * x[i];
    });
  });
  const int64_t layers = hidden.size(0);
  const Tensor columns = sentences.t().unsqueeze(0).expand({layers, -1, -1});
  return {at::bmm(g_hidden, hidden_weight.transpose(1, 2)).sum(0),
          at::bmm(columns, g_hidden),
          g_hidden.sum(1, true),
          g_entity_weight,
          g_e.sum(1, true),
          g_relation_weight,
          g_r.sum(1, true)};
}

}  // namespace

TORCH_LIBRARY(tpr_rnn_parts, library) {
  library.def("encode(Tensor texts, Tensor word_vectors, Tensor position_vectors) -> Tensor");
  library.def(
      "encode_backward(Tensor g, Tensor texts, Tensor word_vectors, Tensor position_vectors) -> "
      "(Tensor, Tensor)");
  library.def(
      "take_apart(Tensor sentences, Tensor hidden_weight, Tensor hidden_bias, Tensor entity_weight, "
      "Tensor entity_bias, Tensor relation_weight, Tensor relation_bias, Tensor? kept, bool linear, "
      "bool bounded) -> (Tensor, Tensor, Tensor)");
  library.def(
      "take_apart_backward(Tensor g, Tensor apart, Tensor hidden, Tensor lengths, Tensor sentences, "
      "Tensor hidden_weight, Tensor entity_weight, Tensor relation_weight, Tensor? kept, "
      "bool linear, bool bounded) -> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(tpr_rnn_parts, CPU, library) {
  library.impl("encode", TORCH_FN(encode));
  library.impl("encode_backward", TORCH_FN(encode_backward));
  library.impl("take_apart", TORCH_FN(take_apart));
  library.impl("take_apart_backward", TORCH_FN(take_apart_backward));
}
