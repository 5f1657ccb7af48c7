import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

extension PostgresTransaction {
  /// Builds indexes of a layout, and notes their names; throws the error for the first duplicate in a unique one.
  func build(_ numbers: [Int], of layout: inout PostgresLayout) throws {
    guard !numbers.isEmpty else { return }
    try closeCursors()
    var taken = try takenNames(forIndexes: numbers, of: layout)
    for number in numbers {
      try StoreProgress.report(0)
      try build(number, of: &layout, &taken, isWide: false)
    }
  }

  private func build(
    _ number: Int, of layout: inout PostgresLayout, _ taken: inout Set<String>, isWide: Bool
  ) throws {
    let schema = layout.schema
    let name = PostgresNaming.free(wantedName(number, of: layout), fallback: "index", taken: &taken)
    let sql = PostgresDefinition(layout, store.dialect).index(number, name: name, isWide: isWide)
    session.hasWritten = true
    do {
      _ = try guarded(PostgresCommand(sql), "create an index of \(schema.name)")
      layout.indexes[number] = PostgresLayout.Index(name: name, isWide: isWide)
    } catch let error as PersistenceError where error.isPostgres("54000") && !isWide {
      try build(number, of: &layout, &taken, isWide: true)
    } catch let error as PersistenceError where error.isPostgres("23505") {
      throw try firstDuplicate(in: layout, number) ?? error.at(model: schema.name)
    }
  }

  private func takenNames(forIndexes numbers: [Int], of layout: PostgresLayout) throws -> Set<String> {
    try takenNames(
      like: numbers.map { PostgresNaming.base(of: wantedName($0, of: layout), fallback: "index") })
  }

  private func wantedName(_ number: Int, of layout: PostgresLayout) -> String {
    let columns = layout.schema.indexes[number].fields.compactMap {
      layout.schema.position(of: $0).map { layout.columns[$0] }
    }
    return ([layout.table] + columns).joined(separator: "_") + "_index"
  }

  /// Replaces indexes by wide ones, in which values of any length have room.
  func widen(_ numbers: [Int], of layout: PostgresLayout) throws {
    try changingTables {
      try closeCursors()
      var (changed, taken) = (layout, try takenNames(forIndexes: numbers, of: layout))
      for number in numbers {
        if let old = layout.indexes[number].name { try removeIndex(old) }
        try build(number, of: &changed, &taken, isWide: true)
      }
      try record(changed, replacing: layout.schema.name)
    }
  }

  /// Removes an index at once, since it would reject the record: waits for its readers until the deadline.
  ///
  /// Each attempt is short, because new readers wait behind it.
  func removeIndex(_ name: String) throws {
    let drop = PostgresCommand("DROP INDEX \(store.dialect.table(name))")
    session.hasWritten = true
    while true {
      _ = try session.run(.lockTimeout(.milliseconds(100)), "wait for readers")
      do {
        _ = try guarded(drop, "replace an index")
        try waitUntilDeadline()
        return
      } catch let error as PersistenceError where error.isPostgres("55P03") {
        guard ContinuousClock.now < deadline else { throw error }
        Thread.sleep(forTimeInterval: 0.05)
      }
    }
  }

  /// Makes further statements wait for locks until the deadline of the transaction.
  func waitUntilDeadline() throws {
    _ = try session.run(.lockTimeout(max(.milliseconds(1), deadline - .now)), "wait for locks")
  }

  /// Closes the cursors of this transaction, which would be in the way of a change of tables.
  func closeCursors() throws {
    _ = try withSession { try $0.run(PostgresCommand("CLOSE ALL"), "close cursors") }
    session.invalidateCursors()
  }

  /// The error for the first two records that have the same values in a unique index being built.
  private func firstDuplicate(in layout: PostgresLayout, _ number: Int) throws -> PersistenceError? {
    let (schema, dialect) = (layout.schema, store.dialect)
    let index = schema.indexes[number]
    let fields = index.fields.compactMap { schema.position(of: $0) }
    let positions = fields + schema.keyPositions
    let readers = PostgresColumns(all: schema).readers
    func list(_ positions: [Int]) -> String {
      positions.map { dialect.identifier(layout.columns[$0]) }.joined(separator: ", ")
    }
    let present = fields.map { "\(dialect.identifier(layout.columns[$0])) IS NOT NULL" }.joined(
      separator: " AND ")
    // The second of the first two records in the order of the values and the key.
    let rows = try session.run(
      PostgresCommand(
        "SELECT \(list(positions)) FROM (SELECT *, pg_catalog.row_number() OVER "
          + "(PARTITION BY \(list(fields)) ORDER BY \(list(schema.keyPositions))) AS persistence_number "
          + "FROM \(dialect.table(layout.table)) WHERE \(present)) AS numbered WHERE persistence_number = 2 "
          + "ORDER BY \(list(positions)) LIMIT 1"), "look for a duplicate")
    guard rows.count > 0 else { return nil }
    let values = try positions.enumerated().map { try rows.value(0, $0.offset, readers[$0.element]) }
    return PersistenceError.uniqueViolation(
      Array(values.prefix(fields.count)), of: index, in: schema,
      key: RecordKey(Array(values.dropFirst(fields.count))))
  }
}
