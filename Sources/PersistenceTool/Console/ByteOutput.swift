import Foundation

/// A buffered output of the tool: a file descriptor, or memory in tests.
///
/// A failed write is always an error, so that a truncated result never looks complete.
package final class ByteOutput {
  private static let limit = 64 << 10

  private let sink: (UnsafeRawBufferPointer) throws -> Void
  private var pending: [UInt8] = []

  package let isTerminal: Bool

  /// Creates an output to a file descriptor, and does not close it.
  package init(fileDescriptor: Int32, name: String) {
    isTerminal = isatty(fileDescriptor) == 1
    sink = { bytes in
      guard FileDescriptor.write(bytes, to: fileDescriptor) else {
        throw ToolFailure.inputOutput("\(name) could not be written: \(FileDescriptor.lastError)")
      }
    }
  }

  /// Creates an output to a closure.
  package init(isTerminal: Bool = false, _ sink: @escaping (UnsafeRawBufferPointer) throws -> Void) {
    self.isTerminal = isTerminal
    self.sink = sink
  }

  package func write(_ text: String) throws {
    pending.append(contentsOf: text.utf8)
    if pending.count >= Self.limit { try flush() }
  }

  func write(_ bytes: some Sequence<UInt8>) throws {
    pending.append(contentsOf: bytes)
    if pending.count >= Self.limit { try flush() }
  }

  func line(_ text: String = "") throws { try write(text + "\n") }

  package func flush() throws {
    guard !pending.isEmpty else { return }
    defer { pending.removeAll(keepingCapacity: true) }
    try pending.withUnsafeBytes { try sink($0) }
  }
}

enum FileDescriptor {
  /// Writes all bytes.
  ///
  /// Returns false on failure; ``lastError`` has the reason.
  static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
    var rest = bytes
    while let start = rest.baseAddress, !rest.isEmpty {
      let count = Foundation.write(descriptor, start, rest.count)
      if count < 0 {
        if errno == EINTR || errno == EAGAIN { continue }
        return false
      }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    return true
  }

  /// The operating system's last error message.
  static var lastError: String { String(cString: strerror(errno)) }
}
