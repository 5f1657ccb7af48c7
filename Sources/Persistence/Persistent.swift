/// Makes a struct a model: generates the extension that conforms it to ``PersistentRecord``.
///
/// ```swift
/// @Persistent
/// struct Movie: Hashable {
///   var id: UUID                       // the primary key; or @ID on another property
///   var title: String
///   @Indexed var rating: Rating?
///   @Unique var imdbID: String?
///   var cast: [String] = []            // Codable values are stored as one document
/// }
/// ```
///
/// Every stored property is a field, except those marked ``Transient()``. Its type conforms to
/// `PersistentValueConvertible`, is a raw-representable `Codable` type, which is stored as its raw value, is any
/// other `Codable` type, which is stored as a JSON document, or is an optional of one. Computed and static properties are ignored.
///
/// The primary key is the property named `id`, or the properties marked ``ID()``, in the order of their
/// declaration. For several, the macro declares a struct `PrimaryKey`.
///
/// A default value that is a literal, a member of a type (`.pg`), or an empty collection is also the field's fill:
/// the value of records that were stored before the property was added. Give any other fill, and former names, with
/// `@Field`.
///
/// The extension is the same as one written by hand: `schema`, `primaryKey`, `init(from:)` by position and
/// `encode(into:)`. The memberwise initializer stays available. A public struct gets public members, and its
/// file imports this module publicly. Errors and fix-its appear at the mistaken declaration.
///
/// The stored name is the type's name. For a nested type, it includes the enclosing types, as in
/// `Library.Book`. A generic type is a separate model for each of its type arguments, as in `Box<Int>`. Only
/// the last name of a type argument is used, so pass a name if two would be equal.
///
/// - Parameters:
///   - name: The model's name in stores; the type's name by default.
///   - was: The former names of the model in stores, string literals: `@Persistent("Film", was: "Movie")`.
///   - contexts: The contexts that support the model, as in `contexts: MemoryContext.self`; any by default.
///     Other contexts throw `incompatibleContext`.
@attached(
  extension, conformances: PersistentRecord,
  names: named(schema), named(supportedContexts), named(PrimaryKey), named(primaryKey), named(init(from:)),
  named(encode(into:)))
@attached(member, names: named(PrimaryKey))
public macro Persistent(
  _ name: String? = nil, was: String..., contexts: any PersistentContext.Type...
) =
  #externalMacro(module: "PersistenceMacros", type: "PersistentMacro")
