/** The scores as text: how they are counted, then tables with the counts of each value. */
import { formatNumber } from "../../../packages/core/src/base/text.ts"
import { type CompactionVariant, type ComparedCompaction, NAMES_LIMITS, WAYS } from "./compare.ts"
import { SCORES, type ScoreName, type Share, total } from "./scores.ts"

const HOW = `What the next request contains after a compaction: every compaction in the recordings that has messages before it. A recording
without one is cut after each 100,000 tokens of its messages.

recorded summary   what the recording shows after its boundary: the model's summary, attachments, kept messages.
with files         the same with the five files read last, as their last reads returned them, up to 5,000 tokens each. Claude Code
                   reads such files again; the recordings lack them, so this is the nearest to it.
carry              what \`carry\` leaves of the same messages, for agents that hand over their compaction: with quotations in place of a
                   summary, and with the recorded one. It is given only what it left before and the messages since.
ours               our layer 4 on the same messages, by the route that asks a model, with three summaries: one sentence, which shows
                   what the data carries alone; the extractive one, which only quotes; and the recording's own. With the list of
                   exact names at ${NAMES_LIMITS.map(formatNumber).join(", ")} tokens. The last is the default. A shorter list is cut from it here.
                   Ours restores no files, because the files of the recordings are not here. Our second compaction follows our first.

How it is counted
- Names: identifiers, numbers, hashes, addresses and versions, found by patterns of this command and not by the product's own rule.
  Found means: with nothing of a word on either side. Shares are of all compactions of a table together.
- Used again: said or typed into a tool before the boundary, and said or typed again after it, up to the next one or the end.
  The model that continued had read the recorded summary, so this favours that one. Said: in the user's or the assistant's text.
- Only results had them: names that occur before the boundary in tool results alone, and are said or typed after it.
- Messages, rules, files: found word for word, not inside a longer word, white space ignored. By a handle: the handle of the message
  is in the text, or a range of handles that are left out includes it.
- The user's messages: 5 characters or more, from the start of the recording. Remarks at refusals and answers to questions are in
  the results of calls, and have their own rows.
- Standing rules: sentences that core's standingRules finds in the user's messages.
- Files: from the tool calls, as core's artifacts view has them (a test compares it with a second reading), without deleted ones.
- The same code finds messages, rules and files and writes the record of layer 4. For ours these rows say that nothing is lost
  on the way or from one compaction to the next. They do not say that this code finds everything.
- Quotes of 12 characters or more: entries of a list of the user's messages; elsewhere, on a line that names the user before them.
  The user never said a quote that is nowhere in the conversation. Text in brackets, and dots, count as left out.
- Tokens: an estimate of the text after the boundary, the same for all, on average.`

const SUMMARY_TITLES = { sentence: "one sentence", extractive: "extractive", recorded: "the recorded summary" } as const

function titleOf(way: CompactionVariant): string {
  if (way === "recorded") return "recorded summary"
  if (way === "recorded, files") return "recorded summary with files"
  if (way === "carry") return "carry, quotations"
  if (way === "carry, recorded") return "carry, the recorded summary"
  const [summary, limit] = way.split(", ") as [keyof typeof SUMMARY_TITLES, string]
  return `ours, ${SUMMARY_TITLES[summary]}, names ${formatNumber(Number(limit))}`
}

/** Groups by recording program: each leaves different content after a boundary. */
const GROUPS: Readonly<Record<string, string>> = {
  "claude-code": "Compactions by Claude Code",
  pi: "Compactions by pi, which also keeps the newest messages",
  codex: "Compactions by Codex: the user's messages, and an encrypted summary that cannot be measured",
}

const NAME_COLUMNS = ["namesUsedAgain", "namesStated", "namesFromResults"] as const
const COMPARED_WAYS: readonly CompactionVariant[] = [
  "recorded",
  "carry",
  "carry, recorded",
  "sentence, 2000",
  "extractive, 2000",
  "recorded, 2000",
]

export interface Folder {
  readonly name: string
  readonly compared: readonly ComparedCompaction[]
  /** Files in formats that cannot be imported. */
  readonly skipped: readonly string[]
}

export function textReport(folders: readonly Folder[]): string {
  const parts = [HOW]
  for (const { name, compared, skipped } of folders) {
    parts.push(`# ${name}: ${count(compared.length)}`)
    if (skipped.length > 0) parts.push(`Not measured, because the format cannot be imported: ${skipped.join(", ")}.`)
    if (compared.length > 0) parts.push(...folderParts(compared))
  }
  return parts.join("\n\n")
}

function folderParts(compared: readonly ComparedCompaction[]): string[] {
  const groups = [...Map.groupBy(compared, ({ origin, format }) => (origin === "cut" ? "cut" : format))]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([key, group]) => {
      const title = key === "cut" ? "Cuts in recordings that were never compacted" : (GROUPS[key] ?? key)
      return `${title} (${count(group.length)})\n\n${namesTable(group)}`
    })
  const all = groups.length > 1 ? [`All together (${count(compared.length)})\n\n${namesTable(compared)}`] : []
  return [...all, ...groups, `What else is there\n\n${scoresTable(compared)}`]
}

function namesTable(group: readonly ComparedCompaction[]): string {
  const rows = WAYS.flatMap((way) => {
    const measured = group.flatMap(({ variants }) => variants[way] ?? [])
    if (measured.length === 0) return []
    const scores = total(measured.map((each) => each.scores))
    const tokens = Math.round(measured.reduce((sum, each) => sum + each.tokens, 0) / measured.length)
    const times = measured.flatMap(({ milliseconds }) => milliseconds ?? [])
    const time = times.length === 0 ? "" : `${Math.round(times.toSorted((a, b) => a - b)[times.length >> 1]!)} ms`
    const names = NAME_COLUMNS.map((name) => shown(scores[name]))
    return [[titleOf(way), String(measured.length), ...names, formatNumber(tokens), time]]
  })
  return table([
    ["after the boundary", "n", "names used again", "names said", "only results had them", "tokens", "time (median)"],
    ...rows,
  ])
}

function scoresTable(group: readonly ComparedCompaction[]): string {
  const ways = COMPARED_WAYS.filter((way) => group.some((each) => each.variants[way] !== undefined))
  const totals = ways.map((way) => total(group.flatMap((each) => each.variants[way]?.scores ?? [])))
  const names = (Object.keys(SCORES) as ScoreName[]).filter(
    (name) => !(NAME_COLUMNS as readonly string[]).includes(name),
  )
  return table([
    ["", ...ways.map(titleOf)],
    ...names.map((name) => [SCORES[name], ...totals.map((scores) => shown(scores[name]))]),
  ])
}

const count = (compactions: number): string => `${compactions} ${compactions === 1 ? "compaction" : "compactions"}`

export function shown({ found, of }: Share): string {
  return of === 0 ? "none" : `${percent(found, of)}% (${formatNumber(found)} of ${formatNumber(of)})`
}

/** Rounds to percent, where 100 means that nothing is missing. */
const percent = (found: number, of: number): number =>
  found < of ? Math.min(99, Math.round((100 * found) / of)) : Math.round((100 * found) / of)

/** A markdown table, so that it can be copied into a page. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(" | ")} |`
  const [head, ...body] = rows
  return [line(head!), `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...body.map(line)].join("\n")
}
