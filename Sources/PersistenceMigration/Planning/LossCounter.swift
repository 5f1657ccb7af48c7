import PersistenceDriver
import PersistencePrimitives

/// Counts, record by record, what a destination cannot hold as it is.
struct LossCounter {
  private static let exampleLimit = 3

  private struct Place: Hashable {
    let field: StoredName?
    let cause: MigrationLoss.Cause
  }

  private let mapper: RecordMapper
  private let capabilities: Capabilities
  private var buffer: RowBuffer
  private var losses: [Place: MigrationLoss] = [:]

  init(_ mapper: RecordMapper, for capabilities: Capabilities) {
    self.mapper = mapper
    self.capabilities = capabilities
    buffer = RowBuffer(count: mapper.destination.fields.count)
  }

  /// What was found, the most frequent first.
  var found: [MigrationLoss] {
    losses.values.sorted {
      ($1.count, $0.field ?? "", $0.cause.rawValue) < ($0.count, $1.field ?? "", $1.cause.rawValue)
    }
  }

  /// Looks at a record.
  mutating func note(_ row: borrowing Row) throws {
    let key = try? RecordKey(of: row, in: mapper.source)
    for (place, step) in mapper.steps.enumerated() {
      let field = mapper.source.fields[step.position].name
      let cell = row[step.position]
      if cell.isNull {
        if step.filling == nil, !step.isOptional {
          note(field, .noCounterpart, key, "nil, where nil may not be")
        }
        continue
      }
      guard let conversion = step.conversion else {
        noteLimits(cell, place, field, key)
        continue
      }
      switch conversion.convert(try cell.value()) {
      case .exact(let value):
        if value.isNull, step.filling == nil, !step.isOptional {
          note(field, .noCounterpart, key, "nil, where nil may not be")
        }
        noteLimits(value, place, field, key)
      case .rounded(let value, let lost):
        note(field, .precision, key, lost)
        noteLimits(value, place, field, key)
      case .impossible(let reason): note(field, .noCounterpart, key, reason)
      }
    }
  }

  /// Notes a record that could not be read.
  mutating func note(unreadable error: PersistenceError) { note(nil, .unreadable, error.key, error.message) }

  private mutating func noteLimits(_ value: PersistentValue, _ place: Int, _ field: String, _ key: RecordKey?)
  {
    buffer.reset()
    buffer.set(value, at: place)
    let cell = buffer.withRow { $0[place] }
    noteLimits(cell, place, field, key)
  }

  private mutating func noteLimits(_ cell: RowCell, _ place: Int, _ field: String, _ key: RecordKey?) {
    let size: Int
    switch cell.tag {
    case .text, .bytes, .decimal, .document: size = cell.borrowedBytes.count
    case .date:
      noteDate(cell.doubleValue, field, key)
      return
    case .uuid: size = 16
    default: size = 8
    }
    if let largest = capabilities.largestKey, size > largest, mapper.destination.keyPositions.contains(place)
    {
      note(field, .keyTooLong, key, "\(size) bytes, where \(largest) are the most")
    } else if let largest = capabilities.largestValue, size > largest {
      note(field, .valueTooLarge, key, "\(size) bytes, where \(largest) are the most")
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
      return note(field, .noCounterpart, key, "\(seconds) is no moment of a calendar")
    }
    let precision = capabilities.datePrecision.rawValue
    if (seconds * unit).rounded() / unit != seconds {
      note(field, .precision, key, "\(DateText.text(seconds)) to the \(precision)")
    }
  }

  private mutating func note(
    _ field: String?, _ cause: MigrationLoss.Cause, _ key: RecordKey?, _ detail: @autoclosure () -> String
  ) {
    let place = Place(field: field.map(StoredName.init), cause: cause)
    var loss =
      losses[place]
      ?? MigrationLoss(model: mapper.source.name, field: field, cause: cause, count: 0, examples: [])
    loss.count += 1
    if loss.examples.count < Self.exampleLimit {
      loss.examples.append(MigrationLoss.Example(key: key, detail: detail()))
    }
    losses[place] = loss
  }
}
