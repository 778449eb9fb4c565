/** Merges the rounds in which a model called Strata's tool into the one response that the client gets, without the calls of the tool. */
import { totalUsage } from "./answer.ts"
import { type Fields, isRecord, type LangChainMessage } from "./shapes.ts"

/** Class of a message; the copy must be of the program's own class. */
type MessageClass = new (fields: Fields) => LangChainMessage

export function mergeRounds(rounds: readonly LangChainMessage[], hidden: string): LangChainMessage {
  const [first, last] = [rounds[0]!, rounds.at(-1)!]
  if (rounds.length === 1 && !callsTool(last, hidden)) return last
  const usage = totalUsage(rounds)
  const ids = new Set(
    rounds
      .flatMap(({ tool_calls = [] }) => tool_calls)
      .filter(isOurs(hidden))
      .map(({ id }) => id),
  )
  const rawCalls = rounds.flatMap(({ additional_kwargs }) => listed(additional_kwargs?.tool_calls))
  return newMessage(last, {
    content: joined(
      rounds.map(({ content }) => content),
      hidden,
    ),
    tool_calls: rounds.flatMap(({ tool_calls = [] }) => tool_calls.filter((call) => !isOurs(hidden)(call))),
    invalid_tool_calls: rounds.flatMap(({ invalid_tool_calls = [] }) =>
      invalid_tool_calls.filter((call) => !isOurs(hidden)(call)),
    ),
    id: first.id,
    name: last.name,
    usage_metadata: usage,
    additional_kwargs: {
      ...last.additional_kwargs,
      ...(rawCalls.length === 0
        ? {}
        : { tool_calls: rawCalls.filter((call) => !isRecord(call) || !ids.has(call.id as string)) }),
    },
    response_metadata: withOutput(last.response_metadata ?? {}, usage?.output_tokens),
  })
}

export const newMessage = (like: LangChainMessage, fields: Fields): LangChainMessage =>
  new (like.constructor as MessageClass)(fields)

export const callsTool = ({ tool_calls = [], invalid_tool_calls = [] }: LangChainMessage, name: string): boolean =>
  [...tool_calls, ...invalid_tool_calls].some((call) => call.name === name)

const isOurs =
  (hidden: string) =>
  ({ name }: { readonly name?: unknown }): boolean =>
    name === hidden

/** Consecutive indexes for the parts that the client sees, over all rounds. */
export class PartIndexes {
  readonly #rounds: Map<unknown, number>[] = []
  #next = 0

  /** The part with its new index. Parts without an index stay unchanged. */
  reindex(part: unknown, round: number): unknown {
    if (!isRecord(part) || typeof part.index !== "number") return part
    while (this.#rounds.length <= round) this.#rounds.push(new Map())
    const known = this.#rounds[round]!
    const index = known.get(part.index) ?? this.#next++
    known.set(part.index, index)
    return index === part.index ? part : { ...part, index }
  }
}

/** Joins contents. Texts stay a text. */
function joined(contents: readonly unknown[], hidden: string): unknown {
  if (contents.every((content) => typeof content === "string")) return contents.join("")
  const places = new PartIndexes()
  return contents.flatMap((content, round) => {
    const parts =
      typeof content === "string" ? (content === "" ? [] : [{ type: "text", text: content }]) : listed(content)
    const ours = new Set(
      parts.flatMap((part) => (isRecord(part) && isCallPart(part) && part.name === hidden ? part.index : [])),
    )
    const isHidden = (part: unknown) =>
      isRecord(part) && isCallPart(part) && (part.name === hidden || (part.index !== undefined && ours.has(part.index)))
    return parts.filter((part) => !isHidden(part)).map((part) => places.reindex(part, round))
  })
}

const CALL_PARTS: ReadonlySet<unknown> = new Set(["tool_use", "tool_call", "tool_call_chunk", "input_json_delta"])

export const isCallPart = ({ type }: Fields): boolean => CALL_PARTS.has(type)

/** Updates the output tokens in a provider's own usage, which some packages include. */
function withOutput(metadata: Fields, output: number | undefined): Fields {
  const { usage } = metadata
  if (output === undefined || !isRecord(usage) || typeof usage.output_tokens !== "number") return metadata
  return { ...metadata, usage: { ...usage, output_tokens: output } }
}

const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
