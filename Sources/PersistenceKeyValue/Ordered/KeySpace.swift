/// A separately ordered part of an ordered store.
///
/// A store with one order of keys may begin each key with the space's number.
public enum KeySpace: Int, CaseIterable, Sendable {
  /// The models, and the number of records of each.
  case catalog
  /// The records, by model and primary key.
  case records
  /// The entries of secondary indexes, by model, index, values and primary key.
  case indexes

  /// A name for the space, such as for a column family.
  public var name: String {
    switch self {
    case .catalog: "catalog"
    case .records: "records"
    case .indexes: "indexes"
    }
  }
}

/// A key and its value, borrowed from a store.
///
/// The store decides how long the bytes are valid: see ``OrderedCursor``.
public struct OrderedEntry {
  /// The bytes of the key.
  public let key: UnsafeRawBufferPointer
  /// The bytes of the value.
  public let value: UnsafeRawBufferPointer

  /// Makes an entry, without copying its bytes.
  public init(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
    self.key = key
    self.value = value
  }
}
