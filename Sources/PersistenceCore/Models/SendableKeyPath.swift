/// A key path that can cross threads: every literal one that captures nothing, such as `\Movie.title`.
public typealias SendableKeyPath<Root, Value> = any KeyPath<Root, Value> & Sendable

/// A key path of any property of a type that can cross threads.
public typealias SendablePartialKeyPath<Root> = any PartialKeyPath<Root> & Sendable
