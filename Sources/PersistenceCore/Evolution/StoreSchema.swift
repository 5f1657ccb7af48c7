/// The models of an app, and what their declarations cannot say of the past.
///
/// ```swift
/// enum Shop: StoreSchema {
///   static let models: [any PersistentRecord.Type] = [Film.self, Person.self]
///   static let evolution: [EvolutionRule] = [
///     .fill(\Film.subtitle, with: ""),
///     .remove("nick", from: "Person"),
///   ]
/// }
/// let repository = try Repository(opening: url, engines: [.sqlite], schema: Shop.self)
/// ```
///
/// A schema has no version numbers: the difference between the store and the declarations is the change. Rules stay as
/// long as stores of before exist; a rule without effect costs nothing.
public protocol StoreSchema {
  /// The models that the store contains.
  static var models: [any PersistentRecord.Type] { get }

  /// The changes that a comparison of declarations cannot find; none by default.
  static var evolution: [EvolutionRule] { get }
}

extension StoreSchema {
  /// No rules.
  public static var evolution: [EvolutionRule] { [] }
}
