// Markers on the properties of a `@Persistent` struct. They generate nothing: `@Persistent` reads them.

/// Marks a property as the primary key, or as a part of it.
///
/// A key is an `Int`, `Int64`, `String`, `UUID`, or a raw-representable wrapper of one that conforms to
/// ``PersistentKey`` and `PersistentValueConvertible`. Without a marker, the property named `id` is the key.
@attached(peer)
public macro ID() = #externalMacro(module: "PersistenceMacros", type: "IDMacro")

/// Marks a property with an index, which speeds up filtering and sorting by it.
@attached(peer)
public macro Indexed() = #externalMacro(module: "PersistenceMacros", type: "IndexedMacro")

/// Marks a property with a unique index: two models cannot have the same value; nil never collides.
@attached(peer)
public macro Unique() = #externalMacro(module: "PersistenceMacros", type: "UniqueMacro")

/// Marks a property as not stored: a fetched model has the property's initial value.
@attached(peer)
public macro Transient() = #externalMacro(module: "PersistenceMacros", type: "TransientMacro")

/// Stores a property under another name.
///
/// - Parameter name: The stored name, a string literal.
@attached(peer)
public macro Field(_ name: String) = #externalMacro(module: "PersistenceMacros", type: "FieldMacro")
