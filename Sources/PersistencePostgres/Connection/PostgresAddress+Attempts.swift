import Foundation

extension PostgresAddress {
  /// The keywords and values of each attempt to connect, in order: one for each server of the URL.
  ///
  /// libpq passes on to the next server after an error only, so one that does not answer would use up the whole time.
  /// Where the environment or a service has a part in the list, libpq takes it as a whole.
  ///
  /// - Parameter environment: The variables of the process.
  /// - Returns: The parameters for libpq of each attempt.
  func attempts(_ environment: @autoclosure () -> [String: String] = ProcessInfo.processInfo.environment)
    -> [[(keyword: String, value: String)]]
  {
    let (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
    guard hosts.count > 1 else { return [parameters] }
    let environment = environment()
    let isOfURL =
      value("service") == nil
      && ["PGSERVICE", "PGHOSTADDR", "PGLOADBALANCEHOSTS"].allSatisfy { environment[$0] == nil }
      && (!ports.isEmpty || environment["PGPORT"]?.contains(",") != true)
    // libpq fills gaps, and tells what is wrong with lists of different lengths.
    guard isOfURL, !(hosts + addresses).contains(""),
      addresses.isEmpty || addresses.count == hosts.count, ports.count < 2 || ports.count == hosts.count
    else { return [parameters] }
    func attempt(_ place: Int, _ role: String?) -> [(keyword: String, value: String)] {
      var values = ["host": hosts[place]]
      if !addresses.isEmpty { values["hostaddr"] = addresses[place] }
      if let port = ports.count > 1 ? ports[place] : ports.first {
        values["port"] = port.isEmpty ? "5432" : port
      }
      values[Self.role] = role
      return parameters.filter { values[$0.keyword] == nil }
        + values.sorted { $0.key < $1.key }.map { ($0, $1) }
    }
    let role = role ?? environment["PGTARGETSESSIONATTRS"]
    let roles = role == "prefer-standby" ? ["standby", "any"] : [role]
    return roles.flatMap { role in hosts.indices.map { attempt($0, role) } }
  }

  private func value(_ keyword: String) -> String? { parameters.first { $0.keyword == keyword }?.value }

  /// The parts of a list; none if the URL has no such list.
  private func list(_ keyword: String) -> [String] {
    value(keyword)?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
  }
}
