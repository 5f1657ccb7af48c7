import Foundation

extension Person {
  init(
    _ id: String, age: Int? = nil, score: Double = 0, height: Double? = nil, email: String? = nil,
    team: String = "", seat: Int? = nil
  ) {
    self.init(id)
    (self.age, self.score, self.height) = (age, score, height)
    (self.email, self.team, self.seat) = (email, team, seat)
  }

  /// Returns people with few different values, so that orders have ties and filters have matches.
  package static func random(_ count: Int, seed: UInt64) -> [Person] {
    var random = SeededGenerator(seed: seed)
    let names = ["Ada", "ada", "Émile", "E\u{301}mile", "", "Zoë", "100%", "a_b", "李", "👩‍🚀", "O'Neil", "x\0y"]
    return (0..<count).map { number in
      var person = Person("\(random.pick(["p", "q", "é"]))-\(number)")
      person.name = random.pick(names)
      person.age = random.oneIn(4) ? nil : random.int(0...5)
      person.score = random.pick([0, 0.5, -1, .infinity, .nan, 2])
      person.height = random.oneIn(3) ? nil : random.pick([0, 0.5, -1, .nan])
      person.team = random.pick(["red", "blue", "Red", ""])
      person.email = random.oneIn(2) ? nil : "\(number)@example.org"
      person.seat = random.oneIn(2) ? nil : number
      person.joined = random.oneIn(3) ? nil : Date(timeIntervalSinceReferenceDate: Double(random.int(0...3)))
      person.tags = random.pick([[], ["a"], ["a", "b"], ["b", "a"]])
      return person
    }
  }
}
