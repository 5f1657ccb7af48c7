import PersistenceDriver
import PersistenceSQL

/// A column of another program's table that is a field of its model.
struct PostgresForeignColumn: Sendable {
  let name: String
  /// The type as it was declared, for messages.
  let declared: String
  let type: PostgresForeignType
  let sql: SQLColumn

  init(_ column: PostgresForeignRelation.Column, _ type: PostgresForeignType, isOptional: Bool) {
    name = column.name
    declared = column.declared
    self.type = type
    sql = SQLColumn(
      column.name, type.kind, isOptional: isOptional, comparison: type.comparison,
      conversion: type.conversion,
      isVarying: column.isBuiltIn && column.type == "varchar")
  }

  /// The distance of the moments that the column stores, in microseconds; nil for other kinds.
  var step: Int64? { if case .moments(let step) = type.limit { step } else { nil } }

  /// The error for a stored value that the kind does not represent.
  var unreadable: PersistenceError {
    let reason =
      switch type.kind {
      case .decimal: "a number that is infinite, or has too many digits for a Decimal"
      case .date: "a moment that no Date represents exactly"
      default: "a value that is no \(type.kind.rawValue)"
      }
    return error(
      .damaged,
      "the column “\(name)” of type \(declared) holds \(reason); change the value, leave the property out, or read a view "
        + "that casts the column to text")
  }

  /// The error for NULL in a column that the catalog declares NOT NULL.
  var unexpectedNull: PersistenceError {
    error(
      .damaged, "the required column “\(name)” of type \(declared) holds NULL; declare it NOT NULL, or set it"
    )
  }

  private func error(_ code: PersistenceError.Code, _ message: String) -> PersistenceError {
    PersistenceError(code, message, field: name)
  }

  /// The error for a value that the column would refuse or change.
  private func refusal(_ reason: String, _ code: PersistenceError.Code = .invalidRequest) -> PersistenceError
  {
    error(code, "the column “\(name)” of type \(declared) cannot store \(reason); write a value of its type")
  }
}

extension PostgresForeignColumn {
  /// Throws if the server would refuse a value with an error that does not name the column, or would change it.
  func requireStorable(_ cell: RowCell) throws {
    guard !cell.isNull else { return }
    if cell.tag == .text, cell.borrowedBytes.contains(0) { throw refusal("text with U+0000") }
    switch type.limit {
    case .none: break
    case .integers(let range):
      guard range.contains(cell.integerValue) else { throw refusal("\(cell.integerValue)") }
    case .float:
      guard FieldKind.float.canRepresent(cell.doubleValue) else {
        throw refusal("\(cell.doubleValue) exactly")
      }
    case .characters(let length, let isPadded): try requireLength(cell.borrowedBytes, length, isPadded)
    case .digits(let digits, let scale):
      try requireDigits(String(decoding: cell.borrowedText, as: UTF8.self), digits, scale)
    case .moments(let step):
      guard let moment = PostgresMoment.nearest(to: cell.doubleValue) else {
        throw refusal(cell.doubleValue.isNaN ? "a date that is no number" : "a date of such an age")
      }
      guard moment == .min || moment == .max || moment % step == 0 else {
        throw refusal(
          step == PostgresMoment.microsecondsOfDay
            ? "a date that is not at 00:00 UTC" : "a date with so many digits behind the second")
      }
    }
  }

  private func requireLength(_ text: UnsafeRawBufferPointer, _ length: Int?, _ isPadded: Bool) throws {
    if isPadded, text.last == UInt8(ascii: " ") { throw refusal("text with blanks at its end") }
    guard let length, text.count > length else { return }
    // A scalar begins with a byte that continues none.
    let scalars = text.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
    guard scalars <= length else { throw refusal("text of \(scalars) scalars", .valueTooLarge) }
  }

  private func requireDigits(_ text: String, _ digits: Int, _ scale: Int) throws {
    guard text != "NaN" else { return }
    let parts = text.drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
    let whole = parts[0].drop { $0 == "0" }
    let fraction = parts.count > 1 ? parts[1].count : 0
    guard fraction <= max(scale, 0) else { throw refusal("\(text), which it would round") }
    guard whole.count <= digits - scale else { throw refusal(text, .valueTooLarge) }
    if scale < 0, whole.suffix(-scale).contains(where: { $0 != "0" }) {
      throw refusal("\(text), which it would round")
    }
  }
}
