/**
 * The part of JSON Schema that tool definitions use: validates an input, and creates the smallest valid one. Unknown keywords accept
 * everything.
 */

export type Schema = Readonly<Record<string, unknown>>

/** The problems of a value, each as `path: problem`. Empty if it is valid. */
export function findProblems(schema: Schema, value: unknown): string[] {
  const alternatives = alternativesOf(schema)
  if (alternatives !== undefined) {
    const fits = alternatives.some((alternative) => findProblems(alternative, value).length === 0)
    return fits ? [] : [": fits none of the alternatives"]
  }
  if ("const" in schema && schema.const !== value) return [`: is not ${JSON.stringify(schema.const)}`]
  if (Array.isArray(schema.enum) && !schema.enum.includes(value)) return [": is not one of the values"]
  const types = [schema.type ?? []].flat()
  if (types.length > 0 && !types.some((type) => hasType(value, type))) return [`: is not ${types.join(" or ")}`]
  if (typeof value === "string") return stringProblems(schema, value)
  if (typeof value === "number") return numberProblems(schema, value)
  if (Array.isArray(value)) return arrayProblems(schema, value)
  if (isRecord(value)) return objectProblems(schema, value)
  return []
}

/** The smallest valid value. Its strings are made from `words`. */
export function sampleValue(schema: Schema, words: string): unknown {
  const [alternative] = alternativesOf(schema) ?? []
  if (alternative !== undefined) return sampleValue(alternative, words)
  if ("const" in schema) return schema.const
  if ("default" in schema) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0]
  const [type] = [schema.type ?? "string"].flat()
  switch (type) {
    case "object":
      return completeInput(schema, { input: {}, words })
    case "array": {
      const count = numberOf(schema.minItems) ?? 0
      return Array.from({ length: count }, () => sampleValue(schemaOf(schema.items), words))
    }
    case "integer":
    case "number":
      return numberOf(schema.minimum) ?? (numberOf(schema.exclusiveMinimum) ?? 0) + 1
    case "boolean":
      return false
    case "null":
      return null
    default:
      return sampleString(schema, words)
  }
}

/** The given values, and the smallest valid value for every other required property. */
export function completeInput(schema: Schema, given: { input: Record<string, unknown>; words: string }) {
  const input = { ...given.input }
  for (const name of requiredOf(schema)) {
    if (!(name in input)) input[name] = sampleValue(propertiesOf(schema)[name] ?? {}, given.words)
  }
  return input
}

export function propertiesOf(schema: Schema): Readonly<Record<string, Schema>> {
  return isRecord(schema.properties) ? (schema.properties as Record<string, Schema>) : {}
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

export function schemaOf(value: unknown): Schema {
  return isRecord(value) ? value : {}
}

function requiredOf(schema: Schema): string[] {
  return Array.isArray(schema.required) ? schema.required.map(String) : []
}

function alternativesOf(schema: Schema): Schema[] | undefined {
  const list = schema.anyOf ?? schema.oneOf
  return Array.isArray(list) ? list.map(schemaOf) : undefined
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined
}

function hasType(value: unknown, type: unknown): boolean {
  switch (type) {
    case "object":
      return isRecord(value)
    case "array":
      return Array.isArray(value)
    case "integer":
      return Number.isInteger(value)
    case "null":
      return value === null
    default:
      return typeof value === type
  }
}

function sampleString(schema: Schema, words: string): string {
  const shortest = numberOf(schema.minLength) ?? 0
  const longest = numberOf(schema.maxLength) ?? Number.POSITIVE_INFINITY
  return words.padEnd(shortest, ".").slice(0, longest)
}

function stringProblems(schema: Schema, value: string): string[] {
  const problems = []
  if (value.length < (numberOf(schema.minLength) ?? 0)) problems.push(": is too short")
  if (value.length > (numberOf(schema.maxLength) ?? Number.POSITIVE_INFINITY)) problems.push(": is too long")
  const { pattern } = schema
  if (typeof pattern === "string" && !new RegExp(pattern, "u").test(value)) problems.push(": breaks the pattern")
  return problems
}

function numberProblems(schema: Schema, value: number): string[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  const tooSmall = value < (numberOf(minimum) ?? -Infinity) || value <= (numberOf(exclusiveMinimum) ?? -Infinity)
  const tooLarge = value > (numberOf(maximum) ?? Infinity) || value >= (numberOf(exclusiveMaximum) ?? Infinity)
  return tooSmall ? [": is too small"] : tooLarge ? [": is too large"] : []
}

function arrayProblems(schema: Schema, value: readonly unknown[]): string[] {
  if (value.length < (numberOf(schema.minItems) ?? 0)) return [": has too few items"]
  if (value.length > (numberOf(schema.maxItems) ?? Infinity)) return [": has too many items"]
  const items = schemaOf(schema.items)
  return value.flatMap((item, index) => findProblems(items, item).map((problem) => `[${index}]${problem}`))
}

function objectProblems(schema: Schema, value: Record<string, unknown>): string[] {
  const properties = propertiesOf(schema)
  const missing = requiredOf(schema).filter((name) => !(name in value))
  const extra = schema.additionalProperties === false ? Object.keys(value).filter((name) => !(name in properties)) : []
  return [
    ...missing.map((name) => `.${name}: is missing`),
    ...extra.map((name) => `.${name}: is not known`),
    ...Object.entries(value).flatMap(([name, item]) =>
      name in properties ? findProblems(properties[name]!, item).map((problem) => `.${name}${problem}`) : [],
    ),
  ]
}
