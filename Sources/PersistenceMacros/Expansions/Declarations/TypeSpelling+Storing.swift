import SwiftSyntax

extension TypeSpelling {
  /// Why values of a type cannot be stored.
  enum Refusal {
    /// An unsigned type whose values do not fit in 64 signed bits, with the signed type of the same width.
    case unsigned(String, signed: String)
    /// A nested optional, for which a stored nil would be ambiguous.
    case nestedOptional
    /// Any other reason.
    case other(String)
  }

  /// Why values of the type cannot be stored, as far as its source shows; nil if nothing rules it out.
  var refusal: Refusal? {
    if core.is(FunctionTypeSyntax.self) { return .other("a function is not Codable; use a Codable type") }
    if core.is(TupleTypeSyntax.self) {
      return .other("a tuple is not Codable; declare a Codable struct with these members")
    }
    if let constrained = core.as(SomeOrAnyTypeSyntax.self) {
      return .other("'\(constrained.trimmed)' does not say which type to read back; use a concrete type")
    }
    if core.is(MetatypeTypeSyntax.self) { return .other("a metatype is not Codable; use a Codable type") }
    if core.is(CompositionTypeSyntax.self) || core.is(SuppressedTypeSyntax.self) {
      return .other("'\(text)' does not say which type to read back; use a concrete type")
    }
    if core.is(InlineArrayTypeSyntax.self) { return .other("an inline array is not Codable; use an array") }
    if let refusal = name.flatMap(Self.refusal(ofTypeNamed:)) { return refusal }
    return optionalDepth > 1 ? .nestedOptional : nil
  }

  /// Why a type cannot be a primary key (contract O1); nil if its source does not rule it out.
  var keyRefusal: String? {
    if isDocument || core.is(ArrayTypeSyntax.self) || name.map(Self.keylessNames.contains) == true {
      return
        "a primary key is an Int, Int64, String, UUID or a raw-representable wrapper of one, not '\(text)'"
    }
    return nil
  }

  /// Whether the source shows that the type is no reference.
  var isNoReference: Bool {
    if referenceTarget != nil { return false }
    if !core.is(IdentifierTypeSyntax.self), !core.is(MemberTypeSyntax.self) { return true }
    return isDocument || name.map { Self.keylessNames.contains($0) || Self.keyNames.contains($0) } == true
  }

  private static let keyNames: Set = ["Int", "Int64", "String", "UUID"]

  /// The integer type for a fix-it that widens a narrow key.
  var keyReplacement: String? {
    guard let name, name.hasPrefix("Int") || name.hasPrefix("UInt") else { return nil }
    return "Int"
  }

  private static func refusal(ofTypeNamed name: String) -> Refusal? {
    switch name {
    case "UInt": return .unsigned(name, signed: "Int")
    case "UInt64": return .unsigned(name, signed: "Int64")
    case "Int128", "UInt128": return .other("values of \(name) do not fit in 64 bits; use Int64 or Decimal")
    case "Any", "AnyObject", "AnyHashable", "AnyClass":
      return .other("'\(name)' does not say which type to read back; use a concrete type")
    case "Void", "Never": return .other("'\(name)' has no values to store; use another type")
    case "Substring", "Unicode.Scalar", "StaticString":
      return .other("'\(name)' is not Codable; use String")
    case "Character":
      return .other(
        "Swift's Character is not Codable; use String, or write a type of your own with its module's name")
    case "Float80": return .other("values of Float80 do not fit in a Double; use Double or Decimal")
    case "AnyKeyPath", "PartialKeyPath", "KeyPath", "WritableKeyPath", "ReferenceWritableKeyPath":
      return .other("a key path is not Codable; use a Codable type")
    default: return nil
    }
  }

  private static let keylessNames: Set = [
    "Bool", "Int8", "Int16", "Int32", "UInt8", "UInt16", "UInt32", "Float", "Double", "Float16", "CGFloat",
    "Data", "Date", "URL", "Decimal", "Array", "Dictionary", "Set",
  ]
}
