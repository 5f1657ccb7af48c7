/// The report of an import.
struct ImportReport: Encodable {
  struct Field: Encodable {
    var name: String
    /// The field's kind, such as `string?`.
    var kind: String
    /// The number of records in which the field is null or missing.
    var nulls: Int
    /// A description of the values found; nil if the schema was given.
    var found: String?
    var conversions: [String: Int] = [:]
  }

  struct Reject: Encodable {
    var place: String
    var key: String?
    var reason: String
  }

  var model: String
  var key: [String]
  var isKeyGenerated: Bool
  var read = 0
  var imported = 0
  var rejected = 0
  var fields: [Field]
  /// The first rejected records.
  var rejects: [Reject] = []
}
