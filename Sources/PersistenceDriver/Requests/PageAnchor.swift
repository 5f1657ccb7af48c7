/// The place after which a page begins: the values, in the row it comes after, of the fields of the request's
/// total order (contract O4).
public struct PageAnchor: Sendable, Hashable, Codable {
  /// One value for each criterion of ``FetchRequest/totalOrder``.
  public var values: [PersistentValue]

  /// Makes an anchor of values.
  public init(_ values: [PersistentValue]) { self.values = values }
}
