/** View states as JSON: plain data stays as it is, and Maps become tagged lists. */

const MAP = "$map"
/** Marks plain data that has a tag as a key. */
const OBJECT = "$object"

export function toJson(value: unknown): unknown {
  if (value instanceof Map) return { [MAP]: [...value].map(([key, item]) => [key, toJson(item)]) }
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).map(([key, item]) => [key, toJson(item)] as const)
  return MAP in value || OBJECT in value ? { [OBJECT]: entries } : Object.fromEntries(entries)
}

export function fromJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromJson)
  if (typeof value !== "object" || value === null) return value
  const tagged = value as { [MAP]?: [unknown, unknown][]; [OBJECT]?: [string, unknown][] }
  if (tagged[MAP]) return new Map(tagged[MAP].map(([key, item]) => [key, fromJson(item)]))
  const entries = tagged[OBJECT] ?? Object.entries(value)
  return Object.fromEntries(entries.map(([key, item]) => [key, fromJson(item)]))
}
