// Sentences as vectors (eq. 5), and vectors taken apart into entities and relations (eq. 7, 8, 15,
// 16), with all gradients: the same as `SentenceEncoder` and `EntityRelationNetworks` in PyTorch.
//
// In PyTorch these would be dozens of small operations, forward and backward, which take longer to
// start than to run, and large ones that go through the memory of the machine.

#include <aten.h>

#include <algorithm>
#include <tuple>

#include "networks.h"

namespace {

using namespace tpr;

constexpr int64_t GRAIN = 32768;  // numbers for which another thread is worth its start

int64_t rows_of(int64_t width) { return std::max<int64_t>(1, GRAIN / std::max<int64_t>(1, width)); }

// Do some work on the sentences from first to last, block by block, for each share of them.
template <typename Work>
void in_shares(int64_t sentences, int64_t shares, const Work& work) {
  at::parallel_for(0, shares, 1, [&](int64_t begin, int64_t end) {
    for (int64_t share = begin; share < end; ++share) {
      const int64_t last = sentences * (share + 1) / shares;
      for (int64_t first = sentences * share / shares; first < last; first += BLOCK)
        work(share, first, std::min(BLOCK, last - first));
    }
  });
}

int64_t shares_of(int64_t sentences) {
  return std::clamp<int64_t>((sentences + BLOCK - 1) / BLOCK, 1, at::get_num_threads());
}

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

// Each thread has some of the texts, and sums of its own: were they shared, the threads would wait
// for each other's caches.
std::tuple<Tensor, Tensor> encode_backward(const Tensor& g_s, const Tensor& texts,
                                           const Tensor& word_vectors,
                                           const Tensor& position_vectors) {
  const Tensor g = g_s.contiguous(), words = texts.contiguous(), d = word_vectors.contiguous(),
               p = position_vectors.contiguous();
  const int64_t rows = words.size(0), length = words.size(1), size = d.size(1);
  const int64_t shares = std::clamp<int64_t>(rows / rows_of(length * size), 1, at::get_num_threads());
  Tensor g_d, g_p;
  AT_DISPATCH_FLOATING_TYPES(d.scalar_type(), "tpr_rnn_encode_backward", [&] {
    const int64_t* word = words.const_data_ptr<int64_t>();
    const scalar_t *vectors = d.const_data_ptr<scalar_t>(), *weights = p.const_data_ptr<scalar_t>(),
                   *gradients = g.const_data_ptr<scalar_t>();
    Gradient<scalar_t> of_vectors(shares, d.sizes(), d.options()),
        of_weights(shares, p.sizes(), p.options());
    in_shares(rows, shares, [&](int64_t share, int64_t first, int64_t n) {
      scalar_t *g_vectors = of_vectors.of(share), *g_weights = of_weights.of(share);
      for (int64_t u = first; u < first + n; ++u) {
        const scalar_t* __restrict of_sum = gradients + u * size;
        for (int64_t i = 0; i < length; ++i) {
          const int64_t row = word[u * length + i] * size;
          const scalar_t *__restrict vector = vectors + row, *__restrict weight = weights + i * size;
          scalar_t *__restrict g_vector = g_vectors + row, *__restrict g_weight = g_weights + i * size;
          for (int64_t v = 0; v < size; ++v) {
            g_vector[v] += of_sum[v] * weight[v];
            g_weight[v] += of_sum[v] * vector[v];
          }
        }
      }
    });
    g_d = of_vectors.total();
    g_p = of_weights.total();
  });
  return {g_d, g_p};
}

// What `take_apart` is given: checked, since nothing behind looks at bounds again.
Sizes sizes_of(const Tensor& sentences, const Tensor& hidden_weight, const Tensor& entity_weight,
               const Tensor& relation_weight, const Maybe& kept, bool linear, bool bounded) {
  const Sizes sizes{sentences.size(0),
                    sentences.size(1),
                    hidden_weight.size(2),
                    hidden_weight.size(0),
                    entity_weight.size(0) + relation_weight.size(0),
                    entity_weight.size(0) * entity_weight.size(2) +
                        relation_weight.size(0) * relation_weight.size(2),
                    linear,
                    bounded};
  TORCH_CHECK(hidden_weight.size(1) == sizes.symbol && entity_weight.size(1) == sizes.hidden &&
                  relation_weight.size(1) == sizes.hidden &&
                  (sizes.shared() || sizes.hidden_layers == sizes.networks),
              "sentences ", sentences.sizes(), ", first layers ", hidden_weight.sizes(),
              " and second layers ", entity_weight.sizes(), " and ", relation_weight.sizes(),
              " do not go together");
  TORCH_CHECK(!kept || (kept->size(0) == sizes.hidden_layers &&
                        kept->size(1) == sizes.sentences && kept->size(2) == sizes.hidden),
              "dropout is not that of the hidden layers");
  return sizes;
}

void check_bias(const Tensor& bias, const Tensor& weight) {
  TORCH_CHECK(bias.sizes() == at::IntArrayRef({weight.size(0), 1, weight.size(2)}), "biases ",
              bias.sizes(), " are not those of layers ", weight.sizes());
}

// The rows of c = a b + bias, for n rows of a.
template <typename T>
void layer(int64_t n, const T* a, int64_t inner, const Matrices<T>& b, const Matrices<T>& bias,
           int64_t m, T* c) {
  for (int64_t u = 0; u < n; ++u) std::copy_n(bias[m], b.width, c + u * b.width);
  multiply<true>(n, b.width, b.rows, Matrix<T>{a, inner}, b[m], b.width, c, b.width);
}

// Returns the entities and relations of each sentence side by side; and for the gradients the
// hidden layers (in whole registers), and the lengths of entities and relations before they were
// bounded. `kept` is the dropout of the hidden layers: 0 or what makes up for the zeros.
std::tuple<Tensor, Tensor, Tensor> take_apart(
    const Tensor& of, const Tensor& hidden_weight, const Tensor& hidden_bias,
    const Tensor& entity_weight, const Tensor& entity_bias, const Tensor& relation_weight,
    const Tensor& relation_bias, const Maybe& kept, bool linear, bool bounded) {
  const Sizes sizes =
      sizes_of(of, hidden_weight, entity_weight, relation_weight, kept, linear, bounded);
  check_bias(hidden_bias, hidden_weight);
  check_bias(entity_bias, entity_weight);
  check_bias(relation_bias, relation_weight);
  const Tensor sentences = of.contiguous(), dropout = kept ? kept->contiguous() : Tensor();
  const auto options = sentences.options();
  Tensor apart = at::empty({sizes.sentences, sizes.width}, options);
  Tensor lengths = at::empty({sizes.sentences, sizes.networks}, options), hidden;
  AT_DISPATCH_FLOATING_TYPES(sentences.scalar_type(), "tpr_rnn_take_apart", [&] {
    using T = scalar_t;
    const Matrices<T> first_layers(hidden_weight), first_biases(hidden_bias);
    const Matrices<T> second_layers[] = {Matrices<T>(entity_weight), Matrices<T>(relation_weight)};
    const Matrices<T> second_biases[] = {Matrices<T>(entity_bias), Matrices<T>(relation_bias)};
    const auto parts = parts_of(entity_weight, relation_weight);
    const int64_t row = first_layers.width;
    hidden = at::empty({sizes.hidden_layers, sizes.sentences, row}, options);
    const T* s = sentences.const_data_ptr<T>();
    const T* keeps = kept ? dropout.const_data_ptr<T>() : nullptr;
    T *h = hidden.mutable_data_ptr<T>(), *to = apart.mutable_data_ptr<T>(),
      *length = lengths.mutable_data_ptr<T>();
    const int64_t widest = std::max(second_layers[0].width, second_layers[1].width);
    in_shares(sizes.sentences, shares_of(sizes.sentences), [&](int64_t, int64_t u, int64_t n) {
      std::vector<T> dropped(keeps ? n * row : 0), made(n * widest);
      for_networks(sizes, parts, [&](int64_t l, const Part& part, int64_t m, bool is_first, bool) {
        T* x = h + (l * sizes.sentences + u) * row;
        if (is_first) {
          layer(n, s + u * sizes.symbol, sizes.symbol, first_layers, first_biases, l, x);
          tanh_whole(x, n * row);
          if (keeps) drop(sizes, keeps + (l * sizes.sentences + u) * sizes.hidden, n, x, dropped.data());
        }
        const bool relation = part.first_network > 0;
        const auto& weight = second_layers[relation];
        layer(n, keeps ? dropped.data() : x, row, weight, second_biases[relation], m, made.data());
        if (!linear) tanh_whole(made.data(), n * weight.width);
        place(sizes, part, m, u, n, made.data(), to, length);
      });
    });
  });
  return {apart, hidden, lengths};
}

// Gradients of the sentences, and of the weights and biases in the order of `take_apart`.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> take_apart_backward(
    const Tensor& g_apart, const Tensor& apart, const Tensor& hidden, const Tensor& lengths,
    const Tensor& of, const Tensor& hidden_weight, const Tensor& entity_weight,
    const Tensor& relation_weight, const Maybe& kept, bool linear, bool bounded) {
  const Sizes sizes =
      sizes_of(of, hidden_weight, entity_weight, relation_weight, kept, linear, bounded);
  const Tensor sentences = of.contiguous(), dropout = kept ? kept->contiguous() : Tensor(),
               outside = g_apart.contiguous();
  Tensor g_sentences = at::empty_like(sentences);
  Tensor g_weight[3], g_bias[3];
  AT_DISPATCH_FLOATING_TYPES(sentences.scalar_type(), "tpr_rnn_take_apart_backward", [&] {
    using T = scalar_t;
    const auto first_layers = Matrices<T>(hidden_weight).transposed();
    const Matrices<T> second_layers[] = {Matrices<T>(entity_weight).transposed(),
                                         Matrices<T>(relation_weight).transposed()};
    const auto parts = parts_of(entity_weight, relation_weight);
    const int64_t row = second_layers[0].width, symbols = first_layers.width;
    const int64_t shares = shares_of(sizes.sentences);
    LayerGradient<T> of_first(shares, hidden_weight), of_entities(shares, entity_weight),
        of_relations(shares, relation_weight);
    LayerGradient<T>* of_second[] = {&of_entities, &of_relations};
    const T *s = sentences.const_data_ptr<T>(), *h = hidden.const_data_ptr<T>(),
            *y = apart.const_data_ptr<T>(), *g_y = outside.const_data_ptr<T>(),
            *length = lengths.const_data_ptr<T>();
    const T* keeps = kept ? dropout.const_data_ptr<T>() : nullptr;
    T* g_s = g_sentences.mutable_data_ptr<T>();
    const int64_t widest = std::max(of_entities.width, of_relations.width);
    in_shares(sizes.sentences, shares, [&](int64_t share, int64_t u, int64_t n) {
      std::vector<T> dropped(keeps ? n * row : 0), g_made(n * widest), g_hidden(n * row),
          g_block(n * symbols);
      for_networks(sizes, parts, [&](int64_t l, const Part& part, int64_t m, bool is_first,
                                     bool is_last) {
        const T* x = h + (l * sizes.sentences + u) * row;
        const T* keep = keeps + (l * sizes.sentences + u) * sizes.hidden;
        if (is_first) {
          std::fill(g_hidden.begin(), g_hidden.end(), T(0));
          if (keeps) drop(sizes, keep, n, x, dropped.data());
        }
        const bool relation = part.first_network > 0;
        const auto& weight = second_layers[relation];
        auto& gradient = *of_second[relation];
        unplace(sizes, part, m, u, n, g_y, y, length, g_made.data());
        gradient.add(share, m, n, keeps ? dropped.data() : x, row, g_made.data());
        multiply<true>(n, row, weight.rows, Matrix<T>{g_made.data(), gradient.width}, weight[m],
                       row, g_hidden.data(), row);
        if (!is_last) return;
        if (keeps) drop(sizes, keep, n, g_hidden.data(), g_hidden.data());
        for (int64_t i = 0; i < n * row; ++i) g_hidden[i] *= 1 - x[i] * x[i];
        of_first.add(share, l, n, s + u * sizes.symbol, sizes.symbol, g_hidden.data());
        multiply<true>(n, symbols, sizes.hidden, Matrix<T>{g_hidden.data(), row}, first_layers[l],
                       symbols, g_block.data(), symbols);
      });
      for (int64_t i = 0; i < n; ++i)
        std::copy_n(&g_block[i * symbols], sizes.symbol, g_s + (u + i) * sizes.symbol);
    });
    LayerGradient<T>* all[] = {&of_first, &of_entities, &of_relations};
    for (int i = 0; i < 3; ++i) g_weight[i] = all[i]->of_weight(), g_bias[i] = all[i]->of_bias();
  });
  return {g_sentences, g_weight[0], g_bias[0], g_weight[1], g_bias[1], g_weight[2], g_bias[2]};
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
