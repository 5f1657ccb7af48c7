import PersistenceDriver

/// The comparison of one model by lookups, for converted keys that change the order of the records.
struct LookupComparison {
  private let schema: ModelSchema
  private let left: any StorageReader
  private let right: any StorageReader
  private let differenceLimit: Int

  init(
    _ schema: ModelSchema, in left: any StorageReader, and right: any StorageReader, differenceLimit: Int
  ) {
    self.schema = schema
    self.left = left
    self.right = right
    self.differenceLimit = differenceLimit
  }

  /// Compares.
  ///
  /// Counts records that exist only in the right store, but cannot name their keys.
  func run(_ progress: (MigrationProgress) throws -> Void) throws -> ComparisonReport.Model {
    var model = ComparisonReport.Model(name: schema.name, presence: .both)
    model.isComparedByKey = true
    model.hasAllFields = true
    let digester = RecordDigester(schema)
    let total = try left.count(try FetchRequest(schema))
    // The content's count includes skipped records.
    var records = 0
    let content = try ModelContent.read(
      schema, from: left, total: total, phase: .comparing,
      also: { row in
        records += 1
        try compare(row, digester, &model)
      }, progress)
    let other = try ModelContent.read(
      schema, from: right, total: try right.count(try FetchRequest(schema)), phase: .comparing, progress)
    model.left = ComparisonReport.Side(count: records, digest: content.digest)
    model.right = ComparisonReport.Side(count: other.count, digest: other.digest)
    model.onlyRight = max(0, other.count - model.unchanged - model.changed)
    return model
  }

  private func compare(
    _ row: borrowing Row, _ digester: RecordDigester, _ model: inout ComparisonReport.Model
  ) throws {
    let key = try RecordKey(of: row, in: schema)
    var found: RecordDigest?
    _ = try right.find(key, in: schema) { found = digester.digest(of: $0) }
    if let found, found == digester.digest(of: row) {
      model.unchanged += 1
      return
    }
    if found == nil { model.onlyLeft += 1 } else { model.changed += 1 }
    guard model.differences.count < differenceLimit else { return }
    let fields = found == nil ? [] : try changedFields(row, key)
    model.differences.append(
      RecordDifference(kind: found == nil ? .onlyLeft : .changed, key: key, fields: fields))
  }

  private func changedFields(_ row: borrowing Row, _ key: RecordKey) throws -> [RecordDifference.Field] {
    let copy = RowBuffer(count: row.count)
    for position in 0..<row.count { copy.setCopy(of: row[position], at: position) }
    var fields: [RecordDifference.Field] = []
    _ = try right.find(key, in: schema) { other in
      fields = try copy.withRow { try RecordDifference.fields($0, schema, other, schema) }
    }
    return fields
  }
}
