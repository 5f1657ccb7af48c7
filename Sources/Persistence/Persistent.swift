/// Creates a struct a model: writes the extension that conforms it to ``PersistentRecord``.
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
/// Every stored property is a field, but those marked ``Transient()``. Its type is one of the kinds that stores
/// know (`PersistentValueConvertible`), any other `Codable` type, which is stored as a JSON document, or an
/// optional of one. Computed and static properties are passed over.
///
/// The primary key is the property named `id`, or those marked ``ID()`` in the order of their declaration. Of
/// several, the extension makes a struct `PrimaryKey`.
///
/// The extension is what a person would write by hand: `schema`, `primaryKey`, `init(from:)` by position and
/// `encode(into:)`. The memberwise initialiser survives. A public struct gets public members, and its file
/// imports this module publicly. What is wrong with a declaration is said at the declaration.
///
/// A model is stored under its type's name, that of a nested type with the types around it, as in
/// `Library.Book`. A generic model is a model of its own for each type that it is used with, as in `Box<Int>`;
/// types are told apart by their last name there, so give a name where two would be alike.
///
/// - Parameters:
///   - name: The model's name in stores; the type's name by default.
///   - contexts: The contexts that may hold the model, as in `contexts: MemoryContext.self`; any by default. Every
///     other throws `incompatibleContext`.
@attached(
  extension, conformances: PersistentRecord,
  names: named(schema), named(supportedContexts), named(PrimaryKey), named(primaryKey), named(init(from:)),
  named(encode(into:)))
public macro Persistent(_ name: String? = nil, contexts: any PersistentContext.Type...) =
  #externalMacro(module: "PersistenceMacros", type: "PersistentMacro")
