// SPDX-License-Identifier: MIT
// Task: a coroutine of the sequencer. It starts suspended and its Task object owns the frame:
// destroying the object destroys the frame wherever it is suspended. A Task is either spawned
// through the Port (handle()) or awaited by another Task.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace sdmacc::ncfw {

class [[nodiscard]] Task {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  struct promise_type {
    std::coroutine_handle<> parent =
        nullptr;  // resumed at the end; only set when the parent had to be suspended

    struct Final {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(Handle self) noexcept {
        const auto waiter = self.promise().parent;
        return waiter ? waiter : std::noop_coroutine();
      }
      void await_resume() noexcept {}
    };

    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    Final final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };

  Task() = default;
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (handle_) handle_.destroy();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  std::coroutine_handle<> handle() const { return handle_; }

  // Runs the child at once. A child that ends without suspending costs the parent no suspension, so
  // that a chain of such children does not grow the stack.
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> parent) {
    handle_.resume();
    if (handle_.done()) return false;
    handle_.promise().parent = parent;
    return true;
  }
  void await_resume() const noexcept {}

 private:
  explicit Task(Handle handle) : handle_(handle) {}
  Handle handle_ = nullptr;
};

}  // namespace sdmacc::ncfw
