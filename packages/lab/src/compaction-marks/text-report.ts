/** The marks for a person: how they are counted, then tables, each figure with the counts behind it. */
import { type Compared, WAYS, type Way } from "./compare.ts"
import { MARKS, type MarkName, type Share, total } from "./marks.ts"

const HOW = `What stands in the next request after a compaction, for every compaction in the recordings that has something before it.

recorded          what the recording shows behind its boundary: the summary a model wrote, attachments, messages that were kept.
                  Files that Claude Code put back behind it are not in these recordings, so they count for nobody.
ours, extractive  our layer 4 on the same messages; the summary comes from the simulator, which quotes and does not understand.
ours, empty       the same with a summary of one sentence: what the data carries alone.
Neither of ours is a language model's summary, and no claim about one follows. Ours is layer 4 alone by the way that asks a model,
which keeps no messages; nothing is put back, since the files of the recordings are not here. A second compaction stands on our first.

How it is counted
- Found means: word for word and not inside a longer word, white space aside. Shares are of all compactions of a table together.
- The user's messages: of 5 characters or more, from the start of the recording. Refusing a tool call with a remark is no message
  in these recordings: the remark is in the call's result, and is counted in its own row.
- Standing rules: sentences that core's standingRules finds in the user's messages.
- Files: from the tool calls, as core's artifacts view has them (a test holds it against a second look); deleted ones are left out.
- Messages, rules and files are found by the same code that layer 4 writes its record with. For ours these rows say that nothing
  is lost on the way and from one compaction to the next, not that this code finds everything.
- Facts: addresses, paths and file names, identifiers with digits, underscores or camelCase, and numbers of three digits or more in
  the user's and the assistant's text. Used again: in their text or in tool calls, from the boundary to the next one or to the end. The
  model that went on had the recorded summary before it, so this row leans towards what that summary had.
- Quotes of 12 characters or more: entries of a list of the user's messages; elsewhere, on a line that names the user before them.
  Nobody said them where they are nowhere in the conversation; what stands in brackets, and dots, are taken for something left out.
- Tokens: "context" is what the recording's API counted, with system prompt, tools and files put back; "messages" is an
  estimate of the text behind the boundary, the same for all three.`

const TITLES: Readonly<Record<Way, string>> = {
  recorded: "recorded",
  extractive: "ours, extractive",
  empty: "ours, empty",
}

/** By the program that recorded them: each leaves something else behind a boundary. */
const GROUPS: Readonly<Record<string, string>> = {
  "claude-code": "Claude Code: a summary, and files that are not in the recording",
  pi: "pi: a summary, and the newest messages as they were",
  codex: "Codex: the user's messages, and a summary that is encrypted and cannot be measured",
}

export function textReport(compared: readonly Compared[]): string {
  const parts = [HOW]
  const groups = [...Map.groupBy(compared, (each) => each.format)].sort(([, a], [, b]) => b.length - a.length)
  for (const [format, group] of groups) {
    const count = `${group.length} ${group.length === 1 ? "compaction" : "compactions"}`
    parts.push(`${GROUPS[format] ?? format} (${count})\n\n${marksTable(group)}`)
  }
  parts.push(`Tokens of each\n\n${tokensTable(compared)}`)
  return parts.join("\n\n")
}

function marksTable(group: readonly Compared[]): string {
  const totals = WAYS.map((way) => total(group.map(({ ways }) => ways[way].marks)))
  const names = Object.keys(MARKS) as MarkName[]
  return table([
    ["", ...WAYS.map((way) => TITLES[way])],
    ...names.map((name) => [MARKS[name], ...totals.map((marks) => shown(marks[name]))]),
    ["tokens of messages behind the boundary, on average", ...WAYS.map((way) => grouped(mean(group, way)))],
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

const grouped = (count: number) => count.toLocaleString("en-US")

/** In markdown, so that it can be read here and put into a page. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(" | ")} |`
  const [head, ...body] = rows
  return [line(head!), `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...body.map(line)].join("\n")
}
