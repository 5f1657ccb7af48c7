import PersistenceDriver
import PersistenceSQL

/// The constraints of other programs' tables, as the package's errors (contract E2, L1, W1, W4).
extension PostgresForeignTransaction {
  /// The error for a row that the server has rejected.
  func rejection(
    of row: borrowing Row, _ model: PostgresModel, _ error: PersistenceError, isInsertion: Bool
  ) throws -> PersistenceError {
    let key = try RecordKey(of: row, in: model.schema)
    // Later statements that succeed do not change it.
    let rejection = session.connection.rejection
    switch rejection?.state {
    case "23505": return try collision(of: row, model, error, rejection, isInsertion)
    case "23503": return session.brokenReference(error, model, key: key)
    case "23502":
      let column = rejection?.column ?? "?"
      return session.refusal(
        error, model, key, column,
        "the column “\(column)” of “\(model.table.name)” does not accept nil; set it")
    case "23514", "23P01", "44000":
      let constraint = rejection?.constraint.map { "the constraint “\($0)”" } ?? "a rule"
      return session.refusal(
        error, model, key, nil,
        "\(constraint) of “\(model.table.name)” rejects the record; change its values")
    case "428C9":
      return session.refusal(
        error, model, key, nil,
        "the server generates a column of “\(model.table.name)”; leave its property out")
    default:
      var refused = session.refusal(
        error, model, key, nil,
        "a column of “\(model.table.name)” does not accept its value; see the engine's message")
      if rejection?.state == "22001" || rejection?.state == "22003" { refused.code = .valueTooLarge }
      return refused
    }
  }

  /// The error for a row with the key or the unique values of another one.
  private func collision(
    of row: borrowing Row, _ model: PostgresModel, _ error: PersistenceError, _ rejection: PostgresRejection?,
    _ isInsertion: Bool
  ) throws -> PersistenceError {
    let (schema, key) = (model.schema, try RecordKey(of: row, in: model.schema))
    let table = try session.store.table(StoredName(schema.name), in: session.catalog)?.foreign
    let isOfTable = rejection?.table == model.table.name
    let named = isOfTable ? table?.relation.indexes.first { $0.name == rejection?.constraint } : nil
    let isKey = named.map { $0.columns.compactMap(\.self) == table?.schema.key }
    // The key comes first (contract W1). One that the server finds equal need not be the same one.
    let isSame =
      try isInsertion && (session.find(key, in: schema) { _ in } || (isKey == true && !model.foldsKeys))
    if isSame { return .duplicateKey(key, in: schema) }
    // Of a partition, the constraint has another name.
    for index in schema.indexes where index.isUnique {
      let isNamed = named.map { $0.columns.compactMap(\.self) == index.fields }
      let values = try index.fields.map { try row.value(at: schema.requiredPosition(of: $0)) }
      guard try isNamed ?? holds(values, of: index, besides: key, schema) else { continue }
      return .uniqueViolation(values, of: index, in: schema, key: key)
    }
    var error = error
    error.message =
      "the unique constraint “\(rejection?.constraint ?? "?")” of “\(rejection?.table ?? model.table.name)” rejects the "
      + "record; change its values"
    return error.at(model: schema.name, key: key, location: session.store.location)
  }

  /// Whether another record has some values.
  private func holds(
    _ values: [PersistentValue], of index: IndexSchema, besides key: RecordKey, _ schema: ModelSchema
  ) throws -> Bool {
    guard !values.contains(where: \.isNull) else { return false }
    let conditions = zip(index.fields, values).map { PredicateNode.comparison(field: $0, .equal, $1) }
    var isHeld = false
    let request = try FetchRequest(schema, where: .all(conditions), limit: 2)
    _ = try fetch(request, selecting: schema.keyPositions).read(from: 0, limit: 2) {
      if RecordKey(try $0.values()) != key { isHeld = true }
    }
    return isHeld
  }
}

extension PostgresModel {
  /// Whether the server takes different texts for the same key.
  fileprivate var foldsKeys: Bool { table.key.contains { table.columns[$0].comparison == .asText } }
}

extension PostgresSession {
  /// The error for a foreign key that a change would break.
  func brokenReference(_ error: PersistenceError, _ model: PostgresModel, key: RecordKey?) -> PersistenceError
  {
    let rejection = connection.rejection
    let isOwn = rejection?.table == model.table.name
    let relation = try? store.table(StoredName(model.schema.name), in: catalog)?.foreign?.relation
    let constraint = isOwn ? relation?.constraints.first { $0.name == rejection?.constraint } : nil
    var error = error
    error.code = .brokenReference
    if let constraint, let columns = constraint.columns, key != nil {
      let target = constraint.target ?? "another table"
      error.field = columns.joined(separator: ", ")
      error.message =
        "“\(columns.joined(separator: ", "))” of \(model.schema.name) refers to a record of “\(target)” that does not exist; "
        + "save that record first, or change the reference"
    } else {
      error.message =
        "the foreign key “\(rejection?.constraint ?? "?")” of “\(rejection?.table ?? "?")” refers to a record of "
        + "\(model.schema.name) that would disappear; change or delete those records first"
    }
    return error.at(model: model.schema.name, key: key, location: store.location)
  }

  func refusal(
    _ error: PersistenceError, _ model: PostgresModel, _ key: RecordKey, _ field: String?, _ message: String
  ) -> PersistenceError {
    var error = error
    error.code = .invalidRequest
    error.message = message
    error.field = field
    return error.at(model: model.schema.name, key: key, location: store.location)
  }
}

extension PersistenceError {
  /// Whether the server rejected a row for its values: by a constraint, or by the type of a column.
  var isRejection: Bool {
    guard let engineError, engineError.engine == "PostgreSQL" else { return false }
    let state = engineError.message.prefix(5)
    return state.hasPrefix("23") || state.hasPrefix("22") || state == "44000" || state == "428C9"
  }

  /// Whether the server rejected a statement because of the tables' definitions.
  var isOfDefinition: Bool {
    guard let engineError, engineError.engine == "PostgreSQL", !isPostgres("42501") else { return false }
    return engineError.message.hasPrefix("42") || isPostgres("0A000")
  }
}
