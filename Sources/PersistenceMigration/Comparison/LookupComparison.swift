import PersistenceDriver

/// The comparison of one model by lookups, for converted keys that change the order of the records.
struct LookupComparison {
  let schema: ModelSchema
  let left: any StorageReader
  let right: any StorageReader
  let differenceLimit: Int

  /// Compares.
  ///
  /// Counts records that exist only in the right store, but cannot name their keys.
  func run(_ progress: (StoreProgress) throws -> Void) throws -> ComparisonReport.Model {
    var model = ComparisonReport.Model(name: schema.name, presence: .both)
    model.isComparedByKey = true
    model.hasAllFields = true
    let digester = RecordDigester(schema)
    // The content's count includes skipped records.
    var records = 0
    let content = try ModelContent.read(
      schema, from: left, phase: .comparing,
      also: { row in
        records += 1
        try compare(row, digester, &model)
      }, progress)
    let other = try ModelContent.read(schema, from: right, phase: .comparing, progress)
    model.left = ComparisonReport.Side(count: records, digest: content.digest)
    model.right = other.side
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
    let fields = found == nil ? [] : try RecordDifference.fields(row, schema, key, in: right, schema)
    model.differences.append(
      RecordDifference(kind: found == nil ? .onlyLeft : .changed, key: key, fields: fields))
  }
}
