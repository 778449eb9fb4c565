/**
 * The names view: exact names, where each was last used and by whom. It follows the journal, so what was cleared from the context is still
 * here. Bounded: of the names used least often, the oldest are forgotten first. Secrets are no names: the list is sent with every request.
 */
import { dropSecrets } from "../../base/secrets/find-secrets.ts"
import { memoize } from "../../base/work.ts"
import { type Entry, isDecision, isMessage } from "../../journal/entries.ts"
import { inline, isText, isToolResult, isToolUse, resultBlocks, textOf } from "../../messages/blocks.ts"
import { type ExactName, exactNamesIn } from "../../messages/exact-names.ts"
import { handleOf } from "../../messages/media.ts"
import { contentOf, isFromUser, type Uuid, userText } from "../../messages/messages.ts"
import type { Projection } from "../projection.ts"
import { type FinishedCall, followCalls, type OpenCall } from "./open-work.ts"
import { extractHighlights } from "./user-messages.ts"

/** The user's or the assistant's text, the input of a tool, or its result. */
export type NameSource = "user" | "assistant" | "input" | "result"

export interface NameUse {
  readonly by: NameSource
  /** The handle of the message. */
  readonly at: string
  /** In how many texts, inputs and results it occurred. */
  readonly uses: number
}

/** By name, the last used last. A name is in the first of these that it ever belonged to. */
export interface Names {
  /** Said by the user or the assistant. */
  readonly said: Map<string, NameUse>
  /** Typed into a tool. */
  readonly typed: Map<string, NameUse>
  /** In results only. */
  readonly seen: Map<string, NameUse>
}

const MAX: Readonly<Record<keyof Names, number>> = { said: 10_000, typed: 5_000, seen: 5_000 } // names
const FORGOTTEN_SHARE = 0.1 // of the names at once, so that forgetting costs little per name

// Of a long text only both ends are read: the middle is pasted, and a result of megabytes must not slow a turn.
const START_CHARACTERS = 30_000 // characters
const END_CHARACTERS = 10_000
const MAX_NAMES_PER_TEXT = 300 // names

export const names: Projection<Names> = {
  name: "names",
  scope: "path",
  whenRead: true,
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

/** The values of an input. The state of a todo is a word of the tool's schema, not of the conversation. */
function collectStrings(value: unknown, key = ""): string {
  if (typeof value === "string") return key === "status" ? "" : value
  if (typeof value === "number") return String(value)
  if (typeof value !== "object" || value === null) return ""
  return Object.entries(value)
    .map(([name, each]) => collectStrings(each, name))
    .join("\n")
}

const namesWithoutSecrets = memoize((text) => exactNamesIn(dropSecrets(text), MAX_NAMES_PER_TEXT))

function readNames(text: string, by: NameSource): readonly ExactName[] {
  const read =
    text.length <= START_CHARACTERS + END_CHARACTERS
      ? text
      : `${text.slice(0, START_CHARACTERS)}\n${text.slice(-END_CHARACTERS)}`
  const found = namesWithoutSecrets(read)
  // quotes in code and output are strings of the program, not terms of the conversation; `-n` means something else in each command
  return by === "input" || by === "result"
    ? found.filter(({ name, kind }) => kind !== "quoted" && name.length > 2)
    : found
}

function note(state: Names, { name }: ExactName, { by, at }: Omit<NameUse, "uses">): void {
  const own = by === "result" ? "seen" : by === "input" ? "typed" : "said"
  const place = state.said.has(name) ? "said" : own === "said" ? own : state.typed.has(name) ? "typed" : own
  const before = state[place].get(name) ?? state.typed.get(name) ?? state.seen.get(name)
  if (place !== "seen" && by === "result") return // a result that repeats a name that was said does not make it newer
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

const MAX_SAME_SHAPE = 20 // names of one shape: they are parts of listings, and say less than one that has a shape of its own

/** `alpha_8749` and `beta_12` have one shape. */
export const shapeOf = (name: string): string =>
  name
    .replace(/\p{Lu}+/gu, "A")
    .replace(/[\p{Ll}\p{Lo}]+/gu, "a")
    .replace(/\d+/g, "0")

/** How many names have each shape. */
export function shapesOf(names: Iterable<string>): ReadonlyMap<string, number> {
  const shapes = new Map<string, number>()
  for (const name of names) shapes.set(shapeOf(name), (shapes.get(shapeOf(name)) ?? 0) + 1)
  return shapes
}

// The results view: what tools returned, each in one line with its handle. It follows the journal, so a result that was cleared, put aside
// or compacted is still here. Bounded: the oldest are forgotten first, and those that the model saw whole before the others.

export interface Results {
  /** By call id, in the order of the results. */
  readonly lines: Map<string, ResultLine>
  readonly open: Map<string, OpenCall>
}

export interface ResultLine {
  /** The message of the result. */
  readonly uuid: Uuid
  readonly tool: string
  /** What the call was about. */
  readonly about: string
  readonly characters: number
  /** What is exact in it. */
  readonly telling: string
  /** What the model sees of it: all, a preview, or only what is exact in it. */
  readonly shown: "whole" | "preview" | "residue"
  readonly failed?: true
}

const MIN_CHARACTERS = 200 // characters of a result: a shorter one is no loss
const MAX_RESULTS = 400 // results
const MAX_ABOUT = 80 // characters of what a call was about
const HIGHLIGHT_TOKENS = 48 // tokens of what is exact in one result
const CHARACTERS_PER_TOKEN = 3 // of names: fewer than in prose
const ABOUT_FIELDS = ["file_path", "path", "filePath", "command", "cmd", "pattern", "url", "query", "prompt"] as const

export const results: Projection<Results> = {
  name: "results",
  scope: "path",
  whenRead: true,
  start: () => ({ lines: new Map(), open: new Map() }),
  apply(state, entry) {
    for (const call of followCalls(state.open, entry)) addLine(state, call)
    for (const [id, change] of lineChanges(state, entry)) {
      const line = state.lines.get(id)
      // a result that was put aside has its file, also after its preview was cleared
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
  const facts = { uuid, tool, about: describeCall(input), characters: output.length, telling: highlights, shown: "whole" } as const
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

/** A result can be cleared by several: this program, or the server in its own copy. */
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
