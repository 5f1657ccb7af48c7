import Foundation
import PersistenceCore

/// W3, W5, E4: dropped models.
enum DropChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a committed drop removes the model and its records; a rolled-back drop keeps them", [.w3],
      needs: [.writable, .droppingModels], dropping),
    ConformanceCheck(
      "a dropped model can be redefined, with the same or another schema, at once or later, and"
        + " starts empty", [.w3, .e4], needs: [.writable, .droppingModels], anew),
    ConformanceCheck(
      "a drop after transactions without changes removes the model, and a redefinition keeps it",
      [.w3, .w5], needs: [.writable, .durable, .droppingModels], afterNothing),
    ConformanceCheck(
      "a snapshot and its results still show a model that was dropped and redefined later", [.r2],
      needs: [.writable, .droppingModels], snapshots),
    ConformanceCheck(
      "another context on the same store sees a drop and a redefinition at once", [.c2, .e4],
      needs: [.writable, .multiProcess, .droppingModels], otherContext),
    ConformanceCheck(
      "after a kill while models are replaced, the store has one complete version of them", [.w5, .w3],
      needs: [.writable, .durable, .droppingModels], kills
    ).slow,
  ]

  private static func schema(_ kind: FieldKind = .string, name: String = "Thing") throws -> ModelSchema {
    try ModelSchema(
      name: name, fields: [FieldSchema("id", .int64), FieldSchema("field", kind), FieldSchema("day", .date)],
      key: ["id"], indexes: [IndexSchema(["field"], isUnique: true), IndexSchema(["day"])])
  }

  private static func rows(_ count: Int) -> [[PersistentValue]] {
    (0..<count).map { [.integer(Int64($0)), .text("t\($0)"), .date(Double($0))] }
  }

  @Sendable private static func dropping(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let storage = try store.open().storage
    let (schema, other) = (try schema(), try Self.schema(name: "Other"))
    let things = RowStore(storage, schema)
    let others = RowStore(storage, other)
    try things.save(rows(50))
    try others.save(rows(50))
    try expectThrows(SuiteError()) {
      try storage.transaction { transaction in
        try transaction.drop(schema)
        try expect(transaction.catalog().map(\.name), equals: ["Other"], "inside the transaction")
        try expect(transaction.count(FetchRequest(schema)) == 0, "records inside the transaction")
        throw SuiteError()
      }
    }
    try expect(things.rows(), equals: rows(50), "after the rollback")
    try storage.transaction { transaction in
      try expectThrows(SuiteError()) {
        try transaction.nested {
          try transaction.drop(schema)
          throw SuiteError()
        }
      }
      try expect(transaction.count(FetchRequest(schema)) == 50, "after the nested rollback")
      let error = try expectError(.uniqueViolation, "a unique value, after the nested rollback") {
        try transaction.insert([[.integer(99), .text("t1"), .date(0)]], in: schema)
      }
      try expect(error.model == "Thing", "\(error)")
    }
    try expect(things.rows(), equals: rows(50), "after the nested rollback")
    try storage.transaction { try $0.drop(schema) }
    try storage.transaction { try $0.drop(schema) }
    for storage in try readers(store, storage) {
      try expect(storage.catalog().map(\.name), equals: ["Other"], "after the commit")
      try expect(storage.count(FetchRequest(schema)) == 0, "records after the commit")
      try expect(RowStore(storage, schema).rows(), equals: [], "rows after the commit")
      try expect(RowStore(storage, other).rows(order: [FieldOrder("field")]).count == 50, "the other model")
    }
    let mismatch = try Self.schema(.int64, name: "Other")
    try storage.transaction { transaction in
      try expectError(.schemaMismatch, "drop with another schema") { try transaction.drop(mismatch) }
    }
    try expect(others.rows(), equals: rows(50), "the model of a rejected drop")
  }

  @Sendable private static func afterNothing(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let storage = try store.open().storage
    let schema = try schema()
    let things = RowStore(storage, schema)
    try things.save(rows(3))
    for round in 0..<3 {
      // Neither transaction changes anything.
      try storage.transaction { _ = try $0.delete(RecordKey([.integer(99)]), in: schema) }
      try storage.transaction { _ = try $0.count(FetchRequest(schema)) }
      try expect(things.rows().count == 3, "records before round \(round)")
      try storage.transaction { try $0.drop(schema) }
      try expect(storage.catalog().isEmpty, "the catalog after round \(round)")
      try expect(storage.count(FetchRequest(schema)) == 0, "records after round \(round)")
      try things.save(rows(3))
      try storage.transaction { _ = try $0.delete(RecordKey([.integer(99)]), in: schema) }
      try storage.transaction { transaction in
        try transaction.drop(schema)
        try transaction.define(schema)
        try transaction.insert(rows(3), in: schema)
        try expect(transaction.count(FetchRequest(schema)) == 3, "records within round \(round)")
      }
    }
    try storage.close()
    let again = try store.open().storage
    try expect(again.catalog().map(\.name), equals: ["Thing"], "the catalog, after reopening")
    try expect(RowStore(again, schema).rows(), equals: rows(3), "records, after reopening")
  }

  /// Returns the context and, if it is durable, a second one on the same store.
  private static func readers(_ store: StoreUnderTest, _ storage: any StorageContext) throws
    -> [any StorageContext]
  {
    guard storage.capabilities.isMultiProcess else { return [storage] }
    return [storage, try store.open().storage]
  }

  @Sendable private static func anew(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let storage = try store.open().storage
    let (first, second) = (try schema(), try schema(.int64))
    for isAtOnce in [true, false] {
      for (old, new) in [(first, first), (first, second), (second, first)] {
        let text = new == first
        try storage.transaction { transaction in
          for schema in try transaction.catalog() { try transaction.drop(schema) }
        }
        try storage.transaction { transaction in
          try transaction.define(old)
          for number in 0..<30 {
            let value: PersistentValue = old == first ? .text("t\(number)") : .integer(Int64(number))
            try transaction.insert([[.integer(Int64(number)), value, .date(1)]], in: old)
          }
        }
        // Reads through the context that knew the dropped model.
        for storage in try readers(store, storage) {
          try expect(RowStore(storage, old).rows().count == 30, "\(old), before")
        }
        let row: [PersistentValue] = [.integer(7), text ? .text("t8") : .integer(8), .date(2)]
        if isAtOnce {
          try storage.transaction { transaction in
            try transaction.drop(old)
            try transaction.define(new)
            try transaction.insert([row], in: new)
            try expect(transaction.count(FetchRequest(new)) == 1, "inside the transaction")
          }
        } else {
          try storage.transaction { try $0.drop(old) }
          try storage.transaction { try $0.define(new) }
          try storage.transaction { try $0.insert([row], in: new) }
        }
        for storage in try readers(store, storage) {
          let rows = RowStore(storage, new)
          try expect(rows.rows(), equals: [row], "\(old) then \(new)")
          try expect(rows.rows(order: [FieldOrder("field")]), equals: [row], "by index")
          try expect(storage.catalog(), equals: [new], "the catalog")
          if old != new {
            try expectError(.schemaMismatch, "the old schema") { try RowStore(storage, old).rows() }
          }
        }
      }
    }
  }

  @Sendable private static func snapshots(_ context: ContextUnderTest) throws {
    let storage = try context.makeStore().open().storage
    let schema = try schema()
    try RowStore(storage, schema).save(rows(600))
    let snapshot = try storage.snapshot()
    let results = try storage.fetch(FetchRequest(schema))
    _ = try results.read(from: 0, limit: 10) { _ in }
    try storage.transaction { try $0.drop(schema) }
    let empty = try storage.fetch(FetchRequest(schema))
    try RowStore(storage, try Self.schema(.int64)).save([[.integer(1), .integer(1), .date(1)]])
    try expect(snapshot.catalog(), equals: [schema], "the snapshot's catalog")
    try expect(RowStore.rows(of: FetchRequest(schema), from: snapshot), equals: rows(600), "the snapshot")
    let ordered = try FetchRequest(schema, order: [FieldOrder("day", isDescending: true)], limit: 1)
    try expect(RowStore.rows(of: ordered, from: snapshot), equals: [rows(600)[599]], "by index")
    var read: [[PersistentValue]] = []
    _ = try results.read(from: 0, limit: Int.max) { read.append(try $0.values()) }
    try expect(read, equals: rows(600), "the results")
    try expect(empty.count() == 0, "results between drop and redefinition")
  }

  @Sendable private static func otherContext(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let (one, other) = (try store.open().storage, try store.open().storage)
    let schema = try schema()
    try RowStore(one, schema).save(rows(20))
    for round in 1...4 {
      try expect(RowStore(other, schema).rows().count == 20, "round \(round)")
      let (writer, reader) = round.isMultiple(of: 2) ? (one, other) : (other, one)
      try writer.transaction { transaction in
        try transaction.drop(schema)
        try transaction.define(schema)
        try transaction.insert(rows(20), in: schema)
      }
      // Writes and reads through the context that knew the dropped model.
      try RowStore(reader, schema).save([[.integer(5), .text("new \(round)"), .date(0)]])
      let expected: [PersistentValue] = [.integer(5), .text("new \(round)"), .date(0)]
      try expect(RowStore(writer, schema).find([.integer(5)]), equals: expected, "round \(round)")
      try expect(RowStore(reader, schema).find([.integer(5)]), equals: expected, "round \(round)")
      try expect(writer.count(FetchRequest(schema)) == 20, "the count, round \(round)")
    }
    let changed = try Self.schema(.int64)
    try one.transaction { try $0.drop(schema) }
    try one.transaction { try $0.define(changed) }
    try expectError(.schemaMismatch, "the old schema") { try RowStore(other, schema).rows() }
    try expect(RowStore(other, changed).rows(), equals: [], "the new schema")
  }

  @Sendable private static func kills(_ context: ContextUnderTest) throws {
    var random = SeededGenerator(seed: context.seed ?? 75)
    let store = try context.makeStore(on: .disk)
    var number = 0
    for _ in 0..<context.effort.times(5, thorough: 60) {
      let worker = try store.worker("redefine", "\(number)")
      try worker.wait(for: "ack \(number + random.int(1...6))")
      usleep(UInt32(random.int(0...20_000)))
      worker.kill()
      CheckTrace.count("kills", 1)
      try expect(!worker.lines.contains { $0.hasPrefix("error") }, "\(worker.lines.suffix(2))")
      let acknowledged = max(number, worker.acknowledged)
      let repository = try store.open()
      let found = try Redefinition.read(repository.storage)
      try expect([acknowledged, acknowledged + 1].contains(found), "\(found) of \(acknowledged)")
      try Redefinition.apply(found + 1, to: repository.storage)
      number = found + 1
      try repository.close()
    }
  }
}
