import PersistenceCore

/// The reference model: the expected content of a store, as plain arrays.
///
/// It shares no code with the evaluator, the planner or any context. It implements values, names, filters,
/// orders and anchors from the contract's text.
struct FuzzReference: Sendable {
  /// A rejection that every context must make.
  struct Refusal: Error {
    let code: PersistenceError.Code

    init(_ code: PersistenceError.Code) { self.code = code }
  }

  /// The rows of one model, sorted by key, with fields in the order of the definition.
  struct Table: Sendable {
    let schema: ModelSchema
    var rows: [[PersistentValue]]
    /// The text of the schema.
    let text: String

    init(schema: ModelSchema, rows: [[PersistentValue]] = []) {
      (self.schema, self.rows, text) = (schema, rows, FuzzReference.text(of: schema))
    }
  }

  var tables: [Table] = []
  /// The references among the models.
  var relations: [Relation] = []
  /// The fields of the one table, if versions of an app use it.
  var columns: [FuzzColumn] = []
  /// The names of removed fields that the table never had.
  var removedNames: Set<StoredName> = []

  /// The catalog as one text per model, independent of the order of fields and indexes.
  var catalog: [String] {
    tables.sorted { FuzzValue.order($0.schema.name, $1.schema.name) < 0 }.map(\.text)
  }

  /// A schema's text, independent of the order of its fields and indexes.
  static func text(of schema: ModelSchema) -> String {
    func sorted(_ texts: [String]) -> String {
      texts.sorted { FuzzValue.order($0, $1) < 0 }.joined(separator: ",")
    }
    func quoted(_ name: String) -> String { FuzzSource.text(name) }
    let fields = schema.fields.map { "\(quoted($0.name)):\($0.kind.rawValue)\($0.isOptional ? "?" : "")" }
    let indexes = schema.indexes.map {
      "\($0.isUnique ? "unique" : "")[\($0.fields.map(quoted).joined(separator: ","))]"
    }
    // A repeated index has no effect.
    var different: [String] = []
    for index in indexes where !different.contains(index) { different.append(index) }
    let key = schema.key.map(quoted).joined(separator: ",")
    return "\(quoted(schema.name))(\(sorted(fields))) key [\(key)] indexes \(sorted(different))"
  }

  /// Returns the position of a declared model's table; nil if the model is not defined.
  func table(of schema: ModelSchema) throws -> Int? {
    guard let place = tables.firstIndex(where: { FuzzValue.isSameName($0.schema.name, schema.name) }) else {
      return nil
    }
    let stored = tables[place].schema
    guard stored.identity == schema.identity || tables[place].text == Self.text(of: schema) else {
      throw Refusal(.schemaMismatch)
    }
    return place
  }

  static func position(of name: String, in fields: [FieldSchema]) -> Int? {
    fields.firstIndex { FuzzValue.isSameName($0.name, name) }
  }

  /// Returns the position of each field of one schema in another schema with the same fields.
  static func positions(of schema: ModelSchema, in other: ModelSchema) -> [Int] {
    schema.fields.compactMap { position(of: $0.name, in: other.fields) }
  }
}

extension FuzzReference {
  mutating func define(_ schema: ModelSchema) throws {
    if try table(of: schema) == nil { tables.append(Table(schema: schema)) }
  }

  /// The expectation of a write about the key.
  enum Expectation { case absent, present, either }

  mutating func write(_ row: [PersistentValue], in schema: ModelSchema, _ expectation: Expectation) throws {
    guard row.count == schema.fields.count, zip(row, schema.fields).allSatisfy(FuzzValue.isValid) else {
      throw Refusal(.invalidRequest)
    }
    guard let place = try table(of: schema) else { throw Refusal(.invalidRequest) }
    let stored = tables[place].schema
    let order = Self.positions(of: stored, in: schema)
    let row = order.map { FuzzValue.stored(row[$0]) }
    let (index, exists) = find(Self.key(of: row, in: stored), in: place)
    if expectation == .absent, exists { throw Refusal(.duplicateKey) }
    if expectation == .present, !exists { throw Refusal(.notFound) }
    for unique in stored.indexes where unique.isUnique {
      let positions = unique.fields.compactMap { Self.position(of: $0, in: stored.fields) }
      guard !positions.contains(where: { row[$0].isNull }) else { continue }
      for (number, other) in tables[place].rows.enumerated() where !(exists && number == index) {
        if positions.allSatisfy({ FuzzValue.order(row[$0], other[$0]) == 0 }) {
          throw Refusal(.uniqueViolation)
        }
      }
    }
    if exists {
      tables[place].rows[index] = row
    } else {
      tables[place].rows.insert(row, at: index)
    }
  }

  mutating func delete(_ key: [PersistentValue], in schema: ModelSchema) throws -> Bool {
    try Self.check(key, for: schema)
    guard let place = try table(of: schema) else { return false }
    let (index, exists) = find(key, in: place)
    if exists {
      tables[place].rows.remove(at: index)
      if key.count == 1 { follow(key[0], of: schema.name) }
    }
    return exists
  }

  mutating func deleteRows(_ query: FuzzQuery, _ schemas: [ModelSchema]) throws -> Int {
    let rows = try rows(query, schemas)
    for row in rows { _ = try delete(Self.key(of: row, in: schemas[query.model]), in: schemas[query.model]) }
    return rows.count
  }

  mutating func deleteAll(in schema: ModelSchema) throws -> Int {
    guard let place = try table(of: schema) else { return 0 }
    let rows = tables[place].rows
    tables[place].rows = []
    for row in rows {
      let key = Self.key(of: row, in: tables[place].schema)
      if key.count == 1 { follow(key[0], of: schema.name) }
    }
    return rows.count
  }

  func find(_ key: [PersistentValue], in schema: ModelSchema) throws -> [PersistentValue]? {
    try Self.check(key, for: schema)
    guard let place = try table(of: schema) else { return nil }
    let (index, exists) = find(key, in: place)
    guard exists else { return nil }
    return Self.positions(of: schema, in: tables[place].schema).map { tables[place].rows[index][$0] }
  }

  private static func check(_ key: [PersistentValue], for schema: ModelSchema) throws {
    guard key.count == schema.key.count else { throw Refusal(.invalidRequest) }
    for (value, name) in zip(key, schema.key) {
      let kind = position(of: name, in: schema.fields).map { schema.fields[$0].kind }
      guard value.tag == kind?.tag else { throw Refusal(.invalidRequest) }
    }
  }

  static func key(of row: [PersistentValue], in schema: ModelSchema) -> [PersistentValue] {
    schema.key.compactMap { position(of: $0, in: schema.fields).map { row[$0] } }
  }

  /// Returns the position of a key in the rows, or the position for its insertion.
  func find(_ key: [PersistentValue], in table: Int) -> (index: Int, exists: Bool) {
    let schema = tables[table].schema
    let positions = schema.key.compactMap { Self.position(of: $0, in: schema.fields) }
    func order(_ row: [PersistentValue]) -> Int {
      for (value, position) in zip(key, positions) {
        let order = FuzzValue.order(row[position], value)
        if order != 0 { return order }
      }
      return 0
    }
    var (low, high) = (0, tables[table].rows.count)
    while low < high {
      let middle = (low + high) / 2
      if order(tables[table].rows[middle]) < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, low < tables[table].rows.count && order(tables[table].rows[low]) == 0)
  }
}
