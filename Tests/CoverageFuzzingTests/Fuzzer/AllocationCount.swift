@_silgen_name("__sanitizer_install_malloc_and_free_hooks")
private func installHooks(
  _ allocation: @convention(c) (UnsafeRawPointer?, Int) -> Void,
  _ deallocation: @convention(c) (UnsafeRawPointer?) -> Void
) -> CInt

@_silgen_name("__sanitizer_get_allocated_size")
private func allocatedSize(_ pointer: UnsafeRawPointer?) -> Int

// The hooks run inside malloc: they touch constants and these variables only. Targets run on one thread.
private nonisolated(unsafe) var current = 0
private nonisolated(unsafe) var highest = 0

/// Counts the bytes that a target has allocated at once, by the hooks of AddressSanitizer.
enum AllocationCount {
  /// The limit for an input: its hundredfold, the buffers that every input gets, and the automata of regular expressions,
  /// which have a limit of their own for each condition.
  static func limit(_ input: UnsafeRawBufferPointer) -> Int {
    let hasPatterns = String(decoding: input, as: UTF8.self).lowercased().contains("matches")
    return 100 * input.count + (64 << 10) + (hasPatterns ? 16 << 20 : 0)
  }

  static func start() {
    _ = installHooks(
      { _, size in
        current &+= size
        if current > highest { highest = current }
      },
      { pointer in
        if let pointer { current &-= allocatedSize(pointer) }
      })
  }

  /// The most bytes that a closure had allocated at once.
  static func peak(_ body: () throws -> Void) rethrows -> Int {
    current = 0
    highest = 0
    try body()
    return highest
  }
}
