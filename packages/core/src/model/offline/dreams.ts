/**
 * Consolidates memory files when a request asks for it: reads all of them, lets the newest of equal memories supersede the others, and
 * reports what it did. Contradictions are found later, by rule. It has no state between requests: what it has read is in the request.
 */
import { readFileText } from "./file-text.ts"
import type { AnswerBlock, OfflineQuestion, ReadBlock, ReadRequest } from "./read-message.ts"

const DEMAND = /^Consolidate the memory directory (\S+?)\. /
const LISTED = /^- (\S+\.md) \(/gm
const IS_CUT = /^… and \d+ more\.$/m
const MAX_CALLS = 100 // per response
/** Returns `undefined` if the request asks for something else. */
export function dreamAnswer({ request, nextToolUseId }: OfflineQuestion): readonly AnswerBlock[] | undefined {
  const prompt = firstText(request)
  const directory = DEMAND.exec(prompt)?.[1]
  if (directory === undefined) return undefined
  const calls = callsIn(request)
  const call = (name: string, input: object): AnswerBlock => ({ type: "tool_use", id: nextToolUseId(), name, input })
  const listing = calls.find(({ name }) => name === "Bash")
  if (IS_CUT.test(listOf(prompt)) && !listing) return [call("Bash", { command: `ls ${directory}` })]
  const files = filesIn(prompt, listing?.result)
  const read = new Map(calls.filter(({ name }) => name === "Read").map((made) => [made.path, made.result]))
  const unread = files.filter((file) => !read.has(`${directory}/${file}`)).slice(0, MAX_CALLS)
  if (unread.length > 0) return unread.map((file) => call("Read", { file_path: `${directory}/${file}` }))
  const memories = files.flatMap((file) => memoryIn(file, read.get(`${directory}/${file}`) ?? "") ?? [])
  const replaced = replacements(memories.filter(({ isCurrent }) => isCurrent))
  const written = new Set(calls.filter(({ name }) => name === "Write").map(({ path }) => path))
  const due = [...replaced].filter(([memory]) => !written.has(`${directory}/${memory.file}`)).slice(0, MAX_CALLS)
  if (due.length === 0) return [{ type: "text", text: report(replaced) }]
  return due.map(([memory, older]) =>
    call("Write", { file_path: `${directory}/${memory.file}`, content: superseding(memory, older) }),
  )
}

interface Memory {
  readonly file: string
  readonly text: string
  readonly body: string
  readonly confirmed: string
  readonly supersedes: readonly string[]
  readonly isCurrent: boolean
}

function memoryIn(file: string, shown: string): Memory | undefined {
  const text = readFileText(shown)?.text
  const match = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text ?? "")
  if (text === undefined || !match) return undefined
  const [, head = "", body = ""] = match
  const value = (key: string) => new RegExp(`^${key}: *(.*)$`, "m").exec(head)?.[1] ?? ""
  const supersedes = value("supersedes").match(/[\w.-]+\.md/g) ?? []
  const confirmed = (value("confirmed") || value("created")).replaceAll('"', "")
  return { ...{ file, text, confirmed, supersedes }, body: body.trim(), isCurrent: value("superseded-by") === "" }
}

/** The newest memory of each group with the same text, with the older ones it replaces. */
function replacements(memories: readonly Memory[]): ReadonlyMap<Memory, readonly Memory[]> {
  const groups = Map.groupBy(memories, ({ body }) => body.toLowerCase().replace(/\s+/g, " "))
  const replaced = new Map<Memory, readonly Memory[]>()
  for (const group of groups.values()) {
    const [newest, ...older] = group.sort((a, b) => (a.confirmed + a.file < b.confirmed + b.file ? 1 : -1))
    if (newest && older.length > 0) replaced.set(newest, older)
  }
  return replaced
}

function superseding({ text, supersedes }: Memory, older: readonly Memory[]): string {
  const files = [...new Set([...supersedes, ...older.map(({ file }) => file)])]
  const plain = text.replace(/^supersedes:.*\n/m, "")
  return plain.replace("\n---\n", `\nsupersedes: [${files.join(", ")}]\n---\n`)
}

function report(replaced: ReadonlyMap<Memory, readonly Memory[]>): string {
  const count = [...replaced.values()].reduce((sum, older) => sum + older.length, 0)
  if (count === 0) return "Nothing to consolidate."
  return `${count} older ${count === 1 ? "memory" : "memories"} said the same. Newer ones supersede them now.`
}

const firstText = ({ messages }: ReadRequest): string =>
  messages[0]?.content.find(({ type }) => type === "text")?.text ?? ""
const listOf = (prompt: string): string => /<memories>\n([\s\S]*?)\n<\/memories>/.exec(prompt)?.[1] ?? ""

function filesIn(prompt: string, listing: string | undefined): readonly string[] {
  const named =
    listing === undefined ? [...listOf(prompt).matchAll(LISTED)].map(([, file]) => file!) : listing.split("\n")
  return [...new Set(named)].filter((file) => /^[^/\s]+\.md$/.test(file) && file !== "MEMORY.md").sort()
}

interface MadeCall {
  readonly name: string
  readonly path: string
  readonly result: string
}

function callsIn({ messages }: ReadRequest): readonly MadeCall[] {
  const blocks = messages.flatMap(({ content }) => content)
  const results = new Map(
    blocks.filter(({ type }) => type === "tool_result").map((block) => [block.tool_use_id, resultText(block)]),
  )
  return blocks
    .filter(({ type }) => type === "tool_use")
    .map(({ name = "", id, input }) => ({
      name,
      path: String((input as { readonly file_path?: unknown } | undefined)?.file_path ?? ""),
      result: results.get(id) ?? "",
    }))
}

const resultText = ({ content }: ReadBlock): string =>
  typeof content === "string" ? content : (content ?? []).map(({ text = "" }) => text).join("")
