// The two layers of some networks side by side (eq. 7, 8, 15, 16) for a block of sentences, and
// their gradients.
//
// A network has a first layer, of its own or the one that all share, and a second one that makes
// an entity or a relation. Everything between the sentences and what is made of them stays in the
// fastest caches.

#pragma once

#include <aten.h>

#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "gradient.h"
#include "vectors.h"

namespace tpr {

using at::Tensor;
using Maybe = std::optional<Tensor>;

constexpr int64_t BLOCK = 48;  // sentences at a time

// tanh of whole registers: -m / (2 + m) with m = exp(-2 |x|) - 1, which keeps its digits where x
// is small. m comes from the power series of r, where -2 |x| = k log 2 + r.
template <typename T>
inline void tanh_whole(T* x, int64_t size) {
  using V = typename Register<T>::type;
  using Integer = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  constexpr int TERMS = sizeof(T) == 4 ? 8 : 15, MANTISSA = sizeof(T) == 4 ? 23 : 52;
  constexpr Integer BIAS = sizeof(T) == 4 ? 127 : 1023;
  constexpr T LOG_2 = T(0.693147180559945309417L), LARGEST = 20;  // from there on tanh is 1
  for (int64_t i = 0; i < size; i += LANES<T>) {
    const V value = at_once(x + i);
    V positive = value < V{} ? -value : value;
    positive = positive > V{} + LARGEST ? V{} + LARGEST : positive;
    const V t = T(-2) * positive;
    const auto k = __builtin_convertvector(t / LOG_2 - T(0.5), typename Register<Integer>::type);
    const V r = t - __builtin_convertvector(k, V) * LOG_2;
    V series = V{} + T(1);
    for (int n = TERMS; n > 1; --n) series = T(1) + series * r * (T(1) / n);
    const auto bits = (k + BIAS) << MANTISSA;
    const V power = (V)bits;  // 2^k
    const V m = power * (series * r) + (power - T(1));
    const V result = -m / (T(2) + m);
    at_once(x + i) = value < V{} ? -result : result;
  }
}

// Matrices of one shape, such as the weights of some layers; padded to whole registers.
template <typename T>
struct Matrices {
  const int64_t count, rows, columns, height, width;
  std::vector<T> numbers;

  explicit Matrices(const Tensor& of)
      : Matrices(of.size(0), of.size(1), of.size(2)) {
    const Tensor given = of.contiguous();
    const T* from = given.const_data_ptr<T>();
    for (int64_t m = 0; m < count; ++m)
      for (int64_t i = 0; i < rows; ++i, from += columns)
        std::copy_n(from, columns, &numbers[(m * height + i) * width]);
  }

  const T* operator[](int64_t m) const { return &numbers[m * height * width]; }

  Matrices transposed() const {
    Matrices result(count, columns, rows);
    for (int64_t m = 0; m < count; ++m)
      transpose(height, width, (*this)[m], width, &result.numbers[m * height * width], height);
    return result;
  }

 private:
  Matrices(int64_t count, int64_t rows, int64_t columns)
      : count(count),
        rows(rows),
        columns(columns),
        height(padded<T>(rows)),
        width(padded<T>(columns)),
        numbers(count * height * width) {}
};

// Gradients of the weights and biases of some layers; one copy for each share of the sentences.
template <typename T>
struct LayerGradient {
  const int64_t rows, columns, width;
  Gradient<T> weight, bias;

  LayerGradient(int64_t shares, const Tensor& of)
      : rows(of.size(1)),
        columns(of.size(2)),
        width(padded<T>(columns)),
        weight(shares, {of.size(0), rows, width}, of.options()),
        bias(shares, {of.size(0), 1, width}, of.options()) {}

  // Of layer m, for n rows: their inputs x, and the gradients g of their outputs.
  void add(int64_t share, int64_t m, int64_t n, const T* x, int64_t x_row, const T* g) {
    multiply<true>(rows, width, n, Matrix<T>{x, x_row}.transposed(), g, width,
                   weight.of(share) + m * rows * width, width);
    T* sums = bias.of(share) + m * width;
    for (int64_t u = 0; u < n; ++u) add_whole(T(1), g + u * width, width, sums);
  }
  Tensor of_weight() { return weight.total().narrow(2, 0, columns); }
  Tensor of_bias() { return bias.total().narrow(2, 0, columns); }
};

// Entities, or relations: vectors of one size that end up beside each other, from `column` on.
struct Part {
  int64_t networks, size, first_network, column;
  double shortest;  // what a vector is divided by at least, if keys are bounded
};

inline std::array<Part, 2> parts_of(const Tensor& entity_weight, const Tensor& relation_weight) {
  const int64_t entities = entity_weight.size(0), entity = entity_weight.size(2);
  return {Part{entities, entity, 0, 0, 1e-12},
          Part{relation_weight.size(0), relation_weight.size(2), entities, entities * entity, 1.0}};
}

// How many there are of everything, and the settings.
struct Sizes {
  int64_t sentences, symbol, hidden, hidden_layers, networks, width;
  bool linear, bounded;

  bool shared() const { return hidden_layers == 1; }
};

// Each network after its first layer: that layer, the network's part and its number in it, and
// whether it is the layer's first and last network.
template <typename Work>
void for_networks(const Sizes& sizes, const std::array<Part, 2>& parts, const Work& work) {
  for (int64_t network = 0; network < sizes.networks; ++network) {
    const Part& part = parts[network >= parts[1].first_network];
    work(sizes.shared() ? 0 : network, part, network - part.first_network,
         !sizes.shared() || network == 0, !sizes.shared() || network + 1 == sizes.networks);
  }
}

// Scale the n vectors x of network m, if they are bounded, and put them in their places.
template <typename T>
void place(const Sizes& sizes, const Part& part, int64_t m, int64_t first, int64_t n, const T* x,
           T* apart, T* lengths) {
  const int64_t row = padded<T>(part.size);
  for (int64_t u = first; u < first + n; ++u, x += row) {
    T* y = apart + u * sizes.width + part.column + m * part.size;
    T scale = 1;
    if (sizes.bounded) {
      const T norm = std::sqrt(dot(x, x, row));
      lengths[u * sizes.networks + part.first_network + m] = norm;
      scale = 1 / std::max(norm, T(part.shortest));
    }
    for (int64_t i = 0; i < part.size; ++i) y[i] = x[i] * scale;
  }
}

// The gradients g_x before the tanh, from those of what `place` wrote.
template <typename T>
void unplace(const Sizes& sizes, const Part& part, int64_t m, int64_t first, int64_t n,
             const T* g_apart, const T* apart, const T* lengths, T* g_x) {
  const int64_t row = padded<T>(part.size);
  for (int64_t u = first; u < first + n; ++u, g_x += row) {
    const int64_t at = u * sizes.width + part.column + m * part.size;
    const T *__restrict y = apart + at, *__restrict g = g_apart + at;
    T norm = 1, along = 0;
    if (sizes.bounded) {
      const T was = lengths[u * sizes.networks + part.first_network + m];
      norm = std::max(was, T(part.shortest));
      if (was >= T(part.shortest))
        for (int64_t i = 0; i < part.size; ++i) along += y[i] * g[i];
    }
    for (int64_t i = 0; i < part.size; ++i) {
      const T x = y[i] * norm;
      g_x[i] = (g[i] - along * y[i]) / norm * (sizes.linear ? T(1) : 1 - x * x);
    }
    std::fill(g_x + part.size, g_x + row, T(0));
  }
}

// x = h times what dropout has kept, if there is dropout.
template <typename T>
void drop(const Sizes& sizes, const T* kept, int64_t n, const T* h, T* x) {
  const int64_t row = padded<T>(sizes.hidden);
  for (int64_t u = 0; u < n; ++u)
    for (int64_t i = 0; i < sizes.hidden; ++i)
      x[u * row + i] = h[u * row + i] * kept[u * sizes.hidden + i];
}

}  // namespace tpr
