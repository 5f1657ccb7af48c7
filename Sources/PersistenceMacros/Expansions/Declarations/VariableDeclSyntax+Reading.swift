import SwiftDiagnostics
import SwiftSyntax

extension VariableDeclSyntax {
  /// The bindings with their type annotations: in `var a, b: Int`, the last annotation applies to all.
  var typedBindings: [(PatternBindingSyntax, TypeSyntax?)] {
    var following: TypeSyntax?
    return bindings.reversed().map { binding -> (PatternBindingSyntax, TypeSyntax?) in
      if let annotation = binding.typeAnnotation {
        following = annotation.type
      } else if binding.initializer != nil {
        following = nil
      }
      return (binding, following?.trimmed)
    }.reversed()
  }

  /// Whether a binding without a value is initialized to nil, as a variable of a type written `T?` is.
  func isImplicitlyNil(_ binding: PatternBindingSyntax) -> Bool {
    guard bindingSpecifier.tokenKind == .keyword(.var), let type = binding.typeAnnotation?.type else {
      return false
    }
    return type.is(OptionalTypeSyntax.self) || type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
  }

  /// An attribute that is neither a marker nor built in: a property wrapper or another macro.
  var foreignAttribute: AttributeSyntax? {
    for case .attribute(let attribute) in attributes where attribute.marker == nil {
      let isType = attribute.baseName.unicodeScalars.first?.properties.isUppercase ?? false
      if isType, attribute.baseName != "MainActor" { return attribute }
    }
    return nil
  }

  /// A fix-it that removes an attribute.
  func removing(_ attribute: AttributeSyntax) -> FixIt {
    var changed = self
    changed.attributes = attributes.filter { $0.id != attribute.id }
    changed.leadingTrivia = leadingTrivia
    return .replace(self, with: changed, "remove @\(attribute.baseName)")
  }

  /// A fix-it that adds a marker before the declaration.
  func adding(_ marker: Marker) -> FixIt {
    var changed = self
    changed.leadingTrivia = []
    let attribute = AttributeSyntax(
      leadingTrivia: leadingTrivia, attributeName: IdentifierTypeSyntax(name: .identifier(marker.rawValue)),
      trailingTrivia: .space)
    changed.attributes = AttributeListSyntax([.attribute(attribute)] + Array(changed.attributes))
    return .replace(self, with: changed, "mark it \(marker.spelling)")
  }
}

extension PatternBindingSyntax {
  /// Whether the property is computed: it has an accessor other than observers.
  var isComputed: Bool {
    switch accessorBlock?.accessors {
    case nil: false
    case .getter: true
    case .accessors(let accessors):
      accessors.contains { !["willSet", "didSet"].contains($0.accessorSpecifier.text) }
    }
  }
}
