/** Converts a body of the Messages API to LangChain messages: plain objects, which models convert to their own classes. */
import { type PartOptions, partOf } from "./content-parts.ts"
import { type Fields, isRecord, type LangChainMessage } from "./shapes.ts"
import { PROVIDER_FIELDS } from "./to-body.ts"

interface GivenMessage {
  readonly role: string
  readonly content: unknown
}

export function fromBody({ system, messages }: Fields, way: PartOptions): readonly LangChainMessage[] {
  const prompt = system === undefined ? [] : [{ role: "system", content: contentFor(blocksOf(system), way) }]
  const list = (messages as readonly GivenMessage[]) ?? []
  if (way.dialect === "anthropic") return [...prompt, ...list.map((message) => claudeMessage(message, way))]
  const names = callNames(list)
  return [...prompt, ...list.flatMap((message) => otherMessages(message, { way, names }))]
}

/** `ChatAnthropic` sends blocks unchanged, so results keep their cache breakpoint and error flag. */
const claudeMessage = ({ role, content }: GivenMessage, way: PartOptions): LangChainMessage => ({
  role: role === "assistant" ? "assistant" : "user",
  content: typeof content === "string" ? content : blocksOf(content).map((block) => partOf(block, way)),
})

interface ConversionContext {
  readonly way: PartOptions
  /** The tool name of each call, which some providers require with the result. */
  readonly names: ReadonlyMap<unknown, unknown>
}

function otherMessages(
  { role, content }: GivenMessage,
  { way, names }: ConversionContext,
): readonly LangChainMessage[] {
  const blocks = blocksOf(content)
  if (role === "assistant") return [answer(blocks, way)]
  const made: LangChainMessage[] = []
  let textBlocks: Fields[] = []
  const flush = () => {
    if (textBlocks.length > 0) made.push(textMessage(textBlocks, way))
    textBlocks = []
  }
  for (const block of blocks) {
    if (block.type !== "tool_result") textBlocks.push(block)
    else {
      flush()
      made.push(result(block, { way, names }))
    }
  }
  flush()
  return blocks.length === 0 ? [{ role: "user", content: "" }] : made
}

function textMessage(blocks: readonly Fields[], way: PartOptions): LangChainMessage {
  const { kind, ...kept } = providerFieldsOf(blocks)
  return { role: kind === "system" ? "system" : "user", content: contentFor(blocks, way), ...kept }
}

function answer(blocks: readonly Fields[], way: PartOptions): LangChainMessage {
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
    ...providerFieldsOf(blocks),
  }
}

/** Dropped because another provider signed it. */
const THINKING: ReadonlySet<string> = new Set(["thinking", "redacted_thinking"])

function result(block: Fields, { way, names }: ConversionContext): LangChainMessage {
  const { tool_use_id, content, is_error } = block
  const name = names.get(tool_use_id)
  return {
    role: "tool",
    tool_call_id: String(tool_use_id),
    content: contentFor(blocksOf(content ?? ""), way),
    ...(typeof name === "string" ? { name } : {}),
    ...(is_error === true ? { status: "error" } : {}),
    ...providerFieldsOf([block]),
  }
}

const providerFieldsOf = (blocks: readonly Fields[]): Fields =>
  Object.assign({}, ...blocks.map((block) => (isRecord(block[PROVIDER_FIELDS]) ? block[PROVIDER_FIELDS] : {})))

/** Content as a single string where possible, which every provider accepts. */
function contentFor(blocks: readonly Fields[], way: PartOptions): unknown {
  const parts = blocks.map(({ [PROVIDER_FIELDS]: _, ...block }) => partOf(block, way))
  if (parts.length === 0) return ""
  const [only] = parts
  const isText = parts.length === 1 && isRecord(only) && only.type === "text" && Object.keys(only).length === 2
  return isText ? only.text : parts
}

const callNames = (messages: readonly GivenMessage[]): ReadonlyMap<unknown, unknown> =>
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
