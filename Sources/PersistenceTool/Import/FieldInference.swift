import PersistenceDriver
import PersistencePrimitives

/// Infers the kind of a field from all of its values.
///
/// The first rule that applies decides:
/// 1. A field without values is optional text.
/// 2. If at least one value in ten is an object or an array, the field is a document, which holds any value.
/// 3. If nine in ten are numbers, or text that spells numbers, the field is a number: an integer if 64 bits
///    can store all, else a double if none loses digits, else a decimal if none loses digits. Import rejects the
///    other values.
/// 4. If nine in ten are truth values, the field is a bool. Import rejects the other values.
/// 5. If all are UUIDs, or all are dates, in the form that export writes, the field is of that kind.
/// 6. Otherwise the field is text, and import converts numbers, truth values and documents to their text.
///
/// A field that is null or missing in any record is optional.
struct FieldInference {
  private static let sampleLimit = 3

  let name: String
  /// The number of values of each shape.
  private(set) var counts: [ValueShape: Int] = [:]
  /// The first values of each shape.
  private(set) var samples: [ValueShape: [String]] = [:]
  private var areDoubles = true
  private var areDecimals = true

  init(_ name: String) { self.name = name }

  mutating func note(_ value: SourceValue) {
    let shape = ValueShape(value)
    counts[shape, default: 0] += 1
    switch shape {
    case .integer, .largeInteger, .fraction, .numberText:
      // Every kind of number holds fifteen digits, so only longer texts need an exact comparison.
      if let text = value.numberText,
        text.utf8.count > 15 || text.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }),
        let number = ExactNumber(text)
      {
        if areDoubles, number.double == nil { areDoubles = false }
        if areDecimals, number.decimal == nil { areDecimals = false }
      }
    default: break
    }
    if samples[shape, default: []].count < Self.sampleLimit {
      samples[shape, default: []].append(TerminalText.cut(TerminalText.safe(value.sample), to: 24))
    }
  }

  /// The number of values that are not null.
  var valueCount: Int { counts.reduce(0) { $1.key == .null ? $0 : $0 + $1.value } }

  private func count(_ shapes: ValueShape...) -> Int { shapes.reduce(0) { $0 + (counts[$1] ?? 0) } }

  var kind: FieldKind {
    let all = valueCount
    guard all > 0 else { return .string }
    if count(.document) * 10 >= all { return .document }
    let numbers = count(.integer, .largeInteger, .fraction)
    let numeric = numbers + count(.specialNumber, .numberText)
    if numbers > 0, numeric * 10 >= all * 9 {
      if count(.fraction, .largeInteger, .specialNumber) == 0 { return .int64 }
      if areDoubles { return .double }
      if areDecimals, count(.specialNumber) == 0 { return .decimal }
      return .string
    }
    if count(.bool) * 10 >= all * 9 { return .bool }
    if count(.uuid) == all { return .uuid }
    if count(.date) == all { return .date }
    return .string
  }

  /// A description of the values found: the most frequent shape first, with samples of rare shapes.
  var findings: String {
    let found = counts.filter { $0.key != .null }.sorted {
      ($0.value, $1.key.rawValue) > ($1.value, $0.key.rawValue)
    }
    return found.enumerated().map { index, entry in
      let samples = index > 0 ? " (\((self.samples[entry.key] ?? []).joined(separator: ", ")))" : ""
      return "\(entry.value) \(entry.key.plural)\(samples)"
    }.joined(separator: ", ")
  }
}

extension SourceValue {
  fileprivate var numberText: String? {
    switch self {
    case .json(.number(let text)), .json(.string(let text)), .cell(let text): text
    default: nil
    }
  }

  /// The value for reports.
  var sample: String {
    switch self {
    case .json(let value): JSONText.canonical(value)
    case .cell(let text): text
    }
  }
}
