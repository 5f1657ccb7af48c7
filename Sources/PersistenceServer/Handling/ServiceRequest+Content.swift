import Foundation
import PersistenceDriver
import PersistenceHTTP
import PersistencePrimitives

/// The body, parameters and tags of a request.
extension ServiceRequest {
  func json() throws -> JSONValue {
    do {
      return try body.withUnsafeBytes { try JSONParser.parse($0) }
    } catch let error as JSONSyntaxError {
      throw PersistenceError.invalidRequest("the body is not valid JSON: \(error)")
    }
  }

  func parameters(known: Set<String>) throws -> QueryParameters {
    try QueryParameters(parameters.map { $0[...] }, known: path.takesSchema ? known.union(["schema"]) : known)
  }

  /// The digests of the client's schemas, that of the path's model first; nil if the request has none.
  func schemaDigests() throws -> [String]? {
    guard path.takesSchema, let parameters, parameters.contains("schema") else { return nil }
    return try QueryParameters(parameters[...], known: nil)["schema"]
      .map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
  }

  /// The tags of the If-Match header, one of which the stored record must have.
  func ifMatchTags() throws -> EntityTag.List? {
    try ifMatch.map { try Self.list(EntityTag.List($0), "If-Match") }
  }

  /// The tags of the If-None-Match header, none of which the stored record may have.
  func ifNoneMatchTags() throws -> EntityTag.List? {
    try ifNoneMatch.map { try Self.list(EntityTag.List($0, matchesWeakly: true), "If-None-Match") }
  }

  private static func list(_ list: EntityTag.List?, _ name: String) throws -> EntityTag.List {
    guard let list else { throw PersistenceError.invalidRequest("the header \(name) is malformed") }
    return list
  }
}
