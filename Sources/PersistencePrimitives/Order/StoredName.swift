/// A name of a model, field or index that compares by its UTF-8 bytes.
///
/// Swift's own string equality takes both forms of é for the same text, which would make two fields of one
/// (contract V3, E6).
public struct StoredName: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The name's text.
  public let text: String

  /// Makes a name of a text.
  public init(_ text: String) { self.text = text }

  /// Whether two names are the same bytes.
  public static func == (left: StoredName, right: StoredName) -> Bool {
    // Of most names, which differ, no more than this is looked at.
    guard left.text.utf8.count == right.text.utf8.count else { return false }
    return left.text.utf8.withContiguousStorageIfAvailable { left in
      right.text.utf8.withContiguousStorageIfAvailable { left.elementsEqual($0) }
    }.flatMap { $0 } ?? left.text.utf8.elementsEqual(right.text.utf8)
  }

  /// Whether one name's bytes sort before another's.
  public static func < (left: StoredName, right: StoredName) -> Bool {
    TotalOrder.compare(left.text, right.text) < 0
  }

  /// Feeds the name's bytes into a hasher.
  public func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  /// The name's text.
  public var description: String { text }
}
