import Foundation
import PersistenceCore

/// A JSON value, evaluated with Foundation's `Decimal` numbers (contract V8).
///
/// It shares no code with the evaluator of contexts. The generator makes only numbers that `Decimal` holds exactly.
indirect enum FuzzDocument {
  case null
  case truth(Bool)
  case number(Decimal)
  case text(String)
  case array([FuzzDocument])
  case object([(name: String, value: FuzzDocument)])

  /// Reads canonical JSON; nil if it is malformed.
  init?(_ text: String) {
    var reader = FuzzDocumentReader(scalars: Array(text.unicodeScalars))
    guard let value = reader.value(), reader.isAtEnd else { return nil }
    self = value
  }

  /// The part of a stored value at a path; null if it is missing.
  static func part(of value: PersistentValue, at path: [String]) -> FuzzDocument {
    guard case .document(let text) = value, var part = FuzzDocument(text) else { return .null }
    for name in path {
      guard case .object(let members) = part,
        let member = members.first(where: { FuzzValue.isSameName($0.name, name) })
      else { return .null }
      part = member.value
    }
    return part
  }
}
