import SwiftSyntax

/// What the spelling of a type gives away, without the type checker that a macro cannot ask.
struct TypeSpelling {
  /// The type without optionals, parentheses and attributes.
  let core: TypeSyntax

  /// How many optionals are around it.
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

  /// The type's name, without generic arguments and without the module where that is Swift's own.
  ///
  /// A type of another module or nested in another type keeps its prefix, so that an app's own `Character` can
  /// be told from Swift's by writing its module.
  var name: String? {
    if let identifier = core.as(IdentifierTypeSyntax.self) { return identifier.name.text }
    guard let member = core.as(MemberTypeSyntax.self) else { return nil }
    let base = member.baseType.trimmedDescription
    return ["Swift", "Foundation"].contains(base) ? member.name.text : "\(base).\(member.name.text)"
  }

  /// The type without the optionals around it, as it is written.
  var text: String { core.trimmedDescription }

  /// Whether it is seen that the type is stored as a document, which has no order (contract V4a).
  var isDocument: Bool {
    if core.is(DictionaryTypeSyntax.self) { return true }
    if let array = core.as(ArrayTypeSyntax.self) { return TypeSpelling(array.element).name != "UInt8" }
    switch name {
    case "Dictionary", "Set": return true
    case "Array": return arguments.first.map { TypeSpelling($0).name != "UInt8" } ?? false
    default: return false
    }
  }

  /// The generic arguments of a type that is named.
  private var arguments: [TypeSyntax] { Self.arguments(of: core) }

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
      let element = tuple.elements.first,
      element.firstName == nil
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
