import Foundation
import PersistenceCore

/// E5: every block of a store, damaged in every way.
enum DamagedBlockChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a damaged block causes no crash, no hang and no untyped error", [.e5], needs: [.writable, .files],
      survived
    ).slow,
    ConformanceCheck(
      "a damaged block is detected, or the records are read as they were written", [.e5],
      needs: [.writable, .files, .detectingDamage], detected
    ).slow,
  ]

  /// A closed store with a few records of two models, of which one has indexes.
  static func filled(_ context: ContextUnderTest) throws -> (StoreUnderTest, digest: String) {
    let store = try context.makeStore()
    let repository = try store.open()
    try repository.save(contentsOf: (1...4).map { Account($0, balance: $0, note: "the note of \($0)") })
    var people = Person.random(6, seed: 96)
    for index in people.indices { people[index].name = String(repeating: "name \(index) ", count: 250) }
    try repository.save(contentsOf: people)
    let digest = try StoreDigest.of(repository)
    try repository.close()
    return (store, digest)
  }

  /// Every block of every file with every kind of damage, or a part of them.
  static func variants(
    _ store: StoreUnderTest, _ context: ContextUnderTest, atMost count: Int,
    where isWanted: (Damage) -> Bool = { _ in true }
  ) throws -> StoreVariants {
    var variants: [StoreVariants.Variant] = []
    for (file, data) in try store.contents().sorted(by: { $0.key < $1.key }) where !data.isEmpty {
      let size = data.count >= 8192 ? 4096 : max(16, data.count / 4)
      let blocks = stride(from: 0, to: data.count, by: size).map { $0..<min($0 + size, data.count) }
      for (number, block) in blocks.enumerated() {
        let other = blocks[(number + 1) % blocks.count]
        for damage in damages(block, other) where isWanted(damage) {
          let name = "block \(number) of \(size) bytes \(damage.name)"
          variants.append(.init(file: file, name: name, apply: damage.apply))
        }
      }
    }
    var random = SeededGenerator(seed: context.seed ?? 99)
    variants.shuffle(using: &random)
    return StoreVariants(
      original: store, variants: Array(variants.prefix(context.effort.times(count, thorough: .max))))
  }

  /// A change of a file's bytes.
  struct Damage {
    let name: String
    /// Whether the file keeps its size.
    let keepsSize: Bool
    let apply: (Data) -> Data

    init(_ name: String, keepsSize: Bool = true, _ apply: @escaping (Data) -> Data) {
      (self.name, self.keepsSize, self.apply) = (name, keepsSize, apply)
    }
  }

  private static func damages(_ block: Range<Int>, _ other: Range<Int>) -> [Damage] {
    let middle = (block.lowerBound + block.upperBound) / 2
    return [
      Damage("with a flipped bit") { data in
        var data = data
        data[middle] ^= 0x10
        return data
      },
      Damage("with a changed letter") { data in
        // The first letter of a text, if there is one: no structure of the file shows that change.
        var data = data
        let place = data[block].firstIndex { (0x61...0x79).contains($0) } ?? block.lowerBound
        data[place] &+= 1
        return data
      },
      Damage("filled with zeros") { data in
        var data = data
        data.resetBytes(in: block)
        return data
      },
      // A byte remains: an empty file can be what an interrupted creation left, which is a new store.
      Damage("and all after it cut off", keepsSize: false) { Data($0.prefix(max(1, block.lowerBound))) },
      Damage("written twice", keepsSize: false) {
        $0.prefix(block.upperBound) + $0[block] + $0.dropFirst(block.upperBound)
      },
      Damage("exchanged with the next one", keepsSize: block.count == other.count) { data in
        guard block.count == other.count else { return Data(data.prefix(middle)) }
        var changed = data
        changed.replaceSubrange(block, with: data[other])
        changed.replaceSubrange(other, with: data[block])
        return changed
      },
    ]
  }

  @Sendable private static func survived(_ context: ContextUnderTest) throws {
    let (store, _) = try filled(context)
    for answer in try variants(store, context, atMost: 12).examine() {
      try expect(answer.kind == "digest" || answer.kind == "error", answer.description)
    }
  }

  @Sendable private static func detected(_ context: ContextUnderTest) throws {
    let (store, digest) = try filled(context)
    for answer in try variants(store, context, atMost: 40).examine() {
      let isWhole = answer.text == "digest \(digest)"
      try expect(
        isWhole || answer.kind == "error",
        "\(answer.variant.file), \(answer.variant.name): changed records were read")
    }
  }
}
