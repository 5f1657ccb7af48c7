/// The JSON member of a property of a `Codable` type, whose coding keys may have other names than its properties.
///
/// A type says neither. So a made-up value is decoded whose parts differ, and the part that a property then has tells
/// the member that it came from.
enum DocumentMembers {
  /// Why the member of a property cannot be found.
  struct Refusal: Error {
    let reason: String
  }

  /// The name of the JSON member of a property, and the type of its value if that is known.
  ///
  /// - Throws: ``Refusal``.
  static func member(_ property: String, of type: any Decodable.Type) throws -> (
    name: String, type: (any Decodable.Type)?
  ) {
    if let optional = type as? any OptionalValue.Type {
      guard let wrapped = optional.wrappedType as? any Decodable.Type else {
        throw Refusal(reason: "\(optional.wrappedType) is not Decodable")
      }
      return try member(property, of: wrapped)
    }
    return try find(property, in: type)
  }

  private static func find<Value: Decodable>(_ property: String, in type: Value.Type) throws -> (
    name: String, type: (any Decodable.Type)?
  ) {
    let sampler = DocumentSampler(variant: 0)
    guard let value = try? Value(from: sampler) else {
      // A type that rejects made-up values: its coding keys at least tell whether they have this name.
      guard sampler.keys.allows(property) else {
        throw Refusal(reason: "the JSON name of “\(property)” in \(type) is unknown")
      }
      return (property, sampler.keys.members.first { $0.name == property }?.type)
    }
    guard let part = part(property, of: value), let text = DocumentSampler.text(part) else {
      throw Refusal(reason: "\(type) has no stored property “\(property)”")
    }
    var candidates = sampler.keys.members.filter { $0.text == text }
    // Members of few values, such as Booleans, may be the same by chance, whatever their names, and so may a property that
    // is in no member and always has the value of its declaration.
    var isDecoded = false
    for variant in 1..<DocumentSampler.variants where !candidates.isEmpty {
      if candidates.count == 1, isDecoded || variant > DocumentSampler.lastOtherNumbers { break }
      let other = DocumentSampler(variant: variant)
      guard let value = try? Value(from: other), let part = Self.part(property, of: value),
        let otherText = DocumentSampler.text(part)
      else { continue }
      // What follows the made-up value is decoded, if perhaps not unchanged.
      if candidates.count == 1, otherText != text { break }
      candidates.removeAll { candidate in
        other.keys.members.contains { $0.name == candidate.name && $0.text != otherText }
      }
      if otherText != text { isDecoded = true }
    }
    if let named = candidates.first(where: { $0.name == property }) { return (named.name, named.type) }
    guard candidates.count == 1, let only = candidates.first else {
      throw Refusal(reason: "“\(property)” of \(type) is not in the JSON as one member")
    }
    return (only.name, only.type)
  }

  private static func part(_ property: String, of value: Any) -> Any? {
    var mirror: Mirror? = Mirror(reflecting: value)
    while let current = mirror {
      if let child = current.children.first(where: { $0.label == property }) { return child.value }
      mirror = current.superclassMirror
    }
    return nil
  }
}
