import Foundation
import PersistenceConformance
import Testing

/// The corpus of the coverage-guided fuzzer, which `make fuzz-coverage` extends, as tests.
@Suite("Readers of bytes that others wrote")
struct CorpusTests {
  private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Corpus")
  private static let mutants = ProcessInfo.processInfo.environment["PERSISTENCE_SOAK"] == nil ? 20 : 2000

  private static func inputs(of target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
    let folder = corpus.appendingPathComponent(target.name)
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    return try files.sorted { $0.path < $1.path }.map {
      ($0.lastPathComponent, [UInt8](try Data(contentsOf: $0)))
    }
  }

  private func run(_ target: FuzzTarget, _ bytes: [UInt8], _ name: String) {
    do {
      try bytes.withUnsafeBytes { try target.run($0) }
    } catch {
      Issue.record("\(target.name), \(name), \(Data(bytes).base64EncodedString()): \(error)")
    }
  }

  @Test("each input of the corpus keeps the properties of its target", arguments: FuzzTarget.all.map(\.name))
  func corpus(_ name: String) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    let inputs = try Self.inputs(of: target)
    #expect(!inputs.isEmpty, "write the corpus with .ci/fuzz-coverage \(name)")
    for input in inputs { run(target, input.bytes, input.name) }
    run(target, [], "empty")
  }

  @Test(
    "each seed keeps the properties of its target, whole and damaged", arguments: FuzzTarget.all.map(\.name))
  func seeds(_ name: String) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    let seeds = try target.seeds()
    var random = SeededGenerator(seed: 11)
    for (number, seed) in seeds.enumerated() {
      run(target, seed, "seed \(number)")
      for _ in 0..<Self.mutants {
        run(target, Self.mutant(of: seed, seeds, &random), "a mutant of seed \(number)")
      }
    }
  }

  @Test("the coverage-guided fuzzer has a corpus of each target, and no other")
  func folders() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path)
    #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
  }

  /// A seed with a few bytes changed, a part removed, or a part of another seed inserted.
  private static func mutant(of seed: [UInt8], _ seeds: [[UInt8]], _ random: inout SeededGenerator) -> [UInt8]
  {
    var bytes = seed
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
      let position = Int.random(in: bytes.indices, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes[position] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 2:
        let end = min(bytes.count, position + Int.random(in: 1...16, using: &random))
        bytes.removeSubrange(position..<end)
      default:
        let other = seeds[Int.random(in: seeds.indices, using: &random)]
        let start = Int.random(in: 0...other.count, using: &random)
        bytes.insert(contentsOf: other[start...].prefix(32), at: position)
      }
    }
    return bytes
  }
}
