import PersistenceDriver
import PersistencePrimitives

/// Counts the values of a model that the destination cannot store exactly.
struct LossCounter {
  private static let exampleLimit = 3

  private struct Group: Hashable {
    let field: StoredName?
    let cause: MigrationLoss.Cause
  }

  private let mapper: RecordMapper
  private let capabilities: Capabilities
  private var buffer: RowBuffer
  private var losses: [Group: MigrationLoss] = [:]

  init(_ mapper: RecordMapper, for capabilities: Capabilities) {
    self.mapper = mapper
    self.capabilities = capabilities
    buffer = RowBuffer(count: mapper.destination.fields.count)
  }

  /// The losses, most frequent first.
  var found: [MigrationLoss] {
    losses.values.sorted {
      ($1.count, $0.field ?? "", $0.cause.rawValue) < ($0.count, $1.field ?? "", $1.cause.rawValue)
    }
  }

  mutating func note(_ row: borrowing Row) throws {
    let key = try? RecordKey(of: row, in: mapper.source)
    for (index, step) in mapper.steps.enumerated() {
      let field = mapper.source.fields[step.position].name
      let cell = row[step.position]
      if cell.isNull {
        if step.defaultValue == nil, !step.isOptional {
          note(field, .noCounterpart, key, "nil in a required field")
        }
        continue
      }
      guard let conversion = step.conversion else {
        noteLimits(cell, index, field, key)
        continue
      }
      switch conversion.convert(try cell.value()) {
      case .exact(let value):
        if value.isNull, step.defaultValue == nil, !step.isOptional {
          note(field, .noCounterpart, key, "nil in a required field")
        }
        noteLimits(value, index, field, key)
      case .rounded(let value, let lost):
        note(field, .precision, key, lost)
        noteLimits(value, index, field, key)
      case .impossible(let reason): note(field, .noCounterpart, key, reason)
      }
    }
  }

  mutating func note(unreadable error: PersistenceError) { note(nil, .unreadable, error.key, error.message) }

  private mutating func noteLimits(_ value: PersistentValue, _ index: Int, _ field: String, _ key: RecordKey?)
  {
    buffer.reset()
    buffer.set(value, at: index)
    let cell = buffer.withRow { $0[index] }
    noteLimits(cell, index, field, key)
  }

  private mutating func noteLimits(_ cell: RowCell, _ index: Int, _ field: String, _ key: RecordKey?) {
    let size: Int
    switch cell.tag {
    case .text, .bytes, .decimal, .document: size = cell.borrowedBytes.count
    case .date:
      noteDate(cell.doubleValue, field, key)
      return
    case .uuid: size = 16
    default: size = 8
    }
    if let largest = capabilities.largestKey, size > largest, mapper.destination.keyPositions.contains(index)
    {
      note(field, .keyTooLong, key, "\(size) bytes, maximum \(largest)")
    } else if let largest = capabilities.largestValue, size > largest {
      note(field, .valueTooLarge, key, "\(size) bytes, maximum \(largest)")
    }
  }

  private mutating func noteDate(_ seconds: Double, _ field: String, _ key: RecordKey?) {
    let unit: Double
    switch capabilities.datePrecision {
    case .exact: return
    case .microseconds: unit = 1_000_000
    case .milliseconds: unit = 1000
    }
    guard seconds.isFinite else {
      return note(field, .noCounterpart, key, "\(seconds) is not a calendar date")
    }
    let precision = capabilities.datePrecision.rawValue
    if (seconds * unit).rounded() / unit != seconds {
      note(field, .precision, key, "\(DateText.text(seconds)) at a precision of \(precision)")
    }
  }

  private mutating func note(
    _ field: String?, _ cause: MigrationLoss.Cause, _ key: RecordKey?, _ detail: @autoclosure () -> String
  ) {
    let group = Group(field: field.map(StoredName.init), cause: cause)
    var loss =
      losses[group]
      ?? MigrationLoss(model: mapper.source.name, field: field, cause: cause, count: 0, examples: [])
    loss.count += 1
    if loss.examples.count < Self.exampleLimit {
      loss.examples.append(MigrationLoss.Example(key: key, detail: detail()))
    }
    losses[group] = loss
  }
}

extension Migration {
  /// Checks, before anything is written, that the options allow all losses.
  ///
  /// Scans only models for which the mapping or the destination could lose information.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/lossyMigration``.
  func requireAllowedLosses(
    of mappers: [RecordMapper], in snapshot: any StorageSnapshot,
    _ progress: (StoreProgress) throws -> Void
  ) throws -> (losses: [MigrationLoss], unmappedObjects: [UnmappedObject]) {
    let capabilities = destination.capabilities
    let unmappedObjects = try unmappedObjects(of: snapshot, besides: mappers.map(\.source))
    var losses: [MigrationLoss] = []
    for mapper in mappers where Self.mayLose(mapper, capabilities) {
      var counter = LossCounter(mapper, for: capabilities)
      try RecordScan(schema: mapper.source, reader: snapshot).run(progress) { row in
        try counter.note(row)
      } unreadable: { _ in
      }
      losses += counter.found.filter(\.isChange)
    }
    try MigrationPlan.requireAllowed(losses, unmappedObjects, by: options)
    return (losses, unmappedObjects)
  }

  private static func mayLose(_ mapper: RecordMapper, _ capabilities: Capabilities) -> Bool {
    mapper.mayLose
      || (capabilities.datePrecision != .exact && mapper.destination.fields.contains { $0.kind == .date })
  }
}
