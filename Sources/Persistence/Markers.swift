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

/// Says what happens to a record when the record that a ``Reference`` refers to is deleted.
///
/// ```swift
/// @OnDelete(.cascade) var album: Reference<Album>
/// @OnDelete(.setNil) var director: Reference<Person>?
/// ```
///
/// Without the marker, the rule is `.restrict`: a transaction that leaves a reference to a deleted record does not commit.
///
/// - Parameter rule: The rule; `.setNil` needs an optional property.
@attached(peer)
public macro OnDelete(_ rule: DeleteRule) =
  #externalMacro(module: "PersistenceMacros", type: "OnDeleteMacro")

/// Marks a property as not stored: a fetched model has the property's initial value.
@attached(peer)
public macro Transient() = #externalMacro(module: "PersistenceMacros", type: "TransientMacro")

/// Gives a property another stored name, or names it had in earlier versions of the app.
///
/// ```swift
/// @Field("minutes") var length: Int
/// @Field(was: "cost", "price") var budget: Double
/// ```
///
/// A store that knows the field by a former name renames it. A stored name is never used again.
///
/// - Parameters:
///   - name: The stored name, a string literal; the property's name by default.
///   - was: The former stored names, string literals, in any order.
@attached(peer)
public macro Field(_ name: String? = nil, was: String...) =
  #externalMacro(module: "PersistenceMacros", type: "FieldMacro")

/// Gives a new property the value of the records from before it.
///
/// ```swift
/// @Field(fill: Date.distantPast) var added = Date()
/// @Field("minutes", was: "length", fill: 0) var length: Int
/// ```
///
/// A fill is a literal, a member of a type, or an empty collection. Calls and `Date.now` are no fills, because a
/// fill never changes.
///
/// - Parameters:
///   - name: The stored name, a string literal; the property's name by default.
///   - was: The former stored names, string literals, in any order.
///   - fill: The value, which replaces the property's default value as the fill. Write a member with its type, as in
///     `Rating.pg`. Nil is the fill of an optional property without another.
@attached(peer)
public macro Field(_ name: String? = nil, was: String..., fill: Any?) =
  #externalMacro(module: "PersistenceMacros", type: "FieldMacro")

/// Gives a new array or set the fill `[]`.
///
/// - Parameters:
///   - name: The stored name, a string literal; the property's name by default.
///   - was: The former stored names, string literals, in any order.
///   - fill: The literal `[]`.
@attached(peer)
public macro Field(_ name: String? = nil, was: String..., fill: [Never]) =
  #externalMacro(module: "PersistenceMacros", type: "FieldMacro")

/// Gives a new dictionary the fill `[:]`.
///
/// - Parameters:
///   - name: The stored name, a string literal; the property's name by default.
///   - was: The former stored names, string literals, in any order.
///   - fill: The literal `[:]`.
@attached(peer)
public macro Field(_ name: String? = nil, was: String..., fill: [Never: Never]) =
  #externalMacro(module: "PersistenceMacros", type: "FieldMacro")
