import SwiftSyntax

extension TypeSpelling {
  /// Why values of a type cannot be stored.
  enum Refusal {
    /// An unsigned type that does not fit; with the signed type of the same width.
    case unsigned(String, signed: String)
    /// One optional inside another, of which a stored nil could be either.
    case nestedOptional
    /// Anything else, in words.
    case other(String)
  }

  /// Why values of the type cannot be stored, as far as its spelling tells; nil where nothing speaks against it.
  var refusal: Refusal? {
    if core.is(FunctionTypeSyntax.self) { return .other("a function is no data") }
    if core.is(TupleTypeSyntax.self) {
      return .other("a tuple is not Codable; declare a Codable struct with these members")
    }
    if let constrained = core.as(SomeOrAnyTypeSyntax.self) {
      return .other("'\(constrained.trimmed)' does not say which type to read back; use a concrete type")
    }
    if core.is(MetatypeTypeSyntax.self) { return .other("a type is no data") }
    if core.is(CompositionTypeSyntax.self) || core.is(SuppressedTypeSyntax.self) {
      return .other("'\(text)' does not say which type to read back; use a concrete type")
    }
    if core.is(InlineArrayTypeSyntax.self) { return .other("an inline array is not Codable; use an array") }
    if let refusal = name.flatMap(Self.refusal(ofTypeNamed:)) { return refusal }
    return optionalDepth > 1 ? .nestedOptional : nil
  }

  /// Why a type cannot be a primary key (contract O1); nil where its spelling does not speak against it.
  var keyRefusal: String? {
    if isDocument || core.is(ArrayTypeSyntax.self) || name.map(Self.keylessNames.contains) == true {
      return
        "a primary key is an Int, Int64, String, UUID or a raw-representable wrapper of one, not '\(text)'"
    }
    return nil
  }

  /// Integers that would hold the values of a narrow one: what a fix-it suggests for a key.
  var keyReplacement: String? {
    guard let name, name.hasPrefix("Int") || name.hasPrefix("UInt") else { return nil }
    return "Int"
  }

  private static func refusal(ofTypeNamed name: String) -> Refusal? {
    switch name {
    case "UInt": return .unsigned(name, signed: "Int")
    case "UInt64": return .unsigned(name, signed: "Int64")
    case "Int128", "UInt128": return .other("an \(name) does not fit in 64 bits")
    case "Any", "AnyObject", "AnyHashable", "AnyClass":
      return .other("'\(name)' does not say which type to read back; use a concrete type")
    case "Void", "Never": return .other("'\(name)' has no values to store")
    case "Substring", "Unicode.Scalar", "StaticString":
      return .other("'\(name)' is not Codable; use String")
    case "Character":
      return .other(
        "Swift's Character is not Codable; use String, or write a type of your own with its module's name")
    case "Float80": return .other("a Float80 does not fit in a Double; use Double or Decimal")
    case "AnyKeyPath", "PartialKeyPath", "KeyPath", "WritableKeyPath", "ReferenceWritableKeyPath":
      return .other("a key path is no data")
    default: return nil
    }
  }

  private static let keylessNames: Set = [
    "Bool", "Int8", "Int16", "Int32", "UInt8", "UInt16", "UInt32", "Float", "Double", "Float16", "CGFloat",
    "Data", "Date", "URL", "Decimal", "Array", "Dictionary", "Set",
  ]
}
