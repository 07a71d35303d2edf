// The memory of a differentiable neural computer at one word of one story, and its gradients.
// Symbols are those of Graves et al. (2016); ../dnc.py is the same in PyTorch, and the oracle.

#pragma once

#include <aten.h>

#include <algorithm>
#include <vector>

#include "content.h"
#include "usage.h"

namespace tpr {

template <typename T>
class Dnc {
 public:
  const int64_t heads, n, size;
  const bool links, deallocate;
  const int64_t interface_size, trace_size, state_size, adjoint_size;

  Dnc(int64_t heads, int64_t locations, int64_t size, at::IntArrayRef settings)
      : heads(heads),
        n(locations),
        size(size),
        links(settings[0]),
        deallocate(settings[1]),
        interface_size(heads * size + 3 * size + 2 * heads + 3 + (links ? 3 * heads : 0)),
        trace_size(n * (5 + heads + 2 * (heads + 1))),
        state_size(n * size + (links ? n * n : 0)),
        adjoint_size(state_size + n * (3 + heads)) {}

  // The parts of an interface vector, or of its gradient.
  template <typename P>
  struct Interface {
    P read_keys, write_key, vector, read_strengths, write_strength, erase, free, allocation_gate,
        write_gate, modes;

    Interface(P xi, const Dnc& of)
        : read_keys(xi),
          write_key(read_keys + of.heads * of.size),
          vector(write_key + of.size),
          read_strengths(vector + of.size),
          write_strength(read_strengths + of.heads),
          erase(write_strength + 1),
          free(erase + of.size),
          allocation_gate(free + of.heads),
          write_gate(allocation_gate + 1),
          modes(write_gate + 1) {}
  };

  // What is kept of a word for the way back; the next word needs some of it, too.
  template <typename P>
  struct Trace {
    P usage, write, precedence, allocation, lengths, read, content, cosine;

    Trace(P row, const Dnc& of)
        : usage(row),
          write(usage + of.n),
          precedence(write + of.n),
          allocation(precedence + of.n),
          lengths(allocation + of.n),
          read(lengths + of.n),
          content(read + of.heads * of.n),  // of the read heads, then of the write head
          cosine(content + (of.heads + 1) * of.n) {}
  };

  // Of the state after a word: its gradient, when all later words have given theirs.
  struct Adjoint {
    T *memory, *link, *usage, *write, *precedence, *read;

    Adjoint(T* row, const Dnc& of)
        : memory(row),
          link(memory + of.n * of.size),
          usage(row + of.state_size),
          write(usage + of.n),
          precedence(write + of.n),
          read(precedence + of.n) {}
  };

  void start(T* trace) const {
    std::fill_n(trace, trace_size, T(0));
    std::fill_n(Trace<T*>(trace, *this).lengths, n, std::sqrt(T(EPSILON)));
  }

  // Bring the parts of interface vectors into their ranges.
  void activate(at::Tensor xi) const {
    at::Tensor strengths = xi.narrow(1, strengths_at(), heads + 1);
    strengths.copy_(at::softplus(strengths)).add_(1);
    xi.narrow(1, gates_at(), size + heads + 2).sigmoid_();
    if (links) {
      at::Tensor modes = xi.narrow(1, modes_at(), 3 * heads).unflatten(1, {heads, 3});
      modes.copy_(at::softmax(modes, 2));
    }
  }

  // The gradient of the parts in their ranges becomes that of the interface vector.
  void activate_backward(const T* xi, T* g) const {
    strengths_backward(xi + strengths_at(), heads + 1, g + strengths_at());
    gates_backward(xi + gates_at(), size + heads + 2, g + gates_at());
    if (links) modes_backward(xi + modes_at(), heads, g + modes_at());
  }

  // Room for one story at a time.
  struct Scratch {
    std::vector<T> kept, before, g_write, g_read, g_along, row;
    std::vector<int32_t> order;

    explicit Scratch(const Dnc& of)
        : kept(of.n),
          before(of.n * (of.heads + 1)),
          g_write(of.n),
          g_read(of.heads * of.n),
          g_along(2 * of.heads * of.n),
          row(2 * of.n),
          order(of.n) {}
  };

  void forward(const T* interface, const T* trace_before, T* trace, T* state, T* found,
               Scratch& room) const {
    const Interface<const T*> xi(interface, *this);
    const Trace<const T*> before(trace_before, *this);
    const Trace<T*> now(trace, *this);
    T *memory = state, *link = state + n * size;

    retention(xi.free, before.read, heads, n, room.kept.data());
    for (int64_t i = 0; i < n; ++i)
      now.usage[i] = (before.usage[i] + before.write[i] - before.usage[i] * before.write[i]) *
                     room.kept[i];
    allocate(now.usage, n, room.order.data(), now.allocation);

    T *write_content = now.content + heads * n, *write_cosine = now.cosine + heads * n;
    look_up<T>({memory, before.lengths, n, size}, xi.write_key, *xi.write_strength, write_cosine,
               write_content);
    const T g_a = *xi.allocation_gate, g_w = *xi.write_gate;
    for (int64_t i = 0; i < n; ++i)
      now.write[i] = g_w * (g_a * now.allocation[i] + (1 - g_a) * write_content[i]);
    write(xi, now.write, room.kept.data(), memory);
    for (int64_t i = 0; i < n; ++i) now.lengths[i] = length(memory + i * size, size);

    for (int64_t head = 0; head < heads; ++head)
      look_up<T>({memory, now.lengths, n, size}, xi.read_keys + head * size,
                 xi.read_strengths[head], now.cosine + head * n, now.content + head * n);
    if (links) {
      read_along(xi, before, now, link, room);
      const T left = 1 - sum(now.write, n);
      for (int64_t i = 0; i < n; ++i)
        now.precedence[i] = left * before.precedence[i] + now.write[i];
    } else {
      std::copy_n(now.content, heads * n, now.read);
    }
    std::fill_n(found, heads * size, T(0));
    for (int64_t i = 0; i < n; ++i)
      for (int64_t head = 0; head < heads; ++head)
        add(now.read[head * n + i], memory + i * size, size, found + head * size);
  }

  // The state after a word from that before it, when the trace is known.
  void replay(const T* interface, const T* trace_before, const T* trace, const T* state, T* after,
              Scratch& room) const {
    const Interface<const T*> xi(interface, *this);
    const Trace<const T*> before(trace_before, *this), now(trace, *this);
    if (deallocate) retention(xi.free, before.read, heads, n, room.kept.data());
    std::copy_n(state, n * size, after);
    write(xi, now.write, room.kept.data(), after);
    if (links)
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = n * size + i * n;
        link_row(i, now.write, before.precedence, state + at, after + at);
      }
  }

  // The gradients of a word: of its interface vector (set), and from those of the state after it
  // to those of the state before it.
  void backward(const T* interface, const T* trace_before, const T* trace, const T* state,
                const T* state_after, const T* g_found, T* adjoint, T* g_interface,
                Scratch& room) const {
    const Interface<const T*> xi(interface, *this);
    const Interface<T*> g(g_interface, *this);
    const Trace<const T*> before(trace_before, *this), now(trace, *this);
    const Adjoint of(adjoint, *this);
    const T *memory_before = state, *link_before = state + n * size, *memory = state_after;
    std::fill_n(g_interface, interface_size, T(0));
    T *kept = room.kept.data(), *g_write = room.g_write.data();
    retention(xi.free, before.read, heads, n, kept);

    // r = M' w^r
    T* g_read = room.g_read.data();
    std::copy_n(of.read, heads * n, g_read);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t head = 0; head < heads; ++head) {
        g_read[head * n + i] += dot(g_found + head * size, memory + i * size, size);
        add(now.read[head * n + i], g_found + head * size, size, of.memory + i * size);
      }
    // w^r, and p
    std::copy_n(of.write, n, g_write);
    if (links) {
      const T along_p = dot(of.precedence, before.precedence, n), left = 1 - sum(now.write, n);
      for (int64_t i = 0; i < n; ++i) {
        g_write[i] += of.precedence[i] - along_p;
        of.precedence[i] *= left;
      }
      read_along_backward(xi, before, now, link_before, g_read, g, of, g_write, room);
      for (int64_t head = 0; head < heads; ++head) {
        const T pi = xi.modes[3 * head + 1];
        T* g_content = g_read + head * n;
        g.modes[3 * head + 1] = dot(g_content, now.content + head * n, n);
        for (int64_t i = 0; i < n; ++i) g_content[i] *= pi;
      }
    } else {
      std::fill_n(of.read, heads * n, T(0));
    }
    for (int64_t head = 0; head < heads; ++head)
      look_up_backward<T>({memory, now.lengths, n, size}, xi.read_keys + head * size,
                          xi.read_strengths[head], now.cosine + head * n, now.content + head * n,
                          g_read + head * n, g.read_keys + head * size, g.read_strengths + head,
                          of.memory);
    // M
    T* g_kept = room.row.data();
    std::fill_n(g_kept, n, T(0));
    for (int64_t i = 0; i < n; ++i) {
      const T *__restrict row = memory_before + i * size, *__restrict erase = xi.erase,
              *__restrict vector = xi.vector;
      T *__restrict g_row = of.memory + i * size, *__restrict of_erase = g.erase,
                   *__restrict of_vector = g.vector;
      const T weight = now.write[i], keep = deallocate ? kept[i] : T(1);
      T of_write = 0, of_kept = 0;
#pragma GCC ivdep
      for (int64_t j = 0; j < size; ++j) {
        const T erased = g_row[j] * row[j];
        of_write += g_row[j] * vector[j] - keep * erased * erase[j];
        of_kept += erased * (1 - weight * erase[j]);
        of_erase[j] -= weight * keep * erased;
        of_vector[j] += weight * g_row[j];
        g_row[j] *= keep * (1 - weight * erase[j]);
      }
      g_write[i] += of_write;
      if (deallocate) g_kept[i] = of_kept;
    }
    // w^w
    const T *write_content = now.content + heads * n, *write_cosine = now.cosine + heads * n;
    const T g_a = *xi.allocation_gate, g_w = *xi.write_gate;
    T *g_allocation = of.write, *g_content = room.row.data() + n;
    for (int64_t i = 0; i < n; ++i) {
      const T difference = now.allocation[i] - write_content[i];
      *g.write_gate += g_write[i] * (g_a * difference + write_content[i]);
      *g.allocation_gate += g_write[i] * g_w * difference;
      g_allocation[i] = g_write[i] * g_w * g_a;
      g_content[i] = g_write[i] * g_w * (1 - g_a);
    }
    look_up_backward<T>({memory_before, before.lengths, n, size}, xi.write_key,
                        *xi.write_strength, write_cosine, write_content, g_content, g.write_key,
                        g.write_strength, of.memory);
    // a, u and psi
    allocate_backward(now.usage, g_allocation, n, room.order.data(), room.before.data(), of.usage);
    for (int64_t i = 0; i < n; ++i) {
      const T u = before.usage[i], w = before.write[i];
      g_kept[i] += of.usage[i] * (u + w - u * w);
      of.write[i] = of.usage[i] * kept[i] * (1 - u);
      of.usage[i] *= kept[i] * (1 - w);
    }
    retention_backward(xi.free, before.read, heads, n, room.before.data(), g_kept, g.free, of.read);
  }

 private:
  int64_t strengths_at() const { return (heads + 2) * size; }
  int64_t gates_at() const { return strengths_at() + heads + 1; }
  int64_t modes_at() const { return gates_at() + size + heads + 2; }

  // M <- M (1 - w e') + w v'
  void write(const Interface<const T*>& xi, const T* weights, const T* kept, T* memory) const {
    const T *__restrict erase = xi.erase, *__restrict vector = xi.vector;
    for (int64_t i = 0; i < n; ++i) {
      T* __restrict row = memory + i * size;
      const T weight = weights[i], keep = deallocate ? kept[i] : T(1);
      for (int64_t j = 0; j < size; ++j)
        row[j] = keep * row[j] * (1 - weight * erase[j]) + weight * vector[j];
    }
  }

  // L[i] <- (1 - w[i] - w) L[i] + w[i] p, without its diagonal
  void link_row(int64_t i, const T* __restrict weights, const T* __restrict precedence,
                const T* __restrict old, T* __restrict row) const {
    const T weight = weights[i];
    for (int64_t j = 0; j < n; ++j)
      row[j] = (1 - weight - weights[j]) * old[j] + weight * precedence[j];
    row[i] = 0;
  }

  // w^r = pi_1 L' w + pi_2 c + pi_3 L w, with the links brought up to date on the way
  void read_along(const Interface<const T*>& xi, const Trace<const T*>& before,
                  const Trace<T*>& now, T* link, Scratch& room) const {
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t i = 0; i < n; ++i)
        now.read[head * n + i] = xi.modes[3 * head + 1] * now.content[head * n + i];
    for (int64_t i = 0; i < n; ++i) {
      T* row = link + i * n;
      std::copy_n(row, n, room.row.data());
      link_row(i, now.write, before.precedence, room.row.data(), row);
      for (int64_t head = 0; head < heads; ++head) {
        const T* __restrict last = before.read + head * n;
        T* __restrict read = now.read + head * n;
        const T backward = xi.modes[3 * head] * last[i];
        T forward = 0;
        for (int64_t j = 0; j < n; ++j) {
          forward += row[j] * last[j];
          read[j] += backward * row[j];
        }
        read[i] += xi.modes[3 * head + 2] * forward;
      }
    }
  }

  // Row by row, as before: L' g and L g give the gradients of the last weightings and of the modes.
  void read_along_backward(const Interface<const T*>& xi, const Trace<const T*>& before,
                           const Trace<const T*>& now, const T* link_before, const T* g_read,
                           const Interface<T*>& g, const Adjoint& of, T* g_write,
                           Scratch& room) const {
    T *forward = room.g_along.data(), *backward = forward + heads * n;  // L' g and L g
    std::fill_n(forward, heads * n, T(0));
    T* row = room.row.data();
    for (int64_t i = 0; i < n; ++i) {
      const T* __restrict old = link_before + i * n;
      T* __restrict g_row = of.link + i * n;
      link_row(i, now.write, before.precedence, old, row);
      for (int64_t head = 0; head < heads; ++head) {
        const T *__restrict last = before.read + head * n, *__restrict g_now = g_read + head * n;
        T* __restrict ahead = forward + head * n;
        const T here = g_now[i], to_last = xi.modes[3 * head + 2] * here,
                to_now = xi.modes[3 * head] * last[i];
        T behind = 0;
        for (int64_t j = 0; j < n; ++j) {
          ahead[j] += here * row[j];
          behind += row[j] * g_now[j];
          g_row[j] += to_last * last[j] + to_now * g_now[j];
        }
        backward[head * n + i] = behind;
      }
      g_row[i] = 0;
      const T *__restrict weights = now.write, *__restrict p = before.precedence;
      T *__restrict of_p = of.precedence, *__restrict of_weights = g_write;
      const T weight = weights[i];
      T of_weight = 0;
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) {
        const T lost = g_row[j] * old[j];
        of_weight += g_row[j] * p[j] - lost;
        of_weights[j] -= lost;
        of_p[j] += weight * g_row[j];
        g_row[j] *= 1 - weight - weights[j];
      }
      g_write[i] += of_weight;
    }
    for (int64_t head = 0; head < heads; ++head) {
      const T *last = before.read + head * n, *ahead = forward + head * n,
              *behind = backward + head * n;
      g.modes[3 * head] = dot(last, behind, n);
      g.modes[3 * head + 2] = dot(last, ahead, n);
      for (int64_t i = 0; i < n; ++i)
        of.read[head * n + i] =
            xi.modes[3 * head] * behind[i] + xi.modes[3 * head + 2] * ahead[i];
    }
  }
};

}  // namespace tpr
