/** The pages of `strata memory`: the list, one memory, the history. Lines for a terminal, with control characters escaped. */

import type { Memory } from "@strata/core"
import { type CodeReference, isCurrentMemory, isUserMemory, MEMORY_TYPES, type MemoryChange } from "@strata/core/memory"
import { authorLabel, describeEdits, describeSource, describeSourceBriefly, fileStem, formatMinute } from "@strata/page"
import { shortenList } from "../display/long-list.ts"
import { describeAge, pluralize } from "../display/numbers.ts"
import { table } from "../display/table.ts"
import type { Style } from "../display/terminal.ts"
import { indent, wrapText } from "../display/text.ts"
import { escapeForTerminal, escapeToLine } from "../display/visible.ts"

const MAX_WIDTH = 110

export interface MemoryRenderOptions {
  readonly style: Style
  readonly columns: number
  readonly now: Date
  /** Shortens long lists, for output to a screen. */
  readonly isShort?: boolean
}

/** Sorts rules and preferences first and, within each type, by the time of confirmation. */
export const sortMemories = (memories: readonly Memory[]): readonly Memory[] =>
  memories.toSorted(
    (a, b) =>
      MEMORY_TYPES.indexOf(a.type) - MEMORY_TYPES.indexOf(b.type) ||
      compare(b.confirmed, a.confirmed) ||
      compare(a.file, b.file),
  )

export interface MemoryListInput {
  readonly memories: readonly Memory[]
  readonly location: string
  /** Includes memories that newer ones replaced. */
  readonly all: boolean
}

export function listPage({ memories, location, all }: MemoryListInput, look: MemoryRenderOptions): readonly string[] {
  const { style } = look
  const where = escapeToLine(location)
  if (memories.length === 0) return [`This project has no memories yet. They are stored in ${where}`]
  const current = sortMemories(memories.filter(isCurrentMemory))
  const replaced = sortMemories(memories.filter((memory) => !isCurrentMemory(memory)))
  const hidden = all ? 0 : replaced.length
  const own = current.filter(isUserMemory)
  const { shown, rest } = shortenList(all ? [...own, ...replaced] : own, { ...look, seeAll: "strata memory | less" })
  return [
    `${style.bold(pluralize(current.length, "memory", "memories"))} in ${where}`,
    ...(shown.length === 0 ? [] : ["", ...memoryRows(shown, look)]),
    ...rest.map(style.dim),
    ...unconfirmedRows(current, look),
    ...(hidden === 0 ? [] : ["", style.dim(`${pluralize(hidden, "replaced one")} not shown; --all lists them.`)]),
  ]
}

/** Unconfirmed notes of the agent, shown separately, because they are not rules before the user confirms them. */
function unconfirmedRows(current: readonly Memory[], look: MemoryRenderOptions): readonly string[] {
  const notes = current.filter((memory) => !isUserMemory(memory))
  if (notes.length === 0) return []
  const { shown, rest } = shortenList(notes, { ...look, seeAll: "strata memory | less" })
  const { style } = look
  return [
    "",
    style.bold(`${pluralize(notes.length, "memory", "memories")} not confirmed`),
    ...wrapText(
      "The agent noted them, and never follows them as rules. strata memory review shows each; one key confirms or drops it.",
      Math.min(look.columns, MAX_WIDTH),
    ).map(style.dim),
    "",
    ...memoryRows(shown, look),
    ...rest.map(style.dim),
  ]
}

export function memoryRows(
  memories: readonly Memory[],
  { style, columns, now }: MemoryRenderOptions,
): readonly string[] {
  const width = Math.min(columns, MAX_WIDTH)
  const lines = table({
    width,
    columns: [{ title: "name", gives: "end" }, { title: "type" }, { title: "confirmed" }, { title: "source" }],
    rows: memories.map((memory) => [
      escapeToLine(fileStem(memory.file)),
      memory.type,
      describeAge(memory.confirmed, now),
      describeSourceBriefly(memory),
    ]),
    titles: style.dim,
  })
  const [titles, ...first] = lines
  return [
    titles!,
    ...memories.flatMap((memory, at) => [
      first[at]!,
      ...indent(wrapText(describeMemory(memory), width - 6), 6).map(style.dim),
    ]),
  ]
}

function describeMemory({ description, failed, supersededBy, source }: Memory): string {
  const replaced = supersededBy === undefined ? "" : `Replaced by ${fileStem(supersededBy)}. `
  const view = source.outside === undefined || isUserMemory({ source }) ? "" : ` In view: ${source.outside}`
  return escapeToLine(`${replaced}${failed ? "Did not work: " : ""}${description}${view}`)
}

export interface MemoryPageInput {
  readonly memory: Memory
  readonly location: string
  /** Code references of the memory, checked against the code. */
  readonly claims: readonly CodeReference[]
}

export function memoryPage(
  { memory, location, claims }: MemoryPageInput,
  { style, columns, now }: MemoryRenderOptions,
): readonly string[] {
  const {
    file,
    name,
    description,
    type,
    created,
    confirmed,
    source,
    failed,
    supersedes,
    supersededBy,
    doubtedBy,
    body,
  } = memory
  const gone = claims.filter(({ state }) => state === "gone").map(({ text }) => text)
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["about", description],
    ["type", type],
    ["created", created],
    ["confirmed", `${confirmed} (${describeAge(confirmed, now)})`],
    ["source", describeSource(memory)],
    ["conversation", source.conversation],
    ["message", source.message],
    ["outcome", failed && "it was tried and did not work"],
    ["out of date", gone.length === 0 ? undefined : `the code no longer has ${gone.join(", ")}`],
    ["replaces", supersedes?.join(", ")],
    ["replaced by", supersededBy],
    ["in doubt", doubtedBy && `${doubtedBy} is later and may say otherwise`],
    ["file", `${location}/${file}`],
  ]
  return [
    style.bold(escapeToLine(name)),
    ...table({
      width: Math.min(columns, MAX_WIDTH),
      columns: [{ title: "" }, { title: "", gives: "wrap" }],
      rows: facts.flatMap(([key, value]) => (value ? [[key, escapeToLine(value)]] : [])),
    }),
    "",
    escapeForTerminal(body),
  ]
}

export function historyPage(
  changes: readonly MemoryChange[],
  { style, columns, isShort }: MemoryRenderOptions,
): readonly string[] {
  if (changes.length === 0) return ["Nothing has changed in this project's memory yet."]
  const { shown, rest } = shortenList(changes.toReversed(), { isShort, seeAll: "strata memory history | less" })
  return [
    ...table({
      width: Math.min(columns, MAX_WIDTH),
      columns: [
        { title: "id", align: "right" },
        { title: "when (UTC)" },
        { title: "by" },
        { title: "what and why", gives: "wrap" },
      ],
      rows: shown.map((change) => [
        change.id,
        formatMinute(change.at),
        authorLabel(change.by),
        escapeToLine(describeMemoryChange(change)),
      ]),
      titles: style.dim,
    }),
    ...rest.map(style.dim),
    "",
    style.dim('"strata memory history ID" shows a change as a diff. "strata memory revert ID" takes it back.'),
  ]
}

export function describeMemoryChange(change: MemoryChange): string {
  const masked = change.masked?.length
    ? ` ${pluralize(change.masked.length, "secret was", "secrets were")} removed.`
    : ""
  return `${describeEdits(change)}. ${change.why.replace(/[.\s]*$/, ".")}${masked}`
}

/** Renders a unified diff, coloured if the terminal supports it. */
export const diffLines = (diff: string, { style }: Pick<MemoryRenderOptions, "style">): readonly string[] =>
  escapeForTerminal(diff)
    .trimEnd()
    .split("\n")
    .map((line) => {
      if (/^(?:\+\+\+|---|@@)/.test(line)) return style.dim(line)
      if (line.startsWith("+")) return style.green(line)
      return line.startsWith("-") ? style.red(line) : line
    })

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
