import PersistenceDriver
import PersistencePrimitives

/// The names of models in components, operations and tags.
///
/// A model's name may have characters that a component's name may not, and generators of clients fold case. The name of
/// such a model gets a digest, so that it is unique and does not change when the store gets other models.
enum OpenAPINames {
  static func names(of models: [ModelSchema], besides reserved: [String]) -> [String] {
    let all = models.map { $0.name.lowercased() } + reserved
    let sameFold = Dictionary(all.map { ($0, 1) }, uniquingKeysWith: +)
    return models.map { model in
      let isPlain = !model.name.isEmpty && model.name.utf8.allSatisfy(\.isLetterOrDigit)
      return isPlain && sameFold[model.name.lowercased()] == 1 ? model.name : marked(model.name)
    }
  }

  private static func marked(_ name: String) -> String {
    let letters = name.unicodeScalars.map { scalar in
      scalar.isASCII && UInt8(scalar.value).isLetterOrDigit ? Character(scalar) : "_"
    }
    let digest = SHA256.hash(data: name.utf8).prefix(4).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return String(letters.prefix(64)) + "_" + digest.joined()
  }
}
