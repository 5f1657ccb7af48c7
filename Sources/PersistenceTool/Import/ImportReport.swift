/// What an import found and did.
struct ImportReport: Encodable {
  /// What was found in one field, and done to it.
  struct Field: Encodable {
    /// The field's name.
    var name: String
    /// What it is, such as `string?`.
    var kind: String
    /// How many records have null, or nothing, there.
    var nulls: Int
    /// What was found, in words; nil where the schema was given.
    var found: String?
    /// How many values were converted, by the way of it.
    var conversions: [String: Int] = [:]
  }

  /// A record that was left out.
  struct Reject: Encodable {
    /// Where in the file it stands.
    var place: String
    /// Its key, where it is known.
    var key: String?
    /// Why it was left out.
    var reason: String
  }

  /// The model that was filled.
  var model: String
  /// The fields of its primary key.
  var key: [String]
  /// Whether the key was generated.
  var isKeyGenerated: Bool
  /// How many records the file holds.
  var read = 0
  /// How many were stored.
  var imported = 0
  /// How many were left out.
  var rejected = 0
  /// The fields.
  var fields: [Field]
  /// The first records that were left out.
  var rejects: [Reject] = []
}
