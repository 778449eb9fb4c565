/**
 * ToolSearch: finds undeclared tools by search terms or by name, and loads them. If the model supports references to tools, the result
 * consists of references. Otherwise the definitions follow as an attachment, and CallTool calls the tools.
 */
import * as z from "zod/v4"
import { searchTerms } from "../../base/search-terms.ts"
import { promptText } from "../../base/text.ts"
import type { AddedTool } from "../../messages/attachments.ts"
import type { Block } from "../../messages/blocks.ts"
import { isStandardSchema } from "../../messages/tool-input.ts"
import { toolDefinition } from "../definition/definition.ts"
import type { Tool, ToolOutput } from "../tool.ts"
import { CALL_TOOL, SEARCH_TOOL } from "./deferrable.ts"

const MAX_RESULTS = 5
const MAX_RESULTS_ASKED = 20
const MAX_QUERY = 2_000 // characters
const SELECT = "select:"
const NAMES_SHOWN = 20

const inputSchema = z.object({
  query: z
    .string()
    .describe('Words that say what the tool should do, or "select:" and full names with commas between.'),
  max_results: z
    .number()
    .optional()
    .describe(`The most tools to load for words. Default ${MAX_RESULTS}, at most ${MAX_RESULTS_ASKED}.`),
})

/** How the current prompt offers a tool. */
export type Offer =
  /** The prompt contains its definition. */
  | "declared"
  /** The request contains it with `defer_loading`. */
  | "by-reference"
  /** It can only be called through CallTool. */
  | "by-name"

export interface ToolOffers {
  offerOf(name: string): Offer
  /** Whether a message in the view has loaded it. */
  isLoaded(name: string): boolean
}

export interface ToolSearchDependencies {
  /** Tools that can be deferred. */
  readonly tools: () => readonly Tool[]
  readonly offered: () => ToolOffers
}

export function toolSearch({ tools, offered }: ToolSearchDependencies): Tool<z.infer<typeof inputSchema>> {
  let indexed: { readonly count: number; readonly index: ToolIndex } | undefined
  const indexOf = (all: readonly Tool[]): ToolIndex => {
    if (indexed?.count !== all.length) indexed = { count: all.length, index: indexTools(all) }
    return indexed.index
  }
  const found = ({ query, max_results = MAX_RESULTS }: z.infer<typeof inputSchema>): SelectedTools => {
    const text = query.slice(0, MAX_QUERY).trim()
    if (text.startsWith(SELECT)) return selected(text.slice(SELECT.length), tools())
    const max = Math.min(Math.max(1, Math.floor(max_results)), MAX_RESULTS_ASKED)
    return { tools: searchTools(indexOf(tools()), text).slice(0, max), missing: [] }
  }
  return {
    name: SEARCH_TOOL,
    description: promptText(new URL("./tool-search.md", import.meta.url)).trim(),
    inputSchema,
    readOnly: true,
    needsApproval: false,
    limitsItself: true,
    question: ({ query }) => ({ kind: "other", summary: `search for tools: ${query.slice(0, 200)}`, subject: query }),
    execute: async (input) => load(found(input), { query: input.query, offered: offered(), count: tools().length }),
  }
}

interface SelectedTools {
  readonly tools: readonly Tool[]
  /** Requested names that no tool has. */
  readonly missing: readonly string[]
}

/** Finds tools by name. A name without its server is accepted if only one tool has it. */
function selected(names: string, tools: readonly Tool[]): SelectedTools {
  const requested = [...new Set(names.split(",").map((name) => name.trim()))].filter((name) => name !== "")
  const of = (name: string): Tool | undefined => {
    const exact = tools.find((tool) => tool.name === name)
    if (exact) return exact
    const ending = tools.filter((tool) => tool.name.endsWith(`__${name}`))
    return ending.length === 1 ? ending[0] : undefined
  }
  return {
    tools: requested.slice(0, MAX_RESULTS_ASKED).flatMap((name) => of(name) ?? []),
    missing: requested.filter((name) => of(name) === undefined),
  }
}

interface LoadInput {
  readonly query: string
  readonly offered: ToolOffers
  readonly count: number
}

async function load({ tools, missing }: SelectedTools, { query, offered, count }: LoadInput): Promise<ToolOutput> {
  if (tools.length === 0) return { content: nothingFound(query, missing, count) }
  const newTools = tools.filter(({ name }) => offered.offerOf(name) !== "declared" && !offered.isLoaded(name))
  const references = newTools.filter(({ name }) => offered.offerOf(name) === "by-reference")
  // the API does not accept references together with other content
  if (references.length > 0) return { content: references.map(({ name }) => reference(name)) }
  const loadedNames = tools.filter((tool) => !newTools.includes(tool)).map(({ name }) => name)
  const lines = [
    newTools.length > 0 ? `Loaded: ${namesOf(newTools)}. Their input schemas follow. Call them with ${CALL_TOOL}.` : "",
    loadedNames.length > 0 ? `Already loaded: ${loadedNames.join(", ")}. You can call them now.` : "",
    missing.length > 0 ? unknown(missing) : "",
  ]
  const added = await Promise.all(newTools.map(toAddedTool))
  return {
    content: lines.filter((line) => line !== "").join("\n"),
    ...(added.length > 0 ? { attachments: [{ type: "tool_delta", added, removed: [] }] } : {}),
  }
}

const reference = (name: string): Block => ({ type: "tool_reference", tool_name: name }) as unknown as Block

async function toAddedTool(tool: Tool): Promise<AddedTool> {
  const { name, description, input_schema } = (await toolDefinition(tool)) as Tool & { readonly input_schema: unknown }
  return { name, description, schema: JSON.stringify(input_schema), loaded: true }
}

function nothingFound(query: string, missing: readonly string[], count: number): string {
  if (missing.length > 0) return `${unknown(missing)} Search with words in place of names.`
  return `None of the ${count} tools fits ${JSON.stringify(query.slice(0, 200))}. Try other words for what the tool should do.`
}

function unknown(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_SHOWN).map((name) => JSON.stringify(name.slice(0, 128)))
  return `No tool is named ${shown.join(", ")}.`
}

const namesOf = (tools: readonly Tool[]) => tools.map(({ name }) => name).join(", ")

/**
 * Searches tools without a model: BM25 over names, descriptions and parameters, with names weighted most. Pure: the same tools and terms
 * always give the same order.
 */
const WEIGHT = { name: 4, parameters: 1, description: 1 } as const
const SATURATION = 1.2 // how quickly repetitions lose weight; the usual value of BM25
const MAX_TEXT = 4_000 // characters of a description or of parameters that are indexed
const DEEPEST = 4 // levels of a schema

interface IndexedTool {
  readonly tool: Tool
  /** Weighted number of occurrences of each stem. */
  readonly stems: ReadonlyMap<string, number>
}

interface ToolIndex {
  readonly tools: readonly IndexedTool[]
  readonly toolsWith: ReadonlyMap<string, number>
}

export function indexTools(tools: readonly Tool[]): ToolIndex {
  const indexed = tools.map((tool): IndexedTool => ({ tool, stems: stemsOf(tool) }))
  const toolsWith = new Map<string, number>()
  for (const { stems } of indexed) for (const stem of stems.keys()) toolsWith.set(stem, (toolsWith.get(stem) ?? 0) + 1)
  return { tools: indexed, toolsWith }
}

/** Tools that match at least one term, best first. */
export function searchTools({ tools, toolsWith }: ToolIndex, words: string): readonly Tool[] {
  const requested = [...new Set(searchTerms(words).map(({ stem }) => stem))]
  const scored = tools.map(({ tool, stems }) => {
    const parts = requested.map((stem) => {
      const count = stems.get(stem) ?? 0
      return (count / (count + SATURATION)) * rarity(toolsWith.get(stem) ?? 0, tools.length)
    })
    return { tool, score: parts.reduce((sum, part) => sum + part, 0) }
  })
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score) // stable: equal scores keep the order of the list
    .map(({ tool }) => tool)
}

const rarity = (withIt: number, all: number): number => Math.log(1 + (all - withIt + 0.5) / (withIt + 0.5))

function stemsOf({ name, description, inputSchema }: Tool): ReadonlyMap<string, number> {
  const parameters = isStandardSchema(inputSchema) ? "" : schemaText(inputSchema, DEEPEST).slice(0, MAX_TEXT)
  const texts = { name: name.replaceAll("-", "_"), description: description.slice(0, MAX_TEXT), parameters }
  const stems = new Map<string, number>()
  for (const part of ["name", "description", "parameters"] as const)
    for (const { stem } of searchTerms(texts[part])) stems.set(stem, (stems.get(stem) ?? 0) + WEIGHT[part])
  return stems
}

/** Collects names and descriptions of parameters. */
function schemaText(schema: unknown, depth: number): string {
  if (typeof schema !== "object" || schema === null || depth === 0) return ""
  const { properties, items } = schema as { readonly properties?: object; readonly items?: unknown }
  const named = Object.entries(properties ?? {}).map(([name, property]) => {
    const about = (property as { readonly description?: unknown } | null)?.description
    return `${name} ${typeof about === "string" ? about : ""} ${schemaText(property, depth - 1)}`
  })
  return [...named, schemaText(items, depth - 1)].join(" ")
}
