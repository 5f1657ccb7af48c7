import Foundation

/// The disk space of a store.
enum StoreSize {
  /// The store's file or folder, and the engines' companion files.
  static func paths(at path: String) -> [String] {
    [path] + ["-wal", "-shm", "-journal", "-lock"].map { path + $0 }
  }

  /// The allocated size of the store's files in bytes, without holes in sparse files; nil without files.
  static func bytes(atPath path: String) -> Int? {
    let sizes = paths(at: path).compactMap(bytes(at:))
    return sizes.isEmpty ? nil : sizes.reduce(0, +)
  }

  private static func bytes(at path: String) -> Int? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    var total = Int(status.st_blocks) * 512
    guard status.st_mode & S_IFMT == S_IFDIR else { return total }
    for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
      total += bytes(at: path + "/" + name) ?? 0
    }
    return total
  }

  static func text(_ bytes: Int) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
    var amount = Double(bytes)
    var unit = 0
    while amount >= 1024, unit < units.count - 1 {
      amount /= 1024
      unit += 1
    }
    let shown = unit == 0 || amount >= 100 ? "\(Int(amount.rounded()))" : "\((amount * 10).rounded() / 10)"
    return "\(shown) \(units[unit])"
  }
}
