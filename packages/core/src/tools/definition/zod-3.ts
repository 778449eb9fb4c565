/**
 * Converts zod 3 schemas to JSON Schema, because zod 3 has no converter. It covers the types that are common in tool inputs. Any other type
 * accepts every value, because zod still validates the input.
 */
import type { JsonSchema } from "../../messages/tool-input.ts"

interface Zod3Schema {
  readonly _def: Zod3Definition
}

/** The parts of a zod 3 definition that are read here. The type determines which of them exist. */
interface Zod3Definition {
  readonly typeName: string
  readonly description?: string
  readonly checks?: readonly Check[]
  readonly shape?: () => Readonly<Record<string, Zod3Schema>>
  readonly unknownKeys?: "strip" | "strict" | "passthrough"
  readonly type?: Zod3Schema
  readonly schema?: Zod3Schema
  readonly innerType?: Zod3Schema
  readonly valueType?: Zod3Schema
  readonly in?: Zod3Schema
  readonly left?: Zod3Schema
  readonly right?: Zod3Schema
  readonly items?: readonly Zod3Schema[]
  readonly options?: readonly Zod3Schema[] | ReadonlyMap<unknown, Zod3Schema>
  readonly values?: readonly string[] | Readonly<Record<string, string | number>>
  readonly value?: unknown
  readonly getter?: () => Zod3Schema
  readonly defaultValue?: () => unknown
  readonly minLength?: { readonly value: number } | null
  readonly maxLength?: { readonly value: number } | null
}

interface Check {
  readonly kind: string
  readonly value?: number
  readonly inclusive?: boolean
  readonly regex?: RegExp
}

export function isZod3(schema: object): schema is Zod3Schema {
  return typeof (schema as Partial<Zod3Schema>)._def?.typeName === "string" && !("_zod" in schema)
}

/** `inside`: the enclosing schemas. A schema that contains itself accepts every value there. */
export function zod3ToJsonSchema(schema: Zod3Schema, inside: readonly Zod3Schema[] = []): JsonSchema {
  if (inside.includes(schema)) return {}
  const { description } = schema._def
  const convert = CONVERTERS[schema._def.typeName]
  const converted = convert?.(schema._def, (inner) => zod3ToJsonSchema(inner, [...inside, schema])) ?? {}
  return description === undefined ? converted : { ...converted, description }
}

type Convert = (definition: Zod3Definition, inner: (schema: Zod3Schema) => JsonSchema) => JsonSchema

const CONVERTERS: Readonly<Record<string, Convert | undefined>> = {
  ZodString: ({ checks }) => ({ type: "string", ...constraints(checks, STRING_CHECKS) }),
  ZodNumber: ({ checks }) => ({
    type: isInteger(checks) ? "integer" : "number",
    ...constraints(checks, NUMBER_CHECKS),
  }),
  ZodBoolean: () => ({ type: "boolean" }),
  ZodNull: () => ({ type: "null" }),
  ZodLiteral: ({ value }) => ({ const: value }),
  ZodEnum: ({ values }) => ({ type: "string", enum: values }),
  ZodNativeEnum: ({ values = {} }) => ({ enum: enumValues(values as Readonly<Record<string, string | number>>) }),
  ZodObject: objectSchema,
  ZodRecord: ({ valueType }, inner) => ({ type: "object", additionalProperties: inner(valueType!) }),
  ZodArray: ({ type, minLength, maxLength }, inner) => ({
    type: "array",
    items: inner(type!),
    ...(minLength ? { minItems: minLength.value } : {}),
    ...(maxLength ? { maxItems: maxLength.value } : {}),
  }),
  ZodTuple: ({ items = [] }, inner) => ({
    type: "array",
    prefixItems: items.map(inner),
    minItems: items.length,
    maxItems: items.length,
  }),
  ZodUnion: union,
  ZodDiscriminatedUnion: union,
  ZodIntersection: ({ left, right }, inner) => ({ allOf: [inner(left!), inner(right!)] }),
  ZodNullable: ({ innerType }, inner) => ({ anyOf: [inner(innerType!), { type: "null" }] }),
  ZodOptional: ({ innerType }, inner) => inner(innerType!),
  ZodDefault: ({ innerType, defaultValue }, inner) => ({ ...inner(innerType!), default: defaultValue!() }),
  ZodCatch: ({ innerType }, inner) => inner(innerType!),
  ZodReadonly: ({ innerType }, inner) => inner(innerType!),
  ZodBranded: ({ type }, inner) => inner(type!),
  ZodEffects: ({ schema }, inner) => inner(schema!),
  ZodPipeline: ({ in: input }, inner) => inner(input!),
  ZodLazy: ({ getter }, inner) => inner(getter!()),
}

function objectSchema({ shape, unknownKeys }: Zod3Definition, inner: (schema: Zod3Schema) => JsonSchema): JsonSchema {
  const entries = Object.entries(shape!())
  const required = entries.filter(([, schema]) => !isOptional(schema)).map(([name]) => name)
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, schema]) => [name, inner(schema)])),
    ...(required.length === 0 ? {} : { required }),
    ...(unknownKeys === "strict" ? { additionalProperties: false } : {}),
  }
}

function union({ options = [] }: Zod3Definition, inner: (schema: Zod3Schema) => JsonSchema): JsonSchema {
  return { anyOf: [...(options as Iterable<Zod3Schema>)].map(inner) }
}

/** Whether the key is optional. Asks zod, because an effect or a lazy schema can be optional inside. */
function isOptional(schema: Zod3Schema): boolean {
  return (schema as Zod3Schema & { isOptional(): boolean }).isOptional()
}

type CheckTable = Readonly<Record<string, ((check: Check) => JsonSchema) | undefined>>

const STRING_CHECKS: CheckTable = {
  min: ({ value }) => ({ minLength: value }),
  max: ({ value }) => ({ maxLength: value }),
  length: ({ value }) => ({ minLength: value, maxLength: value }),
  regex: ({ regex }) => ({ pattern: regex!.source }),
  email: () => ({ format: "email" }),
  url: () => ({ format: "uri" }),
  uuid: () => ({ format: "uuid" }),
  datetime: () => ({ format: "date-time" }),
  date: () => ({ format: "date" }),
}

const NUMBER_CHECKS: CheckTable = {
  min: ({ value, inclusive }) => (inclusive ? { minimum: value } : { exclusiveMinimum: value }),
  max: ({ value, inclusive }) => (inclusive ? { maximum: value } : { exclusiveMaximum: value }),
  multipleOf: ({ value }) => ({ multipleOf: value }),
}

const isInteger = (checks: readonly Check[] = []) => checks.some(({ kind }) => kind === "int")

function constraints(checks: readonly Check[] = [], table: CheckTable): JsonSchema {
  return Object.assign({}, ...checks.map((check) => table[check.kind]?.(check) ?? {}))
}

/** Values of an enum. A numeric enum has its names both as keys and as values, so only its numbers are returned. */
function enumValues(values: Readonly<Record<string, string | number>>): readonly (string | number)[] {
  return Object.entries(values)
    .filter(([name]) => typeof values[values[name]!] !== "number")
    .map(([, value]) => value)
}
