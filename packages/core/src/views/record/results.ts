/**
 * The results view: what tools returned, each in one line with its handle. It follows the journal, so a result that was cleared, put aside
 * or compacted is still here. Bounded: the oldest are forgotten first, and those that the model saw whole before the others.
 */
import { type Entry, isDecision } from "../../journal/entries.ts"
import { handleOf } from "../../messages/handles.ts"
import { inline } from "../../messages/inline.ts"
import type { Uuid } from "../../messages/messages.ts"
import type { Projection } from "../projection.ts"
import { tellingIn } from "./telling.ts"
import { type FinishedCall, followCalls, type OpenCall } from "./tool-calls.ts"

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

const SHORTEST = 200 // characters of a result: a shorter one is no loss
const MOST = 400 // results
const LONGEST_ABOUT = 80 // characters of what a call was about
const ROOM = 48 // tokens of what is exact in one result
const CHARACTERS_PER_TOKEN = 3 // of names: fewer than in prose
const ABOUT_FIELDS = ["file_path", "path", "filePath", "command", "cmd", "pattern", "url", "query", "prompt"] as const

export const results: Projection<Results> = {
  name: "results",
  scope: "path",
  whenRead: true,
  start: () => ({ lines: new Map(), open: new Map() }),
  apply(state, entry) {
    for (const call of followCalls(state.open, entry)) hold(state, call)
    for (const [id, change] of changesIn(state, entry)) {
      const line = state.lines.get(id)
      // a result that was put aside has its file, also after its preview was cleared
      if (line) state.lines.set(id, { ...line, ...change, ...(line.shown === "preview" ? { shown: "preview" } : {}) })
    }
    return state
  },
}

function hold({ lines }: Results, { id, tool, input, output, uuid, failed }: FinishedCall): void {
  if (id === "" || output.length < SHORTEST) return
  const estimate = (text: string) => text.length / CHARACTERS_PER_TOKEN
  const telling = tellingIn({ text: output, room: ROOM, estimate })
  lines.delete(id)
  const facts = { uuid, tool, about: aboutOf(input), characters: output.length, telling, shown: "whole" } as const
  lines.set(id, failed ? { ...facts, failed } : facts)
  if (lines.size <= MOST) return
  const oldest = lines.entries().find(([, { shown }]) => shown === "whole")?.[0] ?? lines.keys().next().value!
  lines.delete(oldest)
}

function aboutOf(input: FinishedCall["input"]): string {
  const found = ABOUT_FIELDS.map((field) => input[field]).find((value) => typeof value === "string" && value !== "")
  return typeof found === "string" ? inline(found.slice(0, LONGEST_ABOUT).trim()) : ""
}

type Change = readonly [string, Partial<ResultLine>]

/** A result can be cleared by several: this program, or the server in its own copy. */
function changesIn({ lines }: Results, entry: Entry): readonly Change[] {
  if (!isDecision(entry)) return []
  if (entry.subtype === "tool-result-persisted") return [[entry.toolUseId, { shown: "preview" }]]
  if (entry.subtype === "tool-results-cleared")
    return entry.toolUseIds.map((id): Change => {
      const telling = entry.residues?.[id]
      return [id, { shown: "residue", ...(telling === undefined ? {} : { telling }) }]
    })
  if (entry.subtype !== "server-edited" || entry.keptFrom === undefined || !lines.has(entry.keptFrom)) return []
  const ids = [...lines.keys()]
  return ids.slice(0, ids.indexOf(entry.keptFrom)).map((id): Change => [id, { shown: "residue" }])
}

/** The line of a result, for the model. */
export const renderResultLine = ({ uuid, tool, about, characters, telling }: ResultLine): string =>
  `${handleOf(uuid)} ${inline(tool)}${about === "" ? "" : ` ${about}`} (${characters} characters)${telling === "" ? "" : `: ${telling}`}`
