import PersistenceDriver

/// Places in an order that an index or the key yields: the values of the order in the row before.
///
/// B-trees do not know how many rows come before one. So a place is noted every so many rows, as they are
/// visited, and from then on a jump is a seek and a short walk.
struct SQLiteKeysetBookmarks {
  /// How many rows lie between two noted places.
  static let distance = 256

  /// A place: the number of rows before it, counted without the request's offset, and the order's values in
  /// the last of them; nil for the beginning.
  struct Place {
    var number: Int
    var values: [PersistentValue]?
  }

  /// By number, ascending.
  private var noted: [Place] = []

  /// The ends of the pages read last, from which the next pages go on; several, for several readers.
  private var recent: [Place] = []
  private var nextRecent = 0
  private static let recentLimit = 8

  /// Notes a place that a walk has come by.
  mutating func note(_ number: Int, _ values: [PersistentValue]) {
    guard let last = noted.last, number <= last.number else {
      noted.append(Place(number: number, values: values))
      return
    }
    let index = index(after: number)
    guard index == 0 || noted[index - 1].number < number else { return }
    noted.insert(Place(number: number, values: values), at: index)
  }

  /// Notes the end of a page.
  mutating func noteRecent(_ number: Int, _ values: [PersistentValue]) {
    let place = Place(number: number, values: values)
    if let known = recent.firstIndex(where: { $0.number == number }) {
      recent[known] = place
    } else if recent.count < Self.recentLimit {
      recent.append(place)
    } else {
      recent[nextRecent] = place
      nextRecent = (nextRecent + 1) % Self.recentLimit
    }
  }

  /// The known place that comes last before a row, or the beginning.
  func nearest(notAfter number: Int) -> Place {
    let index = index(after: number)
    var nearest = index == 0 ? Place(number: 0, values: nil) : noted[index - 1]
    for place in recent where place.number <= number && place.number > nearest.number { nearest = place }
    return nearest
  }

  /// How many noted places are not after a number.
  private func index(after number: Int) -> Int {
    var (low, high) = (0, noted.count)
    while low < high {
      let middle = (low + high) / 2
      if noted[middle].number <= number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
