import DataAccess
import PersistenceCore

/// Filters, order and limits.
enum QueryChecks {
  static let all: [DataSourceCheck] = [
    DataSourceCheck("predicates match the objects that they match in Swift, including nil", conditions),
    DataSourceCheck("text search is literal, by Unicode scalars", texts),
    DataSourceCheck(
      "objects without a sort come by key; ties are broken by key in the last direction", order),
    DataSourceCheck("nil sorts first, NaN sorts last", extremes),
    DataSourceCheck("limit, offset and after apply after filter and order, to counts as well", cuts),
  ]

  private static let parcels = (0..<60).map { number in
    Parcel(
      number, name: ["a", "b", "Ab", "e\u{301}", "é", "", "100%", "a_b"][number % 8],
      weight: [0.5, .nan, -.infinity, 7, .infinity][number % 5],
      priority: number % 3 == 0 ? nil : number % 4, isSent: number % 7 == 0)
  }

  private static func fill(_ source: AnyDataSource<Parcel>) async throws {
    try await source.apply(ChangeBatch(parcels.shuffled().map { .insert($0) }))
  }

  @Sendable private static func conditions(_ source: AnyDataSource<Parcel>) async throws {
    let cases: [(PersistentPredicate<Parcel>, @Sendable (Parcel) -> Bool)] = [
      (\.id == 7, { $0.id == 7 }), (\.id != 7, { $0.id != 7 }),
      (\.id < 7 || \.id >= 50, { $0.id < 7 || $0.id >= 50 }),
      (\.priority == nil, { $0.priority == nil }), (\.priority != 2, { $0.priority != 2 }),
      (\.priority > 1, { ($0.priority ?? -9) > 1 }), (!(\.priority > 1), { !(($0.priority ?? -9) > 1) }),
      (\.weight > 1, { $0.weight > 1 || $0.weight.isNaN }), (\.weight == .nan, { $0.weight.isNaN }),
      (\.isSent == true && \.weight < 1, { $0.isSent && $0.weight < 1 }),
      (.in(\.id, [3, 5, 99]), { [3, 5].contains($0.id) }),
      (.between(\.id, 10...12), { (10...12).contains($0.id) }), (.none, { _ in false }),
      (.all, { _ in true }),
    ]
    try await fill(source)
    // `== nil` on a non-optional value matches nothing, which differs from no predicate.
    try expect(try await source.filter(where: .none).count(), equals: 0)
    for (predicate, matches) in cases {
      let found = try await source.filter(where: predicate).result().map(\.id)
      try expect(found, equals: parcels.filter(matches).map(\.id), "\(predicate)")
      try expect(try await source.filter(where: predicate).count(), equals: found.count, "\(predicate)")
    }
  }

  @Sendable private static func texts(_ source: AnyDataSource<Parcel>) async throws {
    let cases: [(PersistentPredicate<Parcel>, [String])] = [
      (\.name == "é", ["é"]), (.hasPrefix(\.name, "e"), ["e\u{301}"]), (.contains(\.name, "%"), ["100%"]),
      (.hasSuffix(\.name, "_b"), ["a_b"]),
      (.contains(\.name, "a", caseInsensitive: true), ["a", "Ab", "a_b"]),
      (.contains(\.name, ""), ["a", "b", "Ab", "e\u{301}", "é", "", "100%", "a_b"]),
    ]
    try await fill(source)
    for (predicate, names) in cases {
      let wanted = Set(names.map { Array($0.utf8) })
      try expect(
        try await source.filter(where: predicate).result().map(\.id),
        equals: parcels.filter { wanted.contains(Array($0.name.utf8)) }.map(\.id), "\(predicate)")
    }
  }

  @Sendable private static func order(_ source: AnyDataSource<Parcel>) async throws {
    try await fill(source)
    try expect(try await source.filter().result().map(\.id), equals: Array(0..<60))
    let ascending = try await source.filter().sorted(by: \.isSent).result().map(\.id)
    try expect(ascending, equals: (0..<60).sorted { ($0 % 7 == 0 ? 1 : 0, $0) < ($1 % 7 == 0 ? 1 : 0, $1) })
    let mixed = try await source.filter().sorted(by: \.isSent).sorted(by: \.name, inOrder: .descending)
      .result()
    let wanted = parcels.sorted { left, right in
      if left.isSent != right.isSent { return !left.isSent }
      let (leftName, rightName) = (Array(left.name.utf8), Array(right.name.utf8))
      if leftName != rightName { return rightName.lexicographicallyPrecedes(leftName) }
      return left.id > right.id
    }
    try expect(mixed.map(\.id), equals: wanted.map(\.id))
  }

  @Sendable private static func extremes(_ source: AnyDataSource<Parcel>) async throws {
    try await fill(source)
    let byPriority = try await source.filter().sorted(by: \.priority).result()
    try expect(byPriority.prefix(20).allSatisfy { $0.priority == nil })
    let byWeight = try await source.filter().sorted(by: \.weight, inOrder: .descending).result()
    try expect(byWeight.prefix(12).allSatisfy { $0.weight.isNaN })
    try expect(byWeight.suffix(12).allSatisfy { $0.weight == -.infinity })
  }

  @Sendable private static func cuts(_ source: AnyDataSource<Parcel>) async throws {
    try await fill(source)
    let whole = try await source.filter(where: \.id >= 5).sorted(by: \.name).result()
    for (offset, limit) in [(0, 0), (0, 7), (3, 10), (50, 10), (54, 10), (100, 1)] {
      let query = source.filter(where: \.id >= 5).sorted(by: \.name).offset(offset).limit(limit)
      let wanted = Array(whole.dropFirst(offset).prefix(limit))
      try expect(try await query.result(), equalsFields: wanted, "offset \(offset) limit \(limit)")
      try expect(try await query.count(), equals: wanted.count, "offset \(offset) limit \(limit)")
    }
    let after = source.filter(where: \.id >= 5).sorted(by: \.name).after(whole[20])
    try expect(try await after.limit(5).result(), equalsFields: Array(whole[21..<26]))
    try expect(try await after.offset(2).limit(2).result(), equalsFields: Array(whole[23..<25]))
    // A page can start after an object that no longer exists.
    try await source.delete(whole[20])
    try expect(try await after.result(), equalsFields: Array(whole[21...]))
    try expect(try await source.filter().sorted(by: \.priority).first()?.id, equals: 0)
  }
}

/// Expects equal parcels, with NaN equal to NaN.
private func expect(
  _ found: [Parcel], equalsFields expected: [Parcel], _ subject: @autoclosure () -> String = "",
  file: StaticString = #fileID, line: UInt = #line
) throws {
  try expect(found.map { "\($0)" }, equals: expected.map { "\($0)" }, subject(), file: file, line: line)
}

/// Invalid requests.
enum RequestChecks {
  static let all: [DataSourceCheck] = [
    DataSourceCheck("the data source rejects an invalid request, and still works afterwards", senseless)
  ]

  @Sendable private static func senseless(_ source: AnyDataSource<Parcel>) async throws {
    try await source.insert(Parcel(1))
    try await expectError(.invalidRequest) { try await source.filter().limit(-1).result() }
    try await expectError(.invalidRequest) { try await source.filter().offset(-1).result() }
    try await expectError(.invalidRequest) { try await source.filter().offset(-1).count() }
    try await expectError(.invalidRequest) {
      try await source.filter(where: .matches(\.name, "(")).result()
    }
    let unknown = PersistentPredicate<Parcel>(node: .comparison(field: "no field", .equal, .integer(1)))
    try await expectError(.unknownField) { try await source.filter(where: unknown).result() }
    try await expectError(.unknownField) { try await source.filter(where: unknown).count() }
    let order = SortCriterion<Parcel>(fieldOrder: FieldOrder("no field", isDescending: false))
    try await expectError(.unknownField) { try await source.filter().sorted(by: order).result() }
    let mistyped = PersistentPredicate<Parcel>(node: .comparison(field: "name", .equal, .integer(1)))
    try await expectError(.invalidRequest) { try await source.filter(where: mistyped).result() }
    try await expectError(.invalidRequest) {
      for try await _ in source.filter().limit(-1).pages(of: 2) {}
    }
    try expect(try await source.filter().count(), equals: 1)
  }
}
