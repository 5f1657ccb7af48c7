/// Declares an index over several properties, directly inside the `@Persistent` struct.
///
/// ```swift
/// @Persistent
/// struct Screening {
///   var id: Int
///   var cinema: String
///   var startsAt: Date
///   #Index<Screening>([\.cinema, \.startsAt], unique: true)
/// }
/// ```
///
/// - Parameters:
///   - keyPaths: The properties, in order.
///   - unique: Whether models must differ in these values; they never collide if one of them is nil.
@freestanding(declaration)
public macro Index<Model>(_ keyPaths: [PartialKeyPath<Model>], unique: Bool = false) =
  #externalMacro(module: "PersistenceMacros", type: "IndexMacro")
