import Foundation
import PersistenceCore

/// E2: every error has a code, a message, and the subject it concerns.
enum ErrorShapeChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "every error has a code and a message, and names its model, field and key", [.e2], everySituation),
    ConformanceCheck(
      "errors about a whole store name the store: busy, schema mismatch, use inside its own transaction",
      [.e2], located),
  ]

  private struct Situation {
    var code: PersistenceError.Code
    var model: String?
    var field: String?
    var key: RecordKey?
    var body: () throws -> Void
  }

  @Sendable private static func everySituation(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    typealias Unique = UniqueValue<String>
    let hall = UUID.samples[1]
    try repository.insert(contentsOf: [Unique(1, "taken"), Unique(2, "free")])
    try repository.insert(Seat(hall: hall, row: "A", number: 1))
    try repository.insert(Account(1, balance: 0))
    let unique = try Unique.schema.model.name
    let seat = RecordKey([.uuid(hall), .text("A"), .integer(1)])
    let nobody = RecordKey([.uuid(hall), .text("B"), .integer(1)])
    let one = RecordKey([.integer(1)])
    let situations = [
      Situation(code: .duplicateKey, model: "Account", field: "id", key: one) {
        try repository.insert(Account(1, balance: 1))
      },
      Situation(code: .duplicateKey, model: "Seat", field: "hall, row, number", key: seat) {
        try repository.insert(Seat(hall: hall, row: "A", number: 1))
      },
      Situation(code: .duplicateKey, model: "Account", key: one) {
        try repository.insert(contentsOf: [Account(5, balance: 1), Account(1, balance: 1)])
      },
      Situation(code: .notFound, model: "Seat", key: nobody) {
        try repository.update(Seat(hall: hall, row: "B", number: 1))
      },
      Situation(code: .notFound, model: "Account", key: RecordKey([.integer(7)])) {
        _ = try repository.write(Account.self, id: 7) { $0.balance = 1 }
      },
      Situation(code: .uniqueViolation, model: unique, field: "value", key: RecordKey([.integer(3)])) {
        try repository.insert(Unique(3, "taken"))
      },
      Situation(code: .uniqueViolation, model: unique, field: "value", key: RecordKey([.integer(2)])) {
        try repository.update(Unique(2, "taken"))
      },
      Situation(code: .uniqueViolation, model: unique, field: "value", key: RecordKey([.integer(2)])) {
        _ = try repository.write(Unique.self, id: 2) { $0.value = "taken" }
      },
      Situation(code: .unknownField, model: "Account") {
        _ = try repository.filter(Account.self, where: \.double == 1).count()
      },
      Situation(code: .incompatibleContext, model: "RestrictedNote") {
        try repository.insert(RestrictedNote(1))
      },
      Situation(code: .invalidRequest) { _ = try repository.filter(Account.self).limit(-1).result() },
      Situation(code: .insideTransaction) {
        try repository.transaction { _ in _ = try repository.count(Account.self) }
      },
    ]
    for situation in situations {
      let error = try expectError(situation.code) { try situation.body() }
      let what = "“\(error)”"
      try expect(error.message.count > 20, what)
      if let model = situation.model {
        try expect(error.model, equals: model, what)
        try expect("\(error)".contains(model), what)
      }
      if let field = situation.field { try expect(error.field, equals: field, what) }
      if let key = situation.key { try expect(error.key, equals: key, what) }
    }
    try expect(repository.fetch(Unique.self).map(\.value), equals: ["taken", "free"])
    try expect(repository.count(Account.self) == 1 && repository.count(Seat.self) == 1)
  }

  @Sendable private static func located(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open()
    try repository.insert(Account(1, balance: 0))
    let storage = try repository.storage
    let changed = try ModelSchema(name: "Account", fields: [FieldSchema("id", .int64)], key: ["id"])
    let errors = [
      try expectError(.schemaMismatch) { try storage.fetch(FetchRequest(changed)) },
      try expectError(.insideTransaction) {
        try repository.transaction { _ in try repository.deleteAll(Account.self) }
      },
      try expectError(.insideTransaction) {
        try storage.transaction { _ in try storage.transaction { _ in } }
      },
    ]
    for error in errors { try expect(error.location, equals: storage.location, "“\(error)”") }
    let location = storage.location
    try expect(!location.isEmpty)
    guard storage.capabilities.hasFiles else { return }
    try expect(location.contains(store.path) || store.path.contains(location), "the location \(location)")
    try repository.close()
    let reader = try store.open(.readOnly)
    let refusals = try expectErrors(
      .readOnly, calls: { try reader.insert(Account(2, balance: 1)) }, { try reader.deleteAll(Account.self) },
      { try reader.transaction { try $0.save(Account(1, balance: 3)) } })
    for error in refusals { try expect(error.location, equals: reader.storage.location, "“\(error)”") }
    try expect(reader.find(Account.self, id: 1)?.balance, equals: 0)
  }
}
