import Foundation

/// Encodes a value as an object with one member, named after the kind, so that every format keeps it exactly. Doubles
/// and dates are their shortest exact text (or `nan`, `inf`, `-inf`), bytes are Base64.
extension PersistentValue: Codable {
  private enum CodingKeys: String, CodingKey {
    case null, bool, integer, double, text, bytes, date, uuid, decimal, document
  }

  /// Decodes a value.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func malformed(_ key: CodingKeys) -> DecodingError {
      DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "not a \(key.rawValue)")
    }
    guard let key = container.allKeys.first, container.allKeys.count == 1 else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "one kind was expected"))
    }
    switch key {
    case .null: self = .null
    case .bool: self = .bool(try container.decode(Bool.self, forKey: key))
    case .integer: self = .integer(try container.decode(Int64.self, forKey: key))
    case .double, .date:
      guard let number = Double(try container.decode(String.self, forKey: key)) else { throw malformed(key) }
      self = key == .double ? .double(number) : .date(number)
    case .text: self = .text(try container.decode(String.self, forKey: key))
    case .bytes:
      guard let data = Data(base64Encoded: try container.decode(String.self, forKey: key)) else {
        throw malformed(key)
      }
      self = .bytes([UInt8](data))
    case .uuid: self = .uuid(try container.decode(UUID.self, forKey: key))
    case .decimal:
      guard let number = Decimal(canonicalText: try container.decode(String.self, forKey: key)) else {
        throw malformed(key)
      }
      self = .decimal(number)
    case .document: self = .document(try container.decode(String.self, forKey: key))
    }
  }

  /// Encodes the value.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .null: try container.encode(true, forKey: .null)
    case .bool(let value): try container.encode(value, forKey: .bool)
    case .integer(let value): try container.encode(value, forKey: .integer)
    case .double(let value): try container.encode("\(value)", forKey: .double)
    case .text(let value): try container.encode(value, forKey: .text)
    case .bytes(let value): try container.encode(Data(value).base64EncodedString(), forKey: .bytes)
    case .date(let value): try container.encode("\(value)", forKey: .date)
    case .uuid(let value): try container.encode(value, forKey: .uuid)
    case .decimal(let value): try container.encode(value.canonicalText, forKey: .decimal)
    case .document(let value): try container.encode(value, forKey: .document)
    }
  }
}
