// What the kernels use of PyTorch, under the names it has there (ATen), made of PyTorch's stable ABI
// alone. So a kernel that was built once works with every PyTorch from 2.10 on.

#pragma once

#include <torch/csrc/inductor/aoti_torch/generated/c_shim_cpu.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <array>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace at {

using IntArrayRef = torch::headeronly::IntHeaderOnlyArrayRef;
using ScalarType = torch::headeronly::ScalarType;
using Shape = std::vector<int64_t>;
using torch::stable::parallel_for;

inline int get_num_threads() { return static_cast<int>(torch::stable::get_num_threads()); }

struct TensorOptions {
  ScalarType dtype;
};

// A view of some memory. Where that is and how it is laid out never changes, and is asked once.
class Tensor : public torch::stable::Tensor {
 public:
  using Stable = torch::stable::Tensor;

  Tensor() = default;
  Tensor(Stable given) : Stable(std::move(given)) {  // implicit: that is how they come and go
    if (!Stable::defined()) return;
    defined_ = true;
    data_ = Stable::data_ptr();
    type_ = Stable::scalar_type();
    sizes_ = Stable::sizes();
    strides_ = Stable::strides();
  }

  bool defined() const { return defined_; }
  int64_t dim() const { return sizes_.size(); }
  IntArrayRef sizes() const { return sizes_; }
  int64_t size(int64_t dim) const { return sizes_[dim]; }
  int64_t stride(int64_t dim) const { return strides_[dim]; }
  ScalarType scalar_type() const { return type_; }
  TensorOptions options() const { return {type_}; }
  void* data_ptr() const { return data_; }
  template <typename T>
  const T* const_data_ptr() const {
    return mutable_data_ptr<T>();
  }
  template <typename T>
  T* mutable_data_ptr() const {
    if (type_ != c10::CppTypeToScalarType<T>::value)
      throw std::runtime_error(std::string("a tensor of ") + c10::toString(type_) + " where " +
                               c10::toString(c10::CppTypeToScalarType<T>::value) + " is wanted");
    return static_cast<T*>(data_);
  }

  // Other views of the same memory.
  Tensor view_as(const Shape& sizes, const Shape& strides, int64_t offset = 0) const {
    AtenTensorHandle made;
    TORCH_ERROR_CODE_CHECK(aoti_torch__reinterpret_tensor(get(), sizes.size(), sizes.data(),
                                                          strides.data(), offset, &made));
    return Tensor(Stable(made));
  }
  Tensor narrow(int64_t dim, int64_t start, int64_t length) const {
    Shape sizes = sizes_.vec();
    sizes[dim] = length;
    return view_as(sizes, strides_.vec(), start * strides_[dim]);
  }
  Tensor operator[](int64_t index) const {
    return view_as({sizes_.begin() + 1, sizes_.end()}, {strides_.begin() + 1, strides_.end()},
                   index * strides_[0]);
  }
  Tensor transpose(int64_t one, int64_t other) const {
    Shape sizes = sizes_.vec(), strides = strides_.vec();
    std::swap(sizes[one], sizes[other]);
    std::swap(strides[one], strides[other]);
    return view_as(sizes, strides);
  }
  Tensor t() const { return transpose(0, 1); }
  Tensor unsqueeze(int64_t dim) const {
    Shape sizes = sizes_.vec(), strides = strides_.vec();
    sizes.insert(sizes.begin() + dim, 1);
    strides.insert(strides.begin() + dim, 0);
    return view_as(sizes, strides);
  }
  // -1: as it is. Only axes of size 1 grow.
  Tensor expand(Shape sizes) const {
    Shape strides = strides_.vec();
    for (int64_t axis = 0; axis < dim(); ++axis) {
      if (sizes[axis] == -1) sizes[axis] = sizes_[axis];
      if (sizes[axis] != sizes_[axis]) strides[axis] = 0;
    }
    return view_as(sizes, strides);
  }
  // Instead of axis `dim`, those that it is made of.
  Tensor unflatten(int64_t dim, const Shape& parts) const {
    Shape sizes = sizes_.vec(), strides = strides_.vec();
    int64_t stride = strides[dim];
    sizes.erase(sizes.begin() + dim);
    strides.erase(strides.begin() + dim);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      sizes.insert(sizes.begin() + dim, *part);
      strides.insert(strides.begin() + dim, stride);
      stride *= *part;
    }
    return view_as(sizes, strides);
  }

  Tensor view(const Shape& sizes) const { return torch::stable::view(*this, sizes); }
  Tensor clone() const { return torch::stable::clone(*this); }
  Tensor contiguous() const {
    if (is_contiguous()) return *this;
    return torch::stable::contiguous(*this);
  }
  Tensor sum(int64_t dim, bool keep = false) const;
  Tensor mul(const Tensor& other) const;

  // In place.
  const Tensor& zero_() const;
  const Tensor& tanh_() const;
  const Tensor& sigmoid_() const;
  const Tensor& copy_(const Tensor& from) const;
  const Tensor& add_(double number) const;
  const Tensor& add_(const Tensor& other) const;
  const Tensor& mul_(const Tensor& other) const;
  const Tensor& addmm_(const Tensor& one, const Tensor& other) const;

 private:
  bool defined_ = false;
  void* data_ = nullptr;
  ScalarType type_{};
  IntArrayRef sizes_, strides_;
};

}  // namespace at

// How tensors come in and go out through the stable ABI.
namespace torch::stable::detail {
template <>
struct FromImpl<at::Tensor> : FromImpl<torch::stable::Tensor> {};
template <>
struct ToImpl<at::Tensor> : ToImpl<torch::stable::Tensor> {};
}  // namespace torch::stable::detail

namespace at {

// An operator of ATen by its name, `mm` or `mm.out`, with all inputs of its schema in their order.
template <typename... Inputs>
Tensor call(const char* name, const char* overload, const Inputs&... inputs) {
  std::array<StableIValue, sizeof...(Inputs)> stack{
      torch::stable::detail::from<Inputs>(inputs)...};
  TORCH_ERROR_CODE_CHECK(torch_call_dispatcher(name, overload, stack.data(), TORCH_ABI_VERSION));
  return torch::stable::detail::to<Tensor>(stack[0]);
}

inline Tensor empty(IntArrayRef sizes, TensorOptions options) {
  return torch::stable::empty(sizes, options.dtype);
}
inline Tensor zeros(IntArrayRef sizes, TensorOptions options) {
  const Tensor made = empty(sizes, options);
  return made.zero_();
}
inline Tensor empty_like(const Tensor& other) { return empty(other.sizes(), other.options()); }
inline Tensor zeros_like(const Tensor& other) { return zeros(other.sizes(), other.options()); }

// Products go past the dispatcher, which does not take the numbers of addmm.
inline void mm_out(const Tensor& out, const Tensor& one, const Tensor& other) {
  TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(out.get(), one.get(), other.get()));
}
inline void bmm_out(const Tensor& out, const Tensor& one, const Tensor& other) {
  TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_bmm_out(out.get(), one.get(), other.get()));
}
inline void addmm_out(const Tensor& out, const Tensor& plus, const Tensor& one,
                      const Tensor& other) {
  TORCH_ERROR_CODE_CHECK(
      aoti_torch_cpu_addmm_out(out.get(), plus.get(), one.get(), other.get(), 1, 1));
}
inline Tensor mm(const Tensor& one, const Tensor& other) {
  const Tensor made = empty({one.size(0), other.size(1)}, one.options());
  mm_out(made, one, other);
  return made;
}
inline Tensor bmm(const Tensor& one, const Tensor& other) {
  const Tensor made = empty({one.size(0), one.size(1), other.size(2)}, one.options());
  bmm_out(made, one, other);
  return made;
}
inline Tensor baddbmm(const Tensor& plus, const Tensor& one, const Tensor& other) {
  const Tensor made = empty({one.size(0), one.size(1), other.size(2)}, one.options());
  TORCH_ERROR_CODE_CHECK(
      aoti_torch_cpu_baddbmm_out(made.get(), plus.get(), one.get(), other.get(), 1, 1));
  return made;
}
inline Tensor tanh(const Tensor& x) { return call("aten::tanh", "", x); }
inline void tanh_out(const Tensor& out, const Tensor& x) { call("aten::tanh", "out", x, out); }
inline Tensor softplus(const Tensor& x) {
  return call("aten::neg", "", call("aten::log_sigmoid", "", call("aten::neg", "", x)));
}
inline Tensor softmax(const Tensor& x, int64_t dim) {
  return call("aten::_softmax", "", x, dim, false);
}

inline Tensor Tensor::sum(int64_t dim, bool keep) const {
  return torch::stable::sum(*this, Shape{dim}, keep);
}
inline Tensor Tensor::mul(const Tensor& other) const {
  return call("aten::mul", "Tensor", *this, other);
}
inline const Tensor& Tensor::zero_() const {
  call("aten::zero_", "", *this);
  return *this;
}
inline const Tensor& Tensor::tanh_() const {
  call("aten::tanh_", "", *this);
  return *this;
}
inline const Tensor& Tensor::sigmoid_() const {
  call("aten::sigmoid_", "", *this);
  return *this;
}
inline const Tensor& Tensor::copy_(const Tensor& from) const {
  call("aten::copy_", "", *this, from, false);
  return *this;
}
inline const Tensor& Tensor::add_(double number) const {
  AtenTensorHandle made;
  TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_add_Scalar(get(), number, 1, &made));
  return copy_(Tensor(Stable(made)));
}
inline const Tensor& Tensor::add_(const Tensor& other) const {
  AtenTensorHandle made;
  TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_add_Tensor(get(), other.get(), 1, &made));
  return copy_(Tensor(Stable(made)));
}
inline const Tensor& Tensor::mul_(const Tensor& other) const {
  call("aten::mul_", "Tensor", *this, other);
  return *this;
}
inline const Tensor& Tensor::addmm_(const Tensor& one, const Tensor& other) const {
  addmm_out(*this, *this, one, other);
  return *this;
}

inline void print(std::ostringstream& to, IntArrayRef sizes) {
  const char* separator = "[";
  for (const int64_t size : sizes) {
    to << separator << size;
    separator = ", ";
  }
  to << (sizes.empty() ? "[]" : "]");
}
template <typename T>
void print(std::ostringstream& to, const T& part) {
  to << part;
}
template <typename... Parts>
std::string message(const Parts&... parts) {
  std::ostringstream made;
  (print(made, parts), ...);
  return made.str();
}

}  // namespace at

// Through the stable ABI all exceptions are a RuntimeError in Python, with some versions of PyTorch.
// So those that are to be another one begin with its name: see `call` in build.py.
#define TORCH_CHECK(condition, ...) \
  if (!(condition)) throw std::runtime_error(at::message(__VA_ARGS__))
#define TORCH_CHECK_VALUE(condition, ...) TORCH_CHECK(condition, "ValueError: ", __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) TORCH_CHECK(condition, "IndexError: ", __VA_ARGS__)

// Call a function with `scalar_t` as the type of the numbers.
#define AT_DISPATCH_FLOATING_TYPES(type, name, ...)                                   \
  do {                                                                                \
    TORCH_CHECK((type) == at::ScalarType::Float || (type) == at::ScalarType::Double,  \
                name, " works with float and double, not ", c10::toString(type));     \
    if ((type) == at::ScalarType::Float) {                                            \
      using scalar_t = float;                                                         \
      __VA_ARGS__();                                                                  \
    } else {                                                                          \
      using scalar_t = double;                                                        \
      __VA_ARGS__();                                                                  \
    }                                                                                 \
  } while (false)

#define TORCH_LIBRARY(name, library) STABLE_TORCH_LIBRARY(name, library)
#define TORCH_LIBRARY_IMPL(name, key, library) STABLE_TORCH_LIBRARY_IMPL(name, key, library)
#define TORCH_FN(function) TORCH_BOX(&function)
