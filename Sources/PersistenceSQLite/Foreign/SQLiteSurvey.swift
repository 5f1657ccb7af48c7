import CSQLite
import PersistenceDriver
import PersistenceSQL

/// Counts of the kinds of values in one column: SQLite stores values of any kind in a column of any type.
struct SQLiteSurvey {
  private(set) var nulls = 0
  private(set) var integers = 0
  private(set) var reals = 0
  private(set) var texts = 0
  private(set) var blobs = 0
  /// Texts that are not valid UTF-8.
  private(set) var malformed = 0
  /// Integers that a double cannot represent.
  private var inexact = 0
  private var bools = 0
  private var sixteens = 0

  mutating func count(_ value: SQLiteValue) {
    switch value.type {
    case SQLITE_INTEGER:
      integers += 1
      let number = value.integer
      if number == 0 || number == 1 { bools += 1 }
      if Int64(exactly: Double(number)) != number { inexact += 1 }
    case SQLITE_FLOAT: reals += 1
    case SQLITE_TEXT:
      texts += 1
      if !UTF8Text.isValid(value.text) { malformed += 1 }
    case SQLITE_BLOB:
      blobs += 1
      if value.blob.count == 16 { sixteens += 1 }
    default: nulls += 1
    }
  }

  private var values: Int { integers + reals + texts + blobs }

  /// The kind that represents all values: the declared one if possible, a document for values of several kinds.
  func kind(declared: FieldKind?) -> FieldKind {
    guard values > 0 else { return declared ?? .string }
    if let declared, represents(declared) { return declared }
    if integers == values { return .int64 }
    if integers + reals == values, inexact == 0 { return .double }
    if texts == values { return .string }
    return blobs == values ? .data : .document
  }

  /// Whether the values are of several kinds, so that only documents can represent them all.
  func isMixed(declared: FieldKind?) -> Bool {
    kind(declared: declared) == .document && !(declared == .document && texts == values)
  }

  /// The kind of a primary key's column; nil if no model's key can have its values.
  func keyKind(declared: FieldKind?) -> FieldKind? {
    guard nulls == 0, malformed == 0 else { return nil }
    let kind = kind(declared: declared)
    if kind == .data, sixteens == values { return .uuid }
    return kind.isKey ? kind : nil
  }

  private func represents(_ kind: FieldKind) -> Bool {
    switch kind {
    case .bool: bools == values
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32: integers == values
    case .float, .double, .date: integers + reals == values && inexact == 0
    case .string, .url, .decimal, .document: texts == values
    case .data: blobs == values
    case .uuid: sixteens == values
    }
  }

  /// The counts as text, such as `12 integers, 1 text`.
  var findings: String {
    let counts = [(integers, "integer"), (reals, "real number"), (texts, "text"), (blobs, "blob")]
    return counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }.joined(separator: ", ")
  }
}

extension SQLiteConnection {
  /// Reads columns of a table or view completely.
  func survey(_ columns: [String], of table: String) throws -> [SQLiteSurvey] {
    var surveys = columns.map { _ in SQLiteSurvey() }
    guard !columns.isEmpty else { return [] }
    let dialect = SQLiteDialect()
    let list = columns.map(dialect.identifier).joined(separator: ", ")
    try withText("SELECT \(list) FROM \(dialect.table(table))", [], "read \(table)") { statement in
      while try statement.step() {
        for index in surveys.indices { surveys[index].count(SQLiteValue(statement.handle, column: index)) }
      }
    }
    return surveys
  }
}

extension SQLiteSurvey {
  /// Descriptions of the columns that have values of several kinds, or malformed text.
  static func findings(_ columns: [SQLiteForeignColumn]) -> [String: String] {
    var findings: [String: String] = [:]
    for column in columns {
      guard let survey = column.survey else { continue }
      if survey.isMixed(declared: column.declaredKind) {
        findings[column.name] =
          "it holds \(survey.findings), so its field is a document, in which different values stay different"
      }
      guard survey.malformed > 0 else { continue }
      let texts = survey.malformed == 1 ? "1 text is" : "\(survey.malformed) texts are"
      let others = findings[column.name].map { $0 + "; " } ?? ""
      findings[column.name] = others + "\(texts) not valid UTF-8, and cannot be read"
    }
    return findings
  }
}
