import PersistenceCore

/// V1 V2 V5: the content of documents.
enum DossierChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "documents keep parts of every type, including nested documents", [.v1, .v2, .v5], dossiers),
    ConformanceCheck(
      "lists, dictionaries, sets, enums and single values are documents, and match by equality", [.v1, .v4a],
      shapes),
    ConformanceCheck(
      "documents whose numbers differ in the last digit beyond 2^53 are different", [.v5, .v4a], lastDigits),
  ]

  @Sendable private static func dossiers(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    let full = Dossier.full
    var nested = full
    for _ in 0..<5 { nested.inner = [nested] }
    try repository.save(contentsOf: [
      Document(1, Dossier(), maybe: full), Document(2, full), Document(3, nested, maybe: nested),
    ])
    try store.reopen(&repository)
    let found = try Array(repository.fetch(Document<Dossier>.self))
    try expect(found.count, equals: 3)
    try expectSame(found[0].value, Dossier())
    try expectSame(try require(found[0].maybe), full)
    try expectSame(found[1].value, full)
    try expect(found[1].maybe == nil)
    try expect(found[2].value == nested && found[2].maybe == nested, "six deep")
  }

  /// Compares part by part, so that a failure shows the part only.
  private static func expectSame(_ found: Dossier, _ saved: Dossier) throws {
    func part<Value: Equatable>(_ path: KeyPath<Dossier, Value>, _ name: String) throws {
      try expect(found[keyPath: path], equals: saved[keyPath: path], "part \(name) of a document")
    }
    try part(\.flag, "flag")
    try part(\.signed, "signed")
    try part(\.unsigned, "unsigned")
    try part(\.bytes, "bytes")
    try part(\.floats, "floats")
    try part(\.doubles, "doubles")
    try part(\.decimals, "decimals")
    try part(\.dates, "dates")
    try part(\.uuids, "uuids")
    try part(\.data, "data")
    try part(\.link, "link")
    try part(\.holes, "holes")
    try part(\.lists, "lists")
    try part(\.byName, "byName")
    try part(\.byNumber, "byNumber")
    try part(\.shape, "shape")
    try part(\.colour, "colour")
    try part(\.inner, "inner")
  }

  @Sendable private static func shapes(_ context: ContextUnderTest) throws {
    func check<Value: Codable & Hashable & Sendable>(_ values: [Value]) throws {
      typealias Model = Document<Value>
      let repository = try context.makeRepository(
        with: values.enumerated().map { Model($0, $1, maybe: $0.isMultiple(of: 2) ? nil : $1) })
      try expect(repository.fetch(Model.self).map(\.value), equals: values)
      let query = repository.filter(Model.self)
      for (number, value) in values.enumerated() {
        try expect(
          query.filter(where: \.value == value).ids(), equals: [number], "\(Value.self) == \(value)")
        try expect(
          query.filter(where: \.maybe == value).ids(),
          equals: number.isMultiple(of: 2) ? [] : [number], "\(Value.self)? == \(value)")
        try expect(
          query.filter(where: \.maybe != value).count(),
          equals: values.count - (number.isMultiple(of: 2) ? 0 : 1), "\(Value.self)? != \(value)")
      }
      let none: Value? = nil
      try expect(
        query.filter(where: \.maybe == none).ids(),
        equals: Array(stride(from: 0, to: values.count, by: 2)), "\(Value.self)? == nil")
    }
    try check([[], [1], [1, 1], [1, 2], [2, 1]])
    try check([[], [nil], [nil, nil], [0], [0, nil]] as [[Int?]])
    try check([[], [""], ["\0"], ["a", "b"], ["ab"], ["a\",\"b"]])
    try check([[:], ["": ""], ["a": "b"], ["b": "a"], ["a": "b", "c": "d"], ["a": ""]])
    try check([[:], [1: "a"], [-1: "a"], [10: ""], [1: "", 0: ""]])
    try check([[[]], [], [[], []], [["a"], []], [[], ["a"]]] as [[[String]]])
    try check([Set([1, 2]), []] as [Set<Int>])
    try check(
      [.point, .circle(radius: 1, name: nil), .circle(radius: 1, name: ""), .circle(radius: 2, name: nil)]
        as [Dossier.Shape])
    try check([.red, .none] as [Dossier.Colour])
    try check([Address(street: "", number: 0), Address(street: "\0", number: 0)])
  }

  @Sendable private static func lastDigits(_ context: ContextUnderTest) throws {
    let numbers: [UInt64] = [
      1 << 53, (1 << 53) + 1, (1 << 53) + 2, UInt64(Int64.max), 1 << 63, (1 << 63) + 1, .max - 1, .max,
    ]
    let repository = try context.makeRepository(with: numbers.enumerated().map { Document($0, [$1]) })
    for (place, number) in numbers.enumerated() {
      try expect(
        repository.filter(Document<[UInt64]>.self, where: \.value == [number]).ids(),
        equals: [place], "the document [\(number)]")
      try expect(repository.find(Document<[UInt64]>.self, id: place)?.value, equals: [number])
    }
  }
}
