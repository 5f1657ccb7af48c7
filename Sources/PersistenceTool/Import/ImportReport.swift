/// The report of an import.
struct ImportReport: Encodable {
  /// The report of one field.
  struct Field: Encodable {
    /// The field's name.
    var name: String
    /// The field's kind, such as `string?`.
    var kind: String
    /// The number of records in which the field is null or missing.
    var nulls: Int
    /// A description of the values found; nil if the schema was given.
    var found: String?
    /// The number of converted values, by conversion.
    var conversions: [String: Int] = [:]
  }

  /// A rejected record.
  struct Reject: Encodable {
    /// The position in the file.
    var place: String
    /// The key, if it is known.
    var key: String?
    /// The reason for the rejection.
    var reason: String
  }

  /// The model.
  var model: String
  /// The fields of its primary key.
  var key: [String]
  /// Whether the key was generated.
  var isKeyGenerated: Bool
  /// The number of records in the file.
  var read = 0
  /// The number of stored records.
  var imported = 0
  /// The number of rejected records.
  var rejected = 0
  /// The fields.
  var fields: [Field]
  /// The first rejected records.
  var rejects: [Reject] = []
}
