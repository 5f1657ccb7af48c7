import Foundation

/// Where the tool writes: a file descriptor, or memory in tests.
///
/// What is written is collected and handed on in large pieces. A failure to write is an error, never dropped: a
/// result that was cut short must not look whole.
package final class ByteOutput {
  private static let limit = 64 << 10

  private let sink: (UnsafeRawBufferPointer) throws -> Void
  private var pending: [UInt8] = []

  /// Whether a person reads this on a terminal.
  package let isTerminal: Bool

  /// Writes to a file descriptor that stays open.
  package init(fileDescriptor: Int32, name: String) {
    isTerminal = isatty(fileDescriptor) == 1
    sink = { bytes in
      guard FileDescriptor.put(bytes, into: fileDescriptor) else {
        throw ToolFailure.inputOutput("\(name) could not be written: \(FileDescriptor.lastError)")
      }
    }
  }

  /// Hands what is written to a closure.
  package init(isTerminal: Bool = false, _ sink: @escaping (UnsafeRawBufferPointer) throws -> Void) {
    self.isTerminal = isTerminal
    self.sink = sink
  }

  /// Writes text.
  package func write(_ text: String) throws {
    pending.append(contentsOf: text.utf8)
    if pending.count >= Self.limit { try flush() }
  }

  /// Writes bytes.
  func write(_ bytes: some Sequence<UInt8>) throws {
    pending.append(contentsOf: bytes)
    if pending.count >= Self.limit { try flush() }
  }

  /// Writes text and a line feed.
  func line(_ text: String = "") throws { try write(text + "\n") }

  /// Hands on what has been collected.
  package func flush() throws {
    guard !pending.isEmpty else { return }
    defer { pending.removeAll(keepingCapacity: true) }
    try pending.withUnsafeBytes { try sink($0) }
  }
}
