import SwiftSyntax
import SwiftSyntaxBuilder

/// The type of a property with an initial value and no annotation, as far as the value's source shows it.
enum InferredType {
  /// The type of a value; nil if only the type checker can determine it.
  static func of(_ value: ExprSyntax) -> TypeSyntax? {
    switch value.as(ExprSyntaxEnum.self) {
    case .integerLiteralExpr: "Int"
    case .floatLiteralExpr: "Double"
    case .stringLiteralExpr, .simpleStringLiteralExpr: "String"
    case .booleanLiteralExpr: "Bool"
    case .prefixOperatorExpr(let signed):
      ["-", "+"].contains(signed.operator.text) ? number(signed.expression) : nil
    case .arrayExpr(let array): elements(array).map { "[\($0)]" }
    case .functionCallExpr(let call): constructed(call.calledExpression)
    case .sequenceExpr(let sequence): coerced(Array(sequence.elements))
    case .asExpr(let coercion): coercion.questionOrExclamationMark == nil ? coercion.type.trimmed : nil
    default: nil
    }
  }

  /// A guess for a fix-it: the type of which the value is a member, as in `Rating.pg`.
  static func guess(_ value: ExprSyntax) -> String? {
    var base = value
    if let call = base.as(FunctionCallExprSyntax.self) { base = call.calledExpression }
    guard let member = base.as(MemberAccessExprSyntax.self), let type = member.base, isTypeName(type) else {
      return nil
    }
    return type.trimmedDescription
  }

  private static func number(_ value: ExprSyntax) -> TypeSyntax? {
    value.is(IntegerLiteralExprSyntax.self) || value.is(FloatLiteralExprSyntax.self) ? of(value) : nil
  }

  private static func elements(_ array: ArrayExprSyntax) -> TypeSyntax? {
    let types = array.elements.map { of($0.expression) }
    guard let first = types.first, let first else { return nil }
    return types.allSatisfy { $0?.trimmedDescription == first.trimmedDescription } ? first : nil
  }

  /// The type that a call of an initializer creates, as in `UUID()` and `[String]()`.
  private static func constructed(_ called: ExprSyntax) -> TypeSyntax? {
    if let array = called.as(ArrayExprSyntax.self) {
      guard array.elements.count == 1, let element = array.elements.first?.expression, isTypeName(element)
      else { return nil }
      return "[\(raw: element.trimmedDescription)]"
    }
    if let dictionary = called.as(DictionaryExprSyntax.self), case .elements(let pairs) = dictionary.content,
      pairs.count == 1, let pair = pairs.first, isTypeName(pair.key), isTypeName(pair.value)
    {
      return "[\(raw: pair.key.trimmedDescription): \(raw: pair.value.trimmedDescription)]"
    }
    return isTypeName(called) ? TypeSyntax("\(raw: called.trimmedDescription)") : nil
  }

  /// The type of `value as Type`, whose operators a macro receives unfolded.
  private static func coerced(_ elements: [ExprSyntax]) -> TypeSyntax? {
    guard elements.count == 3, let coercion = elements[1].as(UnresolvedAsExprSyntax.self),
      coercion.questionOrExclamationMark == nil
    else { return nil }
    return elements[2].as(TypeExprSyntax.self)?.type.trimmed
  }

  /// Whether an expression looks like a type's name: every component begins with a capital letter.
  static func isTypeName(_ expression: ExprSyntax) -> Bool {
    switch expression.as(ExprSyntaxEnum.self) {
    case .declReferenceExpr(let name): isCapitalized(name.baseName)
    case .memberAccessExpr(let member):
      isCapitalized(member.declName.baseName) && (member.base.map(isTypeName) ?? false)
    case .genericSpecializationExpr(let generic): isTypeName(generic.expression)
    case .optionalChainingExpr(let optional): isTypeName(optional.expression)
    case .arrayExpr(let array): array.elements.allSatisfy { isTypeName($0.expression) }
    case .typeExpr: true
    default: false
    }
  }

  private static func isCapitalized(_ name: TokenSyntax) -> Bool {
    name.text.unicodeScalars.first?.properties.isUppercase ?? false
  }
}
