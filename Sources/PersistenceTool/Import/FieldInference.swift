import PersistenceDriver
import PersistencePrimitives

/// Finds out what a field is from all of its values.
///
/// The rules, in order:
/// 1. Without any value, it is an optional text.
/// 2. With objects or arrays, at least one in ten, it is a document, which holds anything.
/// 3. Where nine in ten are numbers, or texts that are numbers, it is a number: an integer where all fit 64 bits;
///    else a double where every value is one without losing a digit; else a decimal, on the same condition.
///    What is no number is rejected.
/// 4. Where nine in ten are truth values, it is one; the others are rejected.
/// 5. Where all are UUIDs, or dates, as export writes them, it is one.
/// 6. Otherwise it is text, and numbers, truth values and documents become the text that they are written as.
/// A field that is null or missing in any record is optional.
struct FieldInference {
  private static let sampleLimit = 3

  /// The field's name.
  let name: String
  /// How many values there are of each shape.
  private(set) var counts: [ValueShape: Int] = [:]
  /// The first values of each shape.
  private(set) var samples: [ValueShape: [String]] = [:]
  private var areDoubles = true
  private var areDecimals = true

  init(_ name: String) { self.name = name }

  /// Learns from a value.
  mutating func note(_ value: SourceValue) {
    let shape = ValueShape(value)
    counts[shape, default: 0] += 1
    switch shape {
    case .integer, .largeInteger, .fraction, .numberText:
      // Fifteen digits fit every kind of number: only longer spellings are looked at digit by digit.
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

  /// How many values there are, nulls not counted.
  var valueCount: Int { counts.reduce(0) { $1.key == .null ? $0 : $0 + $1.value } }

  private func count(_ shapes: ValueShape...) -> Int { shapes.reduce(0) { $0 + (counts[$1] ?? 0) } }

  /// What the field is.
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

  /// What was found, in words: the most frequent first, samples of what is rare.
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
  /// The spelling of a number.
  fileprivate var numberText: String? {
    switch self {
    case .json(.number(let text)), .json(.string(let text)), .cell(let text): text
    default: nil
    }
  }

  /// The value as it is shown in reports.
  var sample: String {
    switch self {
    case .json(let value): JSONText.canonical(value)
    case .cell(let text): text
    }
  }
}
