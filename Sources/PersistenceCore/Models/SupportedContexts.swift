public import PersistenceDriver
import PersistenceDriverSupport

/// Which contexts may hold a model.
public struct SupportedContexts: Sendable {
  private let types: [any PersistentContext.Type]?

  private init(_ types: [any PersistentContext.Type]?) { self.types = types }

  /// Every context that keeps rows.
  public static let any = SupportedContexts(nil)

  /// These contexts only; every other throws ``PersistenceError/Code/incompatibleContext``.
  ///
  /// A wrapper around an accepted context is accepted.
  public static func only(_ types: any PersistentContext.Type...) -> SupportedContexts {
    SupportedContexts(types)
  }

  /// Whether nothing needs to be asked of a context.
  var isAny: Bool { types == nil }

  /// Whether a context may hold the model: one of the types, or a wrapper around one.
  func contains(_ context: any PersistentContext) -> Bool {
    guard let types else { return true }
    let accepted = Set(types.map { ObjectIdentifier($0) })
    return context.allLayers.contains { accepted.contains(ObjectIdentifier(type(of: $0))) }
  }

  /// The names of the accepted contexts, for messages.
  var names: [String] { types?.map { "\($0)" } ?? ["any StorageContext"] }
}

extension PersistentContext {
  /// The context and, where it is a wrapper, the contexts within it.
  ///
  /// Not called `layers`, as that of drivers is: of two members of one name the compiler takes the one whose type
  /// fits without a conversion, which would be this one, for ever.
  fileprivate var allLayers: [any PersistentContext] {
    guard let store = asStorageContext else { return [self] }
    return store.layers
  }
}

extension PersistenceError {
  /// A model met a context that does not hold it (contract E1).
  ///
  /// - Parameters:
  ///   - model: The model's type.
  ///   - context: The context that was given.
  ///   - accepted: The names of the contexts that the model accepts.
  /// - Returns: The error, which names all three.
  public static func incompatibleContext(
    _ model: Any.Type, context: any PersistentContext, accepted: [String]
  ) -> PersistenceError {
    let layers = context.allLayers.map { "\(type(of: $0))" }.joined(separator: " around ")
    return PersistenceError(
      .incompatibleContext,
      "\(model) cannot be kept in the \(layers) that was given; it accepts "
        + accepted.joined(separator: ", "), model: "\(model)")
  }
}
