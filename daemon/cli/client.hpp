// SPDX-License-Identifier: MIT
// The C handles of libsdmacc as owners, and its codes as Status; and the daemon to talk to.
#pragma once

#include <memory>
#include <string>

#include "libuapi/client/sdmacc.h"
#include "libuapi/support/result.hpp"

namespace sdmacc::cli {

struct FreeHandle {
  void operator()(sdmacc_connection* c) const { sdmacc_disconnect(c); }
  void operator()(sdmacc_group* g) const { sdmacc_group_leave(g); }
  void operator()(sdmacc_tensor* t) const { sdmacc_tensor_free(t); }
  void operator()(char* text) const { sdmacc_text_free(text); }
};
using Connection = std::unique_ptr<sdmacc_connection, FreeHandle>;
using Group = std::unique_ptr<sdmacc_group, FreeHandle>;
using Tensor = std::unique_ptr<sdmacc_tensor, FreeHandle>;

// The last error of this thread when `code` is none of success.
inline Status check(int code) {
  if (code == SDMACC_OK) return {};
  return tl::unexpected<Error>(
      Error{static_cast<Errc>(code), Stage::Client, kNoIndex, sdmacc_last_error()});
}

// Calls a function that gives out a handle as its last argument.
template <typename Handle, typename Function, typename... Args>
Result<std::unique_ptr<Handle, FreeHandle>> make(Function function, Args... args) {
  Handle* handle = nullptr;
  SDMACC_CHECK(check(function(args..., &handle)));
  return std::unique_ptr<Handle, FreeHandle>(handle);
}

// "" is the default path.
inline Result<Connection> connect(const std::string& path) {
  return make<sdmacc_connection>(sdmacc_connect, path.empty() ? nullptr : path.c_str());
}

}  // namespace sdmacc::cli
