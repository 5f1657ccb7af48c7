import PersistenceDriver
import PersistenceDriverSupport

/// Imports the records of a file into a store.
final class Importer {
  /// The number of rejected records in the report; the import counts all of them, and passes them to
  /// `onReject`.
  static let rejectLimit = 50

  private let plan: ImportPlan
  private let source: any RecordSource
  private let session: ToolSession
  private let batchSize: Int
  private let onReject: (ImportReport.Reject) throws -> Void
  private let readers: [FieldReader]
  /// The next generated key; nil after the maximum.
  private var nextKey: Int64? = 1
  /// Records that refer to others, which may come later in the file.
  private var waiting: [PendingRecord] = []

  private(set) var report: ImportReport

  init(
    _ plan: ImportPlan, from source: any RecordSource, batchSize: Int, session: ToolSession,
    onReject: @escaping (ImportReport.Reject) throws -> Void
  ) {
    self.plan = plan
    self.source = source
    self.session = session
    self.batchSize = batchSize
    self.onReject = onReject
    readers = plan.schema.fields.map { FieldReader(field: $0) }
    report = ImportReport(
      model: plan.schema.name, key: plan.schema.key, isKeyGenerated: plan.generatedPosition != nil,
      fields: plan.schema.fields.map { field in
        ImportReport.Field(
          name: field.name, kind: field.kind.rawValue + (field.isOptional ? "?" : ""), nulls: 0,
          found: plan.inferences[StoredName(field.name)]?.findings)
      })
  }

  /// Stores the records in the order of the file, one transaction per batch.
  ///
  /// Records that refer to later ones wait in memory for the last transactions. Those whose references still lead nowhere,
  /// or to a rejected record, are rejected.
  func run(into store: any StorageContext) throws {
    try store.transaction { try $0.define(plan.schema) }
    if let position = plan.generatedPosition { try continueKeys(store, plan.schema.fields[position].name) }
    let progress = ProgressDisplay(session)
    let writer = ImportBatch(plan.schema, try ImportReferences(of: plan.schema, in: store))
    var batch: [PendingRecord] = []
    func checkpoint() throws {
      try session.checkInterrupt()
      try progress.update("importing \(plan.schema.name)", done: report.read, total: plan.recordCount)
    }
    try source.forEach { record in
      report.read += 1
      if let pending = try read(record) { batch.append(pending) }
      if batch.count == batchSize {
        try write(batch, by: writer, to: store)
        batch.removeAll(keepingCapacity: true)
        try checkpoint()
      } else if report.read.isMultiple(of: 256) {
        try checkpoint()  // If many records are rejected, a batch may never fill.
      }
    }
    try session.checkInterrupt()
    try write(batch, by: writer, to: store)
    try writeWaiting(by: writer, to: store)
    for record in waiting { try reject(record) }
    try progress.finish()
  }

  private func continueKeys(_ store: any StorageContext, _ name: String) throws {
    let request = try FetchRequest(plan.schema, order: [FieldOrder(name, isDescending: true)], limit: 1)
    var last: Int64 = 0
    _ = try store.fetch(request).read(from: 0, limit: 1) { row in
      last = row[plan.schema.keyPositions[0]].integerValue
    }
    let (next, overflow) = max(0, last).addingReportingOverflow(1)
    guard !overflow else { throw ToolFailure.usage(Self.noKeyLeft) }
    nextKey = next
  }

  private static let noKeyLeft = "the maximum key is in use, so no key can be generated"

  private func read(_ record: SourceRecord) throws -> PendingRecord? {
    do {
      let fields = try record.fields.get()
      var values = [PersistentValue?](repeating: nil, count: readers.count)
      var conversions: [(Int, String)] = []
      for field in fields {
        guard let position = plan.schema.position(of: field.name) else {
          throw RecordRejection(reason: "\(plan.schema.name) has no field “\(field.name)”")
        }
        guard position != plan.generatedPosition else {
          throw RecordRejection(reason: "“\(field.name)” is the generated key, so a record must not have it")
        }
        let outcome = try readers[position].read(field.value)
        values[position] = outcome.value
        if let conversion = outcome.conversion { conversions.append((position, conversion)) }
      }
      if let position = plan.generatedPosition {
        guard let nextKey else { throw RecordRejection(reason: Self.noKeyLeft) }
        values[position] = .integer(nextKey)
      }
      for (position, value) in values.enumerated() where value == nil && !readers[position].field.isOptional {
        throw RecordRejection(reason: "“\(readers[position].field.name)” is missing")
      }
      if plan.generatedPosition != nil { nextKey = nextKey.flatMap { $0 == .max ? nil : $0 + 1 } }
      for (position, conversion) in conversions {
        report.fields[position].conversions[conversion, default: 0] += 1
      }
      for (position, value) in values.enumerated() where value?.isNull ?? true {
        report.fields[position].nulls += 1
      }
      return PendingRecord(place: record.place, values: values.map { $0 ?? .null })
    } catch let rejection as RecordRejection {
      try reject(ImportReport.Reject(place: record.place, key: nil, reason: rejection.reason))
      return nil
    }
  }

  private func key(of record: PendingRecord) -> String {
    plan.schema.keyPositions.map { "\(record.values[$0])" }.joined(separator: ", ")
  }

  private func write(_ records: [PendingRecord], by writer: ImportBatch, to store: any StorageContext) throws
  {
    guard !records.isEmpty else { return }
    let outcome = try writer.store(records, in: store)
    waiting += outcome.late
    report.imported += outcome.stored
    for record in outcome.rejects { try reject(record) }
  }

  /// Stores the records that wait, until no further one can be stored or is refused.
  private func writeWaiting(by writer: ImportBatch, to store: any StorageContext) throws {
    var before = Int.max
    while waiting.count < before {
      let late = waiting
      (before, waiting) = (late.count, [])
      try write(late, by: writer, to: store)
    }
  }

  private func reject(_ record: PendingRecord) throws {
    let reason = record.problem ?? "a reference leads nowhere"
    try reject(ImportReport.Reject(place: record.place, key: key(of: record), reason: reason))
  }

  private func reject(_ rejected: ImportReport.Reject) throws {
    report.rejected += 1
    if report.rejects.count < Self.rejectLimit { report.rejects.append(rejected) }
    try onReject(rejected)
  }
}
