import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// The rows of a query, each followed by the fields of the records to which its references lead.
///
/// A reference without a record adds nulls.
struct JoinedRows {
  /// The records of one reference.
  private struct Part {
    let schema: ModelSchema
    /// The position of the reference in the values that it belongs to.
    let position: Int
    let parts: [Part]

    var width: Int { schema.fields.count + parts.reduce(0) { $0 + $1.width } }

    func fields(_ path: String) -> [FieldSchema] {
      schema.fields.map { field in
        var field = field
        field.name = "\(path).\(field.name)"
        field.isOptional = true
        return field
      }
    }
  }

  /// The number of rows whose related records are read together.
  private static let pageSize = 1000

  /// The fields of the rows that are printed.
  let fields: [FieldSchema]
  /// The positions of the query's fields to read; nil for all.
  let selection: [Int]?
  private let parts: [Part]
  private let snapshot: any StorageSnapshot
  /// The number of values that come from the query.
  private let ownWidth: Int

  /// Prepares rows.
  ///
  /// - Parameters:
  ///   - inclusions: The references.
  ///   - selected: The positions of the query's fields to print; nil for all.
  ///   - schema: The model of the query.
  ///   - snapshot: Reads the moment of the query.
  /// - Throws: ``PersistenceError`` if the catalog cannot be read.
  init(
    _ inclusions: [RelatedInclusion], _ selected: [Int]?, of schema: ModelSchema,
    _ snapshot: any StorageSnapshot
  ) throws {
    var read = selected ?? Array(schema.fields.indices)
    ownWidth = read.count
    var fields = read.map { schema.fields[$0] }
    parts = try inclusions.compactMap { inclusion in
      let position = try schema.requiredPosition(of: inclusion.field)
      if !read.contains(position) { read.append(position) }
      return try Self.part(
        inclusion, at: read.firstIndex(of: position) ?? 0, path: inclusion.field, &fields, snapshot)
    }
    self.fields = fields
    selection = selected.map { _ in read }
    self.snapshot = snapshot
  }

  private static func part(
    _ inclusion: RelatedInclusion, at position: Int, path: String, _ fields: inout [FieldSchema],
    _ snapshot: any StorageSnapshot
  ) throws -> Part? {
    guard let schema = try snapshot.schema(named: inclusion.model) else { return nil }
    fields += Part(schema: schema, position: position, parts: []).fields(path)
    let parts = try inclusion.nested.compactMap { nested in
      try part(
        nested, at: schema.requiredPosition(of: nested.field), path: "\(path).\(nested.field)", &fields,
        snapshot)
    }
    return Part(schema: schema, position: position, parts: parts)
  }

  /// Gives each row to a closure.
  func forEach(
    _ rows: any StorageResults, _ session: ToolSession, _ body: (borrowing Row) throws -> Void
  ) throws {
    if parts.isEmpty { return try rows.forEach(session, body) }
    let row = RowBuffer(count: fields.count)
    let (own, width) = (ownWidth, selection?.count ?? ownWidth)
    var page: [[PersistentValue]] = []
    func finish() throws {
      for (values, related) in zip(page, try related(parts, of: page)) {
        row.set(Array(values.prefix(own)) + related)
        try row.withRow(body)
      }
      page = []
    }
    try rows.forEach(session) { row in
      var values: [PersistentValue] = []
      for position in 0..<width { values.append(try row.value(at: position)) }
      page.append(values)
      if page.count == Self.pageSize { try finish() }
    }
    try finish()
  }

  /// The values of the records that belong to some rows.
  private func related(_ parts: [Part], of rows: [[PersistentValue]]) throws -> [[PersistentValue]] {
    var joined = rows.map { _ in [PersistentValue]() }
    for part in parts {
      let keys = Set(rows.lazy.map { $0[part.position] }.filter { !$0.isNull })
      let records = try records(of: part, keys.sorted())
      let none = [PersistentValue](repeating: .null, count: part.width)
      for (index, row) in rows.enumerated() { joined[index] += records[row[part.position]] ?? none }
    }
    return joined
  }

  private func records(of part: Part, _ keys: [PersistentValue]) throws -> [PersistentValue:
    [PersistentValue]]
  {
    guard !keys.isEmpty else { return [:] }
    var found: [[PersistentValue]] = []
    let request = try FetchRequest(part.schema, where: .isIn(field: part.schema.key[0], keys))
    _ = try snapshot.fetch(request).read(from: 0, limit: Int.max) { row in
      var values: [PersistentValue] = []
      for position in part.schema.fields.indices { values.append(try row.value(at: position)) }
      found.append(values)
    }
    let key = part.schema.keyPositions[0]
    return Dictionary(
      zip(found, try related(part.parts, of: found)).map { ($0[key], $0 + $1) }
    ) { first, _ in first }
  }
}
