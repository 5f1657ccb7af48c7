import PersistenceCore

/// A record with fields of one kind, for comparisons and orders of that kind.
struct Sample<Value: OracleValue & ExactText> {
  var id: Int
  var value: Value
  var other: Value
  var maybe: Value?
  var perhaps: Value?
}

extension Sample: PersistentRecord {
  static var schema: RecordSchema<Sample> {
    .shared(for: Sample.self) {
      RecordSchema(
        "Sample of \(Value.self)",
        fields: [
          .field("id", \.id), .field("value", \.value), .field("other", \.other), .field("maybe", \.maybe),
          .field("perhaps", \.perhaps),
        ], key: [\.id], indexes: [RecordIndex(\.value), RecordIndex(\.maybe, \.other)])
    }
  }

  var primaryKey: Int { id }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    value = try row.decode(at: 1)
    other = try row.decode(at: 2)
    maybe = try row.decode(at: 3)
    perhaps = try row.decode(at: 4)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(value, at: 1)
    row.encode(other, at: 2)
    row.encode(maybe, at: 3)
    row.encode(perhaps, at: 4)
  }
}

extension Sample: ExactText {
  var exactText: String {
    "\(id): \(value.exactText), \(other.exactText), \(maybe.exactText), \(perhaps.exactText)"
  }
}

extension Sample where Value: Sampled {
  /// Returns records of all samples, each with random other values; a third of the optionals are nil.
  static func all(seed: UInt64) -> [Sample] {
    var random = SeededGenerator(seed: seed)
    let values = Value.samples
    return (values + values).shuffled(using: &random).enumerated().map { id, value in
      Sample(
        id: id, value: value, other: random.oneIn(3) ? value : random.pick(values),
        maybe: random.oneIn(3) ? nil : random.pick(values),
        perhaps: random.oneIn(3) ? nil : random.pick(values))
    }
  }

  var asStored: Sample {
    Sample(
      id: id, value: value.asStored, other: other.asStored, maybe: maybe?.asStored,
      perhaps: perhaps?.asStored)
  }
}
