public import PersistenceDriver
import PersistenceDriverSupport

/// The contexts that support a model.
public struct SupportedContexts: Sendable {
  private let types: [any PersistentContext.Type]?

  private init(_ types: [any PersistentContext.Type]?) { self.types = types }

  /// Every context that stores rows.
  public static let any = SupportedContexts(nil)

  /// Only these contexts; every other throws ``PersistenceError/Code/incompatibleContext``.
  ///
  /// A wrapper around an accepted context is accepted.
  public static func only(_ types: any PersistentContext.Type...) -> SupportedContexts {
    SupportedContexts(types)
  }

  /// Whether every context supports the model, which each call asks first.
  var isAny: Bool { types == nil }

  /// Whether a context supports the model: it has one of the types, or wraps such a context.
  func contains(_ context: any PersistentContext) -> Bool {
    guard let types else { return true }
    let accepted = Set(types.map { ObjectIdentifier($0) })
    return context.allLayers.contains { accepted.contains(ObjectIdentifier(type(of: $0))) }
  }

  /// The names of the accepted contexts, for messages.
  var names: [String] { types?.map { "\($0)" } ?? ["any StorageContext"] }
}

extension PersistentContext {
  /// The context and, if it is a wrapper, the contexts within it.
  ///
  /// The name differs from `StorageContext.layers`: with the same name, the compiler would choose this member, which
  /// would recurse forever.
  fileprivate var allLayers: [any PersistentContext] { asStorageContext?.layers ?? [self] }
}

extension PersistenceError {
  /// A context that does not support the model (contract E1).
  ///
  /// - Parameters:
  ///   - model: The model's type.
  ///   - context: The context.
  ///   - accepted: The names of the contexts that the model accepts.
  /// - Returns: The error, whose message contains all three.
  public static func incompatibleContext(
    _ model: Any.Type, context: any PersistentContext, accepted: [String]
  ) -> PersistenceError {
    let layers = context.allLayers.map { "\(type(of: $0))" }.joined(separator: " around ")
    return PersistenceError(
      .incompatibleContext,
      "\(model) cannot be stored in \(layers); use " + accepted.joined(separator: ", "), model: "\(model)")
  }
}
