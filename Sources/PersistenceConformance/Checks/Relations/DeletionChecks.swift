import PersistenceCore

/// L2 and L3: what follows a delete.
enum DeletionChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a restricting reference refuses the deletion of its record, by every way to delete", [.l2], restricted),
    ConformanceCheck(
      "a cascade deletes the referring records at every level, before the call returns", [.l2], cascade),
    ConformanceCheck(
      "references that become nil do so before the call returns, and leave their index", [.l2], setNil),
    ConformanceCheck("a cascade follows circles and long chains to their end", [.l2], chains),
    ConformanceCheck("a cascade of many records at several levels is complete", [.l2], wide),
    ConformanceCheck("the number of deleted records counts what was asked for", [.l2], counts),
    ConformanceCheck("what follows a delete is undone with it", [.l3], undone),
    ConformanceCheck(
      "a deletion that is refused in the midst of a cascade leaves the transaction as it was", [.l3, .w4],
      refused),
    ConformanceCheck("deletes by condition also follow conditions on related records", [.l2, .l5], related),
  ]

  /// The ways to delete the first studio, or all.
  private static let ways: [@Sendable (any PersistentRepository) throws -> Void] = [
    { try $0.delete(Studio.self, id: 1) }, { try $0.delete(Studio(1)) },
    { try $0.delete(Studio.self, where: \.name == "A24") },
    { try $0.filter(Studio.self).sorted(by: \.id).limit(1).delete() },
    { try $0.deleteAll(Studio.self) },
    { store in _ = try store.transaction { try $0.delete(Studio.self, id: 1) } },
  ]

  @Sendable private static func restricted(_ context: ContextUnderTest) throws {
    let repository = try IntegrityChecks.filled(context)
    for (number, delete) in ways.enumerated() {
      let error = try expectError(.brokenReference, "way \(number)") { try delete(repository) }
      try expect(error.model, equals: "Film")
      try expect(repository.count(Studio.self), equals: 2)
      try repository.transaction { store in
        try delete(store)
        try store.save(contentsOf: [Studio(1, "A24"), Studio(2, "Ghibli")])
      }
    }
    try repository.transaction { store in
      try store.deleteAll(Studio.self)
      try store.deleteAll(Film.self)
    }
    try expect(repository.count(Studio.self), equals: 0)
    try expect(repository.count(Role.self), equals: 0)
    try expect(repository.count(Performer.self), equals: 2)
  }

  @Sendable private static func cascade(_ context: ContextUnderTest) throws {
    for (number, delete) in ways.enumerated() {
      let repository = try IntegrityChecks.filled(context)
      try repository.deleteAll(Film.self)
      try expect(repository.count(Role.self), equals: 0, "the cascade of deleteAll")
      try repository.save(contentsOf: [
        Studio(3, parent: 1), Studio(4, parent: 3), Studio(5, parent: 3), Studio(6, parent: 2),
      ])
      try repository.transaction { store in
        try delete(store)
        let left = number == 4 ? [] : [2, 6]
        try expect(store.filter(Studio.self).ids(), equals: left, "way \(number)")
        try expect(store.filter(Studio.self, where: \.parent == Reference(3)).count(), equals: 0)
      }
    }
    let repository = try IntegrityChecks.filled(context)
    try repository.delete(Film.self, id: 1)
    try expect(Array(repository.fetch(Role.self)), equals: [Role(2, "ada", "extra")])
  }

  @Sendable private static func setNil(_ context: ContextUnderTest) throws {
    let repository = try IntegrityChecks.filled(context)
    try repository.deleteAll(Role.self)
    try repository.transaction { store in
      try expect(store.delete(Performer.self, id: "ada"))
      try expect(store.find(Film.self, id: 1)?.director == nil)
    }
    try expect(repository.filter(Film.self, where: \.director == Reference("ada")).count(), equals: 0)
    try expect(repository.filter(Film.self, where: \.director == nil).ids(), equals: [1, 3])
    try repository.deleteAll(Performer.self)
    try expect(repository.filter(Film.self, where: \.director == nil).ids(), equals: [1, 2, 3])
    try expect(
      repository.filter(Film.self).sorted(by: \.director, inOrder: .descending).ids(), equals: [3, 2, 1])
  }

  @Sendable private static func chains(_ context: ContextUnderTest) throws {
    let repository = Repository(try context.makeStore().open().context)
    let count = context.effort.times(1_200, thorough: 20_000)
    try repository.save(contentsOf: [Studio(0)] + (1...count).map { Studio($0, parent: $0 - 1) })
    try repository.save(Studio(0, parent: count))
    try repository.save(Studio(-1, parent: -1))
    try repository.delete(Studio.self, id: count / 2)
    try expect(repository.filter(Studio.self).ids(), equals: [-1])
    try repository.delete(Studio.self, id: -1)
    try expect(repository.count(Studio.self), equals: 0)
  }

  @Sendable private static func wide(_ context: ContextUnderTest) throws {
    let repository = Repository(try context.makeStore().open().context)
    let count = context.effort.times(2_100, thorough: 12_000)
    try repository.transaction { store in
      try store.insert(contentsOf: [Studio(0), Studio(-1)])
      try store.insert(contentsOf: (1...count).map { Studio($0, parent: $0 % 3 == 0 ? $0 - 1 : 0) })
    }
    try expect(repository.delete(Studio.self, id: 0))
    try expect(repository.filter(Studio.self).ids(), equals: [-1])
  }

  @Sendable private static func counts(_ context: ContextUnderTest) throws {
    let repository = try IntegrityChecks.filled(context)
    try repository.deleteAll(Film.self)
    try repository.save(contentsOf: [Studio(3, parent: 1), Studio(4, parent: 3), Studio(5, parent: 2)])
    try expect(repository.delete(Studio.self, where: \.id == 1), equals: 1)
    try expect(repository.delete(Studio.self, where: \.id <= 2), equals: 1)
    try expect(repository.count(Studio.self), equals: 0)
  }

  @Sendable private static func undone(_ context: ContextUnderTest) throws {
    let repository = try IntegrityChecks.filled(context)
    let (films, roles) = (try Array(repository.fetch(Film.self)), try Array(repository.fetch(Role.self)))
    try repository.transaction { store in
      try expectThrows(SuiteError()) {
        try store.transaction { inner in
          try inner.deleteAll(Role.self)
          try inner.delete(Performer.self, id: "bob")
          try inner.delete(Film.self, id: 1)
          try expect(inner.filter(Film.self, where: \.director == nil).count(), equals: 2)
          throw SuiteError()
        }
      }
      try expect(Array(store.fetch(Film.self)), equals: films)
      try expect(Array(store.fetch(Role.self)), equals: roles)
    }
    try expectThrows(SuiteError()) {
      try repository.transaction { store in
        try store.delete(Film.self, id: 1)
        throw SuiteError()
      }
    }
    try expect(Array(repository.fetch(Role.self)), equals: roles)
  }

  @Sendable private static func refused(_ context: ContextUnderTest) throws {
    let repository = try IntegrityChecks.filled(context)
    // Deleting the parent cascades to a studio that films refer to.
    try repository.save(contentsOf: [Studio(10), Studio(1, "A24", parent: 10)])
    try expectError(.brokenReference) { try repository.delete(Studio.self, id: 10) }
    try expect(repository.filter(Studio.self).ids(), equals: [1, 2, 10])
    try repository.transaction { store in
      try store.delete(Studio.self, id: 10)
      try store.filter(Film.self).update(.set(\.studio, to: Reference(2)))
    }
    try expect(repository.filter(Studio.self).ids(), equals: [2])
  }

  @Sendable private static func related(_ context: ContextUnderTest) throws {
    let repository = try IntegrityChecks.filled(context)
    try expect(
      repository.delete(Film.self, where: .has(\.director, \.age > 50) || .has(\.studio, \.name == "A24")),
      equals: 3)
    try expect(repository.count(Role.self), equals: 0)
    try expect(repository.delete(Studio.self, where: !.hasAny(\Film.studio)), equals: 2)
  }
}
