import Foundation
import PersistenceCore

/// W4: unique values of every kind.
enum UniqueKindChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a duplicate value of any kind is rejected, by the equality of comparisons, naming model,"
        + " field and value", [.w4, .v3, .v4, .v4a]
    ) { context in for type in SampledTypes.all + [Wrapped<Date>.self] { try kinds(context, type) } },
    ConformanceCheck(
      "a compound unique index rejects equal NaNs, ignores rows with nil, and keeps its parts separate",
      [.w4], compound),
    ConformanceCheck(
      "two records can exchange unique values in one transaction through a third value", [.w4, .w3],
      throughThird),
    ConformanceCheck(
      "a rejected call is rolled back as a whole, and nothing else is: in nested transactions,"
        + " batches and after deletes", [.w4, .w3], rejectionsInNestedTransactions),
  ]

  private static func kinds<Value: SampledValue>(_ context: ContextUnderTest, _ type: Value.Type) throws {
    typealias Model = UniqueValue<Value>
    let repository = try context.makeStore().open()
    var different: [Value] = []
    for value in Value.samples where !different.contains(where: { Value.oracle($0, value) == 0 }) {
      different.append(value)
    }
    try repository.insert(contentsOf: different.enumerated().map { Model($0, $1, group: "g", member: $1) })
    try repository.insert(contentsOf: [Model(-1), Model(-2), Model(-3, group: "g")])
    let name = try Model.schema.model.name
    for value in Value.samples {
      let what = "\(Value.self) \(value.exactText)"
      let owner = try require(different.firstIndex { Value.oracle($0, value) == 0 })
      let errors = try expectErrors(
        .uniqueViolation, what, calls: { try repository.insert(Model(1000, value)) },
        { try repository.save(Model(1000, value)) }, { try repository.update(Model(-1, value)) })
      for error in errors {
        try expect(error.model == name && error.field == "value", "\(what): \(error)")
        let shown = [value.persistentValue, value.asStored.persistentValue].map { "\($0)" }
        try expect(shown.contains { error.message.contains($0) }, "\(what) in “\(error.message)”")
      }
      let error = try expectError(.uniqueViolation, what) {
        try repository.insert(Model(1000, group: "g", member: value))
      }
      try expect(error.field, equals: "group, member", what)
      // Its record can be saved again with the same value, or an equal one.
      try repository.update(Model(owner, value, group: "g", member: value))
      try expect(repository.filter(Model.self, where: \.value == value).ids(), equals: [owner], what)
    }
    try expect(repository.count(Model.self), equals: different.count + 3, "\(Value.self)")
  }

  @Sendable private static func compound(_ context: ContextUnderTest) throws {
    typealias Number = UniqueValue<Double>
    let repository = try context.makeStore().open()
    try repository.insert(Number(1, group: "a", member: .nan))
    try expectError(.uniqueViolation) { try repository.insert(Number(2, group: "a", member: -.nan)) }
    try repository.insert(Number(2, group: "b", member: .nan))
    try repository.insert(Number(3, group: nil, member: .nan))
    try repository.insert(Number(4, group: nil, member: .nan))
    try repository.insert(Number(5, group: "a", member: -0.0))
    try expectError(.uniqueViolation) { try repository.insert(Number(6, group: "a", member: 0.0)) }
    typealias Word = UniqueValue<String>
    let pairs = [
      ("a", "bc"), ("ab", "c"), ("abc", ""), ("", "abc"), ("a\0", "b"), ("a", "\0b"), ("\u{E9}", ""),
      ("e\u{301}", ""),
    ]
    try repository.insert(contentsOf: pairs.enumerated().map { Word($0, group: $1.0, member: $1.1) })
    for (number, pair) in pairs.enumerated() {
      let error = try expectError(.uniqueViolation, "\(pair)") {
        try repository.insert(Word(99, group: pair.0, member: pair.1))
      }
      try expect(error.model == Word.schema.model.name && error.field == "group, member", "\(error)")
      try repository.update(Word(number, group: pair.0, member: pair.1))
    }
    try expect(repository.count(Word.self), equals: pairs.count)
  }

  @Sendable private static func throughThird(_ context: ContextUnderTest) throws {
    typealias Model = UniqueValue<String>
    let repository = try context.makeStore().open()
    try repository.insert(contentsOf: [Model(1, "one"), Model(2, "two")])
    try repository.transaction { store in
      try store.write(Model.self, id: 1) { $0.value = "three" }
      try store.write(Model.self, id: 2) { $0.value = "one" }
      try expect(store.filter(Model.self, where: \.value == "one").ids(), equals: [2])
      try expectError(.uniqueViolation) { try store.write(Model.self, id: 1) { $0.value = "one" } }
      try store.write(Model.self, id: 1) { $0.value = "two" }
      try expectError(.uniqueViolation) { try store.insert(Model(3, "two")) }
      try store.insert(Model(3, "three"))
    }
    try expect(repository.fetch(Model.self).map(\.value), equals: ["two", "one", "three"])
    for (value, id) in [("two", 1), ("one", 2), ("three", 3)] {
      try expect(repository.filter(Model.self, where: \.value == value).ids(), equals: [id], value)
    }
  }

  @Sendable private static func rejectionsInNestedTransactions(_ context: ContextUnderTest) throws {
    typealias Model = UniqueValue<String>
    let repository = try context.makeStore().open()
    try repository.insert(contentsOf: [Model(1, "a"), Model(2, "b")])
    try repository.transaction { store in
      try expect(store.delete(Model.self, id: 1))
      try store.insert(Model(3, "a"))
      try expectError(.uniqueViolation) {
        try store.transaction { inner in
          try inner.insert(Model(4, "d"))
          try inner.update(Model(4, "b"))
        }
      }
      try expect(store.find(Model.self, id: 4) == nil, "a nested transaction ended by a rejected write")
      try expectError(.uniqueViolation) {
        try store.save(contentsOf: [Model(5, "d"), Model(6, "e"), Model(7, "a")])
      }
      try expect(store.count(Model.self), equals: 2, "a batch whose last write was rejected")
      try store.insert(contentsOf: [Model(5, "d"), Model(6, "e")])
      try expectError(.uniqueViolation) { try store.insert(Model(1, "a")) }
    }
    try expect(
      repository.fetch(Model.self).map { "\($0.id) \($0.value ?? "nil")" },
      equals: ["2 b", "3 a", "5 d", "6 e"])
    try expectThrows(SuiteError()) {
      try repository.transaction { store in
        try store.update(Model(2, "z"))
        try? store.insert(Model(9, "a"))
        throw SuiteError()
      }
    }
    try repository.insert(Model(9, "z"))
    try expectError(.uniqueViolation) { try repository.insert(Model(10, "b")) }
  }
}
