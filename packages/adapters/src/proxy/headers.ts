/** Headers as they are on the wire: name, value, name, value. So their order, their spelling and repeated ones stay. */

export type RawHeaders = readonly string[]

/** They belong to one connection. `expect` is answered by this server. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"],
  ...["te", "trailer", "transfer-encoding", "upgrade", "expect"],
])

const LISTED = /[\s,]+/

/** Without what belongs to the connection they came on. */
export function endToEnd(headers: RawHeaders): RawHeaders {
  const named = valuesOf(headers, "connection").flatMap((value) => value.toLowerCase().split(LISTED))
  return without(headers, [...HOP_BY_HOP, ...named])
}

/** `names` are in lower case. */
export function without(headers: RawHeaders, names: readonly string[]): RawHeaders {
  const dropped = new Set(names)
  return headers.filter((_, at) => !dropped.has(headers[at - (at % 2)]!.toLowerCase()))
}

/** The header with this value, where it was. One that was not there stays away. */
export function replaced(headers: RawHeaders, name: string, value: string): RawHeaders {
  const isIt = (at: number) => headers[at - (at % 2)]!.toLowerCase() === name
  return headers.map((text, at) => (at % 2 === 1 && isIt(at) ? value : text))
}

export function valuesOf(headers: RawHeaders, name: string): readonly string[] {
  return headers.filter((_, at) => at % 2 === 1 && headers[at - 1]!.toLowerCase() === name)
}

const UNSAFE = /[^\x20-\x7e]+/g
const MAX_CHARACTERS = 300

/** A sentence as the value of a header. */
export const headerText = (text: string): string => text.replace(UNSAFE, " ").trim().slice(0, MAX_CHARACTERS)
