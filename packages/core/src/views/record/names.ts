/**
 * The names view: exact names, where each was last used and by whom. It follows the journal, so names that were cleared from the
 * context are still included. Bounded: of the names used least often, the oldest are dropped first. Secrets are excluded, because the
 * list is sent with every request.
 */
import { type Entry, isDecision, isMessage } from "../../journal/entries.ts"
import { inline, isText, isToolResult, isToolUse, resultBlocks, textOf } from "../../messages/blocks.ts"
import type { ExactName } from "../../messages/exact-names.ts"
import { handleOf } from "../../messages/media.ts"
import { contentOf, isFromUser, type Uuid, userText } from "../../messages/messages.ts"
import type { Projection } from "../projection.ts"
import { type FinishedCall, followCalls, type OpenCall } from "./open-work.ts"
import { extractHighlights, readWithoutSecrets } from "./user-messages.ts"

/** The origin of a name: text of the user or the assistant, the input of a tool, or its result. */
export type NameSource = "user" | "assistant" | "input" | "result"

export interface NameUse {
  readonly by: NameSource
  /** The handle of the message. */
  readonly at: string
  /** Number of texts, inputs and results with the name. */
  readonly uses: number
}

/** Names with their uses, the most recently used last. A name stays in the first of these groups that it belonged to. */
export interface Names {
  /** Names in texts of the user or the assistant. The groups are named as in checkpoints. */
  readonly said: Map<string, NameUse>
  /** Names in inputs of tools. */
  readonly typed: Map<string, NameUse>
  /** Names in results only. */
  readonly seen: Map<string, NameUse>
}

const MAX: Readonly<Record<keyof Names, number>> = { said: 10_000, typed: 5_000, seen: 5_000 } // names
const FORGOTTEN_SHARE = 0.1 // share of the names that is dropped at once, so that dropping costs little per name

// Of a long text only both ends are read: the middle is pasted, and a result of megabytes must not slow down a turn.
const START_CHARACTERS = 30_000 // characters
const END_CHARACTERS = 10_000
const MAX_NAMES_PER_TEXT = 300 // names

export const names: Projection<Names> = {
  name: "names",
  scope: "path",
  start: () => ({ said: new Map(), typed: new Map(), seen: new Map() }),
  apply(state, entry) {
    for (const { by, text } of usedTexts(entry)) {
      for (const found of readNames(text, by)) note(state, found, { by, at: handleOf(entry.uuid) })
    }
    forget(state)
    return state
  },
}

interface UsedText {
  readonly by: NameSource
  readonly text: string
}

function usedTexts(entry: Entry): readonly UsedText[] {
  if (!isMessage(entry) || entry.isSidechain || (entry.type !== "user" && entry.type !== "assistant")) return []
  const inBlocks = contentOf(entry).flatMap((block): UsedText[] => {
    if (isText(block)) return entry.type === "assistant" ? [{ by: "assistant", text: block.text }] : []
    if (isToolUse(block)) return [{ by: "input", text: collectStrings(block.input) }]
    return isToolResult(block) ? [{ by: "result", text: textOf(resultBlocks(block)) }] : []
  })
  if (entry.type === "assistant") return inBlocks
  const inResults = (entry.saidInResults ?? []).map(({ text }): UsedText => ({ by: "user", text }))
  return [...inBlocks, ...inResults, ...(isFromUser(entry) ? [{ by: "user", text: userText(entry) } as const] : [])]
}

/** The strings in an input. The state of a todo is excluded, because it is a word of the tool's schema. */
function collectStrings(value: unknown, key = ""): string {
  if (typeof value === "string") return key === "status" ? "" : value
  if (typeof value === "number") return String(value)
  if (typeof value !== "object" || value === null) return ""
  return Object.entries(value)
    .map(([name, each]) => collectStrings(each, name))
    .join("\n")
}

function readNames(text: string, by: NameSource): readonly ExactName[] {
  const read =
    text.length <= START_CHARACTERS + END_CHARACTERS
      ? text
      : `${text.slice(0, START_CHARACTERS)}\n${text.slice(-END_CHARACTERS)}`
  const found = readWithoutSecrets(read).names.slice(0, MAX_NAMES_PER_TEXT)
  // quotes in code and output are string literals, not terms of the conversation; `-n` has another meaning in each command
  return by === "input" || by === "result"
    ? found.filter(({ name, kind }) => kind !== "quoted" && name.length > 2)
    : found
}

function note(state: Names, { name }: ExactName, { by, at }: Omit<NameUse, "uses">): void {
  const own = by === "result" ? "seen" : by === "input" ? "typed" : "said"
  const place = state.said.has(name) ? "said" : own === "said" ? own : state.typed.has(name) ? "typed" : own
  const before = state[place].get(name) ?? state.typed.get(name) ?? state.seen.get(name)
  if (place !== "seen" && by === "result") return // a result that repeats a name of the conversation does not make it newer
  for (const each of [state.typed, state.seen, state[place]]) each.delete(name)
  state[place].set(name, { by, at, uses: (before?.uses ?? 0) + 1 })
}

function forget(state: Names): void {
  for (const place of ["said", "typed", "seen"] as const) {
    const held = state[place]
    if (held.size <= MAX[place]) continue
    let excess = held.size - Math.floor(MAX[place] * (1 - FORGOTTEN_SHARE))
    const shapes = shapesOf(held.keys())
    const isListed = (name: string) => shapes.get(shapeOf(name))! >= MAX_SAME_SHAPE
    const oldest = [...held.keys()].slice(0, Math.ceil(held.size / 2))
    const once = oldest.filter((name) => held.get(name)!.uses === 1)
    const leastFirst = [
      ...once.filter(isListed),
      ...once.filter((name) => !isListed(name)),
      ...oldest.filter((name) => held.get(name)!.uses > 1),
    ]
    for (const name of leastFirst) if (excess-- > 0) held.delete(name)
  }
}

const MAX_SAME_SHAPE = 20 // names with the same shape belong to listings, and are less distinctive than one with a shape of its own

/** `alpha_8749` and `beta_12` have the same shape. */
export const shapeOf = (name: string): string =>
  name
    .replace(/\p{Lu}+/gu, "A")
    .replace(/[\p{Ll}\p{Lo}]+/gu, "a")
    .replace(/\d+/g, "0")

/** Number of names with each shape. */
export function shapesOf(names: Iterable<string>): ReadonlyMap<string, number> {
  const shapes = new Map<string, number>()
  for (const name of names) shapes.set(shapeOf(name), (shapes.get(shapeOf(name)) ?? 0) + 1)
  return shapes
}

// The results view: one line for each tool result, with its handle. It follows the journal, so results that were cleared, offloaded or
// compacted are still included. Bounded: the oldest are dropped first, and those that the model saw in full before the others.

export interface Results {
  /** By call id, in the order of the results. */
  readonly lines: Map<string, ResultLine>
  readonly open: Map<string, OpenCall>
}

export interface ResultLine {
  /** The message of the result. */
  readonly uuid: Uuid
  readonly tool: string
  /** Subject of the call. */
  readonly about: string
  readonly characters: number
  /** Highlights of the result: error lines and distinctive names. Named as in checkpoints. */
  readonly telling: string
  /** What the model sees of it: everything, a preview, or only a stub. The values are those of checkpoints. */
  readonly shown: "whole" | "preview" | "residue"
  readonly failed?: true
}

const MIN_CHARACTERS = 200 // characters; shorter results are not listed
const MAX_RESULTS = 400 // results
const MAX_ABOUT = 80 // characters of the subject of a call
const HIGHLIGHT_TOKENS = 48 // tokens of the highlights of one result
const CHARACTERS_PER_TOKEN = 3 // fewer in names than in prose
const ABOUT_FIELDS = ["file_path", "path", "filePath", "command", "cmd", "pattern", "url", "query", "prompt"] as const

export const results: Projection<Results> = {
  name: "results",
  scope: "path",
  start: () => ({ lines: new Map(), open: new Map() }),
  apply(state, entry) {
    for (const call of followCalls(state.open, entry)) addLine(state, call)
    for (const [id, change] of lineChanges(state, entry)) {
      const line = state.lines.get(id)
      // an offloaded result has its file, even after its preview was cleared
      if (line) state.lines.set(id, { ...line, ...change, ...(line.shown === "preview" ? { shown: "preview" } : {}) })
    }
    return state
  },
}

function addLine({ lines }: Results, { id, tool, input, output, uuid, failed }: FinishedCall): void {
  if (id === "" || output.length < MIN_CHARACTERS) return
  const estimate = (text: string) => text.length / CHARACTERS_PER_TOKEN
  const highlights = extractHighlights({ text: output, room: HIGHLIGHT_TOKENS, estimate })
  lines.delete(id)
  const facts = {
    uuid,
    tool,
    about: describeCall(input),
    characters: output.length,
    telling: highlights,
    shown: "whole",
  } as const
  lines.set(id, failed ? { ...facts, failed } : facts)
  if (lines.size <= MAX_RESULTS) return
  const oldest = lines.entries().find(([, { shown }]) => shown === "whole")?.[0] ?? lines.keys().next().value!
  lines.delete(oldest)
}

function describeCall(input: FinishedCall["input"]): string {
  const found = ABOUT_FIELDS.map((field) => input[field]).find((value) => typeof value === "string" && value !== "")
  return typeof found === "string" ? inline(found.slice(0, MAX_ABOUT).trim()) : ""
}

type LineChange = readonly [string, Partial<ResultLine>]

/** The changes of lines by an entry. A result can be cleared by this program, or by the server in its own copy. */
function lineChanges({ lines }: Results, entry: Entry): readonly LineChange[] {
  if (!isDecision(entry)) return []
  if (entry.subtype === "tool-result-persisted") return [[entry.toolUseId, { shown: "preview" }]]
  if (entry.subtype === "tool-results-cleared")
    return entry.toolUseIds.map((id): LineChange => {
      const stub = entry.residues?.[id]
      return [id, { shown: "residue", ...(stub === undefined ? {} : { telling: stub }) }]
    })
  if (entry.subtype !== "server-edited" || entry.keptFrom === undefined || !lines.has(entry.keptFrom)) return []
  const ids = [...lines.keys()]
  return ids.slice(0, ids.indexOf(entry.keptFrom)).map((id): LineChange => [id, { shown: "residue" }])
}

/** The line of a result, for the model. */
export const renderResultLine = ({ uuid, tool, about, characters, telling: highlights }: ResultLine): string =>
  `${handleOf(uuid)} ${inline(tool)}${about === "" ? "" : ` ${about}`} (${characters} characters)${highlights === "" ? "" : `: ${highlights}`}`
