public import PersistenceDriver

/// Which contexts may hold a model.
public struct SupportedContexts: Sendable {
  private let types: [any PersistentContext.Type]?

  private init(_ types: [any PersistentContext.Type]?) { self.types = types }

  /// Every context that keeps rows.
  public static let any = SupportedContexts(nil)

  /// These contexts only; every other throws ``PersistenceError/Code/incompatibleContext``.
  public static func only(_ types: any PersistentContext.Type...) -> SupportedContexts {
    SupportedContexts(types)
  }

  /// Whether a context may hold the model.
  func contains(_ context: any PersistentContext) -> Bool {
    guard let types else { return true }
    let type = ObjectIdentifier(type(of: context))
    return types.contains { ObjectIdentifier($0) == type }
  }

  /// The names of the accepted contexts, for messages.
  var names: [String] { types?.map { "\($0)" } ?? ["any StorageContext"] }
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
    PersistenceError(
      .incompatibleContext,
      "\(model) cannot be kept in the \(type(of: context)) that was given; it accepts "
        + accepted.joined(separator: ", "), model: "\(model)")
  }
}
