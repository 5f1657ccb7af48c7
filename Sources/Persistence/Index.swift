/// Declares an index over several properties, directly inside of the `@Persistent` struct.
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
///   - unique: Whether two models may not have the same values; where any of them is nil they never collide.
@freestanding(declaration)
public macro Index<Model>(_ keyPaths: [PartialKeyPath<Model>], unique: Bool = false) =
  #externalMacro(module: "PersistenceMacros", type: "IndexMacro")
