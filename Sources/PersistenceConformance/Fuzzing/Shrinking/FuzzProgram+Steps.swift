extension FuzzProgram {
  /// Returns the steps of the transaction at a path, or of the program for an empty path.
  func steps(at path: [Int]) -> [FuzzStep] {
    path.reduce(steps) { steps, place in
      if place < steps.count, case .transaction(let inner, _) = steps[place] { inner } else { [] }
    }
  }

  /// Changes the steps of the transaction at a path.
  mutating func editSteps(at path: [Int], _ change: (inout [FuzzStep]) -> Void) {
    Self.edit(&steps, ArraySlice(path), change)
  }

  private static func edit(
    _ steps: inout [FuzzStep], _ path: ArraySlice<Int>, _ change: (inout [FuzzStep]) -> Void
  ) {
    guard let first = path.first else { return change(&steps) }
    guard first < steps.count, case .transaction(var inner, let ending) = steps[first] else { return }
    edit(&inner, path.dropFirst(), change)
    steps[first] = .transaction(inner, ending)
  }
}
