/**
 * Makes a value that fits a JSON schema: for structured outputs, and for the input of a tool that a client forces.
 * The same schema and words always give the same value.
 */

export type JsonSchema = Readonly<Record<string, unknown>>

export interface SampleOptions {
  /** The text of strings without a rule of their own. */
  readonly words: string
  /** Whether objects also get their optional properties. */
  readonly optional: boolean
}

const MAX_DEPTH = 24 // levels; a schema that requires itself recursively has no value
const MAX_OPTIONAL_DEPTH = 4 // levels of optional properties, so that a recursive tree stays small
const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "2026-01-01T00:00:00Z",
  date: "2026-01-01",
  time: "00:00:00Z",
  duration: "P1D",
  email: "someone@example.com",
  hostname: "example.com",
  ipv4: "127.0.0.1",
  ipv6: "::1",
  uri: "https://example.com/",
  url: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
}
/** Tried in this order for a `pattern`. */
const CANDIDATES = [
  "a",
  "A",
  "1",
  "abc",
  "ABC",
  "123",
  "abc-123",
  "ABC-123",
  "a_b",
  "a.b",
  "1.0.0",
  "#000000",
  "/a",
  "",
]

/** Thrown internally: this branch of the schema has no value, and another one is tried. */
class NoValue extends Error {}

/** A value that fits the schema, or `undefined` if none was found. */
export function sampleJson(schema: JsonSchema, options: SampleOptions): unknown {
  try {
    return new Sampler(schema, options).sample(schema, 0)
  } catch (error) {
    if (error instanceof NoValue) return undefined
    throw error
  }
}

class Sampler {
  private readonly root: JsonSchema
  private readonly options: SampleOptions

  constructor(root: JsonSchema, options: SampleOptions) {
    this.root = root
    this.options = options
  }

  sample(given: unknown, depth: number): unknown {
    if (given === false || depth > MAX_DEPTH) throw new NoValue()
    const schema = this.flatten(given, depth)
    if ("const" in schema) return schema.const
    if (Array.isArray(schema.enum)) return schema.enum.find((value) => value !== null) ?? schema.enum[0]
    const alternatives = [schema.anyOf, schema.oneOf].find(Array.isArray)
    if (alternatives) return this.firstOf(alternatives, schema, depth)
    switch (typeOf(schema)) {
      case "object":
        return this.object(schema, depth)
      case "array":
        return this.array(schema, depth)
      case "integer":
      case "number":
        return numberFor(schema)
      case "boolean":
        return true
      case "null":
        return null
      default:
        return this.string(schema)
    }
  }

  /** The schema with `$ref` and `allOf` resolved. */
  private flatten(given: unknown, depth: number): JsonSchema {
    if (depth > MAX_DEPTH) throw new NoValue()
    const { $ref, allOf, ...own } = record(given)
    const parts = [
      ...(typeof $ref === "string" ? [this.flatten(this.resolve($ref), depth + 1)] : []),
      ...(Array.isArray(allOf) ? allOf.map((part) => this.flatten(part, depth + 1)) : []),
    ]
    return parts.reduceRight<JsonSchema>((all, part) => merge(part, all), own)
  }

  private resolve(reference: string): unknown {
    if (!reference.startsWith("#")) throw new NoValue()
    const steps = reference.slice(1).split("/").slice(1)
    return steps.reduce<unknown>((place, step) => {
      const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~")
      const inner = (place as Record<string, unknown> | undefined)?.[name]
      if (inner === undefined) throw new NoValue()
      return inner
    }, this.root)
  }

  /** The first alternative that has a value, and `null` only if nothing else does. */
  private firstOf(alternatives: readonly unknown[], schema: JsonSchema, depth: number): unknown {
    const { anyOf: _, oneOf: __, ...shared } = schema
    const isNull = (alternative: unknown) => record(alternative).type === "null"
    const ordered = [...alternatives.filter((one) => !isNull(one)), ...alternatives.filter(isNull)]
    for (const alternative of ordered) {
      try {
        return this.sample(merge(this.flatten(alternative, depth + 1), shared), depth + 1)
      } catch (error) {
        if (!(error instanceof NoValue)) throw error
      }
    }
    throw new NoValue()
  }

  private object(schema: JsonSchema, depth: number): Record<string, unknown> {
    const properties = record(schema.properties)
    const required = new Set(Array.isArray(schema.required) ? schema.required.map(String) : [])
    const value: Record<string, unknown> = {}
    for (const name of new Set([...Object.keys(properties), ...required])) {
      if (required.has(name)) {
        value[name] = this.sample(properties[name] ?? record(schema.additionalProperties), depth + 1)
      } else if (this.options.optional && depth < MAX_OPTIONAL_DEPTH) {
        this.attempt(() => {
          value[name] = this.sample(properties[name], depth + 1)
        })
      }
    }
    for (let extra = 1; Object.keys(value).length < (numberOf(schema.minProperties) ?? 0); extra++) {
      value[`key${extra}`] = this.sample(schema.additionalProperties ?? {}, depth + 1)
    }
    return value
  }

  private array(schema: JsonSchema, depth: number): unknown[] {
    const min = numberOf(schema.minItems) ?? 0
    const tuple = Array.isArray(schema.prefixItems) ? schema.prefixItems : []
    const wanted = depth < MAX_OPTIONAL_DEPTH && this.options.optional ? Math.max(1, min) : min
    const count = Math.min(Math.max(wanted, tuple.length), numberOf(schema.maxItems) ?? Number.POSITIVE_INFINITY)
    const items: unknown[] = []
    for (let index = 0; index < count; index++) {
      const item = () => this.sample(tuple[index] ?? schema.items ?? {}, depth + 1)
      if (index < min) items.push(item())
      else this.attempt(() => items.push(item()))
    }
    return schema.uniqueItems === true ? items.map((item, index) => distinct(item, index)) : items
  }

  private attempt(make: () => void): void {
    try {
      make()
    } catch (error) {
      if (!(error instanceof NoValue)) throw error
    }
  }

  private string(schema: JsonSchema): string {
    const shortest = numberOf(schema.minLength) ?? 0
    const longest = numberOf(schema.maxLength) ?? Number.POSITIVE_INFINITY
    const known = FORMATS[`${schema.format}`]
    if (known !== undefined) return known
    const fit = (text: string) => text.padEnd(shortest, ".").slice(0, longest)
    if (typeof schema.pattern !== "string") return fit(this.options.words)
    const pattern = new RegExp(schema.pattern, "u")
    const fits = [fit(this.options.words), ...CANDIDATES].find(
      (text) => pattern.test(text) && text.length >= shortest && text.length <= longest,
    )
    if (fits === undefined) throw new NoValue()
    return fits
  }
}

/** Joins two schemas that both apply. Where both define a keyword, the narrower list or the second schema wins. */
function merge(first: JsonSchema, second: JsonSchema): JsonSchema {
  const merged: Record<string, unknown> = { ...first, ...second }
  if (first.properties || second.properties) {
    merged.properties = { ...record(first.properties), ...record(second.properties) }
  }
  if (Array.isArray(first.required) || Array.isArray(second.required)) {
    merged.required = [...new Set([first.required ?? [], second.required ?? []].flat())]
  }
  return merged
}

const record = (value: unknown): JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonSchema) : {}

const numberOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined)

function typeOf(schema: JsonSchema): unknown {
  const types = [schema.type ?? []].flat()
  const [type] = [...types.filter((name) => name !== "null"), ...types]
  return type ?? (schema.properties ? "object" : schema.items || schema.prefixItems ? "array" : "string")
}

function numberFor(schema: JsonSchema): number {
  const step = numberOf(schema.multipleOf) ?? (typeOf(schema) === "integer" ? 1 : undefined)
  const above = numberOf(schema.exclusiveMinimum)
  const below = numberOf(schema.exclusiveMaximum)
  const min = numberOf(schema.minimum) ?? (above === undefined ? undefined : above + (step ?? 0.5))
  const max = numberOf(schema.maximum) ?? (below === undefined ? undefined : below - (step ?? 0.5))
  const value = Math.min(Math.max(1, min ?? Number.NEGATIVE_INFINITY), max ?? Number.POSITIVE_INFINITY)
  if (step === undefined || Number.isInteger(value / step)) return value
  const up = Math.ceil(value / step) * step
  return max !== undefined && up > max ? Math.floor(value / step) * step : up
}

/** Makes items differ: texts and numbers are counted up, anything else stays. */
function distinct(item: unknown, index: number): unknown {
  if (index === 0) return item
  return typeof item === "string" ? `${item} ${index + 1}` : typeof item === "number" ? item + index : item
}
