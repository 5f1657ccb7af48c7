import SwiftSyntax
import SwiftSyntaxBuilder

/// The value of records from before a field, as far as source code shows it.
///
/// Stores keep a fill permanently, so only expressions that have the same value at each run are fills.
enum Fill {
  /// A constant, as the generated code writes it.
  case constant(String)
  /// Nil, which optional fields have without a fill.
  case null
  /// A member of another type, which the extension of a nested model may not find.
  case member(String)
  /// A member without its type, as in `.pg`.
  case implicitMember(String)
  /// The present time.
  case clock
  /// A call, or any other expression.
  case variable

  /// Reads a value of a property with a type.
  init(_ value: ExprSyntax, as type: TypeSpelling?) {
    switch value.as(ExprSyntaxEnum.self) {
    case .nilLiteralExpr: self = .null
    case .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr:
      self = .constant(value.trimmedDescription)
    case .prefixOperatorExpr(let signed):
      let number = signed.expression
      let isNumber = number.is(IntegerLiteralExprSyntax.self) || number.is(FloatLiteralExprSyntax.self)
      self =
        isNumber && ["-", "+"].contains(signed.operator.text)
        ? .constant(value.trimmedDescription) : .variable
    case .stringLiteralExpr(let text): self = Self.text(text)
    case .arrayExpr(let array): self = array.elements.isEmpty ? .constant("[]") : .variable
    case .dictionaryExpr(let dictionary):
      if case .colon = dictionary.content { self = .constant("[:]") } else { self = .variable }
    case .memberAccessExpr(let member): self = Self.member(member, as: type)
    case .asExpr(let coercion) where coercion.questionOrExclamationMark == nil:
      self.init(coercion.expression, as: type)
    case .sequenceExpr(let sequence):
      let elements = Array(sequence.elements)
      guard elements.count == 3, let coercion = elements[1].as(UnresolvedAsExprSyntax.self),
        coercion.questionOrExclamationMark == nil
      else {
        self = .variable
        return
      }
      self.init(elements[0], as: type)
    default: self = .variable
    }
  }

  private static func text(_ literal: StringLiteralExprSyntax) -> Fill {
    var value = ""
    for segment in literal.segments {
      guard case .stringSegment(let text) = segment else { return .variable }
      value += text.content.text
    }
    if literal.openingQuote.tokenKind == .stringQuote { return .constant(literal.trimmedDescription) }
    // The indentation of a text on several lines would not survive in the extension.
    return value.contains("\\")
      ? .variable : .constant(StringLiteralExprSyntax(content: value).trimmedDescription)
  }

  private static func member(_ member: MemberAccessExprSyntax, as type: TypeSpelling?) -> Fill {
    let name = member.declName.baseName.text
    let base = member.base?.trimmedDescription
    guard member.declName.argumentNames == nil, !["self", "Type", "init"].contains(name),
      member.base.map(InferredType.isTypeName) ?? true
    else { return .variable }
    if name == "now" { return .clock }
    let isOptional = (type?.optionalDepth ?? 0) > 0
    let isAmbiguous = ["none", "some"].contains(name)  // `.none` of an optional is nil
    guard let base else {
      guard isAmbiguous else { return .implicitMember(".\(name)") }
      return isOptional ? .null : .implicitMember(".some(.\(name))")
    }
    // The extension may not know the name of the property's type, but its key path determines the type.
    if base == type?.text, !(isOptional && isAmbiguous) {
      return .constant(isAmbiguous ? ".some(.\(name))" : ".\(name)")
    }
    return base == "Self" ? .constant("Self.\(name)") : .member("\(base).\(name)")
  }
}
