import Foundation

/// A nested value with parts of every type that a document may have, including others of its kind.
struct Dossier: Codable, Hashable, Sendable {
  enum Shape: Codable, Hashable, Sendable {
    case point
    case circle(radius: Double, name: String?)
  }

  /// An enum over text that occurs only inside documents.
  enum Colour: String, Codable, Hashable, Sendable { case red, none = "" }

  var flag = false
  var signed: [Int64] = []
  var unsigned: [UInt64] = []
  var bytes: [UInt8] = []
  var floats: [Float] = []
  var doubles: [Double] = []
  var decimals: [Decimal] = []
  var dates: [Date] = []
  var uuids: [UUID] = []
  var data: [Data] = []
  var link: URL?
  var holes: [Int?] = []
  var lists: [[String]] = []
  var byName: [String: [String?]] = [:]
  var byNumber: [Int: String] = [:]
  var shape = Shape.point
  var colour: Colour?
  var inner: [Dossier] = []

  /// Values that codecs often get wrong, in every part.
  static var full: Dossier {
    var dossier = Dossier()
    dossier.flag = true
    dossier.signed = Int64.samples
    dossier.unsigned = [0, 1 << 53, (1 << 53) + 1, 1 << 63, .max - 1, .max]
    dossier.bytes = [0, 127, 128, 255]
    dossier.floats = Float.samples.filter { !$0.isNaN }
    dossier.doubles = Double.samples.filter { !$0.isNaN }
    dossier.decimals = Decimal.samples.filter { !$0.isNaN }
    dossier.dates = Date.samples.filter { !$0.timeIntervalSinceReferenceDate.isNaN }
    dossier.uuids = UUID.samples
    dossier.data = Data.samples
    dossier.link = URL(string: "https://example.org/%C3%A9?q=%25#%20")
    dossier.holes = [nil, 1, nil, .min]
    dossier.lists = [[], [""], String.samples, ["a\0", "\0"]]
    dossier.byName = ["": [], "a/b": [nil], "\u{1F469}\0\"\\": ["", nil, "null"], "NULL": ["0"]]
    dossier.byNumber = [.min: "", -1: "a", 0: "b", .max: "c"]
    dossier.shape = .circle(radius: 0.1, name: nil)
    dossier.colour = Colour.none
    dossier.inner = [Dossier()]
    return dossier
  }
}
