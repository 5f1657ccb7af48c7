import Foundation
import PersistenceCore

/// V2 V3: difficult Unicode text in every position.
enum PlaneChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "text of all 17 planes and every normal form works as key, indexed value, unique value and document",
      [.v2, .v3], everywhere),
    ConformanceCheck(
      "canonically equivalent texts with different bytes are different values everywhere",
      [.v3, .v6], equivalents),
    ConformanceCheck(
      "empty text, empty bytes, an empty list and nil are different in indexes, unique indexes and orders",
      [.v2, .o3, .w4], fourThings),
  ]

  /// Texts that are equal by `==` but different in stores; each list has forms of one text.
  private static let forms: [[String]] = [
    ["\u{E9}", "e\u{301}"], ["\u{212B}", "\u{C5}", "A\u{30A}"], ["\u{AC00}", "\u{1100}\u{1161}"],
    ["q\u{307}\u{323}", "q\u{323}\u{307}"], ["\u{2126}", "\u{3A9}"], ["\u{1E69}", "s\u{323}\u{307}"],
    ["\u{FA19}", "\u{795E}"], ["\u{1D15E}", "\u{1D157}\u{1D165}"], ["\u{37E}", ";"],
  ]

  private static let texts: [String] = {
    var values: [UInt32] = []
    for plane in UInt32(0)...16 {
      values += [0x0, 0x1, 0xE000, 0xFDD0, 0xFFFE, 0xFFFF].map { plane << 16 | $0 }
    }
    values += [0xD7FF, 0xF8FF, 0xFEFF, 0x0D, 0x0A, 0x85, 0x2028, 0x7F, 0x80, 0xAD, 0x200D, 0x202E]
    let single = values.compactMap(Unicode.Scalar.init).map { String(String.UnicodeScalarView([$0])) }
    let marks = ["\u{301}", "\u{345}", "\u{20DD}", "\u{308}\u{301}", "\u{FE0F}", "\u{1F3FD}"]
    let zeros = ["\0a", "a\0b", "a\0", "a\0\0", "\0\0a"]
    let lines = [
      "\r\n", "a\r\nb", "\r\n\n", "\u{FEFF}\u{FEFF}", "x\u{FEFF}", "\u{FB01}", "fi", "\u{1F1E9}\u{1F1EA}",
    ]
    return single + marks + zeros + lines + forms.flatMap(\.self)
  }()

  @Sendable private static func everywhere(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    try repository.insert(contentsOf: texts.map { Keyed($0, "label \($0)") })
    try repository.insert(contentsOf: texts.enumerated().map { UniqueValue($0, $1) })
    try repository.insert(contentsOf: texts.enumerated().map { Document($0, [$1: [$1, nil]]) })
    try store.reopen(&repository)
    let (keyed, values) = (repository.filter(Keyed<String>.self), repository.filter(UniqueValue<String>.self))
    let sorted = texts.sorted { String.oracle($0, $1) < 0 }
    try expect(repository.fetch(Keyed<String>.self).map(\.id.exactText), equals: sorted.map(\.exactText))
    try expect(
      values.sorted(by: \.value).result().map { $0.value.exactText },
      equals: sorted.map { Optional($0).exactText })
    let documents = try Array(repository.fetch(Document<[String: [String?]]>.self))
    for (number, text) in texts.enumerated() {
      let what = "the text \(text.exactText)"
      let found = try require(repository.find(Keyed<String>.self, id: text), what)
      try expect(found.label.exactText, equals: "label \(text)".exactText, what)
      try expect(values.filter(where: \.value == text).ids(), equals: [number], what)
      let member = try require(documents[number].value.first, what)
      try expect(member.key.exactText, equals: text.exactText, what)
      try expect(member.value.map(\.exactText), equals: [Optional(text).exactText, "nil"], what)
      // The unique index has covered each text; a plain index needs only some.
      guard number.isMultiple(of: 4) else { continue }
      let labelled: PersistentPredicate<Keyed<String>> = \.label == "label \(text)"
      try expect(keyed.filter(where: labelled).result().map(\.id.exactText), equals: [text.exactText], what)
    }
  }

  @Sendable private static func equivalents(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let (keyed, values) = (repository.filter(Keyed<String>.self), repository.filter(UniqueValue<String>.self))
    for forms in forms {
      try repository.deleteAll(Keyed<String>.self)
      try repository.deleteAll(UniqueValue<String>.self)
      try repository.deleteAll(Document<[String]>.self)
      for (number, form) in forms.enumerated() {
        try repository.insert(Keyed(form, "number \(number)"))
        try repository.insert(UniqueValue(number, form, group: form, member: ""))
        try repository.insert(Document(number, [form]))
      }
      for (number, form) in forms.enumerated() {
        let what = "\(form.exactText) among its equivalents"
        try expect(repository.find(Keyed<String>.self, id: form)?.label, equals: "number \(number)", what)
        let conditions: [PersistentPredicate<UniqueValue<String>>] = [
          \.value == form, .in(\.value, [form]), .between(\.value, form...form), .contains(\.value, form),
          .hasPrefix(\.value, form), .hasSuffix(\.value, form), .like(\.value, form),
          \.group == form && \.value == \.group, !(\.value != form), \.value <= form && \.value >= form,
        ]
        for condition in conditions {
          try expect(values.filter(where: condition).ids(), equals: [number], "\(what): \(condition)")
        }
        try expect(
          repository.filter(Document<[String]>.self, where: \.value == [form]).ids(), equals: [number], what)
        try expectError(.uniqueViolation, what) { try repository.insert(UniqueValue(9, form)) }
        try repository.update(Keyed(form, "changed"))
        try expect(keyed.filter(where: \.label == "changed").count(), equals: 1, what)
        try repository.update(Keyed(form, "number \(number)"))
      }
      for form in forms {
        try expect(repository.delete(Keyed<String>.self, id: form), "delete \(form.exactText)")
      }
    }
  }

  @Sendable private static func fourThings(_ context: ContextUnderTest) throws {
    func check<Value: OracleValue & ExactText>(_ empty: Value, _ least: Value) throws {
      typealias Model = UniqueValue<Value>
      let repository = try context.makeStore().open()
      try repository.insert(contentsOf: [
        Model(4, least, group: "", member: least), Model(3, empty, group: "", member: empty),
        Model(2, nil, group: "", member: nil), Model(1, nil, group: nil, member: empty),
      ])
      let query = repository.filter(Model.self)
      let none: Value? = nil
      try expect(query.sorted(by: \.value).ids(), equals: [1, 2, 3, 4], "\(Value.self)")
      try expect(
        query.sorted(by: \.value, inOrder: .descending).ids(), equals: [4, 3, 2, 1], "\(Value.self)")
      try expect(query.filter(where: \.value == empty).ids(), equals: [3], "\(Value.self)")
      try expect(query.filter(where: \.value == none).ids(), equals: [1, 2], "\(Value.self)")
      try expect(query.filter(where: \.value >= empty).ids(), equals: [3, 4], "\(Value.self)")
      try expect(query.filter(where: \.value < least).ids(), equals: [3], "\(Value.self)")
      try expect(query.filter(where: \.group == "").ids(), equals: [2, 3, 4], "\(Value.self)")
      try expectError(.uniqueViolation, "\(Value.self)") { try repository.insert(Model(5, empty)) }
      try expectError(.uniqueViolation, "\(Value.self)") {
        try repository.insert(Model(5, group: "", member: empty))
      }
      try repository.insert(Model(5, group: nil, member: empty))
      try expect(repository.find(Model.self, id: 5)?.member.exactText, equals: Optional(empty).exactText)
    }
    try check("", "\0")
    try check(Data(), Data([0]))
  }
}
