/** Headers as on the wire: name, value, name, value. This preserves their order, spelling and repetitions. */

export type RawHeaders = readonly string[]

/** Headers of a single connection. This server handles `expect` itself. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"],
  ...["te", "trailer", "transfer-encoding", "upgrade", "expect"],
])

const LISTED = /[\s,]+/

/** Removes the headers of the connection that they came on. */
export function endToEnd(headers: RawHeaders): RawHeaders {
  const named = valuesOf(headers, "connection").flatMap((value) => value.toLowerCase().split(LISTED))
  return without(headers, [...HOP_BY_HOP, ...named])
}

/** `names` are in lower case. */
export function without(headers: RawHeaders, names: readonly string[]): RawHeaders {
  const dropped = new Set(names)
  return headers.filter((_, at) => !dropped.has(headers[at - (at % 2)]!.toLowerCase()))
}

/** Replaces the value of a header in place. A missing header is not added. */
export function replaced(headers: RawHeaders, name: string, value: string): RawHeaders {
  const isIt = (at: number) => headers[at - (at % 2)]!.toLowerCase() === name
  return headers.map((text, at) => (at % 2 === 1 && isIt(at) ? value : text))
}

export function valuesOf(headers: RawHeaders, name: string): readonly string[] {
  return headers.filter((_, at) => at % 2 === 1 && headers[at - 1]!.toLowerCase() === name)
}

const UNSAFE = /[^\x20-\x7e]+/g
const MAX_CHARACTERS = 300

/** Converts a sentence to a valid header value. */
export const headerText = (text: string): string => text.replace(UNSAFE, " ").trim().slice(0, MAX_CHARACTERS)
