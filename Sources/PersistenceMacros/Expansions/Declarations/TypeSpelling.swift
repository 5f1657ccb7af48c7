import SwiftSyntax

/// A type as source code writes it.
///
/// A macro has no type checker, so it reads the facts from the source.
struct TypeSpelling {
  /// The type without optionals, parentheses and attributes.
  let core: TypeSyntax

  /// The number of optionals around it.
  let optionalDepth: Int

  init(_ type: TypeSyntax) {
    var core = type
    var depth = 0
    while let (inner, isOptional) = Self.unwrapped(core) {
      core = inner
      depth += isOptional ? 1 : 0
    }
    self.core = core.trimmed
    optionalDepth = depth
  }

  /// The type's name, without generic arguments and without Swift's own module prefix.
  ///
  /// A type of another module, or nested in another type, keeps its prefix. An app can distinguish its own
  /// `Character` from Swift's by a module prefix.
  var name: String? {
    if let identifier = core.as(IdentifierTypeSyntax.self) { return identifier.name.text }
    guard let member = core.as(MemberTypeSyntax.self) else { return nil }
    let base = member.baseType.trimmedDescription
    return ["Swift", "Foundation"].contains(base) ? member.name.text : "\(base).\(member.name.text)"
  }

  /// The type without the optionals around it, as source code writes it.
  var text: String { core.trimmedDescription }

  /// The target of a reference, as source code writes it; nil for any other type.
  var referenceTarget: TypeSyntax? {
    let base = core.as(IdentifierTypeSyntax.self)?.name.text ?? core.as(MemberTypeSyntax.self)?.name.text
    return base == "Reference" ? Self.arguments(of: core).first : nil
  }

  /// Whether the source shows that the type is stored as a document, which has no order (contract V4a).
  var isDocument: Bool {
    if core.is(DictionaryTypeSyntax.self) { return true }
    if let array = core.as(ArrayTypeSyntax.self) { return TypeSpelling(array.element).name != "UInt8" }
    switch name {
    case "Dictionary", "Set": return true
    case "Array": return Self.arguments(of: core).first.map { TypeSpelling($0).name != "UInt8" } ?? false
    default: return false
    }
  }

  /// The generic arguments of a type's name.
  private static func arguments(of type: TypeSyntax) -> [TypeSyntax] {
    let clause =
      type.as(IdentifierTypeSyntax.self)?.genericArgumentClause
      ?? type.as(MemberTypeSyntax.self)?.genericArgumentClause
    return clause?.arguments.compactMap {
      if case .type(let type) = $0.argument { return type }
      return nil
    } ?? []
  }

  private static func unwrapped(_ type: TypeSyntax) -> (TypeSyntax, isOptional: Bool)? {
    if let optional = type.as(OptionalTypeSyntax.self) { return (optional.wrappedType, true) }
    if let optional = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
      return (optional.wrappedType, true)
    }
    if let attributed = type.as(AttributedTypeSyntax.self) { return (attributed.baseType, false) }
    if let tuple = type.as(TupleTypeSyntax.self), tuple.elements.count == 1,
      let element = tuple.elements.first, element.firstName == nil
    {
      return (element.type, false)
    }
    let isOptional =
      type.as(IdentifierTypeSyntax.self)?.name.text == "Optional"
      || type.as(MemberTypeSyntax.self).map {
        $0.name.text == "Optional" && $0.baseType.trimmedDescription == "Swift"
      } ?? false
    guard isOptional, let wrapped = arguments(of: type).first else { return nil }
    return (wrapped, true)
  }
}
