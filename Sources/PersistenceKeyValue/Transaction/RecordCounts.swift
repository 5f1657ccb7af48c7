/// The record counts of models that a transaction has read or changed, sorted by the models' numbers.
///
/// Most transactions change one model: an array costs them a single allocation.
struct RecordCounts {
  private struct Entry {
    let model: UInt16
    var count: Int
    /// Whether the store has another count.
    var isChanged: Bool
  }

  private var entries: [Entry] = []

  /// The changed counts, in the order of the models' numbers.
  var changed: some Sequence<(model: UInt16, count: Int)> {
    entries.lazy.filter(\.isChanged).map { ($0.model, $0.count) }
  }

  var hasChanges: Bool { entries.contains(where: \.isChanged) }

  /// The count of a model; nil if it is unknown.
  func count(of model: UInt16) -> Int? {
    let position = position(of: model)
    return isKnown(model, at: position) ? entries[position].count : nil
  }

  /// Keeps the count that the store has.
  mutating func read(_ count: Int, of model: UInt16) { set(count, of: model, isChanged: false) }

  /// Changes the count of a model.
  mutating func change(to count: Int, of model: UInt16) { set(count, of: model, isChanged: true) }

  mutating func forget(_ model: UInt16) {
    let position = position(of: model)
    if isKnown(model, at: position) { entries.remove(at: position) }
  }

  /// Marks all counts as those that the store has.
  mutating func changesWereWritten() {
    for position in entries.indices { entries[position].isChanged = false }
  }

  private mutating func set(_ count: Int, of model: UInt16, isChanged: Bool) {
    let position = position(of: model)
    let entry = Entry(model: model, count: count, isChanged: isChanged)
    if isKnown(model, at: position) { entries[position] = entry } else { entries.insert(entry, at: position) }
  }

  private func isKnown(_ model: UInt16, at position: Int) -> Bool {
    position < entries.count && entries[position].model == model
  }

  /// The position of the first entry whose model has the number, or a greater one.
  private func position(of model: UInt16) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].model < model { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
