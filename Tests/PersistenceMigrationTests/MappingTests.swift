import Foundation
import MigrationStores
import PersistenceDriver
import PersistenceMigration
import TestSupport
import Testing
import PersistenceDriverSupport
import PersistencePrimitives

@Suite("Mapping")
struct MappingTests {
  private func schema() throws -> ModelSchema {
    try ModelSchema(
      name: "my.model",
      fields: [
        FieldSchema("id", .int64), FieldSchema("a=b", .string, isOptional: true), FieldSchema("made", .int64),
        FieldSchema("n", .double, isOptional: true), FieldSchema("any", .document, isOptional: true),
      ], key: ["id"], indexes: [IndexSchema(["a=b", "n"]), IndexSchema(["made"], isUnique: true)])
  }

  private func mapper(_ rules: [String], renames: [String] = [], allowsLoss: Bool = false) throws
    -> RecordMapper
  {
    try RecordMapper(.parse(renames: renames, rules: rules), schema(), allowsLoss: allowsLoss)
  }

  private func mapped(_ values: [PersistentValue], by mapper: inout RecordMapper) throws -> [PersistentValue]
  {
    let (source, target) = (RowBuffer(count: values.count), RowBuffer(count: mapper.destination.fields.count))
    source.set(values)
    try source.withRow { try mapper.map($0, into: target) }
    return try target.withRow { row in try (0..<row.count).map { try row.value(at: $0) } }
  }

  @Test("Parses rules, including quoted names")
  func text() throws {
    let mapping = try MigrationMapping.parse(
      renames: ["my.model=New", "\"a=b\"=\"c \"\"d\"\"\""],
      rules: [
        "\"my.model\".\"a=b\"=drop", "M.f=name:a=b.c", "M.f=default:=", "M.f=default:", "M.f=as:int32",
        "M.f=as:date(unix|dd.MM.yyyy HH:mm|iso8601)",
      ])
    #expect(mapping.modelNames == ["my.model": "New", "a=b": "c \"d\""])
    #expect(
      mapping.rules == [
        .init("my.model", "a=b", .drop), .init("M", "f", .rename("a=b.c")), .init("M", "f", .fill("=")),
        .init("M", "f", .fill("")), .init("M", "f", .convert(.int32)),
        .init("M", "f", .convert(.date, dates: [.unix, .pattern("dd.MM.yyyy HH:mm"), .iso8601])),
      ])
    #expect(
      mapping.rules.map { "\($0.action)" } == [
        "drop", "name:a=b.c", "default:=", "default:", "as:int32", "as:date(unix|dd.MM.yyyy HH:mm|iso8601)",
      ])
    #expect(MigrationMapping().isIdentity && !mapping.isIdentity)
    // A delimiter counts even if a combining scalar follows it.
    let marks = try MigrationMapping.parse(
      renames: ["a=\u{301}b"], rules: ["\"\u{301}a\".f=name:\u{301}b", "M.\u{301}f=default:\u{301}x"])
    #expect(marks.modelNames == ["a": "\u{301}b"])
    #expect(
      marks.rules == [
        .init("\u{301}a", "f", .rename("\u{301}b")), .init("M", "\u{301}f", .fill("\u{301}x")),
      ])
  }

  @Test(
    "Refuses invalid rules",
    arguments: [
      "", "M", "M.f", "M=drop", ".f=drop", "M.=drop", "M.f=", "M.f=nope", "M.f=as:nope", "M.f=as:",
      "M.f=name:",
      "M.f=as:date()", "M.f=as:date(dd)", "M.f=as:date(unix|)", "M.f=as:int64(unix)", "\"M.f=drop",
      "M.f=as:date(x",
      "M.f=as:date(yyyy-MM-dd dd)",
    ])
  func noRules(text: String) {
    #expect(code { _ = try MigrationMapping.parse(renames: [], rules: [text]) } == .invalidRequest)
  }

  @Test("Refuses invalid renames", arguments: ["", "a", "=b", "a=", "\"a=b"])
  func noRenames(text: String) {
    #expect(code { _ = try MigrationMapping.parse(renames: [text], rules: []) } == .invalidRequest)
  }

  @Test("Renames a model; drops, renames and fills fields; adjusts indexes")
  func schemas() throws {
    var mapper = try mapper(
      ["\"my.model\".n=default:1.5", "\"my.model\".\"a=b\"=drop", "\"my.model\".made=name:Made at"],
      renames: ["my.model=New"])
    #expect("\(mapper.destination)" == "New(id: int64 key, Made at: int64, n: double, any: document?)")
    #expect(mapper.destination.indexes == [IndexSchema(["Made at"], isUnique: true)])
    #expect(mapper.droppedIndexes == [IndexSchema(["a=b", "n"])])
    #expect(!mapper.mayLose && !mapper.isIdentity)
    #expect(
      try mapped([.integer(1), .text("x"), .integer(2), .null, .null], by: &mapper)
        == [.integer(1), .integer(2), .double(1.5), .null])
  }

  @Test("Refuses rules that contradict each other, the field or the key")
  func contradictions() throws {
    let wrong: [([String], PersistenceError.Code)] = [
      (["nope=drop"], .unknownField), (["id=drop"], .invalidRequest), (["id=as:double"], .invalidSchema),
      (["made=default:1"], .invalidRequest), (["n=default:x"], .invalidRequest),
      (["made=as:date"], .invalidRequest),
      (["n=drop", "n=name:x"], .invalidRequest), (["n=name:x", "n=name:y"], .invalidRequest),
      (["n=as:int64", "n=as:string"], .invalidRequest), (["n=name:made"], .invalidSchema),
    ]
    for (rules, expected) in wrong {
      let texts = rules.map { rule in
        rule.hasPrefix("a=b") ? "\"my.model\".\"" + rule : "\"my.model\"." + rule
      }
      #expect(code { _ = try mapper(texts) } == expected, "\(rules)")
    }
    let schemas = [
      try schema(), try ModelSchema(name: "Two", fields: [FieldSchema("k", .int64)], key: ["k"]),
    ]
    for (renames, rules) in [(["Nope=X"], []), (["my.model=Two"], []), ([], ["Nope.k=drop"])]
      as [([String], [String])]
    {
      #expect(
        code { try MigrationMapping.parse(renames: renames, rules: rules).check(against: schemas) }
          == .invalidRequest)
    }
    try MigrationMapping.parse(renames: ["my.model=Two", "Two=my.model"], rules: []).check(against: schemas)
  }

  @Test("Converts values exactly or not at all")
  func conversions() throws {
    let uuid = UUID()
    let cases: [(PersistentValue, String, PersistentValue?)] = [
      (.integer(5), "double", .double(5)), (.integer(300), "int8", nil), (.integer(-1), "uint8", nil),
      (.integer(.max), "string", .text("9223372036854775807")), (.integer(1), "bool", .bool(true)),
      (.integer(2), "bool", nil), (.integer(7), "decimal", .decimal(7)), (.integer(7), "uuid", nil),
      (.integer(5), "document", .document("5")),
    ]
    for (value, kind, expected) in cases {
      try expect(value, .int64, kind, expected)
    }
    for (text, kind, expected) in [
      ("12", "int64", .integer(12)), ("12.0", "int64", .integer(12)), (" 12", "int64", nil),
      ("", "int64", nil),
      ("9007199254740993", "int64", .integer(9_007_199_254_740_993)), ("0.1", "double", .double(0.1)),
      ("NaN", "double", .double(.nan)), ("-Infinity", "float", .double(-.infinity)), ("1e999", "double", nil),
      ("0.1", "float", .double(Double(Float(0.1)))),
      ("0.10", "decimal", .decimal(Decimal(canonicalText: "0.1") ?? 0)),
      ("true", "bool", .bool(true)), ("yes", "bool", nil), (uuid.uuidString, "uuid", .uuid(uuid)),
      ("x", "uuid", nil),
      ("é", "data", .bytes([0xC3, 0xA9])), ("a b", "document", .document("\"a b\"")),
      ("2020-01-01", "date(iso8601)", .date(599_529_600)),
      ("31.12.2000 23:59", "date(dd.MM.yyyy HH:mm)", .date(-60)),
      ("31.13.2000", "date(dd.MM.yyyy)", nil), ("978307201", "date(iso8601|unix)", .date(1)),
      ("978307200.5", "date(unix)", .date(0.5)), ("1e", "date(unix)", nil),
      ("2020-01-01 x", "date(iso8601)", nil),
      ("2020-01-01T00:00:00.123Z", "date(iso8601)", .date(599_529_600.123)),
      ("2020-01-01T00:00:00.123456789Z", "date(iso8601)", nil),
      ("2000-12-31T23:59:59.123456789012345678", "date(iso8601)", nil),
      ("31.12.2000 23:59:59.75", "date(dd.MM.yyyy HH:mm:ss.SSS)", .date(-0.25)),
      ("31.12.1999 23:59:59.123456789", "date(dd.MM.yyyy HH:mm:ss.SSS)", nil),
      ("@599529600.123456789", "date(iso8601)", nil), ("@-inf", "date(iso8601)", .date(-.infinity)),
    ] as [(String, String, PersistentValue?)] {
      try expect(.text(text), .string, kind, expected)
    }
    for (document, kind, expected) in [
      ("5", "int64", .integer(5)), ("\"5\"", "int64", .integer(5)), ("\"N/A\"", "int64", nil),
      ("\"x\"", "string", .text("x")),
      ("5.0", "string", .text("5.0")), ("{\"$bytes\":\"NQ==\"}", "data", .bytes([0x35])),
      ("{\"$real\":\"Infinity\"}", "double", .double(.infinity)), ("{\"a\":1}", "string", .text("{\"a\":1}")),
      ("{\"a\":1}", "int64", nil), ("0", "date(iso8601|unix)", .date(-978_307_200)),
      ("\"2001-01-01\"", "date(iso8601|unix)", .date(0)), ("9007199254740993", "double", nil),
    ] as [(String, String, PersistentValue?)] {
      try expect(.document(document), .document, kind, expected)
    }
    for (seconds, kind, expected) in [
      (1_577_836_800.123, "date(unix)", 599_529_600.123), (2_451_910.5, "date(julian)", 0),
      (.nan, "date(unix)", .nan),
      (12.5, "date(2001)", 12.5),
    ] as [(Double, String, Double)] {
      guard case .date(let found)? = try converted(.double(seconds), .double, kind) else {
        Issue.record("\(seconds) as \(kind)")
        continue
      }
      #expect(found.isNaN == expected.isNaN && (found.isNaN || abs(found - expected) < 1e-6))
    }
    try expect(.integer(1_577_836_800_001), .int64, "date(unix-ms)", .date(599_529_600.001))
    try expect(.bytes([0xFF]), .data, "string", nil)
    try expect(.date(0), .date, "string", .text("2001-01-01T00:00:00Z"))
    try expect(.decimal(Decimal(canonicalText: "1.5") ?? 0), .decimal, "double", .double(1.5))
  }

  @Test("Converts dates to text and back exactly; counts nine fractional digits as a loss")
  func moments() throws {
    var random = SystemRandomNumberGenerator()
    for power in -20..<46 {
      for _ in 0..<20 {
        let seconds = Double.random(in: -1...1, using: &random) * pow(2, Double(power))
        try expect(.text(DateText.text(seconds)), .string, "date(iso8601)", .date(seconds))
      }
    }
    let schema = try ModelSchema(
      name: "M", fields: [FieldSchema("k", .int64), FieldSchema("at", .string)], key: ["k"])
    let source = MemoryContext()
    for number in 1...9 {
      let fraction = String(repeating: "7", count: number)
      try SampleStores.save(
        [.integer(Int64(number)), .text("2020-01-01T00:00:00.\(fraction)Z")], schema, in: source)
    }
    var options = MigrationOptions(mapping: try .parse(renames: [], rules: ["M.at=as:date(iso8601)"]))
    let destination = MemoryContext()
    #expect(
      code { _ = try Migration(from: source, to: destination, options: options).run() } == .lossyMigration)
    #expect(try destination.catalog().isEmpty)
    let plan = try Migration(from: source, to: destination, options: options).plan()
    #expect(plan.losses.map(\.cause) == [.precision] && plan.losses.map(\.count) == [2])
    options.allowLossy = true
    #expect(try Migration(from: source, to: destination, options: options).run().counts.written == 9)
  }

  @Test("A full verification compares each record even if keys are converted", arguments: [true, false])
  func convertedKeys(isChanged: Bool) throws {
    let schema = try ModelSchema(
      name: "M", fields: [FieldSchema("k", .int64), FieldSchema("n", .double)], key: ["k"])
    let (source, destination) = (MemoryContext(), MemoryContext())
    for number in 0..<50 {
      try SampleStores.save([.integer(Int64(number * 7 % 50)), .double(Double(number))], schema, in: source)
    }
    let options = MigrationOptions(
      verification: .full, mapping: try .parse(renames: [], rules: ["M.k=as:string"]))
    var seen: Set<StoreProgress.Phase> = []
    func run() throws -> MigrationReport {
      try Migration(from: source, to: destination, options: options).run { progress in
        // Only the comparison of records detects a change after the digest check.
        if progress.phase == .verifying, progress.done == 50, isChanged, !seen.contains(.verifying) {
          let copied = try #require(try destination.catalog().first { $0.name == "M" })
          try SampleStores.save([.text("21"), .double(-1)], copied, in: destination)
        }
        seen.insert(progress.phase)
      }
    }
    if isChanged {
      let error = #expect(throws: PersistenceError.self) { try run() }
      #expect(error?.code == .verificationFailed && "\(error.map { "\($0)" } ?? "")".contains("21"))
    } else {
      let report = try run()
      let model = try #require(report.comparison?.models.first)
      #expect(model.isComparedByKey && model.unchanged == 50 && model.left == model.right)
      #expect(report.comparison?.isEqual == true)
    }
    #expect(seen.contains(.comparing))
  }

  @Test(
    "A full verification allows converted keys to collide if one record is rejected"
  )
  func namesakes() throws {
    let schema = try ModelSchema(
      name: "M", fields: [FieldSchema("k", .string), FieldSchema("n", .double)], key: ["k"])
    let source = MemoryContext()
    for (key, number) in [("1", 1), ("01", 2), ("2", 3), ("x", 4)] as [(String, Double)] {
      try SampleStores.save([.text(key), .double(number)], schema, in: source)
    }
    let options = MigrationOptions(
      failures: .reject, verification: .full, mapping: try .parse(renames: [], rules: ["M.k=as:int64"]))
    let report = try Migration(from: source, to: MemoryContext(), options: options).run()
    #expect(report.counts == MigrationCounts(read: 4, written: 2, rejected: 2))
    let model = try #require(report.comparison?.models.first)
    #expect(model.unchanged == 2 && model.changed == 1 && model.onlyRight == 0)
  }

  private func converted(_ value: PersistentValue, _ kind: FieldKind, _ target: String) throws
    -> PersistentValue?
  {
    let schema = try ModelSchema(
      name: "M", fields: [FieldSchema("k", .int64), FieldSchema("f", kind)], key: ["k"])
    var mapper = try RecordMapper(.parse(renames: [], rules: ["M.f=as:\(target)"]), schema)
    do {
      return try mapped([.integer(1), value], by: &mapper)[1]
    } catch let error as PersistenceError {
      #expect([.encodingFailed, .lossyMigration].contains(error.code) && error.field == "f")
      #expect(error.key == RecordKey([.integer(1)]))
      return nil
    }
  }

  private func expect(
    _ value: PersistentValue, _ kind: FieldKind, _ target: String, _ expected: PersistentValue?
  ) throws {
    let found = try converted(value, kind, target)
    #expect(found == expected, "\(value) as \(target)")
  }

  @Test("Refuses a loss of digits unless allowed, and then counts it by field")
  func losses() throws {
    let rule = ["\"my.model\".n=as:int64"]
    var strict = try mapper(rule)
    #expect(strict.mayLose)
    let row: [PersistentValue] = [.integer(1), .null, .integer(0), .double(-2.75), .null]
    #expect(code { _ = try mapped(row, by: &strict) } == .lossyMigration)
    var lenient = try mapper(rule, allowsLoss: true)
    #expect(try mapped(row, by: &lenient)[3] == .integer(-2))
    #expect(lenient.losses == [3: 1])
    #expect(
      code { _ = try mapped([.integer(1), .null, .integer(0), .double(.nan), .null], by: &lenient) }
        == .encodingFailed)
  }

  @Test("A plan counts all losses with examples, and continues after unreadable records")
  func plans() throws {
    let schema = try schema()
    let source = MemoryContext()
    try source.transaction { transaction in
      try transaction.define(schema)
      let row = RowBuffer(count: schema.fields.count)
      for number in 1...1000 {
        let any: PersistentValue = number == 999 ? .document("\"N/A\"") : .document("\(number)")
        row.set([
          .integer(Int64(number)), .null, .integer(Int64(number)),
          .double(number.isMultiple(of: 100) ? 0.5 : 2), any,
        ])
        try row.withRow { try transaction.insert($0, in: schema) }
      }
    }
    let mapping = try MigrationMapping.parse(
      renames: ["my.model=New"], rules: ["\"my.model\".n=as:int64", "\"my.model\".any=as:int64"])
    let migration = Migration(
      from: source, to: MemoryContext(), options: MigrationOptions(mapping: mapping))
    var seen = 0
    let plan = try migration.plan { seen = max(seen, $0.done) }
    #expect(seen == 1000)
    let model = try #require(plan.models.first)
    #expect(
      model.destinationName == "New" && model.records == 1000 && model.bytes >= 24_000 && model.present == 0)
    #expect(model.fields.map(\.destinationKind) == ["int64", "string?", "int64", "int64?", "int64?"])
    #expect(model.fields[3].rules == ["as:int64"])
    #expect(model.losses.map(\.cause) == [.precision, .noCounterpart])
    #expect(model.losses.map(\.count) == [10, 1])
    #expect(model.losses[0].examples.first?.key == RecordKey([.integer(100)]))
    #expect(model.losses[1].examples.first?.key == RecordKey([.integer(999)]))
    #expect(plan.isLossy)
    #expect(code { try plan.requireAllowedLosses(by: MigrationOptions()) } == .lossyMigration)
    try plan.requireAllowedLosses(by: MigrationOptions(allowLossy: true))
    let decoded = try JSONDecoder().decode(MigrationPlan.self, from: JSONEncoder().encode(plan))
    #expect(decoded == plan)
  }

  @Test("A plan checks keys, values and dates against the destination's capabilities")
  func limits() throws {
    let schema = try ModelSchema(
      name: "M",
      fields: [
        FieldSchema("k", .string), FieldSchema("v", .data, isOptional: true), FieldSchema("d", .date),
      ], key: ["k"])
    let source = MemoryContext()
    try source.transaction { transaction in
      try transaction.define(schema)
      let row = RowBuffer(count: 3)
      for (key, size, date) in [
        ("a", 5, 0.5), ("long key", 50, 0.000_000_1), ("n", 0, Double.nan), ("b", 1, 1e9),
      ] {
        row.set([.text(key), .bytes(Array(repeating: 1, count: size)), .date(date)])
        try row.withRow { try transaction.insert($0, in: schema) }
      }
    }
    let plan = try Migration(from: source, to: NarrowContext(MemoryContext())).plan()
    let found = plan.losses.map { "\($0.field ?? "-") \($0.cause.rawValue) \($0.count)" }
    #expect(found.sorted() == ["d noCounterpart 1", "d precision 1", "k keyTooLong 1", "v valueTooLarge 1"])
  }
}

/// A context with small limits.
private final class NarrowContext: StorageContextWrapper {
  let wrapped: any StorageContext

  init(_ wrapped: MemoryContext) { self.wrapped = wrapped }

  var capabilities: Capabilities {
    var capabilities = wrapped.capabilities
    (capabilities.largestKey, capabilities.largestValue) = (5, 10)
    capabilities.datePrecision = .microseconds
    return capabilities
  }
}
