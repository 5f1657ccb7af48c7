/// One group of an ``AggregateRequest``'s answer.
public struct AggregateGroup: Sendable, Hashable {
  /// The values that the group's rows have in the fields they are grouped by.
  public let key: [PersistentValue]

  /// One value for each aggregate of the request.
  public let values: [PersistentValue]

  /// Makes a group.
  public init(key: [PersistentValue], values: [PersistentValue]) {
    self.key = key
    self.values = values
  }
}
