package import PersistenceDriver

/// The model and the store of rows, which errors name.
@usableFromInline
struct RowOrigin: Sendable {
  let schema: ModelSchema
  @usableFromInline let location: String
  /// The positions of the key fields in the rows; nil if the rows lack one, as those of a selection may.
  private let keyPositions: [Int]?

  /// Creates the origin of rows with the selected fields, in order; nil for all fields of the schema.
  @usableFromInline
  init(_ schema: ModelSchema, selecting selected: [Int]? = nil, location: String) {
    self.schema = schema
    self.location = location
    guard let selected else {
      keyPositions = schema.keyPositions
      return
    }
    let places = schema.keyPositions.compactMap(selected.firstIndex)
    keyPositions = places.count == schema.keyPositions.count ? places : nil
  }

  /// An error with its model and its store.
  @usableFromInline
  func located(_ error: any Error) -> any Error {
    (error as? PersistenceError)?.at(model: schema.name, location: location) ?? error
  }

  /// An error of decoding a row, with its key.
  @usableFromInline
  func located(_ error: PersistenceError, _ row: borrowing Row) -> PersistenceError {
    error.at(model: schema.name, key: key(of: row), location: location)
  }

  /// The error of a context that passes more rows than it was asked for.
  @usableFromInline
  func surplus() -> PersistenceError {
    PersistenceError(
      .engineFailure, "the context returned more rows than requested; report this to its author")
  }

  /// The key of a row that could not be decoded; nil if the row lacks it, or it is damaged too.
  private func key(of row: borrowing Row) -> RecordKey? {
    guard let keyPositions else { return nil }
    var values: [PersistentValue] = []
    for position in keyPositions {
      guard position < row.count, let value = try? row.value(at: position) else { return nil }
      values.append(value)
    }
    return RecordKey(values)
  }
}
