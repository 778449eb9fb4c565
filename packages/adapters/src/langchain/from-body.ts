/** A body of the Messages API as LangChain's models take it: plain objects, of which they make messages of their own classes. */
import { partOf, type Way } from "./parts.ts"
import { type Fields, isRecord, type LangChainMessage } from "./shapes.ts"
import { KEPT } from "./to-body.ts"

interface Given {
  readonly role: string
  readonly content: unknown
}

export function fromBody({ system, messages }: Fields, way: Way): readonly LangChainMessage[] {
  const prompt = system === undefined ? [] : [{ role: "system", content: contentFor(blocksOf(system), way) }]
  const list = (messages as readonly Given[]) ?? []
  if (way.dialect === "anthropic") return [...prompt, ...list.map((message) => claudes(message, way))]
  const names = callNames(list)
  return [...prompt, ...list.flatMap((message) => others(message, { way, names }))]
}

/** `ChatAnthropic` sends blocks as they are. A result in them keeps its mark and whether it is an error. */
const claudes = ({ role, content }: Given, way: Way): LangChainMessage => ({
  role: role === "assistant" ? "assistant" : "user",
  content: typeof content === "string" ? content : blocksOf(content).map((block) => partOf(block, way)),
})

interface Others {
  readonly way: Way
  /** The tool of each call, which some providers want with its result. */
  readonly names: ReadonlyMap<unknown, unknown>
}

function others({ role, content }: Given, { way, names }: Others): readonly LangChainMessage[] {
  const blocks = blocksOf(content)
  if (role === "assistant") return [answer(blocks, way)]
  const made: LangChainMessage[] = []
  let said: Fields[] = []
  const flush = () => {
    if (said.length > 0) made.push(words(said, way))
    said = []
  }
  for (const block of blocks) {
    if (block.type !== "tool_result") said.push(block)
    else {
      flush()
      made.push(result(block, { way, names }))
    }
  }
  flush()
  return blocks.length === 0 ? [{ role: "user", content: "" }] : made
}

function words(blocks: readonly Fields[], way: Way): LangChainMessage {
  const { kind, ...kept } = keptIn(blocks)
  return { role: kind === "system" ? "system" : "user", content: contentFor(blocks, way), ...kept }
}

function answer(blocks: readonly Fields[], way: Way): LangChainMessage {
  const calls = blocks.filter(({ type }) => type === "tool_use")
  const parts = blocks.filter(({ type }) => type !== "tool_use" && !THINKING.has(String(type)))
  return {
    role: "assistant",
    content: contentFor(parts, way),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id, name, input }) => ({
            ...{ type: "tool_call", id: String(id), name: String(name), args: (input ?? {}) as Fields },
          })),
        }),
    ...keptIn(blocks),
  }
}

/** Signed by another provider. */
const THINKING: ReadonlySet<string> = new Set(["thinking", "redacted_thinking"])

function result(block: Fields, { way, names }: Others): LangChainMessage {
  const { tool_use_id, content, is_error } = block
  const name = names.get(tool_use_id)
  return {
    role: "tool",
    tool_call_id: String(tool_use_id),
    content: contentFor(blocksOf(content ?? ""), way),
    ...(typeof name === "string" ? { name } : {}),
    ...(is_error === true ? { status: "error" } : {}),
    ...keptIn([block]),
  }
}

const keptIn = (blocks: readonly Fields[]): Fields =>
  Object.assign({}, ...blocks.map((block) => (isRecord(block[KEPT]) ? block[KEPT] : {})))

/** One plain text is a text: every provider takes that. */
function contentFor(blocks: readonly Fields[], way: Way): unknown {
  const parts = blocks.map(({ [KEPT]: _, ...block }) => partOf(block, way))
  if (parts.length === 0) return ""
  const [only] = parts
  const isText = parts.length === 1 && isRecord(only) && only.type === "text" && Object.keys(only).length === 2
  return isText ? only.text : parts
}

const callNames = (messages: readonly Given[]): ReadonlyMap<unknown, unknown> =>
  new Map(
    messages.flatMap(({ content }) =>
      blocksOf(content)
        .filter(({ type }) => type === "tool_use")
        .map(({ id, name }) => [id, name] as const),
    ),
  )

const blocksOf = (content: unknown): readonly Fields[] => {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }]
  return Array.isArray(content) ? content.filter(isRecord) : []
}
