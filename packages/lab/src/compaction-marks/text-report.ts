/** The marks for a person: how they are counted, then tables, each figure with its counts. */
import { grouped } from "@strata/core/internal"
import { type Compared, WAYS, type Way } from "./compare.ts"
import { MARKS, type MarkName, type Share, total } from "./marks.ts"

const HOW = `What the next request contains after a compaction, for every compaction in the recordings that has messages before it.

recorded          what the recording shows after its boundary: the model's summary, attachments, kept messages.
                  Files that Claude Code restored are not in these recordings, so neither side is credited for them.
ours, extractive  our layer 4 on the same messages. The summary comes from the simulator, which only quotes.
ours, empty       the same with a summary of one sentence: what the data carries alone.
Neither of ours is a language model's summary, so nothing follows about one. Ours is layer 4 alone, by the route that asks a model.
It keeps no messages and restores no files, because the files of the recordings are not here. Our second compaction follows our first.

How it is counted
- Found means: word for word, not inside a longer word, white space ignored. Shares are of all compactions of a table together.
- The user's messages: 5 characters or more, from the start of the recording. A remark on a refused tool call is in the call's
  result, not a message, and has its own row.
- Standing rules: sentences that core's standingRules finds in the user's messages.
- Files: from the tool calls, as core's artifacts view has them (a test compares it with a second reading), without deleted ones.
- The same code finds messages, rules and files and writes the record of layer 4. For ours these rows say that nothing is lost
  on the way or from one compaction to the next. They do not say that this code finds everything.
- Facts: addresses, paths and file names, identifiers with digits, underscores or camelCase, and numbers of three digits or more in
  the user's and the assistant's text. Used again: in their text or in tool calls, from the boundary to the next one or to the end.
  The model that continued had read the recorded summary, so this row favours it.
- Quotes of 12 characters or more: entries of a list of the user's messages; elsewhere, on a line that names the user before them.
  The user never said a quote that is nowhere in the conversation. Text in brackets, and dots, count as left out.
- Tokens: "context" is what the recording's API counted, with system prompt, tools and restored files. "messages" is an
  estimate of the text after the boundary, the same for all three.`

const TITLES: Readonly<Record<Way, string>> = {
  recorded: "recorded",
  extractive: "ours, extractive",
  empty: "ours, empty",
}

/** By the program that recorded them: each leaves something else after a boundary. */
const GROUPS: Readonly<Record<string, string>> = {
  "claude-code": "Claude Code: a summary, and files that are not in the recording",
  pi: "pi: a summary, and the newest messages unchanged",
  codex: "Codex: the user's messages, and an encrypted summary that cannot be measured",
}

export function textReport(compared: readonly Compared[]): string {
  const parts = [HOW]
  const groups = [...Map.groupBy(compared, (each) => each.format)].sort(([, a], [, b]) => b.length - a.length)
  for (const [format, group] of groups) {
    const count = `${group.length} ${group.length === 1 ? "compaction" : "compactions"}`
    parts.push(`${GROUPS[format] ?? format} (${count})\n\n${marksTable(group)}`)
  }
  parts.push(`Tokens of each compaction\n\n${tokensTable(compared)}`)
  return parts.join("\n\n")
}

function marksTable(group: readonly Compared[]): string {
  const totals = WAYS.map((way) => total(group.map(({ ways }) => ways[way].marks)))
  const names = Object.keys(MARKS) as MarkName[]
  return table([
    ["", ...WAYS.map((way) => TITLES[way])],
    ...names.map((name) => [MARKS[name], ...totals.map((marks) => shown(marks[name]))]),
    ["tokens of messages after the boundary, on average", ...WAYS.map((way) => grouped(mean(group, way)))],
  ])
}

function tokensTable(compared: readonly Compared[]): string {
  return table([
    ["recording", "compaction", "context before", "context after", ...WAYS.map((way) => `messages, ${TITLES[way]}`)],
    ...compared.map(({ recording, nth, tokensBefore, tokensAfter, ways }) => [
      recording,
      String(nth),
      grouped(tokensBefore),
      tokensAfter === undefined ? "not recorded" : grouped(tokensAfter),
      ...WAYS.map((way) => grouped(ways[way].tokens)),
    ]),
  ])
}

export function shown({ found, of }: Share): string {
  return of === 0 ? "none" : `${Math.round((100 * found) / of)}% (${found} of ${of})`
}

const mean = (group: readonly Compared[], way: Way) =>
  Math.round(group.reduce((sum, { ways }) => sum + ways[way].tokens, 0) / group.length)

/** In markdown, so that it can be copied into a page. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(" | ")} |`
  const [head, ...body] = rows
  return [line(head!), `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...body.map(line)].join("\n")
}
