import DataAccess
import Testing

@Suite struct RetryPolicyTests {
  @Test("delays double up to the longest one, whatever the numbers are")
  func delays() {
    let policy = RetryPolicy(attempts: 9, firstDelay: .seconds(1), longestDelay: .seconds(6), jitter: 0)
    #expect((1...5).map(policy.delay(after:)) == [1, 2, 4, 6, 6].map { .seconds($0) })
    var patient = policy
    (patient.firstDelay, patient.longestDelay) = (.seconds(20_000), .seconds(Int64.max))
    #expect(patient.delay(after: 64) > .seconds(Int64.max / 2))
    for (jitter, random) in [(Double.nan, 0.5), (.infinity, 0), (0.5, .nan), (7, 7), (-1, 1)] {
      var policy = policy
      policy.jitter = jitter
      policy.random = { random }
      let delay = policy.delay(after: 2)
      #expect(delay >= .zero && delay <= .seconds(2), "\(jitter) \(random)")
    }
  }
}
