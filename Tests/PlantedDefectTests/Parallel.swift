/// Runs work six at a time, because most of a check is waiting, or single-threaded.
enum Parallel {
  static func map<Input: Sendable, Output: Sendable>(
    _ inputs: [Input], width: Int = 6, _ body: @escaping @Sendable (Input) async -> Output
  ) async -> [Output] {
    await withTaskGroup(of: (Int, Output).self) { group in
      var outputs: [Int: Output] = [:]
      for (number, input) in inputs.enumerated() {
        if number >= width, let (done, output) = await group.next() { outputs[done] = output }
        group.addTask { (number, await body(input)) }
      }
      for await (done, output) in group { outputs[done] = output }
      return inputs.indices.compactMap { outputs[$0] }
    }
  }
}
