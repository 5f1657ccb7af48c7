public import PersistenceDriver

// Inlinable, so that the loop over a page is specialized for the selected types: an unspecialized one makes each tuple
// through its types' metadata.

extension Query {
  /// Selected properties of the records, lazily, as a tuple for each record; other properties are not read.
  ///
  /// ```swift
  /// for (title, budget) in try query.select(\.title, \.budget) { … }
  /// ```
  ///
  /// - Parameters:
  ///   - properties: Stored properties; a nested `Codable` value cannot be selected.
  ///   - fileID: The file of the call, for reports of long-held results.
  ///   - line: The line of the call.
  /// - Returns: The tuples, in the query's order; the first page is already read.
  /// - Throws: ``PersistenceError``.
  @inlinable
  public func select<each Value: PersistentValueConvertible & Sendable>(
    _ properties: repeat KeyPath<Model, each Value>, fileID: String = #fileID, line: UInt = #line
  ) throws -> PersistentResults<(repeat each Value)> {
    var names: [String] = []
    for property in repeat each properties { names.append(Model.name(of: property)) }
    return try selected(names, placed(fileID, line)) { row in
      var place = SelectedPlace()
      return (repeat try (each Value).read(from: row, at: place.next()))
    }
  }

  /// One property of the records, lazily; other properties are not read.
  ///
  /// - Parameters:
  ///   - property: A stored property.
  ///   - fileID: The file of the call, for reports of long-held results.
  ///   - line: The line of the call.
  /// - Returns: The values, in the query's order; the first page is already read.
  /// - Throws: ``PersistenceError``.
  @inlinable
  public func select<Value: PersistentValueConvertible & Sendable>(
    _ property: KeyPath<Model, Value>, fileID: String = #fileID, line: UInt = #line
  ) throws -> PersistentResults<Value> {
    try selected([Model.name(of: property)], placed(fileID, line)) { row in
      try Value.read(from: row, at: 0)
    }
  }

  /// One property of a raw-representable `Codable` type, lazily; other properties are not read.
  ///
  /// - Parameters:
  ///   - property: A property that is stored as its raw value.
  ///   - fileID: The file of the call, for reports of long-held results.
  ///   - line: The line of the call.
  /// - Returns: The values, in the query's order; the first page is already read.
  /// - Throws: ``PersistenceError``.
  @_disfavoredOverload
  public func select<Value: RawRepresentable & Codable & Sendable>(
    _ property: KeyPath<Model, Value>, fileID: String = #fileID, line: UInt = #line
  ) throws -> PersistentResults<Value> where Value.RawValue: PersistentValueConvertible {
    try selected([Model.name(of: property)], placed(fileID, line)) { try $0.decode(at: 0) }
  }

  /// One optional property of a raw-representable `Codable` type, lazily; other properties are not read.
  ///
  /// - Parameters:
  ///   - property: A property that is stored as its raw value or nil.
  ///   - fileID: The file of the call, for reports of long-held results.
  ///   - line: The line of the call.
  /// - Returns: The values, in the query's order; the first page is already read.
  /// - Throws: ``PersistenceError``.
  @_disfavoredOverload
  public func select<Value: RawRepresentable & Codable & Sendable>(
    _ property: KeyPath<Model, Value?>, fileID: String = #fileID, line: UInt = #line
  ) throws -> PersistentResults<Value?> where Value.RawValue: PersistentValueConvertible {
    try selected([Model.name(of: property)], placed(fileID, line)) { try $0.decode(at: 0) }
  }

  /// Rejects a property whose type does not conform to `PersistentValueConvertible`.
  @available(
    *, unavailable,
    message:
      "select properties of PersistentValueConvertible types; a raw-representable type only has to declare the conformance, which changes nothing in stores"
  )
  @_disfavoredOverload
  public func select<each Value>(
    _ properties: repeat KeyPath<Model, each Value>, fileID: String = #fileID, line: UInt = #line
  ) throws -> PersistentResults<(repeat each Value)> {
    throw PersistenceError(.unsupported, "these properties cannot be selected", model: "\(Model.self)")
  }

  @inlinable
  func selected<Element: Sendable>(
    _ names: [String], _ options: FetchOptions<Model>,
    decode: @escaping @Sendable (borrowing Row) throws -> Element
  ) throws -> PersistentResults<Element> {
    try Model.results(in: context, options: options, selecting: positions(of: names), decode: decode)
  }

  /// The positions of selected fields in the schema.
  @usableFromInline
  func positions(of names: [String]) throws -> [Int] {
    let schema = try Model.schema.model
    return try names.map(schema.requiredPosition)
  }
}

/// The position of the next selected value in a row.
@usableFromInline
struct SelectedPlace {
  @usableFromInline var position = -1

  @inlinable
  init() {}

  @inlinable
  mutating func next() -> Int {
    position += 1
    return position
  }
}
