/// A name of a model, field or index that compares by its UTF-8 bytes.
///
/// Swift's string equality considers both normal forms of é equal, which would merge two fields (contract V3,
/// E6).
public struct StoredName: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The name's text.
  public let text: String

  /// Makes a name from text.
  public init(_ text: String) { self.text = text }

  /// Whether two names have the same bytes.
  public static func == (left: StoredName, right: StoredName) -> Bool {
    // Most names differ in these already.
    guard left.text.utf8.count == right.text.utf8.count else { return false }
    return left.text.utf8.withContiguousStorageIfAvailable { left in
      right.text.utf8.withContiguousStorageIfAvailable {
        TotalOrder.compare(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer($0)) == 0
      }
    }.flatMap { $0 } ?? left.text.utf8.elementsEqual(right.text.utf8)
  }

  /// Whether one name's bytes sort before another's.
  public static func < (left: StoredName, right: StoredName) -> Bool {
    TotalOrder.compare(left.text, right.text) < 0
  }

  /// Hashes the name's bytes.
  public func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  /// The name's text.
  public var description: String { text }
}
