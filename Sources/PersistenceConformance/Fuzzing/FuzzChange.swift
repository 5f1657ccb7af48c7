public import PersistenceCore

/// A change of a model's stored schema in a fuzzer's program, as plain data; it may be invalid.
public struct FuzzChange: Sendable, Codable {
  /// The source of a field's values in the records that exist.
  public enum Source: Sendable, Codable {
    /// The values of a stored field, by its position, with a replacement for nil.
    case field(Int, replacingNil: PersistentValue? = nil)
    /// One value for all records.
    case fill(PersistentValue)
    /// A value that a function returns for each record.
    case computed(FuzzFunction)
  }

  /// The position, in the program's schemas, of the schema after the change.
  public var target: Int
  /// The source of each field of the target, by position.
  public var sources: [Source]

  /// Creates a change.
  ///
  /// - Parameters:
  ///   - target: The position, in the program's schemas, of the schema after the change.
  ///   - sources: The source of each field of the target, by position.
  public init(to target: Int, _ sources: [Source]) {
    self.target = target
    self.sources = sources
  }

  /// Returns the change for a driver; throws if it is invalid.
  func change(of model: Int, in schemas: [ModelSchema]) throws -> SchemaChange {
    let (stored, target) = (schemas[model], schemas[target])
    let functions = zip(target.fields, sources).compactMap { field, source in
      if case .computed(let function) = source { (function, field) } else { nil }
    }
    var compute: SchemaChange.Compute?
    if !functions.isEmpty {
      compute = { row, computed in
        let values = try row.values()
        computed.set(try functions.map { try $0.value(of: $1, from: values, in: stored) })
      }
    }
    var change = try SchemaChange(
      from: stored, to: target,
      sources: sources.map { source in
        switch source {
        case .field(let position, let replacement): .field(position, replacingNil: replacement)
        case .fill(let value): .fill(value)
        case .computed: .computed
        }
      }, compute: compute)
    change.defersIndexes = true
    return change
  }
}

/// A deterministic function of a record, for computed fields.
public enum FuzzFunction: Sendable, Codable {
  /// The value of a stored field as a short text.
  case text(of: Int)
  /// The size of the value of a stored field, below 100.
  case length(of: Int)
  /// One of seven values, chosen by the record's key.
  case byKey
  /// A value of another kind.
  case wrong
  /// The same value as ``byKey``, but an error for every third key.
  case failing

  struct Failure: Error {
    static let code = "failed as asked"
  }

  /// Returns the value of a target's field for a record of a stored schema.
  func value(of field: FieldSchema, from record: [PersistentValue], in stored: ModelSchema) throws
    -> PersistentValue
  {
    func input(_ position: Int) -> PersistentValue {
      record.indices.contains(position) ? record[position] : .null
    }
    var hash: UInt64 = 5381
    for name in stored.key {
      let position = FuzzReference.position(of: name, in: stored.fields) ?? -1
      for byte in FuzzSource.value(input(position)).utf8 { hash = hash &* 33 &+ UInt64(byte) }
    }
    switch self {
    case .text(let position): return Self.text(input(position))
    case .length(let position): return .integer(Self.length(input(position)) % 100)
    case .wrong: return field.kind == .bool ? .integer(1) : .bool(true)
    case .failing where hash % 3 == 0: throw Failure()
    case .byKey, .failing:
      let number = Int(hash % 7)
      return number == 0 && field.isOptional ? .null : FuzzGenerator.plain(field.kind, number)
    }
  }

  static func text(_ value: PersistentValue) -> PersistentValue {
    .text(String(String.UnicodeScalarView(FuzzSource.value(value).unicodeScalars.prefix(40))))
  }

  private static func length(_ value: PersistentValue) -> Int64 {
    switch value {
    case .null: 0
    case .text(let text), .document(let text): Int64(text.utf8.count)
    case .bytes(let bytes): Int64(bytes.count)
    case .bool, .integer, .double, .date, .uuid, .decimal: 1
    }
  }
}

extension FuzzChange {
  /// The fills and replacements, in the order of the fields.
  var values: [PersistentValue] {
    sources.compactMap { source in
      switch source {
      case .field(_, let replacement): replacement
      case .fill(let value): value
      case .computed: nil
      }
    }
  }

  /// Returns the change with other fills and replacements, one for one.
  func replacingValues(by values: [PersistentValue]) -> FuzzChange {
    var rest = values[...]
    var change = self
    change.sources = sources.map { source in
      switch source {
      case .field(let position, .some(let value)): .field(position, replacingNil: rest.popFirst() ?? value)
      case .fill(let value): .fill(rest.popFirst() ?? value)
      case .field(_, nil), .computed: source
      }
    }
    return change
  }

  /// Returns the change with other positions of stored fields.
  func mapPositions(_ map: (Int) -> Int) -> FuzzChange {
    var change = self
    change.sources = sources.map { source in
      switch source {
      case .field(let position, let replacement): .field(map(position), replacingNil: replacement)
      case .computed(.text(let position)): .computed(.text(of: map(position)))
      case .computed(.length(let position)): .computed(.length(of: map(position)))
      case .fill, .computed: source
      }
    }
    return change
  }
}

extension FuzzChange {
  /// Returns the change after a field was removed from a schema, which is the target, the stored one or both.
  func without(_ position: Int, of schema: Int, isStored: Bool) -> FuzzChange {
    var change = self
    if schema == target, position < sources.count { change.sources.remove(at: position) }
    guard isStored else { return change }
    return change.mapPositions { $0 == position ? -1 : $0 > position ? $0 - 1 : $0 }
  }
}

extension FuzzChange.Source {
  /// The position of the stored field whose values are used; nil if there is none.
  var position: Int? {
    switch self {
    case .field(let position, _), .computed(.text(let position)), .computed(.length(let position)): position
    case .fill, .computed: nil
    }
  }
}
