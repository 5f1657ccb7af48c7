import Foundation
import PersistenceDriver

/// All places that a run reads and writes, so that nothing that it writes destroys what it reads, or something else
/// that it writes.
///
/// A command names its places before it opens any of them.
struct PathConflicts {
  private struct Place {
    /// What it is to the user, such as `the source` or `--report`.
    let name: String
    let path: String
    let isStore: Bool
    let isWritten: Bool
    /// The place, and what an engine puts beside it.
    let files: [FileLocation]
    /// The URL's scheme and path, where the store has no files here.
    var elsewhere: [String] = []
  }

  private let stores: ToolStores
  private var places: [Place] = []

  init(_ stores: ToolStores) { self.stores = stores }

  /// Adds a store.
  ///
  /// - Throws: `PersistenceError` where the URL is wrong; ``ToolFailure`` where something else is there.
  mutating func addStore(_ text: String, as name: String, isWritten: Bool = false) throws {
    let url = try stores.check(text)
    guard !url.path.isEmpty else { return }
    let hasFiles = stores.hasFiles(url)
    let paths = hasFiles ? StoreSize.paths(at: url.path) : []
    try add(
      Place(
        name: name, path: StoreURL.redacted(text), isStore: true, isWritten: isWritten,
        files: paths.map(FileLocation.init), elsewhere: hasFiles ? [] : [url.scheme, url.path]))
  }

  /// Adds a file that is read.
  ///
  /// - Throws: ``ToolFailure`` where it is written, too.
  mutating func addInput(_ path: String, as name: String) throws {
    try add(Place(name: name, path: path, isStore: false, isWritten: false, files: [FileLocation(path)]))
  }

  /// Adds a file that is written, or removed.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - name: What it is to the user.
  ///   - replacesExisting: Whether a file that is there is replaced; otherwise it is an error.
  /// - Throws: ``ToolFailure`` where it cannot be made, or is something else, too.
  mutating func addOutput(_ path: String, as name: String, replacesExisting: Bool = true) throws {
    let file = FileLocation(path)
    try add(Place(name: name, path: path, isStore: false, isWritten: true, files: [file]))
    guard FileReplacement.canBeMade(path) else {
      throw ToolFailure.usage("\(name): there is no folder for \(path)")
    }
    if !replacesExisting { try FileReplacement.requireNone(at: path) }
  }

  private mutating func add(_ place: Place) throws {
    for other in places where place.isWritten || other.isWritten {
      try Self.requireApart(place, other)
    }
    places.append(place)
  }

  private static func requireApart(_ place: Place, _ other: Place) throws {
    if place.isStore, other.isStore {
      guard overlap(place, other) || (!place.elsewhere.isEmpty && place.elsewhere == other.elsewhere) else {
        return
      }
      throw ToolFailure.usage("\(other.name) and \(place.name) are one store, \(place.path)")
    }
    // Of a file and a store that are both written, the file is what destroys the other.
    let isFirst = place.isWritten && !(place.isStore && other.isWritten)
    let (written, kept) = isFirst ? (place, other) : (other, place)
    guard !overlap(written, kept) else {
      throw ToolFailure.usage("\(written.name) \(written.path) would be written over \(kept.name)")
    }
    guard !written.isStore, kept.isStore, let file = written.files.first, let store = kept.files.first,
      file.isWithin(store)
    else { return }
    throw ToolFailure.usage("\(written.name) \(written.path) would be written into \(kept.name)")
  }

  private static func overlap(_ place: Place, _ other: Place) -> Bool {
    place.files.contains { file in
      !file.isSpecial && other.files.contains { file.isSame(as: $0) }
    }
  }
}
