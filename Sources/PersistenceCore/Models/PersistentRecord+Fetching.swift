public import PersistenceDriver

extension PersistentRecord {
  /// Fetches the records of a context lazily.
  public static func fetch(in context: any PersistentContext, options: FetchOptions<Self>?) throws
    -> AnyCollection<Self>
  {
    AnyCollection(try results(in: context, options: options ?? FetchOptions()))
  }

  /// Fetches the records of a context lazily, as the concrete collection behind
  /// ``PersistentModel/fetch(in:options:)``.
  ///
  /// It is Sendable, and has methods that throw if reading fails.
  ///
  /// - Parameters:
  ///   - context: The context of the records.
  ///   - options: The options.
  /// - Returns: The results; the first page is already read.
  /// - Throws: ``PersistenceError``.
  @usableFromInline
  package static func results(
    in context: any PersistentContext, options: FetchOptions<Self> = FetchOptions()
  ) throws -> PersistentResults<Self> {
    try results(in: context, options: options, selecting: nil) { try Self(from: $0) }
  }

  /// The results of a fetch of whole records (nil) or selected fields.
  ///
  /// They are pinned outside transactions, and read at once inside them (R1a).
  static func results<Element: Sendable>(
    in context: any PersistentContext, options: FetchOptions<Self>, selecting selected: [Int]?,
    decode: @escaping @Sendable (borrowing Row) throws -> Element
  ) throws -> PersistentResults<Element> {
    let access = try StorageAccess(context, for: Self.self)
    let request = try options.request(in: access.root)
    let (monitor, location) = (access.root.monitor, access.root.location)
    return try monitor.measure(request) {
      try access.reader.plan(for: request)
    } _: {
      let rows =
        if let selected { try access.reader.fetch(request, selecting: selected) } else {
          try access.reader.fetch(request)
        }
      switch access {
      case .store:
        return try PersistentResults(
          rows, request: request, selecting: selected, monitor: monitor, location: location,
          place: options.place, decode: decode)
      case .transaction:
        return try PersistentResults(
          reading: rows, request: request, selecting: selected, monitor: monitor, location: location,
          decode: decode)
      }
    }
  }

  /// Counts the records of a context without decoding them.
  public static func count(in context: any PersistentContext, options: FetchOptions<Self>?) throws -> Int {
    let access = try StorageAccess(context, for: Self.self)
    let request = try (options ?? FetchOptions()).request(in: access.root)
    return try access.root.monitor.measure(request) {
      try access.reader.plan(for: request)
    } _: {
      try access.reader.count(request)
    }
  }

  /// Finds the record with a primary key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - context: The context of the records.
  /// - Returns: The record; nil if there is none.
  /// - Throws: ``PersistenceError``.
  @inlinable
  package static func find(_ key: PrimaryKey, in context: any PersistentContext) throws -> Self? {
    let reader = try LocatedReader(context, for: Self.self)
    return try read(RecordKey(key.keyValues), as: schema.model, from: reader)
  }

  /// Reads the record with a key, and adds the key to errors.
  ///
  /// It is specialized for the model: returning a record from a closure through generic code costs as much as
  /// finding it.
  @inlinable
  static func read(_ key: RecordKey, as schema: ModelSchema, from reader: LocatedReader) throws -> Self? {
    var record: Self?
    do {
      _ = try reader.reader.find(key, in: schema) { record = try Self(from: $0) }
    } catch {
      throw reader.located(error, key, schema)
    }
    return record
  }
}
