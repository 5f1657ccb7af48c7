import Foundation
import PersistenceCore

/// V8: conditions on parts of documents, and on the elements of arrays.
enum DocumentPartChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "conditions on parts of documents match as Swift closures do, alone, negated and combined", [.v8, .v6],
      conditions),
    ConformanceCheck(
      "arrays and sets are searched for an element, whose JSON is compared as a value", [.v8], elements),
    ConformanceCheck(
      "parts are compared by value whatever their JSON's spelling, and kinds of values have no common order",
      [.v8],
      kinds),
    ConformanceCheck(
      "a condition on a computed property, or on a part of another kind of field, is refused with the property's name",
      [.v8, .e3], refusals),
    ConformanceCheck(
      "documents, arrays and raw values are updated in place", [.w1, .v1], updates),
    ConformanceCheck(
      "a raw-representable Codable value is stored as its raw value, which is sorted, indexed and compared",
      [.v1],
      rawValues),
  ]

  private static var venues: [Venue] {
    (0..<12).map { number in
      var venue = Venue(number)
      venue.place = place(number)
      venue.maybe = number.isMultiple(of: 3) ? nil : place(number + 1)
      venue.tags = (0..<number % 4).map { ["new", "a\"b", "é", "new, old"][$0] }
      venue.scores = number.isMultiple(of: 2) ? Set([number, 7]) : nil
      venue.level = [.high, .low, .middle][number % 3]
      venue.rank = [nil, .tenth, .second, .first][number % 4]
      venue.title = "\(number % 5)"
      return venue
    }
  }

  private static func place(_ number: Int) -> Venue.Place {
    var place = Venue.Place()
    place.city = ["Berlin", "Bern", "Ærø", "", "berlin"][number % 5]
    place.number = [0, -1, 7, 1 << 53, (1 << 53) + 1][number % 5]
    place.isOpen = number.isMultiple(of: 2)
    place.since = Date(timeIntervalSinceReferenceDate: Double(number) / 4)
    place.key =
      number % 3 == 1 ? UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number))) : nil
    place.halls = (0..<number % 3).map { "hall \($0)" }
    place.point.latitude = [0.1, -0.5, .infinity, .nan, -.infinity][number % 5]
    place.point.label = number.isMultiple(of: 4) ? nil : "l\(number % 2)"
    place.nickname = number % 5 == 2 ? "The isle" : nil
    return place
  }

  @Sendable private static func conditions(_ context: ContextUnderTest) throws {
    let venues = venues
    let repository = try context.makeRepository(with: venues)
    let date = Date(timeIntervalSinceReferenceDate: 1)
    let key = venues[1].place.key
    let all: [Condition<Venue>] = [
      Condition(\.place.city == "Berlin") { $0.place.city == "Berlin" },
      Condition(\.place.city != "Berlin") { $0.place.city != "Berlin" },
      Condition(\.place.city < "Bern") { $0.place.city.utf8.lexicographicallyPrecedes("Bern".utf8) },
      Condition(\.place.number > 7) { $0.place.number > 7 },
      Condition(\.place.number == 1 << 53) { $0.place.number == 1 << 53 },
      Condition(\.place.isOpen == true) { $0.place.isOpen },
      Condition(\.place.since >= date) { $0.place.since >= date },
      Condition(\.place.key == key) { $0.place.key == key },
      Condition(\.place.key == nil) { $0.place.key == nil },
      Condition(\.place.halls == ["hall 0"]) { $0.place.halls == ["hall 0"] },
      Condition(\.place.point.latitude > 0) { !($0.place.point.latitude <= 0) },
      Condition(\.place.point.latitude <= .infinity) { !$0.place.point.latitude.isNaN },
      Condition(\.place.point.label == "l1") { $0.place.point.label == "l1" },
      Condition(\.place.point == Venue.Place.Point(latitude: 0.1)) {
        $0.place.point == Venue.Place.Point(latitude: 0.1)
      },
      Condition(\.maybe?.city == "Bern") { $0.maybe?.city == "Bern" },
      Condition(\.maybe?.city != "Bern") { $0.maybe?.city != "Bern" },
      Condition(\.maybe?.city == nil) { $0.maybe == nil },
      Condition(\.maybe?.point.label != nil) { $0.maybe?.point.label != nil },
      Condition(\.maybe?.number < 7) { ($0.maybe?.number).map { $0 < 7 } ?? false },
      Condition(.in(\.place.city, ["Bern", ""])) { ["Bern", ""].contains($0.place.city) },
      Condition(.in(\.place.city, [])) { _ in false },
      Condition(.between(\.place.number, 0...7)) { (0...7).contains($0.place.number) },
      Condition(.between(\.place.number, 0..<7)) { (0..<7).contains($0.place.number) },
      Condition(.hasPrefix(\.place.city, "Ber")) { $0.place.city.hasPrefix("Ber") },
      Condition(.contains(\.place.city, "BER", caseInsensitive: true)) {
        $0.place.city.lowercased().contains("ber")
      },
      Condition(.like(\.maybe?.nickname, "%isle")) { $0.maybe?.nickname == "The isle" },
      Condition(.matches(\.place.city, "^[Bb]er(n|lin)$")) {
        ["Berlin", "Bern", "berlin"].contains($0.place.city)
      },
    ]
    let query = repository.filter(Venue.self)
    func check(_ condition: Condition<Venue>) throws {
      try expect(
        query.filter(where: condition.predicate).ids(), equals: venues.filter(condition.holds).map(\.id),
        condition.description)
    }
    for (number, condition) in all.enumerated() {
      let other = all[(number * 7 + 3) % all.count]
      try check(condition)
      try check(!condition)
      try check(condition && !other)
      try check(condition || Condition(\.title == "1") { $0.title == "1" })
      let sorted = query.filter(where: condition.predicate).sorted(by: \.title, inOrder: .descending).limit(3)
      let expected = venues.filter(condition.holds).sorted { ($0.title, $0.id) > ($1.title, $1.id) }.prefix(3)
      try expect(sorted.ids(), equals: expected.map(\.id), "sorted, \(condition)")
    }
  }

  @Sendable private static func elements(_ context: ContextUnderTest) throws {
    let venues = venues
    let repository = try context.makeRepository(with: venues)
    let query = repository.filter(Venue.self)
    for tag in ["new", "a\"b", "é", "e\u{301}", "ne", "", "new, old"] {
      let expected = venues.filter { $0.tags.contains { $0.utf8.elementsEqual(tag.utf8) } }.map(\.id)
      try expect(query.filter(where: .contains(\.tags, tag)).ids(), equals: expected, "contains \(tag)")
      try expect(query.filter(where: !.contains(\.tags, tag)).count(), equals: venues.count - expected.count)
    }
    for score in [0, 2, 7, -1] {
      let expected = venues.filter { $0.scores?.contains(score) ?? false }.map(\.id)
      try expect(query.filter(where: .contains(\.scores, score)).ids(), equals: expected, "contains \(score)")
    }
    let halls = venues.filter { $0.maybe?.halls.contains("hall 1") ?? false }.map(\.id)
    try expect(query.filter(where: .contains(\.maybe?.halls, "hall 1")).ids(), equals: halls)
  }

  /// Documents as other programs write them, through the driver.
  @Sendable private static func kinds(_ context: ContextUnderTest) throws {
    let schema = try ModelSchema(
      name: "Loose", fields: [FieldSchema("id", .int64), FieldSchema("value", .document, isOptional: true)],
      key: ["id"])
    let texts = [
      nil, "null", "true", "1", "1.0", "10e-1", "\"1\"", "[1]", "[1.0,[]]", "{\"a\":1}",
      "{\"a\":{\"b\":1.50}}",
      "{\"a\":null}", "\"NaN\"", "{\"a\":[{\"b\":2},\"x\"]}", "{\"\":\"a\\\"b\"}",
    ]
    let store = RowStore(try context.makeStore().open().storage, schema)
    try store.save(
      texts.enumerated().map { [.integer(Int64($0)), $1.map { .document($0) } ?? .null] })
    func expectMatches(_ path: [String], _ condition: DocumentCondition, _ expected: [Int]) throws {
      let node = PredicateNode.document(field: "value", path: path, condition)
      let rows = try store.rows(where: node)
      let found = rows.compactMap { row -> Int? in
        if case .integer(let id) = row[0] { Int(id) } else { nil }
      }
      try expect(found, equals: expected, "\(node)")
    }
    try expectMatches([], .comparison(.equal, .null), [0, 1])
    try expectMatches([], .comparison(.equal, .document("1")), [3, 4, 5])
    try expectMatches([], .comparison(.less, .document("2")), [3, 4, 5])
    try expectMatches([], .comparison(.greater, .document("2")), [12])
    try expectMatches([], .comparison(.lessOrEqual, .document("true")), [2])
    try expectMatches([], .comparison(.greaterOrEqual, .document("\"1\"")), [6, 12])
    try expectMatches([], .comparison(.equal, .document("[1.00]")), [7])
    try expectMatches([], .contains(.document("1")), [7, 8])
    try expectMatches([], .contains(.document("[]")), [8])
    try expectMatches(["a"], .comparison(.equal, .document("{\"b\":1.5}")), [10])
    try expectMatches(["a", "b"], .comparison(.equal, .document("15e-1")), [10])
    try expectMatches(["a"], .comparison(.notEqual, .null), [9, 10, 13])
    try expectMatches(["a"], .contains(.document("{\"b\":2.0}")), [13])
    try expectMatches(["a"], .contains(.null), [])
    try expectMatches([""], .text(.hasSuffix, "\"b", isCaseInsensitive: false), [14])
    try expectMatches([], .text(.contains, "1", isCaseInsensitive: false), [6])
  }

  @Sendable private static func refusals(_ context: ContextUnderTest) throws {
    let query = try context.makeRepository(with: venues).filter(Venue.self)
    func expectRefusal(_ names: [String], _ body: () throws -> Void) throws {
      let error = try expectError(.unknownField, "\(names)", body)
      for name in names { try expect(error.message.contains(name), "\(name) in: \(error.message)") }
      try expect(!error.message.contains("0x"), error.message)
    }
    try expectRefusal(["title", "Venue"]) { _ = try query.filter(where: \.title.count == 3).count() }
    try expectRefusal(["title", "Venue"]) { _ = try query.filter(where: !(\.title.isEmpty == true)).ids() }
    try expectRefusal(["location"]) { _ = try query.filter(where: \.place.doubled == 2).count() }
    try expectRefusal(["location"]) { _ = try query.filter(where: \.place.city.count > 2).count() }
    try expectRefusal(["tags"]) { _ = try query.filter(where: \.tags.count == 2 && \.title == "1").count() }
    try expectRefusal(["location"]) { _ = try query.sorted(by: \.place.city).ids() }
    try expectRefusal(["title"]) { _ = try query.sorted(by: \.title.count).ids() }
    try expectRefusal(["location"]) { _ = try query.select(\.place.city).count }
    try expectRefusal(["location"]) { _ = try query.update(.set(\.place.city, to: "x")) }
    try expectError(.unsupported, "two parts") {
      _ = try query.filter(where: \.place.city == \.title).count()
    }
    let part = PredicateNode.document(field: "title", path: ["a"], .comparison(.equal, .document("1")))
    try expectError(.invalidRequest, "a part of text") {
      _ = try query.filter(where: PersistentPredicate(node: part)).count()
    }
    for operand in [PersistentValue.document("{"), .integer(1)] {
      let node = PredicateNode.document(field: "location", path: [], .comparison(.equal, operand))
      try expectError(.invalidRequest, "\(operand)") {
        _ = try query.filter(where: PersistentPredicate(node: node)).count()
      }
    }
  }

  @Sendable private static func updates(_ context: ContextUnderTest) throws {
    let venues = venues
    let repository = try context.makeRepository(with: venues)
    let place = place(3)
    let changed = try repository.update(
      Venue.self, where: .contains(\.tags, "new"), set: .set(\.tags, to: ["old"]), .set(\.place, to: place),
      .set(\.maybe, to: nil), .set(\.level, to: .high), .set(\.rank, to: .tenth), .set(\.scores, to: [1]))
    let expected = venues.map { venue in
      guard venue.tags.contains("new") else { return venue }
      var venue = venue
      (venue.tags, venue.place, venue.maybe) = (["old"], place, nil)
      (venue.level, venue.rank, venue.scores) = (.high, .tenth, [1])
      return venue
    }
    try expect(changed, equals: venues.count { $0.tags.contains("new") })
    for (found, venue) in zip(try repository.fetch(Venue.self), expected) {
      try expect(found.id, equals: venue.id)
      try expect(found.tags, equals: venue.tags)
      try expect(
        found.place.city == venue.place.city && found.place.number == venue.place.number, "\(found.place)")
      try expect((found.maybe == nil) == (venue.maybe == nil), "\(venue.id)")
      try expect(found.level == venue.level && found.rank == venue.rank && found.scores == venue.scores)
    }
    let query = repository.filter(Venue.self, where: \.rank == .tenth)
    try expect(query.ids(), equals: expected.filter { $0.rank == .tenth }.map(\.id), "by the index")
  }

  @Sendable private static func rawValues(_ context: ContextUnderTest) throws {
    let venues = venues
    let repository = try context.makeRepository(with: venues)
    let stored = try require(try repository.storage.schema(named: "Venue"))
    try expect(stored.field(named: "level")?.kind, equals: .string)
    try expect(stored.field(named: "rank")?.kind, equals: .int64)
    let query = repository.filter(Venue.self)
    try expect(
      query.filter(where: \.level == .high).ids(), equals: venues.filter { $0.level == .high }.map(\.id))
    try expect(
      query.filter(where: \.rank != .first).ids(), equals: venues.filter { $0.rank != .first }.map(\.id))
    try expect(query.filter(where: \.rank == nil).ids(), equals: venues.filter { $0.rank == nil }.map(\.id))
    try expect(
      query.filter(where: .in(\.level, [.low, .middle])).ids(),
      equals: venues.filter { $0.level != .high }.map(\.id))
    try expect(
      query.filter(where: .in(\.rank, [.tenth, .second])).ids(),
      equals: venues.filter { $0.rank == .tenth || $0.rank == .second }.map(\.id))
    let sorted = venues.sorted {
      ($0.level.rawValue, $0.rank?.rawValue ?? 0, $0.id) < ($1.level.rawValue, $1.rank?.rawValue ?? 0, $1.id)
    }
    try expect(query.sorted(by: \.level).sorted(by: \.rank).ids(), equals: sorted.map(\.id))
  }
}
