public import PersistenceDriver
import PersistencePrimitives

/// The stored values of one record, from which new values are computed.
///
/// ```swift
/// .compute(\Film.length, from: "duration") { old in minutes(try old("duration", as: String.self)) }
/// ```
///
/// It is valid while the closure runs, so it cannot be copied or kept.
public struct StoredRecord: ~Copyable {
  /// The sources, which the rule keeps while the closure runs, so that a record retains nothing.
  let sources: UnsafeBufferPointer<SourceNames.Name>
  /// The values, in the order of the sources.
  @usableFromInline let row: Row

  /// The value of a stored field that the rule names as a source.
  ///
  /// - Parameters:
  ///   - name: The stored name.
  ///   - type: The type of the value.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unknownField`` if the rule does not name the
  ///   source, and ``PersistenceError/Code/invalidRequest`` if the value does not have the type.
  @inlinable
  public func callAsFunction<Value: PersistentValueConvertible>(
    _ name: String, as type: Value.Type = Value.self
  )
    throws -> Value
  {
    let position = try position(of: name)
    let cell = row[position]
    guard cell.isNull ? Value.isPersistentOptional : cell.tag == Value.persistentKind.tag else {
      throw Self.mismatch(name, cell, Value.self)
    }
    return try Value.read(from: row, at: position)
  }

  @usableFromInline
  static func mismatch(_ name: String, _ cell: RowCell, _ type: Any.Type) -> PersistenceError {
    PersistenceError.invalidRequest(
      "the stored value of “\(name)” is \(cell.isNull ? "nil" : "\(cell.tag)"), not \(type); correct the type in the rule"
    )
  }

  /// The place of a source among the row's fields.
  @usableFromInline
  func position(of name: String) throws -> Int {
    guard let position = sources.firstIndex(where: { $0.hasText(name) }) else {
      throw PersistenceError(
        .unknownField, "the rule does not name “\(name)” as a source; add it after from:", field: name)
    }
    return position
  }
}

/// The stored names of the fields that a rule reads, in its order.
final class SourceNames: @unchecked Sendable {  // the memory never changes
  struct Name {
    private let name: StoredName
    private let isASCII: Bool

    init(_ text: String) {
      name = StoredName(text)
      isASCII = text.utf8.allSatisfy { $0 < 0x80 }
    }

    /// Whether the name has the same bytes as a text.
    ///
    /// A text that is canonically equivalent to an ASCII one has more bytes, or the same. Swift compares such texts
    /// several times faster than bytes if they are short.
    func hasText(_ text: String) -> Bool {
      if isASCII, text == name.text { return text.utf8.count == name.text.utf8.count }
      return StoredName(text) == name
    }
  }

  private let storage: UnsafeMutableBufferPointer<Name>

  var names: UnsafeBufferPointer<Name> { UnsafeBufferPointer(storage) }

  init(_ names: [String]) {
    storage = .allocate(capacity: names.count)
    _ = storage.initialize(from: names.map { Name($0) })
  }

  deinit {
    storage.deinitialize()
    storage.deallocate()
  }
}
