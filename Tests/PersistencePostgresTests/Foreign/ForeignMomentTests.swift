#if Postgres
  import PersistenceDriver
  import Testing

  @testable import PersistencePostgres

  /// Dates as moments of the server, which counts microseconds.
  @Suite struct ForeignMomentTests {
    /// The origin of dates, in the server's microseconds.
    private let origin: Int64 = 366 * PostgresMoment.microsecondsOfDay

    @Test("V2 each moment within 272 years has a date of its own, and later ones where the date is exact")
    func exactness() {
      var generator = SystemRandomNumberGenerator()
      for _ in 0..<20_000 {
        let moment =
          origin + Int64.random(in: -8_589_000_000_000_000...8_589_000_000_000_000, using: &generator)
        let seconds = PostgresMoment.exactSeconds(moment)
        #expect(seconds != nil && seconds.flatMap(PostgresMoment.nearest(to:)) == moment, "\(moment)")
        let later = Int64.random(in: -200_000_000_000...9_000_000_000_000, using: &generator) * 1_000_000
        #expect(PostgresMoment.exactSeconds(later) != nil, "\(later)")
      }
      #expect(PostgresMoment.exactSeconds(.max) == .infinity)
      #expect(PostgresMoment.exactSeconds(.min) == -.infinity)
      #expect(PostgresMoment.exactSeconds(PostgresMoment.range.lowerBound) != nil)
      #expect(PostgresMoment.exactSeconds(PostgresMoment.range.lowerBound - 1) == nil)
      #expect(PostgresMoment.exactSeconds(PostgresMoment.range.lowerBound + 1) == nil)
      #expect(PostgresMoment.nearest(to: .nan) == nil)
      #expect(PostgresMoment.nearest(to: 1e300) == nil)
      for seconds in [9.2233404e12, 9.2233721e12, 9.25e12, 9.2999e12, 9.3e12] {
        for seconds in [seconds, -seconds] {
          #expect(PostgresMoment.nearest(to: seconds) == nil, "\(seconds)")
          #expect(PostgresMomentBounds(around: seconds, step: 1) == nil, "\(seconds)")
        }
      }
      // The last second of the year 294276.
      #expect(PostgresMoment.nearest(to: 9_223_339_708_799) == PostgresMoment.range.upperBound - 1_000_000)
    }

    @Test("V4 the moments around a date are the last one before it and the first one after it, in each unit")
    func bounds() throws {
      var generator = SystemRandomNumberGenerator()
      for step in [1, 1_000, 1_000_000, PostgresMoment.microsecondsOfDay] {
        for _ in 0..<5_000 {
          let date = Double.random(in: -8e9...8e9, using: &generator)
          let bounds = try #require(PostgresMomentBounds(around: date, step: step))
          #expect(bounds.last % step == 0 && bounds.first % step == 0)
          #expect(PostgresMoment.seconds(bounds.last) <= date && PostgresMoment.seconds(bounds.first) >= date)
          #expect(bounds.first == bounds.last || bounds.first == bounds.last + step)
          #expect(bounds.first != bounds.last || PostgresMoment.seconds(bounds.last) == date)
        }
        let infinite = try #require(PostgresMomentBounds(around: .infinity, step: step))
        #expect(infinite.first == .max && infinite.last == .max)
        #expect(PostgresMomentBounds(around: .nan, step: step) == nil)
      }
    }
  }
#endif
