/**
 * Converts an input schema to one that the API accepts: `"type": "object"` at the top, and no `anyOf`, `oneOf` or `allOf` there. A union of
 * objects becomes one object with the properties of all; its description lists the variants. Input is still validated with the tool's
 * schema.
 */
import type { JsonSchema } from "../../messages/tool-input.ts"

export interface ObjectSchema extends JsonSchema {
  readonly type: "object"
}

type Properties = Readonly<Record<string, JsonSchema>>

interface ObjectShape {
  readonly properties: Properties
  readonly required: readonly string[]
  /** Other keywords: `description`, `additionalProperties`, … */
  readonly more: JsonSchema
}

const COMBINED = ["anyOf", "oneOf", "allOf"] as const

export function asObjectSchema(schema: JsonSchema): ObjectSchema {
  const { $schema: _, ...root } = schema
  const isPlain = root.type === "object" && COMBINED.every((keyword) => root[keyword] === undefined)
  if (isPlain) return root as ObjectSchema
  const shape = shapeOf(root, { root, seen: [], steps: { left: MAX_STEPS } })
  if (!shape) throw new Error(`a tool's input is an object, but the schema describes ${kindOf(root)}.`)
  const { properties, required, more } = shape
  return {
    type: "object",
    ...more,
    ...pick(root, ["$defs", "definitions"]),
    properties: { ...properties },
    ...(required.length === 0 ? {} : { required: [...required] }),
  }
}

interface SchemaPosition {
  readonly root: JsonSchema
  /** References that were resolved on the way here. */
  readonly seen: readonly string[]
  readonly steps: { left: number }
}

const MAX_STEPS = 1_000 // nested references could grow without limit

/** The object shape of a schema. `undefined` if no object can match it. */
function shapeOf(schema: JsonSchema, position: SchemaPosition): ObjectShape | undefined {
  if (--position.steps.left < 0) throw new Error("a tool's input schema refers to itself too often.")
  if (typeof schema.$ref === "string") return shapeOfReference(schema.$ref, position)
  if ("const" in schema || "enum" in schema) return undefined
  if (schema.type !== undefined && ![schema.type].flat().includes("object")) return undefined
  const {
    type: _,
    properties = {},
    required = [],
    anyOf,
    oneOf,
    allOf,
    $defs: _$defs,
    definitions: _definitions,
    ...more
  } = schema
  const own: ObjectShape = { properties: properties as Properties, required: required as readonly string[], more }
  const unions = [anyOf, oneOf].filter((union) => union !== undefined).map((union) => unionOf(asList(union), position))
  const parts = asList(allOf).map((part) => shapeOf(part, position))
  const all = [own, ...parts, ...unions]
  return all.includes(undefined) ? undefined : intersectionOf(all as ObjectShape[])
}

function shapeOfReference(reference: string, { root, seen, steps }: SchemaPosition): ObjectShape | undefined {
  if (seen.includes(reference)) return undefined
  const names = reference.split("/").slice(1)
  const found = names.reduce<unknown>((schema, name) => (schema as JsonSchema | undefined)?.[unescaped(name)], root)
  return found === undefined ? undefined : shapeOf(found as JsonSchema, { root, seen: [...seen, reference], steps })
}

const unescaped = (name: string) => decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~")

/** Combines shapes that must all match. */
function intersectionOf(shapes: readonly ObjectShape[]): ObjectShape {
  const properties = merged(shapes, (schemas) => (schemas.length === 1 ? schemas[0]! : { allOf: schemas }))
  const descriptions = shapes.map(({ more }) => more.description).filter((text) => typeof text === "string")
  return {
    properties,
    required: [...new Set(shapes.flatMap(({ required }) => required))],
    more: {
      ...Object.assign({}, ...shapes.map(({ more }) => more)),
      ...(descriptions.length === 0 ? {} : { description: descriptions.join("\n") }),
    },
  }
}

/** Combines variants of which one must match. Variants that are not objects are omitted, because the model cannot send them. */
function unionOf(variants: readonly JsonSchema[], position: SchemaPosition): ObjectShape | undefined {
  const shapes = variants.map((variant) => shapeOf(variant, position)).filter((shape) => shape !== undefined)
  if (shapes.length < 2) return shapes[0]
  const isClosed = shapes.every(({ more }) => more.additionalProperties === false)
  return {
    properties: merged(shapes, anyOfThem),
    required: shapes[0]!.required.filter((name) => shapes.every(({ required }) => required.includes(name))),
    more: {
      description: `Use exactly one of these forms:\n${shapes.map(describeShape).join("\n")}`,
      ...(isClosed ? { additionalProperties: false } : {}),
    },
  }
}

/** Merges the properties of all shapes, each name once. */
function merged(shapes: readonly ObjectShape[], join: (schemas: readonly JsonSchema[]) => JsonSchema): Properties {
  const names = [...new Set(shapes.flatMap(({ properties }) => Object.keys(properties)))]
  return Object.fromEntries(
    names.map((name) => {
      const found = shapes.filter(({ properties }) => Object.hasOwn(properties, name))
      const distinct = new Map(found.map(({ properties }) => [JSON.stringify(properties[name]), properties[name]!]))
      return [name, join([...distinct.values()])]
    }),
  )
}

/** Combines the alternatives of a property. Constants, such as discriminators, become one `enum`. */
function anyOfThem(schemas: readonly JsonSchema[]): JsonSchema {
  if (schemas.length === 1) return schemas[0]!
  const [first] = schemas
  const areValues = schemas.every((schema) => "const" in schema && schema.type === first!.type)
  if (!areValues) return { anyOf: schemas }
  return { ...pick(first!, ["type"]), enum: schemas.map((schema) => schema.const) }
}

/** Describes a variant: `- kind: "circle", radius, color (optional)`, then its own description. */
function describeShape({ properties, required, more }: ObjectShape): string {
  const parts = Object.entries(properties).map(([name, schema]) => {
    const value = "const" in schema ? `: ${JSON.stringify(schema.const)}` : ""
    return `${name}${value}${required.includes(name) ? "" : " (optional)"}`
  })
  const suffix = typeof more.description === "string" ? ` – ${more.description}` : ""
  return `- ${parts.join(", ") || "no properties"}${suffix}`
}

function kindOf({ type, anyOf, oneOf }: JsonSchema): string {
  if (type !== undefined) return [type].flat().join(" or ")
  return anyOf || oneOf ? "a union without objects" : "something else"
}

const asList = (schemas: unknown): readonly JsonSchema[] => (Array.isArray(schemas) ? schemas : [])

const pick = (from: JsonSchema, keys: readonly string[]): JsonSchema =>
  Object.fromEntries(keys.filter((key) => from[key] !== undefined).map((key) => [key, from[key]]))
